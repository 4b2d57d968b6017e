import '@eagre/backend-js';
import { readFileSync } from 'node:fs';
import {
  type Backend,
  getBackend,
  InvalidArgumentError,
  interpretPlan,
  type KernelName,
  kernelAttrs,
  numericDTypes,
  type TensorRef,
  typedView,
  UnavailableError,
} from '@eagre/backend';
import { nativeBackend, openWatcher } from '@eagre/backend-native';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { randomPlan, runPlainly } from '../../testing/src/random-plans.ts';
import { Finalizers } from './collected.ts';
import { openWasm, wasmUnavailable } from './index.ts';
import { instantiate } from './instance.ts';
import { WasmKernels } from './wasm-kernels.ts';

if (wasmUnavailable !== undefined) console.log(`WebAssembly is not tested: ${wasmUnavailable}`);

// Types of tests have no DOM.
const { compile } = (
  globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<WebAssembly.Module> } }
).WebAssembly;

const file = (name: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(readFileSync(new URL(`../${name}`, import.meta.url)));

/** What the addon has that a module cannot have, or need not. */
const ofAddon: Readonly<Record<string, string>> = {
  addressOf: 'kernels of the module reach its own memory only',
  watch: 'JavaScript has no handles that are empty as soon as an object is gone: Finalizers',
  collected: 'as `watch`',
  crc32c:
    'no instruction of WebAssembly sums so; by tables, and with its copy, a module gains only a quarter on JavaScript',
  readRanges: 'a module reads no files',
  beginRanges: 'as `readRanges`',
  finishRanges: 'as `readRanges`',
  beginSync: 'as `readRanges`',
};

/** The names of everything that an object has, of its classes too. */
function membersOf(object: object): string[] {
  const names = new Set<string>();
  for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  return [...names];
}

/** Adds two tensors of ones, and looks at all elements. */
function adds(backend: Backend, size: number): boolean {
  const tensor = (value: number): TensorRef => {
    const storage = backend.allocator.allocate(4 * size);
    backend.allocator.write(storage, new Uint8Array(new Float32Array(size).fill(value).buffer));
    return { dtype: 'float32', shape: [size], size, storage };
  };
  const [a, b, y] = [tensor(1), tensor(2), tensor(0)];
  const kernel = backend.elementwise({
    inputs: ['float32', 'float32'],
    instrs: [{ op: 'add', dtype: 'float32', args: [0, 1], value: 0 }],
    outputs: [2],
  });
  kernel([a, b], [y], {});
  const bytes = backend.allocator.read(y.storage, 4 * size);
  const right = (
    typedView('float32', bytes.buffer as ArrayBuffer, bytes.byteOffset, size) as Float32Array
  ).every((value) => value === 3);
  for (const { storage } of [a, b, y]) storage.release();
  return right;
}

describe.skipIf(wasmUnavailable !== undefined)('WebAssembly', () => {
  it('is a backend of the CPU behind native kernels', () => {
    const backend = getBackend('wasm');
    expect([backend.deviceType, backend.description]).toEqual([
      'CPU',
      `wasm kernels, SIMD of 128 bits, ${backend.threads()} threads`,
    ]);
  });

  it.skipIf(nativeBackend === undefined)('has all that native kernels have', async () => {
    const [native, wasm] = [nativeBackend as Backend, getBackend('wasm')];
    expect(membersOf(wasm)).toEqual(expect.arrayContaining(membersOf(native)));
    for (const name of Object.keys(kernelAttrs) as KernelName[])
      for (const dtype of numericDTypes) {
        // Processors with tile registers multiply these as they are.
        if (dtype === 'bfloat16' && native.description.includes('amx')) continue;
        const has = (backend: Backend): boolean => backend.kernel(name, [dtype]) !== undefined;
        expect([name, dtype, has(wasm)]).toEqual([name, dtype, has(native)]);
      }

    const addon = openWatcher() as object as { readonly kernels: readonly string[] };
    for (const name of ['eagre.wasm', 'eagre-threads.wasm']) {
      const { memory } = instantiate({ kernels: await compile(file(name)) });
      const module = new WasmKernels(memory, false);
      expect([...module.kernels].sort()).toEqual([...addon.kernels].sort());
      const others = membersOf(addon).filter((member) => !(member in module));
      expect(others.sort()).toEqual(Object.keys(ofAddon).sort());
    }
  });

  it('takes a module that is compiled, its bytes, and where it is; of one thread too, whose memory moves as it grows', async () => {
    const url = new URL('../eagre.wasm', import.meta.url);
    for (const module of [await compile(file('eagre.wasm')), file('eagre.wasm'), url, url.href]) {
      const backend = await openWasm({ module });
      expect(backend.threads()).toBe(1);
      for (const size of [1, 1000, 1 << 20, 1 << 24]) expect(adds(backend, size)).toBe(true);
    }
  });

  it('refuses what is no module of these kernels', async () => {
    const empty = await compile(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
    const wrong: readonly unknown[] = [
      ...[new Uint8Array([1, 2, 3]), new ArrayBuffer(0), empty, 'data:application/wasm;base64,AAAA'],
      ...[5, null, {}, Symbol('s'), 'http://['],
    ];
    for (const module of wrong)
      await expect(openWasm({ module } as never)).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(openWasm({ module: 'nothing.wasm' })).rejects.toThrow('nothing.wasm');
    for (const module of ['nothing.wasm', 'http://127.0.0.1:1/x.wasm', 'file:///'])
      await expect(openWasm({ module })).rejects.toBeInstanceOf(UnavailableError);
  });

  it('refuses numbers of threads that mean nothing, and options that are not', async () => {
    for (const options of [
      { threads: 0 },
      { threads: 2.5 },
      { threads: NaN },
      { threads: 257 },
      { threads: '2' },
      { nonsense: 1 },
      null,
      5,
    ])
      await expect(openWasm(options as never)).rejects.toBeInstanceOf(InvalidArgumentError);
    vi.stubEnv('EAGRE_NUM_THREADS', 'many');
    await expect(openWasm()).rejects.toThrow("EAGRE_NUM_THREADS is 'many'");
    vi.unstubAllEnvs();
  });

  it.each(['eagre.wasm', 'eagre-threads.wasm'])('lends memory that nobody else has: %s', async (name) => {
    const { memory } = instantiate({ kernels: await compile(file(name)) });
    const { allocate, release } = memory.exports;
    const lent: { address: number; bytes: number; mark: number }[] = [];
    let marks = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 1 << 20 }), fc.nat()), {
          minLength: 100,
          maxLength: 300,
        }),
        (steps) => {
          for (const [takes, bytes, which] of steps) {
            if (takes || lent.length === 0) {
              const size = bytes % 3 === 0 ? bytes : bytes % 500;
              const address = allocate(size) >>> 0;
              expect(address % 64).toBe(0);
              const mark = ++marks % 251;
              memory.bytes(address, size).fill(mark);
              lent.push({ address, bytes: size, mark });
            } else {
              const [gone] = lent.splice(which % lent.length, 1);
              const { address, bytes: size, mark } = gone as (typeof lent)[number];
              expect(memory.bytes(address, size).every((byte) => byte === mark)).toBe(true);
              release(address);
            }
          }
        },
      ),
      { numRuns: 100 },
    );
    for (const { address } of lent) release(address);
    // All of it is one piece again.
    const { size } = memory;
    const whole = allocate(size - (1 << 21));
    expect(whole).not.toBe(0);
    expect(memory.size).toBe(size);
    expect(allocate(2 ** 32 - 1)).toBe(0);
  });

  it('runs plans as kernels one by one do', async () => {
    const backend = getBackend('wasm');
    const lists = fc.array(fc.nat({ max: 1 << 16 }), { maxLength: 300, size: 'max' });
    await fc.assert(
      fc.asyncProperty(lists, async (list) => {
        const { plan, inputs, states, stateBytes, reset } = randomPlan(backend, list);
        const sizes = plan.outputs.map((value) => plan.bytes[value] as number);
        const { allocator } = backend;
        const outputs = () => sizes.map((bytes) => allocator.allocate(bytes));
        const look = (results: ReturnType<typeof outputs>) => [
          ...results.map((storage, i) => allocator.read(storage, sizes[i] as number)),
          ...states.map((storage, i) => allocator.read(storage, stateBytes[i] as number)),
        ];
        reset();
        const expected = look(runPlainly(backend, plan, inputs));
        for (const executable of [backend.prepare(plan), interpretPlan(backend, plan)]) {
          for (const way of ['run', 'runAsync'] as const) {
            reset();
            const results = outputs();
            await executable[way](inputs, results);
            expect(look(results)).toEqual(expected);
          }
          executable.dispose();
        }
      }),
      { numRuns: 200 },
    );
  });

  it('tells of collected objects between turns, by slots that are used again', async () => {
    const watcher = new Finalizers();
    const slots = new Uint32Array(8);
    const kept: object[] = [];
    (() => {
      watcher.watch({}, 0);
      watcher.watch({}, 1);
      watcher.watch({}, 2);
      kept.push({});
      watcher.watch(kept[0] as object, 1);
    })();
    const found: number[] = [];
    await expect
      .poll(() => {
        globalThis.gc?.();
        const count = watcher.collected(slots);
        found.push(...slots.subarray(0, count));
        return [...found].sort();
      })
      .toEqual([0, 2]);
    expect(kept).toHaveLength(1);
  });
});
