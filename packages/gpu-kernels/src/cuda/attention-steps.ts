// What kernels of attention for tensor cores have in common: their buffers, and what a warp does with scores, slopes and sums that lie in its registers.

import type { DType } from '@eagre/backend';
import { dy, type Factor, key, query, value } from '../kernels/attention-factors.ts';
import { type CoreDType, elementOf, lanesOf } from './tensor-cores.ts';

/** What attention makes on tensor cores. */
export interface CoreAttention {
  readonly dtype: CoreDType;
  /** The buffers of each: see `CORE_BUFFERS`. The gradient of queries also makes `delta`, Σ dy · y of each query, which those of keys take. */
  readonly makes: 'result' | 'queryGradient' | 'keyGradients';
  /** The widths, filled up to multiples of 16. */
  readonly width: number;
  readonly values: number;
  /** Whether rows begin at multiples of 16 bytes. */
  readonly aligned: boolean;
  readonly mask: DType | undefined;
  /** Whether query, key and value lie beside each other in one tensor [b, t, 3, h, d], and whether their gradients do. */
  readonly packed: { readonly inputs: boolean; readonly gradients: boolean };
  /** Rows of a workgroup. */
  readonly rows: 64 | 128;
}

/** The buffers of the kernels, in order; `mask` is left out where there is none. */
export const CORE_BUFFERS = {
  result: ['query', 'key', 'value', 'mask', 'y', 'lse'],
  queryGradient: ['dy', 'query', 'key', 'value', 'y', 'lse', 'mask', 'delta', 'dquery'],
  keyGradients: ['dy', 'query', 'key', 'value', 'lse', 'delta', 'mask', 'dkey', 'dvalue'],
} as const;
const WRITTEN: Readonly<Record<CoreAttention['makes'], readonly string[]>> = {
  result: ['y', 'lse'],
  queryGradient: ['delta', 'dquery'],
  keyGradients: ['dkey', 'dvalue'],
};

/** The declarations of the buffers of a kernel. */
export function pointersOf({ dtype, makes, mask }: CoreAttention): readonly string[] {
  return CORE_BUFFERS[makes]
    .filter((name) => name !== 'mask' || mask !== undefined)
    .map((name) => {
      const isSum = name === 'lse' || name === 'delta';
      const type = isSum ? 'f32' : name === 'mask' && mask === 'bool' ? 'unsigned char' : elementOf(dtype);
      return `${WRITTEN[makes].includes(name) ? '' : 'const '}${type}* ${name}`;
    });
}

/** The rows of a kernel, and the others that pass. The products of the first ones are scores, those of the second ones what weights' slopes are made of. */
export const FACTORS: Readonly<
  Record<
    CoreAttention['makes'],
    { readonly rows: readonly Factor[]; readonly others: readonly [Factor, Factor] }
  >
> = {
  result: { rows: [query], others: [key, value] },
  queryGradient: { rows: [query, dy], others: [key, value] },
  keyGradients: { rows: [key, value], others: [query, dy] },
};

/** Where row 0 of a plane of a buffer is, and how far apart its rows are, counted in rows. */
export function rowsIn(
  { packed }: Pick<CoreAttention, 'packed'>,
  buffer: string,
  side: Factor['side'],
): readonly [base: string, step: string] {
  const place = ['query', 'key', 'value'].indexOf(buffer.replace(/^d(?=query|key|value)/, ''));
  const isPacked = place >= 0 && (buffer.startsWith('d') ? packed.gradients : packed.inputs);
  if (!isPacked) return [`${side}Base`, 'step'];
  return [`(b * p.${side} * packedStep + h + ${place}u * p.heads)`, 'packedStep'];
}

/** Fewer workgroups of 128 rows leave multiprocessors idle. */
const MANY_WORKGROUPS = 120;

/** Whether so many rows of each plane make enough workgroups of 128 of them. */
export function hasMany(planes: number, rows: number): boolean {
  return rows > 64 && planes * Math.ceil(rows / 128) >= MANY_WORKGROUPS;
}

/** Functions that the statements of `stepsOf` call. */
export const stepFunctions = (
  dtype: CoreDType,
  aligned: boolean,
): string => `#define LOG2E 1.4426950408889634f
__device__ __forceinline__ f32 lowest() { return wg_bitcast<f32>(0xff800000u); }
__device__ __forceinline__ f32 finite(f32 x) { return x == lowest() ? 0.0f : x; }
// Two columns beside each other of a row that begins there.
__device__ __forceinline__ void store2(Element* row, u32 column, u32 width, f32 a, f32 b) {
  ${
    aligned && dtype !== 'float32'
      ? `if (column < width) *(u32*)(row + column) = tc_pack_${dtype}(a, b);`
      : `if (column < width) row[column] = narrowed(a);
  if (column + 1u < width) row[column + 1u] = narrowed(b);`
  }
}`;

/** Which workgroup makes what, as statements that begin a kernel; they need `lane`. */
export const placeOf = ({ makes, rows, packed }: CoreAttention): string => {
  const [{ side }] = FACTORS[makes].rows;
  return `// Those with the most to do begin: the last rows of queries, the first ones of keys.
  const u32 number = blockIdx.y * gridDim.x + blockIdx.x, planes = p.batch * p.heads, tiles = (p.${side} + ${rows - 1}u) / ${rows}u;
  if (number >= planes * tiles) return;
  const u32 plane = number % planes, h = plane % p.heads, b = plane / p.heads;
  const u32 top = ${side === 'queries' ? '(tiles - 1u - number / planes)' : 'number / planes'} * ${rows}u;
  const bool apart = p.timeFirst != 0u;
  const u32 step = apart ? p.heads : 1u;
  const u32 queriesBase = apart ? b * p.queries * p.heads + h : plane * p.queries;
  const u32 keysBase = apart ? b * p.keys * p.heads + h : plane * p.keys;
  ${packed.inputs || packed.gradients ? 'const u32 packedStep = 3u * p.heads;' : ''}
  // The others that are seen.
  ${
    side === 'queries'
      ? `const u32 from = 0u, last = p.causal != 0u ? wg_min(p.keys, top + ${rows}u) : p.keys;`
      : 'const u32 from = p.causal != 0u ? top : 0u, last = p.queries;'
  }`;
};

/**
 * Statements of a warp that has `m` times 16 rows from `warpTop` on, and meets `part` others from `start` on. What belongs to both lies in `[m][n][i]`: in column
 * `n * 8 + lane % 4 * 2 + i % 2` of row `m * 16 + i / 2 * 8 + lane / 4`.
 * @param slack by how much a score may be above `highest` before that is another.
 * @param edges conditions that may change, beside those that the statements know, under which scores are looked at one by one.
 */
export function stepsOf(
  attention: CoreAttention,
  m: number,
  part: number,
  edges: readonly string[] = [],
  slack = 0,
): {
  /** `body` for each place. */
  readonly forEach: (body: string) => string;
  /** Scores, as they are multiplied by `unit`; `scale` is what they are to be multiplied by. */
  readonly masked: string;
  /** The weight of the score at a place, of which `base` is known. */
  readonly power: string;
  /** The largest score of each row until now, or one that is not much less, `highest`, with the `base` of its weights, and how much is `kept` of what was summed up before. */
  readonly newHighest: string;
  /** Sums of which no more than that is kept. */
  readonly keep: (sums: string, width: number) => string;
  /** What is known of the rows of queries, or of those of a tile of queries. */
  readonly prepareRows: string;
  readonly baseOfColumns: string;
  readonly meanOfColumns: string;
  /** `mean` at a place. */
  readonly mean: string;
  /** Stores the results. */
  readonly stored: string;
} {
  const { dtype, makes, mask, aligned } = attention;
  const lanes = lanesOf(dtype);
  const byQuery = makes !== 'keyGradients';
  const forRows = (body: string): string => `TC_UNROLLED for (u32 m = 0; m < ${m}; m++)
    TC_UNROLLED for (u32 half = 0; half < 2; half++) {
      const u32 row = warpTop + m * 16u + half * 8u + lane / 4u;
      ${body}
    }`;
  const forEach = (body: string): string => `TC_UNROLLED for (u32 m = 0; m < ${m}; m++)
        TC_UNROLLED for (u32 n = 0; n < ${part / 8}; n++)
          TC_UNROLLED for (u32 i = 0; i < 4; i++) { ${body} }`;
  const forColumns = (body: string): string => `TC_UNROLLED for (u32 n = 0; n < ${part / 8}; n++)
        TC_UNROLLED for (u32 e = 0; e < 2; e++) { const u32 q = part + n * 8u + lane % 4u * 2u + e; ${body} }`;
  const ofScore = byQuery ? '[m][i / 2u]' : '[n][i % 2u]';
  const widthOf = (factor: Factor): number => attention[factor.width];
  // Other tiles are seen whole. Queries that are not there are zeros, as are the sums that are known of them.
  const isEdge = [
    ...(mask === undefined ? [] : ['true']),
    ...edges,
    ...(byQuery ? [`start + ${part}u > p.keys`] : []),
    `(p.causal != 0u && ${byQuery ? `start + ${part - 1}u > warpTop` : `start < warpTop + ${16 * m - 1}u`})`,
  ].join(' || ');
  // A mask of finite numbers may make scores so low that they overflow in the units of exp2.
  const baseOf = (x: string): string => (mask === undefined ? `finite(${x}) * LOG2E` : `finite(${x})`);
  const store = (buffer: string, of: Factor, sums: string, times: string): string => {
    const [base, step] = rowsIn(attention, buffer, of.side);
    return forRows(`if (row < p.${of.side}) {
        const f32 times = ${times};
        Element* const at = ${buffer} + size_t(${base} + row * ${step}) * p.${of.width};
        TC_UNROLLED for (u32 n = 0; n < ${widthOf(of) / 8}; n++)
          store2(at, n * 8u + lane % 4u * 2u, p.${of.width}, ${sums}[m][n][half * 2u] * times, ${sums}[m][n][half * 2u + 1u] * times);
      }`);
  };
  return {
    forEach,
    masked: `f32 unit = scale;
      if (${isEdge}) {
        unit = 1.0f;
        ${forEach(`
            const u32 row = warpTop + m * 16u + i / 2u * 8u + lane / 4u, other = start + n * 8u + lane % 4u * 2u + i % 2u;
            const u32 q = ${byQuery ? 'row' : 'other'}, k = ${byQuery ? 'other' : 'row'};
            f32 score = lowest();
            if (q < p.queries && k < p.keys && (p.causal == 0u || k <= q)) {
              score = scores[m][n][i] * scale;
              ${mask === undefined ? '' : `const size_t at = b * p.m0 + h * p.m1 + q * p.m2 + k * p.m3; ${mask === 'bool' ? 'if (mask[at] == 0) score = lowest();' : 'score += widened(mask[at]);'}`}
            }
            scores[m][n][i] = score;`)}
      }`,
    power:
      mask === undefined
        ? `tc_exp2(fmaf(scores[m][n][i], unit * LOG2E, -base${ofScore}))`
        : `tc_exp2((scores[m][n][i] - base${ofScore}) * LOG2E)`,
    newHighest: `f32 base[${m}][2], kept[${m}][2];
      ${forRows(`(void)row; f32 now = lowest();
      TC_UNROLLED for (u32 n = 0; n < ${part / 8}; n++) now = fmaxf(now, fmaxf(scores[m][n][half * 2u], scores[m][n][half * 2u + 1u]));
      now = fmaxf(now, tc_shuffle(now, 1u));
      now = ${slack === 0 ? 'fmaxf(highest[m][half], fmaxf(now, tc_shuffle(now, 2u)) * unit)' : 'fmaxf(now, tc_shuffle(now, 2u)) * unit'};
      ${slack === 0 ? '' : `if (!(now > highest[m][half] + ${slack}.0f)) now = highest[m][half];`}
      kept[m][half] = tc_exp2((highest[m][half] - finite(now)) * LOG2E);
      highest[m][half] = now; total[m][half] *= kept[m][half]; base[m][half] = ${baseOf('now')};`)}`,
    keep: (sums, width) => `TC_UNROLLED for (u32 m = 0; m < ${m}; m++)
        TC_UNROLLED for (u32 n = 0; n < ${width / 8}; n++)
          TC_UNROLLED for (u32 i = 0; i < 4; i++) ${sums}[m][n][i] *= kept[m][i / 2u];`,
    prepareRows: `f32 base[${m}][2], mean[${m}][2];
  ${forRows(`f32 sum = 0.0f, known = 0.0f;
      if (row < p.queries) {
        known = lse[plane * p.queries + row];
        const size_t at = size_t(queriesBase + row * step) * p.values;
        for (u32 c = lane % 4u * ${lanes}u; c < p.values; c += ${4 * lanes}u) {
          ${
            aligned
              ? `__align__(16) Element of_dy[${lanes}], of_y[${lanes}];
          *(tc_chunk*)of_dy = *(const tc_chunk*)(dy + at + c); *(tc_chunk*)of_y = *(const tc_chunk*)(y + at + c);
          TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++) sum = fmaf(widened(of_dy[e]), widened(of_y[e]), sum);`
              : `for (u32 e = c; e < wg_min(c + ${lanes}u, p.values); e++) sum = fmaf(widened(dy[at + e]), widened(y[at + e]), sum);`
          }
        }
      }
      sum += tc_shuffle(sum, 1u); sum += tc_shuffle(sum, 2u);
      base[m][half] = ${baseOf('known')}; mean[m][half] = sum;
      if (lane % 4u == 0u && row < p.queries) delta[plane * p.queries + row] = sum;`)}`,
    meanOfColumns: `f32 mean[${part / 8}][2];
      ${forColumns('mean[n][e] = known[stage][1][q];')}`,
    baseOfColumns: `f32 base[${part / 8}][2];
      ${forColumns(`base[n][e] = ${baseOf('known[stage][0][q]')};`)}`,
    mean: `mean${ofScore}`,
    stored: {
      result: `${forRows(`total[m][half] += tc_shuffle(total[m][half], 1u); total[m][half] += tc_shuffle(total[m][half], 2u);
      if (lane % 4u == 0u && row < p.queries) lse[plane * p.queries + row] = highest[m][half] + logf(total[m][half]);`)}
  ${store('y', { ...value, side: 'queries' }, 'sums', 'highest[m][half] == lowest() ? 0.0f : 1.0f / total[m][half]')}`,
      queryGradient: store('dquery', query, 'sums', 'scale'),
      keyGradients: `${store('dkey', key, 'sums', 'scale')}
  ${store('dvalue', value, 'ofValues', '1.0f')}`,
    }[makes],
  };
}
