// Saving and restoring objects: weights, checkpoints of any objects by the names between them, and managers of checkpoints.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from 'eagre';

const folder = mkdtempSync(join(tmpdir(), 'eagre-saving-'));

// ---- The weights of a model, into a file and back.

const makeModel = (): tf.Sequential =>
  new tf.Sequential([
    new tf.layers.Conv2D(16, [3, 3], { activation: 'relu' }),
    new tf.layers.GlobalAveragePooling2D(),
    new tf.layers.Dense(10),
  ]);
const images = tf.random.normal([4, 8, 8, 1], { seed: 1 });
const model = makeModel();
export const logits = model(images);
await model.saveWeights(join(folder, 'weights.safetensors'));
const other = makeModel();
other.build([null, 8, 8, 1]);
await other.loadWeights(join(folder, 'weights.safetensors'));
export const sameLogits = other(images);
console.log('logits:', logits.at(0), 'of the other model:', sameLogits.at(0));

// ---- A checkpoint of a variable: saved as 2, changed to 11, restored.

const x = new tf.Variable(10);
const checkpoint = new tf.train.Checkpoint({ x });
x.assign(2);
checkpoint.save(`${folder}/ckpt/`);
x.assign(11);
checkpoint.restore(tf.train.latestCheckpoint(join(folder, 'ckpt')));
export const restored = x.item();
console.log(x);

// ---- A model, its optimizer and the step, saved while training goes on and restored with the optimizer's state.

const targets = tf.random.normal([4, 10], { seed: 2 });
function train(model: tf.Model, optimizer: tf.optimizers.Optimizer): number {
  return optimizer
    .minimize(
      () => tf.reduceMean(tf.square(tf.subtract(model(images, { training: true }), targets))),
      () => model.trainableVariables,
    )
    .item();
}
const optimizer = new tf.optimizers.Adam(0.01);
const root = new tf.train.Checkpoint({ optimizer, model, step: new tf.Variable(0, { dtype: 'int32' }) });
for (let i = 0; i < 5; i++) {
  train(model, optimizer);
  root.step.assignAdd(1);
}
const path = await root.saveAsync(join(folder, 'model/ckpt'));
export const lossesHere: readonly number[] = [train(model, optimizer), train(model, optimizer)];

// ---- Elsewhere nothing exists yet: neither the weights nor the optimizer's state. Each gets its value when it is made.

const later = { model: makeModel(), optimizer: new tf.optimizers.Adam(0.01) };
const elsewhere = new tf.train.Checkpoint({ ...later, step: new tf.Variable(0, { dtype: 'int32' }) });
export const variablesBefore = later.model.variables.length;
const status = elsewhere.restore(path);
status.assertExistingObjectsMatched();
export const lossesThere: readonly number[] = [
  train(later.model, later.optimizer),
  train(later.model, later.optimizer),
];
status.assertConsumed();
export const step = elsewhere.step.item();
console.log(`step ${step}:`, lossesHere, lossesThere);

// ---- What was not restored is told, if somebody asks.

function refusal(fn: () => unknown): string {
  try {
    fn();
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
}
const partly = new tf.train.Checkpoint({ step: new tf.Variable(0, { dtype: 'int32' }) }).restore(path);
partly.assertNontrivialMatch().assertExistingObjectsMatched().expectPartial();
export const unresolved = refusal(() => partly.assertConsumed());
export const unmatched = refusal(() =>
  new tf.train.Checkpoint({ unknown: new tf.Variable(0) })
    .read(path)
    .expectPartial()
    .assertExistingObjectsMatched(),
);
console.log(`${unresolved.split('\n')[0]}\n${unmatched}`);
export const contents = tf.train.listVariables(path).map(([name]) => name);
console.log(contents);

// ---- A manager keeps the last ones.

const manager = new tf.train.CheckpointManager(root, join(folder, 'managed'), { maxToKeep: 3 });
for (let i = 0; i < 5; i++) {
  root.step.assignAdd(1);
  manager.save();
}
const nameOf = (path: string): string => path.slice(manager.directory.length + 1);
export const kept = manager.checkpoints.map(nameOf);
root.step.assign(0);
export const latest = nameOf(manager.restoreOrInitialize() ?? '');
export const lastStep = root.step.item();
console.log('kept:', kept, 'restored:', latest, 'of step', lastStep);
rmSync(folder, { recursive: true });
