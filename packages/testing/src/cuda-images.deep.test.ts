// Where kernels for CUDA come from: the archive, the cache on the disk, NVRTC. On the fake driver and compiler.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as core from '@eagre/core';
import { constant, device, UnavailableError } from '@eagre/core';
import type { CudaProgram } from '@eagre/gpu-kernels';
import { build } from 'esbuild';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type CudaAddon, called, loadCudaAddon } from '../../backend-cuda/src/addon.ts';
import {
  KernelArchive,
  keyOfText,
  openKernelArchive,
  packKernels,
} from '../../backend-cuda/src/kernel-archive.ts';
import { KernelCache, openKernelCache } from '../../backend-cuda/src/kernel-cache.ts';
import { KernelImages } from '../../backend-cuda/src/kernel-images.ts';
import { CudaKernels, textOf } from '../../backend-cuda/src/kernels.ts';
import { fakeCuda, hasFakeCuda, withFake } from '../../backend-cuda/src/testing/fake-cuda.ts';
import { temporaryFolder } from './temporary.ts';

const { cudaBackend, cudaUnavailable, openCuda } = await import('@eagre/backend-cuda');
// What nobody places is computed by the processor here, to compare with.
device('/cpu:0');
const isTested = hasFakeCuda && cudaBackend !== undefined;
if (!isTested) console.log(`CUDA is not tested: ${cudaUnavailable}`);

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const isRoot = process.getuid?.() === 0;

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('the cache of kernels', () => {
  it('gives back what was kept, for that key, also to others', () => {
    const folder = join(temporaryFolder('kernels'), 'new');
    const cache = new KernelCache(folder);
    expect(cache.get('a')).toBeUndefined();
    cache.put('a', bytes(1, 2, 3));
    cache.put('empty', bytes());
    for (const each of [cache, new KernelCache(folder)]) {
      expect([...(each.get('a') ?? [])]).toEqual([1, 2, 3]);
      expect(each.get('empty')).toHaveLength(0);
      expect(each.get('b')).toBeUndefined();
    }
    expect(readdirSync(folder).every((name) => /^[0-9a-f]{64}\.bin$/.test(name))).toBe(true);
    expect(statSync(folder).mode & 0o077).toBe(0);
  });

  it('takes damaged files for absent, and makes them anew', () => {
    const folder = temporaryFolder('kernels');
    const cache = new KernelCache(folder);
    cache.put('a', bytes(1, 2, 3));
    const [name] = readdirSync(folder);
    const path = join(folder, name);
    const whole = readFileSync(path);
    const flipped = Uint8Array.from(whole);
    flipped[flipped.length - 1] ^= 1;
    for (const damaged of [whole.subarray(0, 20), whole.subarray(0, -1), Buffer.alloc(0), flipped]) {
      writeFileSync(path, damaged);
      expect(cache.get('a')).toBeUndefined();
      cache.put('a', bytes(1, 2, 3));
      expect(readFileSync(path).equals(whole)).toBe(true);
    }
  });

  it('has no more than so many bytes: what was not used for long goes first', () => {
    const folder = temporaryFolder('kernels');
    const cache = new KernelCache(folder, 1000);
    const put = (key: string): void => cache.put(key, new Uint8Array(200));
    for (const key of ['a', 'b', 'c']) put(key);
    readdirSync(folder).forEach((name) => utimesSync(join(folder, name), new Date(1000), new Date(1000)));
    // A use makes it young again.
    cache.get('a');
    for (const key of ['d', 'e']) put(key);
    expect(['a', 'b', 'c', 'd', 'e'].filter((key) => cache.get(key) !== undefined)).toEqual(
      expect.arrayContaining(['a', 'd', 'e']),
    );
    const total = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(total).toBeLessThanOrEqual(1000);
    expect(readdirSync(folder)).toHaveLength(4);
  });

  it.skipIf(isRoot)('is read where it cannot be written', () => {
    const folder = temporaryFolder('kernels');
    new KernelCache(folder).put('a', bytes(1));
    chmodSync(folder, 0o500);
    const cache = new KernelCache(folder);
    cache.put('b', bytes(2));
    expect([cache.get('a')?.length, cache.get('b')]).toEqual([1, undefined]);
    chmodSync(folder, 0o700);
  });

  it('is none below what takes no folders, and does not hang', () => {
    const cache = new KernelCache('/proc/eagre/cuda');
    cache.put('a', bytes(1));
    expect(cache.get('a')).toBeUndefined();
  });

  it('keeps nothing where its folder cannot be made', () => {
    const file = join(temporaryFolder('kernels'), 'file');
    writeFileSync(file, '');
    const cache = new KernelCache(join(file, 'below'));
    cache.put('a', bytes(1));
    expect(cache.get('a')).toBeUndefined();
  });

  it('is used by several processes at once', async () => {
    const folder = temporaryFolder('kernels');
    const program = join(folder, 'cache.mjs');
    await build({
      stdin: {
        contents: `import { KernelCache } from './kernel-cache.ts';
          const cache = new KernelCache(process.argv[2], 60_000);
          for (let i = 0; i < 400; i++) {
            const key = 'kernel ' + (i % 20);
            const image = new Uint8Array(5000).fill(i % 20);
            const found = cache.get(key);
            if (found !== undefined && (found.length !== 5000 || found.some((byte) => byte !== i % 20))) throw new Error('torn');
            if (found === undefined || i % 3 === 0) cache.put(key, image);
          }`,
        resolveDir: fileURLToPath(new URL('../../backend-cuda/src', import.meta.url)),
      },
      outfile: program,
      bundle: true,
      format: 'esm',
      platform: 'node',
      alias: { '@eagre/backend': fileURLToPath(new URL('../../backend/src/errors.ts', import.meta.url)) },
    });
    const cached = join(folder, 'cached');
    const ended = await Promise.all(
      [0, 1, 2].map(
        () =>
          new Promise((resolve) =>
            spawn(process.execPath, [program, cached], { stdio: 'inherit' }).on('exit', resolve),
          ),
      ),
    );
    expect(ended).toEqual([0, 0, 0]);
    expect(readdirSync(cached).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('leaves files alone that others are writing, but for old ones', () => {
    const folder = temporaryFolder('kernels');
    for (const name of ['a.bin.1.x.part', 'b.bin.2.y.part', 'other'])
      writeFileSync(join(folder, name), new Uint8Array(2000));
    utimesSync(join(folder, 'b.bin.2.y.part'), new Date(1000), new Date(1000));
    new KernelCache(folder, 1000).put('a', bytes(1));
    expect(
      readdirSync(folder)
        .map((name) => name.replace(/^[0-9a-f]{64}/, 'image'))
        .sort(),
    ).toEqual(['a.bin.1.x.part', 'image.bin', 'other']);
  });

  it('is where the user wants it', () => {
    expect(openKernelCache({ EAGRE_CUDA_CACHE: '0' })).toBeUndefined();
    const os = process.getBuiltinModule('node:os');
    const homeless = vi.spyOn(os, 'homedir').mockImplementation(() => {
      throw Object.assign(new Error('no home'), { syscall: 'uv_os_homedir' });
    });
    expect(openKernelCache({})).toBeUndefined();
    homeless.mockRestore();
    for (const [env, below] of [
      [(folder: string) => ({ EAGRE_CUDA_CACHE: folder }), ''],
      [(folder: string) => ({ XDG_CACHE_HOME: folder }), 'eagre/cuda'],
    ] as const) {
      const folder = temporaryFolder('kernels');
      openKernelCache(env(folder))?.put('a', bytes(1));
      expect(readdirSync(join(folder, below))).toHaveLength(1);
    }
  });
});

describe('an archive of kernels', () => {
  const write = (archive: Uint8Array): string => {
    const path = join(temporaryFolder('archive'), 'kernels.bin');
    writeFileSync(path, archive);
    return path;
  };
  const images = [
    { key: keyOfText('a'), target: 'sm_80', image: bytes(80, 1) },
    { key: keyOfText('a'), target: 'sm_90', image: bytes(90, 1) },
    { key: keyOfText('a'), target: 'compute_75', image: bytes(75, 1) },
    { key: keyOfText('b'), target: 'compute_75', image: bytes(75, 1) },
    { key: keyOfText('c'), target: 'compute_80', image: new Uint8Array(2 ** 19).fill(7) },
  ];
  const found = (archive: KernelArchive, text: string, capability: number): number[][] =>
    [...archive.find(keyOfText(text), capability)].map((image) => [...image.subarray(0, 2)]);

  it('has machine code for a GPU, or that of an earlier one of the same major version, then PTX', () => {
    const archive = new KernelArchive(write(packKernels(images, '12.9')));
    expect(archive.size).toBe(3);
    expect(found(archive, 'a', 80)).toEqual([
      [80, 1],
      [75, 1],
    ]);
    expect(found(archive, 'a', 89)).toEqual(found(archive, 'a', 80));
    expect(found(archive, 'a', 90)).toEqual([
      [90, 1],
      [75, 1],
    ]);
    expect(found(archive, 'a', 120)).toEqual([[75, 1]]);
    expect(found(archive, 'a', 70)).toEqual([]);
    expect(found(archive, 'b', 75)).toEqual([[75, 1]]);
    expect(found(archive, 'c', 75)).toEqual([]);
    expect(found(archive, 'c', 120)).toEqual([[7, 7]]);
    expect(archive.has(keyOfText('d'), 90)).toBe(false);
  });

  it('that is damaged is refused', () => {
    const whole = packKernels(images, '12.9');
    const read = (archive: Uint8Array): number[][] => found(new KernelArchive(write(archive)), 'a', 80);
    expect(read(whole)).toHaveLength(2);
    for (let at = 0; at < whole.length; at += 5) {
      const damaged = whole.slice();
      damaged[at] ^= 16;
      // Of a block that is not read, it does not matter.
      let seen: number[][] | undefined;
      try {
        seen = read(damaged);
      } catch (error) {
        expect(error).toBeInstanceOf(core.DataLossError);
        expect(String(error)).toMatch(/no whole archive of kernels: install @eagre\/backend-cuda again/);
      }
      if (seen !== undefined) expect(seen).toEqual(read(whole));
    }
    for (const length of [0, 8, 40, 100, whole.length / 2])
      expect(() => read(whole.subarray(0, length))).toThrow(core.DataLossError);
  });
});

describe.skipIf(!isTested)('the images of kernels', () => {
  const TEXT = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }';
  /** The addon, and how often it compiled. */
  function counted(): CudaAddon & { compile: ReturnType<typeof vi.fn> } {
    const { compile, ...addon } = loadCudaAddon();
    return { ...addon, compile: vi.fn(compile) };
  }

  it('are compiled once, and come from the cache after that', () => {
    vi.stubEnv('EAGRE_CUDA_CACHE', temporaryFolder('kernels'));
    const first = counted();
    const [made] = new KernelImages(first).of(TEXT, 'twice', 90, undefined);
    expect(first.compile).toHaveBeenCalledOnce();
    const second = counted();
    const [kept] = new KernelImages(second).of(TEXT, 'twice', 90, undefined);
    expect(second.compile).not.toHaveBeenCalled();
    expect(Buffer.compare(kept.image, made.image)).toBe(0);
    // Another GPU, another text, no cache.
    const [,] = new KernelImages(second).of(TEXT, 'twice', 100, undefined);
    const [,] = new KernelImages(second).of(`${TEXT}\n`, 'twice', 90, undefined);
    vi.stubEnv('EAGRE_CUDA_CACHE', '0');
    const [,] = new KernelImages(second).of(TEXT, 'twice', 90, undefined);
    expect(second.compile).toHaveBeenCalledTimes(3);
  });

  it('of a program serve the next process, where there is no compiler of C++', () => {
    vi.stubEnv('EAGRE_CUDA_CACHE', temporaryFolder('kernels'));
    const run = (): unknown => device('/gpu:0', () => constant([1, 2]).add(1).array());
    openCuda();
    expect(run()).toEqual([2, 3]);
    openCuda();
    withFake({ FAKE_CUDA_CXX: 'false' }, () => {
      expect(run()).toEqual([2, 3]);
      expect(() => device('/gpu:0', () => constant([1, 2]).mul(3).array())).toThrow(core.InternalError);
    });
  });

  it('come from the archive without NVRTC; what it lacks is told', () => {
    const addon = loadCudaAddon();
    const compile = (text: string, capability: number, archs: string): Uint8Array =>
      withFake({ FAKE_CUDA_ARCHS: archs }, () =>
        called(() => addon.compile([fakeCuda], text, 'twice', capability)),
      );
    const archive = packKernels(
      [
        { key: keyOfText(TEXT), target: 'sm_90', image: compile(TEXT, 90, '90') },
        { key: keyOfText(TEXT), target: 'compute_80', image: compile(TEXT, 90, '80') },
      ],
      '12.8',
    );
    const path = join(temporaryFolder('archive'), 'kernels.bin');
    writeFileSync(path, archive);
    vi.stubEnv('EAGRE_CUDA_KERNELS', path);
    vi.stubEnv('EAGRE_NVRTC', '0');
    const images = new KernelImages(addon);
    const firsts = (capability: number): string => {
      const [{ image }] = images.of(TEXT, 'twice', capability, undefined);
      return new TextDecoder('latin1').decode(image.subarray(0, 4));
    };
    expect([firsts(90), firsts(120)]).toEqual(['\u007fELF', '.ver']);
    expect([images.has(TEXT, 90), images.has(TEXT, 75), images.has('other', 90)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(() => [...images.of('other', 'twice', 90, undefined)]).toThrow(UnavailableError);
    expect(() => [...images.of('other', 'twice', 90, undefined)]).toThrow(
      /not compiled before.*pip install nvidia-cuda-nvrtc-cu12.*EAGRE_NVRTC is 0/s,
    );
    vi.stubEnv('EAGRE_CUDA_KERNELS', dirname(path));
    expect(() => openKernelArchive()).toThrow(/names .*, which is no file/);
    vi.stubEnv('EAGRE_CUDA_KERNELS', `${path}.none`);
    expect(() => new KernelImages(addon)).toThrow(core.NotFoundError);
    writeFileSync(path, archive.subarray(0, 100));
    vi.stubEnv('EAGRE_CUDA_KERNELS', path);
    expect(openCuda).toThrow(core.DataLossError);
  });

  it('that the driver refuses are followed by others, and told where there are none', () => {
    const addon = loadCudaAddon();
    const device = new addon.Device(fakeCuda, 0);
    const cuda = (name: string): CudaProgram => ({
      print: (entry) =>
        `struct Params { u32 n; };\nextern "C" __global__ void ${entry}(u32* ${name}, const Params p) { ${name}[0] = p.n; }`,
      pointers: ['u32*'],
      params: ['u32'],
      workgroup: [1, 1, 1],
      capability: 80,
      isSpecific: false,
      shared: 0,
      maps: 0,
      isPersistent: false,
      isTensorFloat32: false,
    });
    const [both, one] = [cuda('x'), cuda('y')];
    // A library without kernels.
    const other = readFileSync(fakeCuda);
    const image = withFake({ FAKE_CUDA_ARCHS: '80' }, () =>
      called(() => addon.compile([fakeCuda], textOf(both), 'x', 90)),
    );
    const path = join(temporaryFolder('archive'), 'kernels.bin');
    writeFileSync(
      path,
      packKernels(
        [
          { key: keyOfText(textOf(both)), target: 'sm_90', image: other },
          { key: keyOfText(textOf(one)), target: 'sm_90', image: other },
          { key: keyOfText(textOf(both)), target: 'compute_80', image },
        ],
        '12.8',
      ),
    );
    vi.stubEnv('EAGRE_CUDA_KERNELS', path);
    vi.stubEnv('EAGRE_NVRTC', '0');
    const kernels = new CudaKernels(new KernelImages(addon), device);
    expect([kernels.has(both), kernels.has(cuda('z'))]).toEqual([true, false]);
    expect(kernels.get(both).block).toEqual([1, 1, 1]);
    expect(() => kernels.get(one)).toThrow(UnavailableError);
    expect(() => kernels.get(one)).toThrow(
      /pip install nvidia.*the driver refuses what the archive of kernels has.*NO_BINARY_FOR_GPU/s,
    );
    device.close();
  });

  it('are compiled into an archive by a tool', () => {
    const tool = fileURLToPath(new URL('../../../tools/gpu/pack-kernels.mjs', import.meta.url));
    const path = join(temporaryFolder('archive'), 'kernels.bin');
    const run = (...args: string[]): string =>
      execFileSync(process.execPath, [tool, `--out=${path}`, ...args], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    expect(() => run('--check')).toThrow();
    const said = run('--first=2', '90');
    const [, all, images] = /^2 of (\d+) programs, (\d+) images, by NVRTC 12.8/m.exec(said) ?? [];
    expect(Number(all)).toBeGreaterThan(3000);
    expect(Number(images)).toBe(2);
    expect(run('--check')).toBe('');
    expect(() => run('--frist=2')).toThrow();
    vi.stubEnv('EAGRE_CUDA_KERNELS', path);
    expect(openKernelArchive()?.size).toBe(2);
  });

  it('are PTX that the driver compiles, where there is neither an archive nor NVRTC', () => {
    vi.stubEnv('EAGRE_NVRTC', '0');
    vi.stubEnv('EAGRE_CUDA_CACHE', '');
    vi.stubEnv('XDG_CACHE_HOME', temporaryFolder('kernels'));
    openCuda();
    const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const computed = (at: '/gpu:0' | '/cpu:0'): number[][] =>
      device(at, () => {
        const x = core.linspace(-2, 2, 40 * 24).reshape([40, 24]);
        const w = core.linspace(-1, 1, 24 * 32).reshape([24, 32]);
        const few = core
          .gather(x, constant([3, 1], 'int32'))
          .cast('float16')
          .cast('float32')
          .tanh();
        return [core.matmul(x, w), few, few.sum(1)].map((each) => [...(each.data() as Float32Array)]);
      });
    const [own, host] = [computed('/gpu:0'), computed('/cpu:0')];
    own.forEach((values, i) => {
      expect(values).toHaveLength(host[i].length);
      values.forEach((value, k) => {
        expect(Math.abs(value - host[i][k])).toBeLessThan(1e-4 * Math.max(1, Math.abs(host[i][k])));
      });
    });
    // Tensor cores need more than that.
    expect(said.mock.calls.map(String).filter((text) => /without its tensor cores/.test(text))).toHaveLength(
      1,
    );
    said.mockRestore();
    expect(() => device('/gpu:0', () => core.gather(constant([1]), constant([5], 'int32')).data())).toThrow(
      core.OutOfRangeError,
    );
  });
});
