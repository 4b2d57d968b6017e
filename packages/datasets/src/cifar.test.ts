import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { list } from './catalogue.ts';
import { checksumLike } from './checksum.ts';
import type { CifarSpec } from './cifar.ts';
import { cifar10, defineCifar10 } from './cifar10.ts';
import { cifar100, defineCifar100 } from './cifar100.ts';
import { mutateFile, sendFile, serve } from './testing/catalogues.ts';
import { tarOf } from './testing/tar.ts';

/** Images in the layout of the binary files: labels, then a plane per colour. */
function records(count: number, labels: (i: number) => number[], from: number): Uint8Array {
  return Uint8Array.from(
    Array.from({ length: count }, (_, i) => [
      ...labels(i),
      ...Array.from({ length: 3072 }, (_, p) => (from + i + (p % 1024) + 50 * Math.floor(p / 1024)) % 256),
    ]).flat(),
  );
}

const members = {
  'bin/': undefined,
  'bin/readme.html': new TextEncoder().encode('<html>'),
  'bin/a.bin': records(2, (i) => [i], 0),
  'bin/b.bin': records(2, () => [1], 7),
  'bin/test.bin': records(3, (i) => [i % 2], 9),
};
const archive = gzipSync(tarOf(members));
const spec: CifarSpec = {
  name: 'small',
  mirrors: [],
  archive: { name: 'small.tar.gz', checksum: checksumLike('sha256:', archive), bytes: archive.length },
  root: 'bin',
  train: { files: ['a.bin', 'b.bin'], count: 4 },
  test: { files: ['test.bin'], count: 3 },
  classes: [2],
};
const small = defineCifar10(spec, ['no', 'yes']);

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'eagre-cifar-'));
  vi.stubEnv('EAGRE_DATASETS', '');
  writeFileSync(join(root, 'small.tar.gz'), archive);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

describe('CIFAR', () => {
  it('is read from the archive, colours last', async () => {
    const [[x, y], [xTest, yTest]] = await small.loadData({ folder: root });
    expect([x.shape, y.shape, xTest.shape, yTest.shape]).toEqual([
      [4, 32, 32, 3],
      [4, 1],
      [3, 32, 32, 3],
      [3, 1],
    ]);
    expect([...y.data, ...yTest.data]).toEqual([0, 1, 1, 1, 0, 1, 0]);
    expect([...x.data.subarray(0, 6)]).toEqual([0, 50, 100, 1, 51, 101]);
    expect(x.data[2 * 3072]).toBe(7);
    expect((await small.loadTest({ folder: root }))[0]).toEqual(xTest);
  });

  it('is read from the unpacked folder, and from its files', async () => {
    const [expected] = await small.loadTest({ folder: root });
    rmSync(join(root, 'small.tar.gz'));
    mkdirSync(join(root, 'bin'));
    writeFileSync(join(root, 'bin', 'test.bin'), members['bin/test.bin']);
    expect((await small.loadTest({ folder: root }))[0]).toEqual(expected);
    expect((await small.loadTest({ folder: join(root, 'bin') }))[0]).toEqual(expected);
    await expect(small.loadTrain({ folder: root })).rejects.toMatchObject({ code: 'missing' });
  });

  it('is downloaded', async () => {
    const server = await serve((name, response, request) =>
      sendFile(name, response, request, { 'small.tar.gz': archive }),
    );
    try {
      const options = { cacheDir: root, progress: false, mirrors: [server.url] };
      expect((await small.loadTest(options))[1].shape).toEqual([3, 1]);
      expect(readFileSync(join(root, 'datasets', 'small', 'small.tar.gz'))).toEqual(archive);
      expect((await small.loadTrain({ ...options, offline: true }))[1].shape).toEqual([4, 1]);
      expect(server.requests.length).toBe(1);
    } finally {
      await server.close();
    }
  });

  it('has two labels in CIFAR-100', async () => {
    const both = records(2, (i) => [i, 50 + i], 0);
    writeFileSync(join(root, 'test.bin'), both);
    const hundred = defineCifar100(
      { ...spec, classes: [20, 100], test: { files: ['test.bin'], count: 2 } },
      [],
      [],
    );
    const folder = root;
    expect([...(await hundred.loadTest({ folder }))[1].data]).toEqual([50, 51]);
    const [x, y] = await hundred.loadTest({ folder, labelMode: 'coarse' });
    expect([...y.data]).toEqual([0, 1]);
    expect([...x.data.subarray(0, 3)]).toEqual([0, 50, 100]);
    await expect(hundred.loadTest({ folder, labelMode: 'medium' as 'fine' })).rejects.toThrow(/labelMode/);
    expect([cifar10.classNames.length, cifar100.classNames.length, cifar100.coarseClassNames.length]).toEqual(
      [10, 100, 20],
    );
    expect(cifar100.classNames).toEqual([...cifar100.classNames].sort());
  });
});

describe('archives that are wrong', () => {
  const put = (entries: Parameters<typeof tarOf>[0]): void =>
    writeFileSync(join(root, 'small.tar.gz'), gzipSync(tarOf(entries)));
  const load = () => small.loadTest({ folder: root, verify: false });

  it('are refused with their name', async () => {
    put({ 'bin/a.bin': members['bin/a.bin'] });
    await expect(load()).rejects.toThrow(`${join(root, 'small.tar.gz')}: members: expected bin/test.bin`);
    put({ 'bin/test.bin': members['bin/a.bin'] });
    await expect(load()).rejects.toThrow(/small.tar.gz\/bin\/test.bin: size: expected 9219 bytes, got 6146/);
    put({ 'bin/test.bin': records(3, () => [2], 0) });
    await expect(load()).rejects.toThrow(/label of image 0: expected below 2, got 2/);
    put({ 'bin/test.bin': 'link' });
    await expect(load()).rejects.toThrow(/is of type SymbolicLink/);
    writeFileSync(join(root, 'small.tar.gz'), gzipSync(new Uint8Array(2 ** 22)));
    await expect(load()).rejects.toThrow(/too large/);
    writeFileSync(join(root, 'small.tar.gz'), gzipSync(new Uint8Array(513)));
    await expect(load()).rejects.toThrow(/truncated tar/);
    await expect(small.loadTest({ folder: root })).rejects.toThrow(/wrong content/);
  });

  it('give a typed error or a valid result', async () => {
    const folder = mkdtempSync(join(root, 'tar-'));
    writeFileSync(join(folder, 'small.tar.gz'), tarOf(members));
    const load = (at: string) => small.loadTest({ folder: at, verify: false });
    const plain = await mutateFile('small.tar.gz', folder, 50, load);
    expect(plain.refused).toBe(50);
    writeFileSync(join(folder, 'small.tar.gz'), archive);
    expect((await mutateFile('small.tar.gz', folder, 150, load)).refused).toBeGreaterThan(50);
  });
});

describe('list', () => {
  it('tells every data set with its files', () => {
    const infos = list();
    expect(infos.map(({ name }) => name)).toEqual([
      'mnist',
      'fashion-mnist',
      'cifar10',
      'cifar100',
      'imdb',
      'reuters',
      'california-housing',
      'tinyshakespeare',
    ]);
    for (const { files, bytes, licence, homepage } of infos) {
      expect(files.reduce((total, file) => total + file.bytes, 0)).toBe(bytes);
      for (const { urls, checksum } of files) {
        expect(checksum).toMatch(/^(sha256:[0-9a-f]{64}|md5:[0-9a-f]{32})$/);
        for (const url of urls) expect(new URL(url).protocol).toMatch(/^https?:$/);
      }
      expect(licence.length > 0 && homepage.startsWith('http')).toBe(true);
    }
    expect(infos[2]!.files[0]!.urls).toEqual(['https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz']);
  });
});
