import '@eagre/backend-js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { constant, image } from '../../index.ts';

test('boxes that are all kept come in the order of their scores, those of one score in their own', () => {
  const scores = fc.array(
    fc.oneof(
      fc.float({ noNaN: true }),
      fc.constantFrom(0, -0, 1, -1, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NaN),
    ),
    { minLength: 1, maxLength: 60, size: 'max' },
  );
  fc.assert(
    fc.property(scores, (list) => {
      const all = Float32Array.from(list);
      // Boxes beside each other.
      const boxes = all.length === 0 ? [] : Array.from(all, (_, i) => [i, 0, i + 0.5, 1]);
      const expected = Array.from(all.keys())
        .filter((i) => (all[i] as number) > Number.NEGATIVE_INFINITY)
        .sort((a, b) => {
          const [x, y] = [all[a] as number, all[b] as number];
          return x === y ? a - b : x > y ? -1 : 1;
        });
      expect(image.nonMaxSuppression(boxes, constant(all), all.length).array()).toEqual(expected);
    }),
  );
});

test('suppression by classes is that of each class alone', () => {
  const [batch, m, classes] = [2, 40, 3];
  const random = (n: number, salt: number): Float32Array =>
    Float32Array.from({ length: n }, (_, i) => ((Math.imul(i + salt, 2654435761) >>> 8) % 977) / 977);
  for (const q of [1, classes]) {
    const boxes = constant({ data: random(batch * m * q * 4, 3), shape: [batch, m, q, 4] });
    const scores = constant({ data: random(batch * m * classes, 5), shape: [batch, m, classes] });
    const [, found, of, counts] = image.combinedNonMaxSuppression(boxes, scores, 5, 20, {
      iouThreshold: 0.3,
    });
    for (let n = 0; n < batch; n++) {
      const expected = Array.from({ length: classes }, (_, c) => {
        const own = boxes.slice([n, 0, q === 1 ? 0 : c, 0], [1, m, 1, 4]).reshape([m, 4]);
        const score = scores.slice([n, 0, c], [1, m, 1]).reshape([m]);
        const [, best] = image.nonMaxSuppressionWithScores(own, score, 5, { iouThreshold: 0.3 });
        return (best.array() as number[]).map((value) => ({ value, c }));
      })
        .flat()
        .sort((a, b) => b.value - a.value);
      const count = counts.at(n).item() as number;
      expect(count).toBe(expected.length);
      const row = (x: typeof found): number[] => (x.at(n).array() as number[]).slice(0, count);
      expect(row(found)).toEqual(expected.map(({ value }) => value));
      expect(row(of)).toEqual(expected.map(({ c }) => c));
    }
  }
});
