import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SEED } from '@eagre/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { mutate, randomSource } from '../../formats/src/testing/mutate.ts';
import * as tf from '../src/index.ts';

// Files of models with a few wrong bytes: a typed error or a model, soon, and without much memory. A model that weights are read into stays
// as it was. `pnpm fuzz --runs=10000 packages/eagre/tests/damaged-files` tries more of them.

const RUNS = Number(process.env['EAGRE_FUZZ_RUNS'] ?? 60);
// Of the processor's time: other programs may run meanwhile.
const MOST_SECONDS = 2;
const MOST_MEGABYTES = 500;

const folder = mkdtempSync(join(tmpdir(), 'eagre-damaged-files-'));
const inside = (name: string): string => join(folder, name);
beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** Damages `files` in turn, and has `attempt` use what is there. */
async function damage(files: readonly string[], attempt: () => Promise<void>): Promise<void> {
  const random = randomSource(SEED);
  const contents = files.map((file) => readFileSync(file));
  const before = process.memoryUsage.rss();
  let [refused, used] = [0, 0];
  for (let run = 0; run < RUNS; run++) {
    const [file, bytes] = [files[run % files.length]!, contents[run % files.length]!];
    const damaged = mutate(bytes, random);
    writeFileSync(file, damaged);
    // The files of a run that ends the process, or never ends.
    if (process.env['EAGRE_FUZZ_LOG'] === 'calls') writeFileSync(`${folder}-last`, damaged);
    const where = (): string =>
      `run ${run}, seed ${SEED}, ${file}: ${Buffer.from(damaged).toString('base64')}`;
    const start = process.cpuUsage();
    try {
      await attempt();
      used++;
    } catch (cause) {
      if (!(cause instanceof tf.errors.EagreError) || cause.code === 'INTERNAL')
        throw new Error(where(), { cause });
      refused++;
    } finally {
      writeFileSync(file, bytes);
    }
    const { user, system } = process.cpuUsage(start);
    if (user + system > MOST_SECONDS * 1e6) throw new Error(`took ${(user + system) / 1e6} s: ${where()}`);
    const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
    if (grown > MOST_MEGABYTES) throw new Error(`the memory grew by ${grown} MB by ${where()}`);
  }
  if (process.env['EAGRE_FUZZ_LOG']) console.info(`${files.join()}: ${refused} refused, ${used} used`);
  expect(refused).toBeGreaterThan(0);
}

const makeModel = (): tf.Sequential => {
  const { layers } = tf.keras;
  const model = new tf.keras.Sequential([
    tf.keras.Input([6, 2]),
    new layers.Conv1D(3, 2, { activation: 'relu' }),
    new layers.BatchNormalization(),
    new layers.LSTM(2),
    new layers.Dense(2, { name: 'last' }),
  ]);
  model.compile({ optimizer: 'adam', loss: 'mse' });
  return model;
};
const x = tf.ones([1, 6, 2]);
const trained = async (): Promise<tf.Sequential> => {
  const model = makeModel();
  await model.fit(tf.ones([4, 6, 2]), tf.zeros([4, 2]), { verbose: 0 });
  return model;
};

/** The arguments of a signature, of ones. */
function argumentsOf(specs: Readonly<Record<string, tf.TensorSpec>>): Record<string, tf.Tensor> {
  const sample = ({ shape, dtype }: tf.TensorSpec): tf.Tensor => {
    const sizes = (shape ?? []).map((d) => d ?? 1);
    // What a file asks for may be too large to be made.
    if (sizes.reduce((n, d) => n * d, 1) > 1e6) throw new tf.errors.InvalidArgumentError('too large');
    return tf.zeros(sizes, { dtype });
  };
  return Object.fromEntries(Object.entries(specs).map(([name, spec]) => [name, sample(spec)]));
}

describe('damaged files of', () => {
  for (const name of ['saved_model.pb', 'variables.index', 'variables.data-00000-of-00001'])
    test(`SavedModels, ${name}`, async () => {
      const path = inside(`saved-${name}`);
      await (await trained()).export(path, { verbose: false });
      const file = join(path, name === 'saved_model.pb' ? name : join('variables', name));
      let run = 0;
      await damage([file], async () => {
        const model = await tf.savedModel.load(path, { lazy: run++ % 2 === 1 });
        for (const call of Object.values(model.signatures))
          call(argumentsOf(call.structuredInputSignature[1]));
      });
    });

  test('.keras', async () => {
    const path = inside('model.keras');
    await (await trained()).save(path);
    await damage([path], async () => {
      (await tf.keras.models.loadModel(path)).predictOnBatch(x);
    });
  });

  test('.keras, not packed', async () => {
    const path = inside('unpacked');
    await (await trained()).save(path, { zipped: false });
    const names = ['config.json', 'metadata.json', 'model.weights.h5'];
    await damage(
      names.map((name) => join(path, name)),
      async () => {
        (await tf.keras.models.loadModel(path)).predictOnBatch(x);
      },
    );
  });

  test('.h5', async () => {
    const path = inside('model.h5');
    await (await trained()).save(path);
    await damage([path], async () => {
      (await tf.keras.models.loadModel(path)).predictOnBatch(x);
    });
  });

  for (const ending of ['weights.h5', 'safetensors', 'npz'])
    test(`.${ending}`, async () => {
      const path = inside(`x.${ending}`);
      await (await trained()).saveWeights(path);
      const model = makeModel();
      const values = (): unknown => model.weights.map((v) => v.array());
      await damage([path], async () => {
        const before = values();
        try {
          await model.loadWeights(path);
        } catch (error) {
          expect(values()).toEqual(before);
          throw error;
        }
      });
    });

  test('ONNX', async () => {
    const path = inside('model.onnx');
    await tf.onnx.save(await trained(), path);
    await damage([path], async () => {
      const model = await tf.onnx.load(path);
      model(x);
    });
  });

  test('ONNX with external data', async () => {
    const path = inside('external.onnx');
    await tf.onnx.save(await trained(), path, { externalData: true });
    await damage([path], async () => {
      const model = await tf.onnx.load(path);
      model(x);
    });
  });

  test('GraphDefs', async () => {
    const graph = new tf.compat.v1.Graph();
    graph.asDefault(() => {
      const input = tf.compat.v1.placeholder('float32', [null, 6, 2], { name: 'x' });
      const kernel = tf.constant([
        [1, 2],
        [3, 4],
      ]);
      const looped = tf.whileLoop(
        (i: tf.Tensor) => i.less(3),
        (i: tf.Tensor, y: tf.Tensor) => [i.add(1), y.matmul(kernel).tanh()],
        [tf.constant(0, 'int32'), input],
      )[1] as tf.Tensor;
      return tf.cond(
        looped.sum().greater(0),
        () => looped.softmax(),
        () => looped.mean(1, { keepdims: true }).add(looped),
      );
    });
    const path = inside('graph.pb');
    writeFileSync(path, graph.asGraphDef());
    await damage([path], async () => {
      const loaded = await tf.savedModel.loadGraphDef(path);
      loaded.prune('x:0', `${loaded.nodeNames.at(-1)}:0`)(x);
    });
  });
});
