import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { Servable } from '../servable/servable.ts';
import { type Server, startServer } from '../server.ts';
import type { ServerOptions } from '../server-options.ts';
import { ask, post, predict } from '../testing/client.ts';
import { alone, halfPlus } from '../testing/servables.ts';
import { keptVersions, wantedVersions } from './version-policy.ts';

const folders: string[] = [];
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'eagre-serving-'));
  folders.push(made);
  return made;
}

/** Writes a version aside and moves it to its place. The "model" is the number that it adds. */
function publish(base: string, version: string, model: string, warmup?: unknown): void {
  const aside = join(base, `.tmp-${version}`);
  mkdirSync(join(aside, 'assets.extra'), { recursive: true });
  writeFileSync(join(aside, 'saved_model.pb'), model);
  if (warmup !== undefined)
    writeFileSync(join(aside, 'assets.extra/eagre_warmup.json'), JSON.stringify(warmup));
  renameSync(aside, join(base, version));
}

interface Loads {
  readonly disposed: number[];
  readonly runs: number[];
}

async function load(path: string, loads: Loads): Promise<Servable> {
  const bias = Number(readFileSync(join(path, 'saved_model.pb'), 'utf8'));
  if (Number.isNaN(bias)) throw new Error('no model');
  const { run, ...signature } = halfPlus(bias);
  return {
    ...alone({
      ...signature,
      run: async (inputs, signal) => {
        loads.runs.push(bias);
        await new Promise((done) => setTimeout(done, 2));
        expect(loads.disposed).not.toContain(bias);
        return run(inputs, signal);
      },
    }),
    dispose: () => {
      loads.disposed.push(bias);
    },
  };
}

async function serve(
  path: Parameters<typeof startServer>[0],
  options: ServerOptions = {},
): Promise<{ server: Server; loads: Loads; messages: string[] }> {
  const loads: Loads = { disposed: [], runs: [] };
  const messages: string[] = [];
  const server = await startServer(
    path,
    { port: 0, pollSeconds: 0.02, log: (message) => messages.push(message), ...options },
    (folder) => load(folder, loads),
  );
  servers.push(server);
  return { server, loads, messages };
}

async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition).toBe(true);
}

const answerOf = async (server: Server, path = '/v1/models/m:predict'): Promise<unknown> =>
  (await post(server, path, { instances: [2] })).json;

test('policies', () => {
  expect(wantedVersions('latest', [1, 3, 2])).toEqual([3]);
  expect(wantedVersions({ latest: 2 }, [1, 3, 2])).toEqual([3, 2]);
  expect(wantedVersions('all', [1, 3, 2])).toEqual([3, 2, 1]);
  expect(wantedVersions({ specific: [1, 7] }, [1, 3, 2])).toEqual([1]);
  expect([...keptVersions('latest', [3], [2])]).toEqual([2]);
  expect([...keptVersions('latest', [3], [2, 3])]).toEqual([3]);
  expect([...keptVersions({ latest: 2 }, [4, 3], [4, 2, 1])]).toEqual([4, 2]);
  expect([...keptVersions({ specific: [1] }, [1], [2, 3])]).toEqual([3]);
  expect([...keptVersions('all', [1, 2], [1, 2])]).toEqual([2, 1]);
  expect([...keptVersions('latest', [], [2])]).toEqual([]);
});

describe('versions', () => {
  test('are swapped while requests run, and none of these fails', async () => {
    const base = folder();
    publish(base, '1', '1');
    const { server, loads, messages } = await serve(base, { name: 'm', batching: true });
    const answers: number[] = [];
    let going = true;
    const client = async (): Promise<void> => {
      while (going) {
        const { status, json } = await predict(server, 'm', { instances: [2] });
        expect(status).toBe(200);
        answers.push(json.predictions[0] - 1);
      }
    };
    const clients = Array.from({ length: 8 }, client);
    for (let version = 2; version <= 6; version++) {
      // 4 is broken, and changes nothing.
      publish(base, String(version), version === 4 ? 'broken' : String(version));
      if (version !== 4)
        await until(() => server.models['m'].includes(version) && server.models['m'].length === 1);
      else await until(() => messages.includes('cannot load version 4 of m'));
      if (version !== 4) await expect.poll(() => answers).toContain(version);
      else await new Promise((done) => setTimeout(done, 50));
    }
    going = false;
    await Promise.all(clients);
    expect([...new Set(answers)]).toEqual([1, 2, 3, 5, 6]);
    expect(loads.disposed).toEqual([1, 2, 3, 5]);
    await server.close();
    expect(loads.disposed).toEqual([1, 2, 3, 5, 6]);
  });

  test('may be several, and are asked for by number or label', async () => {
    const base = folder();
    for (const version of ['1', '00002', '3', 'notes', '0x4'])
      publish(base, version, version === '00002' ? '2' : version);
    const { server } = await serve({
      m: { path: base, versionPolicy: { specific: [1, 2] }, versionLabels: { stable: 1, next: 9 } },
    });
    expect(server.models).toEqual({ m: [1, 2] });
    expect(await answerOf(server)).toEqual({ predictions: [3] });
    expect(await answerOf(server, '/v1/models/m/versions/1:predict')).toEqual({ predictions: [2] });
    expect(await answerOf(server, '/v1/models/m/labels/stable:predict')).toEqual({ predictions: [2] });
    expect(await answerOf(server, '/v1/models/m/versions/3:predict')).toEqual({
      error: 'Servable not found for request: Specific(m, 3)',
    });
    expect(await answerOf(server, '/v1/models/m/labels/next:predict')).toEqual({
      error: 'Servable not found for request: Specific(m, 9)',
    });
    expect(await answerOf(server, '/v1/models/m/labels/beta:predict')).toEqual({
      error: 'Unrecognized servable version label: beta',
    });
    expect((await ask(server, '/v1/models/m/versions/7')).json).toEqual({
      error: 'Could not find version 7 of model m',
    });
    const status = (await ask(server, '/v1/models/m')).json.model_version_status;
    expect(status.map((s: { version: string }) => s.version)).toEqual(['2', '1']);
    expect((await ask(server, '/v1/models/m/labels/stable/metadata')).json.model_spec.version).toBe('1');
  });

  test('that are broken leave the old one, are told of, and are tried again when they change', async () => {
    const base = folder();
    publish(base, '1', '1');
    const { server, messages } = await serve(base, { name: 'm' });
    publish(base, '2', 'broken');
    await until(() => messages.includes('cannot load version 2 of m'));
    expect(await answerOf(server)).toEqual({ predictions: [2] });
    const [newest] = (await ask(server, '/v1/models/m')).json.model_version_status;
    expect(newest).toEqual({
      version: '2',
      state: 'END',
      status: { error_code: 'INTERNAL', error_message: 'version 2 could not be loaded' },
    });
    await new Promise((done) => setTimeout(done, 100));
    expect(messages.filter((m) => m.startsWith('cannot load')).length).toBe(1);
    writeFileSync(join(base, '2/saved_model.pb'), '22');
    await until(() => server.models['m'].includes(2));
    expect(await answerOf(server)).toEqual({ predictions: [23] });
  });

  test('that are taken away give way to those that are left', async () => {
    const base = folder();
    publish(base, '1', '1');
    publish(base, '2', '2');
    const { server } = await serve(base, { name: 'm' });
    expect(await answerOf(server)).toEqual({ predictions: [3] });
    rmSync(join(base, '2'), { recursive: true });
    await until(() => server.models['m'].includes(1) && server.models['m'].length === 1);
    expect(await answerOf(server)).toEqual({ predictions: [2] });
  });

  test('are not loaded as long as they are written', async () => {
    const base = folder();
    publish(base, '1', '1');
    const { server, messages } = await serve(base, { name: 'm', pollSeconds: 0.1 });
    mkdirSync(join(base, '2'));
    for (let i = 0; i < 30; i++) {
      writeFileSync(join(base, '2/saved_model.pb'), `${'x'.repeat(i)}`);
      await new Promise((done) => setTimeout(done, 15));
    }
    writeFileSync(join(base, '2/saved_model.pb'), '2');
    await until(() => server.models['m'].includes(2));
    expect(messages.filter((m) => m.startsWith('cannot'))).toEqual([]);
  });

  test('run their warm-up requests before they are served', async () => {
    const base = folder();
    publish(base, '1', '1', { requests: [{ instances: [1] }, { inputs: { x: [[1]] } }] });
    const { server, loads, messages } = await serve(base, { name: 'm' });
    expect(loads.runs).toEqual([1, 1]);
    publish(base, '2', '2', { requests: [{ instances: ['no number'] }] });
    await until(() => messages.includes('cannot load version 2 of m'));
    expect(loads.disposed).toEqual([2]);
    publish(base, '3', '3', { anything: [] });
    await until(() => messages.includes('cannot load version 3 of m'));
    expect(server.models).toEqual({ m: [1] });
  });

  test('may come later: a model without any is there, but not ready', async () => {
    const base = folder();
    const { server } = await serve(base, { name: 'm' });
    expect((await ask(server, '/readyz')).status).toBe(503);
    expect((await ask(server, '/healthz')).status).toBe(200);
    expect((await ask(server, '/v1/models/m')).json).toEqual({
      error: 'Could not find any versions of model m',
    });
    publish(base, '1', '1');
    await until(() => server.models['m'].includes(1));
    expect((await ask(server, '/readyz')).status).toBe(200);
  });

  test('a folder that is a SavedModel itself is version 1', async () => {
    const base = folder();
    publish(base, 'mine', '4');
    const { server } = await serve(join(base, 'mine'));
    expect(server.models).toEqual({ mine: [1] });
    await expect(serve(join(base, 'nothing'))).rejects.toThrow('there is no folder');
  });
});
