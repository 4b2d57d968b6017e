// Attention on the tensor cores of NVIDIA, by tiles whose scores are never in memory. A workgroup has 64 or 128 rows, a warp 16 or 32 of them, in registers; the others
// pass in tiles through shared memory, where the next tile arrives while one is used. One kernel makes the result, one the gradient of queries, and one those of keys and values.

import type { DType } from '@eagre/backend';
import type { Factor } from '../kernels/attention-factors.ts';
import type { CudaProgram } from '../kernels/kernel.ts';
import {
  type CoreAttention,
  FACTORS,
  hasMany,
  placeOf,
  pointersOf,
  rowsIn,
  stepFunctions,
  stepsOf,
} from './attention-steps.ts';
import { type CoreDType, coreProgram, kernelText, lanesOf } from './tensor-cores.ts';

const THREADS = 128;
/** Bytes of a row; wider heads do not fit into the registers. */
const MOST_ROW = 256;
/** Bytes of shared memory that a kernel may declare, less those of what it knows of queries. */
const MOST_SHARED = 47 * 1024;
/** Bytes of a row of which a warp holds 32 in registers. */
const MOST_OF_TWO = 128;
/** Whether tensor cores serve attention of this. */
export function isCoreAttention(
  dtype: DType,
  mask: DType | undefined,
  [width, values]: readonly [number, number],
  [queries, keys]: readonly [number, number],
): dtype is CoreAttention['dtype'] {
  return (
    (dtype === 'float32' || dtype === 'float16' || dtype === 'bfloat16') &&
    (mask === undefined || mask === 'bool' || mask === dtype) &&
    (Math.max(width, values) * 16) / lanesOf(dtype) <= MOST_ROW &&
    Math.min(width, values, queries, keys) >= 16
  );
}

/** Whether so much is in registers that a warp which makes gradients holds no more than 16 rows. */
function isWide(dtype: CoreDType, widths: readonly [number, number]): boolean {
  return (Math.max(...widths) * 16) / lanesOf(dtype) > MOST_OF_TWO;
}

/** Rows of a workgroup, of so many rows in each plane. What is read from shared memory meets twice as many where a warp has 32 of them. */
export function coreRows(
  { dtype, makes, width, values, mask }: Omit<CoreAttention, 'rows'>,
  planes: number,
  rows: number,
  capability: number,
): 64 | 128 {
  // Places in a mask take registers too; from 10.0 on the compiler has too few for the gradients of keys and values.
  if (!hasMany(planes, rows) || mask !== undefined || (makes === 'keyGradients' && capability >= 100))
    return 64;
  return makes === 'result' || !isWide(dtype, [width, values]) ? 128 : 64;
}

/** @param params of the kernels of attention, type by name. */
export function coreAttention(
  attention: CoreAttention,
  params: Readonly<Record<string, 'u32' | 'f32'>>,
): CudaProgram {
  const key = JSON.stringify(attention);
  return coreProgram(key, THREADS, () => {
    const pointers = pointersOf(attention);
    return {
      print: (name) => text(name, attention, params, pointers),
      pointers,
      params: Object.values(params),
      isTensorFloat32: attention.dtype === 'float32',
    };
  });
}

/**
 * The functions that copy a tile to shared memory and load fragments from it. Rows there are a chunk longer, so that a column's lie in different banks. An
 * instruction takes two chunks of a row: 16 numbers of 16 bits, or 8 of float32, which are rounded to TensorFloat-32. M is how many times 16 rows a warp has.
 */
const FUNCTIONS = (dtype: CoreDType, aligned: boolean): string => {
  const lanes = lanesOf(dtype);
  return `template <int Rows, int Width> __device__ __forceinline__ void fetch(tc_chunk* tile, const Element* from, u32 base, u32 step, u32 width, u32 first, u32 count) {
  constexpr u32 chunks = Width / ${lanes}, across = chunks <= 2 ? 2 : chunks <= 4 ? 4 : chunks <= 8 ? 8 : 16, lines = ${THREADS} / across;
  const u32 chunk = threadIdx.x % across, line = threadIdx.x / across;
  if (chunk >= chunks) return;
  const Element* at = from + size_t(base + (first + line) * step) * width + chunk * ${lanes}u;
  const size_t next = size_t(lines * step) * width;
  tc_chunk* to = tile + line * (chunks + 1u) + chunk;
  TC_UNROLLED for (u32 j = 0; j < (Rows + lines - 1u) / lines; j++) {
    if (Rows % lines != 0u && line >= Rows) break;
    const bool inside = first + line + j * lines < count && chunk * ${lanes}u < width;
    ${
      aligned
        ? 'tc_copy16(to, inside ? at : from, inside);'
        : `__align__(16) Element part[${lanes}];
    TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++) part[e] = inside && chunk * ${lanes}u + e < width ? at[e] : Element(0);
    tc_store16(to, part);`
    }
    at += next; to += lines * (chunks + 1u);
  }
}
// A piece of 16 bytes of a row.
template <int Width> __device__ __forceinline__ const tc_chunk* shared(const tc_chunk* tile, u32 row, u32 chunk) {
  return &tile[row * (Width / ${lanes} + 1) + chunk];
}
__device__ __forceinline__ void load4(u32 (&r)[4], const void* row) {
  tc_load4(r, row);
  ${dtype === 'float32' ? 'TC_UNROLLED for (u32 i = 0; i < 4; i++) r[i] = tc_tf32(wg_bitcast<f32>(r[i]));' : ''}
}
// The rows of a warp, as a left factor.
template <int M, int Width> __device__ __forceinline__ void load_rows(u32 (&r)[M][Width / ${2 * lanes}][4], const tc_chunk* tile) {
  const u32 lane = threadIdx.x % 32u, row = threadIdx.x / 32u * 16u * M + lane % 16u;
  TC_UNROLLED for (u32 m = 0; m < M; m++)
    TC_UNROLLED for (u32 k = 0; k < Width / ${2 * lanes}; k++) load4(r[m][k], shared<Width>(tile, m * 16u + row, k * 2u + lane / 16u));
}
// Adds the products of a warp's rows with those of a tile.
template <int M, int Others, int Width> __device__ __forceinline__ void products(f32 (&c)[M][Others / 8][4], const u32 (&rows)[M][Width / ${2 * lanes}][4], const tc_chunk* tile) {
  const u32 lane = threadIdx.x % 32u;
  const tc_chunk* at = shared<Width>(tile, lane / 16u * 8u + lane % 8u, lane / 8u % 2u);
  TC_UNROLLED for (u32 k = 0; k < Width / ${2 * lanes}; k++)
    TC_UNROLLED for (u32 n = 0; n < Others / 16; n++) {
      u32 b[4];
      load4(b, shared<Width>(at, n * 16u, k * 2u));
      TC_UNROLLED for (u32 m = 0; m < M; m++) {
        MMA(c[m][2 * n], rows[m][k], b[0], b[1]);
        MMA(c[m][2 * n + 1], rows[m][k], b[2], b[3]);
      }
    }
}
${dtype === 'float32' ? ADD_WORDS : ADD_HALVES(dtype)}
`;
};

// Adds rows of weights times the rows of a tile.
const ADD_HALVES = (
  dtype: CoreDType,
): string => `template <int M, int Others, int Width> __device__ __forceinline__ void add(f32 (&sums)[M][Width / 8][4], const f32 (&weights)[M][Others / 8][4], const tc_chunk* tile) {
  const u32 lane = threadIdx.x % 32u;
  const tc_chunk* at = shared<Width>(tile, lane % 16u, lane / 16u);
  TC_UNROLLED for (u32 k = 0; k < Others / 16; k++) {
    u32 a[M][4];
    TC_UNROLLED for (u32 m = 0; m < M; m++)
      TC_UNROLLED for (u32 i = 0; i < 4; i++) a[m][i] = tc_pack_${dtype}(weights[m][2 * k + i / 2][i % 2 * 2], weights[m][2 * k + i / 2][i % 2 * 2 + 1]);
    TC_UNROLLED for (u32 n = 0; n < Width / 16; n++) {
      u32 b[4];
      tc_load4_transposed(b, shared<Width>(at, k * 16u, n * 2u));
      TC_UNROLLED for (u32 m = 0; m < M; m++) {
        MMA(sums[m][2 * n], a[m], b[0], b[1]);
        MMA(sums[m][2 * n + 1], a[m], b[2], b[3]);
      }
    }
  }
}`;

// The same of words. A thread has the weights of two columns beside each other, where the instruction wants them four apart: the rows are taken in that order.
const ADD_WORDS = `template <int M, int Others, int Width> __device__ __forceinline__ void add(f32 (&sums)[M][Width / 8][4], const f32 (&weights)[M][Others / 8][4], const tc_chunk* tile) {
  const u32 lane = threadIdx.x % 32u;
  TC_UNROLLED for (u32 k = 0; k < Others / 8; k++) {
    u32 a[M][4];
    TC_UNROLLED for (u32 m = 0; m < M; m++)
      TC_UNROLLED for (u32 i = 0; i < 4; i++) a[m][i] = tc_tf32(weights[m][k][i % 2 * 2 + i / 2]);
    const f32* row = (const f32*)shared<Width>(tile, k * 8u + lane % 4u * 2u, 0) + lane / 4u;
    TC_UNROLLED for (u32 n = 0; n < Width / 8; n++) {
      const u32 b[2] = {tc_tf32(row[n * 8u]), tc_tf32(row[n * 8u + Width + 4])};
      TC_UNROLLED for (u32 m = 0; m < M; m++) MMA(sums[m][n], a[m], b[0], b[1]);
    }
  }
}`;

function text(
  name: string,
  attention: CoreAttention,
  params: Readonly<Record<string, 'u32' | 'f32'>>,
  pointers: readonly string[],
): string {
  const { dtype, makes, aligned, rows } = attention;
  const {
    rows: held,
    others: [first, second],
  } = FACTORS[makes];
  const lanes = lanesOf(dtype);
  const widthOf = (factor: Factor): number => attention[factor.width];
  const chunksOf = (factor: Factor, count: number): number => count * (widthOf(factor) / lanes + 1);
  const m = rows / 64;
  // Rows of a tile of the others, and how many of them are used at once: the scores of more do not fit into the registers beside the rows.
  const tile = isWide(dtype, [attention.width, attention.values]) ? 32 : 64;
  const part = { result: tile === 32 && rows === 128 ? 16 : tile, queryGradient: 32, keyGradients: 16 }[
    makes
  ];
  const steps = stepsOf(attention, m, part);
  const { forEach } = steps;
  const stage = chunksOf(first, tile) + chunksOf(second, tile);
  // The rows come through the same memory, where there is more of it while the first tile comes.
  const ofRows = held.reduce((sum, factor) => sum + chunksOf(factor, rows), 0);
  const isBeside = (stage + ofRows) * 16 <= MOST_SHARED;
  const startsOfRows = held.map((_, i) => (isBeside ? stage : 0) + (i === 0 ? 0 : chunksOf(held[0], rows)));
  const ends = held.map((factor, i) => startsOfRows[i] + chunksOf(factor, rows));
  const byQuery = held[0].side === 'queries';
  const fetch = (factor: Factor, to: string, from: string, count: number): string =>
    `fetch<${count}, ${widthOf(factor)}>(${to}, ${factor.buffer}, ${rowsIn(attention, factor.buffer, factor.side).join(', ')}, p.${factor.width}, ${from}, p.${factor.side});`;
  const fetchTile = (place: string, start: string): string => `{
    tc_chunk* const to = tile + ${place} * ${stage}u; const u32 first = ${start};
    ${fetch(first, 'to', 'first', tile)}
    ${fetch(second, `to + ${chunksOf(first, tile)}`, 'first', tile)}
    ${
      byQuery
        ? ''
        : `if (t < ${2 * tile}u) {
      const u32 q = first + t % ${tile}u; const bool inside = q < p.queries;
      tc_copy4(&known[${place}][t / ${tile}u][t % ${tile}u], (t < ${tile}u ? lse : delta) + (inside ? plane * p.queries + q : 0u), inside);
    }`
    }
    tc_commit();
  }`;
  const rowsOf = held.map((factor, i) => ({
    fetch: fetch(factor, `tile + ${startsOfRows[i]}`, 'top', rows),
    load: `u32 rows${i}[${m}][${widthOf(factor) / (2 * lanes)}][4]; load_rows<${m}, ${widthOf(factor)}>(rows${i}, tile + ${startsOfRows[i]});`,
  }));
  const fetchRows = rowsOf.map((each) => each.fetch).join(' ');
  const loadRows = rowsOf.map((each) => each.load).join('\n  ');
  const isUnseen = byQuery ? `start > warpTop + ${16 * m - 1}u` : `start + ${part - 1}u < warpTop`;
  const scores = `f32 scores[${m}][${part / 8}][4] = {};
      products<${m}, ${part}, ${widthOf(first)}>(scores, rows0, ofFirst);`;
  const slopes = `f32 slopes[${m}][${part / 8}][4];
      ${forEach(`slopes[m][n][i] = -${steps.mean};`)}
      products<${m}, ${part}, ${widthOf(second)}>(slopes, rows1, ofSecond);`;
  const addTo = (sums: string, weights: string, factor: Factor): string =>
    `add<${m}, ${part}, ${widthOf(factor)}>(${sums}, ${weights}, ${factor === first ? 'ofFirst' : 'ofSecond'});`;
  const body = {
    result: `${scores}
      ${steps.masked}
      ${steps.newHighest}
      ${steps.keep('sums', widthOf(second))}
      ${forEach(`scores[m][n][i] = ${steps.power}; total[m][i / 2u] += scores[m][n][i];`)}
      ${addTo('sums', 'scores', second)}`,
    queryGradient: `${scores}
      ${slopes}
      ${steps.masked}
      ${forEach(`scores[m][n][i] = ${steps.power} * slopes[m][n][i];`)}
      ${addTo('sums', 'scores', first)}`,
    keyGradients: `${steps.meanOfColumns}
      ${scores}
      ${slopes}
      ${steps.baseOfColumns}
      ${steps.masked}
      ${forEach(`scores[m][n][i] = ${steps.power}; slopes[m][n][i] *= scores[m][n][i];`)}
      ${addTo('ofValues', 'scores', second)}
      ${addTo('sums', 'slopes', first)}`,
  }[makes];
  const prepared = {
    // The largest score is that of the largest product.
    result: `if (p.scale < 0.0f)
    TC_UNROLLED for (u32 m = 0; m < ${m}; m++)
      TC_UNROLLED for (u32 k = 0; k < ${attention.width / (2 * lanes)}; k++)
        TC_UNROLLED for (u32 i = 0; i < 4; i++) rows0[m][k][i] ^= ${dtype === 'float32' ? '0x80000000u' : '0x80008000u'};
  f32 highest[${m}][2], total[${m}][2] = {};
  TC_UNROLLED for (u32 m = 0; m < ${m}; m++) highest[m][0] = highest[m][1] = lowest();`,
    queryGradient: steps.prepareRows,
    keyGradients: `f32 ofValues[${m}][${attention.values / 8}][4] = {};`,
  }[makes];
  const made = makes === 'result' ? second : first;
  return kernelText(
    name,
    dtype,
    params,
    `#define MMA tc_mma_${dtype}\n${FUNCTIONS(dtype, aligned)}${stepFunctions(dtype, aligned)}`,
    // Without the number of blocks the compiler spills registers for more of them.
    `__launch_bounds__(${THREADS}, 1) ${name}(${pointers.join(', ')}, const Params p)`,
    `  __shared__ tc_chunk tile[${Math.max(2 * stage, ...ends)}];
  ${byQuery ? '' : `__shared__ f32 known[2][2][${tile}];`}
  const u32 t = threadIdx.x, lane = t % 32u, warp = t / 32u;
  ${placeOf(attention)}
  const u32 warpTop = top + warp * ${16 * m}u;
  const f32 scale = ${makes === 'result' ? 'fabsf(p.scale)' : 'p.scale'};
  ${isBeside ? `if (from < last) ${fetchTile('0u', 'from')}` : ''}
  ${fetchRows}
  tc_commit(); tc_wait<0>(); __syncthreads();
  ${loadRows}
  ${isBeside ? '' : `__syncthreads();\n  if (from < last) ${fetchTile('0u', 'from')}`}
  ${prepared}
  f32 sums[${m}][${widthOf(made) / 8}][4] = {};
  for (u32 begin = from; begin < last; begin += ${tile}u) {
    const u32 stage = (begin - from) / ${tile}u % 2u;
    tc_wait<0>(); __syncthreads();
    if (begin + ${tile}u < last) ${fetchTile('(stage ^ 1u)', `begin + ${tile}u`)}
    const tc_chunk* const here = tile + stage * ${stage}u;
    TC_UNROLLED for (u32 part = 0; part < ${tile}u; part += ${part}u) {
      const u32 start = begin + part;
      if (start >= last || (p.causal != 0u && ${isUnseen})) continue;
      const tc_chunk* const ofFirst = shared<${widthOf(first)}>(here, part, 0);
      const tc_chunk* const ofSecond = shared<${widthOf(second)}>(here + ${chunksOf(first, tile)}, part, 0);
      ${body}
    }
  }
  ${steps.stored}
#undef MMA
#undef LOG2E`,
  );
}
