// Variables on parameter servers, which workers read and update on their own. Start it with `npx eagre run --ps 2 -n 2`: each of the processes runs
// this file, as a worker, as a parameter server, or as the coordinator.
import * as tf from 'eagre';

const EPOCHS = Number(process.env.EPOCHS ?? 10);
const STEPS = Number(process.env.STEPS ?? 40);
const BATCH = 32;

const resolver = new tf.distribute.clusterResolver.TFConfigClusterResolver();
if (resolver.taskType === 'worker' || resolver.taskType === 'ps') {
  await new tf.distribute.Server(resolver).join();
  process.exit();
}

// Large variables are divided between the parameter servers.
const variablePartitioner = new tf.distribute.experimental.partitioners.MinSizePartitioner({
  minShardBytes: 4096,
  maxShards: 2,
});
const strategy = new tf.distribute.ParameterServerStrategy({
  clusterResolver: resolver,
  variablePartitioner,
});
await strategy.connect();
const coordinator = new tf.distribute.coordinator.ClusterCoordinator(strategy);

// How much somebody likes something: a number of each person times one of each thing.
const PEOPLE = 200;
const THINGS = 150;
type Batch = readonly [pairs: tf.Tensor, ratings: tf.Tensor];
const makeDataset = (context: { readonly inputPipelineId: number }): tf.data.Dataset<Batch> =>
  tf.data.Dataset.range(1_000_000).map((i): Batch => {
    const seed = tf.stack([i as tf.Tensor, tf.cast(context.inputPipelineId, 'int64')]);
    const draw = tf.random.statelessUniform([BATCH, 2], seed);
    const pairs = tf.cast(draw.mul(tf.constant([PEOPLE, THINGS])), 'int32');
    const [person, thing] = tf.unstack(tf.cast(pairs, 'float32'), 1) as [tf.Tensor, tf.Tensor];
    return [pairs, person.mul(0.7).sin().mul(thing.mul(0.3).cos())];
  }) as never;

const { people, things, optimizer, meanLoss } = strategy.scope(() => ({
  people: new tf.layers.Embedding(PEOPLE, 8),
  things: new tf.layers.Embedding(THINGS, 8),
  optimizer: new tf.optimizers.Adam(0.02),
  meanLoss: new tf.metrics.Mean(),
}));

// Runs on a worker. Its gradients travel to the parameter servers, which update the variables.
const trainStep = tf.function((iterator: tf.distribute.coordinator.PerWorkerIterator<Batch>) => {
  const [pairs, ratings] = iterator.getNext();
  const [person, thing] = tf.unstack(pairs, 1) as [tf.Tensor, tf.Tensor];
  const tape = new tf.GradientTape();
  const loss = tape.record(() => {
    const product = (people(person) as tf.Tensor).mul(things(thing) as tf.Tensor);
    return product.sum(1).sub(ratings).square().mean();
  });
  const variables = [...people.trainableVariables, ...things.trainableVariables];
  optimizer.applyGradients(tape.gradient(loss, variables), variables);
  meanLoss.updateState(loss);
  return loss;
});

const iterator = coordinator.createPerWorkerDataset(makeDataset as never).iterator();
const losses: number[] = [];
for (let epoch = 0; epoch < EPOCHS; epoch++) {
  meanLoss.resetState();
  for (let step = 0; step < STEPS; step++) coordinator.schedule(trainStep as never, [iterator]);
  await coordinator.join();
  losses.push(meanLoss.result().item());
  console.log(`epoch ${epoch + 1}: loss ${losses.at(-1)?.toFixed(4)}`);
}

// The same with `fit`: the steps of an epoch go to whichever worker is free.
const model = strategy.scope(() => {
  const net = new tf.Sequential([
    new tf.layers.Dense(32, { activation: 'relu', inputShape: [2] }),
    new tf.layers.Dense(1),
  ]);
  net.compile({ optimizer: new tf.optimizers.Adam(0.02), loss: 'mse' });
  return net;
});
const data = new tf.keras.utils.experimental.DatasetCreator(
  (context) =>
    tf.data.Dataset.range(1_000_000).map((i) => {
      const seed = tf.stack([i as tf.Tensor, tf.cast(context.inputPipelineId, 'int64')]);
      const x = tf.random.statelessNormal([BATCH, 2], seed);
      return [x, x.prod(1, { keepdims: true })];
    }) as never,
);
const { history } = await model.fit(data, { epochs: EPOCHS, stepsPerEpoch: STEPS, verbose: 0 });
console.log(`fit: loss ${history.loss?.map((loss) => Number(loss).toFixed(4)).join(', ')}`);
console.log(JSON.stringify({ losses, fit: history.loss, updates: optimizer.iterations.item() }));
await strategy.close();
