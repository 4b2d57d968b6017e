import { existsSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import {
  type Backend,
  InvalidArgumentError,
  type TensorRef,
  typedView,
  UnavailableError,
} from '@eagre/backend';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { openWasm } from './index.ts';
import { usesRelaxedSimd } from './opening.ts';

const at = (name: string): URL => new URL(`../${name}`, import.meta.url);
const file = (name: string): Uint8Array<ArrayBuffer> => Uint8Array.from(readFileSync(at(name)));
const there = existsSync(at('eagre-threads-relaxed.wasm'));
if (!there) console.log('Relaxed SIMD is not tested: `pnpm pack:wasm` has not run');

// Types of tests have no DOM.
const host = (
  globalThis as unknown as {
    WebAssembly: {
      compile(bytes: Uint8Array): Promise<WebAssembly.Module>;
      validate(bytes: Uint8Array): boolean;
    };
  }
).WebAssembly;

/** Sizes of tiles of all kinds, and of several blocks. */
const sizes: readonly (readonly [m: number, n: number, k: number])[] = [
  ...[1, 2, 3, 4, 5].flatMap((m) => [1, 2, 3, 5, 8, 11, 14, 16].map((n) => [m, n, 7] as const)),
  ...([
    [97, 41, 300],
    [64, 64, 1100],
    [300, 200, 128],
  ] as const),
];

/** A · B, A's rows and B's columns each of this k. */
function product(
  backend: Backend,
  dtype: 'float32' | 'float64',
  [m, n, k]: readonly [number, number, number],
  a: (i: number) => number,
  b: (i: number) => number,
): Float32Array | Float64Array {
  const Numbers = dtype === 'float32' ? Float32Array : Float64Array;
  const tensor = (shape: readonly number[], value: (i: number) => number): TensorRef => {
    const numbers = new Numbers((shape[0] as number) * (shape[1] as number));
    for (let i = 0; i < numbers.length; i++) numbers[i] = value(i);
    const storage = backend.allocator.allocate(numbers.byteLength);
    backend.allocator.write(storage, new Uint8Array(numbers.buffer));
    return { dtype, shape, size: numbers.length, storage };
  };
  const [x, y, z] = [tensor([m, k], a), tensor([k, n], b), tensor([m, n], () => NaN)];
  backend.kernel('MatMul', [dtype, dtype])?.([x, y], [z], {
    transposeA: false,
    transposeB: false,
    activation: 0,
  });
  const bytes = backend.allocator.read(z.storage, z.size * Numbers.BYTES_PER_ELEMENT);
  const result = typedView(dtype, bytes.buffer as ArrayBuffer, bytes.byteOffset, z.size).slice();
  for (const { storage } of [x, y, z]) storage.release();
  return result as Float32Array | Float64Array;
}

/** x² - 1 - 2⁻¹¹, of which one rounding leaves something and two nothing. */
const roundsOnce = (backend: Backend): boolean => {
  const x = 1 + 2 ** -12;
  const [y] = product(
    backend,
    'float32',
    [2, 2, 2],
    (i) => (i % 2 === 0 ? -1 : x),
    (i) => (i < 2 ? 1 + 2 ** -11 : x),
  );
  expect([0, 2 ** -24]).toContain(y);
  return y !== 0;
};

describe.skipIf(!there)('relaxed SIMD', () => {
  beforeAll(() => {
    // Node 20 has it behind a flag.
    if (!usesRelaxedSimd()) setFlagsFromString('--experimental-wasm-relaxed-simd');
    expect(usesRelaxedSimd()).toBe(true);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it.each([1, 2])('multiplies and adds with one rounding, on %i threads', async (threads) => {
    const backend = await openWasm({ threads });
    expect(backend.description).toMatch(/^wasm kernels, relaxed SIMD of 128 bits, \d threads?$/);
    await vi.waitUntil(() => backend.threads() === threads);
    expect(roundsOnce(backend)).toBe(true);
    // Whole numbers, of which no sum is rounded.
    for (const dtype of ['float32', 'float64'] as const)
      for (const size of sizes) {
        const [m, n, k] = size;
        const a = (i: number): number => (i % 13) - 6;
        const b = (i: number): number => (i % 11) - 5;
        const got = product(backend, dtype, size, a, b);
        for (let i = 0; i < m; i++)
          for (let j = 0; j < n; j++) {
            let sum = 0;
            for (let l = 0; l < k; l++) sum += a(i * k + l) * b(l * n + j);
            if (got[i * n + j] !== sum) expect(got[i * n + j], `${dtype} [${size}] at ${i}, ${j}`).toBe(sum);
          }
      }
  });

  it('comes of modules that are given: compiled, bytes, and where they are', async () => {
    for (const name of ['eagre', 'eagre-threads']) {
      const module = file(`${name}.wasm`);
      const bytes = file(`${name}-relaxed.wasm`);
      const url = at(`${name}-relaxed.wasm`);
      for (const relaxed of [await host.compile(bytes), bytes, url, url.href]) {
        const backend = await openWasm({ module, relaxed });
        expect(backend.description).toContain('relaxed SIMD');
        expect(roundsOnce(backend)).toBe(true);
      }
      const plain = await openWasm({ module });
      expect(plain.description).toContain('kernels, SIMD');
      expect(roundsOnce(plain)).toBe(false);
    }
  });

  it('is left out if the settings say so, or the host has none', async () => {
    vi.stubEnv('EAGRE_ISA', 'baseline');
    const plain = await openWasm({ relaxed: 'http://127.0.0.1:1/never-fetched.wasm' });
    expect(plain.description).toContain('kernels, SIMD');
    expect(roundsOnce(plain)).toBe(false);
    vi.unstubAllEnvs();
    vi.spyOn(host, 'validate').mockReturnValue(false);
    expect((await openWasm()).description).toContain('kernels, SIMD');
  });

  it("is left out with a warning where the package's own module cannot be had", async () => {
    const { compile } = host;
    vi.spyOn(host, 'compile').mockImplementation(async (bytes) => {
      if (bytes.length < 1e5) throw new TypeError('broken');
      return compile(bytes);
    });
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const plain = await openWasm();
    expect(plain.description).toContain('kernels, SIMD');
    expect(warn.mock.calls.map(String)).toEqual([
      'Matrix products are computed without fused multiply-add, which takes longer: openWasm: that is no module of these kernels: broken',
    ]);
    await expect(openWasm({ relaxed: file('eagre-threads-relaxed.wasm') })).rejects.toThrow('broken');
  });

  it('is refused if the module is none, or of the other kind', async () => {
    const module = file('eagre.wasm');
    const wrong: readonly unknown[] = [
      ...[new Uint8Array([1, 2, 3]), module, file('eagre-threads-relaxed.wasm')],
      await host.compile(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)),
      ...[5, null, {}, 'http://['],
    ];
    for (const relaxed of wrong)
      await expect(openWasm({ module, relaxed } as never)).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(openWasm({ module, relaxed: 'nothing.wasm' })).rejects.toBeInstanceOf(UnavailableError);
  });
});
