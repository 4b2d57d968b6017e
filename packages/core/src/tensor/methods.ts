// Types in a circle: a tensor has the ops as methods, and ops take and give tensors.
import type { DType } from '@eagre/backend';
import type { IntegerLike } from '../arguments/argument-kinds.ts';
import { type Arguments, nameFunction } from '../arguments/arguments.ts';
import type * as array from '../ops/array/array.ts';
import type * as activations from '../ops/elementwise/activation.ts';
import type * as math from '../ops/elementwise/math.ts';
import type * as linalg from '../ops/linalg/linalg.ts';
import type * as reduce from '../ops/reduce/reduce.ts';
import type { TensorLike } from './convert.ts';
import type { Known, Tensor } from './tensor.ts';

type Catalogue = typeof activations & typeof array & typeof linalg & typeof math & typeof reduce;

/** The forms of a call without their first argument, which the method's object is, and which cannot be given by name then. */
type WithoutFirst<A> = A extends readonly [infer First, ...infer Rest]
  ? TensorLike extends First
    ? Rest
    : never
  : never;
type Method<F> = F extends (...args: infer A) => infer R ? (...args: WithoutFirst<A>) => R : never;

type Index = 'int32' | 'int64';
type Position = <D extends Index = 'int64'>(
  ...args: Arguments<[axis?: IntegerLike], ['axis'], reduce.PositionOptions<D>>
) => Tensor<D>;
/** Methods whose results have a dtype that is given. */
interface Typed {
  cast: <D extends DType>(...args: Arguments<[dtype: D], ['dtype']>) => Tensor<Known<D>>;
  argMax: Position;
  argMin: Position;
}

/** Every function of those files, as a method of Tensor and Variable. */
export type OpMethods = {
  [K in keyof Catalogue]: K extends keyof Typed ? Typed[K] : Method<Catalogue[K]>;
};

export type OpFunction = (...args: unknown[]) => unknown;

/** @internal Puts the functions of a file on the prototypes. @returns them, by name */
export function installMethods(
  prototypes: readonly object[],
  functions: object,
): readonly (readonly [string, OpFunction])[] {
  const installed: [string, OpFunction][] = [];
  for (const [name, fn] of Object.entries(functions)) {
    if (typeof fn !== 'function') continue;
    nameFunction(fn, name);
    installed.push([name, fn as OpFunction]);
    const value = method(fn as (...args: unknown[]) => Tensor);
    for (const prototype of prototypes)
      Object.defineProperty(prototype, name, { configurable: true, writable: true, value });
  }
  return installed;
}

// The functions tell by the number of their arguments what was given, so it has to be right; spreading costs.
function method(call: (...args: unknown[]) => Tensor): (...args: unknown[]) => Tensor {
  // A list of the rest would be made by each call. Nothing takes more than an index for each axis; who gets one too many refuses it.
  return function (this: unknown, a?, b?, c?, d?, e?, f?, g?, h?, i?): Tensor {
    // biome-ignore lint/complexity/noArguments: their number is compared, which costs nothing.
    const n = arguments.length;
    if (n === 1) return call(this, a);
    if (n === 0) return call(this);
    return n === 2 ? call(this, a, b) : call(...[this, a, b, c, d, e, f, g, h, i].slice(0, n + 1));
  };
}
