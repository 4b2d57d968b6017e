// tf.data: where elements come from, and what is done with them.
import * as tf from 'eagre';

const { Dataset } = tf.data;
tf.random.setSeed(1);

// ---- Rows of tensors, functions of elements, batches

const features = tf.constant([
  [1, 2],
  [3, 4],
  [5, 6],
  [7, 8],
]);
const labels = tf.constant([0, 1, 0, 1], 'int32');

export const examples = Dataset.fromTensorSlices([features, labels]);
console.log(String(examples), examples.elementSpec);
export const batches: tf.NestedArray<tf.Scalar>[] = [];
for (const [x, y] of examples.map((x, y) => [x.div(10), y]).batch(2)) {
  console.log(x, y);
  batches.push(x.array());
}

// ---- Numbers: order, parts, repetitions

const numbers = Dataset.range(10, { outputType: 'int32' });
const list = (dataset: tf.data.Dataset<tf.Tensor>) => [...dataset].map((x) => x.array());

export const evens = list(numbers.filter((x) => x.mod(2).equal(0)));
export const shuffled = numbers.shuffle(10);
export const [first, second] = [list(shuffled), list(shuffled)];
export const parts = list(numbers.skip(2).take(6).batch(4));
export const twice = list(numbers.take(3).repeat(2));
export const sum = numbers.reduce(tf.constant(0, 'int32'), (total, x) => total.add(x)).item();
console.log({ evens, first, second, parts, twice, sum });

// ---- Several datasets

export const zipped = [...Dataset.zip({ n: numbers.take(3), square: numbers.map((x) => x.square()) })].map(
  ({ n, square }) => [n.item(), square.item()],
);
export const interleaved = list(
  Dataset.range(1, 4).interleave((x) => Dataset.fromTensors(x.cast('int32')).repeat(3), {
    cycleLength: 2,
    blockLength: 2,
  }),
);
export const windows = list(
  numbers.window(3, { shift: 2, dropRemainder: true }).flatMap((window) => window.batch(3)),
);
console.log({ zipped, interleaved, windows });

// ---- What is costly is done once

let calls = 0;
const costly = numbers
  .map(
    (x) => {
      calls++;
      return x.item() ** 2;
    },
    { runEagerly: true },
  )
  .cache();
for (let epoch = 0; epoch < 3; epoch++) for (const _ of costly.shuffle(10).batch(4)) _;
export const callsOfThreeEpochs = calls;
console.log('calls in three epochs:', callsOfThreeEpochs);

// ---- Generators, also asynchronous: for await

async function* sensor(): AsyncGenerator<{ time: number; value: number }> {
  for (let time = 0; time < 5; time++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    yield { time, value: Math.sin(time) };
  }
}
const readings = Dataset.fromGenerator(sensor, {
  outputSignature: { time: new tf.TensorSpec([], 'int32'), value: new tf.TensorSpec([]) },
});
export const times: tf.NestedArray<tf.Scalar>[] = [];
for await (const { time } of readings.batch(2).prefetch(tf.data.AUTOTUNE)) times.push(time.array());
export let refusal = '';
try {
  for (const _ of readings) _;
} catch (error) {
  refusal = (error as Error).message;
}
console.log({ times, refusal });

// ---- A pass can be saved, and goes on where it was

const pass = numbers.shuffle(10).batch(3).iterator();
pass.next();
const state = pass.saveState();
export const rest = [...pass].map((x) => x.array());
pass.restoreState(state);
export const again = [...pass].map((x) => x.array());
console.log({ rest, again });

// ---- Training

const x = tf.linspace(-1, 1, 64).reshape([64, 1]);
const train = Dataset.fromTensorSlices([x, x.mul(3).add(2)])
  .shuffle(64)
  .batch(8)
  .prefetch(tf.data.AUTOTUNE);
const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [1] })]);
model.compile({ optimizer: new tf.optimizers.SGD({ learningRate: 0.1 }), loss: 'mse' });
export const { history } = await model.fit(train, { epochs: 10, verbose: 0 });
console.log('loss', history['loss']?.at(-1));
