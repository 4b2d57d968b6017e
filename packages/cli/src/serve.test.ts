import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { bundled } from '../../testing/src/bundled.ts';
import { program } from './program.ts';
import { type ServeOptions, serve } from './serve.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const golden = JSON.parse(
  gunzipSync(readFileSync(join(root, 'packages/serving/golden/models.json.gz'))).toString(),
) as { models: Record<string, { files: Record<string, string> }> };

const cli = await bundled('cli/src/index.ts');
const umbrella = await bundled('eagre/src/index.ts');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-serve-'));
  unpack('half_plus_2', 'half/1');
  unpack('half_plus_3', 'half/2');
  unpack('cnn', 'cnn/7');
  mkdirSync(join(folder, 'notes'));
  writeFileSync(
    join(folder, 'models.json'),
    JSON.stringify({ models: { pinned: { path: 'half', versionPolicy: { specific: [1] } } } }),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

function unpack(name: string, to: string): void {
  for (const [path, content] of Object.entries(golden.models[name]?.files ?? {})) {
    const file = join(folder, to, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Buffer.from(content, 'base64'));
  }
}

async function served(
  path: string | undefined,
  options: Partial<ServeOptions> = {},
): Promise<{ models: object; predict(name: string): Promise<unknown>; lines: string[] }> {
  const lines: string[] = [];
  const server = await serve(
    path,
    { host: '127.0.0.1', port: 0, ...options },
    { write: (text) => lines.push(text) },
  );
  const { models } = server;
  const answers = new Map<string, unknown>();
  for (const name of Object.keys(models)) {
    const response = await fetch(`${server.url}/v1/models/${name}:predict`, {
      method: 'POST',
      body: '{"instances": [2]}',
    });
    answers.set(name, await response.json());
  }
  await server.close();
  return { models, lines, predict: async (name) => answers.get(name) };
}

/** A server in a process of its own. */
async function started(...args: readonly string[]): Promise<{
  readonly child: ChildProcess;
  readonly url: string;
  readonly ended: Promise<number | null>;
  out(): string;
}> {
  const code = `import { run } from ${JSON.stringify(cli)}; process.exitCode = await run(process.argv.slice(1), '1');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, '--', ...args], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let out = '';
  const ended = new Promise<number | null>((done) => child.on('close', done));
  const url = await new Promise<string>((done, fail) => {
    let errors = '';
    child.stderr.on('data', (data) => (errors += data));
    child.stdout.on('data', (data) => {
      out += data;
      const found = /at (http:\S+)/.exec(out)?.[1];
      if (found !== undefined) done(found);
    });
    child.on('close', () => fail(new Error(errors)));
  });
  return { child, url, ended, out: () => out };
}

describe('eagre serve', () => {
  test('serves several models, one model, and a SavedModel', async () => {
    const all = await served(folder);
    expect(all.models).toEqual({ cnn: [7], half: [2] });
    expect(await all.predict('half')).toEqual({ predictions: [4] });
    const one = await served(join(folder, 'half'), {
      name: 'mine',
      versions: 'all',
      batchSize: 4,
      requestLog: true,
    });
    expect(one.models).toEqual({ mine: [1, 2] });
    expect(JSON.parse(one.lines.at(-1) as string)).toMatchObject({
      path: '/v1/models/mine:predict',
      status: 200,
    });
    expect((await served(join(folder, 'half/1'))).models).toEqual({ '1': [1] });
    const pinned = await served(undefined, { config: join(folder, 'models.json') });
    expect(pinned.models).toEqual({ pinned: [1] });
    expect(await pinned.predict('pinned')).toEqual({ predictions: [3] });
  });

  test('says what is wrong', async () => {
    const refused = (path: string | undefined, options: Partial<ServeOptions>, message: string) =>
      expect(served(path, options)).rejects.toThrow(message);
    await refused(undefined, {}, 'give a folder, or a file with --config');
    await refused(folder, { config: 'x' }, 'give a folder, or a file with --config');
    await refused(join(folder, 'notes'), {}, 'there is no SavedModel in');
    await refused(join(folder, 'nowhere'), {}, 'there is no folder');
    await refused(folder, { name: 'x' }, '--name is for one model');
    await refused(folder, { versions: 'newest' }, '--versions is latest, all');
    writeFileSync(join(folder, 'bad.json'), '{"models": {"a": {}}}');
    await refused(undefined, { config: join(folder, 'bad.json') }, 'the model a needs a "path"');
    const err = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
    try {
      const parse = (...args: string[]) =>
        program('1', { write: () => {} }).parseAsync(['serve', folder, ...args], { from: 'user' });
      await expect(parse('--batch-size', '0')).rejects.toThrow('expected a positive integer');
      await expect(parse('--poll', '-1')).rejects.toThrow('expected a number that is not negative');
    } finally {
      err.mockRestore();
    }
  });

  test('answers what it has begun when it is told to stop, and ends', async () => {
    const args = [
      'serve',
      join(folder, 'half'),
      '--port',
      '0',
      '--batch-size',
      '64',
      '--batch-timeout',
      '400000',
    ];
    const { child, url, ended, out } = await started(...args);
    expect(out()).toContain('Eagre serves half at');
    // The batch waits for others when the signal comes.
    let isAnswered = false;
    const answer = fetch(`${url}/v1/models/half:predict`, {
      method: 'POST',
      body: '{"instances": [2]}',
    }).finally(() => {
      isAnswered = true;
    });
    const isWaiting = async (): Promise<boolean> => {
      const metrics = await (await fetch(`${url}/monitoring/prometheus/metrics`)).text();
      return /^eagre:serving:queued_requests 1$/m.test(metrics);
    };
    while (!isAnswered && !(await isWaiting()));
    child.kill('SIGTERM');
    expect(await (await answer).json()).toEqual({ predictions: [4] });
    expect(await ended).toBe(0);
  });

  test('answers all that it has begun when it is told to stop under load', async () => {
    const args = ['serve', join(folder, 'half'), '--port', '0', '--request-log'];
    const { child, url, ended, out } = await started(...args);
    let [good, stopped] = [0, false];
    const others = new Set<unknown>();
    const client = async (): Promise<void> => {
      for (;;) {
        try {
          const answer = await fetch(`${url}/v1/models/half:predict`, {
            method: 'POST',
            body: '{"instances": [2]}',
          });
          const json: unknown = await answer.json();
          if (answer.status === 200) {
            expect(json).toEqual({ predictions: [4] });
            good++;
          } else others.add(answer.status);
        } catch (error) {
          // Nobody listens any more, or an idle connection was closed.
          if (!stopped) throw error;
          return;
        }
      }
    };
    const clients = Array.from({ length: 16 }, client);
    await expect.poll(() => good).toBeGreaterThan(32);
    stopped = true;
    child.kill('SIGTERM');
    await Promise.all(clients);
    expect(await ended).toBe(0);
    const answered = out().match(/"status":200/g)?.length;
    expect(answered).toBe(good);
    expect([503]).toEqual(expect.arrayContaining([...others]));
  });

  test('answers 200 requests that wait for a slow model when it is told to stop, and lets nobody else in', async () => {
    const slow = join(folder, 'slow/1');
    const save = `import * as tf from ${JSON.stringify(umbrella)};
    const a = tf.zeros([384, 384]);
    const fn = tf.function({ inputSignature: [new tf.TensorSpec([null])] })((x) => a.add(x.mean()).matmul(a).mean().add(x));
    await tf.savedModel.save(new tf.Module(), process.argv[1], { signatures: fn });`;
    execFileSync(process.execPath, ['--input-type=module', '-e', save, '--', slow], {
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const args = ['serve', slow, '--port', '0', '--name', 'slow', '--max-in-flight', '1', '--request-log'];
    const patience = ['--timeout', '1000000000', '--drain-timeout', '1000000000'];
    const { child, url, ended, out } = await started(...args, ...patience);
    const { hostname, port } = new URL(url);
    const request = (n: number): string => {
      const body = JSON.stringify({ instances: [n] });
      return `POST /v1/models/slow:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    };
    /** Sends a text, all but the last bytes of which are held back. @returns what sends these, and the answer */
    const send = async (
      text: string,
      held = 0,
    ): Promise<{ end(): void; readonly answer: Promise<string> }> => {
      const socket = connect(Number(port), hostname);
      let got = '';
      socket.on('data', (data) => (got += data)).on('error', () => {});
      const answer = new Promise<string>((done) => socket.on('close', () => done(got)));
      const sent = text.length - held;
      await new Promise<void>((done, fail) => {
        socket.on('error', fail).on('connect', () => socket.write(text.slice(0, sent), () => done()));
      });
      return { end: () => socket.write(text.slice(sent)), answer };
    };
    const late = await send(request(1000), 1);
    const all = await Promise.all(Array.from({ length: 200 }, (_, n) => send(request(n))));
    child.kill('SIGTERM');
    // What is not finished yet keeps the server waiting.
    const isRefused = (): Promise<boolean> =>
      new Promise((done) => {
        const socket = connect(Number(port), hostname, () => {
          socket.destroy();
          done(false);
        });
        socket.on('error', ({ code }: NodeJS.ErrnoException) => done(code === 'ECONNREFUSED'));
      });
    while (!(await isRefused()));
    expect(child.exitCode).toBe(null);
    late.end();
    const answers = await Promise.all([...all, late].map(({ answer }) => answer));
    const results = answers.map((text) => [
      text.slice(9, 12),
      (JSON.parse(text.slice(text.indexOf('{'))) as { predictions: number[] }).predictions,
    ]);
    expect(results).toEqual([...Array(200).keys(), 1000].map((n) => ['200', [n]]));
    expect(await ended).toBe(0);
    expect(out().match(/"status":200/g)).toHaveLength(201);
  });

  test('swaps versions under load, and no request fails', async () => {
    const base = join(folder, 'swapped');
    const publish = (version: string, model: string, change = (_: string): void => undefined): void => {
      unpack(model, `aside-${version}`);
      change(join(folder, `aside-${version}`));
      mkdirSync(base, { recursive: true });
      renameSync(join(folder, `aside-${version}`), join(base, version));
    };
    publish('1', 'half_plus_2');
    const lines: string[] = [];
    const server = await serve(
      base,
      { host: '127.0.0.1', port: 0, poll: 0.05, batchSize: 4 },
      { write: (text) => lines.push(text) },
    );
    const seen = new Set<unknown>();
    let isOver = false;
    const client = async (): Promise<void> => {
      while (!isOver) {
        const answer = await fetch(`${server.url}/v1/models/swapped:predict`, {
          method: 'POST',
          body: '{"instances": [2]}',
        });
        expect(answer.status).toBe(200);
        seen.add(((await answer.json()) as { predictions: number[] }).predictions[0]);
      }
    };
    const clients = Promise.all(Array.from({ length: 8 }, client));
    try {
      publish('2', 'half_plus_3');
      await expect.poll(() => server.models['swapped']).toEqual([2]);
      // Damaged in three ways: each is refused, and the one before goes on.
      publish('3', 'half_plus_2', (path) => writeFileSync(join(path, 'saved_model.pb'), 'no model'));
      publish('4', 'half_plus_2', (path) => rmSync(join(path, 'variables'), { recursive: true }));
      publish('5', 'half_plus_2', (path) =>
        writeFileSync(join(path, 'variables/variables.data-00000-of-00001'), ''),
      );
      await expect.poll(() => lines).toContainEqual(expect.stringMatching(/^cannot load version 5/));
      expect(server.models['swapped']).toEqual([2]);
      for (const version of ['5', '4', '3']) rmSync(join(base, version), { recursive: true });
      // The one that is served is taken away: the one that is left is loaded first.
      rmSync(join(base, '2'), { recursive: true });
      await expect.poll(() => server.models['swapped']).toEqual([1]);
    } finally {
      isOver = true;
    }
    await clients;
    expect([...seen].sort()).toEqual([3, 4]);
    await server.close();
  });
});
