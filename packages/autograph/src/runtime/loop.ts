// while, do, for and for…of.
import {
  constant,
  range as hostRange,
  InvalidArgumentError,
  Tensor,
  unstack,
  Variable,
  where,
} from '@eagre/core';
import { context, getRow, knownSize, toTensor } from '@eagre/core/internal';
import { autographIterate, type TensorArray, whileLoop } from '@eagre/graph';
import { AutographError } from '../errors.ts';
import { afterJump, type State, unless } from './choice.ts';
import { EndlessError, inFrame } from './frames.ts';
import { decode, encode, hasKind, type Kind, kindOf, Retry, sameKind, unified } from './kinds.ts';
import { firstTurn, Growth } from './lists.ts';
import { type Outcome, Signal } from './signal.ts';
import { and, asTensor, isTensor, known, not, or, type Truth, truth } from './truth.ts';

interface Loop {
  readonly test: () => unknown;
  readonly body: () => Outcome;
  readonly update: (() => void) | null;
  readonly state: State | null;
  readonly site: string;
  /** How many turns there are, where that is known. */
  readonly turns?: number;
}

const found = new Map<string, readonly Kind[]>();
const ATTEMPTS = 20;

/** A converted `while` or `for`. */
export function whileStmt(
  test: () => unknown,
  body: () => Outcome,
  update: (() => void) | null,
  state: State | null,
  site: string,
): Outcome {
  return run({ test, body, update, state, site }, true);
}

/** A converted `do`. */
export function doStmt(
  test: () => unknown,
  body: () => Outcome,
  update: (() => void) | null,
  state: State | null,
  site: string,
): Outcome {
  return run({ test, body, update, state, site }, false);
}

/** Runs turns as they are, as long as it is known whether there is another one; the others become a loop of the graph. */
function run(loop: Loop, first: boolean): Outcome {
  const { test, body, update, state, site } = loop;
  for (let asked = first; ; asked = true) {
    if (asked) {
      const start = context.tracer === null ? undefined : state?.[0]();
      const go = truth(test(), site);
      if (go === false) return undefined;
      if (go !== true) {
        if (start !== undefined) state?.[1](start);
        return traced(loop, undefined);
      }
    }
    const signal = (body() ?? undefined)?.afterTurn();
    if (signal !== undefined) {
      const gone = or(signal.broke, signal.returned);
      if (gone === true && (signal.returned === true || signal.returned === false)) return signal.afterLoop();
      if (update !== null) unless(gone, update, state, site);
      if (gone === true) return signal.afterLoop();
      return traced(loop, signal);
    }
    update?.();
  }
}

/** The turns that a graph has to decide about. @param before what a turn before has said. */
function traced(loop: Loop, before: Signal | undefined): Outcome {
  const { test, body, update, state, site } = loop;
  const names = [
    ...(state?.[2].map((n) => `the variable ${n}`) ?? []),
    'break',
    'return',
    'the returned value',
  ];
  const initial: readonly unknown[] = [
    ...(state?.[0]() ?? []),
    before?.broke ?? false,
    before?.returned ?? false,
    before?.value,
  ];
  const count = initial.length - 3;
  const growths = (state?.[4] ?? []).map((i) => ({
    i,
    growth: new Growth(initial[i], state?.[2][i] ?? '', site, loop.turns ?? null),
  }));
  const naming = (i: number) => ({
    site,
    name: names[i] as string,
    ways: ['before the loop', 'after a turn of it'] as const,
  });
  let kinds: readonly Kind[] = initial.map((v, i) => (isTensor(v) ? kindOf(v, naming(i)) : 'same'));
  const unhinted = kinds;
  const hint = found.get(site);
  if (hint?.length === kinds.length)
    kinds = kinds.map((k, i) => {
      const other = hint[i] as Kind;
      const fits = initial[i] === undefined ? i === count + 2 : hasKind(initial[i], other);
      return k === 'same' && fits ? other : k;
    });
  let hinted = kinds.some((k, i) => k !== unhinted[i]);
  let refused: unknown;
  /** Variables that are bare integers before the loop and behind its first turn. */
  const integers = new Set<number>();
  for (let attempt = 0; ; attempt++) {
    try {
      return attemptLoop();
    } catch (error) {
      state?.[1](initial.slice(0, count));
      if (attempt >= ATTEMPTS || error instanceof EndlessError) throw error;
      if (error instanceof Retry) kinds = error.kinds;
      else if (hinted) kinds = unhinted;
      else {
        // Bare integers are float32, or int32 where that alone goes together with the rest.
        const other = kinds.map((kind, i) => (integers.has(i) ? asInteger(kind) : kind));
        if (
          refused !== undefined ||
          !(error instanceof InvalidArgumentError) ||
          other.every((k, i) => k === kinds[i])
        )
          throw refused ?? error;
        refused = error;
        kinds = other;
      }
      hinted = false;
    }
  }

  function attemptLoop(): Outcome {
    const start: (Tensor | TensorArray)[] = [];
    kinds.forEach((kind, i) => encode(kind, initial[i], initial[i] === undefined, start));
    const own = start.length;
    const growing = growths.filter(({ growth }) => growth.grows);
    const arrays = growing.map(({ growth }) => growth.start());
    if (growing.length > 0) start.push(firstTurn(), ...arrays.flat());
    // A loop of which nothing is known to change yet.
    const idle = start.length === 0;
    if (idle) start.push(constant(0, 'int32'));
    /** The arrays of each list among the variables of the loop. */
    const arraysIn = (vars: readonly unknown[]): readonly (readonly TensorArray[])[] => {
      let next = own + 1;
      return arrays.map((a) => a.map(() => vars[next++] as TensorArray));
    };
    const values = (vars: readonly unknown[]): readonly unknown[] => {
      let next = 0;
      const now = kinds.map((kind, i) => decode(kind, initial[i], () => vars[next++]));
      for (const { i, growth } of growths) now[i] = growth.begin();
      return now;
    };
    const condition = (...vars: readonly unknown[]): Tensor => {
      const now = values(vars);
      const gone = or(now[count] as Truth, now[count + 1] as Truth);
      const variables = now.slice(0, count);
      state?.[1](variables);
      const go = inFrame(() => truth(test(), site), site);
      const changed = state?.[0]().findIndex((v, i) => !Object.is(v, variables[i])) ?? -1;
      if (changed >= 0) {
        throw new AutographError(
          site,
          `the condition of a loop over a tensor changes ${names[changed]}: change it in the body`,
        );
      }
      return asTensor(and(not(gone), go));
    };
    const turn = (...vars: readonly unknown[]): readonly (Tensor | TensorArray)[] => {
      const now = values(vars);
      state?.[1](now.slice(0, count));
      const signal = inFrame(() => (body() ?? undefined)?.afterTurn(), site);
      const broke = signal?.broke ?? false;
      const gone = signal?.returned ?? false;
      if (update !== null) inFrame(() => unless(or(broke, gone), update, state, site), site);
      const after: readonly unknown[] = [...(state?.[0]() ?? []), broke, gone, signal?.value];
      const missing = after.map((_, i) => i === count + 2 && gone === false);
      const leaves = broke !== false || gone !== false;
      const learnt = growths.filter(({ i, growth }) => growth.learns(after[i], leaves)).length > 0;
      const isList = (i: number): boolean => growths.some((g) => g.i === i);
      const next = kinds.map((kind, i) =>
        isList(i) ? kind : kindAfter(kind, i, after[i], missing[i] === true),
      );
      if (learnt || next.some((kind, i) => !sameKind(kinds[i], kind))) throw new Retry(next);
      const out: (Tensor | TensorArray)[] = [];
      kinds.forEach((kind, i) => encode(kind, after[i], missing[i] === true, out));
      if (growing.length > 0) {
        const turn = vars[own] as Tensor;
        const before = arraysIn(vars);
        out.push(turn.add(1), ...growing.flatMap(({ growth }, j) => growth.write(before[j] ?? [], turn)));
      }
      return idle ? [vars[0] as Tensor] : out;
    };
    const results: readonly unknown[] = whileLoop<readonly (Tensor | TensorArray)[]>(condition, turn, start);
    found.set(site, kinds);
    const last = [...values(results)];
    for (const { i, growth } of growths) last[i] = growth.list;
    growing.forEach(({ growth }, j) => {
      growth.finish(arraysIn(results)[j] ?? []);
    });
    state?.[1](last.slice(0, count));
    const [, gone, value] = last.slice(count) as [Truth, Truth, unknown];
    return gone === false ? undefined : new Signal(false, false, gone, value);
  }

  function kindAfter(kind: Kind, i: number, value: unknown, missing: boolean): Kind {
    const was = initial[i];
    if (missing) return kind;
    if (kind === 'same') {
      if (Object.is(value, was)) return kind;
      if (Number.isInteger(was) && Number.isInteger(value)) integers.add(i);
      if (i === count + 2 && was === undefined) return kindOf(value, naming(i));
      return unified(was, value, naming(i));
    }
    if (hasKind(value, kind)) return kind;
    // A bare number before the loop takes the dtype that it comes to have in it.
    const known =
      i === count + 2 && was === undefined ? kindOf(value, naming(i)) : unified(was, value, naming(i));
    if (sameKind(kind, known))
      throw new AutographError(
        site,
        `${names[i]} changes its dtype from turn to turn: give it one before the loop, as tf.constant(0, 'float32')`,
      );
    return known;
  }
}

function asInteger(kind: Kind): Kind {
  return typeof kind === 'object' && kind.kind === 'leaf' && kind.dtype === 'float32'
    ? { ...kind, dtype: 'int32' }
    : kind;
}

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
  const symbolicOne = args.find((a) => isTensor(a) && known(toTensor(a)) === null);
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
  const [read, write, names, own, lists = []] = state ?? [() => [], () => undefined, [], 0];
  return [
    () => [get(), ...read()],
    (values) => {
      set(values[0] as Tensor);
      write(values.slice(1));
    },
    ['(counter)', ...names],
    own + 1,
    lists.map((i) => i + 1),
  ];
}

/** A converted `for…of`. */
export function forOf(
  over: unknown,
  body: (item: unknown) => Outcome,
  state: State | null,
  site: string,
): Outcome {
  if (over instanceof Range) {
    const { start, limit, delta } = over;
    let i = start;
    const up = known(delta);
    const goesOn = (): Tensor =>
      up === null
        ? where(delta.greater(0), i.less(limit), i.greater(limit))
        : Number(up.item()) > 0
          ? i.less(limit)
          : i.greater(limit);
    const turn = (): Outcome => {
      const item = i;
      i = i.add(delta);
      return body(item);
    };
    return run(
      {
        test: goesOn,
        body: turn,
        update: null,
        state: withCounter(
          state,
          () => i,
          (v) => (i = v),
        ),
        site,
      },
      true,
    );
  }
  if (over instanceof Tensor || over instanceof Variable) {
    const x = rowsOf(over, site);
    if (context.tracer === null) return unrolled(unstack(x), body, state, site);
    const count = knownSize(x.shape[0] as number, 'autograph');
    let i = constant(0, 'int32');
    const limit = constant(count, 'int32');
    const turn = (): Outcome => {
      const row = getRow(x, i);
      i = i.add(1);
      return body(row);
    };
    const loop: Loop = {
      test: () => i.less(limit),
      body: turn,
      update: null,
      state: withCounter(
        state,
        () => i,
        (v) => (i = v),
      ),
      site,
      turns: count,
    };
    // Whatever the rows are, it is one loop of the graph.
    return count === 0 ? undefined : traced(loop, undefined);
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
      `${site}: for…of goes through the rows of a tensor, and a scalar has none`,
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
