// The functions of `tf.keras.ops`: by name, and on symbolic tensors.
import type * as core from '@eagre/core';
import {
  cast,
  clipByValue,
  concat,
  einsum,
  linalg,
  math,
  nn,
  oneHot,
  onesLike,
  stack,
  where,
  zerosLike,
} from '@eagre/core';
import { declareAs, declared, lazily, lazyObject, methods } from '@eagre/core/internal';
import { isSymbolic } from '../layer/call.ts';
import * as keras from '../ops/index.ts';
import type { SymbolicFunction } from './keras-tensor.ts';
import { describe, KERAS, Operation, type OpFunction, registerFunctions } from './operations.ts';

type Joins = Pick<
  typeof core,
  'concat' | 'stack' | 'where' | 'einsum' | 'clipByValue' | 'zerosLike' | 'onesLike' | 'cast' | 'oneHot'
>;
const JOINS: Joins = { concat, stack, where, einsum, clipByValue, zerosLike, onesLike, cast, oneHot };
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
  for (const [name, fn] of methods) add(name, fn);
  for (const group of [JOINS, math, linalg, nn])
    for (const [name, fn] of Object.entries(group)) add(name, fn);

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

/** Makes all of them known by name. */
export function knowAllOperations(): void {
  registerFunctions(() => collected().functions);
}
// Bundlers leave this out with the rest of the file.
knowAllOperations();

/**
 * `tf.keras.ops`: the functions of Keras under its names, with its arguments and defaults, and beside them those of `tf.math`, `tf.linalg` and
 * `tf.nn` and methods of tensors under names that Keras has not. They take symbolic tensors too: each such call is a layer of the model that is
 * described.
 */
export const ops: Symbolic<Omit<Functions, keyof KerasFunctions>> & Symbolic<KerasFunctions> & Spaces =
  lazyObject(() => collected().made as never);
