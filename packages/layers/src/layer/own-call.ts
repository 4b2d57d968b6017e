// What the calls of the library's own layers take: inputs and options, by name and by position.
import { InvalidArgumentError } from '@eagre/core';
import { unknownName } from '@eagre/core/internal';
import { isByNames } from './call.ts';
import type { Layer } from './layer.ts';
import type { CallOptions } from './layer-types.ts';
import { show } from './show.ts';

/** The arguments of a layer's call. */
export interface CallParameters {
  /** The names of the inputs, by position too; `call` gets several as a list. */
  readonly inputs?: readonly string[];
  /** An option that may be given by position behind the inputs, as in Keras. */
  readonly second?: string;
  /** Whether the option `mask` makes sense for an object, where that depends on what is inside. */
  readonly takesMask?: (layer: Layer) => boolean;
  /** Whether the option `mask` is a list, as the inputs are, and not that of the first. */
  readonly maskOfEach?: boolean;
  /** The options in Keras's order. */
  readonly options: Readonly<Record<string, true>>;
}

const plain: CallParameters = { options: { training: true } };
const calls = new WeakMap<object, CallParameters>();

/** Declares what calls of classes take whose inputs are more than one, or whose options more than `training`. */
export function takesCall(
  parameters: CallParameters,
  ...classes: readonly { readonly prototype: { readonly call: object } }[]
): void {
  for (const c of classes) calls.set(c.prototype.call, parameters);
}

/** Whether calls of one of the library's layers take an option. */
export function takesOption(layer: Layer, name: string): boolean {
  const { options, takesMask } = calls.get(layer.call) ?? plain;
  return Object.hasOwn(options, name) && (name !== 'mask' || (takesMask?.(layer) ?? true));
}

/** Whether one of the library's layers takes a list of masks for a list of inputs. */
export function takesMaskOfEach(layer: Layer): boolean {
  return calls.get(layer.call)?.maskOfEach === true;
}

/** The names of the inputs of one of the library's layers. */
export function inputNames(layer: Layer): readonly string[] {
  return calls.get(layer.call)?.inputs ?? ['inputs'];
}

/** Whether the states of one of the library's layers may stand behind its sequence. */
export function takesStates(layer: Layer): boolean {
  return calls.get(layer.call)?.second === 'initialState';
}

const NONE: CallOptions = {};

/** The options by which a layer tells one inside whether this is training: none where nobody said it, so that the default of that layer holds. */
export function trainingOption(training: boolean | undefined): CallOptions {
  return training === undefined ? NONE : { training };
}

const defaults = new WeakMap<object, boolean | null>();

/** What the `call` of a user's class writes down as its default for `training`, which holds for the layers inside too, as in Keras. */
export function trainingDefault(call: object): boolean | undefined {
  let known = defaults.get(call);
  if (known === undefined) {
    const found = /\btraining\s*(?::\s*[\w$]+\s*)?=\s*(true|false|!0|!1)(?![\w$])/.exec(parametersOf(call));
    known = found === null ? null : found[1] === 'true' || found[1] === '!0';
    defaults.set(call, known);
  }
  return known ?? undefined;
}

/** The parameters in the source of a function. */
function parametersOf(fn: object): string {
  const text = Function.prototype.toString.call(fn);
  const start = text.indexOf('(');
  let depth = 0;
  for (let i = start; i >= 0 && i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return text.slice(start, i);
  }
  return '';
}

/** The options of a call that gives one of the library's layers nothing else than, perhaps, `training`; undefined for other calls. */
export function plainOptions(layer: Layer, rest: readonly unknown[]): CallOptions | undefined {
  if (rest.length === 0) return NONE;
  const [options] = rest;
  if (rest.length > 1 || typeof options !== 'object' || options === null) return undefined;
  if (Object.getPrototypeOf(options) !== Object.prototype) return undefined;
  for (const name in options) if (name !== 'training') return undefined;
  return Object.hasOwn((calls.get(layer.call) ?? plain).options, 'training')
    ? (options as CallOptions)
    : undefined;
}

/**
 * The inputs and the options of a call.
 * @throws InvalidArgumentError for unknown options, for more by position than the layer takes, and for what is given twice
 */
export function ownCall(
  layer: Layer,
  inputs: unknown,
  more: readonly unknown[],
  options: CallOptions,
): { readonly inputs: unknown; readonly options: CallOptions } {
  const { inputs: names = ['inputs'], second, options: known } = calls.get(layer.call) ?? plain;
  const first = names[0];
  const byName = isByNames(inputs) && Object.hasOwn(inputs, first) && !layer.passesOn;
  if (more.length === 0 && !byName) {
    let simple = true;
    for (const name in options) if (!Object.hasOwn(known, name)) simple = false;
    if (simple) return { inputs, options };
  }
  const fail = (message: string): never => {
    throw new InvalidArgumentError(message, layer.name);
  };
  const places = second === undefined ? names : [...names, second];
  const all: Record<string, unknown> = byName ? { ...inputs, ...options } : { ...options };
  const list = byName ? [] : [inputs, ...more];
  while (list.length > 1 && (list.at(-1) === null || list.at(-1) === undefined)) list.pop();
  if (list.length > places.length) {
    const order = [...places, ...Object.keys(known).filter((name) => !places.includes(name))];
    const by = `only ${places.join(' and ')} can be given by position`;
    const written = list.slice(places.length).map((value, i) => [order[places.length + i], value] as const);
    if (written.some(([, value]) => typeof value === 'object' && value !== null && 'dtype' in value))
      fail(`${by}; several tensors come in a list: write layer([x, y])`);
    if (written.some(([name, value]) => name === undefined || typeof value === 'object')) fail(by);
    fail(`${by}; write { ${written.map(([name, value]) => `${name}: ${show(value)}`).join(', ')} }`);
  }
  list.forEach((value, i) => {
    const name = places[i];
    if (all[name] !== undefined && value !== undefined)
      fail(`${name} is given twice, by position and by name`);
    all[name] ??= value;
  });
  const allowed = [...new Set([...places, ...Object.keys(known)])];
  for (const name of Object.keys(all)) if (!allowed.includes(name)) fail(unknownName(name, allowed.slice(1)));
  const tensors = names.map((name) => all[name]);
  while (tensors.length > 1 && (tensors.at(-1) === null || tensors.at(-1) === undefined)) tensors.pop();
  const missing = tensors.findIndex((t) => t === undefined || t === null);
  if (missing > 0) fail(`${names[missing]} must be given where ${names[tensors.length - 1]} is`);
  const rest = Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));
  return { inputs: tensors.length === 1 ? tensors[0] : tensors, options: rest };
}
