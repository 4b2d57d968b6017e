import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { describe, expect, test, vi } from 'vitest';
import { math } from '../../index.ts';

const place = Symbol.for('eagre.sobolNumbers');

describe('more dimensions than the first table has', () => {
  // The SHA-256 of the bytes that tf.math.sobol_sample of TensorFlow 2.21 gives.
  test.each([
    [1112, 3, 0, 'float32', '0ca2975972dcae5c1d4d2b21b65df86252768212252fbc9b8d454c203c3054a8'],
    [1112, 3, 0, 'float64', 'd00de2e6f8109c5f66a1499182c6228398214ae6a199d8bb1588d14579c02567'],
    [5000, 4, 1000, 'float32', '49d603463a561f17c76f0c6dc8adafa9d7737c67cc6bbdf03a326dbca738239f'],
    [5000, 4, 1000, 'float64', 'f5a8b5778914d53220b72e5c52e60da0d150f296fdf00f047e650d447e367ae7'],
    [21200, 5, 70000, 'float32', 'e8d9915cf40cdbcd1489b652ebef25c72e41edf45b712fbb644dedd52894c648'],
    [21200, 5, 70000, 'float64', 'cde84ad431c663251f3ce99caa9bacc4455bff00f3ae20b65cc470e03f43f406'],
    [21200, 2, 1e9, 'float32', 'daa5651bb95462ae32f0049458d1e0a2d6f5faae39273980853138bc01f60f13'],
    [21200, 2, 1e9, 'float64', '21b64182ac21bae4aa988548542745cb3ffaa7b724ccce8be59373de66cd2414'],
  ] as const)('%i, %i points behind %i, %s', (dim, numResults, skip, dtype, hash) => {
    const points = math.sobolSample(dim, numResults, skip, { dtype }).data() as Float32Array;
    expect(createHash('sha256').update(points).digest('hex')).toBe(hash);
  });

  test('there are no more than in TensorFlow', () => {
    expect(() => math.sobolSample(21201, 1)).toThrow(InvalidArgumentError);
  });

  test('where there are no files a program imports them', () => {
    const own = globalThis as { [place]?: unknown };
    delete own[place];
    const hidden = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
    try {
      expect(() => math.sobolSample(1112, 1)).toThrow(FailedPreconditionError);
      expect(() => math.sobolSample(1112, 1)).toThrow("import 'eagre/sobol-numbers'");
      // What its import does.
      const file = new URL('../../../sobol-numbers.js', import.meta.url);
      new Function(readFileSync(file, 'utf8'))();
      expect(math.sobolSample(1112, 1).array()).toEqual([Array(1112).fill(0.5)]);
    } finally {
      hidden.mockRestore();
      delete own[place];
    }
  });
});
