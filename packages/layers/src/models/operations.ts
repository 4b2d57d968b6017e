// Ops on symbolic tensors: each call is a layer of the model that is described.
import { InvalidArgumentError, UnimplementedError } from '@eagre/core';
import {
  anyOption,
  argumentsOf,
  declared,
  isPlain,
  methodNames,
  methods,
  namesRange,
  takesOptions,
} from '@eagre/core/internal';
import { symbolicIn } from '../layer/call.ts';
import { takesKinds } from '../layer/kinds.ts';
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
import {
  fromKeras,
  type KerasCall,
  type KerasOperation,
  kerasOperation,
  type NamedArguments,
  toKeras,
} from './keras-operations.ts';
import { KerasTensor } from './keras-tensor.ts';

export type OpFunction = (...args: unknown[]) => unknown;

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
  /** The name of a method of tensors, or of a function of `ops`: `reshape`. */
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

/** Before the names of functions that are Keras's alone. */
export const KERAS = 'keras.';

let allFunctions: (() => ReadonlyMap<string, OpFunction>) | undefined;
/** Makes functions known by name beside the methods of tensors. @param functions is asked once one is looked for */
export function registerFunctions(functions: () => ReadonlyMap<string, OpFunction>): void {
  allFunctions = functions;
}

/** @throws InvalidArgumentError for what is no op */
function functionOf(op: string): OpFunction {
  const found = allFunctions?.().get(op) ?? methods.get(op);
  if (found !== undefined) return found;
  const where =
    allFunctions === undefined
      ? ' in this bundle: use keras.ops in your program, or call layers.deserialize or models.modelFromJSON'
      : '';
  throw new InvalidArgumentError(`there is no op '${op}'${where}`, 'Operation');
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
    throw new UnimplementedError(
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
