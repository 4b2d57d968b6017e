// Attention by tiles: the scores of 32 rows with 32 others are made, used and forgotten. Of a sequence of tiles the forward kernel keeps the largest
// score and the sum of exponentials; the gradients know both from the forward kernel's log-sum-exp.

import type { DType } from '@eagre/backend';
import { dy, type Factor, key, query, type Side, value } from './attention-factors.ts';
import { cudaForms } from './cuda-forms.ts';
import { broadcastSteps, rawLoad } from './elements.ts';
import {
  alwaysFits,
  type Call,
  type Dispatch,
  type GpuKernels,
  type GpuProgram,
  groups,
  head,
  type Lowered,
  launch,
  lowered,
  perThread,
  programOf,
} from './kernel.ts';
import { floats, floatType, isFloat, ofFloats } from './scalar-program.ts';

/** Rows, others and depth of a tile; a thread makes 4 scores of a row, and 8 of the 64 columns of results. */
const TILE = 32;
const COLUMNS = 64;
const THREADS = 256;
/** The row of a factor in shared memory, of one more than it holds so that a column's elements lie in different banks. */
const PITCH = TILE + 1;

export const PARAMS = {
  batch: 'u32',
  heads: 'u32',
  queries: 'u32',
  keys: 'u32',
  width: 'u32',
  values: 'u32',
  timeFirst: 'u32',
  causal: 'u32',
  m0: 'u32',
  m1: 'u32',
  m2: 'u32',
  m3: 'u32',
  scale: 'f32',
} as const;

const FUNCTIONS = `
fn rowAt(timeFirst: u32, b: u32, heads: u32, h: u32, time: u32, i: u32) -> u32 {
  return select((b * heads + h) * time + i, (b * time + i) * heads + h, timeFirst != 0u);
}
fn isLowest(x: f32) -> bool { return bitcast<u32>(x) == 0xff800000u; }
`;

/** Where row `i` of a factor begins. */
const begin = ({ side, width }: Factor, i: string): string =>
  `rowAt(p.timeFirst, b, p.heads, h, p.${side}, ${i}) * p.${width}`;

/** Statements that add to `name`[0…3] the products of the thread's `row` of `left` with the others `column`, `column` + 8, … of `right`. */
function dots(name: string, left: Factor, right: Factor): string {
  const width = `p.${left.width}`;
  return `for (var deep = 0u; deep < ${width}; deep += ${TILE}u) {
    for (var i = t; i < ${TILE * TILE}u; i += ${THREADS}u) {
      let r = i / ${TILE}u; let x = i % ${TILE}u; var l = 0.0; var k = 0.0;
      if (deep + x < ${width}) {
        if (first + r < p.${left.side}) { l = ${left.buffer}[${begin(left, '(first + r)')} + deep + x]; }
        if (start + r < p.${right.side}) { k = ${right.buffer}[${begin(right, '(start + r)')} + deep + x]; }
      }
      tile[r * ${PITCH}u + x] = l; tile[${TILE * PITCH}u + r * ${PITCH}u + x] = k;
    }
    workgroupBarrier();
    for (var x = 0u; x < ${TILE}u; x++) {
      let l = tile[row * ${PITCH}u + x];
      for (var j = 0u; j < 4u; j++) { ${name}[j] = fma(l, tile[${TILE * PITCH}u + (column + 8u * j) * ${PITCH}u + x], ${name}[j]); }
    }
    workgroupBarrier();
  }`;
}

/** How a mask is read; undefined for one that kernels do not know. */
function maskText(dtype: DType | undefined): { readonly type: string; readonly text: string } | undefined {
  if (dtype === undefined) return { type: '', text: '' };
  const at = 'let at = b * p.m0 + h * p.m1 + q * p.m2 + k * p.m3;';
  if (isFloat(dtype)) return { type: floatType(dtype), text: `${at} score = score + mask[at];` };
  if (dtype !== 'bool') return undefined;
  return { type: 'u32', text: `${at} if (${rawLoad('mask', 'at', 1)} == 0u) { score = fNeg(fInf()); }` };
}

/** Statements that make `score` of products[j], that of query `q` and key `k`; −∞ where the query does not see the key. */
const scored = (mask: string): string => `var score = fNeg(fInf());
    if (q < p.queries && k < p.keys) { score = products[j] * p.scale; ${mask}
      if (p.causal != 0u && k > q) { score = fNeg(fInf()); } }`;

/** Statements that load the 64 columns from `side` on of the tile of others from `start` on. */
const loadOthers = (of: Factor): string => `for (var i = t; i < ${TILE * COLUMNS}u; i += ${THREADS}u) {
      let r = i / ${COLUMNS}u; let x = i % ${COLUMNS}u; var v = 0.0;
      if (start + r < p.${of.side} && side + x < p.${of.width}) { v = ${of.buffer}[${begin(of, '(start + r)')} + side + x]; }
      tile[r * ${COLUMNS}u + x] = v;
    }`;

/** Statements that add to `sums` the thread's row of weights times the columns that `loadOthers` has loaded. */
const ADD = `for (var k = 0u; k < ${TILE}u; k++) {
      let weight = weights[row * ${TILE}u + k];
      for (var j = 0u; j < 8u; j++) { sums[j] = fma(weight, tile[k * ${COLUMNS}u + column + 8u * j], sums[j]); }
    }
    workgroupBarrier();`;

/**
 * A kernel in which a workgroup makes 64 columns of 32 rows of `y`.
 * @param rows the factor whose rows those are.
 */
function tiled(
  buffers: Readonly<Record<string, string>>,
  rows: Side,
  width: 'width' | 'values',
  body: string,
): GpuProgram {
  return programOf(`${head(buffers, PARAMS)}
var<workgroup> tile: array<f32, ${2 * TILE * PITCH}>;
var<workgroup> weights: array<f32, ${TILE * TILE}>;
${FUNCTIONS}
@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) t: u32) {
  let number = group.y * all.x + group.x;
  let parts = max(1u, (p.${width} + ${COLUMNS - 1}u) / ${COLUMNS}u); let tiles = (p.${rows} + ${TILE - 1}u) / ${TILE}u;
  let side = (number % parts) * ${COLUMNS}u; let first = (number / parts % tiles) * ${TILE}u;
  let plane = number / parts / tiles; let h = plane % p.heads; let b = plane / p.heads;
  let row = t / 8u; let column = t % 8u;
  if (b < p.batch) { var sums: array<f32, 8>; ${body} }
}`);
}

/** Statements that store what `each` makes of `sums[j]`. */
const store = (of: Factor, each: string): string => `if (first + row < p.${of.side}) {
    for (var j = 0u; j < 8u; j++) {
      let c = side + column + 8u * j;
      if (c < p.${of.width}) { y[${begin(of, '(first + row)')} + c] = ${each}; }
    }
  }`;

function forwardProgram(dtype: DType, mask: { readonly type: string; readonly text: string }): GpuProgram {
  const y: Factor = { buffer: 'y', side: 'queries', width: 'values' };
  return tiled(
    {
      ...ofFloats(dtype, { query: 'f32', key: 'f32', value: 'f32' }),
      ...(mask.type === '' ? {} : { mask: mask.type }),
      ...ofFloats(dtype, { y: 'mut f32' }),
      lse: 'mut f32',
    },
    'queries',
    'values',
    `var top = fNeg(fInf()); var total = 0.0;
    var last = p.keys;
    if (p.causal != 0u) { last = min(last, first + ${TILE}u); }
    for (var start = 0u; start < last; start += ${TILE}u) {
      var products: array<f32, 4>;
      for (var j = 0u; j < 4u; j++) { products[j] = 0.0; }
      ${dots('products', query, key)}
      for (var j = 0u; j < 4u; j++) { let q = first + row; let k = start + column + 8u * j; ${scored(mask.text)}
        products[j] = score; weights[row * ${TILE}u + column + 8u * j] = score; }
      workgroupBarrier();
      var now = top;
      for (var k = 0u; k < ${TILE}u; k++) { now = fMax(now, weights[row * ${TILE}u + k]); }
      workgroupBarrier();
      for (var j = 0u; j < 4u; j++) { var weight = 0.0;
        if (!isLowest(now)) { weight = fExp(products[j] - now); }
        weights[row * ${TILE}u + column + 8u * j] = weight; }
      ${loadOthers(value)}
      workgroupBarrier();
      var kept = 0.0;
      if (!isLowest(top)) { kept = fExp(top - now); }
      total = total * kept; top = now;
      for (var j = 0u; j < 8u; j++) { sums[j] = sums[j] * kept; }
      for (var k = 0u; k < ${TILE}u; k++) { total = total + weights[row * ${TILE}u + k]; }
      ${ADD}
    }
    if (side == 0u && column == 0u && first + row < p.queries) { lse[plane * p.queries + first + row] = top + fLog(total); }
    ${store(y, 'select(fDiv(sums[j], total), 0.0, isLowest(top))')}`,
  );
}

/** What a gradient is the product of: the weights, or the slopes of the scores, with rows of the other side. */
interface GradientSides {
  readonly rows: Factor;
  readonly others: Factor;
  readonly isSlope: boolean;
}

function gradientProgram(
  dtype: DType,
  mask: { readonly type: string; readonly text: string },
  { rows, others, isSlope }: GradientSides,
): GpuProgram {
  const byQuery = rows.side === 'queries';
  const pair = (of: readonly [Factor, Factor]): [Factor, Factor] =>
    byQuery ? [of[0], of[1]] : [of[1], of[0]];
  const places = byQuery
    ? 'let q = first + row; let k = start + column + 8u * j;'
    : 'let k = first + row; let q = start + column + 8u * j;';
  const buffers: Record<string, string> = {
    ...ofFloats(dtype, {
      dy: 'f32',
      query: 'f32',
      key: 'f32',
      ...(isSlope ? { value: 'f32' } : {}),
    }),
    lse: 'f32',
    ...(isSlope ? { delta: 'f32' } : {}),
    ...(mask.type === '' ? {} : { mask: mask.type }),
    ...ofFloats(dtype, { y: 'mut f32' }),
  };
  return tiled(
    buffers,
    rows.side,
    rows.width,
    `var from = 0u; var last = p.${others.side};
    if (p.causal != 0u) { ${byQuery ? `last = min(last, first + ${TILE}u);` : 'from = first;'} }
    for (var start = from; start < last; start += ${TILE}u) {
      var products: array<f32, 4>; var slopes: array<f32, 4>;
      for (var j = 0u; j < 4u; j++) { products[j] = 0.0; slopes[j] = 0.0; }
      ${dots('products', ...pair([query, key]))}
      ${isSlope ? dots('slopes', ...pair([dy, value])) : ''}
      for (var j = 0u; j < 4u; j++) { ${places} ${scored(mask.text)} var weight = 0.0;
        if (!isLowest(score)) { let at = plane * p.queries + q; weight = fExp(score - lse[at]);
          ${isSlope ? 'weight = p.scale * weight * (slopes[j] - delta[at]);' : ''} }
        weights[row * ${TILE}u + column + 8u * j] = weight; }
      ${loadOthers(others)}
      workgroupBarrier();
      ${ADD}
    }
    ${store(rows, 'sums[j]')}`,
  );
}

/** What all kernels of a call know. */
export function paramsOf(
  { inputs, attrs }: Pick<Call, 'inputs' | 'attrs'>,
  at: number,
  maskShape: readonly number[] | undefined,
): number[] {
  const [q, k, v] = inputs.slice(at);
  const timeFirst = Boolean(attrs.timeFirst);
  const [time, heads] = timeFirst ? [1, 2] : [2, 1];
  const shape = [q.shape[0], q.shape[heads], q.shape[time], k.shape[time]];
  const steps = maskShape === undefined ? [0, 0, 0, 0] : broadcastSteps(maskShape, shape);
  const flags = [timeFirst, Boolean(attrs.causal)].map(Number);
  return [...shape, q.shape[3], v.shape[3], ...flags, ...steps, attrs.scale as number];
}

function dispatchOf(
  program: GpuProgram,
  operands: readonly number[],
  params: readonly number[],
  rows: number,
  width: number,
): Dispatch {
  const tiles = Math.ceil(rows / TILE) * Math.max(1, Math.ceil(width / COLUMNS));
  return { program, operands, params, workgroups: groups(params[0] * params[1] * tiles) };
}

function attention(call: Call): Lowered | undefined {
  const { inputs } = call;
  const mask = maskText(inputs[3]?.dtype);
  if (mask === undefined) return undefined;
  const params = paramsOf(call, 0, inputs[3]?.shape);
  const operands = Array.from({ length: inputs.length + 2 }, (_, i) => i);
  const named = { query: 0, key: 1, value: 2, ...(inputs.length > 3 ? { mask: 3 } : {}) };
  const cuda = cudaForms()?.attention(
    inputs[0].dtype,
    inputs[3]?.dtype,
    ['result'],
    { ...named, y: inputs.length, lse: inputs.length + 1 },
    params,
  );
  const dispatch = dispatchOf(forwardProgram(inputs[0].dtype, mask), operands, params, params[2], params[5]);
  return { ...lowered(dispatch), cuda };
}

function attentionGrad(call: Call): Lowered | undefined {
  const { inputs, outputs } = call;
  const [, , , , , lse, masking] = inputs;
  const mask = maskText(masking?.dtype);
  if (mask === undefined) return undefined;
  const params = paramsOf(call, 1, masking?.shape);
  const [batch, heads, queries, , , values, timeFirst] = params;
  const masks = masking === undefined ? [] : [6];
  const output = inputs.length;
  const delta = output + outputs.length;
  // Σ dy · y of each query.
  const deltas = perThread(
    { ...ofFloats(inputs[0].dtype, { dy: 'f32', y: 'f32' }), delta: 'mut f32' },
    { heads: 'u32', queries: 'u32', values: 'u32', timeFirst: 'u32' },
    `let i = thread % p.queries; let plane = thread / p.queries;
    var from = thread * p.values;
    if (p.timeFirst != 0u) { from = ((plane / p.heads * p.queries + i) * p.heads + plane % p.heads) * p.values; }
    var sum = 0.0; for (var c = 0u; c < p.values; c++) { sum = fma(dy[from + c], y[from + c], sum); }
    delta[thread] = sum;`,
  );
  const sides: readonly GradientSides[] = [
    { rows: query, others: key, isSlope: true },
    { rows: key, others: query, isSlope: true },
    { rows: value, others: dy, isSlope: false },
  ];
  const dispatches: Dispatch[] = [];
  if (lse.size > 0)
    dispatches.push(
      launch(deltas, [0, 4, delta], [heads, queries, values, timeFirst], batch * heads * queries),
    );
  sides.forEach((of, i) => {
    if (outputs[i].size === 0) return;
    const known = of.isSlope ? [0, 1, 2, 3, 5, delta] : [0, 1, 2, 5];
    const rows = of.rows.side === 'queries' ? params[2] : params[3];
    const width = of.rows.width === 'width' ? params[4] : params[5];
    const used = [...known, ...masks, output + i];
    dispatches.push(dispatchOf(gradientProgram(inputs[0].dtype, mask, of), used, params, rows, width));
  });
  const cuda = cudaForms()?.attention(
    inputs[0].dtype,
    masking?.dtype,
    ['queryGradient', 'keyGradients'],
    {
      dy: 0,
      query: 1,
      key: 2,
      value: 3,
      y: 4,
      lse: 5,
      ...(masking === undefined ? {} : { mask: 6 }),
      dquery: output,
      dkey: output + 1,
      dvalue: output + 2,
      delta,
    },
    params,
  );
  return { dispatches, scratch: [Math.max(4, 4 * lse.size)], cuda };
}

export const kernels: GpuKernels = {
  ScaledDotProductAttention: { dtypes: floats, lower: alwaysFits(attention) },
  ScaledDotProductAttentionGrad: { dtypes: floats, lower: alwaysFits(attentionGrad) },
};
