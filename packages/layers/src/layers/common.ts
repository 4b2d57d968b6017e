// What the layers share: checks of options and inputs, activations, geometry of windows.
import { isComplex } from '@eagre/backend';
import {
  cast,
  InvalidArgumentError,
  keep,
  nn,
  type PartialShape,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  addDims,
  checkNoPromise,
  type Dim,
  type Dims,
  dimsOf,
  floorDivDims,
  isFloating,
  lessThan,
  mulDims,
  outsideScopes,
  partialShape,
  shown,
  showShape,
  snakeCase,
  subDims,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../activations.ts';
import * as activations from '../activations.ts';
import { activationName } from '../layer/activation-names.ts';
import { isAnyTensor } from '../layer/kinds.ts';
import { computesWide, Layer, penaltyOn, takesAsIs } from '../layer/layer.ts';
import { isShapes } from '../layer/specs.ts';
import type { RegularizerFunction } from '../regularizers.ts';
import { functionConfig, type SerializedFunction } from '../saving/keras-object.ts';
import { type SerializedLayer, serializeLayer } from '../saving/serialization.ts';

/** Options that `getConfig` gave. */
export type Config = Readonly<Record<string, unknown>>;

// ---- errors and checks

/** @throws InvalidArgumentError that names the layer. */
export function fail(layer: Layer, message: string): never {
  throw new InvalidArgumentError(`${layer.constructor.name} '${layer.name}' ${message}`);
}

/** `valid`: none. `same`: as much as makes the result ceil(size / stride). */
export type Padding = 'valid' | 'same';

// ---- sizes, of tensors and of what is only described

/** The size of an axis: null where any fits, an expression where a trace does not know it. */
export type Size = Dim | null;

/** The sizes of a shape. */
export function sizesOf(shape: PartialShape): readonly Size[] {
  return dimsOf(shape as Dims) as readonly Size[];
}
/** The shape of sizes. */
export function shapeOf(sizes: readonly Size[]): PartialShape {
  return toShape(sizes as Dims) as PartialShape;
}
export function plus(a: Size, b: Size): Size {
  return a === null || b === null ? null : addDims(a, b);
}
export function times(a: Size, b: Size): Size {
  return a === null || b === null ? null : mulDims(a, b);
}

// ---- inputs

/** @throws InvalidArgumentError when a list of tensors came to a layer that takes one. */
export function checkOne(layer: Layer, shape: PartialShape): PartialShape {
  if (isShapes(shape)) fail(layer, `takes one tensor, got a list of ${shape.length}`);
  return shape;
}

/** A hint, where only the axis of the batch lacks. */
export const oneExample = (shape: PartialShape, rank: number): string =>
  shape.length === rank - 1 ? '; one example is a batch of one: x.expandDims(0)' : '';

/** @throws InvalidArgumentError for another rank. `form` says what the axes are: `[batch, height, width, channels]`. */
export function checkRank(layer: Layer, shape: PartialShape, rank: number, form: string): void {
  if (checkOne(layer, shape).length !== rank) {
    fail(layer, `expects input of rank ${rank} ${form}, got ${showShape(shape)}${oneExample(shape, rank)}`);
  }
}

/** The size of an axis that weights depend on. @throws InvalidArgumentError while it is not known. */
export function knownSize(layer: Layer, shape: PartialShape, axis: number): number {
  const size = partialShape(shape).at(axis);
  if (size === null || size === undefined) {
    fail(layer, `needs to know the size of axis ${axis}, got input ${showShape(shape)}`);
  }
  return size;
}

/** The input of a layer that computes with floats: anything else is converted to the layer's dtype, as Keras does. */
export function floats(layer: Layer, x: Tensor): Tensor {
  if (!layer.autocast) oneTensor(layer, x);
  if (!isFloating(layer.computeDtype))
    fail(layer, `computes with floats and cannot be of the dtype ${layer.computeDtype}`);
  return takesAsIs(layer, x.dtype) ? x : inPrecision(layer, x);
}

/** The input of a layer that computes with floats, or with whole numbers where its dtype is of integers. */
export function numbers(layer: Layer, x: Tensor): Tensor {
  return isFloating(layer.computeDtype) ? floats(layer, x) : values(layer, x);
}

/** The input of a layer that computes with floats of 32 bits where it is of integers, as Keras does. */
export function asFloats(layer: Layer, x: Tensor): Tensor {
  return isFloating(layer.computeDtype) ? floats(layer, x) : cast(values(layer, x), 'float32');
}

/** The input of a layer that computes in its own precision, whatever `autocast` says; in 32 bits where it is of integers. */
export function inPrecision(layer: Layer, x: Tensor): Tensor {
  if (!isFloating(layer.computeDtype)) return cast(values(layer, x), 'float32');
  const dtype = computesWide(layer) ? 'float32' : layer.computeDtype;
  if (x.dtype === dtype) return x;
  oneTensor(layer, x);
  if (x.dtype === 'string') fail(layer, 'expects numbers, got a string tensor');
  if (isComplex(x.dtype))
    fail(layer, `expects real numbers, got ${x.dtype}; give it x.real(), x.imag() or x.abs()`);
  return cast(x, dtype);
}

/** The input of a layer that moves values: floats of another precision are converted, as Keras does; other dtypes stay. */
export function values(layer: Layer, x: Tensor): Tensor {
  if (x.dtype === layer.computeDtype) return x;
  oneTensor(layer, x);
  return isFloating(x.dtype) && !takesAsIs(layer, x.dtype) ? cast(x, layer.computeDtype) : x;
}

function oneTensor(layer: Layer, x: Tensor | readonly Tensor[]): void {
  if (Array.isArray(x)) fail(layer, `takes one tensor, got a list of ${x.length}`);
}

/** A mask as truth values: what is not 0 counts. */
export function seenBy(given: TensorLike): Tensor {
  const mask = toTensor(given);
  return mask.dtype === 'bool' ? mask : mask.notEqual(0);
}

// ---- activations and penalties

export const linear: Activation = activations.linear;
export const relu: Activation = activations.relu;

// Those of `nn` that are the same as activations.
const ofNn = new Map<unknown, Activation>([
  [nn.elu, activations.elu],
  [nn.gelu, activations.gelu],
  [nn.hardSigmoid, activations.hardSigmoid],
  [nn.leakyRelu, activations.leakyRelu],
  [nn.logSoftmax, activations.logSoftmax],
  [nn.mish, activations.mish],
  [nn.relu, activations.relu],
  [nn.relu6, activations.relu6],
  [nn.selu, activations.selu],
  [nn.sigmoid, activations.sigmoid],
  [nn.silu, activations.silu],
  [nn.softmax, activations.softmax],
  [nn.softplus, activations.softplus],
  [nn.softsign, activations.softsign],
  [nn.tanh, activations.tanh],
]);

/** The function of an activation; `tf.nn.relu` is the same as `'relu'`. @throws InvalidArgumentError for an unknown name. */
export function resolveActivation(activation: ActivationLike | undefined): Activation {
  return ofNn.get(activation) ?? activations.get(activation);
}

/** What `getConfig` says of an activation: its name, the configuration of a layer, or what makes the function known in files. */
export function activationConfig(fn: Activation): string | Activation | SerializedFunction | SerializedLayer {
  if ((fn as unknown) instanceof Layer) return serializeLayer(fn as unknown as Layer);
  const name = activationName(fn);
  return name === undefined ? (functionConfig(fn) as SerializedFunction) : snakeCase(name);
}

/** Whether an activation gives integers for integers, as in Keras: those that compute nothing else, and functions of the user's. */
export function keepsIntegers(fn: Activation): boolean {
  return ['linear', 'relu', 'relu6'].includes(activationName(fn) ?? 'linear');
}

/** Applies an activation to a result that nobody else has seen. A function of the user may keep what it gets and makes. */
export function applyActivation(fn: Activation, x: Tensor): Tensor {
  // Keras's keep nothing of what they see, other functions might.
  if (activationName(fn) !== undefined) return fn(x);
  const y = outsideScopes(() => fn(keep(x)));
  checkNoPromise(y, 'the activation', 'Activation');
  if (!isAnyTensor(y))
    throw new InvalidArgumentError(`the activation must return a tensor, got ${shown(y)}`, 'Activation');
  return y;
}

/** Adds the penalty on the output to the layer's losses. */
export function penalize(
  layer: Layer & { readonly activityRegularizer: RegularizerFunction | null },
  y: Tensor,
): Tensor {
  const regularizer = layer.activityRegularizer;
  if (regularizer !== null) layer.addLoss(penaltyOn(layer, regularizer, y));
  return y;
}

// ---- windows

/** The size of a convolution's or pooling's result along one direction. @throws InvalidArgumentError when nothing fits. */
export function windowed(
  layer: Layer,
  size: Size,
  {
    window,
    stride,
    padding,
    dilation,
    unit,
  }: { window: number; stride: number; padding: Padding; dilation: number; unit: string },
): Size {
  if (size === null) return null;
  if (padding === 'same') return floorDivDims(addDims(size, stride - 1), stride);
  const reach = (window - 1) * dilation + 1;
  if (lessThan(size, reach))
    fail(layer, `has a window of ${reach} ${unit} that does not fit into the ${size} of its input`);
  return addDims(floorDivDims(subDims(size, reach), stride), 1);
}
