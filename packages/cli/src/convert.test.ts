import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  UnimplementedError,
} from '@eagre/core';
import {
  BundleReader,
  BundleWriter,
  FormatError,
  type NDArray,
  readNpyFile,
  readNpzFile,
  readSafetensorsFile,
  SafetensorsModel,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from '@eagre/formats';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { formats } from './convert/formats.ts';
import { convert } from './convert.ts';
import { run } from './index.ts';
import { inspect } from './inspect.ts';

const golden = fileURLToPath(new URL('../../checkpoint/golden/plain-1', import.meta.url));
let folder: string;
const at = (...names: string[]): string => join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-convert-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const arrays: Record<string, NDArray> = {
  'dense/kernel': { dtype: 'float32', shape: [2, 2], data: Float32Array.of(1, -2, 0.1, 3) },
  'dense/half': { dtype: 'float16', shape: [2], data: Float32Array.of(1, 0.5) },
  steps: { dtype: 'int64', shape: [], data: BigInt64Array.of(7n) },
  flags: { dtype: 'bool', shape: [3], data: Uint8Array.of(1, 0, 1) },
  none: { dtype: 'float64', shape: [0, 3], data: new Float64Array(0) },
};
/** By name in one order. */
const sorted = (map: ReadonlyMap<string, NDArray>): [string, NDArray][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));
const expected = sorted(new Map(Object.entries(arrays)));

async function read(path: string): Promise<[string, NDArray][]> {
  const source = await formats.find((format) => format.reads(path))!.arrays!.open(path, {});
  const all = new Map<string, NDArray>();
  for (const array of source.arrays) {
    const value = await array.read();
    expect([value.dtype, value.shape]).toEqual([array.dtype, array.shape]);
    all.set(array.name, value);
  }
  await source.close();
  return sorted(all);
}

describe('arrays stay what they are', () => {
  const places = {
    safetensors: 'x.safetensors',
    npz: 'x.npz',
    'safetensors-folder': 'model/',
    checkpoint: 'ckpt/x-1',
  };
  const pairs = Object.keys(places).flatMap((a) => Object.keys(places).map((b) => [a, b] as const));
  test.each(pairs)('from %s to %s', async (from, to) => {
    await writeNpzFile(at('start.npz'), arrays);
    const source = at('a', places[from as 'npz']);
    const target = at('b', places[to as 'npz']);
    await convert(at('start.npz'), source);
    const result = await convert(source, target);
    expect(result).toEqual({ from, to, arrays: 5 });
    expect(await read(target)).toEqual(expected);
    // Nothing besides, such as temporary files.
    expect(readdirSync(at('b'), { recursive: true }).length).toBe(
      { safetensors: 1, npz: 1, 'safetensors-folder': 2, checkpoint: 3 }[to],
    );
  });

  test('files of one array', async () => {
    const array = arrays['dense/kernel'] as NDArray;
    await writeNpyFile(at('kernel.npy'), array);
    await convert(at('kernel.npy'), at('k.safetensors'));
    expect((await readSafetensorsFile(at('k.safetensors'))).tensors).toEqual(new Map([['kernel', array]]));
    await convert(at('k.safetensors'), at('again.npy'));
    expect(await readNpyFile(at('again.npy'))).toEqual(array);
    expect(readFileSync(at('again.npy')).equals(readFileSync(at('kernel.npy')))).toBe(true);
  });

  test('several files become one, and one several', async () => {
    await writeSafetensorsFile(at('one.safetensors'), arrays, { format: 'pt' });
    await convert(at('one.safetensors'), at('many'), { maxShardSize: '0.015KB' });
    expect(readdirSync(at('many')).length).toBeGreaterThan(3);
    await convert(at('many'), at('two.safetensors'));
    // The index says nothing of a format.
    expect(await read(at('two.safetensors'))).toEqual(expected);
    await convert(at('many', 'model.safetensors.index.json'), at('three.npz'));
    expect(sorted(await readNpzFile(at('three.npz')))).toEqual(expected);
    await convert(at('one.safetensors'), at('four.safetensors'));
    expect(readFileSync(at('four.safetensors')).equals(readFileSync(at('one.safetensors')))).toBe(true);
  });

  test("TensorFlow's checkpoints, by prefix, index and folder, without the graph of objects", async () => {
    const { items } = await inspect(golden);
    await expect(convert(golden, at('c.safetensors'))).rejects.toThrow(/words.* is string.*--skip-strings/);
    await convert(golden, at('c.safetensors'), { skipStrings: true });
    const { tensors } = await readSafetensorsFile(at('c.safetensors'));
    const numbers = items?.filter(({ dtype }) => dtype !== 'string');
    expect([...tensors.keys()].sort()).toEqual(numbers?.map(({ name }) => name).sort());
    const reader = await BundleReader.open(golden);
    for (const [name, array] of tensors) expect(array).toEqual(reader.read(name));
    await convert(`${golden}.index`, at('d.safetensors'), { skipStrings: true });
    expect(readFileSync(at('c.safetensors')).equals(readFileSync(at('d.safetensors')))).toBe(true);
  });

  test('floats are cast where that is asked for', async () => {
    await writeSafetensorsFile(at('a.safetensors'), {
      ...arrays,
      b: { dtype: 'bfloat16', shape: [1], data: Float32Array.of(3) },
    });
    await convert(at('a.safetensors'), at('a.npz'), { dtype: 'float32' });
    const cast = await readNpzFile(at('a.npz'));
    expect([...cast.values()].map((array) => array.dtype).sort()).toEqual([
      'bool',
      'float32',
      'float32',
      'float32',
      'float32',
      'int64',
    ]);
    expect(cast.get('b')?.data).toEqual(Float32Array.of(3));
    await convert(at('a.safetensors'), at('h.safetensors'), { dtype: 'bfloat16' });
    const halves = (await readSafetensorsFile(at('h.safetensors'))).tensors;
    expect(halves.get('dense/kernel')?.data).toEqual(Float32Array.of(1, -2, 0.10009765625, 3));
    await convert(at('a.safetensors'), at('d.npz'), { dtype: 'float64' });
    expect((await readNpzFile(at('d.npz'))).get('dense/kernel')).toMatchObject({
      dtype: 'float64',
      data: Float64Array.of(1, -2, Math.fround(0.1), 3),
    });
  });

  test('progress is told, array by array', async () => {
    await writeNpzFile(at('a.npz'), arrays);
    const seen: unknown[] = [];
    await convert(at('a.npz'), at('b.npz'), {
      onProgress: (done, total, name) => seen.push([done, total, name]),
    });
    expect(seen).toEqual(Object.keys(arrays).map((name, i) => [i, 5, name]));
  });
});

describe('refuses, and leaves nothing', () => {
  const refused = async (
    source: string,
    target: string,
    options: Parameters<typeof convert>[2],
    error: new (...args: never) => Error,
    message: RegExp,
  ): Promise<void> => {
    const before = readdirSync(folder, { recursive: true });
    const caught = await convert(source, target, options).catch((cause: unknown) => cause);
    expect(caught).toBeInstanceOf(error);
    expect((caught as Error).message).toMatch(message);
    expect(readdirSync(folder, { recursive: true })).toEqual(before);
  };

  test('what is not there, and what is of no known format', async () => {
    await refused(at('x.npz'), at('y.npy'), {}, NotFoundError, /there is no .*x.npz/);
    await refused(at('ckpt'), at('y.npy'), {}, NotFoundError, /there is no .*ckpt/);
    writeFileSync(at('x.txt'), '');
    await refused(
      at('x.txt'),
      at('y.npy'),
      {},
      InvalidArgumentError,
      /x.txt is none of: a .safetensors file; .*--from/,
    );
    await writeNpzFile(at('x.npz'), arrays);
    await refused(at('x.npz'), at('y.txt'), {}, InvalidArgumentError, /y.txt stands for none of.*--to/);
    await refused(
      at('x.npz'),
      at('y.npz'),
      { to: 'hdf9' },
      InvalidArgumentError,
      /--to must be one of safetensors, /,
    );
    await refused(at('x.npz'), at('y.npz'), { from: 'zip' }, InvalidArgumentError, /--from must be one of/);
    await refused(
      at('x.npz'),
      at('y.npz'),
      { dtype: 'int8' },
      InvalidArgumentError,
      /--dtype must be one of/,
    );
    await refused(
      at('x.npz'),
      at('y.npz'),
      { maxShardSize: 5, to: 'npz' },
      InvalidArgumentError,
      /needs a folder/,
    );
    await refused(at('x.npz'), at('y'), { maxShardSize: 'huge' }, InvalidArgumentError, /max-shard-size/);
    // A folder of this name would be no ONNX file.
    await refused(at('x.npz'), at('y.onnx'), { maxShardSize: '5GB' }, InvalidArgumentError, /needs a folder/);
    await refused(at('x.npz'), at('y.npy'), { skipStrings: true }, InvalidArgumentError, /--skip-strings/);
  });

  test('what is there already, unless it is to be replaced', async () => {
    await writeNpzFile(at('x.npz'), arrays);
    await writeSafetensorsFile(at('y.safetensors'), {});
    await refused(
      at('x.npz'),
      at('y.safetensors'),
      {},
      FailedPreconditionError,
      /is there already; pass --overwrite/,
    );
    await convert(at('x.npz'), at('y.safetensors'), { overwrite: true });
    expect(await read(at('y.safetensors'))).toEqual(expected);
    await convert(at('x.npz'), at('ck'));
    await refused(at('x.npz'), at('ck'), {}, FailedPreconditionError, /ck.index is there already/);
    await convert(at('x.npz'), at('m/'));
    await refused(at('x.npz'), at('m/'), {}, FailedPreconditionError, /model.safetensors is there already/);
    // In its own place.
    await convert(at('y.safetensors'), at('y.safetensors'), { overwrite: true, dtype: 'float64' });
    expect((await readSafetensorsFile(at('y.safetensors'))).tensors.get('dense/kernel')?.dtype).toBe(
      'float64',
    );
  });

  test('what the target cannot hold', async () => {
    await writeNpzFile(at('x.npz'), arrays);
    await refused(
      at('x.npz'),
      at('y.npy'),
      {},
      InvalidArgumentError,
      /a .npy file holds one array, and there are 5/,
    );
    await writeSafetensorsFile(at('b.safetensors'), {
      w: { dtype: 'bfloat16', shape: [1], data: Float32Array.of(1) },
    });
    await refused(
      at('b.safetensors'),
      at('y.npz'),
      {},
      UnimplementedError,
      /'w' is bfloat16.*--dtype float32/,
    );
    await writeNpzFile(at('c.npz'), { z: { dtype: 'complex128', shape: [1], data: Float64Array.of(1, 2) } });
    await refused(at('c.npz'), at('y.safetensors'), {}, FormatError, /complex128/);
    const writer = new BundleWriter(at('s'));
    writer.add('text', 'string', [], ['x']);
    writer.finish();
    await refused(at('s'), at('y.npz'), {}, UnimplementedError, /'text' is string/);
  });

  test('damaged files, also those that are found so in the middle', async () => {
    await writeNpzFile(at('x.npz'), arrays);
    await convert(at('x.npz'), at('ck'));
    const data = readFileSync(at('ck.data-00000-of-00001'));
    data[data.length - 1]! ^= 1;
    writeFileSync(at('ck.data-00000-of-00001'), data);
    for (const target of ['y.safetensors', 'y.npz', 'other'])
      await refused(at('ck'), at(target), {}, FormatError, /checksum|CRC/i);
    const zip = readFileSync(at('x.npz'));
    for (let length = 0; length < zip.length; length += 97) {
      writeFileSync(at('x.npz'), zip.subarray(0, length));
      await refused(at('x.npz'), at('y.safetensors'), {}, FormatError, /x.npz/);
    }
    await writeSafetensorsFile(at('a.safetensors'), arrays);
    const read = SafetensorsModel.prototype.read;
    SafetensorsModel.prototype.read = async function (name) {
      if (name === 'flags') throw new Error('the disk failed');
      return read.call(this, name);
    };
    try {
      for (const target of ['y.safetensors', 'y.npz', 'folder/', 'other'])
        await convert(at('a.safetensors'), at('new', target)).catch((cause: Error) =>
          expect(cause.message).toBe('the disk failed'),
        );
      expect(readdirSync(at('new'), { recursive: true }).filter((name) => name !== 'folder')).toEqual([]);
    } finally {
      SafetensorsModel.prototype.read = read;
    }
  });
});

describe('the command', () => {
  test('converts, tells what, and ends with 0 or 1', async () => {
    await writeNpzFile(at('x.npz'), arrays);
    const out = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    const err = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
    try {
      expect(await run(['convert', at('x.npz'), at('shards'), '--max-shard-size', '0.02KB'], '1')).toBe(0);
      expect(out.mock.lastCall?.[0]).toBe(`${at('shards')}: safetensors-folder of 5 arrays, from npz\n`);
      expect(existsSync(at('shards', 'model.safetensors.index.json'))).toBe(true);
      expect(await run(['convert', at('x.npz'), at('shards'), '--max-shard-size', '5GB'], '1')).toBe(1);
      expect(err.mock.lastCall?.[0]).toMatch(
        /^eagre: convert: .*is there already; pass --overwrite to replace it\n$/,
      );
      expect(
        await run(
          ['convert', at('x.npz'), at('x.txt'), '--to', 'checkpoint', '--dtype', 'float32', '--no-progress'],
          '1',
        ),
      ).toBe(0);
      expect(existsSync(at('x.txt.index'))).toBe(true);
    } finally {
      out.mockRestore();
      err.mockRestore();
    }
  });

  test('inspects an index and its folder', async () => {
    await writeNpzFile(at('x.npz'), arrays);
    await convert(at('x.npz'), at('m'), { maxShardSize: 20 });
    for (const path of [at('m'), at('m', 'model.safetensors.index.json')]) {
      const { format, items, about } = await inspect(path);
      expect(format).toBe('safetensors');
      expect(items?.map(({ name }) => name).sort()).toEqual(Object.keys(arrays).sort());
      expect(about).toEqual({ total_size: 31, files: 2 });
    }
    writeFileSync(at('m', 'model.safetensors.index.json'), '{"weight_map":{"a":"../x.safetensors"}}');
    await expect(inspect(at('m'))).rejects.toThrow(FormatError);
  });
});
