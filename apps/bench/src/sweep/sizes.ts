// Inputs of a call in other sizes: its declared ones with an axis, or all axes of one size, made longer.
import type { Input, Sizes, TextInput } from './calls.ts';

const count = (shape: Sizes): number => shape.reduce((a, b) => a * b, 1);

/**
 * Shapes in which the inputs have about `elements` elements, in the order in which they are tried: the first axis of all that begin alike,
 * one more axis in front, all axes of one size, any axis of any input.
 */
export function* largerShapes(shapes: readonly Sizes[], elements: number): Generator<readonly Sizes[]> {
  const largest = Math.max(1, ...shapes.map(count));
  const times = Math.max(1, Math.round(elements / largest));
  const first = shapes.find((s) => s.length > 0);
  if (first === undefined) return;
  yield shapes.map((s) => (s.length > 0 && s[0] === first[0] ? [s[0]! * times, ...s.slice(1)] : s));
  yield shapes.map((s) => (s.length > 0 ? [times, ...s] : s));
  yield shapes.map((s, i) => (i === shapes.indexOf(first) ? [times, ...s] : s));
  for (const size of new Set(shapes.flat())) {
    const axes = Math.max(...shapes.map((s) => s.filter((d) => d === size).length));
    const factor = Math.max(1, Math.round(times ** (1 / axes)));
    yield shapes.map((s) => s.map((d) => (d === size ? d * factor : d)));
  }
  for (const [i, shape] of shapes.entries())
    for (const axis of shape.keys())
      yield shapes.map((s, k) => (k === i ? s.map((d, a) => (a === axis ? d * times : d)) : s));
}

/** Whole numbers in the place of floats that are drawn, for functions that take both; null where there are none. */
export function asIntegers(inputs: readonly Input[]): Input[] | null {
  const drawn = inputs.every(
    (input) => input.kind === 'uniform' || (input.kind === 'values' && input.dtype === undefined),
  );
  if (inputs.length === 0 || !drawn) return null;
  return inputs.map(({ shape }) => ({ kind: 'integer', shape, low: 1, high: 9, dtype: 'int32' }));
}

/** The values of a text input in another shape: again and again, with the number of their place behind all but the first round. */
export function textsOf(input: TextInput, shape: Sizes): string[] {
  const n = input.values.length;
  return Array.from({ length: count(shape) }, (_, k) => `${input.values[k % n]!}${k < n ? '' : k}`);
}
