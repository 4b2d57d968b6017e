// Kernels whose threads each make one element, or one word where elements are smaller.
import type { DType } from '@eagre/backend';
import { bytesOf, type Dispatch, type GpuProgram, launch, perThread } from './kernel.ts';

/** What moves elements of so many bytes sees of a buffer: words, or pairs of them. */
export function rawType(bytes: number): 'u32' | 'vec2u' {
  return bytes === 8 ? 'vec2u' : 'u32';
}

/** Reads an element as it is stored: a word, a pair of words, or the lowest bits of a word. */
export function rawLoad(buffer: string, at: string, bytes: number): string {
  if (bytes >= 4) return `${buffer}[${at}]`;
  if (bytes === 2) return `((${buffer}[(${at}) >> 1u] >> (((${at}) & 1u) << 4u)) & 0xffffu)`;
  return `((${buffer}[(${at}) >> 2u] >> (((${at}) & 3u) << 3u)) & 0xffu)`;
}

/** The zero of `rawType`. */
export function rawZero(bytes: number): string {
  return bytes === 8 ? 'vec2u(0u, 0u)' : '0u';
}

/** How many elements a word has. */
export function lanesOf(bytes: number): number {
  return bytes >= 4 ? 1 : 4 / bytes;
}

/**
 * A kernel that makes `y` element by element: `body` computes `v` of the raw type for element `e`, and may set `keep` where the element
 * stays what it was. Where elements are smaller than a word, a thread makes all those of a word.
 * @param buffers without `y`, which comes behind them, before `after`.
 */
export function perElement(
  bytes: number,
  buffers: Readonly<Record<string, string>>,
  params: Readonly<Record<string, 'u32' | 'i32' | 'f32'>>,
  body: string,
  { keeps = false, after = {} }: { keeps?: boolean; after?: Readonly<Record<string, string>> } = {},
): GpuProgram {
  const all = { ...buffers, y: `mut ${rawType(bytes)}`, ...after };
  const start = `var v = ${rawZero(bytes)}; ${keeps ? 'var keep = false;' : ''} ${body}`;
  if (bytes >= 4) {
    const store = keeps ? 'if (!keep) { y[e] = v; }' : 'y[e] = v;';
    return perThread(all, { ...params, size: 'u32' }, `let e = thread; ${start} ${store}`);
  }
  const lanes = lanesOf(bytes);
  const bits = 8 * bytes;
  const mask = bytes === 2 ? '0xffffu' : '0xffu';
  const put = `word = (word & ~(${mask} << shift)) | ((v & ${mask}) << shift);`;
  return perThread(
    all,
    { ...params, size: 'u32' },
    `var word = ${keeps ? 'y[thread]' : '0u'};
    for (var lane = 0u; lane < ${lanes}u; lane++) {
      let e = thread * ${lanes}u + lane;
      if (e < p.size) { ${start} let shift = lane * ${bits}u; ${keeps ? `if (!keep) { ${put} }` : put} }
    }
    y[thread] = word;`,
  );
}

/** One dispatch of a program of `perElement` for `y`. */
export function launchElements(
  program: GpuProgram,
  operands: readonly number[],
  params: readonly number[],
  y: { readonly size: number; readonly dtype: DType },
): Dispatch {
  return launch(program, operands, [...params, y.size], Math.ceil(y.size / lanesOf(bytesOf(y.dtype))));
}

/** The axes of a tensor as seen from several sides: adjacent ones over which all sides go evenly are merged. */
export interface Axes {
  readonly sizes: readonly number[];
  /** By side: its step along each axis. */
  readonly steps: readonly (readonly number[])[];
}

/** Merges axes, outermost first; those of size 1 are left out. */
export function mergeAxes(sizes: readonly number[], steps: readonly (readonly number[])[]): Axes {
  const merged: number[] = [];
  const mergedSteps: number[][] = steps.map(() => []);
  sizes.forEach((size, axis) => {
    if (size === 1) return;
    const last = merged.length - 1;
    const even = last >= 0 && mergedSteps.every((own, side) => own[last] === size * steps[side][axis]);
    if (even) merged[last] *= size;
    else merged.push(size);
    mergedSteps.forEach((own, side) => {
      if (even) own[last] = steps[side][axis];
      else own.push(steps[side][axis]);
    });
  });
  return { sizes: merged, steps: mergedSteps };
}

/** The steps of a tensor along the axes of a shape to which it broadcasts. */
export function broadcastSteps(from: readonly number[], to: readonly number[]): number[] {
  const steps: number[] = [];
  let step = 1;
  for (let axis = to.length - 1, own = from.length - 1; axis >= 0; axis--, own--) {
    const size = own < 0 ? 1 : from[own];
    steps.unshift(size === 1 ? 0 : step);
    step *= size;
  }
  return steps;
}

/**
 * Statements that take `from`, a number of an element, apart into its places along axes whose sizes are the fields d0, d1, … of `p`, as the
 * variables `prefix`0, ….
 */
export function takeApart(from: string, rank: number, prefix = 'i', sizes = 'd'): string {
  if (rank === 0) return '';
  const lines = [`var ${prefix}r = ${from};`];
  for (let axis = rank - 1; axis >= 0; axis--) {
    if (axis === 0) lines.push(`let ${prefix}0 = ${prefix}r;`);
    else
      lines.push(
        `let ${prefix}${axis} = ${prefix}r % p.${sizes}${axis}; ${prefix}r = ${prefix}r / p.${sizes}${axis};`,
      );
  }
  return lines.join('\n');
}

/** The fields d0, d1, … or other ones. */
export function fields<T extends 'u32' | 'i32'>(name: string, rank: number, type: T): Record<string, T> {
  return Object.fromEntries(Array.from({ length: rank }, (_, i) => [`${name}${i}`, type]));
}

/** The place of an element as a sum of `prefix`k · s k, with steps that may be negative. */
export function placeOf(rank: number, prefix = 'i', steps = 's', base = '0'): string {
  const terms = Array.from({ length: rank }, (_, k) => `i32(${prefix}${k}) * p.${steps}${k}`);
  return [base, ...terms].join(' + ');
}
