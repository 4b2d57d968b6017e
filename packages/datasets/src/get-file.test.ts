import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { InvalidArgumentError } from '@eagre/backend';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { downloadFiles, download as downloadNamed } from './catalogue.ts';
import { checksumLike } from './checksum.ts';
import { type GetFileOptions, getFile } from './get-file.ts';
import { sendFile, serve, type TestServer } from './testing/catalogues.ts';
import { tarOf } from './testing/tar.ts';

/** A ZIP archive of one stored file `d/a.txt` that holds `hi`, made by Python's zipfile. */
const ZIP = Buffer.from(
  'UEsDBBQAAAAAAAAAIQCsKpPYAgAAAAIAAAAHAAAAZC9hLnR4dGhpUEsBAhQDFAAAAAAAAAAhAKwqk9gCAAAAAgAAAAcAAAAAAAAAAAAAAIABAAAAAGQvYS50eHRQSwUGAAAAAAEAAQA1AAAAJwAAAAAA',
  'base64',
);
const text = new TextEncoder().encode('hello');
const files: Record<string, Uint8Array> = {
  'a.txt': text,
  'b.tar.gz': gzipSync(tarOf({ 'd/': undefined, 'd/a.txt': text, 'e/f/g.txt': text })),
  'c.zip': ZIP,
  'evil.tar': tarOf({ '../out.txt': text }),
  'link.tar': tarOf({ 'd/link': '/etc/passwd' }),
};
let root: string;
let server: TestServer;
let options: GetFileOptions;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'eagre-getfile-'));
  options = { cacheDir: root, progress: false, retries: 0 };
  server = await serve((name, response, request) => sendFile(name.split('?')[0]!, response, request, files));
});
afterEach(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

describe('getFile', () => {
  it('downloads once, into a folder of the cache', async () => {
    const path = await getFile(`${server.url}a.txt?x=1`, options);
    expect(path).toBe(join(root, 'datasets', 'a.txt'));
    expect(readFileSync(path, 'utf8')).toBe('hello');
    await getFile(`${server.url}a.txt`, { ...options, offline: true });
    expect(server.requests.length).toBe(1);
    await getFile(`${server.url}a.txt`, { ...options, forceDownload: true });
    expect(server.requests.length).toBe(2);
    const other = await getFile(`${server.url}a.txt`, {
      ...options,
      fname: 'x/b.txt',
      cacheSubdir: 'models',
    });
    expect(other).toBe(join(root, 'models', 'x', 'b.txt'));
  });

  it('compares checksums, also of what is here', async () => {
    const fileHash = checksumLike('sha256:', text);
    const path = await getFile(`${server.url}a.txt`, { ...options, fileHash });
    writeFileSync(path, 'other');
    await expect(
      getFile(`${server.url}a.txt`, { ...options, fileHash, offline: true }),
    ).rejects.toMatchObject({
      code: 'missing',
    });
    await getFile(`${server.url}a.txt`, { ...options, fileHash });
    expect(readFileSync(path, 'utf8')).toBe('hello');
    const wrong = getFile(`${server.url}a.txt`, { ...options, fileHash: 'md5:00', forceDownload: true });
    await expect(wrong).rejects.toThrow(/wrong content, expected md5:00/);
    expect(readFileSync(path, 'utf8')).toBe('hello');
  });

  it('does not resume without a checksum, and stops at maxBytes', async () => {
    writeFileSync(join(root, 'part'), '');
    await getFile(`${server.url}a.txt`, options);
    writeFileSync(join(root, 'datasets', 'a.txt.part'), 'he');
    await getFile(`${server.url}a.txt`, { ...options, forceDownload: true });
    expect(server.requests[1]!.range).toBeUndefined();
    const small = getFile(`${server.url}a.txt`, { ...options, forceDownload: true, maxBytes: 4 });
    await expect(small).rejects.toThrow(/larger than the file can be \(4 bytes\)/);
  });

  it('unpacks archives beside them', async () => {
    const tar = await getFile(`${server.url}b.tar.gz`, { ...options, extract: true });
    expect(tar).toBe(join(root, 'datasets', 'b.tar.gz_extracted'));
    expect(readFileSync(join(tar, 'e', 'f', 'g.txt'), 'utf8')).toBe('hello');
    const zip = await getFile(`${server.url}c.zip`, { ...options, extract: true });
    expect(readFileSync(join(zip, 'd', 'a.txt'), 'utf8')).toBe('hi');
    await getFile(`${server.url}b.tar.gz`, { ...options, extract: true, offline: true });
    expect(readdirSync(join(root, 'datasets')).filter((name) => !name.includes('.'))).toEqual([]);
  });

  it('refuses archives that lead elsewhere or hold links', async () => {
    const evil = getFile(`${server.url}evil.tar`, { ...options, extract: true });
    await expect(evil).rejects.toThrow(/"\.\.\/out.txt" leads out of the archive's folder/);
    expect(existsSync(join(root, 'out.txt'))).toBe(false);
    await expect(getFile(`${server.url}link.tar`, { ...options, extract: true })).rejects.toThrow(
      /SymbolicLink/,
    );
    const text = getFile(`${server.url}a.txt`, { ...options, extract: true });
    await expect(text).rejects.toMatchObject({ code: 'corrupt' });
  });

  it('refuses names that lead out of the cache', async () => {
    for (const fname of ['../a', '/a', 'C:\\a', 'a\\b', ''])
      await expect(getFile(`${server.url}a.txt`, { ...options, fname })).rejects.toThrow(
        InvalidArgumentError,
      );
    await expect(getFile(server.url, options)).rejects.toThrow(/fname/);
    expect(server.requests).toEqual([]);
  });
});

describe('download', () => {
  it('gets all files of a data set, and names those that there are', async () => {
    const remote = (name: string) => ({
      name,
      checksum: checksumLike('md5:', files[name]!),
      bytes: files[name]!.length,
    });
    const dataset = { name: 'two', mirrors: [server.url], files: [remote('a.txt'), remote('c.zip')] };
    const folder = join(root, 'datasets', 'two');
    expect(await downloadFiles(dataset, options)).toEqual([join(folder, 'a.txt'), join(folder, 'c.zip')]);
    await expect(downloadNamed('mnist2')).rejects.toThrow(
      /no data set 'mnist2'; there are mnist, fashion-mnist/,
    );
  });
});
