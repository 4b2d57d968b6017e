// Corners of ops where TensorFlow 2.21 says what comes out: each expected value is its.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import * as tf from '../src/index.ts';

describe('strings.format', () => {
  it.each([
    ['float16', [1e-5, 0.1, Math.PI, 1.25], '[1.00135803e-05 0.0999755859 3.140625 1.25]'],
    ['bfloat16', [1e7, 1e15, 1 / 3, 16777216, 1.25], '[10027008 9.98356558e+14 0.333984375 16777216 1.25]'],
  ] as const)('shows %s as float32', (dtype, values, text) => {
    const x = tf.constant([...values], dtype);
    expect(tf.strings.format('{}', x).array()).toBe(text);
  });
});

describe('strings.unicodeDecodeWithOffsets', () => {
  const bytes = (...list: number[]): tf.Tensor =>
    tf.io.decodeBase64(
      Buffer.from(list).toString('base64').replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
    );
  it.each([
    ['UTF-16', bytes(0xff, 0xfe, 0x61, 0, 0xe9, 0), [97, 233], [0n, 4n]],
    ['UTF-16', bytes(0xfe, 0xff, 0, 0x61), [97], [0n]],
    ['UTF-32', bytes(0, 0, 0xfe, 0xff, 0, 0, 0, 0x61), [97], [0n]],
  ] as const)('begins with the mark of %s', (encoding, text, points, offsets) => {
    const found = tf.strings.unicodeDecodeWithOffsets(text, encoding);
    expect(found.map((t) => t.array())).toEqual([points, offsets]);
  });
});

describe('fake quantization of what is not finite', () => {
  const odd = [1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const slopes = (
    min: number,
    max: number,
  ): readonly [y: unknown, dx: unknown, dmin: unknown, dmax: unknown] => {
    const inputs = [tf.constant(odd), tf.constant(min), tf.constant(max)] as const;
    const tape = new tf.GradientTape();
    for (const t of inputs) tape.watch(t);
    const y = tf.quantization.fakeQuantWithMinMaxVars(...inputs, { numBits: 3 });
    const [dx, dmin, dmax] = tape.gradient(y, [...inputs]) as tf.Tensor[];
    return [y.array(), dx.array(), dmin.array(), dmax.array()];
  };
  it('has no gradient at a NaN', () => {
    expect(slopes(0, 7)).toEqual([[1, Number.NaN, 7, 0], [1, 0, 0, 0], 1, 1]);
    const { fakeQuantWithMinMaxVarsGradient } = tf.quantization;
    const [dx] = fakeQuantWithMinMaxVarsGradient(tf.ones([4]), odd, 0, 7, { numBits: 3 });
    expect(dx.array()).toEqual([1, 0, 0, 0]);
  });
  it('is 0 in a range without width', () => {
    expect(slopes(0, 0)[0]).toEqual([0, 0, 0, 0]);
  });
});

it('the eigenvalues of a diagonal operator are in its order', () => {
  expect(new tf.linalg.LinearOperatorDiag([2, -1, 0.5]).eigvals().array()).toEqual([2, -1, 0.5]);
});

describe('patterns of files', () => {
  const root = mkdtempSync(join(tmpdir(), 'eagre-patterns-'));
  afterAll(() => rmSync(root, { recursive: true }));
  for (const name of [
    '.h.txt',
    'a.txt',
    'b.txt',
    '1.txt',
    '-m.txt',
    '^c.txt',
    'x[1].txt',
    'é.txt',
    'd/.h',
    'd/a',
  ]) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), '');
  }
  it.each([
    ['*.txt', ['-m.txt', '.h.txt', '1.txt', '^c.txt', 'a.txt', 'b.txt', 'x[1].txt', 'é.txt']],
    ['?.txt', ['1.txt', 'a.txt', 'b.txt', 'é.txt']],
    ['d/?h', ['d/.h']],
    ['*/*', ['d/.h', 'd/a']],
    ['[[:alpha:]].txt', ['a.txt', 'b.txt', 'é.txt']],
    ['[^[:alpha:]].txt', ['1.txt']],
    ['[\\]a].txt', ['a.txt']],
    ['[]a].txt', ['a.txt']],
    ['[a\\-c].txt', ['a.txt']],
    ['[!a].txt', ['1.txt', 'b.txt', 'é.txt']],
    ['x[[]1].txt', ['x[1].txt']],
    ['[-^]?.txt', ['-m.txt', '^c.txt']],
  ])('%s', (pattern, names) => {
    const found = tf.io.gfile.glob(`${root}/${pattern}`);
    expect(found.map((path) => path.slice(root.length + 1)).sort()).toEqual(names);
  });
});

describe('what tf.print writes of ragged and sparse tensors', () => {
  const { constant: rows } = tf.ragged;
  const printed = (...values: unknown[]): string => {
    let text = '';
    const outputStream = { write: (piece: string) => (text += piece) };
    tf.print(...values.slice(0, -1), { ...(values.at(-1) as object), outputStream });
    return text;
  };
  const nine = tf.range(18).reshape([9, 2]).cast('int32');
  const wide = tf.RaggedTensor.fromRowLengths(nine, [8, 1]);
  const sparse = new tf.SparseTensor(
    [
      [0, 1],
      [1, 2],
    ],
    [1.5, 2],
    [2, 3],
  );
  const vector = new tf.SparseTensor(
    Array.from({ length: 9 }, (_, i) => [i]),
    tf.range(9).cast('int32'),
    [9],
  );
  it.each([
    [[rows([[1, 2], [], [3]], 'int32'), {}], '[[1, 2], [], [3]]'],
    [[rows([[[1], [2, 3]], []], 'int32'), {}], '[[[1], [2, 3]], []]'],
    [[rows([['a', "it's", 'a\\b'], []]), {}], "[['a', 'it\\'s', 'a\\\\b'], []]"],
    [
      [
        rows([
          [1.5, 2],
          [1 / 3, 1e10],
        ]),
        {},
      ],
      '[[1.500000, 2.000000], [0.333333, 10000000000.000000]]',
    ],
    [[rows([[1], [2], [3], [4], [5], [6], [7], [8]], 'int32'), {}], '[[1], [2], [3], ..., [6], [7], [8]]'],
    [[rows([[1], [2], [3]], 'int32'), { summarize: 1 }], '[[1], ..., [3]]'],
    [
      [rows([[1, 2, 3, 4, 5, 6, 7, 8, 9], [1]], 'int32'), { summarize: -1 }],
      '[[1, 2, 3, 4, 5, 6, 7, 8, 9], [1]]',
    ],
    [[wide, {}], '[[[0, 1], [2, 3], [4, 5], ..., [10, 11], [12, 13], [14, 15]], [[16, 17]]]'],
    [[wide, { summarize: 1 }], '[[[0, 1], ..., [14, 15]], [[16, 17]]]'],
    [[{ b: 1, a: { c: rows([[1], [2, 3]], 'int32') } }, {}], "{'a': {'c': [[1], [2, 3]]}, 'b': 1}"],
    [[sparse, {}], "'SparseTensor(indices=[[0 1]\n [1 2]], values=[1.5 2], shape=[2 3])'"],
    [
      [[1, vector], {}],
      "[1, 'SparseTensor(indices=[[0]\n [1]\n [2]\n ...\n [6]\n [7]\n [8]], values=[0 1 2 ... 6 7 8], shape=[9])']",
    ],
  ])('%#', (values, text) => {
    expect(printed(...values)).toBe(`${text}\n`);
    // Traced, what is no string comes with the run.
    const [value, options] = values;
    if (tf.isTensor(value) || !(value instanceof tf.RaggedTensor) || value.dtype === 'string') return;
    let later = '';
    const outputStream = { write: (piece: string) => (later += piece) };
    tf.function((x: tf.RaggedTensor) => tf.print(x, { ...options, outputStream }))(value);
    expect(later).toBe(`${text}\n`);
  });
  it('is what tf.strings.format shows', () => {
    expect(tf.strings.format('{}', rows([[1, 2], [3]], 'int32') as never).array()).toBe('[[1, 2], [3]]');
  });
});
