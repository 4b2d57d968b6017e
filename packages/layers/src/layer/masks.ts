// Masks on their way through the layers of a model, as in Keras: what a layer gets, and what is known of its outputs then.
import { InvalidArgumentError, keep, Tensor, type TensorLike, Variable } from '@eagre/core';
import { maskOf, setMask, toTensor, tree } from '@eagre/core/internal';
import { isByNames, keepAll } from './call.ts';
import { along, isDeep } from './forms.ts';
import type { Layer } from './layer.ts';
import type { CallOptions, LayerInput, LayerOutput } from './layer-types.ts';
import { inputNames, takesMaskOfEach, takesOption } from './own-call.ts';

type One = Tensor | null;
/** Which places of a tensor count; of several, in a list or by name, or in such in each other, as many. */
export type Mask = One | readonly Mask[] | { readonly [name: string]: Mask };

const isSome = (mask: unknown): boolean => {
  if (Array.isArray(mask)) return mask.some(isSome);
  return isByNames(mask) ? Object.values(mask).some(isSome) : mask !== null && mask !== undefined;
};

/** The masks of arguments, in their structure. @param of the mask of one value */
export function masksIn(arg: unknown, of: (value: unknown) => One): Mask {
  const inside = (value: unknown): Mask =>
    isByNames(value) || (Array.isArray(value) && typeof value[0] === 'object')
      ? masksIn(value, of)
      : of(value);
  if (Array.isArray(arg)) return arg.map(inside);
  if (!isByNames(arg)) return of(arg);
  return Object.fromEntries(Object.entries(arg).map(([name, value]) => [name, inside(value)]));
}

/** Tensors or masks in a row. */
function listed<T>(value: unknown): readonly T[] {
  // One is the most frequent, and none.
  return value === null || value instanceof Tensor
    ? [value as T]
    : (tree.leavesOf(value, 'masks', tree.wholeComposites) as T[]);
}

/**
 * The masks that a model was called with, for each of its inputs.
 * @param form the structure of the inputs @param names of the inputs
 * @throws InvalidArgumentError for more masks than inputs, and for names of none
 */
export function masksOfInputs(
  mask: unknown,
  form: unknown,
  names: readonly string[],
  model: string,
): readonly One[] {
  const one = (m: unknown): One => (m === null || m === undefined ? null : toTensor(m as TensorLike));
  if (isDeep(form)) return along(form, mask, { what: 'mask', of: 'input', partial: true, names }).map(one);
  if (isByNames(mask)) {
    for (const name of Object.keys(mask)) {
      if (names.includes(name)) continue;
      throw new InvalidArgumentError(
        `there is no input '${name}' for a mask; there are ${names.join(', ')}`,
        model,
      );
    }
    return names.map((name) => one(mask[name]));
  }
  const isList = Array.isArray(mask) && mask.some((m) => m instanceof Tensor || m instanceof Variable);
  const list = isList ? mask : [mask];
  if (list.length > names.length)
    throw new InvalidArgumentError(`${list.length} masks were given for ${names.length} inputs`, model);
  return names.map((_, i) => one(list[i]));
}

/**
 * Calls a layer of a model.
 * @param args its inputs, and further ones by position
 * @param masks of each of these
 * @returns what it gives, with the masks of the tensors in that, in a row
 */
export function invokeMasked(
  layer: Layer,
  args: readonly unknown[],
  masks: readonly Mask[],
  options: CallOptions,
  ours: boolean,
): { readonly y: LayerOutput; readonly masks: readonly One[] } {
  const handed = handedMasks(layer, args, masks, options, ours);
  const rest = [...args.slice(1), handed === null ? options : { ...options, ...handed }];
  // What a model inside or a user's layer has told of its outputs counts, unless `computeMask` says it.
  const told = ours ? layer.passesOn : !layer.supportsMasking;
  const call = (): { y: LayerOutput; masks: readonly One[] } => {
    const y: LayerOutput = layer.invokeInside(args[0], rest, false);
    return { y, masks: told ? listed(y).map(maskOf) : [] };
  };
  // The layers inside of a user's look at its tensors themselves.
  const called = ours ? call() : withMasks(args, masks, call);
  if (told || !layer.supportsMasking) return called;
  const { y } = called;
  const before = inTensors(handed?.['mask'] ?? options['mask'] ?? masks[0] ?? null);
  const after: Mask = layer.computeMask(args[0] as LayerInput, isSome(before) ? before : null);
  return { y, masks: listed(after) };
}

/** Runs `fn` while tensors have masks. */
function withMasks<T>(args: readonly unknown[], masks: readonly Mask[], fn: () => T): T {
  if (!masks.some(isSome)) return fn();
  const given = args.flatMap((arg, i) => {
    const of = listed<One>(masks[i] ?? null);
    return listed(arg).flatMap((t, k) =>
      t instanceof Tensor ? [{ t, mask: of[k] ?? null, before: maskOf(t) }] : [],
    );
  });
  try {
    for (const { t, mask } of given) setMask(t, mask);
    return fn();
  } finally {
    for (const { t, before } of given) setMask(t, before);
  }
}

/** The options by which a layer gets the masks of what it gets, where it takes them and has none of its own. */
function handedMasks(
  layer: Layer,
  args: readonly unknown[],
  masks: readonly Mask[],
  options: CallOptions,
  ours: boolean,
): CallOptions | null {
  if (!masks.some(isSome)) return null;
  if (!ours) {
    // Whether a function of the user takes the option is its own affair. It may keep what it gets.
    if (args.length > 1 || isSome(options['mask'])) return null;
    return { mask: keepAll(masks[0]) };
  }
  const names = inputNames(layer);
  const [first] = masks;
  const several = names.length > 1 && Array.isArray(first) ? (first as readonly One[]) : [first];
  // As in Keras: an only tensor has the mask, several have one each, under their names.
  if (several.length === 1 && !isTensorLike(options['initialState']))
    return takesOption(layer, 'mask') && !isSome(options['mask'])
      ? // Of a sequence with states behind it, that of the sequence.
        { mask: Array.isArray(first) && !layer.passesOn && !takesMaskOfEach(layer) ? first[0] : first }
      : null;
  const own = names.flatMap((name, i): [string, unknown][] => {
    const option = `${name}Mask`;
    return takesOption(layer, option) && isSome(several[i]) && !isSome(options[option])
      ? [[option, several[i]]]
      : [];
  });
  return own.length === 0 ? null : Object.fromEntries(own);
}

/** A mask, whose numbers may have been given as such. */
const inTensors = (mask: unknown): Mask => (isPlain(mask) ? toTensor(mask as TensorLike) : (mask as Mask));
const isPlain = (mask: unknown): boolean =>
  Array.isArray(mask)
    ? mask.length > 0 && mask.every(isPlain)
    : ArrayBuffer.isView(mask) || typeof mask === 'boolean' || typeof mask === 'number';

const isTensorLike = (value: unknown): boolean => value !== undefined && value !== null;

/** Gives the outputs of a layer or model their masks, for what comes behind it. */
export function tellMasks(outputs: readonly Tensor[], masks: readonly (Tensor | null | undefined)[]): void {
  outputs.forEach((t, i) => {
    const mask = masks[i] ?? null;
    // The scope of whoever calls would give it back.
    setMask(t, mask === null ? null : keep(mask));
  });
}

/**
 * Calls a layer outside of a model, as code of the user does: it gets the masks that its inputs have, and gives its outputs theirs.
 * @param args as they were given: these have the masks @param tensors the inputs
 * @param call computes it with the options that it gets
 */
export function callMasked(
  layer: Layer,
  args: readonly unknown[],
  tensors: LayerInput,
  options: CallOptions,
  ours: boolean,
  call: (options: CallOptions) => Tensor,
): Tensor {
  const masks = args.map((arg) => masksIn(arg, maskOf));
  const handed = handedMasks(layer, args, masks, options, ours);
  const y = call(handed === null ? options : { ...options, ...handed });
  if ((layer.passesOn && ours) || !layer.supportsMasking) return y;
  const before = inTensors(handed?.['mask'] ?? options['mask'] ?? masks[0] ?? null);
  const after = layer.computeMask(tensors, isSome(before) ? before : null);
  if (isSome(after)) tellMasks(listed<Tensor>(y as never), listed(after));
  return y;
}
