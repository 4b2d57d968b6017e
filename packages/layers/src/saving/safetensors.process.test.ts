import '@eagre/backend-native';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  concat,
  DataLossError,
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  type Tensor,
  UnimplementedError,
} from '@eagre/core';
import {
  type DTypeName,
  type NDArray,
  readSafetensorsFile,
  SafetensorsModel,
  writeSafetensorsFile,
  writeSafetensorsModel,
} from '@eagre/formats';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Sequential } from '../models/sequential.ts';
import { loadSafetensors, saveSafetensors, type WeightNames } from './safetensors.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-safetensors-'));
  path = join(folder, 'x.safetensors');
});
afterEach(() => rmSync(folder, { recursive: true }));

const array = (shape: readonly number[], from = 0, dtype: DTypeName = 'float32'): NDArray => {
  const count = shape.reduce((n, d) => n * d, 1);
  return { dtype, shape, data: Float32Array.from({ length: count }, (_, i) => from + i) } as NDArray;
};
/** Two layers of the same shape, `h0` and `h1`, and a last one. */
const makeModel = (dtype: 'float32' | 'float64' = 'float32'): Sequential =>
  new Sequential([
    new Dense(3, { name: 'h0', inputShape: [3], dtype }),
    new Dense(3, { name: 'h1', dtype }),
    new Dense(2, { name: 'last', useBias: false, dtype }),
  ]);
/** As PyTorch has it: (out, in). */
const file: Record<string, NDArray> = {
  'h.0.weight': array([3, 3]),
  'h.0.bias': array([3], 100),
  'h.1.weight': array([3, 3], 10),
  'h.1.bias': array([3], 200),
  'head.weight': array([2, 3], 20),
};
const transpose = (w: Tensor): Tensor => w.transpose();
const names: WeightNames = {
  'h{i}/kernel': { from: 'h.{i}.weight', convert: transpose },
  'h{i}/bias': 'h.{i}.bias',
  'last/kernel': { from: 'head.weight', convert: transpose },
};
const values = (model: Sequential): unknown[] => model.weights.map((w) => w.array());
const expected = [
  [
    [0, 3, 6],
    [1, 4, 7],
    [2, 5, 8],
  ],
  [100, 101, 102],
  [
    [10, 13, 16],
    [11, 14, 17],
    [12, 15, 18],
  ],
  [200, 201, 202],
  [
    [20, 23],
    [21, 24],
    [22, 25],
  ],
];

describe('names and layouts of another library', () => {
  it('are mapped by a table', async () => {
    await writeSafetensorsFile(path, file);
    const model = makeModel();
    expect(await loadSafetensors(model, path, { names })).toEqual({ missing: [], unused: [] });
    expect(values(model)).toEqual(expected);
    // By name, and from an index.
    const again = makeModel();
    const sources = Object.entries(file).map(([name, a]) => ({ name, ...a, read: () => a }));
    await writeSafetensorsModel(join(folder, 'sharded'), sources, { maxShardSize: 40 });
    expect(readdirSync(join(folder, 'sharded')).length).toBeGreaterThan(3);
    await loadSafetensors({ model: again, path: join(folder, 'sharded'), names });
    expect(values(again)).toEqual(expected);
  });

  it('are mapped by a function', async () => {
    await writeSafetensorsFile(path, file);
    const model = makeModel();
    const { missing } = await loadSafetensors(model, path, {
      names: (weight) => {
        const [, i, what] = /^h(\d)\/(\w+)$/.exec(weight) ?? [];
        if (i === undefined) return null;
        return what === 'bias' ? `h.${i}.bias` : { from: [`h.${i}.weight`], convert: transpose };
      },
      ignore: ['head.weight'],
      strict: false,
    });
    expect(missing).toEqual(['last/kernel']);
    expect(values(model).slice(0, 4)).toEqual(expected.slice(0, 4));
  });

  it('are split and joined, and what several weights need is read once', async () => {
    await writeSafetensorsFile(path, {
      both: array([3, 6]),
      b0: array([1], 1),
      b1: array([2], 2),
      'h.1.bias': array([3]),
      head: array([3, 2]),
    });
    const reads: string[] = [];
    const read = SafetensorsModel.prototype.read;
    SafetensorsModel.prototype.read = function (name) {
      reads.push(name);
      return read.call(this, name);
    };
    const model = makeModel();
    try {
      await loadSafetensors(model, path, {
        names: {
          'h0/kernel': { from: 'both', convert: (w) => w.at(':', '0:3') },
          'h1/kernel': { from: 'both', convert: (w) => w.at(':', '3:6') },
          'h0/bias': { from: ['b0', 'b1'], convert: (a, b) => concat([a as Tensor, b as Tensor], 0) },
          'h{n}/bias': 'h.{n}.bias',
          'last/kernel': 'head',
        },
      });
    } finally {
      SafetensorsModel.prototype.read = read;
    }
    expect(reads.filter((name) => name === 'both')).toHaveLength(1);
    expect(values(model).slice(0, 3)).toEqual([
      [
        [0, 1, 2],
        [6, 7, 8],
        [12, 13, 14],
      ],
      [1, 2, 3],
      [
        [3, 4, 5],
        [9, 10, 11],
        [15, 16, 17],
      ],
    ]);
  });

  it.each(['float16', 'bfloat16', 'float64'] as const)('floats of %s are cast', async (dtype) => {
    const cast = Object.entries(file).map(([name, a]) => [
      name,
      dtype === 'float64'
        ? { dtype, shape: a.shape, data: Float64Array.from(a.data as Float32Array) }
        : { ...a, dtype },
    ]);
    await writeSafetensorsFile(path, Object.fromEntries(cast));
    for (const own of ['float32', 'float64'] as const) {
      const model = makeModel(own);
      await loadSafetensors(model, path, { names });
      expect(values(model)).toEqual(expected);
      expect(model.weights.map((w) => w.dtype)).toEqual(Array(5).fill(own));
    }
  });
});

describe('saving', () => {
  it('to a file and to a folder of several, and back', async () => {
    const [model, other, third] = [makeModel(), makeModel(), makeModel()];
    expect(await saveSafetensors(model, path, { metadata: { format: 'pt' } })).toEqual([path]);
    expect((await readSafetensorsFile(path)).metadata).toEqual({ format: 'pt' });
    await loadSafetensors(other, path);
    expect(values(other)).toEqual(values(model));
    // Hugging Face's names, four files.
    const hub = { 'h{i}/kernel': 'h.{i}.weight', 'h{i}/bias': 'h.{i}.bias', 'last/kernel': 'head.weight' };
    const saved = await saveSafetensors(model, join(folder, 'm'), { names: hub, maxShardSize: '0.04KB' });
    expect(saved).toHaveLength(5);
    const index = JSON.parse(readFileSync(join(folder, 'm', 'model.safetensors.index.json'), 'utf8'));
    expect(Object.keys(index.weight_map)).toEqual([
      'h.0.bias',
      'h.0.weight',
      'h.1.bias',
      'h.1.weight',
      'head.weight',
    ]);
    await loadSafetensors(third, join(folder, 'm'), { names: hub });
    expect(values(third)).toEqual(values(model));
  });

  it('refuses what it cannot do', async () => {
    const model = makeModel();
    const refused = async (options: object, message: RegExp): Promise<void> => {
      await expect(saveSafetensors(model, join(folder, 'm'), options)).rejects.toThrow(message);
      expect(readdirSync(folder)).toEqual([]);
    };
    await refused({ names: () => 'same' }, /both have the name same/);
    await refused({ names: { 'last/kernel': 'x' } }, /must give the weight h0\/kernel one name/);
    await refused({ maxShardSize: 'x' }, /maxShardSize/);
    await refused({ maxShardSize: -1 }, /maxShardSize/);
    await refused({ maxSize: 1 }, /maxSize/);
    await refused({ metadata: { a: 1 } }, /a string/);
    await expect(saveSafetensors(model, path, { maxShardSize: 5 })).rejects.toThrow(/a folder/);
    await expect(saveSafetensors(new Sequential([new Dense(2)]), path)).rejects.toThrow(
      FailedPreconditionError,
    );
    await expect(saveSafetensors({} as never, path)).rejects.toThrow(InvalidArgumentError);
  });
});

describe('what does not fit changes nothing', () => {
  const model = makeModel();
  const before = values(model);
  const refused = async (
    tensors: Record<string, NDArray>,
    options: object,
    error: new (...args: never) => Error,
    message: RegExp,
  ): Promise<void> => {
    await writeSafetensorsFile(path, tensors);
    const caught = await loadSafetensors(model, path, options).catch((cause: unknown) => cause);
    expect(caught).toBeInstanceOf(error);
    expect((caught as Error).message).toMatch(message);
    expect(values(model)).toEqual(before);
  };
  const without = (name: string): Record<string, NDArray> =>
    Object.fromEntries(Object.entries(file).filter(([key]) => key !== name));

  it('missing and unused tensors', async () => {
    await refused(
      without('head.weight'),
      { names },
      InvalidArgumentError,
      /no tensor: last\/kernel \(head.weight\)/,
    );
    await refused(
      { ...file, more: array([1]) },
      { names },
      InvalidArgumentError,
      /not used: more.*strict: false/,
    );
    const { 'last/kernel': _, ...fewer } = names as Record<string, never>;
    await refused(
      file,
      { names: fewer },
      InvalidArgumentError,
      /no tensor: last\/kernel; these tensors are not used: head.weight/,
    );
    await refused(file, {}, InvalidArgumentError, /no tensor: h0\/kernel \(h0\/kernel\)/);
    const position: NDArray = { dtype: 'int64', shape: [2], data: new BigInt64Array(2) };
    await refused({ ...file, 'h.0.position_ids': position }, { names }, InvalidArgumentError, /position_ids/);
    await writeSafetensorsFile(path, { ...file, 'h.0.position_ids': position });
    const copy = makeModel();
    await loadSafetensors(copy, path, { names, ignore: ['h.{i}.position_ids'] });
    expect(values(copy)).toEqual(expected);
  });

  it('shapes and dtypes', async () => {
    await refused(
      { ...file, 'head.weight': array([3, 2]) },
      { names },
      InvalidArgumentError,
      /gives float32 \[2, 3\], the weight last\/kernel is float32 \[3, 2\]/,
    );
    await refused(
      { ...file, 'h.1.bias': array([4]) },
      { names },
      InvalidArgumentError,
      /h1\/bias is float32 \[3\]/,
    );
    const integers: NDArray = { dtype: 'int32', shape: [3], data: new Int32Array(3) };
    await refused({ ...file, 'h.1.bias': integers }, { names }, InvalidArgumentError, /gives int32 \[3\]/);
  });

  it('conversions', async () => {
    const table = (convert: unknown): object => ({
      names: { ...names, 'last/kernel': { from: 'head.weight', convert } },
    });
    await refused(
      file,
      table(() => 3),
      InvalidArgumentError,
      /convert must return a tensor, got 3/,
    );
    await refused(
      file,
      table((w: Tensor) => w.reshape([7])),
      InvalidArgumentError,
      /last\/kernel: convert failed on head.weight: /,
    );
    await refused(file, table(3), InvalidArgumentError, /\{ from, convert \}/);
    const several = { names: { ...names, 'last/kernel': { from: ['head.weight', 'h.0.bias'] } } };
    await refused(file, several, InvalidArgumentError, /made of several tensors/);
  });

  it('tables', async () => {
    const table = (more: object): object => ({ names: { ...names, ...more } });
    await refused(
      file,
      table({ 'g{i}/kernel': 'g.{i}' }),
      InvalidArgumentError,
      /'g\{i\}\/kernel' of names is the name of no weight; the model has h0\/kernel/,
    );
    await refused(
      file,
      table({ 'h{j}/kernel': 'g.{j}' }),
      InvalidArgumentError,
      /fits both 'h\{i\}\/kernel' and 'h\{j\}\/kernel'/,
    );
    await refused(
      file,
      table({ 'h{i}/kernel': 'h.{j}' }),
      InvalidArgumentError,
      /has \{j\}, which 'h\{i\}\/kernel' lacks/,
    );
    await refused(
      file,
      table({ 'last/kernel': { from: 'a', transpose: true } }),
      InvalidArgumentError,
      /\{ from, convert \}/,
    );
    await refused(file, table({ 'last/kernel': 3 }), InvalidArgumentError, /got 3/);
    await refused(file, { names: 'x' }, InvalidArgumentError, /names must be/);
    await refused(file, { names, ignore: 'x' }, InvalidArgumentError, /ignore must be/);
    await refused(file, { names, strict: 1 }, InvalidArgumentError, /strict must be/);
    await refused(file, { mapping: names }, InvalidArgumentError, /mapping/);
  });

  it('files', async () => {
    await writeSafetensorsFile(path, file);
    const bytes = readFileSync(path);
    const failing = async (at: string, error: new (...args: never) => Error): Promise<void> => {
      await expect(loadSafetensors(model, at, { names })).rejects.toThrow(error);
      expect(values(model)).toEqual(before);
    };
    for (let length = 0; length < bytes.length; length += 11) {
      writeFileSync(path, bytes.subarray(0, length));
      await failing(path, DataLossError);
    }
    await failing(join(folder, 'none'), NotFoundError);
    writeFileSync(path, Buffer.from(bytes.toString('latin1').replace('"F32"', '"I8" '), 'latin1'));
    await failing(path, DataLossError);
    // A dtype that Eagre lacks, in the last tensor that is read.
    const header = JSON.stringify({ x: { dtype: 'F8_E5M2', shape: [2], data_offsets: [0, 2] } });
    const f8 = Buffer.alloc(8 + header.length + 2);
    f8.writeBigUInt64LE(BigInt(header.length));
    f8.write(header, 8);
    writeFileSync(path, f8);
    await expect(
      loadSafetensors(model, path, { names: { 'last/kernel': 'x' }, strict: false }),
    ).rejects.toThrow(UnimplementedError);
    expect(values(model)).toEqual(before);
    await expect(loadSafetensors(new Sequential([new Dense(2)]), path)).rejects.toThrow(
      FailedPreconditionError,
    );
  });

  it('a file that ends while it is read: the error says what has changed', async () => {
    await writeSafetensorsFile(path, file);
    const victim = makeModel();
    const convert = (w: Tensor): Tensor => {
      // All checks are over when it sees other values than zeros.
      if (w.sum().item() !== 0) writeFileSync(path, '');
      return w.transpose();
    };
    const table = { ...(names as object), 'h{i}/kernel': { from: 'h.{i}.weight', convert } } as WeightNames;
    await expect(loadSafetensors(victim, path, { names: table })).rejects.toThrow(
      /became shorter.*2 of 5 weights have new values/,
    );
  });
});

// A sanitizer keeps what is freed.
test.runIf(process.env.EAGRE_SANITIZED === undefined)('tensors are not in memory all at once', async () => {
  // 40 weights of 4 MB, in files of 20 MB.
  const model = new Sequential(
    Array.from(
      { length: 40 },
      (_, i) =>
        new Dense(1024, { name: `h${i}`, useBias: false, kernelInitializer: 'zeros', inputShape: [1024] }),
    ),
  );
  await saveSafetensors(model, join(folder, 'm'), { maxShardSize: '20MB' });
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const read = SafetensorsModel.prototype.read;
  SafetensorsModel.prototype.read = function (name) {
    most = Math.max(most, process.memoryUsage().arrayBuffers);
    return read.call(this, name);
  };
  try {
    await loadSafetensors(model, join(folder, 'm'), { names: (from) => ({ from, convert: transpose }) });
  } finally {
    SafetensorsModel.prototype.read = read;
  }
  // With what V8 has not collected yet; all of them are 160 MB.
  expect((most - before) / 1e6).toBeLessThan(80);
});
