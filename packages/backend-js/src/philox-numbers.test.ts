import { InternalError, type NumericDType, philoxKinds } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { kernels } from './philox-numbers.ts';
import { run, tensor } from './testing/kernels.ts';
import { bytesOf } from './view.ts';

// The counter crosses from its low half into the high one.
const source = tensor('uint64', [3], [0x123456789abcdef0n, 2n ** 64n - 1000n, 77n]);
const parametersOf: Partial<Record<string, ReturnType<typeof tensor>>> = {
  integers: tensor('int64', [2], [-100n, 2000003n]),
  gamma: tensor('float64', [3], [0.4, 1, 7.5]),
  poisson: tensor('float64', [3], [0.7, 9, 300]),
  binomial: tensor('float64', [2, 3], [5, 100, 40, 0.2, 0.6, 1]),
};

/** FNV-1a of the bytes. The same numbers stand in native/tests/philox_test.cc. */
function checksum(bytes: Uint8Array): number {
  let h = 2166136261;
  for (const byte of bytes) h = Math.imul(h ^ byte, 16777619);
  return h >>> 0;
}

// biome-ignore format: a table reads better in rows
const golden: readonly (readonly [kind: (typeof philoxKinds)[number], dtype: NumericDType, sum: number])[] = [
  ['uniform', 'float32', 0x0d899d5f], ['uniform', 'float64', 0xac1bcae4], ['normal', 'float32', 0x6347c720], ['truncatedNormal', 'float32', 0xa09384a6],
  ['bits', 'int32', 0xe9fd05d9], ['bits', 'uint32', 0xe9fd05d9], ['bits', 'int64', 0x6d389401], ['bits', 'uint64', 0x6d389401],
  ['integers', 'int32', 0x1a370c0f], ['integers', 'uint32', 0x1a370c0f], ['integers', 'int64', 0x49757085], ['integers', 'uint64', 0x49757085],
  ['gamma', 'float32', 0x26b13aba], ['poisson', 'float32', 0x5ba47e64], ['poisson', 'float64', 0x985a6b9f], ['poisson', 'int32', 0x3e3d7f95],
  ['poisson', 'int64', 0x2fe03325], ['binomial', 'float32', 0x150641ba], ['binomial', 'int32', 0xd3fbb6d6], ['binomial', 'int64', 0x1130fd26],
];

describe('numbers of Philox streams', () => {
  it.each(golden)('%s of %s are those of every backend', (kind, dtype, sum) => {
    const parameters = parametersOf[kind];
    const inputs = parameters === undefined ? [source] : [source, parameters];
    const y = run(kernels, 'PhiloxNumbers', inputs, dtype, [4101], { kind: philoxKinds.indexOf(kind) });
    expect(checksum(bytesOf(y))).toBe(sum);
  });

  it('are of known distributions', () => {
    expect(() => run(kernels, 'PhiloxNumbers', [source], 'float32', [1], { kind: 99 })).toThrow(
      InternalError,
    );
  });
});
