import '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { Module, nameScope, Variable } from '../index.ts';

class Inner extends Module {
  v = new Variable(1);
}
class Outer extends Module {
  a = new Variable(2);
  list = [new Inner(), new Inner()];
  map = new Map([['k', new Inner()]]);
  object = { deep: { w: new Variable(3, { trainable: false }) } };
}

describe('Module', () => {
  it('finds variables and modules in attributes, arrays, maps and objects', () => {
    const m = new Outer();
    expect(m.name).toBe('outer');
    expect(m.variables).toHaveLength(5);
    expect(m.trainableVariables).toHaveLength(4);
    expect(m.submodules).toHaveLength(3);
  });

  it('finds what was added from outside, each once', () => {
    const m = new Module() as Module & { x?: Variable; y?: Variable };
    m.x = new Variable(0);
    m.y = m.x;
    expect(m.variables).toEqual([m.x]);
  });

  it('survives a circle', () => {
    const m = new Inner() as Inner & { self?: Module };
    m.self = m;
    expect(m.variables).toHaveLength(1);
    expect(m.submodules).toHaveLength(0);
  });

  it('lists what is its own first, by the names of attributes, then module after module, as TensorFlow does', () => {
    const v = (name: string) => new Variable(0, { name });
    class Leaf extends Module {
      readonly v: Variable;
      constructor(name: string) {
        super({ name });
        this.v = v(name);
      }
    }
    class Tree extends Module {
      z = v('z');
      m = new Leaf('m');
      b = { y: v('b.y'), x: [v('b.x.0'), new Leaf('b.x.1')] };
      a = new Map<string, unknown>([
        ['second', v('a.second')],
        ['first', new Outer()],
      ]);
    }
    const tree = new Tree();
    // What TensorFlow 2.21 says of the same classes.
    expect(tree.variables.map((x) => x.name)).toEqual([
      'a.second',
      'b.x.0',
      'b.y',
      'z',
      ...['Variable', 'Variable', 'Variable', 'Variable', 'Variable'],
      'b.x.1',
      'm',
    ]);
    expect(tree.submodules.map((m) => m.name)).toEqual(['outer', 'b.x.1', 'm', 'inner', 'inner', 'inner']);
  });

  it('asks classes that know better for their lists, also in a circle', () => {
    class Hidden extends Module {
      other: Module | undefined;
      readonly first: Variable;
      readonly second: Variable;
      constructor() {
        super();
        const list = [new Variable(0, { name: 'second' }), new Variable(0, { name: 'first' })] as const;
        [this.second, this.first] = list;
      }
      override get variables(): Variable[] {
        return [...new Set([this.second, this.first, ...super.variables])];
      }
    }
    const [a, b] = [new Hidden(), new Hidden()];
    a.other = b;
    b.other = a;
    const m = new Module() as Module & { a: Module; v: Variable };
    m.a = a;
    m.v = new Variable(0, { name: 'own' });
    expect(m.variables.map((v) => v.name)).toEqual(['own', 'second', 'first', 'second', 'first']);
    expect(m.submodules).toEqual([a, b]);
  });

  it('names variables made in its scope, whichever scopes are open', () => {
    const m = new Module({ name: 'demo' });
    expect(m.nameScope(() => new Variable(1, { name: 'x' })).name).toBe('demo/x');
    const inner = nameScope('outer', () => new Module({ name: 'inner' }));
    m.nameScope(() => {
      expect(inner.nameScope(() => new Variable(1, { name: 'x' })).name).toBe('outer/inner/x');
      expect(new Variable(1, { name: 'x' }).name).toBe('demo/x');
    });
    {
      using _ = m.nameScope();
      expect(new Variable(1).name).toBe('demo/Variable');
    }
    expect(new Variable(1).name).toBe('Variable');
  });

  it('has methods that run in its scope, by the decorator or without', () => {
    class Scaled extends Module {
      w: Variable | undefined;
      @Module.withNameScope
      apply(x: number): number {
        this.w ??= new Variable(2, { name: 'w' });
        return this.w.mul(x).item() as number;
      }
    }
    const scaled = new Scaled();
    expect(scaled.apply(3)).toBe(6);
    expect(scaled.w?.name).toBe('scaled/w');
    const wrap = Module.withNameScope as unknown as (fn: unknown, context: unknown) => unknown;
    expect(() => wrap(() => 1, { kind: 'getter' })).toThrow('it works on methods only');
  });

  it('takes a scope that ends in / as it is, and leaves all with an empty one', () => {
    nameScope('a', () => {
      expect(nameScope('b/c/', () => new Variable(1, { name: 'w' })).name).toBe('b/c/w');
      expect(nameScope('', () => new Variable(1, { name: 'w' })).name).toBe('w');
    });
  });

  it('refuses options that it does not know', () => {
    class Small extends Module {}
    const make = (options: unknown) => () => new Small(options as never);
    expect(make({ nam: 'a' })).toThrow(
      "Small: 'nam' is not an option; the options are name; did you mean 'name'?",
    );
    expect(make({ name: 3 })).toThrow('name must be a string, got 3');
    expect(make('a')).toThrow("write { name: 'a' }");
    expect(new Small({ name: 'a' }).nameScope({ fn: () => new Variable(1).name })).toBe('a/Variable');
    expect(() => (new Small().nameScope as (x: unknown) => unknown)({ bogus: 1 })).toThrow(
      'is not an option',
    );
  });
});
