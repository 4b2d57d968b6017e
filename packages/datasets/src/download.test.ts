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
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DatasetError } from './errors.ts';
import { defineIdxDataset } from './idx-dataset.ts';
import type { DownloadProgress, LoadOptions } from './options.ts';
import { sendFile, serve, type TestServer, tiny, tinyFiles, tinySpec } from './testing/catalogues.ts';

const IMAGES = 't10k-images-idx3-ubyte.gz';
const LABELS = 't10k-labels-idx1-ubyte.gz';
let root: string;
let cache: string;
let options: LoadOptions;
const servers: TestServer[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'eagre-download-'));
  cache = join(root, 'datasets', 'tiny');
  options = { cacheDir: root, progress: false, retries: 0 };
  vi.stubEnv('EAGRE_DATASETS', '');
  vi.stubEnv('KERAS_HOME', join(root, 'keras'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) await server.close();
  rmSync(root, { recursive: true });
});

async function start(answer: Parameters<typeof serve>[0]): Promise<TestServer> {
  const server = await serve(answer);
  servers.push(server);
  return server;
}

async function failure(loading: Promise<unknown>): Promise<DatasetError> {
  const error = await loading.then(
    () => 'it loaded',
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(DatasetError);
  return error as DatasetError;
}

describe('a download', () => {
  it('is verified and kept, and not repeated', async () => {
    const server = await start(sendFile);
    const mirrors = [server.url];
    const [, [xTest]] = await tiny.loadData({ ...options, mirrors });
    expect([...xTest.data]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(readdirSync(cache).sort()).toEqual(Object.keys(tinyFiles).sort());
    expect([...readFileSync(join(cache, IMAGES))]).toEqual([...tinyFiles[IMAGES]!]);
    expect(server.requests.length).toBe(4);
    await tiny.loadData({ ...options, mirrors });
    await tiny.loadTest({ ...options, offline: true });
    expect(server.requests.length).toBe(4);
  });

  it('fetches only the files of the split', async () => {
    const server = await start(sendFile);
    await tiny.loadTest({ ...options, mirrors: [server.url] });
    expect(server.requests.map(({ name }) => name)).toEqual([IMAGES, LABELS]);
  });

  it('replaces a cached file that was damaged', async () => {
    const server = await start(sendFile);
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, IMAGES), tinyFiles[IMAGES]!.subarray(0, 20));
    writeFileSync(join(cache, LABELS), tinyFiles[LABELS]!);
    expect((await failure(tiny.loadTest({ ...options, offline: true }))).code).toBe('corrupt');
    await tiny.loadTest({ ...options, mirrors: [server.url] });
    expect(server.requests.map(({ name }) => name)).toEqual([IMAGES]);
    writeFileSync(join(cache, LABELS), '');
    await tiny.loadTest({ ...options, mirrors: [server.url] });
    expect(server.requests.map(({ name }) => name)).toEqual([IMAGES, LABELS]);
  });

  it('tells its progress', async () => {
    const server = await start(sendFile);
    const seen: DownloadProgress[] = [];
    await tiny.loadTest({ ...options, mirrors: [server.url], progress: (progress) => seen.push(progress) });
    const total = tinyFiles[IMAGES]!.length;
    expect(seen[0]).toEqual({ dataset: 'tiny', file: IMAGES, url: server.url + IMAGES, received: 0, total });
    expect(seen.findLast(({ file }) => file === IMAGES)!.received).toBe(total);
  });

  it('shows one line per file where there is no terminal', async () => {
    const server = await start(sendFile);
    const lines: unknown[] = [];
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => lines.push(text) > 0);
    const wasTerminal = process.stderr.isTTY;
    process.stderr.isTTY = false;
    await tiny.loadTest({ ...options, mirrors: [server.url], progress: true });
    process.stderr.isTTY = wasTerminal;
    write.mockRestore();
    expect(lines).toEqual(
      [IMAGES, LABELS].map(
        (name) => `Downloading ${server.url}${name} (${(tinyFiles[name]!.length / 1000).toFixed(1)} kB)\n`,
      ),
    );
  });
});

describe('an interrupted download', () => {
  const cut = 10;

  it('is resumed where it stopped', async () => {
    const breaking = await start((name, response) => {
      response.writeHead(200, { 'content-length': tinyFiles[name]!.length });
      response.write(tinyFiles[name]!.subarray(0, cut), () => setTimeout(() => response.destroy(), 20));
    });
    const error = await failure(tiny.loadTest({ ...options, mirrors: [breaking.url] }));
    expect(error.code).toBe('download');
    expect(readdirSync(cache)).toEqual([`${IMAGES}.part`]);
    expect(readFileSync(join(cache, `${IMAGES}.part`)).length).toBe(cut);

    const server = await start(sendFile);
    await tiny.loadTest({ ...options, mirrors: [server.url] });
    expect(server.requests[0]).toEqual({ name: IMAGES, range: `bytes=${cut}-` });
    expect(readdirSync(cache).sort()).toEqual([IMAGES, LABELS]);
    expect([...readFileSync(join(cache, IMAGES))]).toEqual([...tinyFiles[IMAGES]!]);
  });

  it('goes on within one call, from another mirror', async () => {
    const breaking = await start((name, response) => {
      response.writeHead(200, { 'content-length': tinyFiles[name]!.length });
      response.write(tinyFiles[name]!.subarray(0, cut), () => setTimeout(() => response.destroy(), 20));
    });
    const server = await start(sendFile);
    await tiny.loadTest({ ...options, mirrors: [breaking.url, server.url] });
    expect(server.requests[0]!.range).toBe(`bytes=${cut}-`);
  });

  it('starts anew where ranges are not served', async () => {
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, `${IMAGES}.part`), 'something else that is not at all the same');
    const server = await start((name, response) => response.end(tinyFiles[name]));
    await tiny.loadTest({ ...options, mirrors: [server.url] });
    expect(server.requests.length).toBe(2);
  });

  it('starts anew when what was there is wrong or too long', async () => {
    for (const part of ['wrong', 'x'.repeat(500)]) {
      rmSync(cache, { recursive: true, force: true });
      mkdirSync(cache, { recursive: true });
      writeFileSync(join(cache, `${IMAGES}.part`), part);
      const server = await start(sendFile);
      await tiny.loadTest({ ...options, mirrors: [server.url], retries: 1 });
      expect(server.requests.map(({ range }) => range)).toEqual([
        `bytes=${part.length}-`,
        undefined,
        undefined,
      ]);
      expect(readdirSync(cache).sort()).toEqual([IMAGES, LABELS]);
    }
  });

  it('refuses a range that it did not ask for', async () => {
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, `${IMAGES}.part`), tinyFiles[IMAGES]!.subarray(0, cut));
    const server = await start((_, response) => {
      response.writeHead(206, { 'content-range': 'bytes 3-9/50' }).end('1234567');
    });
    const error = await failure(tiny.loadTest({ ...options, mirrors: [server.url] }));
    expect(error.message).toContain('another range than asked for');
    expect(readdirSync(cache)).toEqual([]);
  });
});

describe('mirrors that fail', () => {
  it('are left for the next: absent file, wrong content, no connection', async () => {
    const absent = await start((_, response) => response.writeHead(404).end());
    const portal = await start((_, response) => response.end('<html>Log in</html>'));
    const gone = await start(sendFile);
    await gone.close();
    const good = await start(sendFile);
    const mirrors = [absent.url, portal.url, gone.url, good.url];
    const [images] = await tiny.loadTest({ ...options, mirrors });
    expect(images.shape).toEqual([2, 2, 2]);
    expect([absent.requests.length, portal.requests.length, good.requests.length]).toEqual([2, 2, 2]);
  });

  it('are tried again when the failure may pass', async () => {
    let calls = 0;
    const server = await start((name, response, request) => {
      if (++calls === 1) response.writeHead(503).end();
      else sendFile(name, response, request);
    });
    await tiny.loadTest({ ...options, mirrors: [server.url], retries: 1 });
    expect(server.requests.length).toBe(3);
  });

  it('are all named when none is left, with what to do; nothing is kept', async () => {
    const absent = await start((_, response) => response.writeHead(404).end());
    const wrong = await start((_, response) => response.end('wrong'));
    const gone = await start(sendFile);
    await gone.close();
    const error = await failure(tiny.loadTest({ ...options, mirrors: [absent.url, wrong.url, gone.url] }));
    expect(error).toMatchObject({ code: 'download', dataset: 'tiny', file: join(cache, IMAGES) });
    expect(error.message).toContain(`${absent.url}${IMAGES}: HTTP 404`);
    expect(error.message).toMatch(/wrong content, expected sha256:.*, got sha256:/);
    expect(error.message).toContain('ECONNREFUSED');
    expect(error.message).toContain(`Put ${IMAGES} into a folder`);
    expect(readdirSync(cache)).toEqual([]);
    expect((await failure(tiny.loadTest(options))).message).toContain('there is no mirror');
  });

  it('are given up when they fall silent', async () => {
    const silent = await start(() => {});
    const stalling = await start((name, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write(tinyFiles[name]!.subarray(0, 5));
    });
    const mirrors = [silent.url, stalling.url];
    const { message } = await failure(tiny.loadTest({ ...options, mirrors, timeoutMs: 100 }));
    expect(message.match(/no answer in time/g)).toHaveLength(2);
  });

  it('may send a little more than the size that is noted', async () => {
    const { images } = tinySpec.test;
    const small = defineIdxDataset({
      ...tinySpec,
      name: 'small',
      test: { ...tinySpec.test, images: { ...images, bytes: 1 } },
    });
    const server = await start(sendFile);
    expect((await small.loadTest({ ...options, mirrors: [server.url] }))[1].shape).toEqual([2]);
  });

  it('cannot fill the memory', async () => {
    const endless = await start((_, response) => {
      const block = new Uint8Array(2 ** 16);
      const more = (): void => void response.write(block, (error) => error || more());
      more();
    });
    const frank = await start((_, response) =>
      response.writeHead(200, { 'content-length': 1e12 }).flushHeaders(),
    );
    const { message } = await failure(tiny.loadTest({ ...options, mirrors: [endless.url, frank.url] }));
    expect(message.match(/larger than the file can be/g)).toHaveLength(2);
    expect(readdirSync(cache)).toEqual([]);
  });
});

describe('what ends a download', () => {
  it('a signal, with its reason', async () => {
    const silent = await start(() => {});
    const reason = new Error('enough');
    const controller = new AbortController();
    const loading = tiny.loadTest({ ...options, mirrors: [silent.url], signal: controller.signal });
    setTimeout(() => controller.abort(reason), 50);
    await expect(loading).rejects.toBe(reason);
  });

  it('a signal between two attempts', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const failing = await start((_, response) => {
      response.writeHead(500).end();
      setTimeout(() => controller.abort(reason), 50);
    });
    const { signal } = controller;
    const loading = tiny.loadTest({ ...options, mirrors: [failing.url], retries: 9, signal });
    await expect(loading).rejects.toBe(reason);
    expect(failing.requests.length).toBe(1);
  });

  it('a cache that cannot be written', async () => {
    const server = await start(sendFile);
    const file = join(root, 'file');
    writeFileSync(file, '');
    const error = await failure(tiny.loadTest({ ...options, mirrors: [server.url], cacheDir: file }));
    expect(error.code).toBe('cache');
    expect(error.message).toContain('$EAGRE_CACHE');
    expect(existsSync(cache)).toBe(false);
  });
});
