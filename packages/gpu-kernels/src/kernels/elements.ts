// Kernels over elements: threads make one element, or one word where elements are smaller, or several words whose reads wait together.
import type { DType } from '@eagre/backend';
import { bytesOf, type Dispatch, type GpuProgram, groups, head, programOf } from './kernel.ts';

/** Threads of a workgroup: so many that starting workgroups takes no longer than the memory. */
const WIDE = 256;
/** Up to so many words each thread has one, so that they spread over all cores. */
const FEW = 2 ** 17;
/** More words than any buffer has. */
const BEYOND = 2 ** 29;

/** A kernel whose threads each have several words. */
export interface WordProgram {
  readonly program: GpuProgram;
  /** How many words a thread has. */
  readonly each: number;
}

/** What a thread does with its words; variables that are declared for a word need its number in their names. */
export interface WordText {
  /** Before all words. */
  readonly start?: string;
  /** Declares what `load` sets, even where there is no such word. */
  readonly declare?: (k: number) => string;
  /** Reads for word `w${k}`, which is there. */
  readonly load?: (k: number) => string;
  /** Reads more, where it asks itself whether that is there: what is not within another test needs no jump. */
  readonly more?: (k: number) => string;
  /** Computes and writes word `w${k}`, which is there, after all words are read. */
  readonly work: (k: number) => string;
}

/**
 * A kernel over words, or over what else is counted by `p.words`: a thread reads all of its words before it writes one, as compilers move no read
 * over a write. Neighbours have neighbouring words.
 */
export function perWord(
  buffers: Readonly<Record<string, string>>,
  params: Readonly<Record<string, 'u32' | 'i32' | 'f32'>>,
  each: number,
  { start = '', declare, load, more, work }: WordText,
): WordProgram {
  const lines: string[] = [];
  for (let k = 0; k < each; k++) {
    const place = k === 0 ? 'first' : `first + ${k === 1 ? '' : `${k}u * `}p.stride`;
    lines.push(`let w${k} = ${place};`);
    if (declare !== undefined) lines.push(declare(k));
    if (load !== undefined) lines.push(`if (w${k} < p.words) { ${load(k)} }`);
    if (more !== undefined) lines.push(more(k));
  }
  for (let k = 0; k < each; k++) lines.push(`if (w${k} < p.words) { ${work(k)} }`);
  const program = programOf(`${head(buffers, { ...params, words: 'u32', span: 'u32', stride: 'u32' })}
@compute @workgroup_size(${WIDE})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) local: u32) {
  let first = (group.y * all.x + group.x) * p.span + local;
  ${start}
  ${lines.join('\n')}
}`);
  return { program, each };
}

/** Whether the word `w${k}` of so many lanes has that one, of `p.size` elements in all. Numbers of words beyond the last are too large to count lanes. */
export function hasLane(k: number, lanes: number, lane: number): string {
  return `w${k} < (p.size + ${lanes - 1 - lane}u) / ${lanes}u`;
}

/** How far apart the words of a thread are, of so many. */
export function strideOf(words: number): number {
  return words <= FEW ? BEYOND : WIDE;
}

/** One dispatch of a program of `perWord`. */
export function launchWords(
  { program, each }: WordProgram,
  operands: readonly number[],
  params: readonly number[],
  words: number,
): Dispatch {
  const span = words <= FEW ? WIDE : WIDE * each;
  return {
    program,
    operands,
    params: [...params, words, span, strideOf(words)],
    workgroups: groups(Math.ceil(words / span)),
  };
}

/** Statements that carry what goes over the end of an axis into the one before, outermost last; `by` is added to each place. */
function carry(rank: number, by: (axis: number) => string | undefined): string {
  const lines: string[] = [];
  for (let axis = rank - 1; axis >= 0; axis--) {
    const added = by(axis);
    if (added !== undefined) lines.push(`c${axis} = c${axis} + ${added};`);
    if (axis > 0)
      lines.push(
        `if (c${axis} >= p.d${axis}) { c${axis} = c${axis} - p.d${axis}; c${axis - 1} = c${axis - 1} + 1u; }`,
      );
  }
  return lines.join(' ');
}

/**
 * The places c0, c1, … of a thread's words along axes whose sizes are the fields d0, d1, … of `p`, with one division per axis and thread: the
 * fields that they need.
 */
export function walkFields(rank: number): Record<string, 'u32'> {
  return { ...fields('d', rank, 'u32'), ...fields('j', rank, 'u32') };
}

/** Declares the places, for the element `from`. */
export function walkStart(rank: number, from = 'first'): string {
  if (rank === 0) return '';
  const lines = [`var cr = ${from};`];
  for (let axis = rank - 1; axis > 0; axis--)
    lines.push(`var c${axis} = cr % p.d${axis}; cr = cr / p.d${axis};`);
  lines.push('var c0 = cr;');
  return lines.join(' ');
}

/** Moves the places on, from one word to the next. */
export function walkNext(rank: number): string {
  return carry(rank, (axis) => `p.j${axis}`);
}

/** Moves the places on by one. */
export function walkStep(rank: number): string {
  return carry(rank, (axis) => (axis === rank - 1 ? '1u' : undefined));
}

/** The values of `walkFields`; `distance` is what `walkNext` goes. */
export function walkParams(sizes: readonly number[], distance: number): number[] {
  const digits: number[] = [];
  let rest = distance;
  for (let axis = sizes.length - 1; axis > 0; axis--) {
    digits.unshift(rest % sizes[axis]);
    rest = Math.floor(rest / sizes[axis]);
  }
  if (sizes.length > 0) digits.unshift(rest);
  return [...sizes, ...digits];
}

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
    return perWord(all, params, 1, { work: () => `let e = w0; ${start} ${store}` }).program;
  }
  const lanes = lanesOf(bytes);
  const bits = 8 * bytes;
  const mask = bytes === 2 ? '0xffffu' : '0xffu';
  const put = `word = (word & ~(${mask} << shift)) | ((v & ${mask}) << shift);`;
  const work = `var word = ${keeps ? 'y[w0]' : '0u'};
    for (var lane = 0u; lane < ${lanes}u; lane++) {
      let e = w0 * ${lanes}u + lane;
      if (e < p.size) { ${start} let shift = lane * ${bits}u; ${keeps ? `if (!keep) { ${put} }` : put} }
    }
    y[w0] = word;`;
  return perWord(all, { ...params, size: 'u32' }, 1, { work: () => work }).program;
}

/** One dispatch of a program of `perElement` for `y`. */
export function launchElements(
  program: GpuProgram,
  operands: readonly number[],
  params: readonly number[],
  { size, dtype }: { readonly size: number; readonly dtype: DType },
): Dispatch {
  return launchUnits(program, operands, params, bytesOf(dtype), size);
}

/** One dispatch of a program of `perElement` for so many elements of so many bytes. */
export function launchUnits(
  program: GpuProgram,
  operands: readonly number[],
  params: readonly number[],
  bytes: number,
  size: number,
): Dispatch {
  const lanes = lanesOf(bytes);
  const all = lanes === 1 ? params : [...params, size];
  return launchWords({ program, each: 1 }, operands, all, Math.ceil(size / lanes));
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
