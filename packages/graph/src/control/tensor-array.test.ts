import '@eagre/backend-js';
import { GradientTape } from '@eagre/autodiff';
import { constant, InvalidArgumentError, ones, range, scope, shapeOf, type Tensor, zeros } from '@eagre/core';
import { describe, expect, test, vi } from 'vitest';
import { tfFunction } from '../function/function.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { scan } from './elements.ts';
import { TensorArray } from './tensor-array.ts';
import { whileLoop } from './while-loop.ts';

const values = (x: Tensor): unknown => x.array();
/** Without a trace, and in a traced function. */
const modes: readonly (readonly [string, <T>(f: () => T) => T])[] = [
  ['eager', (f) => f()],
  ['traced', (f) => tfFunction(f as () => unknown)() as ReturnType<typeof f>],
];

describe.each(modes)('a TensorArray, %s', (_, run) => {
  test('is written, read and stacked; what was written first stays as it was', () => {
    const [first, second, both, size] = run(() => {
      const empty = new TensorArray('float32', { size: 2 });
      const one = empty.write(0, [1, 2]);
      const two = one.write(1, [3, 4]);
      const other = one.write(1, [5, 6]);
      return [two.read(0), other.read(1), two.stack(), two.size()] as const;
    });
    expect([first, second, both, size].map(values)).toEqual([
      [1, 2],
      [5, 6],
      [
        [1, 2],
        [3, 4],
      ],
      2,
    ]);
  });

  test('is zeros where nothing was written, once the shape is known', () => {
    const [given, learned, again] = run(() => {
      const known = new TensorArray('float64', { size: 2, elementShape: [] });
      const written = new TensorArray('int32', { size: 2 }).write(0, constant([7], 'int32'));
      return [known.read(1), written.stack(), written.write(0, constant([8], 'int32')).stack()] as const;
    });
    expect(given.dtype).toBe('float64');
    expect([given, learned, again].map(values)).toEqual([0, [[7], [0]], [[8], [0]]]);
  });

  test('grows, if its size is dynamic', () => {
    const [stacked, size] = run(() => {
      const grown = new TensorArray('float32', { dynamicSize: true }).write(0, 1).write(3, 4);
      return [grown.stack(), grown.size()] as const;
    });
    expect([stacked, size].map(values)).toEqual([[1, 0, 0, 4], 4]);
  });

  test('takes apart and joins: unstack, gather, scatter, split, concat', () => {
    const results = run(() => {
      const rows = new TensorArray('float32', { size: 3 }).unstack([
        [1, 2],
        [3, 4],
        [5, 6],
      ]);
      const scattered = new TensorArray('float32', { size: 4 }).scatter([3, 1, 3], [1, 2, 3]);
      const pieces = new TensorArray('float32', { size: 2, inferShape: false }).split([1, 2, 3], [1, 2]);
      return [
        rows.read(1),
        rows.gather([2, 0, 2]),
        rows.concat(),
        scattered.stack(),
        pieces.read(1),
        pieces.concat(),
        rows.write(1, [0, 0]).stack(),
      ] as const;
    });
    expect(results.map(values)).toEqual([
      [3, 4],
      [
        [5, 6],
        [1, 2],
        [5, 6],
      ],
      [1, 2, 3, 4, 5, 6],
      [0, 2, 0, 3],
      [2, 3],
      [1, 2, 3],
      [
        [1, 2],
        [0, 0],
        [5, 6],
      ],
    ]);
  });

  test('of no elements has a shape if it was given one', () => {
    const [stacked, joined] = run(() => {
      const none = new TensorArray('float32', { size: 0, elementShape: [2, 3] });
      return [none.stack(), none.concat()] as const;
    });
    expect([stacked.shape, joined.shape]).toEqual([
      [0, 2, 3],
      [0, 3],
    ]);
    expect(() => run(() => new TensorArray('float32', { size: 0 }).stack())).toThrow(
      /complete shape.*elementShape/,
    );
  });

  test.each([
    ['a missing size', () => new TensorArray('float32'), /a size is needed/],
    ['a size that is none', () => new TensorArray('float32', { size: -1 }), /at least 0/],
    ['not a dtype', () => new TensorArray('float' as 'float32', { size: 1 }), /'float' is not a dtype/],
    [
      'writing behind the end',
      () => new TensorArray('float32', { size: 2 }).write(2, 1),
      /write to index 2 of a TensorArray of size 2; it grows with { dynamicSize: true }/,
    ],
    [
      'reading behind the end',
      () => new TensorArray('float32', { size: 2, elementShape: [] }).read(2),
      /read from index 2 of a TensorArray of size 2/,
    ],
    ['a negative index', () => new TensorArray('float32', { size: 2 }).write(-1, 1), /index -1/],
    [
      'another dtype',
      () => new TensorArray('float32', { size: 2 }).write(0, constant(1, 'int32')),
      /the TensorArray is float32, but a int32 tensor/,
    ],
    [
      'another shape',
      () => new TensorArray('float32', { size: 2 }).write(0, [1]).write(1, [1, 2]),
      /shape \[2\] is written, expected \[1\]/,
    ],
    [
      'a shape that was not promised',
      () => new TensorArray('float32', { size: 2, elementShape: [null, 3] }).write(0, zeros([2, 2])),
      /shape \[2, 2\] is written, expected \[null, 3\]/,
    ],
    [
      'reading what was not written',
      () => new TensorArray('float32', { size: 2 }).read(1),
      /was not written/,
    ],
    [
      'stacking what was not written',
      () => new TensorArray('float32', { size: 2 }).stack(),
      /at 0 was not written/,
    ],
    [
      'unstacking too many',
      () => new TensorArray('float32', { size: 2 }).unstack([1, 2, 3]),
      /3 tensors into a TensorArray of static size 2/,
    ],
    [
      'concat of scalars',
      () => new TensorArray('float32', { size: 2 }).unstack([1, 2]).concat(),
      /at least vectors/,
    ],
    [
      'lengths that do not add up',
      () => new TensorArray('float32', { size: 2 }).split([1, 2, 3], [1, 1]),
      /do not add up/,
    ],
    [
      'other lengths than elements',
      () => new TensorArray('float32', { size: 3 }).split([1, 2, 3], [1, 2]),
      /3 elements, but there are 2 lengths/,
    ],
    [
      'other indices than values',
      () => new TensorArray('float32', { size: 3 }).scatter([0, 1], [1]),
      /2 indices for 1 tensors/,
    ],
  ])('refuses %s', (__, wrong, message) => {
    expect(() => run(() => void wrong())).toThrow(message);
  });
});

test('what was written outlives the memory scope that returns the array', () => {
  const array = scope(() =>
    new TensorArray('float32', { size: 2 }).write(0, constant([1]).add(1)).write(1, constant([2])),
  );
  const old = scope(() => {
    const first = array.write(0, constant([3]).add(1));
    first.write(1, constant([9]).add(9));
    return first;
  });
  expect(array.stack().array()).toEqual([[2], [2]]);
  expect(old.stack().array()).toEqual([[4], [2]]);
});

test('says what it is', () => {
  expect(String(new TensorArray('int32', { size: 3 }))).toBe(
    'TensorArray(int32, size 3, elements of unknown shape)',
  );
  expect(String(new TensorArray('int32', { size: 3, elementShape: [null, 2] }))).toBe(
    'TensorArray(int32, size 3, elements [null, 2])',
  );
});

test('strings, without a trace', () => {
  expect(new TensorArray('string', { size: 2 }).write(1, 'b').write(0, 'a').stack().array()).toEqual([
    'a',
    'b',
  ]);
});

test('what is not written takes one piece for each gap', () => {
  const fill = (x: Tensor): Tensor =>
    new TensorArray('float32', { size: 1000 }).write(1, x).write(2, x.mul(2)).write(500, x.mul(3)).stack();
  const traced = tfFunction(fill);
  const expected = new Array<number>(1000).fill(0);
  Object.assign(expected, { 1: 5, 2: 10, 500: 15 });
  expect(fill(constant(5)).array()).toEqual(expected);
  expect(traced(constant(5)).array()).toEqual(expected);
  expect(traced.getConcreteFunction(constant(5)).graph.nodes.length).toBeLessThan(20);
});

test('a scan from the first element writes all states in one tensor', () => {
  const sums = tfFunction((x: Tensor) => scan((sum: Tensor, row: Tensor) => sum.add(row), x));
  const x = ones([1000, 2]);
  expect(sums(x).at(999).array()).toEqual([1000, 1000]);
  const { graph } = sums.getConcreteFunction(x);
  expect(graph.nodes.length).toBeLessThan(12);
});

describe('as many elements as a size that is not known', () => {
  const sized = (fn: (x: Tensor) => unknown) =>
    tfFunction({ inputSignature: [new TensorSpec([null, 2])] })(fn as (x: Tensor) => Tensor);
  const count = (x: Tensor): Tensor => shapeOf(x).gather(0);
  const int = (n: number): Tensor => constant(n, 'int32');

  test('one trace serves all sizes, with gradients', () => {
    const run = (x: Tensor): [Tensor, Tensor, Tensor] => {
      const tape = new GradientTape();
      tape.watch(x);
      const n = count(x);
      const rows = new TensorArray('float32', { size: n }).unstack(x);
      const [, , out] = whileLoop(
        (i) => i.less(n),
        (i, state, out) => {
          const next = state.add(rows.read(i)).mul(2);
          return [i.add(1), next, out.write(i, next).write(i.add(n), next.neg())];
        },
        [int(0), zeros([2]), new TensorArray('float32', { size: n.mul(2) })],
      );
      const all = out.stack();
      return [all, tape.gradient(all.square().sum(), x) as Tensor, out.size()];
    };
    const traced = tfFunction({ inputSignature: [new TensorSpec([null, 2])] })(run);
    for (const n of [2, 1, 5]) {
      const x = constant(Array.from({ length: n }, (_, i) => [i + 1, 0.5 * i]));
      expect(traced(x).map((t) => t.array())).toEqual(run(x).map((t) => t.array()));
    }
    expect(traced.experimentalGetTracingCount()).toBe(1);
  });

  test('what is not written is zeros, once a shape is known', () => {
    const f = sized((x) => new TensorArray('float32', { size: count(x), elementShape: [] }).stack());
    expect([3, 1].map((n) => f(ones([n, 2])).array())).toEqual([[0, 0, 0], [0]]);
    const first = sized((x) => new TensorArray('float32', { size: count(x) }).write(int(0), x.sum()).stack());
    expect([3, 2].map((n) => first(ones([n, 2])).array())).toEqual([
      [6, 0, 0],
      [4, 0],
    ]);
    expect(first.experimentalGetTracingCount()).toBe(1);
    let shown = '';
    sized((x) => {
      shown = String(new TensorArray('float32', { size: count(x) }));
      return x;
    })(ones([2, 2]));
    expect(shown).toBe('TensorArray(float32, size n0, elements of unknown shape)');
  });

  test('all methods serve all sizes', () => {
    const run = (x: Tensor): Tensor[] => {
      const n = count(x);
      const rows = new TensorArray('float32', { size: n }).unstack(x);
      const pairs = new TensorArray('float32', { size: n }).unstack(x.expandDims(1));
      const from = range(n.sub(1), -1, -1);
      return [
        pairs.concat(),
        rows.gather(from),
        rows.scatter(from, x).stack(),
        rows.write(n.sub(1), [7, 8]).stack(),
        new TensorArray('float32', { size: 2 }).write(0, x).write(1, x.neg()).concat(),
        new TensorArray('float32', { size: 1 }).unstack(x.expandDims(0)).read(0),
      ];
    };
    const traced = tfFunction({ inputSignature: [new TensorSpec([null, 2])] })(run);
    for (const n of [3, 1, 4]) {
      const x = constant(Array.from({ length: n }, (_, i) => [i + 1, 0.5 * i]));
      expect(traced(x).map((t) => t.array())).toEqual(run(x).map((t) => t.array()));
    }
    expect(traced.experimentalGetTracingCount()).toBe(1);
  });

  test('an array of dynamic size that grows serves each size', () => {
    vi.spyOn(console, 'warn').mockImplementationOnce(() => undefined);
    const run = (x: Tensor): Tensor =>
      new TensorArray('float32', { size: count(x), dynamicSize: true }).write(2, x.sum()).stack();
    const traced = sized(run);
    for (const n of [2, 1, 4, 5]) expect(traced(ones([n, 2])).array()).toEqual(run(ones([n, 2])).array());
  });

  test('an index beyond them is refused at the run', () => {
    const f = sized((x) => new TensorArray('float32', { size: count(x) }).write(4, x.sum()).stack());
    expect(f(ones([5, 2])).array()).toEqual([0, 0, 0, 0, 10]);
    expect(() => f(ones([3, 2]))).toThrow('is not in [0, 3)');
  });
});

test('takes its arguments by name, and refuses what it does not take', () => {
  const array = new TensorArray({ dtype: 'float32', size: 2, elementShape: [] });
  const full = array.write({ index: 0, value: 1 }).write(1, { value: 2 });
  expect(full.stack().array()).toEqual([1, 2]);
  expect(full.read({ index: 1 }).item()).toBe(2);
  expect(full.gather({ indices: [1, 0] }).array()).toEqual([2, 1]);
  expect(
    full
      .unstack({ value: [3, 4] })
      .scatter({ indices: [0], value: [5] })
      .stack()
      .array(),
  ).toEqual([5, 4]);
  const pieces = new TensorArray('float32', { size: 2, inferShape: false });
  expect(
    pieces
      .split({ value: [1, 2, 3], lengths: [1, 2] })
      .concat()
      .array(),
  ).toEqual([1, 2, 3]);
  const make = TensorArray as unknown as new (
    ...args: unknown[]
  ) => Record<string, (...args: unknown[]) => unknown>;
  const refused = (call: () => unknown, message: string) => {
    expect(call).toThrow(message);
    expect(call).toThrow(InvalidArgumentError);
  };
  refused(() => new make('float32', 3), 'only dtype can be given by position; write { size: 3 }');
  refused(() => new make('float32', { size: 3, clearAfterRead: false }), "'clearAfterRead' is not an option");
  refused(() => new make({ size: 3 }), 'dtype must be given: write new TensorArray(dtype, { size })');
  refused(
    () => new make('float32', { size: 3 }).write?.(0),
    'value must be given: write TensorArray.write(index, value)',
  );
  refused(() => new make('float32', { size: 3 }).read?.(0, 'name'), 'takes at most 1 arguments');
});
