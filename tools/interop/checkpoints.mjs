// Checkpoints for checkpoints.py, which has TensorFlow restore them, and writes some to be read here: `node checkpoints.mjs write|read <folder>`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '../../packages/eagre/dist/index.js';

const [command, folder] = process.argv.slice(2);

function block(n) {
  return Object.assign(new tf.Module(), {
    w: new tf.Variable(tf.range(0, n).div(4), { name: 'w' }),
    more: {
      a: new tf.Variable([1, -2], { dtype: 'int32' }),
      b: [new tf.Variable(true), new tf.Variable([0.1, 0.2], { dtype: 'float64' })],
    },
  });
}
function plain(filled) {
  const blocks = [block(2), block(3)];
  const model = Object.assign(new tf.Module(), {
    blocks,
    first: blocks[0],
    table: new Map([['x.y/z', new tf.Variable([[1, 2]], { dtype: 'uint8' })]]),
    words: new tf.Variable(['ab', '', 'xyz ü']),
    step: new tf.Variable(7n),
  });
  if (!filled)
    for (const v of model.variables)
      v.assign(v.dtype === 'string' ? ['', '', ''] : tf.zeros(v.shape, v.dtype));
  return { checkpoint: new tf.train.Checkpoint({ model, extra: new tf.Variable(filled ? 2.5 : 0) }), model };
}

const x = tf.linspace(-1, 1, 12).reshape([4, 3]).cast('float32');
const y = tf.constant([[0.5], [-0.25], [1], [0]]);
function keras(optimizer) {
  const model = new tf.Sequential([
    new tf.layers.Dense(4, { activation: 'tanh', inputShape: [3] }),
    new tf.layers.Flatten(),
    new tf.layers.Dense(1),
  ]);
  const step = () =>
    optimizer
      .minimize(
        () => tf.reduceMean(tf.square(tf.subtract(model(x, { training: true }), y))),
        model.trainableVariables,
      )
      .item();
  return { model, optimizer, step, checkpoint: new tf.train.Checkpoint({ model, optimizer }) };
}
const optimizers = {
  adam: () => new tf.optimizers.Adam(0.05),
  sgd: () => new tf.optimizers.SGD({ learningRate: 0.05, momentum: 0.9 }),
};

function write() {
  const { checkpoint } = plain(true);
  const plainPath = checkpoint.save(join(folder, 'plain/ckpt'));
  const sharded = checkpoint.write(join(folder, 'sharded'), new tf.train.CheckpointOptions({ shards: 3 }));
  const many = new tf.train.Checkpoint({ all: Array.from({ length: 3000 }, (_, i) => new tf.Variable(i)) });
  const trained = Object.fromEntries(
    Object.entries(optimizers).map(([name, make]) => {
      const { step, checkpoint, model } = keras(make());
      for (let i = 0; i < 3; i++) step();
      const path = checkpoint.save(join(folder, name));
      const outputs = model(x).reshape([-1]).array();
      return [name, { path, outputs, next: step() }];
    }),
  );
  const result = { plain: plainPath, sharded, many: many.write(join(folder, 'many')), trained };
  writeFileSync(join(folder, 'ours.json'), JSON.stringify(result));
}

function read() {
  const theirs = JSON.parse(readFileSync(join(folder, 'theirs.json'), 'utf8'));
  const { checkpoint, model } = plain(false);
  checkpoint.restore(theirs.plain).assertConsumed();
  const wanted = plain(true).model.variables.map((v) => v.array());
  same(
    'plain',
    model.variables.map((v) => v.array()),
    wanted,
  );
  for (const [name, make] of Object.entries(optimizers)) {
    const { path, outputs, next } = theirs.trained[name];
    const { step, checkpoint, model } = keras(make());
    checkpoint.restore(path).assertExistingObjectsMatched();
    close(name, model(x).reshape([-1]).array(), outputs);
    close(name, [step()], [next]);
  }
  console.log('Eagre reads what TensorFlow wrote.');
}

function same(what, got, wanted) {
  const text = (v) => JSON.stringify(v, (_, n) => (typeof n === 'bigint' ? Number(n) : n));
  if (text(got) !== text(wanted)) throw new Error(`${what}: ${text(got)}, expected ${text(wanted)}`);
}
function close(what, got, wanted) {
  if (got.some((v, i) => !(Math.abs(v - wanted[i]) < 1e-5)))
    throw new Error(`${what}: ${got}, expected ${wanted}`);
}

if (command === 'write') write();
else read();
