import assert from 'node:assert/strict';
import { GradientTape } from '@eagre/autodiff';
import { listBackends } from '@eagre/backend';
import {
  convertToTensor,
  type DType,
  type PartialShape,
  random,
  type Shape,
  Tensor,
  withBackend,
} from '@eagre/core';
import { context, isFloating, showShape, viewOf } from '@eagre/core/internal';
import '../index.ts';
import type { Layer } from '../layer/layer.ts';

export interface LayerTest<A extends readonly unknown[]> {
  /** Of the constructor. */
  readonly args: A;
  /** Batch first. A list of shapes makes a list of inputs. */
  readonly inputShape: Shape | readonly Shape[];
  readonly outputShape: Shape;
  /** Numbers of weights; 0 by default. */
  readonly trainable?: number;
  readonly nonTrainable?: number;
  /** Inputs are integers below this number instead of normally distributed floats. */
  readonly integers?: number;
  /** The dtype of the output; float32 by default. */
  readonly dtype?: DType;
  /** The output in training is random: not compared between calls and backends. */
  readonly random?: boolean;
}

interface LayerClass<A extends readonly unknown[]> {
  new (...args: A): Layer;
  fromConfig(config: Readonly<Record<string, unknown>>): Layer;
}

/**
 * What holds for every layer of this package: shapes and dtypes as announced, gradients for all trainable weights, equal results
 * on all backends, a configuration that makes an equal layer, and no tensor left behind but the result.
 */
export function runLayerTest<A extends readonly unknown[]>(Class: LayerClass<A>, test: LayerTest<A>): void {
  const { args, inputShape, outputShape, trainable = 0, nonTrainable = 0, dtype = 'float32' } = test;
  const many = Array.isArray(inputShape[0]);
  const shapes = (many ? inputShape : [inputShape]) as readonly Shape[];
  const inputs = makeInputs(shapes, test.integers);
  const x = many ? inputs : (inputs[0] as Tensor);

  // With other weights, all units of a relu may be dead for these few inputs.
  random.setSeed(1);
  const layer = new Class(...args);
  assert.equal(layer.built, false);
  const before = layer.computeOutputShape(inputShape);
  assert.deepEqual(before, outputShape, 'computeOutputShape before the layer is built');

  const y = layer(x);
  assert.equal(layer.built, true);
  assert.deepEqual(y.shape, outputShape, 'the shape of the output');
  assert.equal(y.dtype, dtype, 'the dtype of the output');
  finite(y, 'the output');

  assert.deepEqual(layer.computeOutputShape(inputShape), outputShape, 'computeOutputShape');
  const anyBatch = shapes.map((s) => [null, ...s.slice(1)]);
  assert.deepEqual(
    layer.computeOutputShape(many ? anyBatch : (anyBatch[0] as PartialShape)),
    [null, ...outputShape.slice(1)],
    'computeOutputShape with an unknown batch',
  );

  assert.equal(layer.trainableWeights.length, trainable, 'trainable weights');
  assert.equal(layer.nonTrainableWeights.length, nonTrainable, 'other weights');
  assert.equal(
    new Set(layer.namedWeights.map((w) => w.path)).size,
    trainable + nonTrainable,
    'names of weights',
  );

  for (const training of [true, false]) checkGradients(layer, inputs, many, training);
  for (const training of [true, false]) checkGarbage(layer, x, training);

  const config = layer.getConfig();
  const again = Class.fromConfig(config);
  assert.ok(again instanceof Class, 'fromConfig makes an object of the class');
  // What layers inside were built for is part of the configuration, and they need not be built yet.
  const text = (of: Layer): string =>
    JSON.stringify(of.getConfig(), (key, value: unknown) => (key === 'build_config' ? undefined : value));
  assert.equal(text(again), text(layer), 'getConfig of the layer that fromConfig made');
  const read = Class.fromConfig(JSON.parse(JSON.stringify(config)));
  assert.equal(text(read), text(layer), 'getConfig of the layer that was read from JSON');
  again(x);
  again.setWeights(layer.getWeights());
  assert.deepEqual(
    layer(x).data(),
    again(x).data(),
    'the layer that fromConfig made computes something else',
  );

  checkBackends(layer, again, inputs, many, test.random ?? false);
}

function makeInputs(shapes: readonly Shape[], integers: number | undefined): Tensor[] {
  const generator = random.Generator.fromSeed(5);
  return shapes.map((shape) =>
    integers === undefined
      ? generator.normal(shape)
      : generator.uniformInt(shape, { minval: 0, maxval: integers }),
  );
}

function finite(t: Tensor, what: string): void {
  assert.ok(
    Array.from(viewOf(t) as ArrayLike<number>).every((v) => Number.isFinite(Number(v))),
    `${what} is not finite: ${t}`,
  );
}

function checkGradients(layer: Layer, inputs: readonly Tensor[], many: boolean, training: boolean): void {
  const weights = layer.trainableWeights;
  const floats = inputs.filter((t) => isFloating(t.dtype));
  if (weights.length + floats.length === 0) return;
  const tape = new GradientTape();
  tape.watch([...floats]);
  const y = layer(many ? inputs : (inputs[0] as Tensor), { training });
  // Not the sum: the gradient of a normalised sum vanishes.
  const factors = random.Generator.fromSeed(6).uniform(y.shape, { minval: 0.5, maxval: 1.5, dtype: y.dtype });
  const gradients = tape.gradient(y.mul(factors).sum(), [...weights, ...floats]);
  gradients.forEach((g, i) => {
    const target =
      i < weights.length ? (weights[i] as (typeof weights)[number]) : (floats[i - weights.length] as Tensor);
    const what =
      i < weights.length
        ? `the gradient of ${weights[i]?.path}`
        : `the gradient of input ${i - weights.length}`;
    assert.ok(g !== null && g !== undefined, `${what} is missing`);
    assert.deepEqual(g.shape, target.shape, `${what} has the shape ${showShape(g.shape)}`);
    finite(convertToTensor(g), what);
    if (i < weights.length) assert.ok(g.abs().sum().item() > 0, `${what} is zero everywhere`);
  });
}

/** A layer of ours gives everything back but its result. */
function checkGarbage(layer: Layer, x: Tensor | readonly Tensor[], training: boolean): void {
  const made: Tensor[] = [];
  const outer = context.tracker;
  const held: [by: Tensor, Tensor][] = [];
  context.tracker = { track: (t: Tensor) => made.push(t), hold: (by, t) => held.push([by, t]) };
  let y: Tensor;
  try {
    y = layer(x as Tensor, { training });
  } finally {
    context.tracker = outer;
  }
  // What the result holds, such as logits, goes with it.
  const kept = new Set([y, ...held.filter(([by]) => by === y).map(([, t]) => t)]);
  const left = made.filter((t) => !kept.has(t) && !t.isDisposed);
  assert.deepEqual(
    left.map((t) => showShape(t.shape)),
    [],
    `tensors left behind (training: ${training})`,
  );
  for (const t of x instanceof Tensor ? [x] : x) assert.equal(t.isDisposed, false, 'the input was disposed');
}

function checkBackends(
  layer: Layer,
  other: Layer,
  inputs: readonly Tensor[],
  many: boolean,
  isRandom: boolean,
): void {
  for (const { name } of listBackends()) {
    const run = (which: Layer, training: boolean): Tensor =>
      which(many ? inputs : (inputs[0] as Tensor), { training });
    for (const training of isRandom ? [false] : [false, true]) {
      const expected = run(layer, training);
      const got = withBackend(name, () => run(other, training));
      close(got, expected, `${name}, training: ${training}`);
    }
    layer.weights.forEach((w, i) => {
      close(other.weights[i]?.read() as Tensor, w.read(), `${w.path} after a call on ${name}`);
    });
  }
}

function close(got: Tensor, expected: Tensor, what: string): void {
  assert.deepEqual(got.shape, expected.shape, what);
  const a = got.data();
  const b = expected.data();
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(Number(a[i]) - Number(b[i]));
    assert.ok(
      difference <= 1e-5 * Math.max(1, Math.abs(Number(b[i]))),
      `${what}: ${a[i]} and ${b[i]} at ${i}`,
    );
  }
}
