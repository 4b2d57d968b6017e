import '@eagre/backend-js';
import { describe, expect, it } from 'vitest';
import { Module, Variable } from './index.ts';

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

  it('names variables made in its scope', () => {
    const m = new Module({ name: 'demo' });
    expect(m.withNameScope(() => new Variable(1, { name: 'x' })).name).toBe('demo/x');
  });
});
