import '@eagre/backend-js';
import { expect, test } from 'vitest';
import { constant, nn } from '../../index.ts';

test('local responses are those of their windows, whatever is beside them', () => {
  for (const [depthRadius, channels] of [
    [2, 9],
    [0, 3],
    [5, 3],
    [3, 400],
    [1e9, 3],
  ] as const) {
    const values = Float32Array.from({ length: 2 * channels }, (_, i) => (i === 1 ? 1e5 : Math.sin(i) / 100));
    const expected = values.map((v, i) => {
      const row = i - (i % channels);
      let sum = 0;
      for (let k = 0; k < channels; k++)
        if (Math.abs(k - (i - row)) <= depthRadius) sum += (values[row + k] as number) ** 2;
      return v / Math.sqrt(0.5 + 2 * sum);
    });
    const x = constant({ data: values, shape: [1, 2, 1, channels] });
    const found = nn
      .localResponseNormalization(x, { depthRadius, bias: 0.5, alpha: 2 })
      .data() as Float32Array;
    for (const [i, v] of found.entries()) expect(v).toBeCloseTo(expected[i] as number, 6);
  }
});

test('local responses of nothing are nothing', () => {
  for (const shape of [
    [2, 2, 2, 0],
    [0, 2, 2, 3],
    [1, 0, 2, 3],
  ])
    expect(nn.localResponseNormalization(constant({ data: new Float32Array(0), shape })).shape).toEqual(
      shape,
    );
});
