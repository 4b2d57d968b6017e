import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeNpy, encodeNpz, encodeSafetensors, FormatError } from '@eagre/formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentsText, inspect } from './inspect.ts';
import { program } from './program.ts';

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

  test('for people', async () => {
    const text = contentsText(await inspect(golden('cli/golden/model.weights.h5')));
    expect(text).toMatch(/layers\/dense\/vars\/0 +float32 +\[4, 3\] +48\n/);
    expect(text).toMatch(/14 tensors, \d+ values, [\d.]+ B$/);
  });

  test('what is damaged, missing, or something else', async () => {
    await expect(inspect(file('b.h5', new Uint8Array(2000)))).rejects.toThrow(FormatError);
    await expect(inspect(file('b.keras', 'no zip'))).rejects.toThrow(FormatError);
    await expect(inspect(file('b.safetensors', 'short'))).rejects.toThrow(FormatError);
    await expect(inspect(file('b.txt', 'text'))).rejects.toThrow(/is none of/);
    await expect(inspect(join(folder, 'none'))).rejects.toThrow(/there is no/);
    await expect(inspect(file('empty/readme', '').slice(0, -'/readme'.length))).rejects.toThrow(/neither/);
  });
});

describe('the command', () => {
  const run = async (...args: string[]): Promise<string> => {
    let text = '';
    const command = program('1.2.3', { write: (more) => (text += more) });
    for (const each of [command, ...command.commands, ...command.commands.flatMap((c) => c.commands)])
      each.exitOverride().configureOutput({ writeErr: () => {} });
    await command.parseAsync(args, { from: 'user' });
    return text;
  };

  test('inspect', async () => {
    const json = JSON.parse(await run('inspect', '--json', golden('cli/golden/model.weights.h5')));
    expect(json.format).toBe('weights.h5');
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
    await expect(run('board', '--logdir', '.', '--port', 'x')).rejects.toThrow(/0 to 65535/);
    await expect(run('board', '--logdir', join(folder, 'none'))).rejects.toThrow(/no folder/);
    await expect(run('datasets', 'download', 'none')).rejects.toThrow(/there is no data set "none"/);
    await expect(run('nonsense')).rejects.toThrow();
  });
});
