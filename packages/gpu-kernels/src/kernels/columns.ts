// Passes over columns: x is [outer, n, inner], and what belongs to a place along the last axis is a column. Threads that are neighbors have
// neighboring columns, and each keeps its own while it goes down the rows, so that what belongs to a column is read once.
import { type DType, isHalf } from '@eagre/backend';
import { narrowFunctions } from '../language/syntax.ts';
import { type Dispatch, type GpuProgram, groups, head, programOf } from './kernel.ts';
import { floatType } from './scalar-program.ts';

/** Threads of a workgroup. */
export const GROUP = 256;
/** Rows whose loads a thread issues before it uses the first. */
const AT_ONCE = 4;
/** Rows of a thread, if there are enough: of reductions, and of passes that store each. */
const ROWS = { reduce: 16, apply: 8 } as const;
/** Above so many workgroups, columns that are reduced are not cut into more pieces. */
const MOST_GROUPS = 1024;

/** A tensor as [outer, n, inner]. */
export interface Columns {
  readonly outer: number;
  readonly n: number;
  readonly inner: number;
}

/** How many elements a thread takes at once: both floats of a word where rows are whole words. */
export function columnLanes(dtype: DType, inner: number): 1 | 2 {
  return isHalf(dtype) && inner % 2 === 0 ? 2 : 1;
}

/** The type of a buffer of floats that a thread reads so. */
export function columnType(dtype: DType, lanes: 1 | 2): string {
  return lanes === 2 ? 'u32' : floatType(dtype);
}

/** The float of a lane of `name`, what a thread has loaded of a buffer of `columnType`. */
export function columnValue(name: string, lane: number, dtype: DType, lanes: 1 | 2): string {
  if (lanes === 1 || !isHalf(dtype)) return name;
  return `${narrowFunctions[dtype].load}(${lane === 0 ? `${name} & 0xffffu` : `${name} >> 16u`})`;
}

/** What is stored for the floats of a thread. */
export function columnStore(values: readonly string[], dtype: DType): string {
  if (values.length === 1 || !isHalf(dtype)) return values[0];
  const { store } = narrowFunctions[dtype];
  return `${store}(${values[0]}) | (${store}(${values[1]}) << 16u)`;
}

/** The work of a pass over columns, as text. Statements see `column`, `plane`, the row as `r`k and the place of its word as `at`k. */
export interface Pass {
  readonly buffers: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, 'u32' | 'i32' | 'f32'>>;
  /** Statements before the first row. */
  readonly setUp?: string;
  /** Statements that load what row k needs. */
  readonly load: (k: number) => string;
  /** Statements that use it. */
  readonly use: (k: number) => string;
}

export const columnFields = {
  blocks: 'u32',
  n: 'u32',
  inner: 'u32',
  shift: 'u32',
  pieces: 'u32',
  piece: 'u32',
} as const;

/** The entry point of a pass: `body` sees what a workgroup and a thread have of the columns. */
export const columnEntry = (body: string): string => `@compute @workgroup_size(${GROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) t: u32) {
  let block = group.y * all.x + group.x;
  if (block < p.blocks) {
    let width = 1u << p.shift; let across = (p.inner + width - 1u) >> p.shift; let down = ${GROUP}u >> p.shift;
    let column = (block % across) * width + (t & (width - 1u)); let rest = block / across;
    let part = rest % p.pieces; let plane = rest / p.pieces;
    let first = part * p.piece; let last = min(first + p.piece, p.n); let isInside = column < p.inner;
    let origin = plane * p.n * p.inner + column;
    ${body}
  }
}`;

/** Statements by which a thread goes down the rows of its column from `first` to `last`. @param at the place of row k */
export function columnRows(
  { setUp = '', load, use }: Pick<Pass, 'setUp' | 'load' | 'use'>,
  first = 'first',
  last = 'last',
  at: (row: string) => string = (row) => `origin + ${row} * p.inner`,
): string {
  const many = Array.from({ length: AT_ONCE }, (_, k) => k);
  const placed = (k: number): string =>
    `let r${k} = r${k === 0 ? '' : ` + ${k}u * down`}; let at${k} = ${at(`r${k}`)};`;
  return `if (isInside) {
    ${setUp}
    var r = ${first} + (t >> p.shift);
    for (; r + ${AT_ONCE - 1}u * down < ${last}; r += ${AT_ONCE}u * down) {
      ${many.map(placed).join(' ')}
      ${many.map(load).join(' ')}
      ${many.map(use).join('\n')}
    }
    for (; r < ${last}; r += down) { ${placed(0)} ${load(0)} ${use(0)} }
  }`;
}

/** A reduction of columns: `use` changes the variables `s`k, which threads with the same column then combine. */
export interface ColumnReduction extends Pass {
  readonly type: 'f32' | 'i32' | 'u32';
  /** Of each `s`k: what it is at first, and how two become one. */
  readonly states: readonly { readonly start: string; readonly combine: (a: string, b: string) => string }[];
  /** Statements of one thread of a column, on the results `s`k. */
  readonly finish: string;
}

type States = Pick<ColumnReduction, 'type' | 'states'>;

const eachState = ({ states }: States, text: (k: number) => string): string =>
  states.map((_, k) => text(k)).join(' ');

/** Memory that the threads of a workgroup combine the variables in. */
export const columnMemory = (of: States): string =>
  eachState(of, (k) => `var<workgroup> part${k}: array<${of.type}, ${GROUP}>;`);

/** Statements that combine the variables of threads with the same column, and run `finish` with the results in one of them. */
export function columnResults(of: States, finish: string): string {
  const all = (text: (k: number) => string): string => eachState(of, text);
  const { states } = of;
  return `${all((k) => `part${k}[t] = s${k};`)}
    workgroupBarrier();
    for (var half = ${GROUP / 2}u; half >= width; half = half / 2u) {
      if (t < half) { ${all((k) => `part${k}[t] = ${states[k].combine(`part${k}[t]`, `part${k}[t + half]`)};`)} }
      workgroupBarrier();
    }
    if (t < width && isInside) { ${all((k) => `s${k} = part${k}[t];`)} ${finish} }`;
}

export function columnReduction(pass: ColumnReduction): GpuProgram {
  const { buffers, params = {}, type, states, finish } = pass;
  return programOf(`${head(buffers, { ...columnFields, ...params })}
${columnMemory(pass)}
${columnEntry(`${eachState(pass, (k) => `var s${k}: ${type} = ${states[k].start};`)}
    ${columnRows(pass)}
    ${columnResults(pass, finish)}`)}`);
}

/** A pass in which `use` stores what it makes of each row. */
export function columnPass(pass: Pass): GpuProgram {
  return programOf(
    `${head(pass.buffers, { ...columnFields, ...pass.params })}\n${columnEntry(columnRows(pass))}`,
  );
}

/** How many pieces the rows are cut into, and rows of a piece; `inner` counts words. */
export interface Pieces {
  readonly columns: Columns;
  readonly shift: number;
  readonly pieces: number;
  readonly piece: number;
}

/** @param most the width of a workgroup, in columns. */
export function piecesOf(columns: Columns, kind: 'reduce' | 'apply', most = 32): Pieces {
  const { outer, n, inner } = columns;
  const shift = Math.min(Math.log2(most), Math.ceil(Math.log2(Math.max(1, inner))));
  const blocks = outer * Math.ceil(inner / 2 ** shift);
  const wanted = Math.ceil(n / ((GROUP >> shift) * ROWS[kind]));
  const bound = kind === 'apply' ? wanted : Math.floor(MOST_GROUPS / blocks);
  const piece = Math.ceil(n / Math.max(1, Math.min(wanted, bound)));
  return { columns, shift, pieces: Math.max(1, Math.ceil(n / Math.max(1, piece))), piece };
}

/** What merges pieces: few columns in a workgroup, so that many threads share a column's pieces. */
export function mergingOf(outer: number, n: number, inner: number): Pieces {
  const shift = Math.min(3, Math.ceil(Math.log2(Math.max(1, inner))));
  return { columns: { outer, n, inner }, shift, pieces: 1, piece: n };
}

/** One dispatch of a pass over columns. */
export function launchColumns(
  program: GpuProgram,
  operands: readonly number[],
  { columns: { outer, n, inner }, shift, pieces, piece }: Pieces,
  params: readonly number[] = [],
): Dispatch {
  const blocks = outer * pieces * Math.ceil(inner / 2 ** shift);
  return {
    program,
    operands,
    params: [blocks, n, inner, shift, pieces, piece, ...params],
    workgroups: groups(blocks),
  };
}
