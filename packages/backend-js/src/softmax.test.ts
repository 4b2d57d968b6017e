import { OutOfRangeError } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './softmax.ts';
import { noise, run, tensor, values } from './testing/kernels.ts';

describe('Softmax and LogSoftmax', () => {
  it('have known values', () => {
    const x = tensor('float64', [2, 2], [0, Math.log(3), 1000, 1000]);
    const y = values(run(kernels, 'Softmax', [x], 'float64', [2, 2])) as number[];
    [0.25, 0.75, 0.5, 0.5].forEach((v, i) => {
      expect(y[i]).toBeCloseTo(v, 15);
    });
    const log = values(run(kernels, 'LogSoftmax', [x], 'float64', [2, 2])) as number[];
    [0.25, 0.75, 0.5, 0.5].forEach((v, i) => {
      expect(log[i]).toBeCloseTo(Math.log(v), 15);
    });
    expect(values(run(kernels, 'Softmax', [tensor('float32', [3], [NaN, 1, 2])], 'float32', [3]))).toEqual([
      NaN,
      NaN,
      NaN,
    ]);
    expect(values(run(kernels, 'Softmax', [tensor('float32', [2, 0])], 'float32', [2, 0]))).toEqual([]);
    const masked = tensor('float32', [2], [-Infinity, 3]);
    expect(values(run(kernels, 'LogSoftmax', [masked], 'float32', [2]))).toEqual([-Infinity, 0]);
  });
});

describe('cross-entropies', () => {
  const rows = 3;
  const classes = 4;
  const logits = noise(rows * classes, 1).map((v) => 3 * v);
  const x = tensor('float64', [rows, classes], logits);

  it('have the gradient of their loss', () => {
    const labels = tensor('float64', [rows, classes], noise(rows * classes, 2).map(Math.abs));
    const loss = tensor('float64', [rows]);
    const backprop = tensor('float64', [rows, classes]);
    kernels.SoftmaxCrossEntropyWithLogits!([x, labels], [loss, backprop], {});
    const log = values(run(kernels, 'LogSoftmax', [x], 'float64', [rows, classes])) as number[];
    const weights = values(labels) as number[];
    for (let r = 0; r < rows; r++) {
      let expected = 0;
      for (let i = r * classes; i < (r + 1) * classes; i++) expected -= weights[i] * log[i];
      expect(values(loss)[r]).toBeCloseTo(expected, 14);
    }
    const h = 1e-5;
    for (let i = 0; i < logits.length; i++) {
      const shifted = [h, -h].map((step) => {
        const moved = tensor(
          'float64',
          [rows, classes],
          logits.map((v, j) => (j === i ? v + step : v)),
        );
        kernels.SoftmaxCrossEntropyWithLogits!(
          [moved, labels],
          [loss, tensor('float64', [rows, classes])],
          {},
        );
        return values(loss)[Math.floor(i / classes)] as number;
      });
      expect(values(backprop)[i]).toBeCloseTo((shifted[0] - shifted[1]) / (2 * h), 8);
    }
  });

  it('agree for one-hot labels', () => {
    const hits = [2, 0, 3];
    const oneHot = hits.flatMap((hit) => Array.from({ length: classes }, (_, i) => (i === hit ? 1 : 0)));
    const dense = [tensor('float64', [rows]), tensor('float64', [rows, classes])];
    kernels.SoftmaxCrossEntropyWithLogits!([x, tensor('float64', [rows, classes], oneHot)], dense, {});
    for (const dtype of ['int32', 'int64'] as const) {
      const sparse = [tensor('float64', [rows]), tensor('float64', [rows, classes])];
      kernels.SparseSoftmaxCrossEntropyWithLogits!([x, tensor(dtype, [rows], hits)], sparse, {});
      sparse.forEach((t, k) => {
        values(t).forEach((v, i) => {
          expect(v).toBeCloseTo(values(dense[k])[i] as number, 14);
        });
      });
    }
  });

  it('refuse a label outside of the classes', () => {
    for (const label of [-1, classes]) {
      const labels = tensor('int32', [rows], [0, label, 1]);
      const outputs = [tensor('float64', [rows]), tensor('float64', [rows, classes])];
      expect(() => kernels.SparseSoftmaxCrossEntropyWithLogits!([x, labels], outputs, {})).toThrow(
        OutOfRangeError,
      );
    }
  });
});
