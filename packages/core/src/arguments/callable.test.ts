import { inspect } from 'node:util';
import '@eagre/backend-js';
import { expect, test } from 'vitest';
import { Module, Variable } from '../index.ts';
import { Callable, callable } from './callable.ts';

export class Doubler extends Callable {
  readonly name: string = 'doubler';
  readonly #factor = 2;
  protected override invoke(x: number): number {
    return x * this.#factor;
  }
}
export interface Doubler {
  (x: number): number;
}

export class Unit extends Module {
  constructor(name?: string) {
    super(name === undefined ? {} : { name });
    // biome-ignore lint/correctness/noConstructorReturn: under test
    return callable(this, (self, args) => self.call(...(args as unknown as [number])));
  }
  call(_x: number): number {
    return 0;
  }
}
export interface Unit {
  (x: number): number;
}
class Plus extends Unit {
  override readonly length = 7;
  readonly w = new Variable(1, { name: 'w' });
  #calls = 0;
  override call(x: number): number {
    return x + ++this.#calls;
  }
}

test('objects of a callable class are functions of that class', () => {
  const double = new Doubler();
  expect(double(21)).toBe(42);
  expect(double).toBeInstanceOf(Doubler);
  expect(typeof double).toBe('function');
  expect(double.name).toBe('doubler');
  expect(double.constructor).toBe(Doubler);
});

test('a callable module keeps its name, fields, private fields and variables', () => {
  const plus = new Plus();
  expect(plus(1)).toBe(2);
  expect(plus(1)).toBe(3);
  expect(plus.name).toBe('plus');
  expect(new Plus('other').name).toBe('other');
  expect(plus.length).toBe(7);
  expect(plus.variables).toEqual([plus.w]);
  const outer = new (class Outer extends Module {
    readonly inner = plus;
  })();
  expect(outer.submodules).toEqual([plus]);
  expect(outer.variables).toHaveLength(1);
});

test('the console shows the class and the fields', () => {
  expect(inspect(new Doubler())).toBe("Doubler { name: 'doubler' }");
  expect(inspect(new Plus())).toMatch(/^Plus \{\s+length: 7,\s+w: tf.Variable 'w' .*,\s+name: 'plus'\s+\}$/);
  expect(inspect({ a: { b: { c: new Doubler() } } })).toContain('[Doubler]');
});
