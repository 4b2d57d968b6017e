import '@eagre/backend-js';
import '@eagre/backend-native';
import { describe, expect, test } from 'vitest';
import * as tf from '../../index.ts';
import { everywhere, numbers, randoms, worst } from '../../testing/ops.ts';

const a23 = [
  [1, 2, 3],
  [4, 5, 6],
];
const b32 = [
  [1, 0],
  [2, 1],
  [0, 3],
];
const random = (shape: number[], seed: number): tf.Tensor =>
  tf
    .constant(
      randoms(
        shape.reduce((n, d) => n * d, 1),
        -1,
        1,
        seed,
      ),
    )
    .reshape(shape);

describe('products', () => {
  test('matmul with transposes and batches', () => {
    everywhere(() => {
      expect(tf.matmul(a23, b32).array()).toEqual([
        [5, 11],
        [14, 23],
      ]);
      const a = random([2, 3, 4], 1);
      const b = random([2, 4, 5], 2);
      const y = a.matmul(b);
      expect(y.shape).toEqual([2, 3, 5]);
      expect(worst(a.swapAxes(1, 2).matmul(b, { transposeA: true }), numbers(y))).toBeLessThan(1e-12);
      expect(worst(a.matmul(b.swapAxes(1, 2), { transposeB: true }), numbers(y))).toBeLessThan(1e-12);
      expect(worst(a.matmul(b.at(1)).at(1), numbers(y.at(1)))).toBeLessThan(1e-12);
      expect(a.expandDims(1).matmul(b).shape).toEqual([2, 2, 3, 5]);
      expect(tf.matmul(tf.constant([[2]], 'int32'), tf.constant([[3n]])).array()).toEqual([[6n]]);
      expect(tf.matmul(tf.zeros([2, 0]), tf.zeros([0, 3])).array()).toEqual([
        [0, 0, 0],
        [0, 0, 0],
      ]);
      expect(tf.zeros([0, 2, 3]).matmul(tf.zeros([3, 4])).shape).toEqual([0, 2, 4]);
    });
  });

  test('what matmul refuses', () => {
    expect(() => tf.matmul([1, 2], [3, 4])).toThrow('use dot');
    expect(() => tf.matmul(a23, [1, 2, 3])).toThrow('use matvec');
    expect(() => tf.matmul(a23, a23)).toThrow(
      'MatMul: shapes [2, 3] and [2, 3] do not match: the inner dimensions 3 and 2 differ',
    );
    expect(() => tf.matmul(a23, a23, { transposeA: true, transposeB: true })).toThrow('[2, 3] (transposed)');
    expect(() => tf.zeros([2, 2, 2]).matmul(tf.zeros([3, 2, 2]))).toThrow('do not broadcast');
    expect(() => tf.matmul([[true]], [[true]])).toThrow('are bool');
  });

  test('matvec, dot, outer and tensordot', () => {
    everywhere(() => {
      expect(tf.matvec(a23, [1, 0, 1]).array()).toEqual([4, 10]);
      expect(tf.matvec(a23, [1, 1], { transposeA: true }).array()).toEqual([5, 7, 9]);
      expect(tf.dot([1, 2, 3], [4, 5, 6]).array()).toBe(32);
      expect(tf.dot(2, [1, 2]).array()).toEqual([2, 4]);
      expect(tf.dot(a23, [1, 0, 0]).array()).toEqual([1, 4]);
      expect(tf.dot(a23, b32).array()).toEqual([
        [5, 11],
        [14, 23],
      ]);
      expect(tf.outer([1, 2], [3, 4, 5]).array()).toEqual([
        [3, 4, 5],
        [6, 8, 10],
      ]);
      expect(tf.tensordot(a23, b32, 1).array()).toEqual([
        [5, 11],
        [14, 23],
      ]);
      expect(tf.tensordot(a23, a23, 2).array()).toBe(91);
      expect(
        tf
          .tensordot(a23, b32, [
            [0, 1],
            [1, 0],
          ])
          .item(),
      ).toBe(tf.mul(a23, tf.transpose(b32)).sum().item());
      expect(tf.tensordot([1, 2], [3, 4], 0).array()).toEqual([
        [3, 4],
        [6, 8],
      ]);
      const a = random([2, 3, 4], 3);
      expect(
        tf.tensordot(a, random([4, 2, 5], 4), [
          [2, 0],
          [0, 1],
        ]).shape,
      ).toEqual([3, 5]);
    });
    expect(() => tf.dot([1], [1, 2])).toThrow('differ in size');
    expect(() => tf.tensordot(a23, a23, 1)).toThrow('differ in size');
    expect(() =>
      tf.tensordot(a23, a23, [
        [0, 0],
        [0, 0],
      ]),
    ).toThrow('an axis twice');
  });
});

describe('parts of matrices', () => {
  test('diagonals', () => {
    everywhere(() => {
      expect(tf.diag([1, 2]).array()).toEqual([
        [1, 0],
        [0, 2],
      ]);
      expect(
        tf
          .diag([
            [1, 2],
            [3, 4],
          ])
          .at(1)
          .array(),
      ).toEqual([
        [3, 0],
        [0, 4],
      ]);
      expect(tf.diag([Infinity, 1]).array()).toEqual([
        [Infinity, 0],
        [0, 1],
      ]);
      expect(tf.diagPart(a23).array()).toEqual([1, 5]);
      expect(tf.diagPart(b32).array()).toEqual([1, 1]);
      expect(tf.setDiag(a23, [8, 9]).array()).toEqual([
        [8, 2, 3],
        [4, 9, 6],
      ]);
      expect(tf.setDiag(b32, [8, 9]).array()).toEqual([
        [8, 0],
        [2, 9],
        [0, 3],
      ]);
      expect(
        tf
          .trace([
            [1, 2],
            [3, 4],
          ])
          .array(),
      ).toBe(5);
      expect(tf.diag([true]).array()).toEqual([[true]]);
      expect(tf.diagPart(tf.zeros([0, 3])).shape).toEqual([0]);
      expect(tf.matrixTranspose([a23]).array()).toEqual([
        [
          [1, 4],
          [2, 5],
          [3, 6],
        ],
      ]);
    });
    expect(() => tf.trace([1])).toThrow('expected matrices');
    expect(() => tf.setDiag(a23, [1])).toThrow('expected [2]');
  });

  test('bands and triangles', () => {
    everywhere(() => {
      const x = tf.range(1, 10).reshape([3, 3]);
      expect(tf.tril(x).array()).toEqual([
        [1, 0, 0],
        [4, 5, 0],
        [7, 8, 9],
      ]);
      expect(tf.triu(x, 1).array()).toEqual([
        [0, 2, 3],
        [0, 0, 6],
        [0, 0, 0],
      ]);
      expect(tf.tril(x, -1).array()).toEqual([
        [0, 0, 0],
        [4, 0, 0],
        [7, 8, 0],
      ]);
      expect(tf.bandPart(x, 1, 0).array()).toEqual([
        [1, 0, 0],
        [4, 5, 0],
        [0, 8, 9],
      ]);
      expect(tf.bandPart(x, -1, -1).array()).toEqual(x.array());
      expect(tf.tril(tf.fill([2, 2], Infinity)).array()).toEqual([
        [Infinity, 0],
        [Infinity, Infinity],
      ]);
      expect(
        tf
          .triu([
            [true, true],
            [true, true],
          ])
          .array(),
      ).toEqual([
        [true, true],
        [false, true],
      ]);
    });
  });
});

describe('einsum', () => {
  const reference = (equation: string, ...operands: tf.Tensor[]): { shape: number[]; data: number[] } => {
    const [left, right] = equation.split('->');
    const parts = left.split(',');
    const sizes = new Map<string, number>();
    parts.forEach((p, i) => [...p].forEach((l, axis) => sizes.set(l, operands[i].shape[axis])));
    const labels = [...sizes.keys()];
    const shape = [...right].map((l) => sizes.get(l) as number);
    const data = new Array<number>(shape.reduce((n, d) => n * d, 1)).fill(0);
    const lists = operands.map(numbers);
    const place = (names: string, at: Map<string, number>): number =>
      [...names].reduce((n, l) => n * (sizes.get(l) as number) + (at.get(l) as number), 0);
    const visit = (i: number, at: Map<string, number>): void => {
      if (i === labels.length) {
        data[place(right, at)] += parts.reduce((p, names, k) => p * lists[k][place(names, at)], 1);
        return;
      }
      for (let v = 0; v < (sizes.get(labels[i]) as number); v++) visit(i + 1, at.set(labels[i], v));
    };
    visit(0, new Map());
    return { shape, data };
  };

  test('agrees with sums in plain numbers', () => {
    const cases: [string, number[][]][] = [
      [
        'ij,jk->ik',
        [
          [2, 3],
          [3, 4],
        ],
      ],
      [
        'ij,jk->ki',
        [
          [2, 3],
          [3, 4],
        ],
      ],
      [
        'bij,bjk->bik',
        [
          [2, 3, 4],
          [2, 4, 2],
        ],
      ],
      [
        'bqhd,bkhd->bhqk',
        [
          [2, 3, 2, 4],
          [2, 5, 2, 4],
        ],
      ],
      ['i,i->', [[4], [4]]],
      ['i,j->ij', [[2], [3]]],
      ['ij->ji', [[2, 3]]],
      ['ijk->j', [[2, 3, 4]]],
      ['ii->i', [[3, 3]]],
      ['ii->', [[3, 3]]],
      ['iji->j', [[2, 3, 2]]],
      [
        'ij,ij->i',
        [
          [2, 3],
          [2, 3],
        ],
      ],
      ['ij,k->k', [[2, 3], [4]]],
      [
        'ij,jk,kl->il',
        [
          [2, 3],
          [3, 4],
          [4, 2],
        ],
      ],
      ['a,ab,abc->abc', [[2], [2, 3], [2, 3, 2]]],
      [
        'ijkl,jl->ik',
        [
          [2, 3, 2, 4],
          [3, 4],
        ],
      ],
      [
        'ii,ij->j',
        [
          [2, 2],
          [2, 3],
        ],
      ],
    ];
    everywhere(() => {
      for (const [equation, shapes] of cases) {
        const operands = shapes.map((s, i) => random(s, i + 1));
        const { shape, data } = reference(equation, ...operands);
        const y = tf.einsum(equation, ...operands);
        expect(y.shape, equation).toEqual(shape);
        expect(worst(y, data), equation).toBeLessThan(1e-12);
      }
    });
  });

  test('dots stand for what is not named, and broadcast', () => {
    everywhere(() => {
      const x = random([2, 3, 4], 1);
      const w = random([4, 5], 2);
      expect(worst(tf.einsum('...i,ij->...j', x, w), numbers(x.matmul(w)))).toBeLessThan(1e-12);
      const b = random([3, 4, 2], 3);
      const y = tf.einsum(
        '...ij,...jk->...ik',
        x,
        b.at('...', 'newaxis', ':', 0).expandDims(-1).at('0:1', 0),
      );
      expect(y.shape).toEqual([2, 3, 1]);
      expect(worst(tf.einsum('...->...', x), numbers(x))).toBe(0);
      expect(tf.einsum('...j->j...', x).shape).toEqual([4, 2, 3]);
      expect(tf.einsum('a...,b...->ab...', random([2, 1, 4], 4), random([3, 5, 1], 5)).shape).toEqual([
        2, 3, 5, 4,
      ]);
    });
  });

  test('without an arrow the result has the single labels in order', () => {
    expect(
      tf
        .einsum('ba', [
          [1, 2],
          [3, 4],
        ])
        .array(),
    ).toEqual([
      [1, 3],
      [2, 4],
    ]);
    expect(tf.einsum('ij,jk', a23, b32).array()).toEqual([
      [5, 11],
      [14, 23],
    ]);
    expect(
      tf
        .einsum('ii', [
          [1, 2],
          [3, 4],
        ])
        .array(),
    ).toBe(5);
    expect(tf.einsum(' i , i -> ', [1, 2], [3, 4]).array()).toBe(11);
    expect(
      tf.einsum('ij,jk->ik', tf.constant([[1, 2]], 'int32'), tf.constant([[3], [4]], 'int32')).array(),
    ).toEqual([[11]]);
  });

  test('says what is wrong with an equation', () => {
    expect(() => tf.einsum('ij,jk->ik', a23)).toThrow('written for 2 operands, got 1');
    expect(() => tf.einsum('ij->i')).toThrow('no operands');
    expect(() => tf.einsum('ij->ik', a23)).toThrow("'k' of the result is in no operand");
    expect(() => tf.einsum('ijk->i', a23)).toThrow(
      "'ijk' does not name the axes of operand 0 of shape [2, 3]",
    );
    expect(() => tf.einsum('ij,jk->ik', a23, a23)).toThrow(
      "the axis 'j' is 3 long in one place and 2 in another",
    );
    expect(() => tf.einsum('i1->i', a23)).toThrow('is not made of letters');
    expect(() => tf.einsum('ij->ii', a23)).toThrow('contains an axis twice');
    expect(() => tf.einsum('ij->i->j', a23)).toThrow("one '->'");
    expect(() => tf.einsum('...j->j', a23)).toThrow("the result needs '...'");
    expect(() => tf.einsum('ij,ij->ij', a23, [[1], [2]])).toThrow("the axis 'j' is 1 long");
  });
});
