// Graphs and sessions, as in TensorFlow 1: first what is to be computed, then runs of it with values.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from 'eagre';

const v1 = tf.compat.v1;

/** What an error says. */
function refusal(fn: () => unknown): string {
  try {
    fn();
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
}

// ---- Placeholders stand for values that each run is given.

const graph = new v1.Graph();
const { x, y } = graph.asDefault(() => {
  const x = v1.placeholder('float32', [1024, 1024], { name: 'x' });
  return { x, y: tf.matmul(x, x) };
});
using session = new v1.Session({ graph });
export const unfed = refusal(() => session.run(y));
const random = Float64Array.from({ length: 1024 * 1024 }, () => Math.random());
export const product = session.run(y, { feedDict: new Map([[x, { data: random, shape: [1024, 1024] }]]) });
console.log('without a value:', unfed);
console.log(product);

// ---- They have no place in eager mode.

export const eager = refusal(() => v1.placeholder('float32', [2]));
console.log('in eager mode:', eager);

// ---- Any tensor can be fed: then it is not computed.

export const [z0, z1] = new v1.Graph().asDefault(() => {
  const x = v1.placeholder('float32');
  const y = tf.square(x);
  const z = tf.add(x, y);
  const session = new v1.Session();
  const feed = (...pairs: [tf.Tensor, number][]) => ({ feedDict: new Map(pairs) });
  return [session.run(z, feed([x, 2])), session.run(z, feed([x, 2], [y, 2]))] as const;
});
console.log('x + x² at 2:', z0, 'with 2 in the place of x²:', z1);

// ---- Control flow is part of the graph, as are its gradients.

const squareIfPositive = (x: tf.Tensor): tf.Tensor =>
  tf.cond(
    x.greater(0),
    () => x.mul(x),
    () => x,
  );
export const graphResults = new v1.Graph().asDefault(() =>
  new v1.Session().run([squareIfPositive(tf.constant(9)), squareIfPositive(tf.constant(-9))]),
);
console.log('9 and -9, squared if positive:', graphResults);

// ---- Training: 3x + 2 from noisy points. Variables have values in sessions only, once they are initialised.

const training = new v1.Graph();
const model = training.asDefault(() => {
  const inputs = v1.placeholder('float32', [null], { name: 'inputs' });
  const outputs = v1.placeholder('float32', [null], { name: 'outputs' });
  const w = new tf.Variable(5, { name: 'w' });
  const b = new tf.Variable(10, { name: 'b' });
  const loss = inputs.mul(w).add(b).sub(outputs).square().mean();
  const train = new v1.train.GradientDescentOptimizer(0.01).minimize(loss);
  return { inputs, outputs, w, b, loss, train, init: v1.globalVariablesInitializer() };
});
const trainingSession = new v1.Session({ graph: training });
export const uninitialized = refusal(() => trainingSession.run(model.w));
trainingSession.run(model.init);
const points = tf.random.normal([1000]);
const feedDict = new Map([
  [model.inputs, points],
  [
    model.outputs,
    points
      .mul(3)
      .add(2)
      .add(tf.random.normal([1000])),
  ],
]);
export const lossBefore = trainingSession.run(model.loss, { feedDict }).item();
for (let i = 0; i < 300; i++) trainingSession.run(model.train, { feedDict });
export const [lossAfter, w, b] = trainingSession
  .run([model.loss, model.w, model.b], { feedDict })
  .map((t) => t.item());
console.log('before:', uninitialized);
console.log(`loss ${lossBefore} → ${lossAfter}, w ${w}, b ${b}`);

// ---- The graph's definition, as TensorFlow reads it, and as text.

export const definition = training.asGraphDef();
export const text = String(training);
console.log(`${definition.length} bytes of GraphDef\n${text}`);

// ---- Code for graphs as a function for eager mode.

export const linear = tf.experimental.graphCallable([new tf.TensorSpec([null, 2])])((x: tf.Tensor) => {
  const w = new tf.Variable([[1], [2]], { name: 'w' });
  return x.matmul(w);
});
export const called = linear(tf.ones([3, 2]));
export const slopes = tf.autodiff.implicitGradients((x: tf.Tensor) => linear(x).sum())(tf.ones([3, 2]));
console.log('graphCallable:', called, 'gradients:', slopes);

// ---- Checkpoints: what a session trained goes on in eager mode, and back.

const folder = mkdtempSync(join(tmpdir(), 'eagre-sessions-'));
const saver = training.asDefault(() => new v1.train.Saver());
const fromSession = saver.save(trainingSession, join(folder, 'session'), { globalStep: 300 });
const eagerModel = new tf.train.Checkpoint({
  w: new tf.Variable(0, { name: 'w' }),
  b: new tf.Variable(0, { name: 'b' }),
});
eagerModel.restore(fromSession).assertConsumed();
export const inEagerMode = [eagerModel.w.item(), eagerModel.b.item()];
eagerModel.w.assign(3);
eagerModel.b.assign(2);
saver.restore(trainingSession, eagerModel.save(join(folder, 'eager')));
export const inSession = trainingSession.run([model.w, model.b]).map((t) => t.item());
console.log('from the session:', inEagerMode, 'into the session:', inSession);
rmSync(folder, { recursive: true });
