// As on platforms without an addon: what native kernels compute elsewhere, those of WebAssembly compute themselves.
import { getBackend, listBackends, registerBackend, unregisterBackend } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { wasmUnavailable } from '@eagre/backend-wasm';
import { constant, nn, random, strings, type Tensor, withBackend } from '@eagre/core';
import { execute, listOps, type Op } from '@eagre/core/internal';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RemoteBackend } from './remote.ts';
import { generator, materialize } from './values.ts';

if (wasmUnavailable !== undefined) console.log(`WebAssembly is not tested: ${wasmUnavailable}`);

/** Hashes of texts of all lengths, and draws that are integers or need no logarithm. */
function exactResults(): readonly Tensor[] {
  const next = generator(7);
  const texts = Array.from({ length: 3000 }, (_, i) =>
    Array.from({ length: i % 150 }, () => String.fromCharCode(1 + Math.floor(next() * 0x2ff))).join(''),
  );
  return [
    ...[1, 7, 1000, 2 ** 21 + 1, 2 ** 40 + 7].flatMap((count) => [
      strings.toHashBucketFast(texts, count),
      strings.toHashBucketStrong(texts, count, [0x0123456789abcdefn, -5n]),
      strings.toHashBucket(texts, count),
    ]),
    random.statelessUniform([100_003], [3, 4]),
    random.statelessUniform([1001], [3, 4], { minval: -7, maxval: 100_000, dtype: 'int32' }),
    random.statelessUniform([1001], [3, 4], { minval: null, maxval: null, dtype: 'uint64' }),
  ];
}

const exactOn = (name: string): unknown[] => withBackend(name, exactResults).map((x) => x.array());
const onNative = listBackends().some(({ name }) => name === 'native') ? exactOn('native') : undefined;

for (const { name } of [...listBackends()])
  if (name !== 'wasm' && name !== 'js') unregisterBackend(getBackend(name));

/** What the backend in JavaScript was asked for. */
const asked = new Set<string>();
const { kernel, elementwise } = jsBackend;
vi.spyOn(jsBackend, 'kernel').mockImplementation((name, inputs) => {
  asked.add(`${name} of (${inputs.join(', ')})`);
  return kernel.call(jsBackend, name, inputs);
});
vi.spyOn(jsBackend, 'elementwise').mockImplementation((program) => {
  asked.add('an elementwise function');
  return elementwise.call(jsBackend, program);
});
beforeEach(() => asked.clear());

describe.skipIf(wasmUnavailable !== undefined)('WebAssembly alone', () => {
  it.each([...listOps().keys()])('computes %s', (name) => {
    const op = listOps().get(name) as Op;
    withBackend('wasm', () => {
      for (const [index, sample] of op.samples().entries())
        for (const float of ['float32', 'float64', 'float16', 'bfloat16'] as const)
          execute(op, materialize(sample, float, index + 1), sample.attrs ?? {});
    });
    expect([...asked]).toEqual([]);
  });

  it('hashes and draws as others do, to the last bit', () => {
    const found = exactOn('wasm');
    expect([...asked]).toEqual([]);
    expect(found).toEqual(exactOn('js'));
    if (onNative !== undefined) expect(found).toEqual(onNative);
  });

  it('computes what another device lacks', () => {
    const device = new RemoteBackend(jsBackend, { index: 7, lacks: ['Softmax'] });
    registerBackend(device, -1);
    const rows = withBackend(device.name, () => constant([[3, 3]]));
    const warned = vi.spyOn(console, 'warn').mockReturnValue();
    const found = withBackend(device.name, () => nn.softmax(rows));
    expect(found.backend).toBe(device);
    expect(found.array()).toEqual([[0.5, 0.5]]);
    expect(warned.mock.calls).toEqual([
      [expect.stringContaining(`${device.name} has no kernel for Softmax`)],
    ]);
    expect([...asked].filter((call) => call.startsWith('Softmax'))).toEqual([]);
    warned.mockRestore();
  });
});
