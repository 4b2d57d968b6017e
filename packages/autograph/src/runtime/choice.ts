// if, ?:, && and ||; and what follows a statement that control may have left.
import type { Tensor } from '@eagre/core';
import { cond, type TensorArray } from '@eagre/graph';
import { AutographError } from '../errors.ts';
import { EndlessError, inFrame, readState } from './frames.ts';
import { again, decode, encode, type Kind, kindOf, kindsFound, Retry, sameKind, unified } from './kinds.ts';
import { copyOf, elementsIn, refill, unchanged } from './lists.ts';
import { type Outcome, returned, Signal } from './signal.ts';
import { asTensor, isTensor, not, type Truth, truth } from './truth.ts';

/**
 * How to read and write the variables that a statement assigns to, their names, how many of them end with the function, which are lists,
 * and which a loop sets in each turn before it reads them.
 */
export type State = readonly [
  get: () => readonly unknown[],
  set: (values: readonly unknown[]) => void,
  names: readonly string[],
  own: number,
  lists?: readonly number[],
  first?: readonly number[],
];

const ATTEMPTS = 20;

interface Way {
  readonly state: readonly unknown[];
  readonly signal: Signal | undefined;
}

/** Traces two branches and makes their variables and jumps one. The variables are as behind the chosen one then. */
function choose(
  pred: Tensor,
  branches: readonly [() => Outcome, () => Outcome],
  state: State | null,
  site: string,
  ends: boolean,
  what: string,
): Signal | undefined {
  const before = state === null ? [] : readState(state[0]);
  const own = state === null || !ends ? 0 : state[3];
  const names = [
    ...(state === null ? [] : state[2].map((n) => `the variable ${n}`)),
    'break',
    'continue',
    'return',
    what,
  ];
  const count = before.length;
  const flags = count + 3;
  const lists = state?.[4] ?? [];
  const run = (i: number): Way => {
    const mine = before.map((v, j) => (lists.includes(j) ? copyOf(v, state?.[2][j] ?? '', site) : v));
    if (state !== null) restore(state, mine, site);
    return inFrame(() => {
      const signal = (branches[i] as () => Outcome)() ?? undefined;
      const after = state === null ? [] : state[0]();
      return { state: after.map((v, j) => (lists.includes(j) ? elementsIn(v) : v)), signal };
    }, site);
  };
  const valuesOf = ({ state, signal }: Way): readonly unknown[] => [
    ...state,
    signal?.broke ?? false,
    signal?.continued ?? false,
    signal?.returned ?? false,
    signal?.value,
  ];
  // Nobody reads the function's variables where it has returned, nor a result where it has not.
  const missing = ({ signal }: Way, i: number): boolean =>
    i < count ? i < own && signal?.returned === true : i === flags && (signal?.returned ?? false) === false;
  const naming = (i: number) => ({
    site,
    name: names[i],
    ways: ['in one branch', 'in the other'] as const,
    anySizes: true,
  });
  const initial = [...before, false, false, false, undefined];
  const guess = (way: Way): readonly Kind[] =>
    valuesOf(way).map((v, i) =>
      missing(way, i) || unchanged(v, initial[i]) ? 'same' : kindOf(v, naming(i)),
    );
  const together = (a: Way, b: Way): readonly Kind[] => {
    const [x, y] = [valuesOf(a), valuesOf(b)];
    return names.map((_, i) => {
      const [noA, noB] = [missing(a, i), missing(b, i)];
      if (noA && noB) return 'same';
      if (noA || noB) {
        const v = noA ? y[i] : x[i];
        return i < count && unchanged(v, before[i]) ? 'same' : kindOf(v, naming(i));
      }
      return unified(x[i], y[i], naming(i));
    });
  };
  // Of branches with several of which each only knows itself.
  const found = kindsFound();
  let kinds: readonly Kind[] | undefined = found.get(site)?.map(again);
  if (kinds?.length !== names.length) kinds = undefined;
  let hinted = kinds !== undefined;
  for (let attempt = 0; ; attempt++) {
    const ways: Way[] = [];
    const trace = (i: number) => (): readonly (Tensor | TensorArray)[] => {
      const way = run(i);
      ways[i] = way;
      kinds ??= guess(way);
      if (i === 1) {
        const both = together(ways[0], way);
        if (both.some((k, j) => !sameKind(kinds?.[j], k))) throw new Retry(both);
      }
      const out: (Tensor | TensorArray)[] = [];
      const values = valuesOf(way);
      kinds.forEach((kind, j) =>
        encode(kind, values[j], missing(way, j) || !encodable(values[j], kind), out),
      );
      return out;
    };
    try {
      const results = cond(pred, trace(0), trace(1)) as readonly unknown[];
      const used = kinds as unknown as readonly Kind[];
      found.set(site, used);
      const [a, b] = ways as [Way, Way];
      const [x, y] = [valuesOf(a), valuesOf(b)];
      let next = 0;
      const merged = used.map((kind, i) => {
        const like = missing(a, i) ? (missing(b, i) ? initial[i] : y[i]) : x[i];
        return decode(kind, like, () => results[next++]);
      });
      state?.[1](merged.slice(0, count).map((v, j) => (lists.includes(j) ? refill(before[j], v) : v)));
      const [broke, continued, gone] = merged.slice(count, flags) as [Truth, Truth, Truth];
      if (broke === false && continued === false && gone === false) return undefined;
      return new Signal(broke, continued, gone, merged[flags]);
    } catch (error) {
      state?.[1](before);
      if (attempt >= ATTEMPTS || error instanceof EndlessError) throw error;
      if (error instanceof Retry) {
        kinds = error.kinds;
        continue;
      }
      if (!hinted) throw error;
      kinds = undefined;
      hinted = false;
    }
  }
}

/**
 * Gives variables and members their values.
 * @throws AutographError for a member that has another one then: its setter does more, which would happen again and again.
 */
export function restore(state: State, values: readonly unknown[], site: string): void {
  const [get, set, names] = state;
  set(values);
  const other = get().findIndex((v, i) => names[i]?.includes('.') === true && !Object.is(v, values[i]));
  if (other < 0) return;
  throw new AutographError(
    site,
    `${names[other]} is not what it was set to, so its value cannot depend on a tensor: its setter makes something else of it`,
  );
}

/** Whether a value may be written down as a kind that was only guessed. */
function encodable(value: unknown, kind: Kind): boolean {
  return kind === 'same' || value !== undefined;
}

/** A converted `if`. */
export function ifStmt(
  test: unknown,
  yes: () => Outcome,
  no: () => Outcome,
  state: State | null,
  site: string,
): Outcome {
  const t = truth(test, site);
  if (typeof t === 'boolean') return t ? yes() : no();
  return choose(t, [yes, no], state, site, true, 'the returned value');
}

/** What follows a statement that control may have left, as `signal` says. */
export function afterJump(signal: Outcome, rest: () => Outcome, state: State | null, site: string): Outcome {
  if (!signal) return rest();
  const { jumped } = signal;
  if (typeof jumped === 'boolean') return jumped ? signal : rest();
  return choose(
    not(jumped) as Tensor,
    [rest, () => signal.taken()],
    state,
    `${site} `,
    true,
    'the returned value',
  );
}

/** Runs code unless control has left. */
export function unless(jumped: Truth, fn: () => void, state: State | null, site: string): void {
  if (jumped === false) fn();
  if (typeof jumped === 'boolean') return;
  choose(not(jumped) as Tensor, [() => fn(), () => undefined], state, `${site}  `, false, 'the value');
}

/** A block that control may leave. */
export function block(fn: () => Outcome): Outcome {
  return fn();
}

function chooseValue(
  t: Tensor,
  yes: () => unknown,
  no: () => unknown,
  state: State | null,
  site: string,
): unknown {
  const signal = choose(t, [() => returned(yes()), () => returned(no())], state, site, false, 'the value');
  return signal?.value;
}

/** A converted `test ? yes : no`. */
export function ifExp<A, B>(
  test: unknown,
  yes: () => A,
  no: () => B,
  state: State | null,
  site: string,
): unknown {
  const t = truth(test, site);
  if (typeof t === 'boolean') return t ? yes() : no();
  return chooseValue(t, yes, no, state, site);
}

/** The right side as a bool. @throws AutographError where its value counts and is none. */
function right(value: unknown, site: string, asked: boolean | undefined): Tensor {
  const known = typeof value === 'object' && value !== null && !isTensor(value);
  if (asked !== true && (known || typeof value === 'string' || typeof value === 'function'))
    throw new AutographError(
      site,
      `&& and || with a tensor on the left give a bool, but the right side is ${Array.isArray(value) ? 'an array' : `a${known ? 'n' : ''} ${typeof value}`}: write if, or ?: between two values of one structure`,
    );
  return asTensor(truth(value, site));
}

/**
 * A converted `a && b`: as in JavaScript, or a bool where it depends on the run.
 * @param asked whether only its truth counts.
 */
export function and(
  a: unknown,
  b: () => unknown,
  state: State | null,
  site: string,
  asked?: boolean,
): unknown {
  const t = truth(a, site);
  if (typeof t === 'boolean') return t ? b() : a;
  return chooseValue(
    t,
    () => right(b(), site, asked),
    () => asTensor(false),
    state,
    site,
  );
}

/** A converted `a || b`: as in JavaScript, or a bool where it depends on the run. */
export function or(
  a: unknown,
  b: () => unknown,
  state: State | null,
  site: string,
  asked?: boolean,
): unknown {
  const t = truth(a, site);
  if (typeof t === 'boolean') return t ? a : b();
  return chooseValue(
    t,
    () => asTensor(true),
    () => right(b(), site, asked),
    state,
    site,
  );
}
