// Whatever a function refuses eagerly because of the values of a tensor, it refuses in a traced function too, which knows them only as it
// runs: each argument of each public function, with values that are negative, too large, zero, in another order or all the same.
import type { Declared } from '@eagre/core/internal';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as tf from '../src/index.ts';
import { functions, valuesFor } from './testing/arguments.ts';

// A trace warns where it is made anew for each size.
beforeEach(() => {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const isWhole = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every(isWhole) : Number.isSafeInteger(value);

/** The tensor that an argument is or can be; null for others. */
function tensorOf(value: unknown): tf.Tensor | null {
  const t =
    value instanceof tf.Tensor ? value : isWhole(value) ? tf.constant(value as number[], 'int32') : null;
  return t !== null && ['int32', 'int64', 'float32'].includes(t.dtype) && t.size > 0 && t.size <= 64
    ? t
    : null;
}

/** Other values of the same shape. */
function* others(t: tf.Tensor): Generator<tf.Tensor> {
  const values = Array.from(t.data() as ArrayLike<number | bigint>, Number);
  const lists = [-1, -7, 1000, 0].flatMap((odd) =>
    [...new Set([0, values.length - 1])].map((at) => values.map((v, i) => (i === at ? odd : v))),
  );
  lists.push(
    [...values].reverse(),
    values.map(() => values[0] as number),
  );
  for (const list of lists) {
    const flat = tf.constant(list, t.dtype as 'int32');
    yield flat.reshape(t.shape);
  }
}

/** The error of a call whose results are waited for; null without. */
function errorOf(call: () => unknown): Error | null {
  tf.random.setSeed(5);
  try {
    const read = (value: unknown): void => {
      if (value instanceof tf.Tensor) value.data();
      else if (Array.isArray(value)) value.forEach(read);
    };
    read(call());
    return null;
  } catch (error) {
    return error as Error;
  }
}

const cases = functions.flatMap(({ name, fn, takes }) => {
  const values = valuesFor(name, takes as Declared);
  return Object.entries(values).flatMap(([argument, value]) => {
    const good = takes?.rest === undefined || !(takes.rest in values) ? tensorOf(value) : null;
    if (good === null) return [];
    const call = (t: tf.Tensor): unknown => fn({ ...values, [argument]: t });
    return [{ name: `${name}: ${argument}`, good, call }];
  });
});

let refused = 0;
/** Arguments that a trace has to know. */
const known: string[] = [];

test.each(cases.map((c) => [c.name, c] as const))('%s', (name, { good, call }) => {
  if (errorOf(() => call(good)) !== null) return;
  const traced = tf.function(call);
  if (errorOf(() => traced(good)) !== null) {
    known.push(name);
    return;
  }
  for (const t of others(good)) {
    const eager = errorOf(() => call(t));
    if (eager === null) continue;
    refused++;
    const inTrace = errorOf(() => traced(t));
    const values = JSON.stringify(Array.from(t.data() as Int32Array, Number));
    expect(inTrace, `${values} is refused eagerly: ${eager.message}`).not.toBeNull();
    expect(inTrace, `${values}: ${inTrace?.stack}`).toBeInstanceOf(tf.errors.OpError);
  }
});

test('that is nearly all', () => {
  expect(known).toEqual([
    'makeTensorProto: values',
    'makeTensorProto: shape',
    'histogramFixedWidth: nbins',
    'histogramFixedWidthBins: nbins',
    'split: numOrSizes',
    'linalg.diag: numRows',
    'linalg.diag: numCols',
    'debugging.assertNear: rtol',
    'debugging.assertNear: atol',
    'image.randomJpegQuality: minJpegQuality',
    'image.randomJpegQuality: maxJpegQuality',
    'image.statelessRandomJpegQuality: minJpegQuality',
    'image.statelessRandomJpegQuality: maxJpegQuality',
    'image.statelessRandomJpegQuality: seed',
  ]);
  expect(refused).toBeGreaterThan(850);
});
