// Calls whose arguments were right, but for a part or two.
import { writeSync } from 'node:fs';
import { context } from '@eagre/core/internal';
import { Arguments, show } from './bad-arguments.ts';
import { type Findings, fuzzAsync, LONGEST_WORK_MS, workOf } from './fuzz.ts';

/** A call that is right as long as nobody changes its arguments. */
export interface Subject {
  readonly name: string;
  /** New ones each time. Parts of arrays and plain objects are changed one by one, all else as a whole. */
  readonly args: () => readonly unknown[];
  readonly call: (...args: never[]) => unknown;
}

const isPlain = (v: unknown): v is Record<string, unknown> =>
  typeof v === 'object' && v !== null && Object.getPrototypeOf(v) === Object.prototype;

/** Where parts are: `[0, 'step']`. */
type Place = readonly (string | number)[];

function places(value: unknown, at: Place): Place[] {
  const inside = Array.isArray(value) ? [...value.entries()] : isPlain(value) ? Object.entries(value) : [];
  return [
    ...(at.length === 0 ? [] : [at]),
    ...inside.flatMap(([k, part]: [string | number, unknown]) => places(part, [...at, k])),
  ];
}

function replaced(value: unknown, [key, ...rest]: Place, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) return value.map((part, i) => (i === key ? replaced(part, rest, by) : part));
  const object = value as Record<string, unknown>;
  return { ...object, [key]: replaced(object[key], rest, by) };
}

const texts: readonly string[] = [
  '',
  'a',
  '3',
  'no',
  'é',
  '\0',
  '{',
  '{x}',
  '[',
  '*',
  'constructor',
  '__proto__',
];
const counts: readonly number[] = [
  0,
  -1,
  -2,
  0.5,
  2,
  7,
  NaN,
  Infinity,
  -Infinity,
  1e300,
  2 ** 31,
  2 ** 53,
  -0,
];

/** Something else for a part: often of its kind. */
function other(part: unknown, a: Arguments): unknown {
  if (a.chance(0.35)) return a.anything();
  if (typeof part === 'number') return a.pick(counts);
  if (typeof part === 'string') return a.pick(texts);
  if (typeof part === 'boolean') return a.pick([!part, null, 0, 'no']);
  if (typeof part === 'function') {
    const result = a.anything();
    return a.pick<() => unknown>([() => result, async () => result, () => undefined]);
  }
  if (Array.isArray(part))
    return a.pick([[], part.slice(1), [...part, a.anything()], [part], [...part, ...part]]);
  if (isPlain(part)) return { ...part, [a.pick(['nonsense', '0', 'length'])]: a.anything() };
  return a.chance(0.5) ? a.tensor() : a.garbage();
}

/** The arguments with one part, sometimes two, replaced or left out; and which. */
function mutated(args: readonly unknown[], a: Arguments): { args: readonly unknown[]; changes: string[] } {
  let now: unknown = args;
  const changes: string[] = [];
  for (let n = a.chance(0.2) ? 2 : 1; n > 0; n--) {
    const place = a.pick(places(now, []));
    if (place === undefined) break;
    const part = place.reduce<unknown>((v, key) => (v as Record<string | number, unknown>)[key], now);
    const by = a.chance(0.1) ? undefined : other(part, a);
    now = replaced(now, place, by);
    changes.push(`${place.join('.')} = ${show(by)}`);
  }
  return { args: now as readonly unknown[], changes };
}

/** So long that only what never ends is found, also on a busy machine. */
const LONGEST_MS = 600_000;
const OVER = Symbol('over');

/** What is the same before and after each call, whatever came of it. */
const state = (): readonly unknown[] => [
  context.tracer,
  context.tapes.length,
  context.tracker,
  context.nameScope,
  context.backend,
];

/**
 * Makes each of these calls `count` times with arguments that are wrong in one place or two. Wanted are a value or one of Eagre's
 * errors, soon, and that nothing stays behind. With EAGRE_FUZZ_LOG=values what was taken is printed too, for people to judge;
 * with EAGRE_FUZZ_LOG=calls each call ahead of it.
 */
export async function fuzzCalls(subjects: readonly Subject[], count: number): Promise<Findings> {
  const taken = new Map<string, string>();
  const findings = await fuzzAsync(subjects, count, async ({ name, args, call }, random, found) => {
    const given = mutated(args(), new Arguments(random, { textless: true }));
    const where = (): string => `${name}: ${given.changes.join('; ')}`;
    // What a crash of the process was about.
    if (process.env.EAGRE_FUZZ_LOG === 'calls') writeSync(2, `${where()}\n`);
    const before = state();
    const began = process.cpuUsage();
    let timer: NodeJS.Timeout | undefined;
    try {
      const over = new Promise<symbol>((resolve) => {
        timer = setTimeout(() => resolve(OVER), LONGEST_MS);
      });
      const result = await Promise.race([(call as (...a: unknown[]) => unknown)(...given.args), over]);
      if (result === OVER) found.add(`${name} does not end`, where());
      found.values++;
      const key = `${name} ${given.changes.map((c) => c.replace(/ = .*/s, '')).join(' ')}`;
      taken.set(`${key} ${taken.size % 4}`, where());
    } catch (error) {
      if (found.isOwn(error, name, where) && error.message.length < 12)
        found.add(`${name} says little`, `${error.message} ${where()}`);
    } finally {
      clearTimeout(timer);
    }
    const took = workOf(began);
    if (took > LONGEST_WORK_MS) found.add(`${name} is slow`, `${where()}: ${took} ms`);
    if (state().some((value, i) => value !== before[i]))
      found.add(`${name} leaves something behind`, where());
  });
  if (process.env.EAGRE_FUZZ_LOG === 'values') console.info([...taken.values()].sort().join('\n'));
  return findings;
}
