// Reductions. A workgroup makes one output by a tree whose order depends on sizes only, or those of neighboring columns; where there is little to
// reduce, a thread does.
import {
  InvalidArgumentError,
  type KernelName,
  list,
  type NumericDType,
  product,
  stridesOf,
} from '@eagre/backend';
import {
  type Columns,
  columnLanes,
  columnReduction,
  columnType,
  columnValue,
  launchColumns,
  mergingOf,
  piecesOf,
} from './columns.ts';
import { fields, launchElements, mergeAxes, perElement, placeOf, rawLoad, takeApart } from './elements.ts';
import {
  alwaysFits,
  bytesOf,
  type Dispatch,
  type GpuKernel,
  type GpuKernels,
  type GpuProgram,
  groups,
  head,
  launch,
  lowered,
  perThread,
  programOf,
  type TensorInfo,
} from './kernel.ts';
import {
  type Binary,
  binary,
  bufferType,
  decode,
  float,
  floats,
  floatType,
  isFloat,
  literal,
} from './scalar-program.ts';

/** How two values of a reduction become one. */
export interface Reduction {
  readonly start: string;
  readonly combine: (a: string, b: string) => string;
}

function reductionOf(name: KernelName, dtype: NumericDType): Reduction | undefined {
  if (name === 'All') return { start: '1u', combine: (a, b) => `(${a} & ${b})` };
  if (name === 'Any') return { start: '0u', combine: (a, b) => `(${a} | ${b})` };
  if (!isFloat(dtype) && dtype !== 'int32') return undefined;
  const type = dtype === 'int32' ? 'i32' : 'f32';
  const from = (start: number, op: Binary): Reduction => ({
    start: literal(start, type === 'f32' ? 'float32' : 'int32'),
    combine: binary(op, type),
  });
  switch (name) {
    case 'Mean':
      return type === 'f32' ? from(0, 'add') : undefined;
    case 'Sum':
      return from(0, 'add');
    case 'Prod':
      return from(1, 'mul');
    case 'Max':
      return from(-Infinity, 'max');
    case 'Min':
      return from(Infinity, 'min');
    default:
      return undefined;
  }
}

const sum: Reduction = { start: '0.0', combine: binary('add', 'f32') };
/** The largest of floats. */
export const largest: Reduction = { start: float(-Infinity), combine: binary('max', 'f32') };

const GROUP = 256;

/** Statements after which `REDUCED` is the reduction of what each of the `ACROSS` threads of a row, `t` and on, has in `mine`. */
const treeOf = ({ combine }: Reduction): string =>
  `workgroupReduce(part, start, t, ACROSS, mine, ${combine('left', 'right')});`;
const REDUCED = 'workgroupResult(part, start)';

/** The entry point of kernels in which each workgroup makes one thing: its number is `row`, the thread's `t`. */
const groupEntry = (threads: number): string => `@compute @workgroup_size(${threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) t: u32) {
  let row = group.y * all.x + group.x;`;

/** The entry point of kernels in which `ACROSS` threads make one thing. Behind the last, they make nothing, but read what that needs. */
const SHARED_ENTRY = `@compute @workgroup_size(${GROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) index: u32) {
  let t = index % ACROSS; let start = index - t;
  let wanted = (group.y * all.x + group.x) * (${GROUP}u / ACROSS) + index / ACROSS; let isRow = wanted < p.rows;
  let row = min(wanted, p.rows - 1u);`;

/** Elements of a row whose loads a thread issues before it uses the first. */
const AT_ONCE = 4;

/** Statements for each i below n: the threads of a row share them. */
export function each(body: string): string {
  return `for (var i = t; i < count; i += ACROSS) { ${body} }`;
}

/**
 * Statements for each place of a row, several at once: `load` declares what place `i`k needs, and `use` does the work, which may see `many` of
 * them: k from 0 on.
 */
export function eachOf(
  load: (k: number) => string,
  use: (many: readonly number[]) => string,
  atOnce: number = AT_ONCE,
): string {
  const many = Array.from({ length: atOnce }, (_, k) => k);
  const loads = (some: readonly number[]): string =>
    some.map((k) => `let i${k} = i${k === 0 ? '' : ` + ${k}u * ACROSS`}; ${load(k)}`).join(' ');
  return `for (var i = t; i < count; ) {
    if (i + ${atOnce - 1}u * ACROSS < count) { ${loads(many)} ${use(many)} i += ${atOnce}u * ACROSS; }
    else { ${loads([0])} ${use([0])} i += ACROSS; }
  }`;
}

/** Statements after which `name` is the reduction of what the threads of a row have in `mine`. */
export function combined(name: string, reduction: Reduction = sum): string {
  return `${treeOf(reduction)} let ${name} = ${REDUCED}; workgroupBarrier();`;
}

/** Statements after which `name` is the sum, or another reduction, of an expression over i. */
export function total(name: string, of: string, reduction: Reduction = sum): string {
  return `mine = ${reduction.start}; ${each(`mine = ${reduction.combine('mine', of)};`)} ${combined(name, reduction)}`;
}

/** Statements for one thread of a row. */
export function once(body: string): string {
  return `if (t == 0u && isRow) { ${body} }`;
}

/** How many threads share a row of so many words. */
export function acrossRow(n: number): number {
  return Math.max(32, Math.min(GROUP, 2 ** Math.ceil(Math.log2(Math.max(1, n / 8)))));
}

/**
 * A kernel of floats in which `across` threads, a power of 2, do the work of a row, its number; `body` is made by the functions above. Workgroups of more
 * than 256 threads are for GPUs of NVIDIA.
 */
export function perRow(
  buffers: Readonly<Record<string, string>>,
  params: Readonly<Record<string, 'u32' | 'f32'>>,
  body: string,
  across: number = GROUP,
): GpuProgram {
  const entry =
    across < GROUP
      ? `${SHARED_ENTRY} let count = select(0u, p.n, isRow); var mine = 0.0; ${body}`
      : `${groupEntry(across)} if (row < p.rows) { let start = 0u; let isRow = true; let count = p.n; var mine = 0.0; ${body} }`;
  return programOf(`${head(buffers, { rows: 'u32', n: 'u32', ...params })}
const ACROSS: u32 = ${across}u;
var<workgroup> part: array<f32, ${Math.max(GROUP, across)}>;
${entry}
}`);
}

/** One dispatch of a program of `perRow`. */
export function launchRows(
  program: GpuProgram,
  operands: readonly number[],
  rows: number,
  n: number,
  across: number,
  params: readonly number[] = [],
): Dispatch {
  return {
    program,
    operands,
    params: [rows, n, ...params],
    workgroups: groups(Math.ceil((rows * across) / Math.max(GROUP, across))),
  };
}

interface Layout {
  /** What stays: sizes and steps in x. */
  readonly kept: readonly number[];
  readonly keptSteps: readonly number[];
  readonly reduced: readonly number[];
  readonly reducedSteps: readonly number[];
}

function layoutOf(shape: readonly number[], axes: readonly number[]): Layout {
  const strides = stridesOf(shape);
  const some = (reduced: boolean): [sizes: readonly number[], steps: readonly number[]] => {
    const picked = shape.flatMap((_, axis) => (axes.includes(axis) === reduced ? [axis] : []));
    const merged = mergeAxes(
      picked.map((axis) => shape[axis]),
      [picked.map((axis) => strides[axis])],
    );
    return [merged.sizes, merged.steps[0]];
  };
  const [kept, keptSteps] = some(false);
  const [reduced, reducedSteps] = some(true);
  return { kept, keptSteps, reduced, reducedSteps };
}

const layoutFields = (kept: number, reduced: number): Record<string, 'u32' | 'i32'> => ({
  ...fields('d', kept, 'u32'),
  ...fields('s', kept, 'i32'),
  ...fields('m', reduced, 'u32'),
  ...fields('q', reduced, 'i32'),
});

/** Statements that declare `base`, the place in x where output `from` begins; and the place of the element `r` of it, as `at`. */
const baseOf = (from: string, rank: number): string =>
  `${takeApart(from, rank)} let base = ${placeOf(rank, 'i', 's')};`;
const placeAt = (r: string, rank: number): string =>
  `${takeApart(r, rank, 'j', 'm')} let at = u32(${placeOf(rank, 'j', 'q', 'base')});`;

interface Plan {
  readonly dtype: NumericDType;
  readonly reduction: Reduction;
  readonly layout: Layout;
  /** What is stored, as an expression of the result `mine`. */
  readonly finish: string;
}

const element = (dtype: NumericDType): string =>
  isFloat(dtype) ? 'x[at]' : rawLoad('x', 'at', bytesOf(dtype));

/** The type of the elements of a reduction's input, as they are stored, and of what it computes with. */
const storedType = (dtype: NumericDType): string => (isFloat(dtype) ? floatType(dtype) : bufferType(dtype));
const valueTypeOf = (dtype: NumericDType): 'f32' | 'i32' | 'u32' =>
  isFloat(dtype) ? 'f32' : bufferType(dtype);

function threadProgram({ dtype, reduction, layout, finish }: Plan): GpuProgram {
  const { kept, reduced } = layout;
  const type = valueTypeOf(dtype);
  return perThread(
    { x: storedType(dtype), y: `mut ${storedType(dtype)}` },
    { count: 'u32', ...layoutFields(kept.length, reduced.length) },
    `${baseOf('thread', kept.length)} var mine: ${type} = ${reduction.start};
    for (var r = 0u; r < p.count; r++) { ${placeAt('r', reduced.length)} mine = ${reduction.combine('mine', element(dtype))}; }
    y[thread] = ${finish};`,
  );
}

/** `across` threads for each output and each of the `chunks` that what it reduces is cut into. */
function groupProgram(
  { dtype, reduction, layout, finish }: Plan,
  isLast: boolean,
  across: number,
): GpuProgram {
  const { kept, reduced } = layout;
  const type = valueTypeOf(dtype);
  return programOf(`${head(
    { x: storedType(dtype), y: `mut ${isLast ? storedType(dtype) : type}` },
    { rows: 'u32', count: 'u32', chunks: 'u32', chunk: 'u32', ...layoutFields(kept.length, reduced.length) },
  )}
const ACROSS: u32 = ${across}u;
var<workgroup> part: array<${type}, ${GROUP}>;
${SHARED_ENTRY}
  let output = row / p.chunks; let first = (row % p.chunks) * p.chunk; let last = min(first + p.chunk, p.count);
  ${baseOf('output', kept.length)} var mine: ${type} = ${reduction.start};
  for (var r = first + t; r < last; r += ACROSS) { ${placeAt('r', reduced.length)} mine = ${reduction.combine('mine', element(dtype))}; }
  ${treeOf(reduction)}
  if (t == 0u && isRow) { let mine = ${REDUCED}; y[row] = ${finish}; }
}`);
}

/** The tensor as columns, where one run of places is reduced and those behind it stay. */
function columnsOf({ kept, keptSteps, reduced, reducedSteps }: Layout): Columns | undefined {
  const last = kept.length - 1;
  if (reduced.length !== 1 || last < 0 || last > 1 || keptSteps[last] !== 1) return undefined;
  const [n] = reduced;
  const inner = kept[last];
  if (reducedSteps[0] !== inner || (last === 1 && keptSteps[0] !== n * inner)) return undefined;
  return { outer: last === 1 ? kept[0] : 1, n, inner };
}

/** A pass that reduces columns, of which `finish` is stored. */
function columnProgram(
  dtype: NumericDType,
  made: NumericDType,
  lanes: 1 | 2,
  reduction: Reduction,
  finish: (result: string) => string,
): GpuProgram {
  const all = Array.from({ length: lanes }, (_, lane) => lane);
  return columnReduction({
    type: valueTypeOf(dtype),
    buffers: {
      x: isFloat(dtype) ? columnType(dtype, lanes) : storedType(dtype),
      y: `mut ${storedType(made)}`,
    },
    states: all.map(() => reduction),
    load: (k) => `let x${k} = ${isFloat(dtype) ? `x[at${k}]` : rawLoad('x', `at${k}`, bytesOf(dtype))};`,
    use: (k) =>
      all
        .map(
          (lane) => `s${lane} = ${reduction.combine(`s${lane}`, columnValue(`x${k}`, lane, dtype, lanes))};`,
        )
        .join(' '),
    finish: all
      .map(
        (lane) =>
          `y[((plane * p.pieces + part) * p.inner + column) * ${lanes}u + ${lane}u] = ${finish(`s${lane}`)};`,
      )
      .join(' '),
  });
}

/** The dispatches of a reduction of columns. Pieces of them are reduced to numbers of 32 bits. */
function columnDispatches(
  x: number,
  y: number,
  dtype: NumericDType,
  { outer, n, inner }: Columns,
  reduction: Reduction,
  finish: (result: string) => string,
  extra: (bytes: number) => number,
): readonly Dispatch[] {
  const lanes = columnLanes(dtype, inner);
  const cut = piecesOf({ outer, n, inner: inner / lanes }, 'reduce');
  if (cut.pieces === 1)
    return [launchColumns(columnProgram(dtype, dtype, lanes, reduction, finish), [x, y], cut)];
  const exact = isFloat(dtype) ? 'float32' : dtype;
  // Bools, too, are words then.
  const word = exact === 'bool' ? 'uint32' : exact;
  const parts = extra(4 * outer * cut.pieces * inner);
  return [
    launchColumns(
      columnProgram(dtype, word, lanes, reduction, (result) => result),
      [x, parts],
      cut,
    ),
    launchColumns(
      columnProgram(word, dtype, 1, reduction, finish),
      [parts, y],
      mergingOf(outer, cut.pieces, inner),
    ),
  ];
}

/** Below so many elements, a thread reduces them alone. */
const FEW = 32;
/** Above, several workgroups share the work on an output. */
const MANY = 16384;

/**
 * The dispatches of a reduction of `x` over axes into `y`.
 * @param y its elements are words, also those of bools.
 * @param extra makes a temporary of so many bytes.
 */
export function reduceDispatches(
  name: KernelName,
  x: number,
  y: number,
  { dtype, shape, size }: TensorInfo,
  axes: readonly number[],
  extra: (bytes: number) => number,
): readonly Dispatch[] | undefined {
  const reduction = reductionOf(name, dtype as NumericDType);
  if (reduction === undefined) return undefined;
  const layout = layoutOf(shape, axes);
  const { kept, keptSteps, reduced, reducedSteps } = layout;
  const outputs = product(kept);
  const count = product(axes.map((axis) => shape[axis]));
  const params = [...kept, ...keptSteps, ...reduced, ...reducedSteps];
  const mean = (result: string): string => (name === 'Mean' ? `fDiv(${result}, ${float(count)})` : result);
  const plan = (finish: string): Plan => ({ dtype: dtype as NumericDType, reduction, layout, finish });
  if (count < FEW || size === 0)
    return [launch(threadProgram(plan(mean('mine'))), [x, y], [count, ...params], outputs)];
  const columns = columnsOf(layout);
  if (columns !== undefined)
    return columnDispatches(x, y, dtype as NumericDType, columns, reduction, mean, extra);
  const chunks = count > MANY && outputs < 64 ? Math.min(GROUP, Math.ceil(count / 4096)) : 1;
  const chunk = Math.ceil(count / chunks);
  const rows = outputs * chunks;
  const across = acrossRow(chunk);
  const program = groupProgram(plan(chunks === 1 ? mean('mine') : 'mine'), chunks === 1, across);
  const to = chunks === 1 ? y : extra(4 * rows);
  const dispatches: Dispatch[] = [
    {
      program,
      operands: [x, to],
      params: [rows, count, chunks, chunk, ...params],
      workgroups: groups(Math.ceil((rows * across) / GROUP)),
    },
  ];
  if (chunks > 1) {
    const type = valueTypeOf(dtype as NumericDType);
    const again = perThread(
      { x: type, y: `mut ${storedType(dtype as NumericDType)}` },
      { chunks: 'u32' },
      `var mine: ${type} = ${reduction.start};
      for (var r = 0u; r < p.chunks; r++) { mine = ${reduction.combine('mine', 'x[thread * p.chunks + r]')}; }
      y[thread] = ${mean('mine')};`,
    );
    dispatches.push(launch(again, [to, y], [chunks], outputs));
  }
  return dispatches;
}

/** Puts words that are 0 or 1 into bytes. */
export function packBools(words: number, y: number, tensor: TensorInfo): Dispatch {
  return launchElements(perElement(1, { x: 'u32' }, {}, 'v = x[e];'), [words, y], [], tensor);
}

function reduce(name: KernelName): GpuKernel['lower'] {
  return alwaysFits(({ inputs: [x], outputs: [y], attrs }) => {
    const scratch: number[] = [];
    const extra = (bytes: number): number => 1 + scratch.push(bytes);
    const isBool = y.dtype === 'bool';
    const to = isBool ? extra(4 * y.size) : 1;
    const dispatches = reduceDispatches(name, 0, to, x, list(attrs.axes), extra);
    if (dispatches === undefined) return undefined;
    return { dispatches: isBool ? [...dispatches, packBools(to, 1, y)] : dispatches, scratch };
  });
}

function argExtreme(name: 'ArgMax' | 'ArgMin'): GpuKernel['lower'] {
  return alwaysFits(({ inputs: [x], outputs: [y], attrs }) => {
    const axis = attrs.axis as number;
    const count = x.shape[axis];
    if (count === 0) throw new InvalidArgumentError(`axis ${axis} of shape [${x.shape}] is empty`, name);
    const inner = product(x.shape.slice(axis + 1));
    const wide = bytesOf(y.dtype) === 8;
    const dtype = x.dtype as NumericDType;
    const isReal = isFloat(dtype);
    const value = isReal ? 'x[at]' : decode(rawLoad('x', 'at', bytesOf(dtype)), dtype);
    const type = isReal ? 'f32' : 'i32';
    const asNumber = dtype === 'bool' ? `select(0, 1, ${value})` : value;
    const sign = name === 'ArgMax' ? '>' : '<';
    // NaN is passed over.
    const start = literal(name === 'ArgMax' ? -Infinity : Infinity, type === 'f32' ? 'float32' : 'int32');
    const program = perThread(
      { x: storedType(dtype), y: wide ? 'mut vec2u' : 'mut u32' },
      { count: 'u32', inner: 'u32' },
      `let base = (thread / p.inner) * p.count * p.inner + thread % p.inner; var best = 0u; var most: ${type} = ${start};
      for (var r = 0u; r < p.count; r++) { let at = base + r * p.inner; let now: ${type} = ${asNumber};
        if (now ${sign} most) { best = r; most = now; } }
      y[thread] = ${wide ? 'vec2u(best, 0u)' : 'best'};`,
    );
    return lowered(launch(program, [0, 1], [count, inner], y.size));
  });
}

const numbers: readonly NumericDType[] = [...floats, 'int32'];

export const kernels: GpuKernels = {
  Sum: { dtypes: numbers, lower: reduce('Sum') },
  Mean: { dtypes: floats, lower: reduce('Mean') },
  Prod: { dtypes: numbers, lower: reduce('Prod') },
  Max: { dtypes: numbers, lower: reduce('Max') },
  Min: { dtypes: numbers, lower: reduce('Min') },
  All: { dtypes: ['bool'], lower: reduce('All') },
  Any: { dtypes: ['bool'], lower: reduce('Any') },
  ArgMax: { dtypes: [...numbers, 'bool'], lower: argExtreme('ArgMax') },
  ArgMin: { dtypes: [...numbers, 'bool'], lower: argExtreme('ArgMin') },
};
