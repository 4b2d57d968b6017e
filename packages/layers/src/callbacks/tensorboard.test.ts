import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, ones, type Tensor, UnimplementedError } from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { Adam, SGD, schedules } from '@eagre/optimizers';
import * as summary from '@eagre/summary';
import { afterAll, describe, expect, it } from 'vitest';
import { Add, Conv2D, Dense, Embedding, Flatten } from '../layers/index.ts';
import { Input } from '../models/functional.ts';
import { Model } from '../models/model.ts';
import { Sequential } from '../models/sequential.ts';
import { Callback } from './callback.ts';
import { TensorBoard, type TensorBoardOptions } from './tensorboard.ts';

const root = mkdtempSync(join(tmpdir(), 'eagre-tensorboard-'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = (): string => join(root, String(folders++));

// By real Keras, made by tools/golden/keras_tensorboard.py.
type Entry = [tag: string, step: number, plugin: string, shape?: number[]];
interface Case {
  readonly options: Record<string, unknown>;
  readonly fit: { readonly epochs: number; readonly validation: boolean };
  readonly runs: Record<string, Entry[]>;
}
const golden = JSON.parse(
  readFileSync(new URL('../../golden/tensorboard.json', import.meta.url), 'utf8'),
) as {
  cases: Record<string, Case>;
};

function dense(): { model: Model; x: Tensor; y: Tensor } {
  const model = new Sequential([new Dense(4, { name: 'a', inputShape: [3] }), new Dense(1, { name: 'b' })], {
    name: 'model',
  });
  model.compile({ optimizer: new SGD(0.01), loss: 'mse', metrics: ['mae'] });
  return { model, x: ones([8, 3]), y: ones([8, 1]) };
}
function conv(): { model: Model; x: Tensor; y: Tensor } {
  const layers = [
    new Conv2D(2, 3, { name: 'c', inputShape: [4, 4, 1] }),
    new Flatten({ name: 'f' }),
    new Dense(3, { name: 'd' }),
  ];
  const model = new Sequential(layers, { name: 'model' });
  model.compile({
    optimizer: new Adam(
      new schedules.ExponentialDecay({ initialLearningRate: 0.1, decaySteps: 1, decayRate: 0.5 }),
    ),
    loss: 'mse',
  });
  return { model, x: ones([4, 4, 4, 1]), y: ones([4, 3]) };
}

/** What a folder holds, as the golden file says it; graphs are apart. */
function entriesIn(folder: string): { runs: Record<string, Entry[]>; graphs: string[] } {
  const runs: Record<string, Entry[]> = {};
  const graphs: string[] = [];
  for (const e of summary.readEvents(folder)) {
    if (e.kind === 'graph') graphs.push(e.run);
    if (!('tag' in e)) continue;
    const plugin = {
      scalar: 'scalars',
      histogram: 'histograms',
      image: 'images',
      kerasModel: 'graph_keras_model',
    };
    const entry: Entry = [e.tag, Number(e.step), plugin[e.kind as keyof typeof plugin]];
    if (e.kind === 'histogram') entry.push([e.buckets.length, 3]);
    if (e.kind === 'image') entry.push([e.images.length + 2, e.width, e.height]);
    const list = (runs[e.run] ??= []);
    list.push(entry);
  }
  return { runs, graphs };
}

const camel = (name: string): string => name.replace(/_(.)/g, (_, c: string) => c.toUpperCase());

describe('the tags, steps, plugins and shapes of Keras', () => {
  it.each(Object.entries(golden.cases))('%s', async (name, { options, fit, runs }) => {
    const { model, x, y } = name === 'images' ? conv() : dense();
    const folder = newFolder();
    const own = Object.fromEntries(Object.entries(options).map(([key, value]) => [camel(key), value]));
    const board = new TensorBoard(folder, own as TensorBoardOptions);
    await model.fit(x, y, {
      batchSize: 2,
      epochs: fit.epochs,
      verbose: 0,
      callbacks: [board],
      ...(fit.validation
        ? { validationData: [x.at('0:4'), y.at('0:4')] as [Tensor, Tensor], validationBatchSize: 2 }
        : {}),
    });
    const found = entriesIn(folder);
    if (name === 'every_third') {
      // Keras leaves out what comes after a batch that is not recorded, means over epochs too.
      const list = found.runs['train'] as Entry[];
      expect(list.filter(([tag]) => tag.startsWith('batch_'))).toEqual(runs['train']);
      expect(list.filter(([tag]) => tag.startsWith('epoch_')).map(([tag, step]) => `${tag} ${step}`)).toEqual(
        [0, 1].flatMap((epoch) =>
          ['loss', 'mae', 'learning_rate', 'steps_per_second'].map((tag) => `epoch_${tag} ${epoch}`),
        ),
      );
    } else expect(found.runs).toEqual(runs);
    expect(found.graphs).toEqual(options['write_graph'] === false ? [] : ['train']);
  });
});

it('values are those of the history', async () => {
  const { model, x, y } = dense();
  const folder = newFolder();
  const history = await model.fit(x, y, { epochs: 3, verbose: 0, callbacks: [new TensorBoard(folder)] });
  const losses = [...summary.readEvents(folder)].flatMap((e) =>
    e.kind === 'scalar' && e.tag === 'epoch_loss' ? [e.value] : [],
  );
  expect(losses).toEqual(history.history['loss']?.map(Math.fround));
});

it("weights have Keras's paths in models of any kind", async () => {
  const tagsOf = async (model: Model): Promise<string[]> => {
    const folder = newFolder();
    model.compile({ optimizer: 'sgd', loss: 'mse' });
    await model.fit(ones([4, 4]), ones([4, 1]), {
      verbose: 0,
      callbacks: [new TensorBoard(folder, { histogramFreq: 1 })],
    });
    const tags = [...summary.readEvents(folder)].flatMap((e) => (e.kind === 'histogram' ? [e.tag] : []));
    return tags.filter((tag) => tag.includes('kernel')).map((tag) => tag.replace('/kernel/histogram', ''));
  };
  const input = Input({ shape: [4] });
  const inner = new Sequential([new Dense(3, { name: 'd1' })], { name: 'inner' });
  const outputs = new Dense(1, { name: 'out' })(inner(new Dense(5, { name: 'left' })(input)));
  expect(await tagsOf(new Model({ inputs: input, outputs }))).toEqual(['left', 'inner/d1', 'out']);
  const deep = new Model({ inputs: input, outputs: new Dense(2, { name: 'z' })(input), name: 'deep' });
  const last = new Dense(1, { name: 'last' });
  expect(await tagsOf(new Sequential([deep, last], { name: 'seq' }))).toEqual(['z', 'seq/last']);
});

it('the graph of a training step, and the layers', async () => {
  const { model, x, y } = dense();
  const folder = newFolder();
  await model.fit(x, y, { verbose: 0, callbacks: [new TensorBoard(folder)] });
  const events = [...summary.readEvents(folder)];
  const graph = events.find((e) => e.kind === 'graph');
  const ops = tensorflow.GraphDef.decode(graph!.graphDef).node?.map((n) => n.op);
  expect(ops).toContain('MatMul');
  expect(ops?.some((op) => op?.startsWith('Assign'))).toBe(true);
  const keras = events.find((e) => e.kind === 'kerasModel');
  const outline = JSON.parse(keras!.json);
  expect(outline.class_name).toBe('Sequential');
  expect(outline.config.layers.map((l: { config: { name: string } }) => l.config.name)).toEqual([
    expect.stringMatching('input_layer'),
    'a',
    'b',
  ]);

  const input = Input({ shape: [3], name: 'in' });
  const first = new Dense(3, { name: 'first' })(input);
  const both = new Add({ name: 'both' })([input, first]);
  const functional = new Model({ inputs: input, outputs: both, name: 'functional' });
  functional.compile({ loss: 'mse' });
  const other = newFolder();
  await functional.fit(x, ones([8, 3]), { verbose: 0, callbacks: [new TensorBoard(other)] });
  const json = [...summary.readEvents(other)].find((e) => e.kind === 'kerasModel')!.json;
  const { config } = JSON.parse(json);
  expect(config.input_layers).toEqual(['in', 0, 0]);
  expect(config.output_layers).toEqual(['both', 0, 0]);
  const calls = config.layers[2].inbound_nodes[0].args[0] as { config: { keras_history: unknown } }[];
  expect(calls.map((a) => a.config.keras_history)).toEqual([
    ['in', 0, 0],
    ['first', 0, 0],
  ]);
  // What no file holds is no reason not to train.
  const odd = new Model(input, input.squaredDifference(first));
  odd.compile({ loss: 'mse' });
  const third = newFolder();
  await odd.fit(x, ones([8, 3]), { verbose: 0, callbacks: [new TensorBoard(third)] });
  expect([...summary.readEvents(third)].some((e) => e.kind === 'kerasModel')).toBe(false);
});

it('what layers write goes into the run with the step of the batch, each time in the writer of that training', async () => {
  class Watched extends Dense {
    override call(x: Tensor): Tensor {
      summary.scalar('mean', x.mean());
      return super.call(x);
    }
  }
  const model = new Sequential([new Watched(1, { inputShape: [3] })]);
  model.compile({ loss: 'mse' });
  // Traced without a writer first.
  await model.fit(ones([2, 3]), ones([2, 1]), { verbose: 0 });
  const means = async (updateFreq: number | 'epoch'): Promise<unknown[]> => {
    const folder = newFolder();
    const board = new TensorBoard(folder, { updateFreq });
    const validationData: [Tensor, Tensor] = [ones([2, 3]), ones([2, 1])];
    await model.fit(ones([8, 3]), ones([8, 1]), {
      batchSize: 2,
      verbose: 0,
      callbacks: [board],
      validationData,
    });
    return [...summary.readEvents(folder)].flatMap((e) =>
      e.kind === 'scalar' && e.tag.includes('mean') ? [[e.run, e.step]] : [],
    );
  };
  const expected = [2, 4].map((step) => ['train', step]);
  expect(await means(2)).toEqual(expected);
  expect(await means(2)).toEqual(expected);
  expect((await means(1)).length).toBe(5);
  expect(await means('epoch')).toEqual([]);
});

it('embeddings for the projector', async () => {
  const folder = newFolder();
  const layer = new Embedding(5, 3, { name: 'words here' });
  const model = new Sequential([layer, new Flatten(), new Dense(1)]);
  model.compile({ loss: 'mse' });
  const options = { embeddingsFreq: 2, embeddingsMetadata: { 'words here': 'labels.tsv' } };
  await model.fit(ones([4, 2]), ones([4, 1]), {
    epochs: 3,
    verbose: 0,
    callbacks: [new TensorBoard(folder, options)],
  });
  expect(readFileSync(join(folder, 'projector_config.pbtxt'), 'utf8')).toBe(`embeddings {
  tensor_name: "words here/embeddings"
  metadata_path: "labels.tsv"
  tensor_shape: 5
  tensor_shape: 3
  tensor_path: "train/words_here-2.tsv"
}
`);
  const rows = readFileSync(join(folder, 'train/words_here-2.tsv'), 'utf8').trimEnd().split('\n');
  expect(rows.map((row) => row.split('\t').map(Number))).toEqual(
    (layer.embeddings.array() as number[][]).map((row) => row.map((v) => Number(String(v)))),
  );
  expect(readdirSync(join(folder, 'train')).filter((name) => name.endsWith('.tsv'))).toHaveLength(2);
  const wrong = new TensorBoard(newFolder(), { embeddingsFreq: 1, embeddingsMetadata: { nobody: 'x.tsv' } });
  await expect(model.fit(ones([4, 2]), ones([4, 1]), { verbose: 0, callbacks: [wrong] })).rejects.toThrow(
    "names the layer 'nobody'; embeddings are words here",
  );
});

it('evaluate by itself writes too, and an error leaves no writer behind', async () => {
  const { model, x, y } = dense();
  const folder = newFolder();
  await model.evaluate(x, y, { verbose: 0, callbacks: [new TensorBoard(folder, { updateFreq: 1 })] });
  expect(entriesIn(folder).runs).toEqual({
    validation: [
      ['evaluation_loss_vs_iterations', 0, 'scalars'],
      ['evaluation_mae_vs_iterations', 0, 'scalars'],
    ],
  });
  class Fails extends Callback {
    override onTrainBatchEnd(): void {
      throw new Error('no');
    }
    override onTestBatchEnd(): void {
      throw new Error('no');
    }
  }
  const callbacks = [new TensorBoard(newFolder(), { updateFreq: 1 }), new Fails()];
  await expect(model.fit(x, y, { verbose: 0, callbacks })).rejects.toThrow('no');
  expect(summary.shouldRecordSummaries()).toBe(false);
  await expect(model.evaluate(x, y, { verbose: 0, callbacks })).rejects.toThrow('no');
  expect(summary.shouldRecordSummaries()).toBe(false);
  expect(summary.experimental.getStep()).toBe(null);
});

it('trainings beside each other write each into its own folder', async () => {
  class Watched extends Dense {
    override call(x: Tensor): Tensor {
      summary.scalar('inside', 1);
      return super.call(x) as Tensor;
    }
  }
  const one = async (batches: number, updateFreq: number): Promise<unknown[]> => {
    const folder = newFolder();
    const model = new Sequential([new Watched(1, { inputShape: [3] })]);
    model.compile({ loss: 'mse' });
    class Waits extends Callback {
      override async onTrainBatchBegin(): Promise<void> {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    await model.fit(ones([2 * batches, 3]), ones([2 * batches, 1]), {
      batchSize: 2,
      epochs: 2,
      verbose: 0,
      callbacks: [new TensorBoard(folder, { updateFreq, writeGraph: false }), new Waits()],
      validationData: [ones([2, 3]), ones([2, 1])],
    });
    return [...summary.readEvents(folder)].flatMap((e) =>
      e.kind === 'scalar' && (e.tag === 'batch_loss' || e.tag.endsWith('inside'))
        ? [`${e.run} ${e.tag.split('/').at(-1)} ${e.step}`]
        : [],
    );
  };
  const alone = [await one(3, 1), await one(5, 2)];
  expect(alone[0]).toContain('train inside 6');
  expect(alone[1]).toContain('train batch_loss 10');
  expect(await Promise.all([one(3, 1), one(5, 2)])).toEqual(alone);
  expect(summary.shouldRecordSummaries()).toBe(false);
});

it('says at once what cannot be', () => {
  expect(() => new TensorBoard('logs', { profileBatch: 2 as never })).toThrow(UnimplementedError);
  expect(() => new TensorBoard('logs', { updateFreq: 0 })).toThrow(
    'updateFreq must be an integer of at least 1, got 0',
  );
  expect(() => new TensorBoard('logs', { histogramFreq: -1 })).toThrow(InvalidArgumentError);
  expect(() => new TensorBoard({ logdir: 'logs' } as never)).toThrow(
    "TensorBoard: 'logdir' is not an option",
  );
  expect(() => new TensorBoard('logs', { embeddingsMetadata: 'x.tsv' })).toThrow('without embeddingsFreq');
});
