// What `tf.autograph.experimental.setLoopOptions` says of a loop of the graph.
import { InvalidArgumentError, maximum, type PartialShape, type Tensor, type TensorLike } from '@eagre/core';
import {
  checkCount,
  checkFlag,
  context,
  declareAs,
  defineFunction,
  kind,
  type NamedFunction,
  shown,
} from '@eagre/core/internal';
import { conversion, type TensorSpec } from '@eagre/graph';
import { AutographError } from '../errors.ts';

const OP = 'tf.autograph.experimental.setLoopOptions';

/** Options of `setLoopOptions`: how the loop that follows is traced. */
export interface LoopOptions {
  /** TensorFlow's hint of how many turns may run at once. It is checked, and changes nothing: the graph says what may run beside what. */
  readonly parallelIterations?: number;
  /** TensorFlow's hint to keep what gradients need in the memory of the host. It is checked, and changes nothing. */
  readonly swapMemory?: boolean;
  /** The loop ends after as many turns (an integer scalar), whatever its condition says. Turns that ran before the graph's count. */
  readonly maximumIterations?: TensorLike;
  /**
   * Variables of the loop whose shape changes from turn to turn, each with its shape, null for the sizes that change: `[[v, [null, 3]]]`.
   * Of an array or object of tensors the shapes have its structure.
   */
  readonly shapeInvariants?: ReadonlyArray<
    readonly [variable: unknown, shape: PartialShape | TensorSpec | object]
  >;
}

/** A call of `setLoopOptions` at the beginning of a loop: what it is given, nothing if another function has that name. */
export type LoopOptionsOf = () => readonly unknown[] | null;

const checked = /* @__PURE__ */ defineFunction<NamedFunction<[], [], LoopOptions, LoopOptions>>(
  'autograph.experimental.setLoopOptions',
  {},
  {
    parallelIterations: kind.asIs,
    swapMemory: kind.asIs,
    maximumIterations: kind.asIs,
    shapeInvariants: kind.asIs,
  },
  (options) => {
    const { parallelIterations, shapeInvariants } = options;
    if (parallelIterations !== undefined && parallelIterations !== null)
      checkCount(parallelIterations, 'parallelIterations', OP, 1);
    checkFlag(options.swapMemory, 'swapMemory', OP);
    const isPair = (pair: unknown): boolean => Array.isArray(pair) && pair.length === 2;
    if (shapeInvariants !== undefined && !(Array.isArray(shapeInvariants) && shapeInvariants.every(isPair)))
      throw new InvalidArgumentError(
        `shapeInvariants must be a list of pairs of a variable and its shape, got ${shown(shapeInvariants)}`,
        OP,
      );
    return options;
  },
);

/**
 * As the first statement of a loop in converted code, says how that loop runs where it becomes one of the graph. It is for no other loop
 * around or inside, and changes nothing of loops that are unrolled, run on values, or go through data sets.
 *
 *     for (const i of tf.range(n)) {
 *       tf.autograph.experimental.setLoopOptions({ shapeInvariants: [[v, [null]]] });
 *       v = tf.concat([v, [i]]);
 *     }
 *
 * The options are read before the loop. The function is known by its name.
 * @throws InvalidArgumentError for wrong options, and in converted code that is traced for a call that is no first statement of a loop;
 * AutographError for a pair of `shapeInvariants` that is for no variable of the loop.
 */
export const setLoopOptions: NamedFunction<[], [], LoopOptions, void> = /* @__PURE__ */ declareAs(
  (...args: readonly unknown[]): void => {
    checked(...(args as [LoopOptions]));
    if (conversion.on && context.tracer !== null)
      throw new InvalidArgumentError('it must be the first statement of a loop, under its own name', OP);
  },
  checked,
) as never;

/** Whether a function at the beginning of a loop is the one that sets its options. */
export const areLoopOptions = (fn: unknown): boolean => fn === setLoopOptions;

interface Known {
  readonly maximumIterations: Tensor | number | undefined;
  /** By variable. */
  readonly shapes: ReadonlyMap<number, unknown>;
}

/**
 * What a loop is told.
 * @param initial the values of its variables. @param names theirs. @param made how many turns it has made.
 */
export function optionsOf(
  options: LoopOptionsOf | undefined,
  initial: readonly unknown[],
  names: readonly string[],
  made: number,
  site: string,
): Known | null {
  const args = options?.() ?? null;
  if (args === null) return null;
  const { maximumIterations, shapeInvariants } = checked(...(args as [LoopOptions]));
  const shapes = new Map<number, unknown>();
  for (const [variable, shape] of shapeInvariants ?? []) {
    const places = initial.flatMap((v, i) => (typeof v === 'object' && v === variable ? [i] : []));
    if (places.length === 0)
      throw new AutographError(
        site,
        `shapeInvariants of setLoopOptions is for a value that is no variable of this loop; those are: ${names.filter((name) => !name.startsWith('(')).join(', ')}`,
      );
    for (const i of places) shapes.set(i, shape);
  }
  return { maximumIterations: rest(maximumIterations, made), shapes };
}

/** How many turns are left. */
function rest(most: TensorLike | undefined, made: number): Tensor | number | undefined {
  if (most === undefined || most === null) return undefined;
  if (made === 0) return most as Tensor | number;
  if (typeof most === 'number') return most < made ? Math.min(most, 0) : most - made;
  return maximum((most as Tensor).sub(made), 0);
}
