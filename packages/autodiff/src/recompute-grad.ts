import {
  any,
  InvalidArgumentError,
  identity,
  isFinite,
  isNan,
  keep,
  type NamedFunction,
  Tensor,
  UnimplementedError,
  type Variable,
  where,
  zerosLike,
} from '@eagre/core';
import {
  checkFunction,
  checkNoPromise,
  computingAsHere,
  context,
  type Drawn,
  defineFunction,
  drawing,
  hasGradient,
  inContext,
  kind,
  Op,
  outsideScopes,
  recordOnTapes,
  showShape,
  type TapeObserver,
  tree,
  within,
} from '@eagre/core/internal';
import { GradientTape } from './tape.ts';

type Results = Tensor | readonly Tensor[];
type Recomputed = <A extends readonly unknown[], R extends Results>(
  fn: (...args: A) => R,
) => (...args: A) => R;

const OP = 'recomputeGrad';

/**
 * The same function, of which tapes keep the arguments and nothing that it computes on the way: its gradient runs it again. That takes less
 * memory and more time.
 *
 *     const block = tf.recomputeGrad((x) => tf.sin(x.matmul(w)).matmul(v));
 *
 * Gradients are those of `fn`, of any order, also with respect to the variables that it reads. The second run gets the random numbers of the
 * first one. `fn` returns a tensor or a list of tensors, and should change nothing: what it does besides is done again. In a traced function
 * the second run is part of the graph, waits for the gradient, and is not merged with the first one, except for what depends on no argument of
 * floats.
 * @throws InvalidArgumentError when `fn` uses a tensor that a tape follows and that is no argument: no gradient would reach it.
 * @throws UnimplementedError for random numbers that a branch or a loop of a traced function draws in `fn`: draw them before.
 */
export const recomputeGrad: Recomputed & {
  <A extends readonly unknown[], R extends Results>(options: {
    /** The function that is computed again when gradients are needed. */
    readonly fn: (...args: A) => R;
  }): (...args: A) => R;
  <A extends readonly unknown[], R extends Results>(options: {
    /** The function, by TensorFlow's name of the argument. */
    readonly f: (...args: A) => R;
  }): (...args: A) => R;
} = defineFunction<
  NamedFunction<[fn: (...args: unknown[]) => Results], ['fn|f'], unknown, (...args: unknown[]) => Results>
>(OP, { 'fn|f': kind.asIs }, {}, (fn) => {
  checkFunction(fn, 'fn', OP);
  return (...args) => recomputed(fn, args);
}) as never;

function recomputed(fn: (...args: unknown[]) => Results, args: readonly unknown[]): Results {
  const inputs = tree.leavesOf(args, OP).filter((x): x is Tensor => x instanceof Tensor);
  const asNow = computingAsHere();
  const draws: Drawn[] = [];
  const reads = new Reads(context.tapes, inputs);
  const result = within(drawing, { next: noted(draws) }, () =>
    inContext({ tapes: [reads] }, () => outsideScopes(() => fn(...args))),
  );
  checkNoPromise(result, 'the function', OP);
  const several = Array.isArray(result);
  const made = (several ? result : [result]) as readonly Tensor[];
  if (!made.every((y) => y instanceof Tensor))
    throw new InvalidArgumentError('the function must return a tensor or a list of tensors', OP);
  const variables = [...reads.variables];
  const all = [...inputs, ...variables.map((v) => v.taken())];

  /** Runs the function once more, for the gradients of all inputs and variables. */
  const again = (dys: readonly (Tensor | null | undefined)[]): readonly (Tensor | null)[] => {
    const guard = context.tracer === null ? null : never(dys.find((dy) => dy !== null && dy !== undefined));
    const own = inputs.map((x) =>
      guard === null || !hasGradient(x.dtype) ? identity(x) : where(guard, zerosLike(x), x),
    );
    const tape = new GradientTape();
    const sources = own.filter((x) => hasGradient(x.dtype));
    tape.watch([...sources, ...variables]);
    let at = 0;
    const leaves = tree.leavesOf(args, OP).map((x) => (x instanceof Tensor ? own[at++] : x));
    const mine = tree.pack(args, leaves, OP) as unknown[];
    const ys = tape.record(() =>
      asNow(() => within(drawing, { next: repeated(draws) }, () => outsideScopes(() => fn(...mine)))),
    );
    const list = Array.isArray(ys) ? (ys as readonly Tensor[]) : [ys as Tensor];
    const wanted = list.flatMap((y, i) => {
      const dy = dys[i];
      return dy === null || dy === undefined || !hasGradient(y.dtype) ? [] : [{ y, dy }];
    });
    const found = tape.denseGradient(
      wanted.map(({ y }) => y),
      [...sources, ...variables],
      { outputGradients: wanted.map(({ dy }) => dy) },
    );
    let next = 0;
    return [...own, ...variables].map((x) => (hasGradient(x.dtype) ? found[next++] : null));
  };

  const { tracer } = context;
  if (tracer !== null) {
    const ys = tracer.withGradient(made, all, (...dys) => again(dys));
    return several ? [...ys] : (ys[0] as Tensor);
  }
  // Other tensors, so that a result that is an argument does not count as both.
  const ys = made.map((y) => identity(y));
  const op = new Op({ name: 'RecomputeGrad', samples: () => [], grad: (_, ...dys) => again(dys) }, () => ys);
  recordOnTapes(op, all, {}, ys);
  return several ? ys : ys[0];
}

/** Notes the variables that a function reads. */
class Reads implements TapeObserver {
  readonly takesCalls = true;
  readonly variables: Set<Variable> = new Set();
  readonly #tapes: readonly TapeObserver[];
  /** Ids of the tensors through which gradients may come in. */
  readonly #known: Set<number>;

  constructor(tapes: readonly TapeObserver[], inputs: readonly Tensor[]) {
    this.#tapes = tapes;
    this.#known = new Set(inputs.map(({ id }) => id));
  }

  record(_: Op, inputs: readonly Tensor[]): void {
    for (const x of inputs)
      if (!this.#known.has(x.id) && this.follows(x))
        throw new InvalidArgumentError(
          `the function uses a tensor ${x.dtype} ${showShape(x.shape)} that a tape follows and that is no argument; pass it as an argument`,
          OP,
        );
  }
  /** What tapes follow before the function runs. */
  follows(x: Tensor): boolean {
    return this.#tapes.some((tape) => tape.follows?.(x) === true);
  }
  variableRead(variable: Variable, value: Tensor): void {
    this.#known.add(value.id);
    if (hasGradient(variable.dtype)) this.variables.add(variable);
  }
}

/** Keeps what is drawn. */
function noted(draws: Drawn[]): NonNullable<typeof drawing.next> {
  const around = drawing.next;
  const { tracer } = context;
  return (make) => {
    if (context.tracer !== tracer)
      throw new UnimplementedError(
        'the function draws random numbers in a branch, a loop or a traced function of its own, which a second run cannot repeat; draw them before, and pass them as an argument',
        OP,
      );
    const drawn = around === null ? make() : around(make);
    // Scopes around the call, such as a layer's, must not give it back.
    draws.push('k0' in drawn ? drawn : keep(drawn));
    return drawn;
  };
}

/** Gives what was drawn once more. */
function repeated(draws: readonly Drawn[]): NonNullable<typeof drawing.next> {
  let at = 0;
  return () => {
    if (at === draws.length)
      throw new InvalidArgumentError('the function drew more random numbers when it ran again', OP);
    return draws[at++];
  };
}

/** A boolean scalar that is false, which no compiler knows: what depends on it is not what was computed before, and is computed after `x`. */
function never(x: Tensor | undefined): Tensor | null {
  if (x === undefined) return null;
  const first = x.reshape([-1]).at(':1');
  return any(isNan(first).logicalAnd(isFinite(first)));
}
