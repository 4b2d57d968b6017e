import '@eagre/backend-js';
import { InvalidArgumentError } from '@eagre/backend';
import { describe, expect, expectTypeOf, it, test } from 'vitest';
import { IndexedSlices, nest, type RaggedTensor, ragged, sparse } from '../index.ts';
import { constant } from '../tensor/constant.ts';
import type { Tensor } from '../tensor/tensor.ts';

// What TensorFlow 2.21 gives, with dicts as objects, lists as arrays and None as null.
test.each<[structure: unknown, leaves: unknown[]]>([
  [{ b: 3, a: [1, 2] }, [1, 2, 3]],
  [null, [null]],
  [5, [5]],
  ['abc', ['abc']],
  [[], []],
  [{}, []],
  [{ '10': 1, '9': 2, B: 3, a: 4, _: 5 }, [1, 2, 3, 5, 4]],
  [
    new Map([
      [10, 1],
      [9, 2],
    ]),
    [2, 1],
  ],
  [
    [1, [2, [3]], { z: [4, { y: 5 }], x: 6 }],
    [1, 2, 3, 6, 4, 5],
  ],
])('%j flattened', (structure, leaves) => {
  expect(nest.flatten(structure)).toEqual(leaves);
  expect(nest.packSequenceAs(structure, leaves)).toEqual(structure);
});

test.each<[structure: unknown, leaves: unknown[], packed: unknown]>([
  [{ b: 0, a: [0, 0] }, [1, 2, 3], { b: 3, a: [1, 2] }],
  [0, [1], 1],
  [
    [0, 0],
    [[1], [2, 3]],
    [[1], [2, 3]],
  ],
])('%j packed', (structure, leaves, packed) => {
  expect(nest.packSequenceAs(structure, leaves)).toEqual(packed);
});

test.each<[a: unknown, b: unknown, same: boolean, sameWithoutTypes: boolean]>([
  [[1, 2], [3, 4], true, true],
  [[1, 2], [1], false, false],
  [[1], 1, false, false],
  [1, [1], false, false],
  [1, 2, true, true],
  [{ a: 1 }, { b: 1 }, false, true],
  [{ a: 1 }, { a: 1, b: 2 }, false, false],
  [[1, [2]], [[1], 2], false, false],
  [{ a: 1 }, [1], false, true],
  [[], [], true, true],
  [[], {}, false, true],
  [null, 1, true, true],
  [{ a: [1] }, { a: 1 }, false, false],
  [{ a: 1, b: 2 }, { b: 1, a: 2 }, true, true],
])('%j and %j', (a, b, same, sameWithoutTypes) => {
  const agree = (checkTypes: boolean): boolean => {
    try {
      nest.assertSameStructure(a, b, { checkTypes });
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidArgumentError);
      return false;
    }
  };
  expect([agree(true), agree(false)]).toEqual([same, sameWithoutTypes]);
});

test.each<[shallow: unknown, input: unknown, found: unknown[]]>([
  [{ x: 0, y: 0 }, { x: [1, 2], y: 3 }, [[1, 2], 3]],
  [0, [1, 2], [[1, 2]]],
  [{ b: 0, a: 0 }, { b: [1], a: [2] }, [[2], [1]]],
])('%j up to %j', (shallow, input, found) => {
  expect(nest.flattenUpTo(shallow, input)).toEqual(found);
});

test.each<[shallow: unknown, input: unknown]>([
  [[0, 0], [1]],
  [[0], 1],
  [{ a: 0 }, { b: 1 }],
  [{ a: 0 }, { a: 1, b: 2 }],
  [[0], { a: 1 }],
])('%j is no shallow form of %j', (shallow, input) => {
  expect(() => nest.flattenUpTo(shallow, input)).toThrow(InvalidArgumentError);
});

test('what is nested', () => {
  const values = [[], {}, new Map(), 'a', null, 1, constant([1]), new Set([1]), new Float32Array(2), () => 1];
  expect(values.map((v) => nest.isNested(v))).toEqual([true, true, true, ...new Array(7).fill(false)]);
});

describe('mapStructure', () => {
  it('keeps structures, calls in order, and leaves keys where they are', () => {
    const seen: number[] = [];
    const mapped = nest.mapStructure((x) => seen.push(x), { b: 1, a: [2, 3] });
    expect(seen).toEqual([2, 3, 1]);
    expect(Object.keys(mapped)).toEqual(['b', 'a']);
    expect(nest.mapStructure((x) => x + 1, 1)).toBe(2);
    expect(nest.mapStructure((x, y) => x + y, [1, [2]], [10, [20]])).toEqual([11, [22]]);
    const map = new Map<unknown, number>([
      [Symbol('a'), 1],
      ['b', 2],
    ]);
    expect([...nest.mapStructure((x) => -x, map).values()]).toEqual([-1, -2]);
    expect(nest.mapStructure((x) => x, JSON.parse('{"__proto__": [1]}'))).toEqual(
      JSON.parse('{"__proto__": [1]}'),
    );
  });

  it('takes structures that look like options, and options by name', () => {
    expect(nest.mapStructure((x, y) => x + y, { checkTypes: 1 }, { checkTypes: 2 })).toEqual({
      checkTypes: 3,
    });
    const structures = [{ a: 1 }, new Map([['a', 2]])] as const;
    expect(nest.mapStructure({ func: (x, y) => x + y, structures, checkTypes: false })).toEqual({ a: 3 });
    expect(() => nest.mapStructure((x, y) => x + y, ...structures)).toThrow(
      'nest.mapStructure: the structures differ: the value is an object and a map',
    );
  });

  it('goes up to a shallower structure', () => {
    expect(nest.mapStructureUpTo({ b: 0, a: 0 }, (v) => v.length, { b: [1], a: [2, 3] })).toEqual({
      b: 1,
      a: 2,
    });
    expect(nest.mapStructureUpTo([0, 0], (v, w) => [v, w], [1, [2]], [[3], 4])).toEqual([
      [1, [3]],
      [[2], 4],
    ]);
  });
});

describe('ragged and sparse tensors', () => {
  const R = ragged.constant([[1, 2], [3]]);
  const S = sparse.fromDense([
    [0, 1],
    [2, 0],
  ]);
  const expandComposites = true;
  const arrays = (list: readonly unknown[]): unknown[] => list.map((x) => (x as Tensor).array());

  it('are leaves', () => {
    const leaves = nest.flatten({ a: R, b: [S, 1] });
    expect(leaves.map((leaf, i) => leaf === [R, S, 1][i])).toEqual([true, true, true]);
    nest.assertSameStructure([R], [constant(1)]);
    nest.assertSameStructure([constant(1)], [R]);
    nest.assertSameStructure(R, S);
    expect(nest.mapStructure((x, y) => x === R && y === S, [R], [S])).toEqual([true]);
  });

  it('are looked into on demand', () => {
    expect(arrays(nest.flatten(R, { expandComposites }))).toEqual([
      [1, 2, 3],
      [0n, 2n, 3n],
    ]);
    expect(arrays(nest.flatten({ structure: [S], expandComposites }))).toEqual([
      [
        [0n, 1n],
        [1n, 0n],
      ],
      [1, 2],
      [2n, 2n],
    ]);
    const packed = nest.packSequenceAs({ r: R }, [constant([5, 6, 7]), constant([0n, 1n, 3n])], {
      expandComposites,
    });
    expect(packed.r.array()).toEqual([[5], [6, 7]]);
    const twice = nest.mapStructure({
      func: (x) => x.mul(2),
      structures: [new IndexedSlices([[1, 1]], constant([1], 'int32'))],
      expandComposites,
    });
    expect([twice.values.array(), twice.indices.array()]).toEqual([[[2, 2]], [2]]);
    nest.assertSameStructure(R, ragged.constant([[1], [2, 3, 4]]), { expandComposites });
    for (const other of [constant(1), S, ragged.constant([[[1]]]), [1, 2]])
      for (const [a, b] of [
        [R, other],
        [other, R],
      ])
        expect(() => nest.assertSameStructure(a, b, { expandComposites })).toThrow('the structures differ');
    expect(() => nest.flatten(R, { expandComposites: 1 as never })).toThrow('expandComposites is 1');
  });

  it('have types', () => {
    const both = { r: R, n: 1 };
    expectTypeOf(nest.flatten(both)).toEqualTypeOf<(RaggedTensor | number)[]>();
    expectTypeOf(nest.flatten(both, { expandComposites })).toEqualTypeOf<(Tensor | number)[]>();
    expectTypeOf(
      nest.mapStructure({ func: (x: Tensor | number) => x, structures: [both], expandComposites }),
    ).toEqualTypeOf<{ r: RaggedTensor; n: number }>();
  });
});

test('what is refused says where', () => {
  const round: unknown[] = [];
  round.push({ round });
  const refused: [run: () => unknown, message: string][] = [
    [() => nest.flatten(round), 'nest.flatten: a structure contains itself'],
    [() => nest.mapStructure((x) => x, round), 'contains itself'],
    [() => nest.assertSameStructure(round, round), 'contains itself'],
    [() => nest.packSequenceAs([0, 0], [1]), 'the structure has 2 leaves, but flatSequence has 1 values'],
    [() => nest.packSequenceAs([0], 1 as never), 'flatSequence must be an array'],
    [() => nest.assertSameStructure({ a: [1] }, { a: [1, 2] }), 'the value.a has 1 and 2 items'],
    [
      () => nest.assertSameStructure([{ a: 1 }], [{ b: 1 }]),
      "the value[0] has the key 'a' in the first only",
    ],
    [() => nest.assertSameStructure([1], [[1]]), 'the value[0] is a leaf and an array'],
    [() => nest.mapStructure(3 as never, [1]), 'func must be a function, got 3'],
    [() => (nest.mapStructure as (f: unknown) => unknown)(() => 1), 'at least one structure must be given'],
    [() => nest.mapStructureUpTo([0], (x) => x, [1, 2]), 'the value has 1 and 2 items'],
  ];
  for (const [run, message] of refused) {
    expect(run).toThrow(InvalidArgumentError);
    expect(run).toThrow(message);
  }
});

test('types keep structures', () => {
  const x = constant([1, 2]);
  interface Batch {
    readonly x: Tensor;
    readonly rest: readonly [Tensor, number];
  }
  const batch: Batch = { x, rest: [x, 1] };
  expectTypeOf(nest.mapStructure((t) => t.mul(2), { a: x, b: [x] })).toEqualTypeOf<{
    a: Tensor;
    b: Tensor[];
  }>();
  expectTypeOf(nest.mapStructure(String, batch)).toEqualTypeOf<{ x: string; rest: [string, string] }>();
  expectTypeOf(nest.mapStructure((t) => t, new Map([['a', [x]]]))).toEqualTypeOf<Map<string, Tensor[]>>();
  expectTypeOf(nest.flatten(batch)).toEqualTypeOf<(Tensor | number)[]>();
  expectTypeOf(nest.flatten({ structure: [x] })).toEqualTypeOf<Tensor[]>();
  expectTypeOf(nest.packSequenceAs(batch, ['a', 'b', 'c'])).toEqualTypeOf<{
    x: string;
    rest: [string, string];
  }>();
  expectTypeOf(nest.mapStructureUpTo({ a: 0 }, (v) => v.length, { a: [1] })).toEqualTypeOf<{ a: number }>();
  expectTypeOf(nest.flatten({} as unknown)).toEqualTypeOf<unknown[]>();
});
