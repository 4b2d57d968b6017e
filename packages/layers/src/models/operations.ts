// Ops on symbolic tensors: each call is a layer of the model that is described.
import * as core from '@eagre/core';
import { linalg, math, nn } from '@eagre/core';
import {
  anyOption,
  argumentsOf,
  declareAs,
  declared,
  isPlain,
  lazily,
  lazyObject,
  methodNames,
  namesRange,
  takesOptions,
} from '@eagre/core/internal';
import { isSymbolic, symbolicIn } from '../layer/call.ts';
import { isStored, takesKinds } from '../layer/kinds.ts';
import {
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerInput,
  type LayerOptions,
  type LayerOutput,
  ownsTemporaries,
  type Specs,
  type TensorSpec,
} from '../layer/layer.ts';
import { uniqueName } from '../layer/naming.ts';
import { takesCall } from '../layer/own-call.ts';
import { layerOptions } from '../layers/weights.ts';
import * as keras from '../ops/index.ts';
import {
  fromKeras,
  type KerasCall,
  type KerasOperation,
  kerasOperation,
  type NamedArguments,
  toKeras,
} from './keras-operations.ts';
import { KerasTensor, type SymbolicFunction } from './keras-tensor.ts';

type OpFunction = (...args: unknown[]) => unknown;

export interface OperationOptions extends LayerOptions {
  /** The name of a method of tensors, or of a function of `ops`: `reshape`. */
  readonly op: string;
}

/**
 * A call of an op in a functional model. Methods of symbolic tensors (`x.mul(2)`) and the functions of `ops` make it; what the op was called
 * with is part of the call.
 */
export class Operation extends Layer {
  declare static readonly fromConfig: FromConfig<Operation>;
  declare readonly op: string;

  constructor(...args: [options: OperationOptions]) {
    const options = argumentsOf<OperationOptions>(Operation, new.target, args);
    functionOf(options.op);
    const known = kerasOperation(options.op)?.className;
    super({
      ...options,
      name: options.name ?? uniqueName(known ?? options.op.slice(options.op.lastIndexOf('.') + 1)),
    });
  }
  override get isOperation(): boolean {
    return true;
  }
  override call(_: LayerInput, { args }: CallOptions): LayerOutput {
    return functionOf(this.op)(...(args as readonly unknown[])) as LayerOutput;
  }
  /** @internal Sizes that stand in for unknown ones need not fit a new shape, which then tells all but the size of -1. */
  override specsOfCall(args: readonly unknown[], now: (t: KerasTensor) => TensorSpec): Specs {
    try {
      return super.specsOfCall(args, now);
    } catch (error) {
      const shape = ['reshape', `${KERAS}reshape`].includes(this.op)
        ? newShape((args.at(-1) as CallOptions)['args'])
        : null;
      const [x] = args;
      if (shape === null || !(x instanceof KerasTensor) || !now(x).shape.includes(null)) throw error;
      return { list: [{ shape: shape.map((n) => (n === -1 ? null : n)), dtype: now(x).dtype }], many: false };
    }
  }
}
/** The shape among the arguments of `reshape`; null where it is no list of integers. */
function newShape(args: unknown): readonly number[] | null {
  const [, second] = args as readonly unknown[];
  const given = isPlain(second) ? (second['newshape'] ?? second['shape']) : second;
  const isShape = Array.isArray(given) && given.every((n) => Number.isSafeInteger(n) && n >= -1);
  return isShape && given.filter((n) => n === -1).length < 2 ? (given as number[]) : null;
}
ownsTemporaries(Operation);
takesKinds(['sparse', 'ragged'], Operation);
takesCall({ options: { training: true, args: true } }, Operation);
takesOptions<OperationOptions, Operation>({ options: { ...layerOptions, op: anyOption('') } }, Operation);

const methods = new Set(methodNames);
/** Before the names of functions that are Keras's alone. */
const KERAS = 'keras.';

/** @throws InvalidArgumentError for what is no op */
function functionOf(op: string): OpFunction {
  const found = collected().functions.get(op);
  if (found !== undefined) return found;
  if (!methods.has(op)) throw new core.InvalidArgumentError(`there is no op '${op}'`, 'Operation');
  return (x, ...rest) => {
    if (isStored(x)) return (core as unknown as Record<string, OpFunction>)[op]?.(x, ...rest);
    return (core.convertToTensor(x as core.TensorLike) as unknown as Record<string, OpFunction>)[op]?.(
      ...rest,
    );
  };
}

/** The call of an op with symbolic tensors among its arguments. */
export function describe(operation: Operation, args: readonly unknown[]): KerasTensor {
  return operation(symbolicIn(args)[0], { args });
}

/**
 * The call of an op in Keras's form, with Keras's op.
 * @throws UnimplementedError for an op that Keras has not, or not so
 */
export function kerasCall(
  layer: Operation,
  args: readonly unknown[],
): KerasCall & { readonly of: KerasOperation } {
  const of = kerasOperation(layer.op);
  if (of === undefined)
    throw new core.UnimplementedError(
      `Keras has no op '${layer.op.slice(layer.op.startsWith(KERAS) ? KERAS.length : 0)}', so no file holds it: put the call into a layer of your own, with getConfig`,
      layer.name,
    );
  const { positional = [], rest } = declared(functionOf(layer.op)) ?? {};
  const last = args.at(-1);
  // What is indexed may be given ranges, which are objects too.
  const byName = args.length > 1 && isPlain(last) && !namesRange(last) ? last : {};
  const list = byName === last ? args.slice(0, -1) : args;
  const given: Record<string, unknown> = { ...byName };
  positional.forEach((name, i) => {
    if (list[i] !== undefined) given[name] = list[i];
  });
  if (rest !== undefined) given[rest] = list.slice(positional.length);
  return { of, ...toKeras(of, given, positional, rest) };
}

/** The arguments of the op for a call of Keras's. */
export function argumentsOfKeras(
  of: KerasOperation,
  config: Readonly<Record<string, unknown>>,
  args: readonly unknown[],
  kwargs: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  const { positional = [], rest, options = {} } = declared(functionOf(of.op)) ?? {};
  const given: NamedArguments = fromKeras(of, config, args, kwargs, positional, rest);
  const list = positional.map((name) => given[name]);
  if (rest !== undefined) return [...list, ...(given[rest] as readonly unknown[])];
  const more = Object.keys(options).filter((name) => given[name] !== undefined);
  while (list.length > 0 && list.at(-1) === undefined) list.pop();
  return more.length === 0 ? list : [...list, Object.fromEntries(more.map((name) => [name, given[name]]))];
}

for (const name of methodNames) {
  Object.defineProperty(KerasTensor.prototype, name, {
    configurable: true,
    writable: true,
    value(this: KerasTensor, ...rest: unknown[]): KerasTensor {
      return describe(new Operation({ op: name }), [this, ...rest]);
    },
  });
}

type Joins = Pick<
  typeof core,
  'concat' | 'stack' | 'where' | 'einsum' | 'clipByValue' | 'zerosLike' | 'onesLike' | 'cast' | 'oneHot'
>;
const JOINS = [
  'concat',
  'stack',
  'where',
  'einsum',
  'clipByValue',
  'zerosLike',
  'onesLike',
  'cast',
  'oneHot',
] as const satisfies readonly (keyof Joins)[];
// Of another order and other defaults in Keras: what is written for it would get wrong results.
const OTHERWISE = ['svd'] as const;
/** Classes are no functions of tensors. */
type Classes = `LinearOperator${string}`;
type Functions = typeof math & Omit<typeof linalg, (typeof OTHERWISE)[number] | Classes> & typeof nn & Joins;
type KerasFunctions = typeof keras.core &
  typeof keras.numpy &
  typeof keras.math &
  typeof keras.linalg &
  typeof keras.nn;
/** Functions whose types say themselves what they take and give. */
type OwnTypes =
  | ('shape' | 'ndim' | 'dtype' | 'isTensor' | 'convertToNumpy' | 'customGradient' | 'vectorize' | 'jvp')
  | ('cond' | 'switch' | 'whileLoop' | 'foriLoop' | 'scan' | 'associativeScan' | 'map' | 'vectorizedMap');
type Symbolic<F> = { readonly [K in keyof F]: K extends OwnTypes ? F[K] : SymbolicFunction<F[K]> };
type Spaces = { readonly [K in 'image' | 'linalg' | 'nn' | 'numpy']: Symbolic<(typeof keras)[K]> };

/** What looks at symbolic tensors itself, or takes functions alone. */
const THEMSELVES: ReadonlySet<string> = new Set([
  ...['shape', 'ndim', 'dtype', 'isTensor', 'customGradient', 'vectorize'],
]);

/**
 * `tf.keras.ops`: the functions of Keras under its names, with its arguments and defaults, and beside them those of `tf.math`, `tf.linalg` and
 * `tf.nn` and methods of tensors under names that Keras has not. They take symbolic tensors too: each such call is a layer of the model that is
 * described.
 */
export const ops: Symbolic<Omit<Functions, keyof KerasFunctions>> & Symbolic<KerasFunctions> & Spaces =
  lazyObject(() => collected().made as never);

const collected = lazily(() => {
  const made: Record<string, unknown> = {};
  const functions = new Map<string, OpFunction>();
  const first = new Map<unknown, string>();
  const wrapped = (op: string, fn: OpFunction): OpFunction => {
    const call: OpFunction = (...args) =>
      isSymbolic(args) ? describe(new Operation({ op }), args) : fn(...args);
    return declared(fn) === undefined ? call : declareAs(call, fn);
  };
  const add = (name: string, fn: unknown): void => {
    if (typeof fn !== 'function' || name in made || (OTHERWISE as readonly string[]).includes(name)) return;
    if (name.startsWith('LinearOperator')) return;
    // TensorFlow's second names of ops are the same functions.
    const op = first.get(fn) ?? name;
    first.set(fn, op);
    functions.set(name, fn as OpFunction);
    made[name] = wrapped(op, fn as OpFunction);
  };
  const all = core as unknown as Record<string, unknown>;
  for (const name of [...methodNames, ...JOINS]) add(name, all[name]);
  for (const group of [math, linalg, nn]) for (const [name, fn] of Object.entries(group)) add(name, fn);

  /** The functions of a file of Keras's. */
  const addKeras = (space: object, before = ''): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(space).map(([name, fn]: [string, OpFunction]) => {
        if (THEMSELVES.has(name)) return [name, fn];
        const op = first.get(fn) ?? `${KERAS}${before}${name}`;
        first.set(fn, op);
        functions.set(op, fn);
        // Second names are in files too.
        functions.set(`${KERAS}${before}${name}`, fn);
        return [name, wrapped(op, fn)];
      }),
    );
  for (const space of [keras.core, keras.numpy, keras.math, keras.linalg, keras.nn])
    Object.assign(made, addKeras(space));
  Object.assign(made, {
    image: addKeras(keras.image, 'image.'),
    linalg: addKeras(keras.linalg),
    nn: addKeras(keras.nn),
    numpy: addKeras(keras.numpy),
  });
  return { made, functions };
});
