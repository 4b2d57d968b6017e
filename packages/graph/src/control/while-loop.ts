// A body that runs as long as a condition holds.
import { InternalError, InvalidArgumentError } from '@eagre/backend';
import { constant, logicalAnd, type PartialShape, Tensor, type TensorLike } from '@eagre/core';
import {
  checkFunction,
  checkPartialShape,
  checkValues,
  context,
  defineFunction,
  integersOf,
  isCompatible,
  kind,
  type NamedFunction,
  sameShape,
  showShape,
} from '@eagre/core/internal';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { knownNumbers, predicate } from './known.ts';
import {
  describe,
  difference,
  flatten,
  fromGraph,
  growArrays,
  inGraph,
  inPlaces,
  type Leaf,
  type Nest,
  pack,
  ShapeFound,
  type Tensors,
  type TensorsOf,
  toGraph,
  unifyArrays,
  type Values,
} from './nest.ts';
import { TensorArray } from './tensor-array.ts';
import { tracedWhile } from './while.ts';

/** Options of `whileLoop`. */
export interface WhileLoopOptions {
  /** The loop ends after as many iterations (an integer scalar), whatever the condition says. */
  readonly maximumIterations?: TensorLike;
  /**
   * For loop variables whose shape changes from turn to turn: their shapes, null for each size that does, in the structure of the
   * variables; nothing for those that keep theirs: `shapeInvariants: [null, [null, 3]]`.
   */
  readonly shapeInvariants?: unknown;
}

/** What the body of a loop returns: the next values of all variables, or of the only one. */
export type LoopResult<V extends readonly unknown[]> =
  | { readonly [K in keyof TensorsOf<V>]: Values<TensorsOf<V>[K]> }
  | (V extends readonly [infer Only] ? Values<Tensors<Only>> : never);

/** One bool. TypeScript chooses among the forms by what fits exactly, as a comparison does. */
type Truth = TensorLike | Tensor<'bool'>;

const OP = 'tf.whileLoop';

/** The forms of a call of `tf.whileLoop`. */
export interface WhileLoop {
  /**
   * Runs `body` as long as `cond` (which returns one bool) holds; both get the loop variables, `body` returns their next values.
   *
   *     const [n, steps] = tf.whileLoop(
   *       (n) => n.notEqual(1),
   *       (n, steps) => [tf.where(n.mod(2).equal(0), n.floorDiv(2), n.mul(3).add(1)), steps.add(1)],
   *       [tf.constant(27, 'int32'), tf.constant(0, 'int32')],
   *     );
   *
   * Without a trace it is a loop of JavaScript; while a function is traced, condition and body are traced (so host code in them runs
   * then), and the loop runs in the graph. Each loop variable keeps its structure, dtypes and shapes: tensors, TensorArrays, and numbers
   * and variables, which become tensors, in arrays, maps and plain objects.
   * @param loopVars a list, whose items are arguments of `cond` and `body`; or one other structure, which is their only argument.
   * @returns the loop variables at the end, in the same structure.
   * @throws InvalidArgumentError for a condition that is not one bool, for no loop variables, and for a body that returns another structure,
   * dtype or shape, with both structures.
   */
  <const V extends readonly unknown[]>(
    cond: (...vars: TensorsOf<V>) => Truth,
    body: (...vars: TensorsOf<V>) => LoopResult<V>,
    loopVars: V,
    options?: WhileLoopOptions | null,
  ): TensorsOf<V>;
  <V>(
    cond: (vars: Tensors<V>) => Truth,
    body: (vars: Tensors<V>) => Values<Tensors<V>>,
    loopVars: V,
    options?: WhileLoopOptions | null,
  ): Tensors<V>;
  <const V extends readonly unknown[]>(
    options: WhileLoopOptions & {
      /** Whether the loop goes on: a boolean or a bool scalar. */
      readonly cond: (...vars: TensorsOf<V>) => Truth;
      /** Gives the next values of the loop's variables. */
      readonly body: (...vars: TensorsOf<V>) => LoopResult<V>;
      /** The first values. */
      readonly loopVars: V;
    },
  ): TensorsOf<V>;
}

/** Calls `body` with variables as long as `cond` is true of them, as a loop of the graph where a trace needs one. */
export const whileLoop: WhileLoop = defineFunction<WhileArguments>(
  OP,
  { cond: kind.asIs, body: kind.asIs, loopVars: kind.structure },
  { maximumIterations: kind.asIs, shapeInvariants: kind.structure },
  (cond, body, loopVars, options) => {
    checkFunction(cond, 'cond', OP);
    checkFunction(body, 'body', OP);
    const initial = flatten(loopVars, OP);
    if (initial.leaves.length === 0)
      throw new InvalidArgumentError('at least one loop variable is needed', OP);
    const loop = new Loop(
      cond,
      body,
      initial,
      Array.isArray(loopVars),
      iterations(options.maximumIterations),
      invariantsOf(initial, options.shapeInvariants),
    );
    const leaves = context.tracer === null ? loop.run() : loop.trace();
    return pack(initial, leaves);
  },
) as never;

type WhileArguments = NamedFunction<
  [cond: (...vars: never[]) => TensorLike, body: (...vars: never[]) => unknown, loopVars: unknown],
  ['cond', 'body', 'loopVars'],
  WhileLoopOptions,
  unknown
>;

/** By loop variable: the shape that it has in all turns, null for sizes that change; undefined for one that keeps its shape. */
type Invariants = readonly (PartialShape | undefined)[];

function invariantsOf(initial: Nest, given: unknown): Invariants {
  if (given === undefined || given === null) return initial.leaves.map(() => undefined);
  return inPlaces(initial, given, 'shapeInvariants', OP).map((value, i) => {
    if (value === undefined) return undefined;
    const shape = value instanceof TensorSpec ? value.shape : (value as PartialShape);
    const leaf = initial.leaves[i];
    if (leaf instanceof TensorArray || shape === null)
      throw new InvalidArgumentError('shapeInvariants work for tensors of known rank only', OP);
    checkPartialShape(shape, OP);
    if (!isCompatible(leaf.shape, shape))
      throw new InvalidArgumentError(
        `a loop variable of shape ${showShape(leaf.shape)} does not have the shape ${showShape(shape)} of shapeInvariants`,
        OP,
      );
    return shape;
  });
}

/** Checked. @returns null for no limit; a tensor where it is not known while tracing. */
function iterations(given: TensorLike | undefined): number | Tensor | null {
  if (given === undefined || given === null) return null;
  const check = (numbers: readonly number[]): number => {
    const [n] = numbers;
    if (numbers.length !== 1 || n === undefined || !Number.isInteger(n) || n < 0)
      throw new InvalidArgumentError(
        `maximumIterations is [${numbers}], expected an integer of at least 0`,
        OP,
      );
    return n;
  };
  const known = knownNumbers(given, OP);
  if (known !== null) return check(known);
  const limit = given as Tensor;
  if (limit.size !== 1)
    throw new InvalidArgumentError(`maximumIterations has shape [${limit.shape}], expected a scalar`, OP);
  checkValues(
    OP,
    [limit],
    (now) => {
      check(integersOf(now));
    },
    (now) => now.greaterEqual(0).all(),
  );
  return limit.reshape([]);
}

class Loop {
  readonly #cond: (...vars: never[]) => TensorLike;
  readonly #body: (...vars: never[]) => unknown;
  readonly #initial: Nest;
  /** Whether the structure is a list, whose items are arguments of their own. */
  readonly #list: boolean;
  readonly #most: number | Tensor | null;
  readonly #invariants: Invariants;

  constructor(
    cond: (...vars: never[]) => TensorLike,
    body: (...vars: never[]) => unknown,
    initial: Nest,
    list: boolean,
    most: number | Tensor | null,
    invariants: Invariants,
  ) {
    this.#invariants = invariants;
    this.#cond = cond;
    this.#body = body;
    this.#initial = initial;
    this.#list = list;
    this.#most = most;
  }

  /** A loop of JavaScript. */
  run(): readonly Leaf[] {
    let { leaves } = this.#initial;
    const most = (this.#most as number | null) ?? Number.POSITIVE_INFINITY;
    for (let i = 0; i < most; i++) {
      if (!predicate(this.#cond(...this.#arguments(leaves)), OP)) break;
      leaves = this.#next(leaves).leaves;
    }
    return leaves;
  }

  /** A loop of the graph. */
  trace(): readonly Leaf[] {
    const counted = this.#most !== null;
    const open = new Set<number>();
    for (;;) {
      const known = inGraph(this.#initial);
      const leavesOf = (vars: readonly Tensor[]): readonly Leaf[] =>
        fromGraph(this.#initial, known, counted ? vars.slice(1) : vars);
      const condition = (vars: readonly Tensor[]): Tensor => {
        const goOn = toBool(predicate(this.#cond(...this.#arguments(leavesOf(vars))), OP));
        return counted ? logicalAnd(vars[0].less(this.#most), goOn) : goOn;
      };
      const body = (vars: readonly Tensor[]): readonly Tensor[] => {
        const next = this.#next(leavesOf(vars));
        unifyArrays(this.#initial, known, next);
        growArrays(this.#initial, next, open);
        return counted ? [vars[0].add(1), ...toGraph(next)] : toGraph(next);
      };
      const start = toGraph(this.#initial);
      const invariants = this.#initial.leaves.flatMap((leaf, i) => {
        if (!(leaf instanceof TensorArray)) return [this.#invariants[i]];
        if (known[i] !== true) return [];
        return [open.has(i) ? leaf.rowsOfAnyNumber() : undefined];
      });
      const dtype = this.#most instanceof Tensor ? this.#most.dtype : 'int32';
      try {
        const last = counted
          ? tracedWhile(condition, body, [constant(0, dtype), ...start], [undefined, ...invariants])
          : tracedWhile(condition, body, start, invariants);
        return leavesOf(last);
      } catch (error) {
        if (!(error instanceof ShapeFound)) throw error;
      }
    }
  }

  #arguments(leaves: readonly Leaf[]): never[] {
    const vars = pack(this.#initial, leaves);
    return (this.#list ? vars : [vars]) as never[];
  }

  /** What the body makes of the variables, brought to their structure. */
  #next(leaves: readonly Leaf[]): Nest {
    const before: Nest = { tree: this.#initial.tree, leaves };
    const result = this.#body(...this.#arguments(leaves));
    // The value of an only variable may stand for the list of it.
    let next = flatten(result, OP, leaves);
    if (this.#list && !Array.isArray(result) && result !== undefined) next = flatten([result], OP, leaves);
    const different = difference(before, next, (a, b, at) => {
      const shape = this.#invariants[at];
      return shape === undefined ? sameShape(a, b) : isCompatible(b, shape);
    });
    if (different !== null) {
      const growing = / shapes? /.test(different)
        ? ' Of a variable whose size changes, give shapeInvariants with null for that size, or write parts into a TensorArray.'
        : '';
      throw new InvalidArgumentError(
        `the body must return the loop variables in the same structure, of the same dtypes and shapes, but ${different}.${growing}\n  loop variables: ${describe(before)}\n  the body returns: ${describe(next)}`,
        OP,
      );
    }
    if (next.leaves.length !== leaves.length) throw new InternalError('a structure has lost leaves', OP);
    return next;
  }
}

function toBool(value: boolean | Tensor): Tensor {
  return value instanceof Tensor ? value : constant(value);
}
