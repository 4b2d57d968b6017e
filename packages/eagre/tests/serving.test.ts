import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const servers: tf.serving.Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(
  models: tf.serving.ServedModels,
  options: tf.serving.ServerOptions = {},
): Promise<tf.serving.Server> {
  const server = await tf.serving.createServer(models, { port: 0, ...options });
  servers.push(server);
  return server;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever was answered
async function predict(server: tf.serving.Server, name: string, body: unknown): Promise<any> {
  const url = `${server.url}/v1/models/${name}:predict`;
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  return response.json();
}

describe('served models of Keras', () => {
  test('give what predict gives', async () => {
    const model = new tf.Sequential([
      new tf.layers.Conv2D(4, 3, { activation: 'relu', inputShape: [8, 8, 1] }),
      new tf.layers.BatchNormalization(),
      new tf.layers.Dropout(0.5),
      new tf.layers.Flatten(),
      new tf.layers.Dense(3, { activation: 'softmax' }),
    ]);
    const x = tf.random.normal([20, 8, 8, 1]);
    const expected = (await model.predict(x)).array<number[][]>();
    const server = await serve(model, { name: 'cnn', batching: { maxBatchSize: 8 } });
    const rows = x.array<number[][]>();
    const answers = await Promise.all(rows.map((row) => predict(server, 'cnn', { instances: [row] })));
    answers.forEach(({ predictions: [row] }, i) => {
      row.forEach((v: number, j: number) => expect(v).toBeCloseTo((expected[i] as number[])[j] as number, 5));
    });
    const whole = await predict(server, 'cnn', { inputs: rows });
    expect(whole.outputs).toHaveLength(20);
  });

  test('take and give several tensors by their names', async () => {
    const a = tf.Input({ shape: [2], name: 'a' });
    const b = tf.Input({ shape: [3], name: 'b' });
    const model = new tf.Model({ inputs: [a, b], outputs: [new tf.layers.Concatenate()([a, b]), a.mul(2)] });
    const server = await serve({ both: model });
    const answer = await predict(server, 'both', { instances: [{ a: [1, 2], b: [3, 4, 5] }] });
    expect(answer).toEqual({ predictions: [{ output_0: [1, 2, 3, 4, 5], output_1: [2, 4] }] });
    const columns = await predict(server, 'both', { inputs: { a: [[1, 2]], b: [[3, 4, 5]] } });
    expect(columns.outputs.output_1).toEqual([[2, 4]]);
  });

  test('need inputs', async () => {
    const model = new tf.Sequential([new tf.layers.Dense(2)]);
    await expect(serve(model)).rejects.toThrow('are not known: give its first layer an input shape');
  });
});

test('all by name, and beside traced functions and objects of one’s own', async () => {
  const double = tf.function((x: tf.Tensor) => x.mul(2), { inputSignature: [new tf.TensorSpec([null, 2])] });
  const greeter: tf.serving.Servable = {
    signatures: {
      serving_default: {
        inputs: { name: { dtype: 'string', shape: [null] } },
        outputs: { greeting: { dtype: 'string', shape: [null] } },
        run: async ({ name }) => ({
          greeting: {
            ...name,
            values: [...(name as tf.serving.HostTensor).values].map((v) => `hello ${String(v)}`),
          } as tf.serving.HostTensor,
        }),
      },
    },
  };
  const server = await tf.serving.createServer({ models: { double, greeter }, port: 0 });
  servers.push(server);
  expect(await predict(server, 'double', { instances: [[1, 2]] })).toEqual({ predictions: [[2, 4]] });
  expect(await predict(server, 'greeter', { instances: ['you'] })).toEqual({ predictions: ['hello you'] });
  expect(server.models).toEqual({ double: [1], greeter: [1] });
});

test('health answers while a slow prediction runs', async () => {
  const spin = tf.function(
    (x: tf.Tensor) => {
      const [, y] = tf.whileLoop(
        (i) => i.less(2_000_000_000),
        (i, y) => [i.add(1), y.mul(0.999).add(1)] as const,
        [tf.constant(0, 'int32'), x] as const,
      );
      return y;
    },
    { inputSignature: [new tf.TensorSpec([null])] },
  );
  const server = await serve(spin, { predictTimeoutMs: 300_000 });
  const client = new AbortController();
  let isOver = false;
  const slow = fetch(`${server.url}/v1/models/default:predict`, {
    method: 'POST',
    body: JSON.stringify({ instances: [0] }),
    signal: client.signal,
  }).finally(() => {
    isOver = true;
  });
  for (let i = 0; i < 4; i++) expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect(isOver).toBe(false);
  client.abort();
  await expect(slow).rejects.toThrow();
  const impatient = await serve(spin, { predictTimeoutMs: 100 });
  expect(await predict(impatient, 'default', { instances: [0] })).toEqual({
    error: 'the request took more than 100 ms',
  });
});

test('a server that has closed holds nothing', async () => {
  const models: WeakRef<object>[] = [];
  const once = async (): Promise<void> => {
    const model = new tf.Sequential([new tf.layers.Dense(10, { inputShape: [10] }), new tf.layers.Dense(1)]);
    models.push(new WeakRef(model));
    const server = await tf.serving.createServer(model, { port: 0, batching: true });
    const instances = [Array.from({ length: 10 }, (_, i) => i)];
    await Promise.all(Array.from({ length: 3 }, () => predict(server, 'default', { instances })));
    await server.close();
  };
  for (let i = 0; i < 4; i++) await once();
  const held = (): number => {
    (globalThis as { gc?: () => void }).gc?.();
    return models.filter((model) => model.deref() !== undefined).length;
  };
  await expect.poll(held).toBe(0);
});

test('models that Eagre has saved are served', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-served-'));
  try {
    const model = new tf.Sequential([
      new tf.layers.Dense(4, { activation: 'relu', inputShape: [3] }),
      new tf.layers.Dense(2),
    ]);
    const x = tf.random.normal([6, 3]);
    const expected = model(x, { training: false }).array<number[][]>();
    await model.export(join(folder, 'mine/1'));
    const server = await serve({ mine: join(folder, 'mine') }, { batching: true });
    const rows = x.array<number[][]>();
    const answers = await Promise.all(rows.map((row) => predict(server, 'mine', { instances: [row] })));
    answers.forEach(({ predictions: [row] }, i) => {
      row.forEach((v: number, j: number) => expect(v).toBeCloseTo(expected[i]?.[j] as number, 5));
    });
    const half = tf.function((v: tf.Tensor) => ({ y: v.mul(0.5) }), {
      inputSignature: [new tf.TensorSpec([null], 'float32', 'v')],
    });
    const module = new (class extends tf.Module {
      half = half;
    })();
    await tf.savedModel.save(module, join(folder, 'half/3'), { signatures: half });
    const other = await serve(join(folder, 'half'));
    expect(await predict(other, 'half', { instances: [{ v: 3 }] })).toEqual({ predictions: [1.5] });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
