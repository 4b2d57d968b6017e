// What goes into the call of a layer, and what comes out.
import { MAX_RANK } from '@eagre/backend';
import { cast, InvalidArgumentError, keep, Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  checkLevel,
  isFloating,
  isPlain,
  isRefusedPromise,
  toTensor,
  tree,
  unseen,
} from '@eagre/core/internal';
import { KerasTensor } from '../models/keras-tensor.ts';
import { holdsTensors } from './forms.ts';
import { checkKind, isAnyTensor, isStored } from './kinds.ts';
import type { Layer } from './layer.ts';
import type { CallOptions, LayerInput, LayerOutput } from './layer-types.ts';

/** Tensors by name, rather than options or an array's data. */
export function isByNames(value: unknown): value is Readonly<Record<string, unknown>> {
  return isPlain(value) && !('data' in value && 'shape' in value);
}

const NOTHING = { more: [], options: {} };

/** What stands behind the inputs of a call: further inputs by position, and the options, which come last. */
export function splitCall(rest: readonly unknown[]): {
  readonly more: readonly unknown[];
  readonly options: CallOptions;
} {
  if (rest.length === 0) return NOTHING;
  const last = rest.at(-1);
  if (isByNames(last)) return { more: rest.slice(0, -1), options: last };
  return { more: last === undefined ? rest.slice(0, -1) : rest, options: {} };
}

const OP = 'the call of a layer';

/** Marks tensors as held by code of the user. */
export function keepAll<T>(value: T): T {
  if (value instanceof Tensor) keep(value);
  else for (const leaf of tree.leavesOf(value, OP)) if (leaf instanceof Tensor) keep(leaf);
  return value;
}

const isTensor = (x: unknown): boolean => isAnyTensor(x) || x instanceof Variable;

/** Whether a bare value is of texts, for which the dtype of the layer is not meant. */
function isText(value: unknown): boolean {
  let first = value;
  for (let level = 0; Array.isArray(first) && level < MAX_RANK; level++) first = first[0];
  return typeof first === 'string';
}

/** @throws InvalidArgumentError that names the layer, for what is no tensor */
function tensorFor(layer: Layer, value: TensorLike): Tensor {
  try {
    return isText(value) ? toTensor(value) : toTensor(value, layer.computeDtype);
  } catch (cause) {
    if (!(cause instanceof InvalidArgumentError)) throw cause;
    throw new InvalidArgumentError(cause.message, layer.name, { cause });
  }
}

/** Arguments as tensors. A user's layer gets floats in its own precision, as in Keras; layers of ours see to it themselves. */
export function prepare(layer: Layer, inputs: unknown, ours: boolean): LayerInput {
  if (inputs === undefined || inputs === null)
    throw new InvalidArgumentError(`was called without an input (${inputs})`, layer.name);
  const dtype = layer.computeDtype;
  const convert = (value: TensorLike): Tensor => {
    if (isStored(value) && ours) checkKind(layer, value);
    // Not the variable's own memory, which later updates write into.
    const x = isStored(value)
      ? (value as unknown as Tensor)
      : value instanceof Variable
        ? value.read()
        : tensorFor(layer, value);
    return ours || layer.passesOn || !layer.autocast || x.dtype === dtype || !isFloating(x.dtype)
      ? x
      : cast(x, dtype);
  };
  // What models and layers of users get may lie in lists and under names to any depth; of ours, bounding boxes do.
  const free = !ours || layer.passesOn;
  const isInside = (x: unknown): boolean => isByNames(x) || (Array.isArray(x) && holdsTensors(x, isTensor));
  let level = 0;
  const one = (x: unknown): unknown => {
    if (x === null && free) return x;
    if (!isInside(x)) return convert(x as TensorLike);
    checkLevel(level++, OP);
    const made = tree.mapItems(x as tree.Container, one);
    level--;
    return made;
  };
  if (isByNames(inputs)) {
    const names = Object.keys(inputs);
    if (names.length === 0 || (ours && !layer.passesOn)) {
      throw new InvalidArgumentError(
        `takes a tensor, got ${names.length === 0 ? 'an empty object' : `tensors by name (${names.join(', ')})`}`,
        layer.name,
      );
    }
    return one(inputs) as LayerInput;
  }
  const several =
    Array.isArray(inputs) && (inputs.some(isTensor) || (free && holdsTensors(inputs, isTensor)));
  // In the place of an input that is optional nothing may stand.
  const fits = (x: unknown): boolean => isTensor(x) || (free && (x === null || isInside(x)));
  if (several && !inputs.every(fits)) {
    const at = inputs.findIndex((x) => !fits(x));
    throw new InvalidArgumentError(
      `takes a list of tensors, but item ${at} of ${inputs.length} is ${typeof inputs[at]}`,
      layer.name,
    );
  }
  return several ? ((inputs as unknown[]).map(one) as Tensor[]) : convert(inputs as TensorLike);
}

/** Further inputs by position: tensors as the first, anything else as it is. */
export function prepareMore(layer: Layer, more: readonly unknown[]): readonly unknown[] {
  return more.map((x) =>
    isTensor(x) || (Array.isArray(x) && x.some(isTensor)) ? prepare(layer, x, false) : x,
  );
}

/** What `call` returned, with the values of variables in their place. @throws InvalidArgumentError for nothing or a promise. */
export function outputsOf(layer: Layer, result: unknown): LayerOutput {
  const isPromise = isRefusedPromise(result);
  if (result === undefined || result === null || isPromise) {
    const got = isPromise ? 'a promise; it must not be async' : String(result);
    throw new InvalidArgumentError(
      `call() must return a tensor, a list of tensors or tensors by name, got ${got}`,
      layer.name,
    );
  }
  const value = (y: unknown): unknown => (y instanceof Variable ? y.read() : y);
  return tree.mapLeaves(result, OP, value, tree.wholeComposites) as LayerOutput;
}

/** The same structure with what `change` makes of its symbolic tensors. */
export function mapSymbolic(value: unknown, change: (t: KerasTensor) => unknown): unknown {
  return tree.mapLeaves(value, OP, (leaf) => (leaf instanceof KerasTensor ? change(leaf) : leaf));
}

/** The symbolic tensors in a structure, in order. */
export function symbolicIn(value: unknown): KerasTensor[] {
  return tree.leavesOf(value, OP).filter((leaf) => leaf instanceof KerasTensor);
}

const SHORT = 16;

/** Whether there is a symbolic tensor in arrays and plain objects. */
export function isSymbolic(value: unknown): boolean {
  return holdsSymbolic(value, 0);
}

/** Whether there is a symbolic tensor in the options of a call. */
export function areSymbolic(options: CallOptions): boolean {
  for (const name in options) {
    const value = options[name];
    if (typeof value === 'object' && isSymbolic(value)) return true;
  }
  return false;
}

function holdsSymbolic(value: unknown, level: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    if (value instanceof Tensor) return false;
    if (value instanceof KerasTensor) return true;
    checkLevel(level, OP);
    if (Array.isArray(value)) {
      // Arrays of numbers may be large: there the first item tells what they hold.
      if (value.length > SHORT && typeof value[0] !== 'object') return false;
      for (let i = 0; i < value.length; i++) if (holdsSymbolic(value[i], level + 1)) return true;
      return false;
    }
    if (!isPlain(value)) return false;
    for (const key of Object.keys(value))
      if (holdsSymbolic((value as Record<string, unknown>)[key], level + 1)) return true;
    return false;
  } catch (error) {
    throw error instanceof TypeError ? unseen(error) : error;
  }
}
