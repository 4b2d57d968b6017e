// Event files of every kind, for summaries.py, which has TensorBoard read them: `node summaries.mjs <folder>`. Prints what is in them.
import { appendFileSync, readdirSync } from 'node:fs';
import * as tf from '../../packages/eagre/dist/index.js';

const folder = process.argv[2];
tf.random.setSeed(3);
const expected = {};

// ---- Every kind, eagerly and from a traced function.

const values = Float32Array.from({ length: 100 }, (_, i) => Math.sin(i));
const pixels = Uint8Array.from({ length: 2 * 4 * 5 * 3 }, (_, i) => (i * 7) % 256);
const sound = Float32Array.from({ length: 50 }, (_, i) => Math.sin(i / 3));
const writer = tf.summary.createFileWriter(`${folder}/kinds`);
const traced = tf.function((x, step) => {
  tf.nameScope('traced', () => tf.summary.scalar('double', x.mul(2), { step }));
  return x.add(1);
});
writer.asDefault(() => {
  for (let step = 0; step < 5; step++) {
    tf.summary.scalar('loss', 1 / (step + 1), { step, description: 'falls' });
    traced(tf.constant(step), tf.constant(step, 'int64'));
  }
  tf.summary.scalar('large', 1, { step: 2n ** 53n + 1n });
  tf.summary.histogram('values', values, { step: 1 });
  tf.summary.image('pixels', { data: pixels, shape: [2, 4, 5, 3] }, { step: 2 });
  tf.summary.audio('sound', { data: sound, shape: [1, 25, 2] }, 8000, { step: 3 });
  tf.summary.text('note', 'Grüße, **world**', { step: 4 });
  tf.summary.text(
    'table',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
    { step: 4 },
  );
  for (const dtype of ['float32', 'float64', 'int32', 'int64', 'uint8', 'bool'])
    tf.summary.write(`dtypes/${dtype}`, tf.constant([[1, 0, 1]]).cast(dtype), { step: 5 });
  tf.summary.traceOn();
  traced(tf.constant(7), tf.constant(7, 'int64'));
  tf.summary.traceExport('trace', { step: 6 });
  tf.summary.graph(tf.function((x) => x.add(x)).getConcreteFunction(tf.constant([1, 2])).graph);
});
writer.close();
expected.kinds = { values: [...values], pixels: [...pixels], sound: [...sound] };

// ---- Hyperparameters: an experiment with two sessions.

const top = tf.summary.createFileWriter(folder);
top.asDefault(() =>
  tf.summary.hparamsConfig({
    hparams: [
      new tf.summary.HParam('units', new tf.summary.Discrete([16, 32])),
      new tf.summary.HParam('rate', new tf.summary.RealInterval(0.001, 0.1)),
    ],
    metrics: [new tf.summary.Metric('accuracy', { displayName: 'Accuracy' })],
  }),
);
top.close();
for (const units of [16, 32]) {
  const session = tf.summary.createFileWriter(`${folder}/session-${units}`);
  session.asDefault(() => {
    tf.summary.hparams({ units, rate: 0.01 });
    tf.summary.hparamsEnd(units === 16 ? 'success' : 'failure');
    tf.summary.scalar('accuracy', units / 64, { step: 1 });
  });
  session.close();
}

// ---- The callback of Keras models.

const x = tf.random.normal([32, 4]);
const input = tf.Input({ shape: [4], name: 'in' });
const hidden = new tf.layers.Dense(4, { name: 'hidden' })(input);
const output = new tf.layers.Add({ name: 'sum' })([input, hidden]);
const model = new tf.Model({ inputs: input, outputs: output, name: 'functional' });
model.compile({ optimizer: 'adam', loss: 'mse' });
const board = new tf.keras.callbacks.TensorBoard(`${folder}/keras`, {
  histogramFreq: 1,
  updateFreq: 'batch',
});
const history = await model.fit(x, x, { epochs: 2, verbose: 0, callbacks: [board], validationData: [x, x] });
expected.keras = history.history;

const words = new tf.Sequential([new tf.layers.Embedding(6, 2, { name: 'words' }), new tf.layers.Flatten()]);
words.compile({ optimizer: 'sgd', loss: 'mse' });
await words.fit(tf.zeros([4, 3]), tf.ones([4, 6]), {
  verbose: 0,
  callbacks: [new tf.keras.callbacks.TensorBoard(`${folder}/words`, { embeddingsFreq: 1 })],
});
expected.words = words.weights[0].array();

// ---- A file that a crash left: whole records, then half of one.

const crashed = tf.summary.createFileWriter(`${folder}/crashed`);
crashed.asDefault(() => {
  for (let step = 0; step < 3; step++) tf.summary.scalar('loss', step, { step });
});
crashed.close();
appendFileSync(
  `${folder}/crashed/${readdirSync(`${folder}/crashed`)[0]}`,
  Uint8Array.of(30, 0, 0, 0, 0, 0, 0, 0, 1, 2),
);

console.log(JSON.stringify(expected));
