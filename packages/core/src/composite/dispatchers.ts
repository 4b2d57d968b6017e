// What programs say functions of tensors are to do with values that are made of several tensors.
import { InvalidArgumentError } from '@eagre/backend';
import {
  asIs,
  declared,
  defineFunction,
  type NamedFunction,
  structure,
  userDispatch,
} from '../arguments/arguments.ts';
import { checkFunction, shown } from '../arguments/checks.ts';
import { isPlain } from '../arguments/plain.ts';
import { Tensor } from '../tensor/tensor.ts';
import { type Call, CompositeTensor } from './composite.ts';
import { ofEachValue } from './unary-names.ts';

// biome-ignore lint/suspicious/noExplicitAny: functions of whatever values
type AnyFunction = (...args: any[]) => any;
// biome-ignore lint/suspicious/noExplicitAny: classes of whatever values
type AnyClass = abstract new (...args: any[]) => any;

/** What an argument has to be: a class (`tf.Tensor`, `MaskedTensor`), one of several, or a list of such in `{ list: … }`. */
export type ArgumentType = AnyClass | readonly AnyClass[] | { readonly list: AnyClass | readonly AnyClass[] };
/** The types of some arguments by their names. */
export type ApiSignature = Readonly<Record<string, ArgumentType>>;

interface Dispatcher {
  readonly target: AnyFunction;
  /** What comes of a call; undefined where this is none for it. */
  readonly run: (call: Call) => Answer | undefined;
}
type Answer = { readonly value: unknown };
const dispatchers: Dispatcher[] = [];

function add(target: AnyFunction, run: (call: Call) => Answer | undefined): void {
  dispatchers.push({ target, run });
  userDispatch.find = find;
}

/** The first that takes a call answers it. */
function find(call: Call): Answer | undefined {
  for (const { run } of dispatchers) {
    const result = run(call);
    if (result !== undefined) return result;
  }
  return undefined;
}

/** Whether a value is of one of the classes. A tensor stands for values that become one, too. */
function isOf(value: unknown, type: AnyClass | readonly AnyClass[]): boolean {
  const classes = Array.isArray(type) ? (type as readonly AnyClass[]) : [type as AnyClass];
  return classes.some(
    (cls) =>
      value instanceof cls ||
      (cls === (Tensor as AnyClass) &&
        value !== undefined &&
        !(value instanceof CompositeTensor) &&
        !isPlain(value)),
  );
}

function fits(value: unknown, type: ArgumentType): boolean {
  if (isPlain(type)) {
    const { list } = type as { readonly list: AnyClass };
    return Array.isArray(value) && value.every((item) => isOf(item, list));
  }
  return isOf(value, type as AnyClass);
}

const isClasses = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every(isClasses) : typeof value === 'function';

/** The arguments of a call by their names. */
function named({ positional, values, options }: Call): Readonly<Record<string, unknown>> {
  return { ...Object.fromEntries(positional.map((name, i) => [name, values[i]])), ...options };
}

const API = 'experimental.dispatchForApi';

function apiName(api: unknown, op: string): { readonly name: string; readonly names: readonly string[] } {
  const known = typeof api === 'function' ? declared(api) : undefined;
  if (known === undefined)
    throw new InvalidArgumentError(`api must be a function of tf, such as tf.add, got ${shown(api)}`, op);
  const rest = known.rest === undefined ? [] : [known.rest];
  return { name: known.name, names: [...known.positional, ...rest, ...Object.keys(known.options)] };
}

/**
 * Says what a function does where its arguments are of some types, one of which at least is made of several tensors (an extension type,
 * a ragged or sparse tensor). `dispatchTarget` gets what the function was given, and is also called for the method of tensors.
 *
 *     tf.experimental.dispatchForApi(tf.add, { a: MaskedTensor, b: MaskedTensor }, (a, b) => new MaskedTensor({ … }));
 *
 * @param signatures the types of arguments by name; several in a list.
 * @returns `dispatchTarget`. @throws InvalidArgumentError for what is no function of tf, or arguments that it has not.
 */
export const dispatchForApi: NamedFunction<
  [api: AnyFunction, signatures: ApiSignature | readonly ApiSignature[], dispatchTarget: AnyFunction],
  ['api', 'signatures', 'dispatchTarget'],
  unknown,
  AnyFunction
> = /* @__PURE__ */ defineFunction(
  API,
  { api: asIs, signatures: structure, dispatchTarget: asIs },
  {},
  (api, signatures, dispatchTarget) => {
    checkFunction(dispatchTarget, 'dispatchTarget', API);
    const { name, names } = apiName(api, API);
    const all: readonly unknown[] = Array.isArray(signatures) ? signatures : [signatures];
    for (const signature of all) {
      if (!isPlain(signature) || Object.keys(signature).length === 0)
        throw new InvalidArgumentError(
          `a signature must be an object of types by the names of arguments, got ${shown(signature)}`,
          API,
        );
      for (const [argument, type] of Object.entries(signature)) {
        if (!names.includes(argument))
          throw new InvalidArgumentError(
            `${name} has no argument '${argument}'; it has ${names.join(', ')}`,
            API,
          );
        if (!isClasses(isPlain(type) ? type['list'] : type))
          throw new InvalidArgumentError(`${argument} must be a class or several, got ${shown(type)}`, API);
      }
    }
    add(dispatchTarget, (call) => {
      if (call.name !== name) return undefined;
      const given = named(call);
      const taken = (all as readonly ApiSignature[]).some((signature) =>
        Object.entries(signature).every(([argument, type]) => fits(given[argument], type)),
      );
      if (!taken) return undefined;
      const options = Object.keys(call.options).length === 0 ? [] : [call.options];
      return { value: dispatchTarget(...call.values, ...options) };
    });
    return dispatchTarget;
  },
);

type Elementwise = NamedFunction<
  [xType: AnyClass, dispatchTarget: AnyFunction],
  ['xType', 'dispatchTarget'],
  unknown,
  AnyFunction
>;
type BinaryElementwise = NamedFunction<
  [xType: AnyClass, yType: AnyClass, dispatchTarget: AnyFunction],
  ['xType', 'yType', 'dispatchTarget'],
  unknown,
  AnyFunction
>;

function checkClass(cls: unknown, name: string, op: string): void {
  if (typeof cls !== 'function')
    throw new InvalidArgumentError(`${name} must be a class, got ${shown(cls)}`, op);
}

/** Whether a function is of one tensor, and works element by element. */
const isUnary = (call: Call): boolean =>
  ofEachValue.has(call.name) || (call.elementwise && call.positional.length === 1);
/** Whether a function is of two tensors, and works element by element. */
const isBinary = (call: Call): boolean =>
  call.elementwise && call.positional.length === 2 && !ofEachValue.has(call.name);

/**
 * Says what all functions of one tensor that work element by element (`tf.abs`, `tf.exp`, …) do with a type: `dispatchTarget(apiFunc, x)`, where
 * `apiFunc` is the function with its other arguments.
 *
 *     tf.experimental.dispatchForUnaryElementwiseApis(MaskedTensor, (apiFunc, x) => new MaskedTensor({ values: apiFunc(x.values), mask: x.mask }));
 */
export const dispatchForUnaryElementwiseApis: Elementwise = /* @__PURE__ */ defineFunction(
  'experimental.dispatchForUnaryElementwiseApis',
  { xType: asIs, dispatchTarget: asIs },
  {},
  (xType, dispatchTarget) => {
    const op = 'experimental.dispatchForUnaryElementwiseApis';
    checkClass(xType, 'xType', op);
    checkFunction(dispatchTarget, 'dispatchTarget', op);
    add(dispatchTarget, (call) => {
      const [x, ...others] = call.values;
      if (!isUnary(call) || !isOf(x, xType)) return undefined;
      return { value: dispatchTarget((value: unknown) => call.run([value, ...others]), x) };
    });
    return dispatchTarget;
  },
);

function binary(op: string, takes: (call: Call) => boolean): BinaryElementwise {
  return defineFunction<BinaryElementwise>(
    op,
    { xType: asIs, yType: asIs, dispatchTarget: asIs },
    {},
    (xType, yType, dispatchTarget) => {
      checkClass(xType, 'xType', op);
      checkClass(yType, 'yType', op);
      checkFunction(dispatchTarget, 'dispatchTarget', op);
      add(dispatchTarget, (call) => {
        const [x, y, ...others] = call.values;
        if (!takes(call) || !isOf(x, xType) || !isOf(y, yType)) return undefined;
        return { value: dispatchTarget((a: unknown, b: unknown) => call.run([a, b, ...others]), x, y) };
      });
      return dispatchTarget;
    },
  );
}

/** The same of functions of two tensors (`tf.add`, `tf.maximum`, …): `dispatchTarget(apiFunc, x, y)`. */
export const dispatchForBinaryElementwiseApis: BinaryElementwise = /* @__PURE__ */ binary(
  'experimental.dispatchForBinaryElementwiseApis',
  isBinary,
);

/** The same of assertions of two tensors (`tf.debugging.assertEqual`, …). */
export const dispatchForBinaryElementwiseAssertApis: BinaryElementwise = /* @__PURE__ */ binary(
  'experimental.dispatchForBinaryElementwiseAssertApis',
  (call) =>
    /^(debugging\.)?assert(Equal|NoneEqual|Near|Greater|GreaterEqual|Less|LessEqual)$/.test(call.name),
);

/** Forgets what was said with a `dispatchTarget`. @throws InvalidArgumentError where nothing was. */
export const unregisterDispatchFor: NamedFunction<
  [dispatchTarget: AnyFunction],
  ['dispatchTarget'],
  unknown,
  void
> = /* @__PURE__ */ defineFunction(
  'experimental.unregisterDispatchFor',
  { dispatchTarget: asIs },
  {},
  (dispatchTarget) => {
    const before = dispatchers.length;
    for (let i = before - 1; i >= 0; i--)
      if (dispatchers[i]?.target === dispatchTarget) dispatchers.splice(i, 1);
    if (dispatchers.length === before)
      throw new InvalidArgumentError(
        `${shown(dispatchTarget)} was not registered`,
        'experimental.unregisterDispatchFor',
      );
  },
);
