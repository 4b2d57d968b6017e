// Models for keras2.py, which has Keras 2 restore their checkpoints and train on, and writes some to be read here: `node keras2.mjs write|read <folder>`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '../../packages/eagre/dist/index.js';

const [command, folder] = process.argv.slice(2);
const { layers, optimizers } = tf;

const x = tf.linspace(-1, 1, 24).reshape([2, 4, 3]).cast('float32');
const y = tf.constant([[0.5], [-0.25]]);

function attention() {
  const input = tf.Input([4, 3]);
  const attended = new layers.MultiHeadAttention(2, 2)([input, input]);
  const normal = new layers.LayerNormalization()(new layers.Add()([input, attended]));
  return new tf.Model({ inputs: input, outputs: new layers.Dense(1)(new layers.LSTM(2)(normal)) });
}
function dense() {
  return new tf.Sequential([
    new layers.Dense(3, { activation: 'tanh', inputShape: [4, 3] }),
    new layers.BatchNormalization(),
    new layers.Flatten(),
    new layers.Dense(1),
  ]);
}
const cases = {
  adam: [attention, () => new optimizers.Adam(0.05)],
  amsgrad: [dense, () => new optimizers.Adam(0.05, { amsgrad: true, useEma: true })],
  schedule: [dense, () => new optimizers.Adam(new optimizers.schedules.ExponentialDecay(0.05, 2, 0.5))],
  sgd: [dense, () => new optimizers.SGD({ learningRate: 0.05, momentum: 0.9 })],
  plain: [dense, () => new optimizers.SGD(0.05)],
  rmsprop: [dense, () => new optimizers.RMSprop({ learningRate: 0.01, momentum: 0.5, centered: true })],
  adagrad: [dense, () => new optimizers.Adagrad(0.05)],
  adadelta: [dense, () => new optimizers.Adadelta(0.5)],
  adamax: [dense, () => new optimizers.Adamax(0.05)],
  nadam: [dense, () => new optimizers.Nadam(0.05)],
  ftrl: [dense, () => new optimizers.Ftrl(0.05)],
  lion: [dense, () => new optimizers.Lion(0.05)],
};
function compiled(name) {
  const [make, optimizer] = cases[name];
  const model = make();
  model.compile({ optimizer: optimizer(), loss: 'mse' });
  return model;
}
const losses = async (model, steps) => {
  const list = [];
  for (let i = 0; i < steps; i++) list.push((await model.trainOnBatch(x, y)).loss);
  return list;
};

async function write() {
  const options = new tf.train.CheckpointOptions({ optimizerState: 'lists' });
  const ours = {};
  for (const name of Object.keys(cases)) {
    const model = compiled(name);
    await losses(model, 3);
    const path = join(folder, name);
    new tf.train.Checkpoint({ model, optimizer: model.optimizer }).write(path, options);
    await model.saveWeights(`${path}-weights`, options);
    ours[name] = { path, losses: await losses(model, 3) };
  }
  const model = compiled('adam');
  await losses(model, 1);
  await model.saveWeights(join(folder, 'slots'));
  writeFileSync(join(folder, 'ours.json'), JSON.stringify(ours));
}

async function read() {
  const theirs = JSON.parse(readFileSync(join(folder, 'theirs.json'), 'utf8'));
  for (const [name, { path, losses: wanted }] of Object.entries(theirs)) {
    const restore = {
      checkpoint: (model) => new tf.train.Checkpoint({ model, optimizer: model.optimizer }).read(path),
      weights: (model) => model.loadWeights(`${path}-weights`),
    };
    for (const [how, into] of Object.entries(restore)) {
      const model = compiled(name);
      const status = await into(model);
      const got = await losses(model, 3);
      if (got.some((v, i) => !(Math.abs(v - wanted[i]) < 1e-5)))
        throw new Error(`${name}, ${how}: losses ${got}, expected ${wanted}`);
      // Keras 2's SGD has momentums without momentum.
      if (name !== 'plain') status.assertConsumed();
    }
  }
  console.log(`Eagre trains on what Keras 2 wrote, with ${Object.keys(theirs).join(', ')}.`);
}

if (command === 'write') await write();
else await read();
