// Models of servers, of files that were chosen, and of schemes of one's own, in Node.
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CancelledError,
  constant,
  DataLossError,
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  PermissionDeniedError,
  type Tensor,
  UnavailableError,
  UnimplementedError,
} from '@eagre/core';
import { ownSchemes } from '@eagre/formats/internal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { layers, loadModel, type Model, Sequential, saveModelToBytes } from '../index.ts';

const model = new Sequential([new layers.Dense(2, { inputShape: [3] })]);
const bytes = Buffer.from(await saveModelToBytes(model));
const hash = `sha256-${createHash('sha256').update(bytes).digest('base64')}`;
const x = constant([[1, 2, 3]]);
const resultOf = (of: Model): unknown => (of.invoke(x) as Tensor).array();

// Of TensorFlow.js: x · [1, 2] + 3.
const dense = { name: 'd', units: 1, activation: 'linear', use_bias: true, batch_input_shape: [null, 2] };
const topology = {
  class_name: 'Sequential',
  config: { name: 's', layers: [{ class_name: 'Dense', config: { ...dense, dtype: 'float32' } }] },
  keras_version: 'tfjs-layers 4.22.0',
  backend: 'tensor_flow.js',
};
const tfjs = JSON.stringify({
  format: 'layers-model',
  modelTopology: topology,
  weightsManifest: [
    {
      paths: ['w.bin'],
      weights: [
        { name: 'd/kernel', shape: [2, 1], dtype: 'float32' },
        { name: 'd/bias', shape: [1], dtype: 'float32' },
      ],
    },
  ],
});
const tfjsWeights = Buffer.from(new Float32Array([1, 2, 3]).buffer);

let server: Server;
let at: string;
let sent:
  | { method?: string | undefined; type?: string | undefined; token?: unknown; body: Buffer }
  | undefined;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    const answer = (status: number, type: string, body: string | Buffer, more: object = {}): void => {
      response.writeHead(status, { 'content-type': type, ...more });
      response.end(body);
    };
    const type = 'application/octet-stream';
    if (request.method !== 'GET') {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const { 'content-type': its, authorization: token } = request.headers;
      sent = { method: request.method, type: its, token, body: Buffer.concat(parts) };
      if (pathname === '/moved') answer(301, 'text/plain', '', { location: '/kept' });
      else answer(pathname === '/full' ? 507 : 200, 'text/plain', '');
    } else if (pathname === '/m.keras' || pathname === '/model')
      answer(200, type, bytes, { 'content-length': bytes.length });
    else if (pathname === '/secret')
      answer(request.headers.authorization === 'Bearer x' ? 200 : 401, type, bytes);
    else if (pathname === '/there') answer(302, 'text/plain', '', { location: '/m.keras' });
    else if (pathname === '/login') answer(302, 'text/plain', '', { location: '/page' });
    else if (pathname === '/loop') answer(302, 'text/plain', '', { location: '/loop' });
    else if (pathname === '/tfjs/model.json')
      answer(request.headers.authorization === 'x' ? 200 : 403, 'application/json', tfjs);
    else if (pathname === '/tfjs/w.bin')
      answer(request.headers.authorization === 'x' ? 200 : 403, type, tfjsWeights);
    else if (pathname === '/page') answer(200, 'text/html; charset=utf-8', '\n<!doctype html>');
    else if (pathname === '/short') {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, 20), () => response.destroy());
    } else if (pathname === '/damaged') answer(200, type, bytes.subarray(0, 200));
    else answer(404, 'text/plain', 'nothing');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('a model of a server is loaded, whatever its URL ends in', async () => {
  const seen: [number, number, number | null][] = [];
  const onProgress = (
    fraction: number,
    { loaded, total }: { loaded: number; total: number | null },
  ): void => {
    seen.push([fraction, loaded, total]);
  };
  for (const path of ['m.keras', 'm.keras?signature=3#x', 'model', 'there'])
    expect(resultOf(await loadModel(`${at}/${path}`))).toEqual(resultOf(model));
  await loadModel(`${at}/m.keras`, { onProgress, integrity: hash, signal: new AbortController().signal });
  expect(seen.at(-1)).toEqual([1, bytes.length, bytes.length]);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.every(([fraction], i) => i === 0 || fraction >= (seen[i - 1]?.[0] as number))).toBe(true);
  const requestInit = { headers: { authorization: 'Bearer x' } };
  expect(resultOf(await loadModel(`${at}/secret`, { requestInit }))).toEqual(resultOf(model));
});

test('what a server says instead is a typed error', async () => {
  const cases: [string, new (...args: never[]) => Error, RegExp][] = [
    ['nothing.keras', NotFoundError, /nothing.keras: the server answered 404 Not Found/],
    ['secret', PermissionDeniedError, /answered 401/],
    ['page', NotFoundError, /answered with a page \(text\/html; charset=utf-8\), not with a file/],
    ['login', NotFoundError, /answered with a page \(text\/html; charset=utf-8, of http:.*\/page\)/],
    ['loop', UnavailableError, /loop: the request failed \(.*redirect/],
    ['short', UnavailableError, /short: the answer broke off/],
    ['damaged', DataLossError, /http:\/\/127.0.0.1:\d+\/damaged: /],
  ];
  for (const [path, error, message] of cases) {
    const failed = await loadModel(`${at}/${path}`).catch((cause: unknown) => cause);
    expect(failed).toBeInstanceOf(error);
    expect((failed as Error).message).toMatch(message);
  }
  await expect(loadModel('http://127.0.0.1:1/m.keras')).rejects.toThrow(UnavailableError);
  await expect(loadModel(`${at}/there`, { requestInit: { redirect: 'error' } })).rejects.toThrow(
    UnavailableError,
  );
  await expect(loadModel(`${at}/m.keras`, { integrity: `sha256-${btoa('x'.repeat(32))}` })).rejects.toThrow(
    /its hash is sha256-.*, and integrity says/,
  );
  await expect(loadModel(`${at}/m.keras`, { cache: true })).rejects.toThrow(UnimplementedError);
  const stopped = loadModel(`${at}/m.keras`, { signal: AbortSignal.abort() });
  await expect(stopped).rejects.toThrow(CancelledError);
});

test('bad options say what they take', async () => {
  const url = `${at}/m.keras`;
  const bad: [object, RegExp][] = [
    [{ onProgress: 3 }, /onProgress must be a function/],
    [{ signal: 3 }, /signal must be an AbortSignal/],
    [{ requestInit: 3 }, /requestInit must be options of fetch/],
    [{ requestInit: { body: 'x' } }, /requestInit takes headers, .* got 'body'/],
    [{ integrity: 3 }, /integrity must be a hash/],
    [{ integrity: 'md5-x' }, /integrity must be 'sha256-'/],
    [{ integrity: { 'other.keras': hash } }, /integrity has no hash for the file 'm.keras'/],
    [{ cache: 3 }, /cache is 3, expected true or false/],
  ];
  for (const [options, message] of bad) {
    await expect(loadModel(url, options as never)).rejects.toThrow(InvalidArgumentError);
    await expect(loadModel(url, options as never)).rejects.toThrow(message);
  }
  await expect(loadModel('m.keras', { integrity: hash })).rejects.toThrow('integrity is of URLs');
  await expect(model.save('m.keras', { requestInit: {} })).rejects.toThrow('requestInit is of http');
  await expect(model.save('store://m', { requestInit: {} })).rejects.toThrow('requestInit is of http');
  await expect(model.save(`${at}/m`, { zipped: false })).rejects.toThrow('leave it out');
  await expect(model.save(`${at}/m`, { overwrite: false })).rejects.toThrow('leave overwrite out');
});

test('a model is sent to a server', async () => {
  await model.save(`${at}/kept`);
  expect(sent).toMatchObject({ method: 'POST', type: 'application/octet-stream' });
  expect(resultOf(await loadModel(new Uint8Array(sent?.body as Buffer)))).toEqual(resultOf(model));
  await model.save(`${at}/kept.h5`, { requestInit: { method: 'PUT', headers: { authorization: 'x' } } });
  expect(sent).toMatchObject({ method: 'PUT', token: 'x' });
  expect(resultOf(await loadModel(new Uint8Array(sent?.body as Buffer)))).toEqual(resultOf(model));
  await expect(model.save(`${at}/moved`)).rejects.toThrow(FailedPreconditionError);
  await expect(model.save(`${at}/moved`)).rejects.toThrow('give the URL that it redirects to');
  await expect(model.save(`${at}/full`)).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
});

test('files that were chosen are loaded', async () => {
  const file = new File([bytes], 'my model.keras');
  for (const source of [file, [file], [new File(['x'], 'readme.txt'), file], new Blob([bytes])])
    expect(resultOf(await loadModel(source))).toEqual(resultOf(model));
  expect(resultOf(await loadModel(file, { integrity: hash }))).toEqual(resultOf(model));
  const other = `sha256-${createHash('sha256').update('x').digest('base64')}`;
  await expect(loadModel(file, { integrity: other })).rejects.toThrow(DataLossError);
  await expect(loadModel([])).rejects.toThrow('no file was given');
  await expect(loadModel([new File(['x'], 'a.txt'), new File(['x'], 'b.txt')])).rejects.toThrow(
    'none of the files is a model: a.txt, b.txt',
  );
  await expect(loadModel(new File([bytes.subarray(0, 99)], 'm.keras'))).rejects.toThrow(
    /^loadModel: m\.keras: /,
  );
});

test('models of TensorFlow.js come with the files beside them', async () => {
  const two = constant([[1, 1]]);
  const six = async (loaded: Promise<Model>): Promise<void> =>
    expect(((await loaded).invoke(two) as Tensor).array()).toEqual([[6]]);
  const requestInit = { headers: { authorization: 'x' } };
  await six(loadModel(`${at}/tfjs/model.json?v=1`, { requestInit }));
  const files = [new File([new Uint8Array(tfjsWeights)], 'w.bin'), new File([tfjs], 'my-model.json')];
  await six(loadModel(files));
  await expect(loadModel(files[1] as File)).rejects.toThrow(
    'the file w.bin is not among those that were given: my-model.json',
  );
  const denied = loadModel(`${at}/tfjs/model.json`);
  await expect(denied).rejects.toThrow(/127.0.0.1:\d+\/tfjs\/model.json: the server answered 403/);
});

test('a scheme of one’s own keeps models', async () => {
  const kept = new Map<string, Uint8Array>();
  ownSchemes.set('store', {
    async read(url) {
      return kept.get(url) ?? (undefined as never);
    },
    async write(url, content) {
      kept.set(url, content);
    },
  });
  try {
    await model.save('store://m');
    expect([...kept.keys()]).toEqual(['store://m']);
    expect(resultOf(await loadModel('store://m'))).toEqual(resultOf(model));
    await expect(loadModel('store://n')).rejects.toThrow('must give a Uint8Array');
  } finally {
    ownSchemes.delete('store');
  }
  await expect(loadModel('store://m')).rejects.toThrow(UnimplementedError);
  await expect(loadModel('store://m')).rejects.toThrow("tf.io.registerScheme('store', { read })");
  await expect(model.save('indexeddb://m')).rejects.toThrow('there is no IndexedDB here');
  for (const name of ['localstorage', 'opfs', 'downloads'])
    await expect(model.save(`${name}://m.keras`)).rejects.toThrow(UnimplementedError);
  await expect(model.saveWeights('indexeddb://m.weights.h5')).rejects.toThrow('keeps the whole model');
  await expect(loadModel('downloads://m')).rejects.toThrow('downloads are only saved');
  await expect(loadModel('file:///m.keras')).rejects.toThrow('fileURLToPath');
});
