// What the sweep calls: the functions, losses, metrics, optimizers and layers of the tests with their declared inputs, and calls of golden
// files, which were made with TensorFlow. Each says how TensorFlow's side is called.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SampleInput } from '@eagre/core/internal';
import * as tf from 'eagre';
import { benchFolder } from '../peers.ts';

export type Sizes = readonly number[];
export interface TextInput {
  readonly kind: 'text';
  readonly shape: Sizes;
  readonly values: readonly string[];
}
export type Input = SampleInput | TextInput;

/** How TensorFlow is called: a function by its name, with arguments by name and in order, or an object made of Keras's configuration. */
export type Theirs =
  | {
      readonly kind: 'function';
      readonly name: string;
      /** In the order of ours, for those that have another name there. */
      readonly order: readonly string[];
      /** Inputs stand in it as `{ input: i }`. */
      readonly values: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'object'; readonly of: string; readonly config: unknown; readonly training: boolean };

export interface Call {
  readonly area: string;
  readonly name: string;
  readonly inputs: readonly Input[];
  /** Whether numbers among the arguments, such as `shape`, are what makes it large. */
  readonly sized?: (times: number) => Call;
  run(...xs: tf.Tensor[]): unknown;
  /** Asked for after a first call. */
  theirs(): Theirs | { readonly not: string };
}

/** As packages/eagre/tests/testing/subjects.ts has it. */
interface Subject {
  readonly name: string;
  readonly inputs: readonly SampleInput[];
  readonly fn: (...xs: tf.Tensor[]) => unknown;
  readonly given?: Readonly<Record<string, unknown>>;
  readonly places?: readonly (readonly [argument: string, at: number | null])[];
  readonly object?: () => object;
  readonly training?: boolean;
}
interface AnyFunction {
  readonly fn: (given: object) => unknown;
  readonly name: string;
  readonly takes: { readonly positional: readonly string[]; readonly rest?: string } | undefined;
}

const tests = join(benchFolder, '../../packages/eagre/tests/testing');
const golden = join(benchFolder, '../../packages');

/** Numbers that say how large a result is. */
const SIZES =
  /^(shape|num|numRows|numColumns|limit|windowLength|numResults|depth|maxlen|numSamples|numBits|size)$/;
const large = (value: unknown, times: number): unknown =>
  Array.isArray(value) ? [(value[0] as number) * times, ...value.slice(1)] : (value as number) * times;

const isPlain = (value: unknown): boolean =>
  value === null ||
  ['number', 'string', 'boolean'].includes(typeof value) ||
  (Array.isArray(value) && value.every(isPlain));

/** Arguments as JSON, or what among them no other process can be given. */
export function asJson(values: Readonly<Record<string, unknown>>): Record<string, unknown> | { not: string } {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(values)) {
    if (value instanceof tf.Tensor && value.dtype !== 'string' && !value.dtype.startsWith('complex'))
      out[name] = { array: value.array(), dtype: value.dtype };
    else if (isPlain(value) || isInput(value) || (Array.isArray(value) && value.every(isInput)))
      out[name] = value;
    else return { not: `its argument ${name} is no tensor and no number` };
  }
  return out;
}
const isInput = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).join() === 'input';

function ofFunction(subject: Subject, takes: AnyFunction['takes']): Call {
  const { name, inputs, fn, given = {}, places = [] } = subject;
  const values: Record<string, unknown> = { ...given };
  places.forEach(([argument, at], i) => {
    if (at === null) values[argument] = { input: i };
    else values[argument] = (values[argument] as unknown[]).map((v, k) => (k === at ? { input: i } : v));
  });
  return {
    area: name.includes('.') ? name.slice(0, name.indexOf('.')) : 'tf',
    name,
    inputs,
    run: fn,
    theirs: () => {
      const json = asJson(values);
      if ('not' in json) return json as { not: string };
      const order = [...(takes?.positional ?? []), ...(takes?.rest === undefined ? [] : [takes.rest])];
      return { kind: 'function', name, order, values: json };
    },
  };
}

/** A function without tensors: numbers make it large. */
function ofNumbers({ fn, name, takes }: AnyFunction, values: Readonly<Record<string, unknown>>): Call | null {
  if (!Object.keys(values).some((key) => SIZES.test(key))) return null;
  const make = (times: number): Call => {
    const scaled = Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, SIZES.test(key) ? large(value, times) : value]),
    );
    return {
      ...ofFunction({ name, inputs: [], fn: () => fn(scaled), given: scaled }, takes),
      sized: make,
    };
  };
  return make(1);
}

function ofObject(area: string, { name, inputs, fn, object, training = false }: Subject): Call {
  const serializers: Readonly<Record<string, (o: never) => unknown>> = {
    layers: tf.keras.layers.serialize,
    losses: tf.keras.losses.serialize,
    metrics: tf.keras.metrics.serialize,
    optimizers: tf.keras.optimizers.serialize,
  };
  return {
    area,
    name: `${name}${training ? ', training' : ''}`,
    inputs,
    run: fn,
    theirs: () => {
      const made = object?.();
      if (made === undefined)
        return { not: 'it is a function of losses or metrics, or has weights of samples' };
      return { kind: 'object', of: area, config: serializers[area]?.(made as never), training };
    },
  };
}

interface GoldenTensor {
  readonly dtype: string;
  readonly shape: Sizes;
  readonly values: readonly unknown[];
}
const isGolden = (v: unknown): v is GoldenTensor =>
  typeof v === 'object' && v !== null && 'values' in v && 'dtype' in v;

/** Golden files whose cases are calls, and the module that their functions are in. */
const goldenFiles: readonly (readonly [file: string, module: string])[] = [
  ['core/golden/strings.json', 'strings.'],
  ['layers/golden/keras_ops.json', 'keras.ops.'],
  ['eagre/golden/numpy-rest.json', ''],
  ['eagre/golden/random-bits.json', ''],
];

function ofGolden(
  module: string,
  c: { readonly op: string; readonly args: unknown; readonly options?: object },
): Call | null {
  const name = `${module}${c.op}`;
  const fn = name.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], tf);
  if (typeof fn !== 'function') return null;
  const inputs: Input[] = [];
  const place = (v: unknown): unknown => {
    if (isGolden(v)) {
      if (v.dtype === 'string')
        inputs.push({ kind: 'text', shape: v.shape, values: v.values as readonly string[] });
      else
        inputs.push({
          kind: 'values',
          shape: v.shape,
          values: v.values.map(Number),
          ...(v.dtype === 'float32' ? {} : { dtype: v.dtype as 'int32' }),
        });
      return { input: inputs.length - 1 };
    }
    return Array.isArray(v) ? v.map(place) : v;
  };
  const listed = Array.isArray(c.args) ? (place(c.args) as unknown[]) : null;
  const named = Object.fromEntries(
    Object.entries({ ...(listed === null ? (c.args as object) : {}), ...c.options }).map(([k, v]) => [
      k,
      place(v),
    ]),
  );
  const fill = (v: unknown, xs: readonly tf.Tensor[]): unknown =>
    isInput(v) ? xs[(v as { input: number }).input] : Array.isArray(v) ? v.map((item) => fill(item, xs)) : v;
  return {
    area: module === '' ? c.op.slice(0, c.op.lastIndexOf('.')) : module.slice(0, -1),
    name,
    inputs,
    run: (...xs) => {
      const options = Object.fromEntries(Object.entries(named).map(([k, v]) => [k, fill(v, xs)]));
      const rest = Object.keys(options).length > 0 ? [options] : [];
      return fn(...(listed ?? []).map((v) => fill(v, xs)), ...rest);
    },
    theirs: () => {
      const values = { ...Object.fromEntries((listed ?? []).map((v, i) => [`${i}`, v])), ...named };
      return { kind: 'function', name, order: (listed ?? []).map((_, i) => `${i}`), values };
    },
  };
}

/** All calls, each function's once. */
export async function allCalls(): Promise<Call[]> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(tests, file)).href);
  const { subjects } = (await load('subjects.ts')) as {
    subjects: Readonly<Record<string, readonly Subject[]>>;
  };
  const { functions, valuesFor } = (await load('arguments.ts')) as {
    functions: readonly AnyFunction[];
    valuesFor: (name: string, takes: AnyFunction['takes']) => Record<string, unknown>;
  };
  const takes = new Map(functions.map((f) => [f.name, f.takes]));
  const calls = new Map<string, Call>();
  const add = (call: Call | null): void => {
    if (call === null) return;
    const key = `${call.area} ${call.name}`;
    if (!calls.has(key)) calls.set(key, call);
  };
  for (const [area, list] of Object.entries(subjects))
    for (const subject of list)
      if (area === 'functions') add(ofFunction(subject, takes.get(subject.name)));
      else if (area === 'activations')
        add(
          ofFunction(
            { ...subject, name: `keras.activations.${subject.name}`, given: { x: 0 }, places: [['x', null]] },
            { positional: ['x'] },
          ),
        );
      else add(ofObject(area, subject));
  for (const f of functions) {
    if (f.takes === undefined || [...calls.values()].some((c) => c.name === f.name)) continue;
    add(ofNumbers(f, valuesFor(f.name, f.takes)));
  }
  for (const [file, module] of goldenFiles) {
    const { cases } = JSON.parse(readFileSync(join(golden, file), 'utf8')) as {
      cases: { readonly op: string; readonly args: unknown; readonly error?: unknown }[];
    };
    for (const c of cases) if (c.error === undefined) add(ofGolden(module, c));
  }
  return [...calls.values()];
}
