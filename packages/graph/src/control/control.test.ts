// What users call for control flow, without a trace and in traced functions: both must do the same.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { customGradient, GradientTape } from '@eagre/autodiff';
import { listBackends } from '@eagre/backend';
import {
  booleanMask,
  constant,
  hostFunction,
  print,
  random,
  Tensor,
  type TensorLike,
  Variable,
  where,
  withBackend,
  zeros,
} from '@eagre/core';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { tfFunction } from '../function/function.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { orders } from '../testing/gradients.ts';
import { caseOf, cond, switchCase } from './cond.ts';
import { foldl, foldr, mapFn, scan } from './elements.ts';
import { TensorArray } from './tensor-array.ts';
import { whileLoop } from './while-loop.ts';

afterEach(() => vi.restoreAllMocks());

const int = (n: number): Tensor => constant(n, 'int32');

/** Plain values of tensors in structures. */
function values(x: unknown): unknown {
  if (x instanceof Tensor) return x.array();
  if (Array.isArray(x)) return x.map(values);
  if (x instanceof Map) return new Map([...x].map(([k, v]) => [k, values(v)]));
  if (typeof x === 'object' && x !== null)
    return Object.fromEntries(Object.entries(x).map(([k, v]) => [k, values(v)]));
  return x;
}

type Wrap = <F extends (...args: never[]) => unknown>(fn: F) => F;
const modes: readonly (readonly [string, Wrap])[] = [
  ['eager', (fn) => fn],
  ['traced', (fn) => tfFunction(fn)],
];
const everywhere = listBackends().flatMap((b) =>
  modes.map(([mode, wrap]) => [`${mode}, ${b.name}`, b.name, wrap] as const),
);

describe.each(everywhere)('%s', (_, backend, wrap) => {
  /** Runs a function twice on each of the arguments: the second run is one of a known trace. */
  const run = <A extends readonly unknown[], R>(fn: (...args: A) => R, ...calls: readonly A[]): unknown[] =>
    withBackend(backend, () => {
      const wrapped = wrap(fn as (...args: never[]) => unknown) as (...args: A) => R;
      return calls.map((args) => {
        const first = values(wrapped(...args));
        expect(values(wrapped(...args))).toEqual(first);
        return first;
      });
    });

  const variable = (value: TensorLike): Variable => withBackend(backend, () => new Variable(value));

  describe('cond', () => {
    test('runs one branch', () => {
      const f = (x: Tensor): Tensor =>
        cond(
          x.greater(0),
          () => x.mul(2),
          () => x.sub(1),
        );
      expect(run(f, [constant(3)], [constant(-3)])).toEqual([6, -4]);
    });

    test('returns structures; numbers and variables become tensors', () => {
      const v = variable([1, 2]);
      const f = (x: Tensor) =>
        cond(
          x.greater(0),
          () => ({ a: [x, v], b: new Map([['k', 1]]), none: null }),
          () => ({ none: null, b: new Map([['k', x]]), a: [2, x.add([3, 4])] }),
        );
      expect(run(f, [constant(5)], [constant(-5)])).toEqual([
        { a: [5, [1, 2]], b: new Map([['k', 1]]), none: undefined },
        { a: [2, [-2, -1]], b: new Map([['k', -5]]), none: undefined },
      ]);
    });

    test('assigns to variables, calls the host and prints in the branch that runs', () => {
      const lines = vi.spyOn(console, 'log').mockImplementation(() => undefined);
      const v = variable(1);
      const seen: number[] = [];
      const f = (x: Tensor) => {
        cond(
          x.greater(0),
          () => {
            v.assignAdd(x);
            print('added', x);
          },
          () => {
            v.assign(x.mul(v));
            hostFunction((y) => void seen.push((y as Tensor).item()), [x], []);
          },
        );
        return v.read();
      };
      const wrapped = withBackend(backend, () => wrap(f));
      const got = withBackend(backend, () => [2, -3, 5].map((x) => wrapped(constant(x)).item()));
      expect(got).toEqual([3, -9, -4]);
      expect(v.item()).toBe(-4);
      expect(seen).toEqual([-3]);
      expect(lines.mock.calls.map((c) => c[0])).toEqual(['added 2', 'added 5']);
    });

    test('draws the random numbers of the branch that runs, and no others', () => {
      const f = (x: Tensor): Tensor =>
        cond(
          x.greater(0),
          () => random.normal([2]),
          () => random.uniform([2]),
        );
      const draw = (g: (x: Tensor) => Tensor): unknown => {
        random.setSeed(5);
        return [1, -1, -1, 1].map((x) => g(constant(x)).array());
      };
      withBackend(backend, () => expect(draw(wrap(f))).toEqual(draw(f)));
    });

    test('is nested', () => {
      const f = (x: Tensor): Tensor =>
        cond(
          x.greater(0),
          () =>
            cond(
              x.greater(10),
              () => x.sub(10),
              () => x,
            ),
          () =>
            cond(
              x.less(-10),
              () => x.add(10),
              () => x.neg(),
            ),
        );
      expect(run(f, [constant(12)], [constant(3)], [constant(-12)], [constant(-3)])).toEqual([2, 3, -2, 3]);
    });

    test('has branches of other sizes, one of several too', () => {
      const f = (x: Tensor): Tensor =>
        cond(
          x.sum().greater(0),
          () => x,
          () => x.slice([0], [2]).neg(),
        ).mul(2);
      expect(run(f, [constant([1, 2, 3])], [constant([-1, -2, -3])], [constant([-1, -2])])).toEqual([
        [2, 4, 6],
        [2, 4],
        [2, 4],
      ]);
      const g = (i: Tensor, x: Tensor): unknown =>
        switchCase(i, [
          () => ({ a: x, b: [1, x] }),
          () => ({ a: x.slice([0, 0], [1, 2]), b: [2, x.transpose()] }),
          () => ({ a: x.tile([2, 1]), b: [3, x] }),
        ]);
      const x = constant([
        [1, 2],
        [3, 4],
      ]);
      expect(run(g, [int(0), x], [int(1), x], [int(2), x])).toEqual([
        { a: x.array(), b: [1, x.array()] },
        { a: [[1, 2]], b: [2, x.transpose().array()] },
        { a: x.tile([2, 1]).array(), b: [3, x.array()] },
      ]);
    });

    test('has gradients where the sizes of branches differ, of second order too', () => {
      const f = (x: Tensor): unknown => {
        const outer = new GradientTape();
        outer.watch(x);
        const tape = new GradientTape();
        tape.watch(x);
        const y = cond(
          x.sum().greater(0),
          () => x.mul(x),
          () => x.slice([0], [2]).mul(3),
        );
        const dx = tape.gradient(y.mul(y).sum(), x) as Tensor;
        return [dx, outer.gradient(dx, x)];
      };
      // TensorFlow's.
      expect(run(f, [constant([1, 2, 3])], [constant([-1, -2, -3])])).toEqual([
        [
          [4, 32, 108],
          [12, 48, 108],
        ],
        [
          [-18, -36, 0],
          [18, 18, 0],
        ],
      ]);
    });

    test('has gradients where values tell the sizes of a branch', () => {
      const f = (p: Tensor, x: Tensor): unknown => {
        const tape = new GradientTape();
        tape.watch(x);
        const y = cond(
          p,
          () => booleanMask(x, x.greater(0)).mul(2),
          () => x.mul(x),
        );
        return [y, tape.gradient(y, x)];
      };
      const x = constant([1, -2, 3]);
      expect(run(f, [constant(true), x], [constant(false), x])).toEqual([
        [
          [2, 6],
          [2, 0, 2],
        ],
        [
          [1, 4, 9],
          [2, -4, 6],
        ],
      ]);
    });

    test('takes a bool of one element', () => {
      const f = (x: Tensor): Tensor =>
        cond(
          x.greater(0),
          () => x.add(1),
          () => x,
        );
      expect(run(f, [constant([[2]])])).toEqual([[[3]]]);
    });

    test.each([
      ['a number', () => 1],
      ['a float tensor', (x: Tensor) => x],
      ['several bools', (x: Tensor) => x.add([1, 2]).greater(0)],
    ])('refuses %s as a predicate', (__, pred) => {
      expect(() =>
        run(
          (x: Tensor) =>
            cond(
              pred(x),
              () => x,
              () => x,
            ),
          [constant(1)],
        ),
      ).toThrow(/the predicate is .*compare first/);
    });
  });

  describe('switchCase', () => {
    test('runs the branch of a number, the last where there is none', () => {
      const f = (i: Tensor): Tensor => switchCase(i, [() => int(10), () => int(20), () => i.mul(2)]);
      expect(run(f, [int(0)], [int(1)], [int(2)], [int(7)], [int(-1)])).toEqual([10, 20, 4, 14, -2]);
    });

    test('runs the default where there is no such branch', () => {
      const f = (i: Tensor): Tensor => switchCase(i, [() => int(10), () => int(20)], { default: () => i });
      expect(run(f, [int(1)], [int(2)], [int(-1)], [constant(1, 'int32')])).toEqual([20, 2, -1, 20]);
    });

    test('takes the number of a branch as a number too', () => {
      expect(run((x: Tensor) => switchCase(1, [() => x, () => x.neg()]), [constant(2)])).toEqual([-2]);
      expect(() => run((x: Tensor) => switchCase(x, [() => x]), [constant(1)])).toThrow(
        /float32 .*expected one int32/,
      );
      expect(() => run((x: Tensor) => switchCase(0.5, [() => x]), [constant(1)])).toThrow(/not an integer/);
    });
  });

  describe('case', () => {
    const f = (x: Tensor): Tensor =>
      caseOf([[x.less(0), () => x.neg()] as const, [x.less(10), () => x] as const], {
        default: () => constant(10),
      });
    test('runs what stands beside the first true predicate', () => {
      expect(run(f, [constant(-3)], [constant(4)], [constant(40)])).toEqual([3, 4, 10]);
    });

    test('without a default needs one that is true', () => {
      const g = (x: Tensor): Tensor =>
        caseOf([
          [x.less(0), () => x.neg()],
          [x.less(10), () => x],
        ]);
      expect(run(g, [constant(-3)], [constant(4)])).toEqual([3, 4]);
      expect(() => run(g, [constant(40)])).toThrow(/none of the predicates is true/);
    });

    test('may insist on one', () => {
      const g = (x: Tensor): Tensor =>
        caseOf(
          [
            [x.less(10), () => x.neg()],
            [x.greater(5), () => x],
          ],
          { exclusive: true },
        );
      expect(run(g, [constant(1)], [constant(11)])).toEqual([-1, 11]);
      expect(() => run(g, [constant(7)])).toThrow(/more than one predicate is true/);
    });
  });

  describe('whileLoop', () => {
    test('counts the steps of Collatz', () => {
      const f = (start: Tensor) =>
        whileLoop(
          (n) => n.notEqual(1),
          (n, steps) => [where(n.mod(2).equal(0), n.floorDiv(2), n.mul(3).add(1)), steps.add(1)],
          [start, int(0)],
        );
      expect(run(f, [int(27)], [int(1)], [int(6)])).toEqual([
        [1, 111],
        [1, 0],
        [1, 8],
      ]);
    });

    test('takes one variable without a list, and structures', () => {
      const one = (x: Tensor): Tensor =>
        whileLoop(
          (y) => y.less(100),
          (y) => y.mul(y),
          x,
        );
      expect(run(one, [constant(3)], [constant(200)])).toEqual([6561, 200]);
      const bare = (x: Tensor) =>
        whileLoop(
          (y) => y.less(100),
          (y) => y.mul(y),
          [x],
        );
      expect(run(bare, [constant(3)])).toEqual([[6561]]);
      const v = variable([1, 2]);
      const both = (x: Tensor) =>
        whileLoop(
          (s) => s.i.less(3),
          ({ i, list: [a, b], map }) => ({
            list: [b, a.add(b)] as const,
            i: i.add(1),
            map: new Map([['m', (map.get('m') as Tensor).mul(2)]]),
          }),
          { i: int(0), list: [x, 1] as const, map: new Map([['m', v]]) },
        );
      expect(run(both, [constant(1)])).toEqual([{ i: 3, list: [3, 5], map: new Map([['m', [8, 16]]]) }]);
    });

    test('ends after maximumIterations', () => {
      const f = (n: Tensor) =>
        whileLoop(
          () => true,
          (i) => [i.add(1)],
          [0],
          { maximumIterations: n },
        );
      expect(run(f, [int(4)], [int(0)])).toEqual([[4], [0]]);
      const g = (x: Tensor) =>
        whileLoop(
          (y) => y.less(10),
          (y) => [y.add(1)],
          [x],
          { maximumIterations: 4 },
        );
      expect(run(g, [constant(0)], [constant(9)])).toEqual([[4], [10]]);
    });

    test('collects in a TensorArray whose elements get their shape in the body', () => {
      const f = (x: Tensor) => {
        const [, , states] = whileLoop(
          (i) => i.less(4),
          (i, y, states) => [i.add(1), y.mul(2), states.write(i, y)],
          [int(0), x, new TensorArray('float32', { size: 4 })],
        );
        return [states.stack(), states.read(2), states.gather([3, 0]), states.size()] as const;
      };
      expect(run(f, [constant([1, 2])])).toEqual([
        [
          [
            [1, 2],
            [2, 4],
            [4, 8],
            [8, 16],
          ],
          [4, 8],
          [
            [8, 16],
            [1, 2],
          ],
          4,
        ],
      ]);
    });

    test('reads and writes an array of known shape at indices of the loop', () => {
      const f = (n: Tensor) => {
        const start = new TensorArray('int32', { size: 10, elementShape: [] })
          .write(0, int(0))
          .write(1, int(1));
        const [, fibonacci] = whileLoop(
          (i) => i.less(n),
          (i, all) => [i.add(1), all.write(i, all.read(i.sub(1)).add(all.read(i.sub(2))))],
          [int(2), start],
        );
        return fibonacci.stack();
      };
      expect(run(f, [int(10)], [int(4)])).toEqual([
        [0, 1, 1, 2, 3, 5, 8, 13, 21, 34],
        [0, 1, 1, 2, 0, 0, 0, 0, 0, 0],
      ]);
      expect(() => run(f, [int(11)])).toThrow(/10/);
    });

    test('passes arrays through branches, nested loops, and unused', () => {
      const f = (x: Tensor) => {
        const [, grid, untouched] = whileLoop(
          (i) => i.less(3),
          (i, rows, other) => {
            const [, row] = whileLoop(
              (k) => k.less(2),
              (k, cells) => [
                k.add(1),
                cond(
                  i.equal(k),
                  () => cells.write(k, x),
                  () => cells.write(k, i.add(k).cast('float32')),
                ),
              ],
              [int(0), new TensorArray('float32', { size: 2 })],
            );
            return [
              i.add(1),
              cond(
                i.equal(1),
                () => rows,
                () => rows.write(i, row.stack()),
              ),
              other,
            ];
          },
          [int(0), new TensorArray('float32', { size: 3 }), new TensorArray('float32', { size: 1 })],
        );
        return [grid.stack(), untouched.write(0, x).stack()] as const;
      };
      expect(run(f, [constant(9)])).toEqual([
        [
          [
            [9, 1],
            [0, 0],
            [2, 3],
          ],
          [9],
        ],
      ]);
    });

    test('reads and assigns variables', () => {
      const total = variable(0);
      const f = (x: Tensor) => {
        total.assign(0);
        const [last] = whileLoop(
          (y) => y.less(total.add(20)),
          (y) => {
            total.assignAdd(y);
            return [y.add(total)];
          },
          [x],
          { maximumIterations: 3 },
        );
        return [last, total.read()] as const;
      };
      expect(run(f, [constant(1)], [constant(50)])).toEqual([
        [13, 8],
        [50, 0],
      ]);
    });

    test('draws in each turn what eager code would', () => {
      const f = (n: Tensor): Tensor => {
        const [, sum] = whileLoop(
          (i) => i.less(n),
          (i, s) => [i.add(1), s.add(random.normal([3]))],
          [int(0), zeros([3])],
        );
        return sum;
      };
      const draw = (g: (n: Tensor) => Tensor): unknown => {
        random.setSeed(11);
        return [3, 0, 5].map((n) => g(int(n)).array());
      };
      withBackend(backend, () => expect(draw(wrap(f))).toEqual(draw(f)));
    });

    test('calls the host in each turn, in order', () => {
      const lines = vi.spyOn(console, 'log').mockImplementation(() => undefined);
      const f = (n: Tensor) =>
        whileLoop(
          (i) => i.less(n),
          (i) => {
            print('turn', i);
            return [hostFunction((k) => (k as Tensor).item() + 1, [i], { dtype: 'int32', shape: [] })];
          },
          [int(0)],
        );
      const wrapped = withBackend(backend, () => wrap(f));
      expect(withBackend(backend, () => values(wrapped(int(3))))).toEqual([3]);
      expect(lines.mock.calls.map((c) => c[0])).toEqual(['turn 0', 'turn 1', 'turn 2']);
    });

    test('refuses a body that changes structure, dtype or shape, showing both', () => {
      const x = constant([1, 2]);
      const wrong =
        (body: (i: Tensor, y: Tensor) => unknown): (() => unknown) =>
        () =>
          run(
            (n: Tensor) =>
              whileLoop((i) => i.less(n), body as (i: Tensor, y: Tensor) => readonly [Tensor, Tensor], [
                int(0),
                x,
              ]),
            [int(2)],
          );
      expect(wrong((i) => [i.add(1)])).toThrow(
        /the value has 2 and 1 items.*\n {2}loop variables: \[int32 \[\], float32 \[2\]\]\n {2}the body returns: \[int32 \[\]\]/,
      );
      expect(wrong((i, y) => [i.add(1), y.cast('float64')])).toThrow(/the value\[1\] is float32 and float64/);
      expect(wrong((i, y) => [i.add(1), y.sum()])).toThrow(/the value\[1\] has the shapes \[2\] and \[\]/);
      expect(wrong((i, y) => [i.add(1), { y }])).toThrow(/the value\[1\] is a tensor and an object/);
      expect(wrong(async (i, y) => [i, y])).toThrow(/promise/);
    });

    test('refuses a condition that is no bool, and no variables', () => {
      expect(() =>
        run(
          (n: Tensor) =>
            whileLoop(
              (i) => i,
              (i) => [i.add(n)],
              [1],
            ),
          [constant(1)],
        ),
      ).toThrow(/the predicate is float32/);
      expect(() =>
        run(
          () =>
            whileLoop(
              () => true,
              () => [],
              [],
            ),
          [],
        ),
      ).toThrow(/at least one loop variable/);
    });
  });

  describe('mapFn, scan, foldl, foldr', () => {
    const matrix = constant([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    test('map over structures', () => {
      expect(run((x: Tensor) => mapFn((row) => row.square().sum(), x), [matrix])).toEqual([[5, 25, 61]]);
      const f = (a: Tensor, b: Tensor) =>
        mapFn(({ x, y: [z] }) => ({ sum: x.add(z), half: [z.div(2)] }), { x: a, y: [b] as const });
      expect(run(f, [matrix, constant([1, 2, 3])])).toEqual([
        {
          sum: [
            [2, 3],
            [5, 6],
            [8, 9],
          ],
          half: [[0.5, 1, 1.5]],
        },
      ]);
      expect(
        run((x: Tensor) => mapFn((row) => [row.shape.length, row.argMax().cast('int32')], x), [matrix]),
      ).toEqual([
        [
          [1, 1, 1],
          [1, 1, 1],
        ],
      ]);
    });

    test('refuse arrays where results are stacked', () => {
      const array = (): TensorArray => new TensorArray('float32', { size: 1 }).write(0, 1);
      expect(() => run((x: Tensor) => mapFn(array, x), [matrix])).toThrow(/cannot be stacked/);
      expect(() => run((x: Tensor) => scan((a) => a, x, { initializer: array() }), [matrix])).toThrow(
        /cannot be stacked/,
      );
      expect(
        run(
          (x: Tensor) =>
            foldl((a, e) => a.write(0, a.read(0).add(e.sum())), x, { initializer: array() }).stack(),
          [matrix],
        ),
      ).toEqual([[22]]);
    });

    test('map to a signature', () => {
      const f = (x: Tensor) => mapFn(() => [1, true], x, { fnOutputSignature: ['int32', 'bool'] });
      expect(run(f, [matrix])).toEqual([
        [
          [1, 1, 1],
          [true, true, true],
        ],
      ]);
      expect(() =>
        run((x: Tensor) => mapFn((row) => row, x, { fnOutputSignature: 'int32' }), [matrix]),
      ).toThrow(/the result is float32, but must be int32/);
    });

    test('map over nothing', () => {
      const f = (x: Tensor) => mapFn((row) => ({ a: row.sum(), b: row.greater(0) }), x);
      const empty = withBackend(backend, () => wrap(f)(zeros([0, 3])));
      expect([empty.a.shape, empty.b.shape, empty.b.dtype]).toEqual([[0], [0, 3], 'bool']);
    });

    test('fold from both ends, with and without an initializer', () => {
      const x = constant([1, 2, 3, 4]);
      expect(run((v: Tensor) => foldl((a, e) => a.mul(10).add(e), v), [x])).toEqual([1234]);
      expect(run((v: Tensor) => foldr((a, e) => a.mul(10).add(e), v), [x])).toEqual([4321]);
      expect(
        run(
          (v: Tensor) =>
            foldl((a, e) => ({ sum: a.sum.add(e), n: a.n.add(1) }), v, {
              initializer: { sum: 0, n: int(0) },
            }),
          [x],
        ),
      ).toEqual([{ sum: 10, n: 4 }]);
      expect(() => run((v: Tensor) => foldl((a, e) => a.add(e), v), [zeros([0])])).toThrow(
        /initializer is needed/,
      );
    });

    test('scan from both ends', () => {
      const fibonacci = (v: Tensor): [Tensor, Tensor] =>
        scan(([a, b]) => [b, a.add(b)], v, { initializer: [0, 1] as const });
      const x = constant([1, 2, 3, 4]);
      expect(run((v: Tensor) => scan((a, e) => a.add(e), v), [x])).toEqual([[1, 3, 6, 10]]);
      expect(run((v: Tensor) => scan((a, e) => a.add(e), v, { reverse: true }), [x])).toEqual([
        [10, 9, 7, 4],
      ]);
      expect(run(fibonacci, [x])).toEqual([
        [
          [1, 1, 2, 3],
          [1, 2, 3, 5],
        ],
      ]);
      const none = withBackend(backend, () =>
        wrap((v: Tensor) => scan((a) => a, v, { initializer: zeros([3]) }))(zeros([0, 2])),
      );
      expect(none.shape).toEqual([0, 3]);
    });

    test('refuse scalars, different lengths, and results that change', () => {
      expect(() => run((x: Tensor) => mapFn((e) => e, x), [constant(1)])).toThrow(/one is a scalar/);
      expect(() => run((x: Tensor) => mapFn(([a]) => a, [x, x.at(0)]), [matrix])).toThrow(
        /the same first dimension, got \[3,2\]/,
      );
      expect(() => run((x: Tensor) => scan((a) => a.sum(), x), [matrix])).toThrow(
        /as the state, but the value has the shapes \[2\] and \[\]/,
      );
    });
  });

  describe('gradients', () => {
    const cases: Readonly<Record<string, readonly [f: (x: Tensor) => Tensor, x: Tensor]>> = {
      'through branches': [
        (x) =>
          cond(
            x.sum().greater(0),
            () => x.square().mul(x).sum(),
            () => x.sin().sum(),
          ),
        constant([1, 2], 'float64'),
      ],
      'through the other branch': [
        (x) =>
          cond(
            x.sum().greater(0),
            () => x.square().mul(x).sum(),
            () => x.sin().sum(),
          ),
        constant([-1, -2], 'float64'),
      ],
      'through cases': [
        (x) =>
          switchCase(x.sum().cast('int32'), [
            () => x.mul(2).sum(),
            () => x.pow(3).sum(),
            () => x.exp().sum(),
          ]),
        constant([0.5, 0.75], 'float64'),
      ],
      'through a loop of unknown length': [
        (x) =>
          whileLoop(
            (y) => y.less(100),
            (y) => y.mul(y),
            x,
          ),
        constant(3, 'float64'),
      ],
      'through a loop that does not run': [
        (x) =>
          whileLoop(
            (y) => y.less(100),
            (y) => y.mul(y),
            x.mul(x),
          ),
        constant(30, 'float64'),
      ],
      'to what a loop captures': [
        (x) => {
          const [, y] = whileLoop(
            (i) => i.less(3),
            (i, y) => [i.add(1), y.mul(x).add(x.sin())],
            [int(0), constant([1, 1], 'float64')],
          );
          return y.sum();
        },
        constant([0.5, 1.5], 'float64'),
      ],
      'through arrays': [
        (x) => {
          const [, states] = whileLoop(
            (i) => i.less(4),
            (i, states) => [i.add(1), states.write(i, states.read(i.sub(1)).mul(x))],
            [int(1), new TensorArray('float64', { size: 4 }).write(0, x)],
          );
          return states
            .stack()
            .mul(constant([1, 2, 3, 4], 'float64'))
            .sum();
        },
        constant(1.5, 'float64'),
      ],
      'through a loop in a branch in a loop': [
        (x) => {
          const [, y] = whileLoop(
            (i) => i.less(3),
            (i, y) => [
              i.add(1),
              cond(
                y.greater(2),
                () =>
                  whileLoop(
                    (z) => z.greater(1),
                    (z) => z.mul(0.4).mul(x.add(0.2)),
                    y,
                  ),
                () => y.add(x.square()),
              ),
            ],
            [int(0), x],
          );
          return y;
        },
        constant(1.2, 'float64'),
      ],
      'through map, scan and folds': [
        (x) => {
          const squares = mapFn((e) => e.mul(e).mul(x.sum()), x);
          const running = scan((a, e) => a.mul(0.5).add(e.sin()), squares);
          return foldl((a, e) => a.add(e.square()), running, { initializer: x.at(0) }).add(
            foldr((a, e) => a.mul(e), x),
          );
        },
        constant([0.5, -0.25, 0.75], 'float64'),
      ],
      'by a custom gradient in the body': [
        (x) => {
          const clipped = customGradient((v: Tensor) => [v.square(), (dy) => dy.mul(v).mul(3)] as const);
          return whileLoop(
            (y) => y.less(50),
            (y) => clipped(y),
            x,
          );
        },
        constant(2, 'float64'),
      ],
      'by a custom gradient of several values': [
        (x) => {
          const pair = customGradient((v: Tensor) => [
            [v.square(), v.add(x.sum())],
            (da, db) => da.mul(v).mul(3).add(db.mul(v.square())),
          ]);
          const [a, b] = pair(x) as Tensor[];
          return (a as Tensor)
            .mul(b as Tensor)
            .add(pair(x)[1] as Tensor)
            .sum();
        },
        constant([2, 1.5], 'float64'),
      ],
    };
    test.each(Object.entries(cases))('%s', (__, [f, x]) => {
      const expected = withBackend('js', () => values(orders(f)(x)));
      const got = withBackend(backend, () => {
        const g = wrap(orders(f));
        const first = values(g(x));
        expect(values(g(x))).toEqual(first);
        return first;
      });
      const close = (list: unknown): unknown =>
        Array.isArray(list)
          ? list.map(close)
          : expect.closeTo(list as number, 9 - Math.ceil(Math.log10(Math.abs(list as number) + 1)));
      expect(got).toEqual(close(expected));
    });

    test('of a function from outside of it', () => {
      const f = wrap((x: Tensor): Tensor => {
        const [y] = whileLoop(
          (y) => y.sum().less(100),
          (y) => [
            cond(
              y.sum().less(10),
              () => y.mul(3),
              () => y.square(),
            ),
          ],
          [x],
        );
        return y.sum();
      });
      const x = constant([1, 2]);
      const got = withBackend(backend, () => {
        using outer = new GradientTape();
        outer.watch(x);
        using inner = new GradientTape();
        inner.watch(x);
        const dx = inner.gradient(f(x), x) as Tensor;
        return [dx, outer.gradient(dx.sum(), x) as Tensor].map(values);
      });
      // 3x → 9x → (9x)²
      expect(got).toEqual([
        [162, 324],
        [162, 162],
      ]);
    });

    test('of variables that bodies read', () => {
      const w = variable([2, 3]);
      const f = (n: Tensor) => {
        const tape = new GradientTape();
        const [, y] = whileLoop(
          (i) => i.less(n),
          (i, y) => [i.add(1), y.mul(w)],
          [int(0), constant([1, 1])],
        );
        const loss = cond(
          n.greater(1),
          () => y.sum(),
          () => w.square().sum(),
        );
        return [loss, tape.gradient(loss, w) as Tensor] as const;
      };
      expect(run(f, [int(3)], [int(1)])).toEqual([
        [35, [12, 27]],
        [13, [4, 6]],
      ]);
    });

    test('by a tape in the body', () => {
      const f = (x: Tensor) =>
        whileLoop(
          (y) => y.square().sum().greater(1),
          (y) => {
            const tape = new GradientTape();
            tape.watch(y);
            const loss = y.square().sum();
            return y.sub((tape.gradient(loss, y) as Tensor).mul(0.25));
          },
          x,
        );
      expect(run(f, [constant([3, 4])])).toEqual([[0.375, 0.5]]);
    });
  });
});

describe('while tracing', () => {
  test('branches must return the same, and the message shows both', () => {
    const f = (a: () => unknown, b: () => unknown) => () =>
      tfFunction((p: Tensor) => cond(p, a, b))(constant(true));
    expect(
      f(
        () => ({ a: constant(1) }),
        () => ({ b: constant(1) }),
      ),
    ).toThrow(
      /the value has the keys a and the keys b\.\n {2}trueFn returns \{ a: float32 \[\] \}\n {2}falseFn returns \{ b: float32 \[\] \}/,
    );
    expect(
      f(
        () => 1,
        () => constant(1, 'int32'),
      ),
    ).toThrow(/the value is float32 and int32/);
    expect(
      f(
        () => zeros([2]),
        () => zeros([2, 1]),
      ),
    ).toThrow(/the same dtypes and ranks, but the value has the shapes \[2\] and \[2, ?1\]/);
    expect(
      f(
        () => [1, 2],
        () => 1,
      ),
    ).toThrow(/the value is an array and a tensor/);
    expect(
      f(
        () => undefined,
        () => 1,
      ),
    ).toThrow(/the value is nothing and a tensor/);
    expect(
      f(
        () => new TensorArray('float32', { size: 2 }),
        () => new TensorArray('float32', { size: 3 }),
      ),
    ).toThrow(/a TensorArray of 2 elements and one of 3/);
  });

  test('sizes are known where they are those of all branches', () => {
    const f = tfFunction(
      (p: Tensor, x: Tensor, y: Tensor) =>
        cond(
          p,
          () => x,
          () => y,
        ),
      {
        inputSignature: [[], [null, 2, 3], [4, null, 3]].map(
          (s, i) => new TensorSpec(s, i ? 'float32' : 'bool'),
        ),
      },
    );
    expect(f.getConcreteFunction().structuredOutputs).toMatchObject({ shape: [null, null, 3] });
    const [x, y] = [zeros([5, 2, 3]), zeros([4, 1, 3])];
    expect([true, false].map((p) => f(constant(p), x, y).shape)).toEqual([
      [5, 2, 3],
      [4, 1, 3],
    ]);
    let sizes: readonly number[] = [];
    const g = tfFunction((p: Tensor, x: Tensor, y: Tensor) => {
      const z = cond(
        p,
        () => x,
        () => y,
      );
      sizes = z.shape;
      return z.add(x);
    });
    expect(g(constant(false), zeros([2]), constant([1, 2])).array()).toEqual([1, 2]);
    expect(sizes).toEqual([2]);
    expect(g(constant(false), zeros([2]), constant([1])).array()).toEqual([1, 1]);
    expect(() => g(constant(false), zeros([2]), constant([1, 2, 3]))).toThrow(/and \[2\] do not broadcast/);
  });

  test('only the branch of a known predicate is traced', () => {
    const traced: string[] = [];
    const f = tfFunction((x: Tensor) => {
      const note = (name: string, y: Tensor) => (): Tensor => {
        traced.push(name);
        return y;
      };
      const two = constant(1).add(1);
      return [
        cond(true, note('a', x), note('b', x)),
        cond(two.greater(3), note('c', x), note('d', x.neg())),
        switchCase(two.cast('int32').sub(1), [note('e', x), note('f', x)]),
      ];
    });
    expect(values(f(constant(1)))).toEqual([1, -1, 1]);
    expect(traced).toEqual(['a', 'd', 'f']);
    expect(f.getConcreteFunction(constant(1)).graph.toString()).not.toMatch(/If|Case/);
  });

  test('a predicate that is drawn is not known', () => {
    random.setSeed(3);
    const f = tfFunction((x: Tensor) =>
      cond(
        random.uniform([]).less(0.5),
        () => x,
        () => x.neg(),
      ),
    );
    const results = new Set(Array.from({ length: 30 }, () => f(constant(1)).item()));
    expect(results).toEqual(new Set([1, -1]));
  });

  test('arrays have any size, and grow at any index', () => {
    const open = tfFunction((n: Tensor) => new TensorArray('float32', { size: n, elementShape: [] }).stack());
    for (const n of [2, 0, 3]) expect(open(int(n)).shape).toEqual([n]);
    const grown = tfFunction((n: Tensor) =>
      new TensorArray('float32', { dynamicSize: true }).write(n, 1).stack(),
    );
    expect([2, 0, 1].map((n) => values(grown(int(n))))).toEqual([[0, 0, 1], [1], [0, 1]]);
    const sized = tfFunction((x: Tensor) =>
      new TensorArray('float32', { size: constant(2, 'int32').add(1), elementShape: [] }).write(1, x).stack(),
    );
    expect(values(sized(constant(5)))).toEqual([0, 5, 0]);
  });

  test('one trace serves arguments of all sizes', () => {
    const signature = { inputSignature: [new TensorSpec([null], 'float32')] };
    const inputs = [[1, 2, 3], [4, 5], [-1]];
    const loops = (x: Tensor): unknown => {
      const [, last, all] = whileLoop(
        (i) => i.less(2),
        (i, y, all) => [
          i.add(1),
          cond(
            y.sum().greater(0),
            () => y.add(x),
            () => x.neg(),
          ),
          all.write(i, y),
        ],
        [int(0), x, new TensorArray('float32', { size: 2 })],
      );
      return [last, all.stack()];
    };
    const f = tfFunction(signature)(loops);
    for (const x of inputs) expect(values(f(constant(x)))).toEqual(values(loops(constant(x))));
    expect(f.experimentalGetTracingCount()).toBe(1);

    const elements = (x: Tensor): unknown => [
      mapFn((e) => ({ double: e.mul(2), row: x.add(e) }), x),
      mapFn((e) => e.sum(), x.mul(constant([[1], [2]])).transpose()),
      scan((a, e) => a.add(e), x),
      scan((a, e) => a.mul(e), x, { reverse: true, initializer: 1 }),
      foldr((a, e) => a.sub(e), x),
    ];
    const g = tfFunction(signature)(elements);
    for (const x of inputs) expect(values(g(constant(x)))).toEqual(values(elements(constant(x))));
    expect(g.experimentalGetTracingCount()).toBe(1);

    // What fits into a known number of elements makes one trace, too.
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const h = tfFunction(signature)((x: Tensor) =>
      new TensorArray('float32', { size: 3 }).unstack(x).stack(),
    );
    for (const x of inputs) expect(values(h(constant(x)))).toEqual(x);
    expect(h.experimentalGetTracingCount()).toBe(1);
    expect(() => h(constant([1, 2, 3, 4]))).toThrow(/cannot unstack .* into a TensorArray of static size 3/);
    expect(warn).not.toHaveBeenCalled();
  });

  test('functions return arrays, and take them', () => {
    const fill = tfFunction((x: Tensor) => {
      const [, squares] = whileLoop(
        (i) => i.less(3),
        (i, a) => [i.add(1), a.write(i, x.mul(i.cast('float32')))],
        [int(0), new TensorArray('float32', { size: 3 })],
      );
      return { squares, unused: new TensorArray('int32', { size: 1 }) };
    });
    const { squares, unused } = fill(constant([1, 2]));
    expect(values([squares.stack(), squares.read(2), squares.write(0, [9, 9]).stack()])).toEqual([
      [
        [0, 0],
        [1, 2],
        [2, 4],
      ],
      [2, 4],
      [
        [9, 9],
        [1, 2],
        [2, 4],
      ],
    ]);
    expect(unused.write(0, int(1)).stack().array()).toEqual([1]);
    const total = tfFunction((array: TensorArray) => array.stack().sum().add(array.read(1).sum()));
    expect(total(squares).item()).toBe(12);
    expect(total(squares.write(1, [5, 5])).item()).toBe(26);
    const x = constant([1, 2]);
    using tape = new GradientTape();
    tape.watch(x);
    expect((tape.gradient(fill(x).squares.stack().sum(), x) as Tensor).array()).toEqual([3, 3]);
  });

  test('a loop of the graph is traced once, whatever the number of turns', () => {
    const f = tfFunction((n: Tensor) =>
      whileLoop(
        (i) => i.less(n),
        (i) => [i.add(1)],
        [int(0)],
      ),
    );
    f(int(3));
    expect(values(f(int(10_000)))).toEqual([10_000]);
    expect(f.experimentalGetTracingCount()).toBe(1);
    expect(f.getConcreteFunction(int(3)).graph.toString()).toMatch(/While/);
  });
});
