// Ops on symbolic tensors: each call is a layer of the model that is described.
import * as core from '@eagre/core';
import { linalg, math, nn } from '@eagre/core';
import { anyOption, argumentsOf, methodNames, takesOptions } from '@eagre/core/internal';
import { isSymbolic, symbolicIn } from './call.ts';
import { KerasTensor, type SymbolicFunction } from './keras-tensor.ts';
import {
  builtin,
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerInput,
  type LayerOptions,
  type LayerOutput,
} from './layer.ts';
import { layerOptions } from './layers/weights.ts';
import { uniqueName } from './naming.ts';
import { takesCall } from './own-call.ts';

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
    super({ ...options, name: options.name ?? uniqueName(options.op) });
  }
  override call(_: LayerInput, { args }: CallOptions): LayerOutput {
    return functionOf(this.op)(...(args as readonly unknown[])) as LayerOutput;
  }
}
builtin(Operation);
takesCall({ options: { training: true, args: true } }, Operation);
takesOptions<OperationOptions, Operation>({ options: { ...layerOptions, op: anyOption('') } }, Operation);

const methods = new Set(methodNames);
const functions = new Map<string, OpFunction>();

/** @throws InvalidArgumentError for what is no op */
function functionOf(op: string): OpFunction {
  const found = functions.get(op);
  if (found !== undefined) return found;
  if (!methods.has(op)) throw new core.InvalidArgumentError(`there is no op '${op}'`, 'Operation');
  return (x, ...rest) =>
    (core.convertToTensor(x as core.TensorLike) as unknown as Record<string, OpFunction>)[op]?.(...rest);
}

function describe(op: string, args: readonly unknown[]): KerasTensor {
  return new Operation({ op })(symbolicIn(args)[0] as KerasTensor, { args });
}

for (const name of methodNames) {
  Object.defineProperty(KerasTensor.prototype, name, {
    configurable: true,
    writable: true,
    value(this: KerasTensor, ...rest: unknown[]): KerasTensor {
      return describe(name, [this, ...rest]);
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
type Functions = typeof math & Omit<typeof linalg, (typeof OTHERWISE)[number]> & typeof nn & Joins;

/**
 * The functions of `tf.math`, `tf.linalg` and `tf.nn`, methods of tensors as functions, and those that take several tensors (`concat`, `stack`,
 * `where`, …), which take symbolic tensors too: each such call is a layer of the model that is described. `tf.keras.ops`.
 */
export const ops: { readonly [K in keyof Functions]: SymbolicFunction<Functions[K]> } = collect();

function collect(): { readonly [K in keyof Functions]: SymbolicFunction<Functions[K]> } {
  const made: Record<string, OpFunction> = {};
  const add = (name: string, fn: unknown): void => {
    if (typeof fn !== 'function' || name in made || (OTHERWISE as readonly string[]).includes(name)) return;
    functions.set(name, fn as OpFunction);
    made[name] = (...args) => (isSymbolic(args) ? describe(name, args) : (fn as OpFunction)(...args));
  };
  const all = core as unknown as Record<string, unknown>;
  for (const name of [...methodNames, ...JOINS]) add(name, all[name]);
  for (const group of [math, linalg, nn]) for (const [name, fn] of Object.entries(group)) add(name, fn);
  return made as unknown as { readonly [K in keyof Functions]: SymbolicFunction<Functions[K]> };
}
