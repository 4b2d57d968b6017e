import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DatasetError } from './errors.ts';
import { defineIdxDataset } from './idx-dataset.ts';
import { mnist } from './mnist.ts';
import { gzipped, tiny, tinyFiles, tinySpec } from './testing/catalogues.ts';

const IMAGES = 't10k-images-idx3-ubyte.gz';
const LABELS = 't10k-labels-idx1-ubyte.gz';
let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'eagre-datasets-'));
  folder = join(root, 'tiny');
  mkdirSync(folder);
  for (const [name, bytes] of Object.entries(tinyFiles)) writeFileSync(join(folder, name), bytes);
  vi.stubEnv('EAGRE_DATASETS', '');
  vi.stubEnv('EAGRE_CACHE', join(root, 'cache'));
  vi.stubEnv('KERAS_HOME', join(root, 'keras'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

async function failure(loading: Promise<unknown>): Promise<DatasetError> {
  const error = await loading.then(
    () => 'it loaded',
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(DatasetError);
  return error as DatasetError;
}

describe('where files come from', () => {
  it('a folder, as tuples', async () => {
    const [[xTrain, yTrain], [xTest, yTest]] = await tiny.loadData({ folder });
    expect([xTrain.shape, yTrain.shape]).toEqual([[3, 2, 2], [3]]);
    expect([...xTest.data]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect([...yTest.data]).toEqual([1, 0]);
    expect(await tiny.loadTrain({ folder })).toEqual([xTrain, yTrain]);
    expect(await tiny.loadTest({ folder })).toEqual([xTest, yTest]);
  });

  it('the test split needs only its own files', async () => {
    rmSync(join(folder, 'train-images-idx3-ubyte.gz'));
    expect((await tiny.loadTest({ folder }))[0].shape).toEqual([2, 2, 2]);
    expect((await failure(tiny.loadData({ folder }))).code).toBe('missing');
  });

  it('files without gzip, and with a dot in their names', async () => {
    writeFileSync(join(folder, 't10k-images-idx3-ubyte'), gunzipSync(tinyFiles[IMAGES]!));
    writeFileSync(join(folder, 't10k-labels.idx1-ubyte'), gunzipSync(tinyFiles[LABELS]!));
    rmSync(join(folder, IMAGES));
    rmSync(join(folder, LABELS));
    expect((await tiny.loadTest({ folder }))[1].shape).toEqual([2]);
  });

  it('$EAGRE_DATASETS, then the cache', async () => {
    vi.stubEnv('EAGRE_DATASETS', root);
    expect((await tiny.loadTest({ offline: true }))[1].shape).toEqual([2]);

    vi.stubEnv('EAGRE_DATASETS', join(root, 'nowhere'));
    const { message, code } = await failure(tiny.loadTest({ offline: true }));
    expect(code).toBe('missing');
    expect(message).toContain(join(root, 'cache', 'datasets', 'tiny', IMAGES));
    expect(message).toContain(join(root, 'nowhere', 'tiny'));

    mkdirSync(join(root, 'other', 'datasets', 'tiny'), { recursive: true });
    for (const name of [IMAGES, LABELS])
      writeFileSync(join(root, 'other', 'datasets', 'tiny', name), tinyFiles[name]!);
    expect((await tiny.loadTest({ offline: true, cacheDir: join(root, 'other') }))[1].shape).toEqual([2]);
    vi.stubEnv('EAGRE_CACHE', '');
    vi.stubEnv('XDG_CACHE_HOME', root);
    mkdirSync(join(root, 'eagre'));
    expect((await failure(tiny.loadTest({ offline: true }))).file).toBe(
      join(root, 'eagre', 'datasets', 'tiny', IMAGES),
    );
  });
});

describe('what Keras has downloaded', () => {
  it.each(['', 'tiny'])('is taken from its folder datasets/%s', async (below) => {
    const datasets = join(root, 'keras', 'datasets', below);
    mkdirSync(datasets, { recursive: true });
    for (const [name, bytes] of Object.entries(tinyFiles)) writeFileSync(join(datasets, name), bytes);
    expect((await tiny.loadTest({ offline: true }))[1].shape).toEqual([2]);
    // Another file of that name is not ours, checked or not.
    writeFileSync(join(datasets, LABELS), 'other');
    for (const verify of [true, false])
      expect(await failure(tiny.loadTest({ offline: true, verify }))).toMatchObject({ code: 'missing' });
  });
});

describe('files that are missing or wrong', () => {
  it('names the path and what to do', async () => {
    const error = await failure(
      mnist.loadTest({ folder }).then(() => mnist.loadTrain({ folder: join(root, 'none') })),
    );
    expect(error.code).toBe('corrupt');
    const missing = await failure(tiny.loadTest({ folder: join(root, 'none') }));
    expect(missing).toMatchObject({ code: 'missing', dataset: 'tiny', file: join(root, 'none', IMAGES) });
    expect(missing.message).toMatch(/there is no such file. Put it there .* leave out `folder`/);
    expect(existsSync(join(root, 'cache'))).toBe(false);
  });

  const wrong: [string, string, Uint8Array, boolean, RegExp][] = [
    [
      'a wrong checksum',
      IMAGES,
      gzipped([2, 2, 2], () => 9),
      true,
      /wrong content: expected sha256:.*, got sha256:/,
    ],
    ['a truncated file', IMAGES, tinyFiles[IMAGES]!.subarray(0, 20), false, /truncated gzip file/],
    [
      'a corrupt file',
      IMAGES,
      tinyFiles[IMAGES]!.map((byte, i) => (i === tinyFiles[IMAGES]!.length - 8 ? byte ^ 1 : byte)),
      false,
      /corrupt gzip file/,
    ],
    ['a wrong magic', IMAGES, new Uint8Array(24), false, /magic: expected .*, got 00 00 00 00/],
    ['a bomb', IMAGES, gzipped([1000, 1000], () => 0), false, /too large: expected at most 24 bytes/],
    [
      'another shape',
      IMAGES,
      gzipped([2, 4, 1], () => 0),
      false,
      /expected uint8 \[2, 2, 2\], got uint8 \[2, 4, 1\]/,
    ],
    [
      'another count of labels',
      LABELS,
      gzipped([1], () => 0),
      false,
      /expected uint8 \[2\], got uint8 \[1\]/,
    ],
    ['a label beyond the classes', LABELS, gzipped([2], () => 2), false, /label 0: expected below 2, got 2/],
  ];
  for (const [what, name, bytes, verify, message] of wrong) {
    it(`refuses ${what}`, async () => {
      writeFileSync(join(folder, name), bytes);
      const error = await failure(tiny.loadTest({ folder, verify }));
      expect(error.message).toMatch(message);
      expect(error).toMatchObject({ code: 'corrupt', file: join(folder, name) });
      // The user's own file is left as it is.
      expect([...readFileSync(join(folder, name))]).toEqual([...bytes]);
      expect(readdirSync(folder).length).toBe(4);
    });
  }

  it('takes a repacked file when told not to verify', async () => {
    const other = defineIdxDataset({ ...tinySpec, imageShape: [1, 4] });
    writeFileSync(
      join(folder, IMAGES),
      gzipped([2, 1, 4], (i) => i),
    );
    expect((await other.loadTest({ folder, verify: false }))[0].shape).toEqual([2, 1, 4]);
  });
});
