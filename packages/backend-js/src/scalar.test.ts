import {
  buildScalarProgram,
  InvalidArgumentError,
  type NumericDType,
  type ScalarBuilder,
  type ScalarOp,
  type ScalarValue,
  type TensorRef,
} from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { compileScalar } from './scalar.ts';
import { noise, tensor, values } from './testing/kernels.ts';

type Body = (s: ScalarBuilder, ...x: ScalarValue[]) => ScalarValue;

/** Maps a program over inputs into one new tensor. */
function map(
  inputs: readonly TensorRef[],
  dtype: NumericDType,
  shape: readonly number[],
  body: Body,
): TensorRef {
  const program = buildScalarProgram(
    inputs.map((x) => x.dtype as NumericDType),
    body,
  );
  const y = tensor(dtype, shape);
  compileScalar(program)(inputs, [y], {});
  return y;
}

type Elements = readonly (number | bigint | boolean)[];

/** An operation on vectors of one dtype. */
function apply(op: ScalarOp, dtype: NumericDType, ...args: Elements[]): (number | bigint)[] {
  const predicate = /^(eq|ne|[lg][te]|is.*)$/.test(op);
  const inputs = args.map((x) => tensor(dtype, [x.length], x as number[]));
  const y = map(inputs, predicate ? 'bool' : dtype, [args[0].length], (s, ...x) =>
    (s as unknown as Record<string, (...x: ScalarValue[]) => ScalarValue>)[op](...x),
  );
  return values(y);
}

function cast(from: NumericDType, to: NumericDType, x: Elements): (number | bigint)[] {
  return values(map([tensor(from, [x.length], x as number[])], to, [x.length], (s, v) => s.cast(v, to)));
}

const lowest = -(2n ** 63n);

describe('scalar programs', () => {
  it('broadcast as NumPy does', () => {
    const shapes = [
      [[], []],
      [[3], []],
      [[2, 3], [3]],
      [
        [2, 1],
        [1, 3],
      ],
      [
        [4, 1, 2, 1],
        [3, 1, 5],
      ],
      [
        [1, 3, 1],
        [7, 3, 400],
      ],
      [[600], [3, 600]],
      [
        [300, 1],
        [300, 5],
      ],
      [
        [2, 1, 3, 1, 2, 1, 2, 1],
        [1, 2, 1, 2, 1, 3, 1, 2],
      ],
      [[0, 3], [3]],
    ];
    for (const [left, right] of shapes) {
      const rank = Math.max(left.length, right.length);
      const pad = (shape: readonly number[]): number[] => [...Array(rank - shape.length).fill(1), ...shape];
      const shape = pad(left).map((size, i) => (size === 1 ? pad(right)[i] : size));
      const count = (sizes: readonly number[]): number => sizes.reduce((a, b) => a * b, 1);
      for (const dtype of ['float64', 'int64'] as const) {
        const a = tensor(
          dtype,
          left,
          Array.from({ length: count(left) }, (_, i) => i),
        );
        const b = tensor(
          dtype,
          right,
          Array.from({ length: count(right) }, (_, i) => 1000 * i),
        );
        const y = map([a, b], dtype, shape, (s, x, z) => s.add(x, z));
        const index = (own: readonly number[], flat: number): number => {
          let position = 0;
          let stride = 1;
          for (let axis = rank - 1; axis >= 0; axis--) {
            if (pad(own)[axis] !== 1) position += (flat % shape[axis]) * stride;
            stride *= pad(own)[axis];
            flat = Math.floor(flat / shape[axis]);
          }
          return position;
        };
        const expected = Array.from(
          { length: count(shape) },
          (_, i) => index(left, i) + 1000 * index(right, i),
        );
        expect(values(y).map(Number)).toEqual(expected);
      }
    }
  });

  it('round every float32 result', () => {
    const a = noise(1500, 1);
    const b = noise(1500, 2);
    const inputs = [tensor('float32', [1500], a), tensor('float32', [1500], b)];
    const y = map(inputs, 'float32', [1500], (s, p, q) => s.sub(s.mul(s.add(p, 0.1), q), s.exp(p)));
    const f = Math.fround;
    const expected = a.map((p, i) => f(f(f(f(p) + f(0.1)) * f(b[i])) - f(Math.exp(f(p)))));
    expect(values(y)).toEqual(expected);
  });

  it('write several outputs, also over their inputs', () => {
    const program = buildScalarProgram(['float64', 'float64', 'int64'], (s, a, b, c) => [
      s.add(a, b),
      s.mul(a, b),
      s.cast(s.lt(a, b), 'float64'),
      c,
      s.constant(7, 'uint8'),
    ]);
    const n = 1100;
    const a = tensor(
      'float64',
      [n],
      Array.from({ length: n }, (_, i) => i),
    );
    const b = tensor('float64', [], [100]);
    const less = tensor('float64', [n]);
    const copy = tensor('int64', [n]);
    const seven = tensor('uint8', [n]);
    const product = tensor('float64', [n]);
    compileScalar(program)([a, b, tensor('int64', [], [5n])], [a, product, less, copy, seven], {});
    expect(values(a).every((v, i) => v === i + 100)).toBe(true);
    expect(values(product).every((v, i) => v === i * 100)).toBe(true);
    expect(values(less).every((v, i) => v === (i < 100 ? 1 : 0))).toBe(true);
    expect(new Set(values(copy))).toEqual(new Set([5n]));
    expect(new Set(values(seven))).toEqual(new Set([7]));
  });

  it('select by a condition', () => {
    const c = tensor('bool', [3], [1, 0, 1]);
    const x = tensor('float32', [3], [1, 2, 3]);
    expect(values(map([c, x], 'float32', [3], (s, p, v) => s.select(p, v, -1)))).toEqual([1, -1, 3]);
    const big = tensor('int64', [3], [1n, 2n, 3n]);
    expect(values(map([c, big], 'int64', [3], (s, p, v) => s.select(p, v, 9)))).toEqual([1n, 9n, 3n]);
  });
});

describe('instructions', () => {
  it('wrap integers', () => {
    expect(apply('add', 'int32', [2 ** 31 - 1], [1])).toEqual([-(2 ** 31)]);
    expect(apply('mul', 'int32', [123456789], [987654321])).toEqual([Math.imul(123456789, 987654321)]);
    expect(apply('neg', 'int32', [-(2 ** 31), 0])).toEqual([-(2 ** 31), 0]);
    expect(apply('abs', 'int32', [-(2 ** 31), -3])).toEqual([-(2 ** 31), 3]);
    expect(apply('sub', 'uint8', [3], [5])).toEqual([254]);
    expect(apply('mul', 'uint8', [20], [20])).toEqual([144]);
    expect(apply('neg', 'uint8', [1])).toEqual([255]);
    expect(apply('mul', 'int64', [2n ** 62n], [2n])).toEqual([lowest]);
    expect(apply('abs', 'int64', [lowest, -5n])).toEqual([lowest, 5n]);
    expect(apply('sign', 'int64', [-9n, 0n, 4n])).toEqual([-1n, 0n, 1n]);
  });

  it('divide', () => {
    const x = [7, -7, 7, -7];
    const y = [2, 2, -2, -2];
    for (const dtype of ['int32', 'int64'] as const) {
      const divide = (op: ScalarOp): number[] => apply(op, dtype, x, y).map(Number);
      expect(divide('div')).toEqual([3, -3, -3, 3]);
      expect(divide('floorDiv')).toEqual([3, -4, -4, 3]);
      expect(divide('mod')).toEqual([1, 1, -1, -1]);
    }
    expect(apply('floorDiv', 'float32', x, y)).toEqual([3, -4, -4, 3]);
    expect(apply('mod', 'float64', x, y)).toEqual([1, 1, -1, -1]);
    expect(apply('div', 'float32', [1, 0, -1], [0, 0, 0])).toEqual([Infinity, NaN, -Infinity]);
    expect(apply('div', 'int32', [-(2 ** 31)], [-1])).toEqual([-(2 ** 31)]);
    expect(apply('div', 'int64', [lowest], [-1n])).toEqual([lowest]);
    expect(apply('div', 'int32', [0], [-5])).toEqual([0]);
    for (const op of ['div', 'floorDiv', 'mod'] as const) {
      for (const dtype of ['int32', 'int64', 'uint8'] as const) {
        expect(() => apply(op, dtype, [1], [0])).toThrow(InvalidArgumentError);
      }
    }
  });

  it('raise to powers', () => {
    expect(apply('pow', 'int32', [2, -3, 0, 3], [10, 3, 0, 21])).toEqual([1024, -27, 1, 1870418611]);
    expect(apply('pow', 'int64', [2n, -3n, 3n], [62n, 3n, 41n])).toEqual([
      2n ** 62n,
      -27n,
      BigInt.asIntN(64, 3n ** 41n),
    ]);
    expect(apply('pow', 'float32', [2, 9], [-1, 0.5])).toEqual([0.5, 3]);
    expect(() => apply('pow', 'int32', [2], [-1])).toThrow(InvalidArgumentError);
    expect(() => apply('pow', 'int64', [2n], [-1n])).toThrow(InvalidArgumentError);
  });

  it('compare', () => {
    const expected: Partial<Record<ScalarOp, number[]>> = {
      eq: [0, 1, 0],
      ne: [1, 0, 1],
      lt: [1, 0, 0],
      le: [1, 1, 0],
      gt: [0, 0, 1],
      ge: [0, 1, 1],
    };
    for (const [op, result] of Object.entries(expected) as [ScalarOp, number[]][]) {
      for (const dtype of ['float32', 'float64', 'int32', 'int64', 'uint8'] as const) {
        expect(apply(op, dtype, [1, 2, 3], [2, 2, 2])).toEqual(result);
      }
      expect(apply(op, 'float32', [NaN], [NaN])).toEqual([op === 'ne' ? 1 : 0]);
    }
    expect(apply('eq', 'bool', [1, 0], [1, 1])).toEqual([1, 0]);
    const odd = [NaN, Infinity, -Infinity, 0];
    expect(apply('isNaN', 'float32', odd)).toEqual([1, 0, 0, 0]);
    expect(apply('isInf', 'float64', odd)).toEqual([0, 1, 1, 0]);
    expect(apply('isFinite', 'float32', odd)).toEqual([0, 0, 0, 1]);
    expect(apply('isFinite', 'int64', [3n])).toEqual([1]);
  });

  it('let NaN through min, max and sign', () => {
    expect(apply('max', 'float32', [NaN, 1, -Infinity], [1, NaN, 3])).toEqual([NaN, NaN, 3]);
    expect(apply('min', 'float64', [NaN, 1, -Infinity], [1, NaN, 3])).toEqual([NaN, NaN, -Infinity]);
    expect(apply('sign', 'float32', [NaN, -2, 0, 5])).toEqual([NaN, -1, 0, 1]);
    expect(apply('max', 'int64', [3n], [lowest])).toEqual([3n]);
  });

  it('work on bits and on truth values', () => {
    expect(apply('bitAnd', 'int32', [-1], [12])).toEqual([12]);
    expect(apply('bitXor', 'uint8', [255], [15])).toEqual([240]);
    expect(apply('bitNot', 'uint8', [1])).toEqual([254]);
    expect(apply('bitOr', 'int64', [1n << 40n], [1n])).toEqual([(1n << 40n) + 1n]);
    expect(apply('shiftLeft', 'uint8', [129, 1, 1], [1, 7, 9])).toEqual([2, 128, 128]);
    expect(apply('shiftRight', 'int32', [-8, -8], [1, 99])).toEqual([-4, -1]);
    expect(apply('shiftLeft', 'int64', [1n, 1n], [62n, 63n])).toEqual([2n ** 62n, lowest]);
    expect(apply('not', 'bool', [0, 1])).toEqual([1, 0]);
    expect(apply('and', 'bool', [0, 1, 1], [1, 0, 1])).toEqual([0, 0, 1]);
    expect(apply('or', 'bool', [0, 0, 1], [1, 0, 1])).toEqual([1, 0, 1]);
    expect(apply('xor', 'bool', [0, 1, 1], [1, 0, 1])).toEqual([1, 1, 0]);
    expect(() => apply('bitAnd', 'float32', [1], [1])).toThrow('bitAnd');
    expect(() => apply('add', 'bool', [1], [1])).toThrow('add');
  });

  it('cast', () => {
    const odd = [NaN, Infinity, -Infinity, -1.9, 300.7, 3e9, -0];
    expect(cast('float32', 'int32', odd)).toEqual([0, 2147483647, -2147483648, -1, 300, 2147483647, 0]);
    expect(cast('float64', 'uint8', odd)).toEqual([0, 255, 0, 0, 255, 255, 0]);
    expect(cast('float64', 'int64', [...odd, 1e19])).toEqual([
      0n,
      2n ** 63n - 1n,
      lowest,
      -1n,
      300n,
      3000000000n,
      0n,
      2n ** 63n - 1n,
    ]);
    expect(cast('float32', 'bool', [NaN, 0, -0, 0.1])).toEqual([1, 0, 0, 1]);
    expect(cast('int32', 'uint8', [-1, 256, 7])).toEqual([255, 0, 7]);
    expect(cast('int64', 'int32', [2n ** 32n + 5n, -1n])).toEqual([5, -1]);
    expect(cast('int64', 'uint8', [-1n])).toEqual([255]);
    expect(cast('int64', 'bool', [2n ** 40n, 0n])).toEqual([1, 0]);
    expect(cast('uint8', 'int64', [200])).toEqual([200n]);
    expect(cast('bool', 'float32', [1, 0])).toEqual([1, 0]);
    expect(cast('float64', 'float32', [0.1])).toEqual([Math.fround(0.1)]);
    expect(cast('int32', 'float32', [2 ** 24 + 1])).toEqual([2 ** 24]);
  });

  it('round int64 to float32 once', () => {
    // A tie for float32 but for the last bit, which a float64 in between would lose.
    const tie = 2n ** 60n + 2n ** 36n;
    expect(cast('int64', 'float32', [tie, tie + 1n, -tie, -tie - 1n, tie - 1n])).toEqual([
      2 ** 60,
      2 ** 60 + 2 ** 37,
      -(2 ** 60),
      -(2 ** 60) - 2 ** 37,
      2 ** 60,
    ]);
  });

  it('call the library for the rest', () => {
    const known: Partial<Record<ScalarOp, number>> = {
      floor: 0,
      ceil: 1,
      round: 0,
      sqrt: Math.SQRT1_2,
      rsqrt: Math.SQRT2,
      exp: Math.sqrt(Math.E),
      expm1: 0.6487212707001282,
      log: -Math.LN2,
      log1p: 0.4054651081081644,
      sin: 0.479425538604203,
      cos: 0.8775825618903728,
      tan: 0.5463024898437905,
      asin: Math.PI / 6,
      acos: Math.PI / 3,
      atan: 0.4636476090008061,
      sinh: 0.5210953054937474,
      cosh: 1.1276259652063807,
      tanh: 0.46211715726000974,
      asinh: 0.48121182505960347,
      atanh: 0.5493061443340549,
      sigmoid: 0.6224593312018546,
      softplus: 0.9740769841801067,
      erf: 0.5204998778130465,
      erfc: 0.4795001221869535,
      erfinv: 0.4769362762044699,
      lgamma: 0.5723649429247001,
      digamma: -1.9635100260214235,
    };
    for (const [op, value] of Object.entries(known) as [ScalarOp, number][]) {
      expect(apply(op, 'float64', [0.5])[0], op).toBeCloseTo(value, 14);
      expect(apply(op, 'float32', [0.5])[0], op).toBe(Math.fround(apply(op, 'float64', [0.5])[0] as number));
    }
    expect(apply('acosh', 'float64', [2])[0]).toBeCloseTo(1.3169578969248166, 14);
    expect(apply('atan2', 'float64', [1], [-1])[0]).toBeCloseTo((3 * Math.PI) / 4, 14);
  });
});
