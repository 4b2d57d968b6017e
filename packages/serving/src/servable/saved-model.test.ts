import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tensorflow } from '@eagre/formats';
import { afterEach, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../server.ts';
import { ask, post, predict } from '../testing/client.ts';
import { goldenModels, unpack } from '../testing/golden.ts';
import { loadServable } from './saved-model.ts';

const folders: string[] = [];
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'eagre-saved-'));
  folders.push(made);
  return made;
}

async function serve(path: string, options: Parameters<typeof createServer>[1] = {}): Promise<Server> {
  const server = await createServer(path, {
    port: 0,
    name: 'm',
    pollSeconds: 0.05,
    log: () => {},
    ...options,
  });
  servers.push(server);
  return server;
}

/** Numbers, rounded to what float32 tells apart. */
const rounded = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(rounded)
    : typeof value === 'number'
      ? Number(value.toPrecision(5))
      : value;

const sorted = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe.each(Object.keys(goldenModels))('the SavedModel %s of TensorFlow', (name) => {
  const model = goldenModels[name];
  test('gives what TensorFlow computes, and tells its signatures as TensorFlow Serving does', async () => {
    const base = folder();
    unpack(name, join(base, '00000123'));
    const server = await serve(base, { batching: true });
    const [output] = Object.values(model.outputs);
    const expected = { outputs: rounded(output) };
    const answer = await predict(server, 'm', { inputs: model.inputs });
    expect({ outputs: rounded(answer.json.outputs) }).toEqual(expected);
    const [instances] = Object.values(model.inputs) as unknown[][];
    const answers = await Promise.all(
      instances.map((instance) => predict(server, 'm', { instances: [instance] })),
    );
    expect(answers.map(({ json }) => rounded(json.predictions[0]))).toEqual(expected.outputs);
    const { json } = await ask(server, '/v1/models/m/metadata');
    expect(json.model_spec).toEqual({ name: 'm', signature_name: '', version: '123' });
    expect(json.metadata.signature_def.signature_def).toEqual(sorted(model.signatures));
  });
});

test('signatures of strings, and of regressions by name', async () => {
  const base = folder();
  unpack('half_plus_3', join(base, '1'));
  const server = await serve(base);
  const greeting = { signature_name: 'greet', instances: ['world', { b64: 'w6k=' }] };
  expect((await predict(server, 'm', greeting)).json).toEqual({
    predictions: ['hello WORLD', 'hello é'],
  });
  const regress = { signature_name: 'regress', examples: [{ inputs: 1.5 }, { inputs: 2 }] };
  expect((await post(server, '/v1/models/m:regress', regress)).json).toEqual({ results: [3.75, 4] });
});

test('versions are swapped while requests run, and none of these fails', async () => {
  const base = folder();
  unpack('half_plus_2', join(base, '1'));
  const server = await serve(base, { batching: true });
  const seen = new Set<number>();
  let last = 0;
  let going = true;
  const clients = Array.from({ length: 4 }, async () => {
    while (going) {
      const { status, json } = await predict(server, 'm', { instances: [2] });
      expect(status).toBe(200);
      last = json.predictions[0];
      seen.add(last);
    }
  });
  for (const [version, name, value] of [
    ['2', 'half_plus_3', 4],
    ['3', 'half_plus_2', 3],
    ['4', 'half_plus_3', 4],
  ] as const) {
    unpack(name, join(base, 'aside'));
    renameSync(join(base, 'aside'), join(base, version));
    await expect.poll(() => server.models).toEqual({ m: [Number(version)] });
    await expect.poll(() => last).toBe(value);
  }
  going = false;
  await Promise.all(clients);
  expect([...seen].sort()).toEqual([3, 4]);
});

test('folders that hold no model are refused', async () => {
  const base = folder();
  mkdirSync(join(base, '1'));
  writeFileSync(join(base, '1/saved_model.pb'), 'no model');
  await expect(loadServable(join(base, '1'))).rejects.toThrow(/saved_model/);
  const server = await serve(base);
  expect(server.models).toEqual({ m: [] });
  expect((await ask(server, '/readyz')).status).toBe(503);
  expect((await predict(server, 'm', { instances: [1] })).json).toEqual({
    error: 'Servable not found for request: Latest(m)',
  });
  const [status] = (await ask(server, '/v1/models/m')).json.model_version_status;
  expect(status).toMatchObject({ version: '1', state: 'END' });
});

test('while a large prediction of texts runs, the server answers others', async () => {
  const base = folder();
  // The same text many times upper and lower case: much work in many nodes.
  const attr = new Map([['encoding', { s: new Uint8Array() }]]);
  const nodes = 150;
  const node = [
    {
      name: 'x',
      op: 'Placeholder',
      attr: new Map<string, tensorflow.AttrValue>([
        ['dtype', { type: 7 }],
        ['shape', { shape: { dim: [{ size: -1 }] } }],
      ]),
    },
    ...Array.from({ length: nodes }, (_, i) => ({
      name: `n${i}`,
      op: i % 2 === 0 ? 'StringUpper' : 'StringLower',
      input: [i === 0 ? 'x' : `n${i - 1}`],
      attr,
    })),
  ];
  const info = (name: string): tensorflow.TensorInfo => ({
    name,
    dtype: 7,
    tensor_shape: { dim: [{ size: -1 }] },
  });
  const signature = {
    inputs: new Map([['x', info('x:0')]]),
    outputs: new Map([['y', info(`n${nodes - 1}:0`)]]),
    method_name: 'tensorflow/serving/predict',
  };
  const meta = {
    meta_info_def: { tags: ['serve'] },
    graph_def: { node },
    signature_def: new Map([['serving_default', signature]]),
  };
  mkdirSync(join(base, '1'));
  writeFileSync(join(base, '1', 'saved_model.pb'), tensorflow.SavedModel.encode({ meta_graphs: [meta] }));
  const server = await serve(base);
  let answered = 0;
  // A fast machine needs more texts, so that others ask while it works.
  for (let count = 3000; count < 1e6 && answered <= 2; count *= 4) {
    const texts = Array.from({ length: count }, (_, i) => `Text ${i}`);
    let isOver = false;
    const prediction = predict(server, 'm', { inputs: texts }).finally(() => {
      isOver = true;
    });
    // Once it has begun, and before it is over.
    while (!isOver) {
      const [health, metrics] = await Promise.all([
        ask(server, '/healthz'),
        ask(server, '/monitoring/prometheus/metrics'),
      ]);
      expect([health.status, metrics.status]).toEqual([200, 200]);
      if (/in_flight[^\n]* 1\b/.test(metrics.text)) answered++;
    }
    expect((await prediction).json.outputs).toEqual(texts.map((text) => text.toLowerCase()));
  }
  expect(answered).toBeGreaterThan(2);
});
