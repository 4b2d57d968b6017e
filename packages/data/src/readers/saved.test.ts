import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import '@eagre/backend-js';
import { EagreError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { ownMark } from '@eagre/formats/internal';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Dataset } from '../pipeline/dataset.ts';

let root: string;
let path: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'eagre-saved-'));
  path = join(root, 'd');
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

const numbers = (dataset: Iterable<Tensor>): number[] => [...dataset].map((t) => t.item());
const squares = (count: number): Dataset<Tensor> => Dataset.range(count).map((x) => x.mul(x));

describe('save and load', () => {
  it('keep elements, structure, spec and number', async () => {
    const dataset = Dataset.fromTensorSlices({
      x: [
        [1, 2],
        [3, 4],
      ],
      name: ['a', 'ü'],
      pair: [constant([1n, 2n]), constant([true, false])],
    });
    for (const compression of ['', 'GZIP', 'ZLIB'] as const) {
      await dataset.save(path, { compression });
      const loaded = Dataset.load<{ x: Tensor; name: Tensor; pair: [Tensor, Tensor] }>(path);
      expect(String(loaded.elementSpec)).toBe(String(dataset.elementSpec));
      expect(JSON.stringify(loaded.elementSpec)).toBe(JSON.stringify(dataset.elementSpec));
      expect(loaded.cardinality()).toBe(2);
      const [, second] = [...loaded];
      expect(second?.x.array()).toEqual([3, 4]);
      expect(second?.name.item()).toBe('ü');
      expect(second?.pair.map((t) => t.item())).toEqual([2, false]);
    }
    expect(readdirSync(root)).toEqual(['d']);
  });

  it('go on where they were, and keep windows', async () => {
    await Dataset.range(5).window(2).save(path);
    const windows = [...Dataset.load<Dataset<Tensor>>(path)].map(numbers);
    expect(windows).toEqual([[0, 1], [2, 3], [4]]);
    const first = Dataset.load<Dataset<Tensor>>(path).iterator();
    first.next();
    const second = Dataset.load<Dataset<Tensor>>(path).iterator();
    second.restoreState(first.saveState());
    expect([...second].map(numbers)).toEqual([[2, 3], [4]]);
  });

  it('leave what was there when something fails', async () => {
    await squares(3).save(path);
    const failing = Dataset.range(3).map(
      (x) => {
        if (x.item() === 2) throw new Error('no more');
        return x;
      },
      { runEagerly: true },
    );
    await expect(failing.save(path)).rejects.toThrow('no more');
    expect(numbers(Dataset.load<Tensor>(path))).toEqual([0, 1, 4]);
    expect(readdirSync(root)).toEqual(['d']);
    await squares(2).save(path);
    expect(numbers(Dataset.load<Tensor>(path))).toEqual([0, 1]);
    mkdirSync(join(root, 'mine'));
    writeFileSync(join(root, 'mine', 'x'), '');
    await expect(squares(2).save(join(root, 'mine'))).rejects.toThrow(/is not a saved dataset/);
    await expect(squares(2).save(join(root, 'mine', 'x'))).rejects.toThrow(/is not a saved dataset/);
    mkdirSync(join(root, 'empty'));
    await squares(2).save(join(root, 'empty'));
    expect(readdirSync(root).sort()).toEqual(['d', 'empty', 'mine']);
  });

  it('refuse what is missing or damaged', async () => {
    expect(() => Dataset.load(path)).toThrow(/no saved dataset/);
    await squares(3).save(path);
    const info = readFileSync(join(path, 'dataset.json'), 'utf8');
    for (const wrong of [
      '{',
      '{}',
      'null',
      info.replace('int64', 'int65'),
      info.replace('"count":3', '"count":-1'),
    ]) {
      writeFileSync(join(path, 'dataset.json'), wrong);
      expect(() => Dataset.load(path)).toThrow(EagreError);
    }
    writeFileSync(join(path, 'dataset.json'), info.replace('"count":3', '"count":4'));
    expect(() => numbers(Dataset.load<Tensor>(path))).toThrow(/holds 3 elements, but 4 were saved/);
    writeFileSync(join(path, 'dataset.json'), info);
    const good = readFileSync(join(path, 'elements.tfrecord'));
    for (let i = 0; i < good.length; i += 5) {
      const damaged = Uint8Array.from(good);
      damaged[i] = (damaged[i] as number) ^ 0x11;
      writeFileSync(join(path, 'elements.tfrecord'), damaged);
      expect(() => numbers(Dataset.load<Tensor>(path))).toThrow(EagreError);
    }
  });
});

describe('cache in a folder', () => {
  it('tells damage once', async () => {
    await squares(2).save(path);
    writeFileSync(join(path, 'dataset.json'), '{');
    const damaged = Dataset.range(2).cache(path);
    expect(() => numbers(damaged)).toThrow(/damaged/);
    expect(numbers(damaged.ignoreErrors())).toEqual([]);
  });

  it('makes elements once, also for other programs', () => {
    let made = 0;
    const dataset = () =>
      Dataset.range(4)
        .map(
          (x) => {
            made++;
            return x;
          },
          { runEagerly: true },
        )
        .cache(path);
    const one = dataset();
    expect([numbers(one), numbers(one), numbers(dataset())]).toEqual(new Array(3).fill([0, 1, 2, 3]));
    expect(made).toBe(4);
    rmSync(path, { recursive: true });
    expect(numbers(one)).toEqual([0, 1, 2, 3]);
    expect(made).toBe(8);
  });

  it('is also a snapshot, packed if asked for', () => {
    const first = squares(4).snapshot(path, { compression: 'GZIP' });
    expect([numbers(first), numbers(first)]).toEqual(new Array(2).fill([0, 1, 4, 9]));
    const elements = readFileSync(
      join(path, readdirSync(path).find((name) => !name.endsWith('.json')) as string),
    );
    expect([elements[0], elements[1]]).toEqual([0x1f, 0x8b]);
    // What is there is read, whatever the pipeline before it.
    expect(numbers(squares(9).snapshot(path))).toEqual([0, 1, 4, 9]);
    expect(() => squares(4).snapshot('')).toThrow(/folder/);
    expect(() => squares(4).snapshot(path, { compression: 'SNAPPY' as never })).toThrow(/GZIP/);
  });

  it('keeps nothing of passes that end early or fail', async () => {
    const dataset = squares(4).cache(path);
    for (const _ of dataset) break;
    expect(readdirSync(root)).toEqual([]);
    let fails = true;
    const source = Dataset.range(3).map(
      async (x) => {
        if (fails && x.item() === 1) throw new Error('once');
        return x;
      },
      { runEagerly: true },
    );
    const cached = source.cache(path).ignoreErrors();
    const found: number[] = [];
    for await (const x of cached) found.push(Number(x.item()));
    expect(found).toEqual([0, 2]);
    expect(existsSync(path)).toBe(false);
    fails = false;
    for await (const _ of cached) found.push(9);
    expect(existsSync(path)).toBe(true);
  });

  it('goes on where it was', () => {
    const make = () => squares(4).cache(path);
    for (const isSaved of [false, true]) {
      const first = make().iterator();
      first.next();
      const second = make().iterator();
      second.restoreState(first.saveState());
      first.close();
      expect(numbers(second)).toEqual([1, 4, 9]);
      expect(existsSync(path)).toBe(isSaved);
      if (!isSaved) numbers(make());
    }
  });
});

it('what a killed process has left is deleted, or put back, at the next save', async () => {
  const dead = spawnSync(process.execPath, ['-e', '']).pid.toString(36);
  const [machine] = ownMark().split('-');
  const path = join(root, 'd');
  await Dataset.range(3).save(path);
  const left = (where = machine): string => join(root, `.d.${where}-${dead}-x`);
  // It died between the two renames: the earlier dataset is there under another name only.
  renameSync(path, `${left()}.old`);
  mkdirSync(`${left()}.tmp`);
  const other = `${left('elsewhere')}.tmp`;
  mkdirSync(other);
  await expect(
    Dataset.range(2)
      .map(
        () => {
          throw new Error('no');
        },
        { runEagerly: true },
      )
      .save(path),
  ).rejects.toThrow();
  expect(readdirSync(root).sort()).toEqual([basename(other), 'd']);
  // Whoever reads it puts it back, too.
  renameSync(path, `${left()}.old`);
  expect([...Dataset.load(path)]).toHaveLength(3);
});
