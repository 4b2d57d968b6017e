import '@eagre/backend-js';
import '@eagre/backend-native';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Checkpoint, latestCheckpoint } from '@eagre/checkpoint';
import {
  DataLossError,
  EagreError,
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  ones,
  type Tensor,
  zeros,
} from '@eagre/core';
import { encodeSafetensors, type NDArray, readSafetensorsFile } from '@eagre/formats';
import { metrics } from '@eagre/metrics';
import { Adam, SGD } from '@eagre/optimizers';
import { afterAll, describe, expect, test } from 'vitest';
import { bundledProgram } from '../../../testing/src/bundled.ts';
import { BatchNormalization, Dense, Dropout } from '../layers/index.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-saving-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => join(folder, name);

const otherProcess = await bundledProgram(
  `
  import '@eagre/backend-js';
  import { Sequential, layers } from '@eagre/layers';
  const { Dense, BatchNormalization } = layers;
  const model = new Sequential([new Dense(3, { inputShape: [2] }), new BatchNormalization(), new Dense(1)]);
  await model.loadWeights(process.argv[2]);
  await model.saveWeights(process.argv[3]);
  console.log(JSON.stringify(model.getWeights().map((w) => w.array())));
`,
  'layers/src',
);

const make = (units = 3): Sequential =>
  new Sequential([new Dense(units, { inputShape: [2] }), new BatchNormalization(), new Dense(1)]);
const values = (model: Model): unknown[] => model.getWeights().map((w) => w.array());

class Nested extends Model {
  blocks = [make(), make()];
  head = new Dense(1, { name: 'head', dtype: 'float64' });
  unused = new Dropout(0.5);
  optimizer2 = new Adam();
  override call(x: Tensor): Tensor {
    return this.head((this.blocks[0] as Model)(x).add((this.blocks[1] as Model)(x)));
  }
}

test('a round trip', async () => {
  const a = make();
  await a.saveWeights(file('deep/er/a.safetensors'));
  const { tensors, metadata } = await readSafetensorsFile(file('deep/er/a.safetensors'));
  expect([...tensors.keys()].sort()).toEqual([
    'batch_normalization/beta',
    'batch_normalization/gamma',
    'batch_normalization/moving_mean',
    'batch_normalization/moving_variance',
    'dense/bias',
    'dense/kernel',
    'dense_1/bias',
    'dense_1/kernel',
  ]);
  expect(metadata).toEqual({ format: 'eagre' });
  const b = make();
  expect(values(b)).not.toEqual(values(a));
  await b.loadWeights(file('deep/er/a.safetensors'));
  expect(values(b)).toEqual(values(a));
});

test('nested, with both precisions, without the optimizer that is an attribute', async () => {
  const a = new Nested();
  a(ones([1, 2]));
  await a.saveWeights(file('nested.safetensors'));
  const { tensors } = await readSafetensorsFile(file('nested.safetensors'));
  expect(tensors.size).toBe(18);
  expect(tensors.get('head/kernel')?.dtype).toBe('float64');
  expect(tensors.has('sequential_1/dense_1/kernel')).toBe(true);
  const b = new Nested();
  b.build([null, 2]);
  await b.loadWeights(file('nested.safetensors'));
  expect(values(b)).toEqual(values(a));
});

test('in another process', async () => {
  const a = make();
  // So that names of layers differ from those in the other process.
  await a.saveWeights(file('here.safetensors'));
  const files = [file('here.safetensors'), file('there.safetensors')];
  const child = spawnSync(process.execPath, [otherProcess, ...files], { encoding: 'utf8' });
  expect(child.stderr).toBe('');
  expect(JSON.parse(child.stdout)).toEqual(values(a));
  expect(readFileSync(file('there.safetensors'))).toEqual(readFileSync(file('here.safetensors')));
});

describe('what goes wrong leaves everything as it was', () => {
  test('a write that fails', async () => {
    const own = mkdtempSync(join(folder, 'locked-'));
    const path = join(own, 'w.safetensors');
    const model = make();
    await model.saveWeights(path);
    const before = readFileSync(path);
    model.setWeights(model.getWeights().map((w) => w.add(1)));
    // A folder in place of the file: renaming over it fails, for root too.
    const blocked = join(own, 'blocked.safetensors');
    mkdirSync(blocked);
    writeFileSync(join(blocked, 'inside'), '');
    await expect(model.saveWeights(blocked)).rejects.toThrow();
    expect(readdirSync(own).sort()).toEqual(['blocked.safetensors', 'w.safetensors']);
    chmodSync(own, 0o500);
    if (process.getuid?.() !== 0) await expect(model.saveWeights(path)).rejects.toThrow();
    chmodSync(own, 0o700);
    if (process.getuid?.() !== 0) expect(readFileSync(path)).toEqual(before);
  });

  test('damaged files', async () => {
    const model = make();
    const path = file('whole.safetensors');
    await model.saveWeights(path);
    const bytes = readFileSync(path);
    const before = values(model);
    const damaged: Record<string, Uint8Array> = {
      empty: new Uint8Array(),
      short: bytes.subarray(0, 5),
      header: bytes.subarray(0, 100),
      cut: bytes.subarray(0, bytes.length - 1),
      longer: Buffer.concat([bytes, Buffer.of(0)]),
      noise: Buffer.from('not a file of weights at all, but long enough to look at'),
    };
    for (const [name, content] of Object.entries(damaged)) {
      writeFileSync(file('damaged.safetensors'), content);
      await expect(model.loadWeights(file('damaged.safetensors')), name).rejects.toThrow(DataLossError);
    }
    await expect(model.loadWeights(file('nowhere.safetensors'))).rejects.toThrow(NotFoundError);
    expect(values(model)).toEqual(before);
  });

  test('files of another model', async () => {
    const model = make();
    await model.saveWeights(file('fits.safetensors'));
    const { tensors } = await readSafetensorsFile(file('fits.safetensors'));
    const before = values(model);
    const attempt = async (change: (arrays: Map<string, NDArray>) => void): Promise<unknown> => {
      const arrays = new Map(tensors);
      // Would show if anything were assigned before everything is checked.
      for (const [key, { shape, data }] of arrays)
        arrays.set(key, { dtype: 'float32', shape, data: new Float32Array(data.length).fill(9) });
      change(arrays);
      writeFileSync(file('other.safetensors'), encodeSafetensors(arrays));
      return model.loadWeights(file('other.safetensors'));
    };
    await expect(attempt((a) => a.delete('dense_1/bias'))).rejects.toThrow('the file lacks dense_1/bias');
    await expect(
      attempt((a) => a.set('extra', { data: new Float32Array(1), shape: [1], dtype: 'float32' })),
    ).rejects.toThrow('the model lacks extra');
    await expect(
      attempt((a) => a.set('dense_1/kernel', { data: new Float32Array(2), shape: [2, 1], dtype: 'float32' })),
    ).rejects.toThrow('dense_1/kernel is float32 [2, 1], the model has float32 [3, 1]');
    await expect(
      attempt((a) => a.set('dense_1/bias', { data: new Float64Array(1), shape: [1], dtype: 'float64' })),
    ).rejects.toThrow(InvalidArgumentError);
    expect(values(model)).toEqual(before);
    await attempt(() => {});
    expect(values(model)).not.toEqual(before);
  });

  test('models that have no weights yet, other endings', async () => {
    const unbuilt = new Sequential([new Dense(1)]);
    await expect(unbuilt.saveWeights(file('x.safetensors'))).rejects.toThrow(FailedPreconditionError);
    await expect(unbuilt.loadWeights(file('fits.safetensors'))).rejects.toThrow('has no weights yet');
    await expect(make().saveWeights(file('x.bin'))).rejects.toThrow('.safetensors');
    await expect(make().loadWeights(file('x.txt'))).rejects.toThrow('.safetensors');
    await expect(make().saveWeights(file('x.h5'))).rejects.toThrow(/must end in .weights.h5/);
    expect(readdirSync(folder).includes('x.safetensors')).toBe(false);
  });
});

test.each(['half.safetensors', 'half.npz', 'half.weights.h5', 'halves/of'])(
  'a layer that nothing has called has no weights, and does not prevent saving: %s',
  async (name) => {
    class Half extends Model {
      a = new Dense(1);
      b = new Dense(1, { name: 'never_called' });
      override call(x: Tensor): Tensor {
        return this.a(x);
      }
    }
    const made = (): Half => {
      const model = new Half();
      model(ones([1, 2]));
      return model;
    };
    const [first, second] = [made(), made()];
    await first.saveWeights(file(name));
    await second.loadWeights(file(name));
    expect(values(second)).toEqual(values(first));
    await expect(new Half().saveWeights(file(name.replace('h', 'n')))).rejects.toThrow('has no weights yet');

    // In the file there are some: then there must be a place for them.
    const whole = made();
    whole.b(ones([1, 2]));
    await whole.saveWeights(file(name));
    const before = values(second);
    if (name !== 'halves/of') {
      await expect(second.loadWeights(file(name))).rejects.toThrow(EagreError);
      expect(values(second)).toEqual(before);
    }
  },
);

test('a layer that is called in training only and has no weights does not prevent saving', async () => {
  class Trains extends Model {
    dense = new Dense(1);
    dropout = new Dropout(0.5);
    override call(x: Tensor, { training }: { training?: boolean }): Tensor {
      return training === true ? this.dropout(this.dense(x)) : this.dense(x);
    }
  }
  const model = new Trains();
  model(zeros([1, 2]));
  await model.saveWeights(file('trains.safetensors'));
});

test.each(['arrays.npz', 'checkpoint/of', 'w.safetensors'])('weights in %s', async (name) => {
  const a = make();
  const wanted = values(a);
  await a.saveWeights(file(name));
  const b = make();
  const status = await b.loadWeights(file(name));
  expect(values(b)).toEqual(wanted);
  expect(status === null).toBe(name !== 'checkpoint/of');
  status?.assertConsumed();
  if (status === null) return;
  expect(latestCheckpoint(file('checkpoint'))).toBe(file(name));
  const later = new Sequential([new Dense(3), new BatchNormalization(), new Dense(1)]);
  const deferred = await later.loadWeights(file(name));
  later(ones([1, 2]));
  expect(values(later)).toEqual(wanted);
  deferred?.assertConsumed();
  await expect(make(4).loadWeights(file(name))).rejects.toThrow(InvalidArgumentError);
  await expect(make().loadWeights(file('nowhere'))).rejects.toThrow(NotFoundError);
});

test('a checkpoint in which a built model finds nothing is refused', async () => {
  const [saved, other] = [new Sequential([new Dense(2)]), new Sequential([new Dense(2)])];
  for (const model of [saved, other]) model(ones([1, 3]));
  const folder = mkdtempSync(join(tmpdir(), 'eagre-nothing-'));
  try {
    const path = await new Checkpoint({ other: saved }).save(join(folder, 'a'));
    await expect(other.loadWeights(path)).rejects.toThrow('Nothing except the root object matched');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('whole numbers are written as floats where Keras refuses integers', () => {
  const model = make();
  const fBeta = new metrics.FBetaScore({ beta: 1, threshold: 1 });
  model.compile({ optimizer: new SGD(1, { momentum: 0 }), loss: 'mse', metrics: [fBeta] });
  for (const indent of [0, 2]) {
    const text = model.toJSON({ indent }).replaceAll(': ', ':');
    for (const name of ['learning_rate', 'momentum', 'beta', 'threshold'])
      expect(
        [...text.matchAll(new RegExp(`"${name}":([^,}\\s]*)`, 'g'))].map(([, value]) => value),
      ).toContain(name === 'momentum' ? '0.0' : '1.0');
  }
});
