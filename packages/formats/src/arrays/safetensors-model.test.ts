import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FormatError, UnsupportedFormatError } from '../errors.ts';
import { writeSafetensorsFile } from '../files/files.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import type { NDArray } from './ndarray.ts';
import { decodeSafetensors } from './safetensors.ts';
import { parseSafetensorsIndex, SafetensorsModel } from './safetensors-model.ts';
import { type TensorSource, writeSafetensorsModel, writeSafetensorsTensors } from './safetensors-writer.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-safetensors-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const floats = (...values: number[]): NDArray => ({
  dtype: 'float32',
  shape: [values.length],
  data: Float32Array.from(values),
});
const source = (name: string, array: NDArray): TensorSource => ({
  name,
  dtype: array.dtype,
  shape: array.shape,
  read: () => array,
});
const arrays: Record<string, NDArray> = {
  a: floats(1, 2, 3),
  b: { dtype: 'bfloat16', shape: [2, 2], data: Float32Array.of(1, -2, 0.5, 3) },
  c: { dtype: 'int64', shape: [], data: BigInt64Array.of(7n) },
  'd.0.weight': floats(4),
};
const sources = Object.entries(arrays).map(([name, array]) => source(name, array));

async function all(path: string): Promise<Record<string, NDArray>> {
  const model = await SafetensorsModel.open(path);
  const out: Record<string, NDArray> = {};
  for (const name of model.entries.keys()) out[name] = await model.read(name);
  await model.close();
  return out;
}
const writeIndex = (map: object, more: object = {}): string => {
  const path = join(folder, 'model.safetensors.index.json');
  writeFileSync(path, JSON.stringify({ weight_map: map, ...more }));
  return path;
};

describe('a model in several files', () => {
  it('is read back from its folder, its index and its single file', async () => {
    const sharded = join(folder, 'new', 'sharded');
    const names = await writeSafetensorsModel(sharded, sources, {
      maxShardSize: 20,
      metadata: { format: 'pt' },
    });
    expect(names).toEqual([
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'model.safetensors.index.json',
    ]);
    expect(readdirSync(sharded).sort()).toEqual(names);
    expect(JSON.parse(readFileSync(join(sharded, names[2] as string), 'utf8'))).toEqual({
      metadata: { total_size: 32 },
      weight_map: { a: names[0], b: names[0], c: names[1], 'd.0.weight': names[1] },
    });
    expect(await all(sharded)).toEqual(arrays);
    expect(await all(join(sharded, names[2] as string))).toEqual(arrays);
    // One file, and the old ones are gone.
    expect(await writeSafetensorsModel(sharded, sources)).toEqual(['model.safetensors']);
    expect(readdirSync(sharded)).toEqual(['model.safetensors']);
    expect(await all(sharded)).toEqual(arrays);
    expect(await all(join(sharded, 'model.safetensors'))).toEqual(arrays);
  });

  it('is written as the encoder writes it', async () => {
    const [pieces, whole] = [join(folder, 'pieces'), join(folder, 'whole')];
    await writeSafetensorsTensors(pieces, sources, { format: 'pt' });
    await writeSafetensorsFile(whole, arrays, { format: 'pt' });
    expect(readFileSync(pieces).equals(readFileSync(whole))).toBe(true);
    expect(decodeSafetensors(readFileSync(pieces)).metadata).toEqual({ format: 'pt' });
  });

  it('has a large tensor in a file of its own', async () => {
    const names = await writeSafetensorsModel(folder, sources, { maxShardSize: 1 });
    expect(names).toHaveLength(5);
    expect(await all(folder)).toEqual(arrays);
  });

  it('may be empty', async () => {
    expect(await writeSafetensorsModel(folder, [])).toEqual(['model.safetensors']);
    expect(await all(folder)).toEqual({});
  });

  it('takes the tensor that the index names, where two files have one of the name', async () => {
    await writeSafetensorsFile(join(folder, 'x.safetensors'), { a: floats(1), b: floats(2) });
    await writeSafetensorsFile(join(folder, 'y.safetensors'), { a: floats(3) });
    expect(await all(writeIndex({ a: 'y.safetensors', b: 'x.safetensors' }))).toEqual({
      a: floats(3),
      b: floats(2),
    });
  });

  it('is found under another name if there is one only', async () => {
    await writeSafetensorsFile(join(folder, 'adapter.safetensors'), { a: floats(1) });
    expect(await all(folder)).toEqual({ a: floats(1) });
    await writeSafetensorsFile(join(folder, 'other.safetensors'), { a: floats(1) });
    await expect(all(folder)).rejects.toThrow(/several files, and no index/);
    rmSync(join(folder, 'adapter.safetensors'));
    rmSync(join(folder, 'other.safetensors'));
    await expect(all(folder)).rejects.toThrow(/neither/);
  });

  it.runIf(process.platform === 'linux')('keeps one file open', async () => {
    await writeSafetensorsModel(folder, sources, { maxShardSize: 1 });
    const model = await SafetensorsModel.open(folder);
    const isOurs = (descriptor: string): boolean => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(folder);
      } catch {
        // The one that lists the folder.
        return false;
      }
    };
    const counted = (): number => readdirSync('/proc/self/fd').filter(isOurs).length;
    expect(counted()).toBe(0);
    for (const name of model.entries.keys()) {
      await model.read(name);
      expect(counted()).toBe(1);
    }
    await model.close();
    expect(counted()).toBe(0);
  });
});

describe('what does not fit is refused', () => {
  const names = [
    '../x.safetensors',
    '/etc/x.safetensors',
    'a/x.safetensors',
    'a\\x.safetensors',
    'C:x.safetensors',
    '..',
    'x.bin',
    'x\u0000.safetensors',
    '',
    7,
    null,
  ];
  it.each(names)('the file name %j', async (name) => {
    await writeSafetensorsFile(join(folder, 'x.safetensors'), { a: floats(1) });
    mkdirSync(join(folder, 'sub'));
    const path = join(folder, 'sub', 'model.safetensors.index.json');
    writeFileSync(path, JSON.stringify({ weight_map: { a: name } }));
    await expect(SafetensorsModel.open(path)).rejects.toThrow(
      /the name of a .safetensors file in the folder/,
    );
  });

  it.each([
    '[]',
    '{',
    '{}',
    '{"weight_map":[]}',
    '{"weight_map":{},"metadata":3}',
    '{"weight_map":{"a":"x.safetensors","a":"x.safetensors"}}',
  ])('the index %s', (text) => {
    expect(() => parseSafetensorsIndex(text, 'i')).toThrow(FormatError);
  });

  it('an index that says other than the files', async () => {
    await writeSafetensorsFile(join(folder, 'x.safetensors'), { a: floats(1), b: floats(1) });
    const open = (map: object): Promise<unknown> => SafetensorsModel.open(writeIndex(map));
    const file = 'x.safetensors';
    await expect(open({ a: file })).rejects.toThrow(/holds a tensor that the index lacks: got "b"/);
    await expect(open({ a: file, b: file, c: file })).rejects.toThrow(
      /lacks a tensor of the index: expected "c"/,
    );
    await expect(open({ a: file, b: 'y.safetensors' })).rejects.toMatchObject({ code: 'ENOENT' });
    writeFileSync(join(folder, 'model.safetensors.index.json'), Buffer.from([0xff, 0xfe]));
    await expect(SafetensorsModel.open(folder)).rejects.toThrow(/UTF-8/);
  });

  it('a pipe and a dtype that Eagre lacks', async () => {
    execFileSync('mkfifo', [join(folder, 'p.safetensors')]);
    await expect(SafetensorsModel.open(join(folder, 'p.safetensors'))).rejects.toThrow(/a regular one/);
    const header = '{"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}';
    const bytes = Buffer.alloc(8 + header.length + 1);
    bytes.writeBigUInt64LE(BigInt(header.length));
    bytes.write(header, 8);
    writeFileSync(join(folder, 'f8.safetensors'), bytes);
    const model = await SafetensorsModel.open(join(folder, 'f8.safetensors'));
    await expect(model.read('a')).rejects.toThrow(UnsupportedFormatError);
    await expect(model.read('b')).rejects.toThrow(/no tensor: got "b"/);
    await model.close();
  });

  it('a file that becomes shorter', async () => {
    await writeSafetensorsModel(folder, sources);
    const model = await SafetensorsModel.open(folder);
    writeFileSync(join(folder, 'model.safetensors'), '');
    await expect(model.read('a')).rejects.toThrow(/became shorter/);
    await model.close();
  });

  it('damage of any kind, without another error', async () => {
    await writeSafetensorsModel(folder, sources, { maxShardSize: 20 });
    const random = randomSource(5);
    let refused = 0;
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const good = readFileSync(path);
      for (let run = 0; run < 150; run++) {
        writeFileSync(path, mutate(good, random));
        const result = await all(folder).catch((error: unknown) => error);
        if (!(result instanceof Error)) continue;
        refused++;
        const isMissing = (result as NodeJS.ErrnoException).code === 'ENOENT';
        if (!isMissing) expect(result).toBeInstanceOf(FormatError);
      }
      for (let length = 0; length < good.length; length += 7) {
        writeFileSync(path, good.subarray(0, length));
        await expect(all(folder)).rejects.toThrow(FormatError);
      }
      writeFileSync(path, good);
    }
    expect(refused).toBeGreaterThan(100);
  });
});

describe('a failed write', () => {
  it('leaves the old model, and nothing else', async () => {
    await writeSafetensorsModel(folder, sources, { maxShardSize: 20 });
    const before = readdirSync(folder).sort();
    const broken: TensorSource = {
      name: 'z',
      dtype: 'float32',
      shape: [1],
      read: () => Promise.reject(new Error('no')),
    };
    for (const bad of [broken, { ...source('z', floats(1, 2)), shape: [3] }, source('a', floats(1))]) {
      await expect(writeSafetensorsModel(folder, [...sources, bad], { maxShardSize: 20 })).rejects.toThrow();
      expect(readdirSync(folder).sort()).toEqual(before);
      expect(await all(folder)).toEqual(arrays);
    }
    await expect(writeSafetensorsModel(folder, sources, { maxShardSize: 0 })).rejects.toThrow(/maxShardSize/);
    await expect(writeSafetensorsTensors(join(folder, 'one.safetensors'), [broken])).rejects.toThrow('no');
    const complex: NDArray = { dtype: 'complex128', shape: [1], data: Float64Array.of(1, 2) };
    await expect(writeSafetensorsModel(folder, [source('x', complex)])).rejects.toThrow(
      UnsupportedFormatError,
    );
    expect(readdirSync(folder).sort()).toEqual(before);
  });
});
