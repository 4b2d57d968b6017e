// Kernels that move elements, whatever the dtype: words or pairs of words where elements of a row lie together.
import {
  list,
  type NumericDType,
  numericDTypes,
  product,
  storedElement,
  stridesOf,
  typedView,
} from '@eagre/backend';
import {
  type Axes,
  fields,
  hasLane,
  lanesOf,
  launchElements,
  launchUnits,
  launchWords,
  mergeAxes,
  perElement,
  perWord,
  placeOf,
  rawLoad,
  rawType,
  rawZero,
  strideOf,
  takeApart,
  type WordProgram,
  walkFields,
  walkNext,
  walkParams,
  walkStart,
  walkStep,
} from './elements.ts';
import {
  alwaysFits,
  bytesOf,
  type Call,
  type Dispatch,
  type GpuKernels,
  groups,
  head,
  type Lowered,
  launch,
  lowered,
  perThread,
  programOf,
  type TensorInfo,
} from './kernel.ts';
import { floats, ofFloats } from './scalar-program.ts';

/** How many words of a move a thread reads before it writes them. */
const EACH = 4;
/** The most bytes that a move takes at once. */
const CHUNK = 8;

/** A move: elements of so many bytes, or chunks of several. */
interface Chunks {
  readonly bytes: number;
  readonly sizes: readonly number[];
  readonly steps: readonly number[];
  readonly base: number;
}

/** Takes several elements at once where those of a row lie together, and rows begin at whole chunks. */
function inChunks({ bytes, sizes, steps, base }: Chunks): Chunks {
  const last = sizes.length - 1;
  const others = steps.slice(0, -1);
  let chunk = 1;
  if (steps[last] === 1)
    while (
      bytes * chunk < CHUNK &&
      [sizes[last], base, ...others].every((n) => Number.isInteger(n / (2 * chunk)))
    )
      chunk *= 2;
  return {
    bytes: bytes * chunk,
    sizes: sizes.map((n, axis) => (axis === last ? n / chunk : n)),
    steps: steps.map((step, axis) => (axis === last ? step : step / chunk)),
    base: base / chunk,
  };
}

/** y[base + Σ i k · s k] = x[w], or y[w] = x[base + Σ i k · s k], where i k are the places of w along the axes. */
function moveProgram(bytes: number, rank: number, to: 'placed' | 'even'): WordProgram {
  const type = rawType(bytes);
  const [from, into] = to === 'placed' ? ['w', 'o'] : ['o', 'w'];
  return perWord(
    { x: type, y: `mut ${type}` },
    { base: 'i32', ...walkFields(rank), ...fields('s', rank, 'i32') },
    EACH,
    {
      start: walkStart(rank),
      declare: (k) =>
        `${k === 0 ? '' : walkNext(rank)} let o${k} = u32(${placeOf(rank, 'c', 's', 'p.base')}); var r${k} = ${rawZero(bytes)};`,
      load: (k) => `r${k} = x[${from}${k}];`,
      work: (k) => `y[${into}${k}] = r${k};`,
    },
  );
}

/** As `moveProgram` for elements that are less than a word, which are put together to words. */
function gatherProgram(bytes: number, rank: number): WordProgram {
  const lanes = lanesOf(bytes);
  const [bits, shift] = [8 * bytes, Math.log2(lanes)];
  const all = Array.from({ length: lanes }, (_, m) => m);
  const read = (k: number, m: number): string => `r${k}_${m} = x[o${k}_${m} >> ${shift}u];`;
  const value = (k: number, m: number): string =>
    `(((r${k}_${m} >> ((o${k}_${m} & ${lanes - 1}u) * ${bits}u)) & ${2 ** bits - 1}u) << ${m * bits}u)`;
  return perWord(
    { x: 'u32', y: 'mut u32' },
    { base: 'i32', size: 'u32', ...walkFields(rank), ...fields('s', rank, 'i32') },
    2,
    {
      start: walkStart(rank, `first * ${lanes}u`),
      declare: (k) =>
        all
          .map(
            (m) =>
              `${m > 0 ? walkStep(rank) : k > 0 ? walkNext(rank) : ''} let o${k}_${m} = u32(${placeOf(rank, 'c', 's', 'p.base')}); var r${k}_${m} = 0u;`,
          )
          .join(' '),
      load: (k) => read(k, 0),
      more: (k) =>
        all
          .slice(1)
          .map((m) => `if (${hasLane(k, lanes, m)}) { ${read(k, m)} }`)
          .join(' '),
      work: (k) => `y[w${k}] = ${all.map((m) => value(k, m)).join(' | ')};`,
    },
  );
}

/** A dispatch that takes elements from evenly spaced places. */
export function take(
  x: number,
  y: number,
  { dtype }: TensorInfo,
  sizes: readonly number[],
  steps: readonly number[],
  base = 0,
): Dispatch {
  const merged: Axes = mergeAxes(sizes, [steps]);
  const all = { bytes: bytesOf(dtype), sizes: merged.sizes, steps: merged.steps[0], base };
  const size = product(sizes);
  if (base === 0 && all.steps.length <= 1 && (all.steps[0] ?? 1) === 1)
    return copy(x, y, { dtype, shape: [size], size });
  const tiles = turn(x, y, all);
  if (tiles !== undefined) return tiles;
  const chunks = inChunks(all);
  const rank = chunks.sizes.length;
  const count = product(chunks.sizes);
  if (chunks.bytes >= 4)
    return launchWords(
      moveProgram(chunks.bytes, rank, 'even'),
      [x, y],
      [chunks.base, ...walkParams(chunks.sizes, strideOf(count)), ...chunks.steps],
      count,
    );
  const lanes = lanesOf(chunks.bytes);
  const words = Math.ceil(count / lanes);
  const distance = strideOf(words) * lanes - (lanes - 1);
  return launchWords(
    gatherProgram(chunks.bytes, rank),
    [x, y],
    [chunks.base, count, ...walkParams(chunks.sizes, distance), ...chunks.steps],
    words,
  );
}

/** Words of a tile's side. */
const TILE = 32;
/** Rows of a tile that a workgroup moves at once. */
const ROWS = 8;
/** What is shorter is not worth tiles. */
const LEAST_SIDE = 16;

/**
 * A dispatch that exchanges the axis along which x lies together and the last one, by tiles in shared memory, so that reads and writes are of whole
 * rows; undefined where there is nothing to exchange. Of elements of two bytes it moves pairs.
 */
function turn(x: number, y: number, { bytes, sizes, steps, base }: Chunks): Dispatch | undefined {
  const last = sizes.length - 1;
  const inner = steps.indexOf(1);
  if (bytes === 1 || inner < 0 || inner === last) return undefined;
  if (Math.min(sizes[inner], sizes[last]) < LEAST_SIDE) return undefined;
  const lanes = lanesOf(bytes);
  const into = stridesOf(sizes);
  const others = sizes.flatMap((_, axis) => (axis === inner || axis === last ? [] : [axis]));
  const firsts = [base, ...steps.filter((_, axis) => axis !== inner), sizes[inner], sizes[last]];
  if (firsts.some((n) => n % lanes !== 0)) return undefined;
  const rank = others.length;
  const type = rawType(bytes);
  const side = TILE * lanes;
  const pitch = TILE + 1;
  const passes = Array.from({ length: side / ROWS }, (_, i) => i);
  const row = (pass: number): string => `(row + ${pass * ROWS}u)`;
  // In words; rows of the tile are places along the last axis.
  const reads = passes.map(
    (i) => `var r${i} = ${rawZero(bytes)};
    if (isTile && left < p.inner && down + ${row(i)} < p.last) { r${i} = x[u32(from + i32(down + ${row(i)}) * p.step) + left]; }`,
  );
  const keeps = passes.map((i) => `tile[${row(i)} * ${pitch}u + column] = r${i};`);
  const taken = (i: number): string => {
    if (lanes === 1) return `tile[column * ${pitch}u + ${row(i)}]`;
    const half = (which: number): string =>
      `((tile[(column * 2u + ${which}u) * ${pitch}u + (${row(i)} >> 1u)] >> ((${row(i)} & 1u) << 4u)) & 0xffffu)`;
    return `(${half(0)} | (${half(1)} << 16u))`;
  };
  const writes = passes.map(
    (i) =>
      `if (isTile && right < p.lastWords && up + ${row(i)} < p.innerElements) { y[into + (up + ${row(i)}) * p.pitch + right] = ${taken(i)}; }`,
  );
  const program = programOf(`${head(
    { x: type, y: `mut ${type}` },
    {
      tiles: 'u32',
      across: 'u32',
      along: 'u32',
      base: 'i32',
      step: 'i32',
      pitch: 'u32',
      inner: 'u32',
      innerElements: 'u32',
      last: 'u32',
      lastWords: 'u32',
      ...fields('d', rank, 'u32'),
      ...fields('s', rank, 'i32'),
      ...fields('t', rank, 'i32'),
    },
  )}
var<workgroup> tile: array<${type}, ${side * pitch}>;
@compute @workgroup_size(${TILE * ROWS})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) local: u32) {
  let number = group.y * all.x + group.x; let isTile = number < p.tiles;
  let column = local % ${TILE}u; let row = local / ${TILE}u;
  let rest = number / p.across; let batch = rest / p.along;
  let down = number % p.across * ${side}u; let up = rest % p.along * ${side}u;
  let left = up / ${lanes}u + column; let right = down / ${lanes}u + column;
  ${takeApart('batch', rank)}
  let from = ${placeOf(rank, 'i', 's', 'p.base')}; let into = u32(${placeOf(rank, 'i', 't')});
  ${reads.join('\n')}
  ${keeps.join('\n')}
  workgroupBarrier();
  ${writes.join('\n')}
}`);
  const [across, along] = [sizes[last], sizes[inner]].map((n) => Math.ceil(n / side));
  const tiles = across * along * product(others.map((axis) => sizes[axis]));
  const inWords = (values: readonly number[]): number[] => values.map((n) => n / lanes);
  const params = [
    tiles,
    across,
    along,
    ...inWords([base, steps[last], into[inner], sizes[inner]]),
    sizes[inner],
    sizes[last],
    sizes[last] / lanes,
    ...others.map((axis) => sizes[axis]),
    ...inWords(others.map((axis) => steps[axis])),
    ...inWords(others.map((axis) => into[axis])),
  ];
  return { program, operands: [x, y], params, workgroups: groups(tiles) };
}

/** A copy of so many elements. */
export function copy(x: number, y: number, { dtype, size }: TensorInfo): Dispatch {
  // Whole words, which buffers have.
  const bytes = size * bytesOf(dtype);
  const chunk = bytes % CHUNK === 0 ? CHUNK : 4;
  const words = Math.ceil(bytes / chunk);
  const params = [0, ...walkParams([words], strideOf(words)), 1];
  return launchWords(moveProgram(chunk, 1, 'even'), [x, y], params, words);
}

/** The words of an element of a dtype: what is stored, from its lowest bits on. */
export function wordsOf(value: number, dtype: NumericDType): [low: number, high: number] {
  const bytes = new ArrayBuffer(8);
  typedView(dtype, bytes, 0, 1)[0] = storedElement(value, dtype) as never;
  const [lowWord, highWord] = new Uint32Array(bytes);
  return [lowWord, highWord];
}

/** Sizes of the result and of the input, the places where that begins, and its steps: fields of kernels that read another place than they write. */
function placedFields(rank: number): Record<string, 'u32' | 'i32'> {
  return {
    ...fields('d', rank, 'u32'),
    ...fields('n', rank, 'u32'),
    ...fields('b', rank, 'i32'),
    ...fields('s', rank, 'i32'),
  };
}

/** The value of the fields `name`0 and `name`1 of `p` as what `rawLoad` gives. */
export function rawParam(name: string, bytes: number): string {
  return bytes === 8 ? `vec2u(p.${name}0, p.${name}1)` : `p.${name}0`;
}

/** The words of so many bytes that have an element in each place. */
function chunkOf(value: number, dtype: NumericDType): [low: number, high: number] {
  const [low, high] = wordsOf(value, dtype);
  const bytes = bytesOf(dtype);
  if (bytes === 8) return [low, high];
  const word = bytes === 4 ? low : bytes === 2 ? (low & 0xffff) * 0x10001 : (low & 0xff) * 0x1010101;
  return [word, word];
}

/** A dispatch that sets all elements of the operand `y`. */
export function fill(y: number, { dtype, size }: TensorInfo, value: number): Dispatch {
  const bytes = Math.max(4, bytesOf(dtype));
  const words = Math.ceil((size * bytesOf(dtype)) / bytes);
  return fillWith(y, bytes, chunkOf(value, dtype as NumericDType), words);
}

/** For values of so many bytes. */
const setters = new Map<number, Dispatch>();

/** A dispatch that sets what its only operand begins with. @returns undefined unless there are 4 or 8 bytes. */
export function set(value: Uint8Array): Dispatch | undefined {
  const bytes = value.length;
  if (bytes !== 4 && bytes !== 8) return undefined;
  let dispatch = setters.get(bytes);
  if (dispatch === undefined) setters.set(bytes, (dispatch = fillWith(0, bytes, [0, 0], 1)));
  const words = new DataView(value.buffer, value.byteOffset, bytes);
  const high = bytes === 8 ? words.getUint32(4, true) : 0;
  return { ...dispatch, params: [words.getUint32(0, true), high, ...dispatch.params.slice(2)] };
}

function fillWith(y: number, bytes: number, value: readonly number[], words: number): Dispatch {
  const program = perWord({ y: `mut ${rawType(bytes)}` }, { value0: 'u32', value1: 'u32' }, EACH, {
    work: (k) => `y[w${k}] = ${rawParam('value', bytes)};`,
  });
  return launchWords(program, [y], value, words);
}

function pad({ inputs: [x], outputs: [y], attrs }: Call): Lowered | undefined {
  const before = list(attrs.before);
  const mode = attrs.mode as number;
  if (mode === 0)
    return lowered(padWith(x, y, before, chunkOf(attrs.value as number, y.dtype as NumericDType)));
  // Mirrors that are longer than the axis are an error, which the host tells.
  const after = list(attrs.after);
  const most = (n: number): number => (mode === 1 ? n - 1 : n);
  if (x.shape.some((n, axis) => Math.max(before[axis], after[axis]) > most(n))) return undefined;
  const bytes = bytesOf(y.dtype);
  const rank = y.shape.length;
  const edge = mode === 1 ? 0 : 1;
  const places = Array.from(
    { length: rank },
    (_, k) => `var q${k} = i32(i${k}) - p.b${k};
    if (q${k} < 0) { q${k} = ${edge === 0 ? '' : '-1 '}-q${k}; } if (q${k} >= i32(p.n${k})) { q${k} = 2 * i32(p.n${k}) - ${2 - edge} - q${k}; }`,
  ).join('\n');
  const program = perElement(
    bytes,
    { x: rawType(bytes) },
    placedFields(rank),
    `${takeApart('e', rank)} ${places} let from = u32(${placeOf(rank, 'q', 's')}); v = ${rawLoad('x', 'from', bytes)};`,
  );
  return lowered(
    launchElements(program, [0, 1], [...y.shape, ...x.shape, ...before, ...stridesOf(x.shape)], y),
  );
}

/** A dispatch that puts x into y, and so many words everywhere else. */
function padWith(
  x: TensorInfo,
  y: TensorInfo,
  before: readonly number[],
  value: readonly [low: number, high: number],
): Dispatch {
  const [from, to, first]: number[][] = [[], [], []];
  y.shape.forEach((n, axis) => {
    // What is not padded belongs to the elements of the axis before it.
    const isWhole = axis > 0 && n === x.shape[axis];
    if (isWhole) for (const list of [from, to, first]) list[list.length - 1] *= n;
    else [x.shape[axis], n, before[axis]].forEach((size, i) => [from, to, first][i].push(size));
  });
  const last = to.length - 1;
  let bytes = bytesOf(y.dtype);
  if (last >= 0)
    while (bytes < CHUNK && [from, to, first].every((sizes) => sizes[last] % 2 === 0)) {
      bytes *= 2;
      for (const sizes of [from, to, first]) sizes[last] /= 2;
    }
  const rank = to.length;
  const places = to
    .map((_, k) => `let q${k} = i32(i${k}) - p.b${k}; inside = inside && q${k} >= 0 && q${k} < i32(p.n${k});`)
    .join('\n');
  const program = perElement(
    bytes,
    { x: rawType(bytes) },
    {
      value0: 'u32',
      value1: 'u32',
      ...placedFields(rank),
    },
    `${takeApart('e', rank)} var inside = true; ${places}
    if (inside) { let from = u32(${placeOf(rank, 'q', 's')}); v = ${rawLoad('x', 'from', bytes)}; } else { v = ${rawParam('value', bytes)}; }`,
  );
  const params = [...value, ...to, ...from, ...first, ...stridesOf(from)];
  return launchUnits(program, [0, 1], params, bytes, product(to));
}

/** Along each axis an element was copied to its own place, and perhaps to one on each side: it adds up what came from there. */
function mirrorPadGrad({ inputs: [dy], outputs: [dx], attrs }: Call): Lowered | undefined {
  const [before, after, mode] = [list(attrs.before), list(attrs.after), attrs.mode as number];
  const most = (n: number): number => (mode === 1 ? n - 1 : n);
  if (dx.shape.some((n, axis) => Math.max(before[axis], after[axis]) > most(n))) return undefined;
  const rank = dx.shape.length;
  const edge = mode === 1 ? 0 : 1;
  const axes = Array.from({ length: rank }, (_, k) => k);
  const loops = axes.map(
    (k) => `for (var c${k} = 0; c${k} < 3; c${k}++) {
      var q${k} = p.b${k} + i32(i${k}); var is${k} = true;
      if (c${k} == 1) { q${k} = p.b${k} - ${edge} - i32(i${k}); is${k} = q${k} >= 0 && q${k} < p.b${k}; }
      if (c${k} == 2) { let t${k} = i32(p.d${k}) - ${2 - edge} - i32(i${k}); q${k} = p.b${k} + i32(p.d${k}) + t${k}; is${k} = t${k} >= 0 && t${k} < p.a${k}; }
      if (is${k}) {`,
  );
  const type = dx.dtype === 'int32' ? 'i32' : 'f32';
  const program = perThread(
    ofFloats(dx.dtype, { dy: type, y: `mut ${type}` }),
    {
      ...fields('d', rank, 'u32'),
      ...fields('b', rank, 'i32'),
      ...fields('a', rank, 'i32'),
      ...fields('s', rank, 'i32'),
    },
    `${takeApart('thread', rank)} var sum = ${type === 'i32' ? '0' : '0.0'};
    ${loops.join('\n')} sum = sum + dy[u32(${placeOf(rank, 'q', 's')})]; ${'} }'.repeat(rank)} y[thread] = sum;`,
  );
  const params = [...dx.shape, ...before, ...after, ...stridesOf(dy.shape)];
  return lowered(launch(program, [0, 1], params, dx.size));
}

/** dx is zero but where Slice took: each element asks whether that is so. */
function sliceGrad({ inputs: [dy], outputs: [dx], attrs }: Call): Lowered {
  const begin = list(attrs.begin);
  const step = list(attrs.strides);
  if (dy.size === 0) return lowered(fill(1, dx, 0));
  if (step.every((by) => by === 1)) return lowered(padWith(dy, dx, begin, [0, 0]));
  const bytes = bytesOf(dx.dtype);
  const rank = dx.shape.length;
  const places = Array.from(
    { length: rank },
    (_, k) =>
      `let t${k} = (i32(i${k}) - p.b${k}) * p.g${k}; let q${k} = t${k} / p.m${k}; inside = inside && t${k} >= 0 && t${k} % p.m${k} == 0 && q${k} < i32(p.n${k});`,
  ).join('\n');
  const program = perElement(
    bytes,
    { x: rawType(bytes) },
    {
      ...fields('d', rank, 'u32'),
      ...fields('n', rank, 'u32'),
      ...fields('b', rank, 'i32'),
      ...fields('g', rank, 'i32'),
      ...fields('m', rank, 'i32'),
      ...fields('s', rank, 'i32'),
    },
    `${takeApart('e', rank)} var inside = true; ${places}
    if (inside) { let from = u32(${placeOf(rank, 'q', 's')}); v = ${rawLoad('x', 'from', bytes)}; }`,
  );
  const params = [
    ...dx.shape,
    ...dy.shape,
    ...begin,
    ...step.map(Math.sign),
    ...step.map(Math.abs),
    ...stridesOf(dy.shape),
  ];
  return lowered(launchElements(program, [0, 1], params, dx));
}

/** Each input is put into its part of y. */
function concat({ inputs, outputs: [y], attrs }: Call): Lowered {
  const axis = attrs.axis as number;
  const inner = product(y.shape.slice(axis + 1));
  const whole = y.shape[axis] * inner;
  const dispatches: Dispatch[] = [];
  let first = 0;
  inputs.forEach((x, i) => {
    const count = x.shape[axis] * inner;
    if (x.size > 0) dispatches.push(put(i, inputs.length, x, y, [first, count, whole]));
    first += count;
  });
  return lowered(...dispatches);
}

/** A dispatch that puts x into so many elements of each row of y. */
function put(
  from: number,
  to: number,
  x: TensorInfo,
  y: TensorInfo,
  [first, count, whole]: readonly [first: number, count: number, whole: number],
): Dispatch {
  const bytes = bytesOf(y.dtype);
  const merged = mergeAxes([x.size / count, count], [[whole, 1]]);
  const chunks = inChunks({ bytes, sizes: merged.sizes, steps: merged.steps[0], base: first });
  if (chunks.bytes >= 4) {
    const words = product(chunks.sizes);
    return launchWords(
      moveProgram(chunks.bytes, chunks.sizes.length, 'placed'),
      [from, to],
      [chunks.base, ...walkParams(chunks.sizes, strideOf(words)), ...chunks.steps],
      words,
    );
  }
  // Words of y are from several inputs.
  const program = perElement(
    bytes,
    { x: rawType(bytes) },
    { first: 'u32', count: 'u32', whole: 'u32' },
    `let row = e / p.whole; let at = e % p.whole;
    if (at >= p.first && at - p.first < p.count) { let from = row * p.count + at - p.first; v = ${rawLoad('x', 'from', bytes)}; } else { keep = true; }`,
    { keeps: true },
  );
  return launchElements(program, [from, to], [first, count, whole], y);
}

const all = numericDTypes;

export const kernels: GpuKernels = {
  Fill: {
    dtypes: all,
    lower: alwaysFits(({ outputs: [y], attrs }) => lowered(fill(0, y, attrs.value as number))),
  },
  Iota: {
    dtypes: ['float32', 'int32'],
    lower: alwaysFits(({ outputs: [y], attrs }) => {
      const start = attrs.start as number;
      const delta = attrs.delta as number;
      const end = start + delta * y.size;
      // The contract computes in float64, which is as good as whole numbers that float32 holds.
      const most = y.dtype === 'int32' ? 2 ** 31 - 1 : 2 ** 24;
      const whole = Number.isInteger(start) && Number.isInteger(delta);
      if (!whole || Math.max(Math.abs(start), Math.abs(delta), Math.abs(end)) > most) return undefined;
      if (y.dtype !== 'int32' && y.dtype !== 'float32') return undefined;
      const value = 'p.start + i32(e) * p.delta';
      const program = perElement(
        4,
        {},
        { start: 'i32', delta: 'i32' },
        `v = bitcast<u32>(${y.dtype === 'int32' ? value : `f32(${value})`});`,
      );
      return lowered(launchElements(program, [0], [start, delta], y));
    }),
  },
  Copy: { dtypes: all, lower: alwaysFits(({ inputs: [x] }) => lowered(copy(0, 1, x))) },
  Bitcast: {
    dtypes: all,
    // As bytes, which need not be whole words.
    lower: alwaysFits(({ inputs: [x] }) => {
      const bytes = x.size * bytesOf(x.dtype);
      return lowered(copy(0, 1, { dtype: 'uint8', shape: [bytes], size: bytes }));
    }),
  },
  Transpose: {
    dtypes: all,
    lower: alwaysFits(({ inputs: [x], outputs: [y], attrs }) => {
      const strides = stridesOf(x.shape);
      const steps = list(attrs.perm).map((axis) => strides[axis]);
      return lowered(take(0, 1, y, y.shape, steps));
    }),
  },
  Reverse: {
    dtypes: all,
    lower: alwaysFits(({ inputs: [x], outputs: [y], attrs }) => {
      const axes = list(attrs.axes);
      const strides = stridesOf(x.shape);
      const steps = strides.map((step, axis) => (axes.includes(axis) ? -step : step));
      const base = axes.reduce((sum, axis) => sum + (x.shape[axis] - 1) * strides[axis], 0);
      return lowered(take(0, 1, y, y.shape, steps, base));
    }),
  },
  Slice: {
    dtypes: all,
    lower: alwaysFits(({ inputs: [x], outputs: [y], attrs }) => {
      const strides = stridesOf(x.shape);
      const begin = list(attrs.begin);
      const step = list(attrs.strides);
      const base = begin.reduce((sum, at, axis) => sum + at * strides[axis], 0);
      return lowered(
        take(
          0,
          1,
          y,
          y.shape,
          strides.map((s, axis) => s * step[axis]),
          base,
        ),
      );
    }),
  },
  SliceGrad: { dtypes: all, lower: alwaysFits(sliceGrad) },
  Tile: {
    dtypes: all,
    lower: alwaysFits(({ inputs: [x], outputs: [y] }) => {
      const strides = stridesOf(x.shape);
      // Each axis is the times that x is repeated, then x's own.
      const sizes = x.shape.flatMap((n, axis) => [y.shape[axis] / n, n]);
      return lowered(
        take(
          0,
          1,
          y,
          sizes,
          strides.flatMap((step) => [0, step]),
        ),
      );
    }),
  },
  Pad: { dtypes: all, lower: alwaysFits(pad) },
  MirrorPadGrad: { dtypes: [...floats, 'int32'], lower: alwaysFits(mirrorPadGrad) },
  Concat: { dtypes: all, lower: alwaysFits(concat) },
};
