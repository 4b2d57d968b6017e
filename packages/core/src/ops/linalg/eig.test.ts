import { describe, expect, test } from 'vitest';
import { constant, linalg, math, matmul, ones, random, type Tensor, zeros } from '../../index.ts';

const parts = (x: Tensor): [number[], number[]] => [
  Array.from(math.real(x).data() as Float64Array),
  Array.from(math.imag(x).data() as Float64Array),
];

describe('the eigenvalues of real matrices are real, or pairs of conjugates, as in TensorFlow', () => {
  const matrices: Readonly<Record<string, number[][]>> = {
    'one real, one pair': [
      [4, 1, 2],
      [0, 3, 1],
      [1, 0, 5],
    ],
    'all real': [
      [1, 2, 0],
      [3, 4, 1],
      [0, 1, 6],
    ],
    'two pairs and a real one': [
      [0, 1, 0, 0, 3],
      [-1, 0, 0, 0, 1],
      [0, 0, 2, 5, 0],
      [0, 0.5, -5, 2, 0],
      [0, 0, 0, 0, 7],
    ],
    'a rotation': [
      [0, -1],
      [1, 0],
    ],
    'equal ones': [
      [2, 0, 0],
      [0, 2, 0],
      [0, 0, 3],
    ],
  };
  test.each(Object.entries(matrices))('%s', (_, matrix) => {
    const a = constant(matrix, 'float64');
    const [e, v] = linalg.eig(a);
    const [re, im] = parts(e);
    const n = matrix.length;
    const [vre, vim] = parts(v);
    for (let j = 0; j < n; j++) {
      if (im[j] === 0) {
        // So is the vector.
        for (let r = 0; r < n; r++) expect(vim[r * n + j]).toBeCloseTo(0, 15);
        continue;
      }
      const partner = re.findIndex((x, k) => x === re[j] && im[k] === -(im[j] as number));
      expect(partner).not.toBe(-1);
      for (let r = 0; r < n; r++) {
        expect(vre[r * n + partner]).toBe(vre[r * n + j]);
        expect(vim[r * n + partner]).toBe(-(vim[r * n + j] as number));
      }
    }
    const [left, right] = [matmul(a.cast('complex128'), v), v.mul(e)];
    expect(left.sub(right).abs().max().item()).toBeLessThan(1e-12);
    expect(parts(linalg.eigvals(a.cast('float32')))[1].filter((x) => x === 0)).toHaveLength(
      im.filter((x) => x === 0).length,
    );
  });
  test('of one real value and a pair, TensorFlow 2.21 has the real one with an imaginary part of 0', () => {
    const [, im] = parts(linalg.eigvals(constant(matrices['one real, one pair'] as number[][], 'float64')));
    expect(im.filter((x) => x === 0)).toHaveLength(1);
  });
});

describe('eigenvalues, roots and logarithms of larger matrices', () => {
  const residual = (a: Tensor): number => {
    const [e, v] = linalg.eig(a);
    return matmul(a.cast('complex128'), v)
      .sub(v.mul(e.expandDims(-2)))
      .abs()
      .max()
      .item() as number;
  };
  test('of a batch', () => {
    const re = random.statelessNormal([3, 30, 30], [1, 2], { dtype: 'float32' }).cast('float64');
    const im = random.statelessNormal([3, 30, 30], [3, 4], { dtype: 'float32' }).cast('float64');
    expect(residual(re)).toBeLessThan(1e-11);
    expect(residual(math.complex(re, im))).toBeLessThan(1e-11);
    const a = re.mul(0.1).add(linalg.eye(30, { dtype: 'float64' }).mul(4));
    const root = linalg.sqrtm(a);
    expect(matmul(root, root).sub(a).abs().max().item()).toBeLessThan(1e-12);
    const log = linalg.logm(a.cast('complex128'));
    expect(linalg.expm(log).sub(a.cast('complex128')).abs().max().item()).toBeLessThan(1e-11);
  });
  test('with an eigenvalue again and again, of all zeros, and of huge numbers', () => {
    const jordan = linalg
      .eye(25, { dtype: 'float64' })
      .add(linalg.diag(ones([24], { dtype: 'float64' }), { k: 1 }));
    expect(residual(jordan)).toBeLessThan(1e-14);
    expect(residual(zeros([3, 3], { dtype: 'float64' }))).toBe(0);
    const huge = constant(
      [
        [1e200, 2e200],
        [-3e200, 1e200],
      ],
      'float64',
    );
    const [, im] = parts(linalg.eigvals(huge));
    expect((im[0] as number) / 1e200).toBeCloseTo(Math.sqrt(6), 12);
    expect(linalg.sqrtm(constant([[4e200]], 'float64')).item()).toBeCloseTo(2e100, -88);
  });
  test('of none, and of what is not finite', () => {
    expect(linalg.eigvals(zeros([2, 0, 0])).shape).toEqual([2, 0]);
    expect(linalg.sqrtm(zeros([0, 3, 3])).shape).toEqual([0, 3, 3]);
    const two = constant(
      [
        [
          [1, Number.POSITIVE_INFINITY],
          [0, 1],
        ],
        [
          [2, 0],
          [0, 2],
        ],
      ],
      'float64',
    );
    const [re] = parts(linalg.eigvals(two));
    expect(re).toEqual([Number.NaN, Number.NaN, 2, 2]);
    expect(linalg.sqrtm(two).isNan().array()).toEqual([
      [
        [true, true],
        [true, true],
      ],
      [
        [false, false],
        [false, false],
      ],
    ]);
  });
});
