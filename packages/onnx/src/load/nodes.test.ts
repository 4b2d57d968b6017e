// The node tests of the onnx package, which tools/golden/onnx_nodes.py has picked: every model must give the values that are beside it.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { onnx } from '@eagre/formats';
import { runFunctionsEagerly } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { goldenArchive, infoOf, valuesOf } from '../testing/archive.ts';
import { difference } from '../testing/compare.ts';
import { load } from './load.ts';

interface Case {
  readonly rtol: number;
  readonly atol: number;
  readonly models: readonly [number, number];
  readonly values: readonly [number, number];
}

const files = goldenArchive('nodes.zip');
const { tests } = infoOf<{ readonly tests: Readonly<Record<string, Case>> }>(files);
const cut = (name: string, [at, length]: readonly [number, number]): Uint8Array =>
  (files.get(name) as Uint8Array).subarray(at, at + length);

/** Tests of which only a part is translated, by the start of their names, and why. */
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/^test_not_\dd$/, 'opset 1'],
  [/^test_scan_sum$/, 'scans of opset 8'],
  [/^test_unique_sorted_with_(negative_)?axis/, 'unique slices'],
];
/** A loop whose variable grows cannot be traced. */
const GROWING = 'test_loop11';
/** Tests whose values another generator of random numbers makes. */
const RANDOM = /^test_(bernoulli|training_dropout(?!.*zero))/;

// Where a kernel rounds once, ONNX's reference may round after every step.
const HALF: Readonly<Record<string, number>> = { float16: 4e-3, bfloat16: 2e-2 };

/** What cancels out leaves other rests than in NumPy. */
const NOISE: readonly (readonly [RegExp, number])[] = [[/^test_(dft|stft)/, 2e-6]];

const list = (result: unknown): unknown[] => (Array.isArray(result) ? result : [result]);

async function check(name: string): Promise<void> {
  const { rtol, atol, models, values } = tests[name] as Case;
  const graph = onnx.GraphProto.decode(cut('values.bin', values));
  const model = await load(cut('models.bin', models));
  const wanted = valuesOf(graph, 'o');
  const given = valuesOf(graph, 'i') as Tensor[];
  // An empty sequence has no values.
  while (given.length < model.inputs.length) given.push([] as never);
  const result = model(...given);
  const got = wanted.length === 1 ? [result] : list(result);
  expect(got.length).toBe(wanted.length);
  if (RANDOM.test(name)) return;
  const noise = NOISE.find(([pattern]) => pattern.test(name))?.[1] ?? 0;
  wanted.forEach((want, i) => {
    const pairs = Array.isArray(want)
      ? want.map((w, k) => [(got[i] as Tensor[])[k], w] as const)
      : [[got[i], want] as const];
    for (const [a, b] of pairs)
      expect(
        difference(
          a as Tensor,
          b,
          Math.max(rtol, HALF[b.dtype] ?? 0),
          Math.max(atol, noise, HALF[b.dtype] ?? 0),
        ),
        `output ${i}`,
      ).toBe(undefined);
  });
}

describe.each([
  ['traced', false],
  ['eagerly', true],
])('%s', (_, eagerly) => {
  test.each(Object.keys(tests))('%s', async (name) => {
    runFunctionsEagerly(eagerly);
    try {
      const why = REFUSED.find(([pattern]) => pattern.test(name));
      if (name === GROWING && !eagerly) await expect(check(name)).rejects.toThrow(InvalidArgumentError);
      else if (why === undefined) await check(name);
      else await expect(check(name)).rejects.toThrow(UnimplementedError);
    } finally {
      runFunctionsEagerly(false);
    }
  });
});
