import {
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeNpy, encodeNpz, encodeSafetensors, FormatError, unzip } from '@eagre/formats';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { run as runCommand } from './index.ts';
import { contentsText, inspect } from './inspect.ts';
import { program } from './program.ts';
import { table } from './table.ts';

const packages = fileURLToPath(new URL('../..', import.meta.url));
const golden = (path: string): string => join(packages, path);
const array = { dtype: 'float32', shape: [2, 3], data: new Float32Array(6) } as const;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, bytes: Uint8Array | string): string => {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, bytes);
  return path;
};

describe('inspect', () => {
  test("TensorFlow's checkpoints, by prefix, index, data and folder", async () => {
    const prefix = golden('checkpoint/golden/plain-1');
    const contents = await inspect(prefix);
    expect(contents.format).toBe('checkpoint');
    expect(contents.items?.map((item) => item.name)).toContain('save_counter/.ATTRIBUTES/VARIABLE_VALUE');
    expect(contents.about).toEqual({ objects: expect.any(Number) });
    expect((await inspect(`${prefix}.index`)).items).toEqual(contents.items);
    expect((await inspect(`${prefix}.data-00000-of-00001`)).items).toEqual(contents.items);
    file('saved/checkpoint', `model_checkpoint_path: "../${join('x', '..', 'copy')}"\n`);
    await expect(inspect(join(folder, 'saved'))).rejects.toThrow(/no such file/);
  });

  test("TensorFlow's event files", async () => {
    const { tags } = await inspect(golden('summary/golden/v2.tfevents'));
    expect(new Set(tags?.map((tag) => tag.kind))).toEqual(
      new Set([
        'scalar',
        'histogram',
        'image',
        'audio',
        'text',
        'graph',
        'hparams',
        ...(tags ?? []).map((t) => t.kind),
      ]),
    );
    expect(tags?.every((tag) => tag.count > 0 && tag.firstStep <= tag.lastStep)).toBe(true);
  });

  test("Keras's models and weights", async () => {
    const kernel = { name: 'layers/dense/vars/0', dtype: 'float32', shape: [4, 3], bytes: 48 };
    const model = await inspect(golden('cli/golden/model.keras'));
    expect(model.about).toMatchObject({ class: 'Sequential', name: 'golden', keras: '3.15.1' });
    expect(model.items).toContainEqual(kernel);
    const weights = await inspect(golden('cli/golden/model.weights.h5'));
    expect(weights.items).toContainEqual(kernel);
    expect(
      weights.items?.map((item) => item.name).filter((name) => name.startsWith('optimizer/')),
    ).toHaveLength(10);
  });

  test('arrays', async () => {
    const item = { name: 'a', dtype: 'float32', shape: [2, 3], bytes: 24 };
    const { items, about } = await inspect(
      file('a.safetensors', encodeSafetensors({ a: array }, { made: 'here' })),
    );
    expect([items, about]).toEqual([[{ ...item, dtype: 'F32' }], { made: 'here' }]);
    expect((await inspect(file('a.npz', encodeNpz({ a: array })))).items).toEqual([item]);
    expect((await inspect(file('a.npy', encodeNpy(array)))).items).toEqual([{ ...item, name: '' }]);
  });

  test('models of ONNX', async () => {
    const models = new Map(
      unzip(new Uint8Array(readFileSync(golden('onnx/golden/models.zip')))).map((f) => [f.name, f.bytes]),
    );
    const bytes = models.get('torch-mlp.onnx');
    expect(bytes).toBeDefined();
    const { format, items, about } = await inspect(file('mlp.onnx', bytes as Uint8Array));
    expect(format).toBe('onnx');
    expect(items?.map(({ name, dtype, shape, bytes }) => [name, dtype, shape, bytes])).toEqual([
      ['0.weight', 'float32', [8, 4], 128],
      ['0.bias', 'float32', [8], 32],
      ['3.weight', 'float32', [3, 8], 96],
      ['3.bias', 'float32', [3], 12],
    ]);
    expect(about).toEqual({
      producer: 'pytorch 2.15.0',
      opsets: { 'ai.onnx': 17 },
      inputs: ['x0 float32 [batch, 4]'],
      outputs: ['8 float32 [batch, 3]'],
      ops: { Gemm: 2, Relu: 1, Softmax: 1 },
    });
  });

  test('what Eagre itself cannot hold is listed all the same', async () => {
    const { items } = await inspect(golden('cli/golden/kinds.h5'));
    expect(items?.map(({ name, dtype, shape, bytes }) => [name, dtype, shape, bytes])).toEqual([
      ['big_endian', 'float32', [3], 12],
      ['bytes', 'bytes', [2], 4],
      ['fields', 'record', [2], 16],
      ['flags', 'bool', [2], 2],
      ['group/int64', 'int64', [10], 80],
      ['half', 'float16', [2, 2], 8],
      ['text', 'text', [], 0],
    ]);
    const npy = (descr: string, bytes: number): Uint8Array => {
      const header = `{'descr': ${descr}, 'fortran_order': False, 'shape': (2,), }`;
      const start = [0x93, ...Buffer.from('NUMPY'), 1, 0, header.length, 0];
      return Uint8Array.from([...start, ...Buffer.from(header), ...new Uint8Array(bytes)]);
    };
    const kinds = {
      "'<i2'": ['int16', 4],
      "'<U3'": ['text', 24],
      "'|O'": ['object', 9],
      "[('a', '<f4')]": ['fields', 8],
    } as const;
    for (const [descr, [dtype, bytes]] of Object.entries(kinds))
      expect((await inspect(file('a.npy', npy(descr, bytes)))).items).toEqual([
        { name: '', dtype, shape: [2], bytes },
      ]);
  });

  test('of large files only the beginning is read', async () => {
    const path = file('large.safetensors', '');
    const handle = openSync(path, 'w');
    const size = 5e9;
    const header = Buffer.from(
      JSON.stringify({ w: { dtype: 'U8', shape: [size], data_offsets: [0, size] } }),
    );
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    writeSync(handle, Buffer.concat([length, header]));
    ftruncateSync(handle, 8 + header.length + size);
    closeSync(handle);
    expect((await inspect(path)).items).toEqual([{ name: 'w', dtype: 'U8', shape: [size], bytes: size }]);
    rmSync(path);
  });

  test('folders and files that name a checkpoint', async () => {
    const prefix = golden('checkpoint/golden/plain-1');
    for (const end of ['index', 'data-00000-of-00001'])
      cpSync(`${prefix}.${end}`, join(folder, `model/variables/variables.${end}`), { recursive: true });
    expect((await inspect(join(folder, 'model'))).items).toEqual((await inspect(prefix)).items);
    for (const end of ['index', 'data-00000-of-00001'])
      cpSync(`${prefix}.${end}`, join(folder, `newest/c-1.${end}`), { recursive: true });
    const named = file('newest/checkpoint', 'model_checkpoint_path: "c-1"\n');
    expect((await inspect(named)).path).toBe(join(folder, 'newest/c-1'));
  });

  test('mutated HDF5 is listed or a typed error', async () => {
    const original = readFileSync(golden('cli/golden/model.weights.h5'));
    const path = join(folder, 'mutated.h5');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(original.length - 1), fc.integer({ min: 0, max: 255 })), {
          minLength: 1,
          maxLength: 8,
        }),
        fc.option(fc.nat(original.length), { freq: 5 }),
        async (changes, end) => {
          const bytes = Buffer.from(original);
          for (const [at, byte] of changes) bytes[at] = byte;
          writeFileSync(path, bytes.subarray(0, end ?? undefined));
          try {
            expect((await inspect(path)).items).toBeInstanceOf(Array);
          } catch (error) {
            expect(error).toBeInstanceOf(FormatError);
          }
        },
      ),
      { numRuns: Number(process.env['EAGRE_FUZZ_RUNS'] ?? 500) },
    );
  });

  test('for people', async () => {
    const text = contentsText(await inspect(golden('cli/golden/model.weights.h5')));
    expect(text).toMatch(/layers\/dense\/vars\/0 +float32 +\[4, 3\] +48\n/);
    expect(text).toMatch(/14 tensors, \d+ values, [\d.]+ B$/);
  });

  test('what is damaged, missing, or something else', async () => {
    await expect(inspect(file('b.h5', new Uint8Array(2000)))).rejects.toThrow(FormatError);
    await expect(inspect(file('b.keras', 'no zip'))).rejects.toThrow(FormatError);
    await expect(inspect(file('b.safetensors', 'short'))).rejects.toThrow(FormatError);
    await expect(inspect(file('b.txt', 'text'))).rejects.toThrow(/is not one of/);
    await expect(inspect(join(folder, 'none'))).rejects.toThrow(/there is no/);
    await expect(inspect('')).rejects.toThrow(/expected a path/);
    await expect(inspect(file('b.onnx', ''))).rejects.toThrow(/no graph/);
    await expect(inspect(file('b.onnx', new Uint8Array([255, 255])))).rejects.toThrow(FormatError);
    await expect(inspect(file('empty/readme', '').slice(0, -'/readme'.length))).rejects.toThrow(/neither/);
  });
});

test('tables line up, and hold nothing that a terminal would obey', () => {
  expect(
    table(
      ['name', 'n'],
      [
        ['日本', 1],
        ['e\u0301', 22],
        ['\u001b[31m', 3],
      ],
    ),
  ).toBe(['name         n', '日本         1', 'e\u0301           22', '\\u001b[31m   3'].join('\n'));
});

describe('the process', () => {
  test('prints names of any kind so that no terminal obeys them', async () => {
    const name = 'w\u001b]0;x\u0007\u009b31m\n';
    const path = file('evil.safetensors', encodeSafetensors({ [name]: array }, { '\u009b': '\u001b[2J' }));
    let text = '';
    const out = vi.spyOn(process.stdout, 'write').mockImplementation((part) => Boolean((text += part)));
    const err = vi.spyOn(process.stderr, 'write').mockImplementation((part) => Boolean((text += part)));
    try {
      expect(await runCommand(['inspect', path], '1')).toBe(0);
      expect(await runCommand(['inspect', '--json', path], '1')).toBe(0);
      expect(JSON.parse(text.slice(text.indexOf('{\n'))).items[0].name).toBe(name);
      expect(await runCommand(['inspect', join(folder, 'a\u001b[31m\u009b')], '1')).toBe(1);
      expect(await runCommand(['inspect', file('\u001b[2Jbad.npz', 'x')], '1')).toBe(1);
    } finally {
      out.mockRestore();
      err.mockRestore();
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(text).toContain('a\\u001b[31m\\u009b');
  });

  test('ends quietly when nobody reads its output', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    const listeners = (): number => process.stdout.listenerCount('error');
    try {
      expect(await runCommand(['datasets', 'list'], '1.2.3')).toBe(0);
      const before = listeners();
      expect(await runCommand(['datasets', 'list'], '1.2.3')).toBe(0);
      expect(listeners()).toBe(before);
    } finally {
      write.mockRestore();
    }
    const exit = vi.spyOn(process, 'exit').mockImplementation(((code: number) => {
      throw new Error(`ended with ${code}`);
    }) as never);
    try {
      const error = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
      expect(() => process.stdout.emit('error', error)).toThrow('ended with 0');
    } finally {
      exit.mockRestore();
    }
  });

  test('goes on when the command line is wrong, or asks for help', async () => {
    const exit = vi.spyOn(process, 'exit');
    let text = '';
    const out = vi.spyOn(process.stdout, 'write').mockImplementation((part) => Boolean((text += part)));
    const err = vi.spyOn(process.stderr, 'write').mockImplementation((part) => Boolean((text += part)));
    const codes: number[] = [];
    try {
      for (const args of [['--version'], ['inspect', '--help'], ['nonsense'], ['serve', '--port', 'x'], []])
        codes.push(await runCommand(args, '1.2.3'));
      expect(exit).not.toHaveBeenCalled();
    } finally {
      for (const mock of [exit, out, err]) mock.mockRestore();
    }
    expect(codes).toEqual([0, 0, 1, 1, 1]);
    expect(text).toMatch(/^1\.2\.3\nUsage: eagre inspect/);
    expect(text).toMatch(/\neagre: unknown command 'nonsense'\neagre: option '--port <number>' .*\nUsage: /);
  });

  test('tells errors in one line', async () => {
    const write = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
    expect(await runCommand(['inspect', join(folder, 'none')], '1.2.3')).toBe(1);
    expect(write.mock.calls.map(([text]) => text)).toEqual([`eagre: there is no ${join(folder, 'none')}\n`]);
    write.mockRestore();
  });
});

describe('the command', () => {
  const run = async (...args: string[]): Promise<string> => {
    let text = '';
    const command = program('1.2.3', { write: (more) => (text += more) });
    for (const each of [command, ...command.commands, ...command.commands.flatMap((c) => c.commands)])
      each.configureOutput({ writeErr: () => {} });
    await command.parseAsync(args, { from: 'user' });
    return text;
  };

  test('inspect', async () => {
    const json = JSON.parse(await run('inspect', '--json', golden('cli/golden/model.weights.h5')));
    expect(json.format).toBe('hdf5');
    expect(await run('inspect', golden('checkpoint/golden/plain-1'))).toMatch(/: checkpoint\nobjects: \d+\n/);
  });

  test('datasets list', async () => {
    const text = await run('datasets', 'list');
    expect(text).toMatch(/^name +download +licence +what it holds\nmnist /);
    expect(
      JSON.parse(await run('datasets', 'list', '--json')).map((d: { name: string }) => d.name),
    ).toContain('cifar10');
  });

  test('wrong arguments', async () => {
    await expect(run('board')).rejects.toThrow(/--logdir/);
    await expect(run('board', '--logdir', '')).rejects.toThrow(/expected a folder/);
    await expect(run('board', '.')).rejects.toThrow();
    await expect(run('board', '--logdir', '.', '--port', 'x')).rejects.toThrow(/0 to 65535/);
    await expect(run('board', '--logdir', join(folder, 'none'))).rejects.toThrow(/no folder/);
    await expect(run('datasets', 'download', 'none')).rejects.toThrow(/there is no data set 'none'/);
    await expect(run('nonsense')).rejects.toThrow();
  });
});
