// Kernels of indices. An index out of range is noted, and counts as none.
import { type NumericDType, numericDTypes, product, stridesOf } from '@eagre/backend';
import { fields, launchElements, perElement, rawLoad, rawType } from './elements.ts';
import {
  alwaysFits,
  bytesOf,
  type Call,
  type Dispatch,
  FAULT,
  fits,
  type GpuKernels,
  type Lowered,
  launch,
  lowered,
  nothing,
  perThread,
  raise,
  type TensorInfo,
} from './kernel.ts';
import { copy, fill, rawParam, wordsOf } from './moves.ts';
import { binary, bufferType } from './scalar-program.ts';
import { sorted } from './top-k.ts';

/** Statements that declare `name`, an index as a word that is out of every range where it is negative or has more than 32 bits. */
export function indexLoad(name: string, buffer: string, at: string, dtype: string): string {
  if (dtype === 'int32') return `let ${name} = bitcast<u32>(${buffer}[${at}]);`;
  return `let ${name}w = ${buffer}[${at}]; let ${name} = select(0xffffffffu, ${name}w.x, ${name}w.y == 0u);`;
}

/** The type of a buffer of indices; undefined for dtypes that no kernel takes here. */
export function indexType(dtype: string): 'i32' | 'vec2u' | undefined {
  return dtype === 'int32' ? 'i32' : dtype === 'int64' ? 'vec2u' : undefined;
}

interface Planes {
  /** Leading axes, those of a plane's batch, the gathered one, the rest, and indices of each batch. */
  readonly outer: number;
  readonly n: number;
  readonly inner: number;
  readonly count: number;
  readonly planes: number;
}

function planesOf(params: TensorInfo, indices: TensorInfo, axis: number, batchDims: number): Planes {
  return {
    outer: product(params.shape.slice(batchDims, axis)),
    planes: product(params.shape.slice(0, axis)),
    n: params.shape[axis],
    inner: product(params.shape.slice(axis + 1)),
    count: product(indices.shape.slice(batchDims)),
  };
}

function gather({ inputs: [x, indices], outputs: [y], attrs }: Call): Lowered | undefined {
  const type = indexType(indices.dtype);
  if (type === undefined || !fits(x, indices, y)) return undefined;
  // Of no elements only the indices' range counts.
  if (y.size === 0) return indices.size === 0 ? nothing : undefined;
  const { outer, n, inner, count } = planesOf(x, indices, attrs.axis as number, attrs.batchDims as number);
  const bytes = bytesOf(x.dtype);
  const program = perElement(
    bytes,
    { x: rawType(bytes), indices: type },
    { outer: 'u32', n: 'u32', inner: 'u32', count: 'u32' },
    `let k = e % p.inner; let row = e / p.inner; let i = row % p.count; let plane = row / p.count;
    ${indexLoad('index', 'indices', '(plane / p.outer) * p.count + i', indices.dtype)}
    if (index < p.n) { let from = (plane * p.n + index) * p.inner + k; v = ${rawLoad('x', 'from', bytes)}; } else { ${raise(1)} }`,
    { after: { fault: 'mut atomic<u32>' } },
  );
  return lowered(launchElements(program, [0, 1, 2, FAULT], [outer, n, inner, count], y));
}

/** What an update makes of an element, by mode. */
function updated(type: string, mode: number): string {
  if (mode === 0) return 'x[from]';
  const op = (['add', 'sub', 'max', 'min'] as const)[mode - 1];
  return binary(op, type as 'f32' | 'i32')('y[to]', 'x[from]');
}

/** Up to so many indices, a thread goes through all of them. */
const FEW = 32;

/**
 * Slices are added in the order of the indices. Where there are many, these are sorted, and a thread adds those of a run of equal ones, for a column.
 */
function gatherGrad({ inputs: [dy, indices], outputs: [dx], attrs }: Call): Lowered | undefined {
  const type = indexType(indices.dtype);
  if (type === undefined || !fits(dy, indices, dx)) return undefined;
  const { outer, planes, n, inner, count } = planesOf(
    dx,
    indices,
    attrs.axis as number,
    attrs.batchDims as number,
  );
  if (dx.size === 0 || dy.size === 0)
    return indices.size === 0 && dx.size > 0 ? lowered(fill(2, dx, 0)) : undefined;
  const elements = dx.dtype === 'float32' ? 'f32' : 'i32';
  const params = { outer: 'u32', n: 'u32', inner: 'u32', count: 'u32' } as const;
  const numbers = [outer, n, inner, count];
  const add = binary('add', elements);
  if (count <= FEW) {
    const program = perThread(
      { x: elements, indices: type, y: `mut ${elements}`, fault: 'mut atomic<u32>' },
      params,
      `let k = thread % p.inner; let plane = thread / p.inner; let first = (plane / p.outer) * p.count;
      for (var i = 0u; i < p.count; i++) {
        ${indexLoad('index', 'indices', 'first + i', indices.dtype)}
        if (index < p.n) { let to = (plane * p.n + index) * p.inner + k; let from = (plane * p.count + i) * p.inner + k; y[to] = ${updated(elements, 1)}; }
        else { ${raise(1)} }
      }`,
    );
    return lowered(fill(2, dx, 0), launch(program, [0, 1, 2, FAULT], numbers, planes * inner));
  }
  const scratch = [4 * indices.size];
  const order = sorted(
    1,
    3,
    indices.dtype as NumericDType,
    { rows: indices.size / count, n: count, k: count },
    false,
    (bytes) => 2 + scratch.push(bytes),
  );
  if (order === undefined) return undefined;
  const load = (k: number): string =>
    `let x${k} = x[(plane * p.count + places[first + q${k === 0 ? '' : ` + ${k}u`}]) * p.inner + k];`;
  const use = (k: number): string => `sum = ${add('sum', `x${k}`)};`;
  const many = [0, 1, 2, 3, 4, 5, 6, 7];
  const next = (name: string): string =>
    indexLoad(name, 'indices', 'first + places[first + end + step - 1u]', indices.dtype);
  const program = perThread(
    { x: elements, indices: type, places: 'u32', y: `mut ${elements}`, fault: 'mut atomic<u32>' },
    params,
    `let k = thread % p.inner; let rest = thread / p.inner; let j = rest % p.count; let plane = rest / p.count; let first = (plane / p.outer) * p.count;
    ${indexLoad('index', 'indices', 'first + places[first + j]', indices.dtype)}
    var isFirst = true;
    if (j > 0u) { ${indexLoad('before', 'indices', 'first + places[first + j - 1u]', indices.dtype)} isFirst = before != index; }
    if (index >= p.n) { ${raise(1)} }
    else if (isFirst) {
      var end = j + 1u; var step = 1u;
      for (; end + step <= p.count; step = step * 2u) { ${next('later')} if (later != index) { break; } end += step; }
      for (; step > 0u; step = step / 2u) { if (end + step <= p.count) { ${next('near')} if (near == index) { end += step; } } }
      var sum: ${elements} = 0${elements === 'f32' ? '.0' : ''};
      for (var q = j; q < end; ) {
        if (q + ${many.length - 1}u < end) { ${many.map(load).join(' ')} ${many.map(use).join(' ')} q += ${many.length}u; }
        else { ${load(0)} ${use(0)} q += 1u; }
      }
      y[(plane * p.n + index) * p.inner + k] = sum;
    }`,
  );
  return {
    dispatches: [fill(2, dx, 0), ...order, launch(program, [0, 1, 3, 2, FAULT], numbers, dy.size)],
    scratch,
  };
}

/** Statements after which `place` is where the slice of the tuple `i` begins, and `valid` says whether it is in range. */
const tuple = (depth: number, dtype: string): string =>
  `var place = 0u; var valid = true;\n${Array.from(
    { length: depth },
    (_, k) =>
      `${indexLoad(`t${k}`, 'indices', `i * ${depth}u + ${k}u`, dtype)} valid = valid && t${k} < p.n${k}; place = place + t${k} * p.s${k};`,
  ).join('\n')}`;

const tupleFields = (depth: number): Record<string, 'u32'> => ({
  inner: 'u32',
  ...fields('n', depth, 'u32'),
  ...fields('s', depth, 'u32'),
});

function tupleParams(whole: TensorInfo, depth: number): number[] {
  const inner = product(whole.shape.slice(depth));
  return [inner, ...whole.shape.slice(0, depth), ...stridesOf(whole.shape).slice(0, depth)];
}

function gatherNd({ inputs: [x, indices], outputs: [y] }: Call): Lowered | undefined {
  const type = indexType(indices.dtype);
  if (type === undefined || !fits(x, indices, y)) return undefined;
  if (y.size === 0) return indices.size === 0 ? nothing : undefined;
  const depth = indices.shape[indices.shape.length - 1];
  const bytes = bytesOf(x.dtype);
  if (depth === 0) return undefined;
  const program = perElement(
    bytes,
    { x: rawType(bytes), indices: type },
    tupleFields(depth),
    `let i = e / p.inner; let k = e % p.inner; ${tuple(depth, indices.dtype)}
    if (valid) { let from = place + k; v = ${rawLoad('x', 'from', bytes)}; } else { ${raise(1)} }`,
    { after: { fault: 'mut atomic<u32>' } },
  );
  return lowered(launchElements(program, [0, 1, 2, FAULT], tupleParams(x, depth), y));
}

/** The type of elements that are changed in place; undefined for those that are no words, or that this mode cannot compute with. */
function inPlaceType(dtype: NumericDType, mode: number): string | undefined {
  if (dtype === 'float32' || dtype === 'int32') return bufferType(dtype);
  return mode === 0 && bytesOf(dtype) >= 4 ? rawType(bytesOf(dtype)) : undefined;
}

/** A copy of the base where y is not its memory. */
function start(same: boolean, from: number, to: number, tensor: TensorInfo): Dispatch[] {
  return same ? [] : [copy(from, to, tensor)];
}

/** A thread for each place within the slices puts the updates in, one after the other. */
function scatterNd({ inputs: [base, indices, x], outputs: [y], attrs, same }: Call): Lowered | undefined {
  const mode = attrs.mode as number;
  const elements = inPlaceType(y.dtype as NumericDType, mode);
  const type = indexType(indices.dtype);
  const depth = indices.shape[indices.shape.length - 1];
  if (elements === undefined || type === undefined || depth === 0 || !fits(base, indices, x, y))
    return undefined;
  const first = start(same(0, 3), 0, 3, base);
  if (indices.size === 0) return y.size === 0 ? nothing : lowered(...first);
  const params = tupleParams(base, depth);
  const [inner] = params;
  if (inner === 0 || y.size === 0) return undefined;
  const program = perThread(
    { indices: type, x: elements, y: `mut ${elements}`, fault: 'mut atomic<u32>' },
    { tuples: 'u32', ...tupleFields(depth) },
    `for (var i = 0u; i < p.tuples; i++) { ${tuple(depth, indices.dtype)}
      if (valid) { let to = place + thread; let from = i * p.inner + thread; y[to] = ${updated(elements, mode)}; } else { ${raise(1)} } }`,
  );
  return lowered(...first, launch(program, [1, 2, 3, FAULT], [indices.size / depth, ...params], inner));
}

function setRow({ inputs: [x, index, row], outputs: [y], attrs, same }: Call): Lowered | undefined {
  const mode = attrs.mode as number;
  const elements = inPlaceType(y.dtype as NumericDType, mode);
  const type = indexType(index.dtype);
  if (elements === undefined || type === undefined || !fits(x, y) || row.size === 0) return undefined;
  const program = perThread(
    { indices: type, x: elements, y: `mut ${elements}`, fault: 'mut atomic<u32>' },
    { n: 'u32', inner: 'u32' },
    `${indexLoad('at', 'indices', '0u', index.dtype)} let from = thread; let to = at * p.inner + thread;
    if (at < p.n) { y[to] = ${updated(elements, mode)}; } else { ${raise(1)} }`,
  );
  return lowered(
    ...start(same(0, 3), 0, 3, x),
    launch(program, [1, 2, 3, FAULT], [x.shape[0], row.size], row.size),
  );
}

function oneHot({ inputs: [indices], outputs: [y], attrs }: Call): Lowered {
  const axis = attrs.axis as number;
  const bytes = bytesOf(y.dtype);
  // Undefined for indices of few bits.
  const wide = indexType(indices.dtype);
  const load =
    wide === undefined
      ? `let index = ${rawLoad('indices', 'at', 1)};`
      : indexLoad('index', 'indices', 'at', indices.dtype);
  const program = perElement(
    bytes,
    { indices: wide ?? 'u32' },
    { depth: 'u32', inner: 'u32', on0: 'u32', on1: 'u32', off0: 'u32', off1: 'u32' },
    `let k = e % p.inner; let rest = e / p.inner; let at = (rest / p.depth) * p.inner + k; ${load}
    if (index == rest % p.depth) { v = ${rawParam('on', bytes)}; } else { v = ${rawParam('off', bytes)}; }`,
  );
  const dtype = y.dtype as NumericDType;
  const params = [
    y.shape[axis],
    product(y.shape.slice(axis + 1)),
    ...wordsOf(attrs.on as number, dtype),
    ...wordsOf(attrs.off as number, dtype),
  ];
  return lowered(launchElements(program, [0, 1], params, y));
}

export const kernels: GpuKernels = {
  Gather: { dtypes: numericDTypes, lower: gather },
  GatherGrad: { dtypes: ['float32', 'int32'], lower: gatherGrad },
  GatherNd: { dtypes: numericDTypes, lower: gatherNd },
  ScatterNd: { dtypes: numericDTypes.filter((d) => bytesOf(d) >= 4), lower: scatterNd },
  SetRow: { dtypes: numericDTypes.filter((d) => bytesOf(d) >= 4), lower: setRow },
  OneHot: { dtypes: ['int32', 'int64', 'uint8'], lower: alwaysFits(oneHot) },
};
