// Functions that travel: a trace as a graph, and what stands for the variables that it captures.
import { InvalidArgumentError } from '@eagre/backend';
import { constant, type Tensor, Variable, zeros } from '@eagre/core';
import type { Portable } from '@eagre/saved-model/internal';
import type { Message } from './messages.ts';

/** What a function gets in the place of something that it captures. */
export type CaptureSpec =
  /** A variable of a parameter server. */
  | { readonly variable: number }
  /** A value that comes with each call: that of a variable which lives elsewhere. */
  | { readonly given: number; readonly dtype: string; readonly shape: readonly number[] }
  /** A tensor that comes with the function. */
  | 'tensor'
  /** The state of a stream of random numbers, which comes with the function. */
  | 'stream';

/** A function as it was received. */
export interface Received {
  readonly run: (inputs: readonly Tensor[]) => Tensor[];
  /** The variables in the places of what comes with each call, in its order. */
  readonly given: readonly Variable[];
}

/**
 * Reads a function.
 * @param variableOf what stands for the variable of a parameter server
 * @param salt makes streams of random numbers differ between processes
 */
export function receiveFunction(
  { fields, tensors, blobs }: Message,
  portable: Portable,
  variableOf: (id: number) => Variable,
  salt: number,
): Received {
  const specs = fields['captures'] as readonly CaptureSpec[];
  const [graph] = blobs;
  if (!Array.isArray(specs) || graph === undefined)
    throw new InvalidArgumentError('a function came without its graph');
  const given: Variable[] = [];
  let next = 0;
  const captured = specs.map((spec): Tensor | Variable => {
    if (spec === 'tensor') return tensors[next++] as Tensor;
    if (spec === 'stream') return new Variable(salted(tensors[next++] as Tensor, salt), { trainable: false });
    if ('variable' in spec) return variableOf(spec.variable);
    const variable = new Variable(zeros([...spec.shape], spec.dtype as 'float32'), { trainable: false });
    given[spec.given] = variable;
    return variable;
  });
  return { run: portable.readPortable(graph, captured), given };
}

/** The state of a stream (counter, key) for another process: with another key. */
function salted(state: Tensor, salt: number): Tensor {
  if (salt === 0) return state;
  const [counter, key] = state.data() as unknown as BigInt64Array;
  const other = BigInt.asIntN(64, (key as bigint) ^ (BigInt(salt) * 0x9e3779b97f4a7c15n));
  return constant([counter as bigint, other], 'int64');
}
