import '@eagre/backend-js';
import '@eagre/backend-native';
import { describe, expect, test } from 'vitest';
import * as tf from '../../index.ts';
import * as special from '../../math-special.ts';
import { everywhere, numbers, randoms, slopes, worst } from '../../testing/ops.ts';
import { polygamma, zeta } from './host-special.ts';

const f64 = (...list: number[]): tf.Tensor => tf.constant(list, 'float64');
const tolerance = { float32: 4e-6, float64: 4e-13 };

describe('functions of one number', () => {
  test.each([
    ['exp', tf.exp, Math.exp, -20, 20],
    ['expm1', tf.expm1, Math.expm1, -3, 3],
    ['log', tf.log, Math.log, 1e-3, 100],
    ['log1p', tf.log1p, Math.log1p, -0.9, 100],
    ['sqrt', tf.sqrt, Math.sqrt, 0, 100],
    ['rsqrt', tf.rsqrt, (x: number) => 1 / Math.sqrt(x), 0.01, 100],
    ['reciprocal', tf.reciprocal, (x: number) => 1 / x, 0.1, 100],
    ['square', tf.square, (x: number) => x * x, -9, 9],
    ['sin', tf.sin, Math.sin, -20, 20],
    ['cos', tf.cos, Math.cos, -20, 20],
    ['tan', tf.tan, Math.tan, -1.4, 1.4],
    ['asin', tf.asin, Math.asin, -1, 1],
    ['acos', tf.acos, Math.acos, -1, 1],
    ['atan', tf.atan, Math.atan, -20, 20],
    ['sinh', tf.sinh, Math.sinh, -5, 5],
    ['cosh', tf.cosh, Math.cosh, -5, 5],
    ['tanh', tf.tanh, Math.tanh, -8, 8],
    ['asinh', tf.asinh, Math.asinh, -20, 20],
    ['acosh', tf.acosh, Math.acosh, 1.01, 20],
    ['atanh', tf.atanh, Math.atanh, -0.99, 0.99],
    ['abs', tf.abs, Math.abs, -3, 3],
    ['sign', tf.sign, Math.sign, -3, 3],
    ['neg', tf.neg, (x: number) => -x, -3, 3],
    ['floor', tf.floor, Math.floor, -9, 9],
    ['ceil', tf.ceil, Math.ceil, -9, 9],
  ] as const)('%s', (_, fn, expected, low, high) => {
    everywhere(() => {
      for (const dtype of ['float32', 'float64'] as const) {
        const x = tf.constant(randoms(700, low, high), 'float64').cast(dtype);
        expect(worst(fn(x), numbers(x).map(expected))).toBeLessThan(tolerance[dtype]);
        expect(fn(x).dtype).toBe(dtype);
      }
    });
  });

  test("Fresnel's integrals are 1/2 at infinity", () => {
    everywhere(() => {
      for (const fresnel of [special.fresnelSin, special.fresnelCos])
        for (const dtype of ['float32', 'float64'] as const)
          expect(fresnel(tf.constant([Infinity, -Infinity], dtype)).array()).toEqual([0.5, -0.5]);
    });
  });

  test.each(Object.entries(special))('%s refuses complex numbers', (_, of) => {
    const z = tf.constant([{ re: 1, im: 2 }]);
    for (let call = 0; call < 2; call++) expect(() => (of as typeof tf.exp)(z)).toThrow(/complex/);
  });

  test('special functions have the values of the literature', () => {
    // From mpmath, 30 digits.
    const x = [0.3, 1, 2.5, 11, -0.4, -3.7];
    const y = [-2, -0.5, 0, 0.7, 3];
    everywhere(() => {
      const lgamma = [
        1.0957979948180756, 0, 0.2846828704729192, 15.104412573075516, 1.31452458994339, -1.3797399049658245,
      ];
      expect(worst(tf.lgamma(f64(...x)), lgamma)).toBeLessThan(1e-12);
      const digamma = [
        -3.502524222200133, -0.5772156649015329, 0.7031566406452432, 2.351752589066721, 0.9593807861068095,
        -0.8450768588704167,
      ];
      expect(worst(tf.digamma(f64(...x)), digamma)).toBeLessThan(1e-12);
      const erf = [-0.9953222650189527, -0.5204998778130465, 0, 0.6778011938374184, 0.9999779095030014];
      expect(worst(tf.erf(f64(...y)), erf)).toBeLessThan(1e-12);
      const erfc = [1.9953222650189528, 1.5204998778130465, 1, 0.3221988061625815, 2.209049699858544e-5];
      expect(worst(tf.erfc(f64(...y)), erfc)).toBeLessThan(1e-12);
      const erfinv = [-1.163087153676674, -0.4769362762044699, 0, 0.2253120550121781, 1.8213863677184496];
      expect(worst(tf.erfinv(f64(-0.9, -0.5, 0, 0.25, 0.99)), erfinv)).toBeLessThan(1e-12);
    });
  });

  test('the derivatives of digamma, below 0 too', () => {
    const x = f64(0.3, 1, 2.5, 11, -0.4, -3.7);
    const first = [
      12.24536454610773, 1.6449340668482264, 0.49035775610023485, 0.09516633568168574, 9.886209670902357,
      14.842421864124267,
    ];
    const second = [
      -75.27253658872603, -2.4041138063191885, -0.2362040516417274, -0.009049834970802067, 21.287168462856542,
      -68.89345468867342,
    ];
    const third = [
      743.1417646550497, 6.493939402266829, 0.22390584881725206, 0.0017199013042898683, 281.78204104534575,
      768.9946494408642,
    ];
    everywhere(() => {
      const near = (got: number[] | null | undefined, expected: number[]): void =>
        expect(worst(f64(...(got ?? [])), expected)).toBeLessThan(1e-11);
      near(slopes('Digamma', [x])[0], first);
      near(slopes('PolygammaN', [x], { n: 1 })[0], second);
      near(slopes('PolygammaN', [x], { n: 2 })[0], third);
    });
  });

  test('round goes to even', () => {
    everywhere(() =>
      expect(tf.round([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, -2.6]).array()).toEqual([0, 2, 2, -0, -2, 2, -3]),
    );
  });

  test('round leaves integers as they are', () => {
    everywhere(() => {
      for (const dtype of ['int32', 'int64', 'uint8'] as const) {
        const x = tf.constant([1, 2, 200], dtype);
        expect(x.round().dtype).toBe(dtype);
        expect(x.round().array()).toEqual(x.array());
      }
      expect(() => tf.round([true])).toThrow(tf.InvalidArgumentError);
    });
  });

  test('integers are refused where the result has fractions', () => {
    expect(() => tf.sin(tf.constant([1], 'int32'))).toThrow(/Sin: x is int32, expected float32, float64/);
  });
});

describe('arithmetic', () => {
  test.each([
    ['add', tf.add, (a: number, b: number) => a + b],
    ['sub', tf.sub, (a: number, b: number) => a - b],
    ['mul', tf.mul, (a: number, b: number) => a * b],
    ['div', tf.div, (a: number, b: number) => a / b],
    ['floorDiv', tf.floorDiv, (a: number, b: number) => Math.floor(a / b)],
    ['mod', tf.mod, (a: number, b: number) => a - b * Math.floor(a / b)],
    ['maximum', tf.maximum, Math.max],
    ['minimum', tf.minimum, Math.min],
    ['squaredDifference', tf.squaredDifference, (a: number, b: number) => (a - b) ** 2],
    ['atan2', tf.atan2, Math.atan2],
  ] as const)('%s', (_, fn, expected) => {
    everywhere(() => {
      const a = randoms(300, -5, 5);
      const b = randoms(300, -5, 5, 2);
      expect(
        worst(
          fn(a, b),
          a.map((x, i) => expected(x, b[i])),
        ),
      ).toBeLessThan(1e-12);
      const wide = fn(a.subarray(0, 4), tf.constant(b.subarray(0, 3)).reshape([3, 1]));
      expect(wide.shape).toEqual([3, 4]);
      expect(
        worst(
          wide,
          Array.from({ length: 12 }, (_, i) => expected(a[i % 4], b[Math.floor(i / 4)])),
        ),
      ).toBeLessThan(1e-12);
    });
  });

  test('pow', () => {
    everywhere(() => {
      const a = randoms(300, 0.1, 5);
      const b = randoms(300, -3, 3, 2);
      expect(
        worst(
          tf.pow(a, b),
          a.map((x, i) => x ** b[i]),
        ),
      ).toBeLessThan(1e-12);
      expect(tf.pow([-2, 2, 0], [3, -1, 0]).array()).toEqual([-8, 0.5, 1]);
      expect(tf.pow(tf.constant([3, -2], 'int32'), 3).array()).toEqual([27, -8]);
      expect(() => tf.pow(tf.constant([3], 'int32'), -1)).toThrow(tf.InvalidArgumentError);
    });
  });

  test('integers round down and wrap around', () => {
    everywhere(() => {
      const a = tf.constant([7, -7, 7, -7], 'int32');
      const b = tf.constant([2, 2, -2, -2], 'int32');
      expect(a.floorDiv(b).array()).toEqual([3, -4, -4, 3]);
      expect(a.mod(b).array()).toEqual([1, 1, -1, -1]);
      expect(
        tf
          .constant([2 ** 31 - 1], 'int32')
          .add(1)
          .array(),
      ).toEqual([-(2 ** 31)]);
      expect(
        tf
          .constant([2n ** 62n, -3n])
          .mul(2n)
          .array(),
      ).toEqual([-(2n ** 63n), -6n]);
      expect(() => a.floorDiv(0)).toThrow(tf.InvalidArgumentError);
    });
  });

  test('a quotient of integers is refused with advice', () => {
    everywhere(() => {
      expect(() => tf.constant([1], 'int32').div(2)).toThrow(/RealDiv: .*cast.*floorDiv/);
      expect(() => tf.constant([true]).div(tf.constant([true]))).toThrow(/RealDiv/);
      expect(
        tf
          .constant([1], 'uint8')
          .div(tf.constant([2]))
          .array(),
      ).toEqual([0.5]);
    });
  });

  test('the functions that avoid NaN', () => {
    everywhere(() => {
      expect(tf.divNoNan([1, -2, 0], [0, 4, 0]).array()).toEqual([0, -0.5, 0]);
      expect(tf.mulNoNan([Infinity, NaN, 2], [0, 0, 3]).array()).toEqual([0, 0, 6]);
      expect(tf.xlogy([0, 0, 2], [0, -1, 1]).array()).toEqual([0, 0, 0]);
      expect(tf.xlog1py([0, 2], [-1, 0]).array()).toEqual([0, 0]);
      expect(tf.xdivy([0, 3], [0, 2]).array()).toEqual([0, 1.5]);
    });
  });

  test('NaN is neither hidden by maximum nor by minimum', () => {
    everywhere(() => {
      expect(tf.maximum([NaN, 1], [1, NaN]).array()).toEqual([NaN, NaN]);
      expect(tf.minimum([NaN, 1], [1, NaN]).array()).toEqual([NaN, NaN]);
    });
  });

  test('tensors widen, and nothing is narrowed', () => {
    expect(tf.add(tf.constant([1], 'uint8'), tf.constant([2], 'int64')).dtype).toBe('int64');
    expect(tf.add(tf.constant([1], 'int32'), 2).dtype).toBe('int32');
    expect(() => tf.add(tf.constant([1], 'int32'), tf.constant([1.5]))).toThrow(/no common dtype/);
    expect(() => tf.add([1, 2, 3], [1, 2])).toThrow(/AddV2.*do not broadcast/);
  });

  test('all are methods of tensors and variables', () => {
    const v = new tf.Variable([1, 4]);
    expect(v.sqrt().add(v).array()).toEqual([2, 6]);
    expect(tf.constant([3, 4]).square().sum().item()).toBe(25);
  });
});

describe('slopes at singular points', () => {
  test('ties go to the first argument', () => {
    everywhere(() => {
      expect(slopes('Maximum', [f64(1, 2, 3), f64(2, 2, 2)])).toEqual([
        [0, 1, 1],
        [1, 0, 0],
      ]);
      expect(slopes('Minimum', [f64(1, 2, 3), f64(2, 2, 2)])).toEqual([
        [1, 1, 0],
        [0, 0, 1],
      ]);
    });
  });
  test('abs and sign', () => {
    everywhere(() => {
      expect(slopes('Abs', [f64(-2, 0, 3)])).toEqual([[-1, 0, 1]]);
      expect(slopes('Sign', [f64(-2, 0, 3)])).toEqual([[0, 0, 0]]);
    });
  });
  test('powers of 0, to 0 and of negative numbers', () => {
    everywhere(() => {
      const [da, db] = slopes('Pow', [f64(0, 0, 0, -2, 3), f64(0, 1, 2, 2, 0)]);
      expect(da).toEqual([0, 1, 0, -4, 0]);
      expect(worst(f64(...(db ?? [])), [0, 0, 0, 0, Math.log(3)])).toBeLessThan(1e-14);
    });
  });
  test('divNoNan', () => {
    everywhere(() => {
      const [da, db] = slopes('DivNoNan', [f64(1, 3), f64(0, 2)]);
      expect(da).toEqual([0, 0.5]);
      expect(db?.map((d) => d + 0)).toEqual([0, -0.75]);
    });
  });
});

describe('functions whose work a value says', () => {
  const one = (y: tf.Tensor): number => y.item() as number;
  const order = (n: number): tf.Tensor => tf.constant(n, 'float64');

  // Of mpmath.
  test.each([
    [171, 50, 76846353307342590],
    [171, 1000, 7.895703660865027e-207],
    [200, 100, -9.125424691096223e-28],
    [1000, 500, -9.973892361037703e-135],
    [1000, 1, -Infinity],
    [2e9, 3, -Infinity],
    [2e9, 1e9, -0],
    [1e9, 0.1, -Infinity],
  ])('the polygamma function of order %d at %d', (n, x, value) => {
    for (const found of [polygamma(order(n), f64(x)), polygamma(n, f64(x))])
      if (Number.isFinite(value) && value !== 0) expect(one(found) / value).toBeCloseTo(1, 9);
      else expect(one(found)).toBe(value);
  });

  test.each([
    [2, -150.25, 19.73257532733219],
    [3, -150.25, -62.01253135918605],
    [3, -1000000.5, 4.99999000001375e-13],
    [2, -999999999.75, 19.739208801178716],
    [2, -1e300, Infinity],
  ])('the zeta function of %d far below 0, at %d', (x, q, value) => {
    const found = one(zeta(order(x), f64(q)));
    if (Number.isFinite(value)) expect(found / value).toBeCloseTo(1, 9);
    else expect(found).toBe(value);
  });
});
