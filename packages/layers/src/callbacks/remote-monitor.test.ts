import '@eagre/backend-js';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidArgumentError, ones } from '@eagre/core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Dense } from '../layers/index.ts';
import { Sequential } from '../models/sequential.ts';
import { type Callback, CallbackList, History, ProgbarLogger, ProgressBar, RemoteMonitor } from './index.ts';

const requests: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  request.on('end', () => {
    requests.push({ url: request.url, headers: request.headers, body });
    response.end('thanks');
  });
});
let root = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const model = (): Sequential => {
  const made = new Sequential([new Dense(1, { inputShape: [1] })]);
  made.compile({ loss: 'mse' });
  return made;
};
const train = (callback: Callback): Promise<History> =>
  model().fit(ones([2, 1]), ones([2, 1]), { verbose: 0, callbacks: [callback], epochs: 2 });

test('sends a form, or JSON', async () => {
  const { history } = await train(new RemoteMonitor(root));
  const loss = history.loss as number[];
  const forms = requests.splice(0);
  expect(forms.map(({ url }) => url)).toEqual(['/publish/epoch/end/', '/publish/epoch/end/']);
  expect(forms[0]?.headers['content-type']).toContain('application/x-www-form-urlencoded');
  const data = forms.map(({ body }) => JSON.parse(new URLSearchParams(body).get('data') as string));
  expect(data).toEqual(loss.map((value, epoch) => ({ epoch, loss: value })));

  const options = { path: '/here', headers: { 'x-mine': 'yes' }, sendAsJson: true };
  const second = await train(new RemoteMonitor({ root, ...options }));
  const [first] = requests.splice(0);
  expect(first).toMatchObject({
    url: '/here',
    headers: { 'content-type': 'application/json', 'x-mine': 'yes' },
  });
  expect(JSON.parse(first?.body as string)).toEqual({ epoch: 0, loss: second.history.loss?.[0] });
});

test('warns once where nobody listens', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  await train(new RemoteMonitor('http://127.0.0.1:1'));
  expect(warn.mock.calls).toEqual([['RemoteMonitor: could not reach the server at http://127.0.0.1:1']]);
  warn.mockRestore();
  expect(() => new RemoteMonitor({ headers: { a: 3 as never } })).toThrow(InvalidArgumentError);
});

test('a CallbackList calls all of its callbacks, one after another', async () => {
  const seen: string[] = [];
  const spy = (name: string): Callback => {
    const callback = new CallbackList();
    callback.onEpochEnd = async (epoch) => {
      await Promise.resolve();
      seen.push(`${name} ${epoch}`);
    };
    return callback;
  };
  const own = model();
  const list = new CallbackList([spy('a'), spy('b')], { model: own, epochs: 3, addHistory: true });
  await list.onTrainBegin({});
  await list.onEpochEnd(2, { loss: 0.5 });
  expect(seen).toEqual(['a 2', 'b 2']);
  expect(list.history).toMatchObject({ epoch: [2], history: { loss: [0.5] } });
  expect(list.callbacks.map((c) => [c.model, c.params.epochs])).toEqual(Array(3).fill([own, 3]));
  expect(new CallbackList({ addProgbar: true }).callbacks).toEqual([expect.any(ProgressBar)]);
  expect(new CallbackList([new History()], { addHistory: true }).callbacks).toHaveLength(1);
  expect(ProgbarLogger).toBe(ProgressBar);
  // In fit it is a callback like others.
  seen.length = 0;
  await train(new CallbackList([spy('c')]));
  expect(seen).toEqual(['c 0', 'c 1']);
  expect(() => new CallbackList(spy('x') as never)).toThrow(InvalidArgumentError);
  expect(() => new CallbackList([], { model: {} as never })).toThrow('model must be a model');
});
