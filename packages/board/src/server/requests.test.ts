// Requests as no browser sends them, over bare sockets: each is answered or its connection ended, and the board lives.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generator, SEED } from '@eagre/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { event, eventFile, scalar } from '../testing/event-files.ts';
import { type Board, serveFrom } from './server.ts';

let folder: string;
let board: Board;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-board-requests-'));
  mkdirSync(join(folder, 'web'));
  mkdirSync(join(folder, 'logs', 'a'), { recursive: true });
  writeFileSync(join(folder, 'web', 'index.html'), '<h1>board</h1>');
  const events = eventFile([event(0, scalar('loss', 1)), event(1, scalar('loss', 2))]);
  writeFileSync(join(folder, 'logs', 'a', 'events.out.tfevents.1'), events);
  board = await serveFrom(join(folder, 'web'), { logdir: join(folder, 'logs'), port: 0, reloadMillis: 20 });
  await board.loaded;
});
afterAll(async () => {
  await board?.close();
  rmSync(folder, { recursive: true });
});

interface How {
  /** Ends its own side at once. */
  readonly half?: boolean;
  /** Goes away without waiting. */
  readonly rude?: boolean;
  /** Waits for the first line of an answer, however long, and for nothing else. */
  readonly patient?: boolean;
}

/** What the server says to these bytes, until it ends the connection or is silent. */
function say(bytes: string | Uint8Array, { half, rude, patient }: How = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(board.url).port), '127.0.0.1');
    let text = '';
    const done = (): void => {
      socket.destroy();
      resolve(text);
    };
    if (!patient) socket.setTimeout(200, done);
    socket.on('error', done);
    socket.on('close', done);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (patient && text.includes('\r\n')) done();
    });
    socket.write(bytes, () => {
      if (rude) socket.resetAndDestroy();
      else if (half) socket.end();
    });
  });
}

const get = (target: string, more = '', method = 'GET'): string =>
  `${method} ${target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${more}\r\n`;
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
const statusFor = async (bytes: string): Promise<number> => statusOf(await say(bytes, { patient: true }));
const lives = async (): Promise<void> => {
  const answer = await fetch(`${board.url}api/scalars?run=a&tag=loss`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject([{ run: 'a', values: [1, 2] }]);
};

test.each([
  ['//', 404],
  ['///', 404],
  ['//evil.example/api/runs', 404],
  ['/%', 400],
  ['/%zz', 400],
  ['/%ff', 400],
  ['/%00', 404],
  ['/api/%', 400],
  ['/api/runs?%', 200],
  ['/api/runs?%ff=%zz&&&=', 200],
  ['/api/scalars?run=%00&tag=%00', 200],
  ['/api/image?run=a&tag=__proto__&step=0', 404],
  ['/api/__proto__', 404],
  ['*', 400],
  ['http://[/', 400],
  ['http://localhost/api/runs', 400],
  ['/\\\\', 404],
  [`/${'a'.repeat(10_000)}`, 404],
  [`/${'../'.repeat(1000)}etc/passwd`, 404],
])('GET %s', async (target, status) => {
  expect(await statusFor(get(target))).toBe(status);
  await lives();
});

test('methods, headers and bodies that nobody wants', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'PROPFIND'])
    expect(await statusFor(get('/api/runs', '', method))).toBe(405);
  expect(await statusFor(get('/', '', 'HEAD'))).toBe(200);
  expect(await statusFor(get('/api/changes', '', 'HEAD'))).toBe(200);
  expect(await statusFor(get('/', `x: ${'y'.repeat(100_000)}\r\n`))).toBe(431);
  expect(await statusFor(get('/', 'x: y\r\n'.repeat(3000)))).toBeGreaterThan(0);
  expect(await statusFor('GET / HTTP/1.1\r\nhost: evil.example\r\n\r\n')).toBe(403);
  expect(await statusFor('GET / HTTP/1.1\r\n\r\n')).toBe(400);
  expect(await statusFor('nonsense\r\n\r\n')).toBe(400);
  for (const range of ['bytes=0-', 'bytes=5-2', 'bytes=-0', 'bytes=999999999999999999-', 'bytes=a-b', 'x'])
    expect(await statusFor(get('/', `range: ${range}\r\n`))).toBe(200);
  for (const more of [
    'upgrade: websocket\r\nconnection: upgrade\r\n',
    'expect: 100-continue\r\n',
    'expect: wonders\r\n',
    'content-length: 5\r\n\r\nhello',
    'content-length: -5\r\n',
    'transfer-encoding: chunked\r\n\r\nzz\r\n',
    'if-none-match: "\u0000"\r\n',
  ])
    await say(get('/', more));
  await say(get('localhost:80', '', 'CONNECT'));
  await lives();
});

test('whatever bytes come', async () => {
  const random = generator(SEED);
  const below = (n: number): number => Math.floor(random() * n);
  const pieces = [
    '/',
    '//',
    '%',
    '%00',
    '%ff',
    '?',
    '#',
    '&',
    '=',
    '\0',
    '\r\n',
    ' ',
    'api',
    'scalars',
    'run=a',
  ];
  const more = [
    'host: ',
    'range: bytes=',
    'connection: ',
    'content-length: ',
    '\u{ff}',
    'HTTP/1.1',
    'x: y\r\n',
  ];
  const some = (from: readonly string[]): string =>
    Array.from({ length: below(8) }, () => from[below(from.length)]).join('');
  const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'CONNECT', 'get', ''];
  for (let round = 0; round < 20; round++) {
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        let text = get(`/${some(pieces)}`, some(more), methods[below(methods.length)]);
        if (random() < 0.3) text = text.slice(0, below(text.length));
        const bytes = Buffer.from(text, 'latin1');
        if (random() < 0.5) for (let n = below(4); n > 0; n--) bytes[below(bytes.length)] = below(256);
        const answer = await say(bytes, { half: random() < 0.3, rude: random() < 0.2 });
        if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 [2345]\d\d /);
        expect(answer).not.toMatch(/^HTTP\/1\.1 500/);
      }),
    );
  }
  await lives();
});

test('two thousand at once, and people who follow and go away', async () => {
  const targets = ['/', '/api/runs', '//', '/api/scalars?run=a&tag=loss', '/api/changes', '/none'];
  const answers = await Promise.all(
    Array.from({ length: 2000 }, (_, i) =>
      say(get(targets[i % targets.length] as string), { half: i % 3 === 0, rude: i % 7 === 0 }),
    ),
  );
  for (const answer of answers) if (answer !== '') expect([200, 404]).toContain(statusOf(answer));
  await lives();
});
