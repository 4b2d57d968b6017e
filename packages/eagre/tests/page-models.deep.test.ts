// Models in what pages keep, in headless Chromium: databases, local storage, files, downloads, servers and their cache.
import { readFileSync } from 'node:fs';
import { browserPath, openPage, type TestPage } from '@eagre/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const program = `
import * as tf from 'eagre';
globalThis.tf = tf;
globalThis.x = tf.constant([[1, 2, 3]]);
globalThis.newModel = () => new tf.Sequential([new tf.layers.Dense(2, { inputShape: [3], kernelInitializer: 'glorotUniform' })]);
globalThis.valuesOf = (model) => model.invoke(x).array().join();
globalThis.told = async (call) => {
  try {
    return ['nothing', await call()];
  } catch ({ name, message }) {
    return [name, message];
  }
};
`;

describe.skipIf(browserPath === undefined)('models in a page', () => {
  let open: TestPage;
  let requests = 0;
  let posted: Buffer | undefined;
  beforeAll(async () => {
    open = await openPage(program, {
      routes: {
        '/kept.keras': async (request, response) => {
          requests++;
          if (request.method === 'POST') {
            const parts: Buffer[] = [];
            for await (const part of request) parts.push(part as Buffer);
            posted = Buffer.concat(parts);
          }
          response.writeHead(posted === undefined ? 404 : 200, {
            'content-type': 'application/octet-stream',
          });
          response.end(request.method === 'POST' ? '' : posted);
        },
        '/page': (_, response) => {
          response.writeHead(200, { 'content-type': 'text/html' });
          response.end('<!doctype html>');
        },
        '/moved': (_, response) => {
          response.writeHead(307, { location: '/kept.keras' });
          response.end();
        },
      },
      context: { acceptDownloads: true },
    });
  });
  afterAll(async () => {
    await open?.close();
    expect(open?.problems).toEqual([]);
  });

  test.each([
    ['indexeddb://my model', 'indexeddb://b'],
    ['localstorage://a/b', 'localstorage://c'],
    ['opfs://models/a.keras', 'opfs://b.h5'],
  ])('are kept, listed, copied, moved and deleted: %s', async (url, other) => {
    const read = await open.run<Record<string, unknown>>(`
      const [url, other] = ${JSON.stringify([url, other])};
      const [first, second] = [newModel(), newModel()];
      const missing = await told(() => tf.keras.models.loadModel(url));
      await first.save(url);
      await second.save(url);
      const again = await told(() => first.save(url, { overwrite: false }));
      const loaded = await tf.keras.models.loadModel(url);
      const listed = await tf.io.listModels();
      await tf.io.copyModel(url, other);
      await tf.io.moveModel(other, 'indexeddb://moved');
      const moved = await tf.keras.models.loadModel('indexeddb://moved');
      const names = Object.keys(await tf.io.listModels()).sort();
      await tf.io.removeModel(url);
      await tf.io.removeModel('indexeddb://moved');
      return {
        missing, again, names,
        same: [valuesOf(loaded) === valuesOf(second), valuesOf(moved) === valuesOf(second)],
        size: listed[url].bytes > 1000, age: Math.abs(Date.now() - listed[url].dateSaved) < 1e7,
        gone: await told(() => tf.io.removeModel(url)),
        left: await tf.io.listModels(),
        own: await told(() => tf.io.copyModel(url, url)),
      };`);
    expect(read).toEqual({
      missing: ['NotFoundError', expect.stringContaining(`there is nothing at ${url}`)],
      again: ['InvalidArgumentError', expect.stringContaining('overwrite is false')],
      names: ['indexeddb://moved', url].sort(),
      same: [true, true],
      size: true,
      age: true,
      gone: ['NotFoundError', expect.stringContaining(url)],
      left: {},
      own: ['InvalidArgumentError', expect.stringContaining('its own place')],
    });
  });

  test('a storage that is full keeps the old model', async () => {
    const read = await open.run<unknown>(`
      const small = newModel();
      const large = new tf.Sequential([new tf.layers.Dense(2000, { inputShape: [1000] })]);
      await small.save('localstorage://full');
      const full = await told(() => large.save('localstorage://full'));
      const kept = await tf.keras.models.loadModel('localstorage://full');
      await tf.io.removeModel('localstorage://full');
      return [full, valuesOf(kept) === valuesOf(small), await tf.io.listModels()];`);
    const problem = ['ResourceExhaustedError', expect.stringContaining('what was there is as it was')];
    expect(read).toEqual([problem, true, {}]);
  });

  const full = (url: string): string => `
    const large = new tf.Sequential([new tf.layers.Dense(200, { inputShape: [100] })]);
    const full = await told(() => large.save('${url}'));
    const another = await told(() => large.save('${url.replace('full', 'other')}'));
    const kept = await tf.keras.models.loadModel('${url}');
    return [full[0], another[0], valuesOf(kept) === valuesOf(small), Object.keys(await tf.io.listModels())];`;
  const refused = (url: string): unknown => ['ResourceExhaustedError', 'ResourceExhaustedError', true, [url]];

  test('files too, where the browser has no more room', async () => {
    const url = 'opfs://full.keras';
    const client = await open.page.context().newCDPSession(open.page);
    await open.run(`await (globalThis.small = newModel()).save('${url}');`);
    await client.send('Storage.overrideQuotaForOrigin', { origin: open.address, quotaSize: 1 });
    try {
      expect(await open.run(full(url))).toEqual(refused(url));
    } finally {
      await client.send('Storage.overrideQuotaForOrigin', { origin: open.address });
    }
    await open.run(`await tf.io.removeModel('${url}');`);
  });

  // Chromium looks at the room of a database now and then, so a test cannot wait for it.
  test('a database too, whatever part of it fails', async () => {
    const url = 'indexeddb://full';
    const read = await open.run(`
      await (globalThis.small = newModel()).save('${url}');
      const { put } = IDBObjectStore.prototype;
      IDBObjectStore.prototype.put = function (value, key) {
        if (this.name === 'about') throw new DOMException('full', 'QuotaExceededError');
        return put.call(this, value, key);
      };
      try {
        ${full(url)}
      } finally {
        IDBObjectStore.prototype.put = put;
        await tf.io.removeModel('${url}');
      }`);
    expect(read).toEqual(refused(url));
  });

  test('names that are none are refused', async () => {
    const read = await open.run<unknown[]>(`
      const model = newModel();
      const bad = ['indexeddb://', 'opfs://../a.keras', 'opfs://a//b.keras', 'opfs://a', 'localstorage://'];
      return Promise.all(bad.map(async (url) => (await told(() => model.save(url)))[0]));`);
    expect(read).toEqual(read.map(() => 'InvalidArgumentError'));
  });

  test('a model is downloaded, and the file of it is loaded', async () => {
    const [download] = await Promise.all([
      open.page.waitForEvent('download'),
      open.run(`globalThis.saved = newModel(); await saved.save('downloads://mine');`),
    ]);
    expect(download.suggestedFilename()).toBe('mine.keras');
    const file = await download.path();
    await open.run(`document.body.innerHTML = '<input type="file" multiple>';`);
    await open.page.locator('input').setInputFiles([
      { name: 'readme.txt', mimeType: 'text/plain', buffer: Buffer.from('x') },
      { name: 'mine.keras', mimeType: 'application/zip', buffer: readFileSync(file) },
    ]);
    const same = await open.run<boolean>(`
      const { files } = document.querySelector('input');
      return valuesOf(await tf.keras.models.loadModel(files)) === valuesOf(saved);`);
    expect(same).toBe(true);
  });

  test('a server keeps a model, and the cache of the page does', async () => {
    const read = await open.run<Record<string, unknown>>(`
      const model = newModel();
      const url = location.origin + '/kept.keras';
      await model.save(url);
      const load = async (...more) => valuesOf(await tf.keras.models.loadModel(...more)) === valuesOf(model);
      const seen = [];
      const same = [
        await load('/kept.keras', { onProgress: (fraction) => seen.push(fraction) }),
        await load(url, { cache: true }),
        await load(url, { cache: true }),
      ];
      const listed = Object.keys(await tf.io.listModels());
      await tf.io.removeModel(url);
      return {
        same, listed, url, last: seen.at(-1),
        left: await tf.io.listModels(),
        page: await told(() => tf.keras.models.loadModel('/page')),
        moved: await told(() => model.save(location.origin + '/moved')),
        missing: await told(() => tf.keras.models.loadModel('/missing.keras')),
      };`);
    expect(read).toEqual({
      same: [true, true, true],
      listed: [read['url']],
      url: `${open.address}/kept.keras`,
      last: 1,
      left: {},
      page: ['NotFoundError', expect.stringContaining('answered with a page')],
      moved: ['FailedPreconditionError', expect.stringContaining('redirects')],
      missing: ['NotFoundError', expect.stringContaining('/missing.keras: the server answered 404')],
    });
    expect(requests).toBe(3);
  });

  test('a worker has databases and files, and says what it lacks', async () => {
    const read = await open.run<unknown>(`
      const source = "addEventListener('message', async ({ data }) => { try { await newModel().save(data); postMessage((await tf.keras.models.loadModel(data)).layers.length); } catch ({ name }) { postMessage(name); } });";
      const worker = new Worker(URL.createObjectURL(new Blob(['import "' + location.origin + '/page.js";' + source], { type: 'text/javascript' })), { type: 'module' });
      const found = [];
      for (const url of ['indexeddb://w', 'opfs://w.keras', 'localstorage://w', 'downloads://w']) {
        worker.postMessage(url);
        found.push(await new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data))));
      }
      return found;`);
    expect(read).toEqual([1, 1, 'UnimplementedError', 'UnimplementedError']);
  });
});
