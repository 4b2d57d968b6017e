// while, do and for; for…of ends in them, too.
import {
  constant,
  debugging,
  greater,
  InvalidArgumentError,
  type PartialShape,
  type Tensor,
} from '@eagre/core';
import { context, type Dim } from '@eagre/core/internal';
import { type TensorArray, whileLoop } from '@eagre/graph';
import { AutographError } from '../errors.ts';
import { restore, type State, unless } from './choice.ts';
import { EndlessError, inFrame, readState } from './frames.ts';
import {
  adopted,
  again,
  asIntegers,
  decode,
  encode,
  hasKind,
  type Kind,
  kindOf,
  kindsFound,
  openKind,
  openShapes,
  Retry,
  sameKind,
  unified,
} from './kinds.ts';
import { firstTurn, Growth, unchanged } from './lists.ts';
import { type LoopOptionsOf, optionsOf } from './loop-options.ts';
import { type Outcome, Signal } from './signal.ts';
import { and, asTensor, isTensor, not, or, type Truth, truth } from './truth.ts';

/** What a loop consists of. */
export interface Loop {
  readonly test: () => unknown;
  readonly body: () => Outcome;
  readonly update: (() => void) | null;
  readonly state: State | null;
  readonly site: string;
  /** How many turns there are, at least one, where that is a size. */
  readonly turns?: Dim;
  /** What `setLoopOptions` says of it. */
  readonly options?: LoopOptionsOf;
}

const ATTEMPTS = 20;

/** A converted `while` or `for`. */
export function whileStmt(
  test: () => unknown,
  body: () => Outcome,
  update: (() => void) | null,
  state: State | null,
  site: string,
  options?: LoopOptionsOf,
): Outcome {
  return run({ test, body, update, state, site, ...(options === undefined ? {} : { options }) }, true);
}

/** A converted `do`. */
export function doStmt(
  test: () => unknown,
  body: () => Outcome,
  update: (() => void) | null,
  state: State | null,
  site: string,
  options?: LoopOptionsOf,
): Outcome {
  return run({ test, body, update, state, site, ...(options === undefined ? {} : { options }) }, false);
}

/** Runs turns as they are, as long as it is known whether there is another one; the others become a loop of the graph. */
export function run(loop: Loop, first: boolean): Outcome {
  const { test, body, update, state, site } = loop;
  let turns = 0;
  for (let asked = first; ; asked = true) {
    if (asked) {
      const start = context.tracer === null ? undefined : state?.[0]();
      const go = truth(test(), site);
      if (go === false) return undefined;
      if (go !== true) {
        if (start !== undefined) state?.[1](start);
        return traced(loop, undefined, turns);
      }
    }
    const signal = (body() ?? undefined)?.afterTurn();
    turns++;
    if (signal !== undefined) {
      const gone = or(signal.broke, signal.returned);
      if (gone === true && (signal.returned === true || signal.returned === false)) return signal.afterLoop();
      if (update !== null) unless(gone, update, state, site);
      if (gone === true) return signal.afterLoop();
      return traced(loop, signal, turns);
    }
    update?.();
  }
}

/**
 * The turns that a graph has to decide about.
 * @param before what a turn before has said. @param made how many turns there were before.
 */
export function traced(loop: Loop, before: Signal | undefined, made = 0): Outcome {
  const { test, body, update, state, site } = loop;
  const names = [
    ...(state?.[2].map((n) => `the variable ${n}`) ?? []),
    'break',
    'return',
    'the returned value',
  ];
  const initial: readonly unknown[] = [
    ...(state === null ? [] : readState(state[0])),
    before?.broke ?? false,
    before?.returned ?? false,
    before?.value,
  ];
  const count = initial.length - 3;
  const options = optionsOf(loop.options, initial.slice(0, count), state?.[2] ?? [], made, site);
  /** What has no value before the loop, and needs none: each turn gives it one. */
  const anew = (i: number): boolean =>
    initial[i] === undefined && (i === count + 2 || state?.[5]?.includes(i) === true);
  const growths = (state?.[4] ?? []).map((i) => ({
    i,
    growth: new Growth(
      initial[i],
      state?.[2][i] ?? '',
      site,
      options?.maximumIterations === undefined ? (loop.turns ?? null) : null,
    ),
  }));
  const naming = (i: number) => ({
    site,
    name: names[i],
    ways: ['before the loop', 'after a turn of it'] as const,
  });
  let kinds: readonly Kind[] = initial.map((v, i) => {
    const open = options?.shapes.get(i);
    if (open !== undefined) return openKind(kindOf(v, naming(i)), open);
    return isTensor(v) ? kindOf(v, naming(i)) : 'same';
  });
  const unhinted = kinds;
  const found = kindsFound();
  const hint = found.get(site)?.map(again);
  if (hint?.length === kinds.length)
    kinds = kinds.map((k, i) => {
      const other = hint[i];
      const fits = initial[i] === undefined ? anew(i) : hasKind(initial[i], other);
      return k === 'same' && fits ? other : k;
    });
  let hinted = kinds.some((k, i) => k !== unhinted[i]);
  let refused: unknown;
  if (state !== null) restore(state, initial.slice(0, count), site);
  for (let attempt = 0; ; attempt++) {
    try {
      return attemptLoop();
    } catch (error) {
      state?.[1](initial.slice(0, count));
      if (attempt >= ATTEMPTS || error instanceof EndlessError) throw error;
      if (error instanceof Retry) kinds = error.kinds;
      else if (hinted) {
        kinds = unhinted;
        hinted = false;
      } else {
        // Bare integers are float32, or int32 where that alone goes together with the rest.
        const other = kinds.map(asIntegers);
        if (
          refused !== undefined ||
          !(error instanceof InvalidArgumentError) ||
          other.every((k, i) => k === kinds[i])
        )
          throw refused ?? error;
        refused = error;
        kinds = other;
      }
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
    /** Whether nothing but the body ends the loop. */
    let endless = false;
    const condition = (...vars: readonly unknown[]): Tensor => {
      const now = values(vars);
      const gone = or(now[count] as Truth, now[count + 1] as Truth);
      const variables = now.slice(0, count);
      state?.[1](variables);
      const go = inFrame(() => truth(test(), site), site);
      endless = go === true;
      const changed = state?.[0]().findIndex((v, i) => !unchanged(v, variables[i])) ?? -1;
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
        isList(i) ? kind : adopted(kindAfter(kind, i, after[i], missing[i] === true), after[i]),
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
    const given = kinds.findIndex((kind, i) => i < count && kind !== 'same' && anew(i));
    const most = options?.maximumIterations;
    if (given >= 0 && (loop.turns === undefined || most !== undefined)) assertTurn(given, most);
    const shapes: (PartialShape | null)[] = [];
    kinds.forEach((kind) => openShapes(kind, shapes));
    const results: readonly unknown[] = whileLoop<readonly (Tensor | TensorArray)[]>(condition, turn, start, {
      ...(most === undefined ? {} : { maximumIterations: most }),
      ...(shapes.some((shape) => shape !== null)
        ? { shapeInvariants: start.map((_, i) => shapes[i] ?? null) }
        : {}),
    });
    found.set(site, kinds);
    const last = [...values(results)];
    for (const { i, growth } of growths) last[i] = growth.list;
    growing.forEach(({ growth }, j) => {
      growth.finish(arraysIn(results)[j] ?? []);
    });
    state?.[1](last.slice(0, count));
    const [broke, gone, value] = last.slice(count) as [Truth, Truth, unknown];
    if (gone === false) return undefined;
    return new Signal(false, false, endless && broke === false ? true : gone, value);
  }

  /** Has a run fail in which the loop makes no turn, since a variable then has no value. */
  function assertTurn(i: number, most: Tensor | number | undefined): void {
    const go = truth(test(), site);
    const turns = asTensor(most === undefined ? go : and(truth(greater(most, 0), site), go));
    debugging.assertEqual(
      turns,
      true,
      `${site}: the loop makes no turn, so ${names[i]} has no value: give it one before`,
    );
  }

  function kindAfter(kind: Kind, i: number, value: unknown, missing: boolean): Kind {
    const was = initial[i];
    if (missing) return kind;
    if (kind === 'same') {
      if (Object.is(value, was)) return kind;
      if (anew(i)) return kindOf(value, naming(i));
      return unified(was, value, naming(i));
    }
    if (hasKind(value, kind)) return kind;
    // A bare number before the loop takes the dtype that it comes to have in it.
    const known = anew(i) ? kindOf(value, naming(i)) : unified(was, value, naming(i));
    if (sameKind(kind, known))
      throw new AutographError(
        site,
        `${names[i]} changes its dtype from turn to turn: give it one before the loop, as tf.constant(0, 'float32')`,
      );
    return known;
  }
}
