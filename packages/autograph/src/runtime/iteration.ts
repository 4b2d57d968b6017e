// for…of: over ranges, the rows of tensors, and what the host goes through.
import {
  constant,
  range as hostRange,
  InvalidArgumentError,
  Tensor,
  unstack,
  Variable,
  where,
} from '@eagre/core';
import { context, dims, equalDims, getRow, knownTensor, sizeValue, toTensor } from '@eagre/core/internal';
import { autographIterate } from '@eagre/graph';
import { AutographError } from '../errors.ts';
import { afterJump, type State } from './choice.ts';
import { type Loop, run, traced } from './loop.ts';
import type { LoopOptionsOf } from './loop-options.ts';
import type { Outcome, Signal } from './signal.ts';
import { isTensor } from './truth.ts';

/** A range whose bounds are known at run time only. */
class Range {
  readonly start: Tensor;
  readonly limit: Tensor;
  readonly delta: Tensor;

  constructor(start: Tensor, limit: Tensor, delta: Tensor) {
    this.start = start;
    this.limit = limit;
    this.delta = delta;
  }
}

/** What a for…of over `tf.range(…)` goes through. @param tf the library, or another object with a function of that name. */
export function range(
  tf: { readonly range: (...args: never[]) => unknown },
  ...args: readonly unknown[]
): unknown {
  const symbolicOne = args.find((a) => isTensor(a) && knownTensor(toTensor(a)) === null);
  if (symbolicOne === undefined || tf.range !== hostRange) return tf.range(...(args as never[]));
  const bounds = args.filter((a) => typeof a === 'number' || typeof a === 'bigint' || isTensor(a));
  const options = args.find((a) => typeof a === 'object' && a !== null && !isTensor(a)) as
    | { dtype?: Tensor['dtype'] }
    | undefined;
  const dtype = options?.dtype ?? toTensor(symbolicOne as Tensor).dtype;
  const at = (i: number, other: number): Tensor => {
    const bound = bounds[i];
    const t = bound === undefined ? constant(other, dtype) : toTensor(bound as Tensor, dtype);
    return (t.dtype === dtype ? t : t.cast(dtype)).reshape([]);
  };
  return bounds.length === 1
    ? new Range(constant(0, dtype), at(0, 0), constant(1, dtype))
    : new Range(at(0, 0), at(1, 0), at(2, 1));
}

/** A state with one variable more, which is the loop's own. */
function withCounter(state: State | null, get: () => Tensor, set: (i: Tensor) => void): State {
  const [read, write, names, own, lists = [], first = []] = state ?? [() => [], () => undefined, [], 0];
  return [
    () => [get(), ...read()],
    (values) => {
      set(values[0] as Tensor);
      write(values.slice(1));
    },
    ['(counter)', ...names],
    own + 1,
    lists.map((i) => i + 1),
    first.map((i) => i + 1),
  ];
}

/** What the turns of a counted loop go through. */
interface Counter {
  readonly start: Tensor;
  readonly delta: Tensor | number;
  readonly goesOn: (i: Tensor) => Tensor;
  readonly item: (i: Tensor) => Tensor;
}

/** A loop with a counter of its own. */
function counted(
  { start, delta, goesOn, item }: Counter,
  body: (item: unknown) => Outcome,
  state: State | null,
  site: string,
  options: LoopOptionsOf | undefined,
): Loop {
  let i = start;
  return {
    test: () => goesOn(i),
    body: () => {
      const now = item(i);
      i = i.add(delta);
      return body(now);
    },
    update: null,
    state: withCounter(
      state,
      () => i,
      (v) => (i = v),
    ),
    site,
    ...(options === undefined ? {} : { options }),
  };
}

/** A converted `for…of`. */
export function forOf(
  over: unknown,
  body: (item: unknown) => Outcome,
  state: State | null,
  site: string,
  options?: LoopOptionsOf,
): Outcome {
  if (over instanceof Range) {
    const { start, limit, delta } = over;
    const up = knownTensor(delta);
    const goesOn = (i: Tensor): Tensor =>
      up === null
        ? where(delta.greater(0), i.less(limit), i.greater(limit))
        : Number(up.item()) > 0
          ? i.less(limit)
          : i.greater(limit);
    return run(counted({ start, delta, goesOn, item: (i) => i }, body, state, site, options), true);
  }
  if (over instanceof Tensor || over instanceof Variable) {
    const x = rowsOf(over, site);
    if (context.tracer === null) return unrolled(unstack(x), body, state, site);
    const turns = dims(x)[0];
    if (equalDims(turns, 0)) return undefined;
    const limit = sizeValue(turns, 'int32');
    const rows: Counter = {
      start: constant(0, 'int32'),
      delta: 1,
      goesOn: (i) => i.less(limit),
      item: (i) => getRow(x, i),
    };
    // Whatever the rows are, it is one loop of the graph.
    return traced({ ...counted(rows, body, state, site, options), turns }, undefined);
  }
  return unrolled(elementsOf(over, site), body, state, site);
}

/** What the host goes through; while tracing, objects may say that it is something else. */
function elementsOf(over: unknown, site: string): Iterable<unknown> {
  const own: unknown =
    context.tracer !== null && typeof over === 'object' && over !== null
      ? Reflect.get(over, autographIterate)
      : undefined;
  return (typeof own === 'function' ? own.call(over, site) : over) as Iterable<unknown>;
}

/** What a plain `for…of` goes through: of a tensor with values, its rows. */
export function items(over: unknown, site: string): Iterable<unknown> {
  if (Array.isArray(over) || !isTensor(over)) return over as Iterable<unknown>;
  return unstack(rowsOf(over, site));
}

function rowsOf(over: Tensor | Variable, site: string): Tensor {
  const x = toTensor(over);
  if (x.rank === 0)
    throw new InvalidArgumentError(
      `${site}: for…of iterates over the rows of a tensor, and a scalar has no rows`,
      'autograph',
    );
  return x;
}

/** The most turns behind one in which a tensor may have ended the loop. */
const UNROLLED = 1000;

/** A loop whose turns stand one after the other. */
function unrolled(
  over: Iterable<unknown>,
  body: (item: unknown) => Outcome,
  state: State | null,
  site: string,
): Outcome {
  let signal: Signal | undefined;
  let turns = 0;
  for (const item of over) {
    if (signal !== undefined && ++turns > UNROLLED)
      throw new AutographError(
        site,
        `this loop goes on for more than ${UNROLLED} turns behind one in which a tensor decides whether it ends, and each becomes part of the graph: go through a tensor or tf.range, or give it an end that is known`,
      );
    const next: Outcome =
      signal === undefined ? body(item) : afterJump(signal, () => body(item), state, site);
    signal = (next ?? undefined)?.afterTurn();
    if (signal?.jumped === true) break;
  }
  return signal?.afterLoop();
}
