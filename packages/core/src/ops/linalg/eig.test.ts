import { describe, expect, test } from 'vitest';
import { constant, linalg, math, matmul, type Tensor } from '../../index.ts';

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
