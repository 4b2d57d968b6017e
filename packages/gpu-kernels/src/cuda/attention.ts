// Attention on the tensor cores of NVIDIA, by tiles whose scores are never in memory. A workgroup has 64 rows, a warp 16 of them, in registers;
// the others pass in tiles through shared memory. The result and each gradient are sums of weights times rows of the others, so one text makes all of them.
import type { DType } from '@eagre/backend';
import type { CudaProgram } from '../kernels/kernel.ts';
import { type CoreDType, coreProgram, elementOf, kernelText, lanesOf } from './tensor-cores.ts';

/** A factor of attention: its buffer, and which of its sides and widths it has. */
export interface CoreFactor {
  readonly buffer: string;
  readonly side: 'queries' | 'keys';
  readonly width: 'width' | 'values';
}

/** What attention makes on tensor cores: the products of `rows` with `others` are scores, and those of weights with the last of `others` the result. */
export interface CoreAttention {
  readonly dtype: CoreDType;
  /** `result` keeps the sum of exponentials; `weights` and `slopes` are gradients, which know it. Those of slopes are of the scores. */
  readonly makes: 'result' | 'weights' | 'slopes';
  /** Query or key, and for slopes what the rows of the others' second factor meet. */
  readonly rows: readonly CoreFactor[];
  readonly others: readonly [CoreFactor, CoreFactor];
  /** The widths, filled up to multiples of 16. */
  readonly width: number;
  readonly values: number;
  /** Whether rows begin at multiples of 16 bytes. */
  readonly aligned: boolean;
  readonly mask: DType | undefined;
  /** Names of the buffers, in order. */
  readonly buffers: readonly string[];
}

/** Rows of a workgroup. */
export const CORE_ROWS = 64;
const THREADS = 128;
/** Bytes of a row; wider heads do not fit into the registers. */
const MOST_ROW = 256;

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

/** @param params of the kernels of attention, type by name. */
export function coreAttention(
  attention: CoreAttention,
  params: Readonly<Record<string, 'u32' | 'f32'>>,
): CudaProgram {
  const key = JSON.stringify(attention);
  return coreProgram(key, THREADS, () => {
    const pointers = attention.buffers.map((name) => pointer(name, attention));
    return {
      print: (name) => text(name, attention, params, pointers),
      pointers,
      params: Object.values(params),
      isTensorFloat32: attention.dtype === 'float32',
    };
  });
}

function pointer(name: string, { dtype, makes, mask }: CoreAttention): string {
  const element = elementOf(dtype);
  if (name === 'y') return `${element}* y`;
  if (name === 'lse') return `${makes === 'result' ? '' : 'const '}f32* lse`;
  if (name === 'delta') return 'const f32* delta';
  if (name !== 'mask') return `const ${element}* ${name}`;
  return `const ${mask === 'bool' ? 'unsigned char' : element}* mask`;
}

/**
 * The functions that copy a tile to shared memory and load fragments from it. Rows there are a chunk longer, so that a column's lie in different banks. An
 * instruction takes two chunks of a row: 16 numbers of 16 bits, or 8 of float32, which are rounded to TensorFloat-32.
 */
const FUNCTIONS = (dtype: CoreDType, aligned: boolean): string => {
  const lanes = lanesOf(dtype);
  return `template <int Rows, int Width> __device__ __forceinline__ void fetch(tc_chunk* tile, const Element* from, u32 base, u32 step, u32 width, u32 first, u32 count) {
  for (u32 i = threadIdx.x; i < Rows * Width / ${lanes}; i += ${THREADS}u) {
    const u32 row = i / (Width / ${lanes}), chunk = i % (Width / ${lanes});
    const bool inside = first + row < count && chunk * ${lanes}u < width;
    const size_t at = inside ? size_t(base + (first + row) * step) * width + chunk * ${lanes}u : 0;
    tc_chunk* to = &tile[row * (Width / ${lanes} + 1) + chunk];
    ${
      aligned
        ? 'tc_copy16(to, from + at, inside);'
        : `__align__(16) Element part[${lanes}];
    TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++) part[e] = inside && chunk * ${lanes}u + e < width ? from[at + e] : Element(0);
    tc_store16(to, part);`
    }
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
// 16 rows of a left factor.
template <int Width> __device__ __forceinline__ void load_rows(u32 (&r)[Width / ${2 * lanes}][4], const tc_chunk* tile, u32 row) {
  const u32 lane = threadIdx.x % 32u;
  TC_UNROLLED for (u32 k = 0; k < Width / ${2 * lanes}; k++) load4(r[k], shared<Width>(tile, row + lane / 8u % 2u * 8u + lane % 8u, k * 2u + lane / 16u));
}
// The products of 16 rows with all those of a tile.
template <int Others, int Width> __device__ __forceinline__ void products(f32 (&c)[Others / 8][4], const u32 (&rows)[Width / ${2 * lanes}][4], const tc_chunk* tile) {
  const u32 lane = threadIdx.x % 32u;
  TC_UNROLLED for (u32 n = 0; n < Others / 8; n++) TC_UNROLLED for (u32 e = 0; e < 4; e++) c[n][e] = 0.0f;
  TC_UNROLLED for (u32 k = 0; k < Width / ${2 * lanes}; k++)
    TC_UNROLLED for (u32 n = 0; n < Others / 16; n++) {
      u32 b[4];
      load4(b, shared<Width>(tile, n * 16u + lane / 16u * 8u + lane % 8u, k * 2u + lane / 8u % 2u));
      MMA(c[2 * n], rows[k], b[0], b[1]);
      MMA(c[2 * n + 1], rows[k], b[2], b[3]);
    }
}
${dtype === 'float32' ? ADD_WORDS : ADD_HALVES}
`;
};

// Adds 16 rows of weights times the rows of a tile.
const ADD_HALVES = `template <int Others, int Width> __device__ __forceinline__ void add(f32 (&sums)[Width / 8][4], const f32 (&weights)[Others / 8][4], const tc_chunk* tile) {
  const u32 lane = threadIdx.x % 32u;
  TC_UNROLLED for (u32 k = 0; k < Others / 16; k++) {
    u32 a[4];
    TC_UNROLLED for (u32 i = 0; i < 4; i++) {
      const f32 (&of)[4] = weights[2 * k + i / 2];
      a[i] = u32(narrowed(of[i % 2 * 2])) | u32(narrowed(of[i % 2 * 2 + 1])) << 16;
    }
    TC_UNROLLED for (u32 n = 0; n < Width / 16; n++) {
      u32 b[4];
      tc_load4_transposed(b, shared<Width>(tile, k * 16u + lane / 8u % 2u * 8u + lane % 8u, n * 2u + lane / 16u));
      MMA(sums[2 * n], a, b[0], b[1]);
      MMA(sums[2 * n + 1], a, b[2], b[3]);
    }
  }
}`;

// The same of words. A thread has the weights of two columns beside each other, where the instruction wants them four apart: the rows are taken in that order.
const ADD_WORDS = `template <int Others, int Width> __device__ __forceinline__ void add(f32 (&sums)[Width / 8][4], const f32 (&weights)[Others / 8][4], const tc_chunk* tile) {
  const u32 lane = threadIdx.x % 32u;
  TC_UNROLLED for (u32 k = 0; k < Others / 8; k++) {
    const u32 a[4] = {tc_tf32(weights[k][0]), tc_tf32(weights[k][2]), tc_tf32(weights[k][1]), tc_tf32(weights[k][3])};
    const f32* row = (const f32*)shared<Width>(tile, k * 8u + lane % 4u * 2u, 0) + lane / 4u;
    TC_UNROLLED for (u32 n = 0; n < Width / 8; n++) MMA(sums[n], a, tc_tf32(row[n * 8u]), tc_tf32(row[n * 8u + Width + 4]));
  }
}`;

const POWERS = `__device__ __forceinline__ f32 lowest() { return wg_bitcast<f32>(0xff800000u); }
__device__ __forceinline__ f32 power(f32 x) { return exp2f(x * 1.4426950408889634f); }`;

function text(
  name: string,
  attention: CoreAttention,
  params: Readonly<Record<string, 'u32' | 'f32'>>,
  pointers: readonly string[],
): string {
  const { dtype, makes, rows, others, mask, aligned } = attention;
  const [first, second] = others;
  const lanes = lanesOf(dtype);
  const wide = Math.max(attention.width, attention.values) > 8 * lanes;
  // Rows of a tile of the others. Slopes of wide heads have more in registers.
  const tile = makes === 'slopes' && wide ? 32 : 64;
  const widthOf = (factor: CoreFactor): number => attention[factor.width];
  const [chunksFirst, chunksSecond] = others.map((factor) => tile * (widthOf(factor) / lanes + 1));
  // The rows of the workgroup come through the same memory.
  const chunks = Math.max(
    chunksFirst + chunksSecond,
    ...rows.map((factor) => CORE_ROWS * (widthOf(factor) / lanes + 1)),
  );
  const byQuery = rows[0].side === 'queries';
  const made = makes === 'slopes' ? first : second;
  const fetch = (factor: CoreFactor, to: string, from: string, count: number): string =>
    `fetch<${count}, ${widthOf(factor)}>(${to}, ${factor.buffer}, ${factor.side}Base, ${factor.side}Step, p.${factor.width}, ${from}, p.${factor.side});`;
  const fetchFirst = (start: string): string =>
    `if (${start} < last) { ${fetch(first, 'tile', start, tile)} } tc_commit();`;
  const fetchSecond = (start: string): string =>
    `if (${start} < last) { ${fetch(second, `tile + ${chunksFirst}`, start, tile)} } tc_commit();`;
  const loads = rows.map(
    (
      factor,
      i,
    ) => `u32 rows${i}[${widthOf(factor) / (2 * lanes)}][4]; ${fetch(factor, 'tile', 'top', CORE_ROWS)} tc_commit();
  tc_wait<0>(); __syncthreads(); load_rows<${widthOf(factor)}>(rows${i}, tile, warp * 16u); __syncthreads();`,
  );
  const forEach = (body: string): string => `TC_UNROLLED for (u32 n = 0; n < ${tile / 8}; n++)
      TC_UNROLLED for (u32 i = 0; i < 4; i++) {
        const u32 row = top + warp * 16u + i / 2u * 8u + lane / 4u, other = start + n * 8u + lane % 4u * 2u + i % 2u;
        const u32 q = ${byQuery ? 'row' : 'other'}, k = ${byQuery ? 'other' : 'row'};
        ${body}
      }`;
  const score = `f32 score = lowest();
        if (q < p.queries && k < p.keys && (p.causal == 0u || k <= q)) {
          score = scores[n][i] * p.scale;
          ${mask === undefined ? '' : `const size_t at = b * p.m0 + h * p.m1 + q * p.m2 + k * p.m3; ${mask === 'bool' ? 'if (mask[at] == 0) score = lowest();' : 'score += widened(mask[at]);'}`}
        }`;
  const known = makes === 'result' ? '' : `f32 weight = 0.0f;`;
  const weights =
    makes === 'result'
      ? `f32 now[2] = {highest[0], highest[1]};
    ${forEach(`${score} scores[n][i] = score; now[i / 2] = wg_max(now[i / 2], score);`)}
    TC_UNROLLED for (u32 half = 0; half < 2; half++) {
      now[half] = wg_max(now[half], tc_shuffle(now[half], 1u));
      now[half] = wg_max(now[half], tc_shuffle(now[half], 2u));
      const f32 kept = highest[half] == lowest() ? 0.0f : power(highest[half] - now[half]);
      highest[half] = now[half]; total[half] *= kept;
      TC_UNROLLED for (u32 n = 0; n < ${widthOf(made) / 8}; n++) TC_UNROLLED for (u32 e = 0; e < 2; e++) sums[n][half * 2u + e] *= kept;
    }
    ${forEach('(void)q; (void)k; scores[n][i] = now[i / 2] == lowest() ? 0.0f : power(scores[n][i] - now[i / 2]); total[i / 2] += scores[n][i];')}`
      : forEach(`${score} ${known}
        if (score != lowest()) { const size_t at = size_t(plane) * p.queries + q; weight = power(score - lse[at]);
          ${makes === 'slopes' ? 'weight = p.scale * weight * (slopes[n][i] - delta[at]);' : ''} }
        scores[n][i] = weight;`);
  const whole = `products<${tile}, ${widthOf(first)}>(scores, rows0, tile);`;
  // A tile is fetched as soon as that before it in the same memory is used.
  const step =
    makes === 'slopes'
      ? `tc_wait<0>(); __syncthreads();
    ${whole}
    f32 slopes[${tile / 8}][4]; products<${tile}, ${widthOf(second)}>(slopes, rows1, tile + ${chunksFirst});
    __syncthreads();
    ${fetchSecond(`start + ${tile}u`)}
    ${weights}
    add<${tile}, ${widthOf(first)}>(sums, scores, tile);
    __syncthreads();
    ${fetchFirst(`start + ${tile}u`)}`
      : `tc_wait<1>(); __syncthreads();
    ${whole}
    __syncthreads();
    ${fetchFirst(`start + ${tile}u`)}
    ${weights}
    tc_wait<1>(); __syncthreads();
    add<${tile}, ${widthOf(second)}>(sums, scores, tile + ${chunksFirst});
    __syncthreads();
    ${fetchSecond(`start + ${tile}u`)}`;
  const { side } = rows[0];
  const end =
    makes === 'result'
      ? `TC_UNROLLED for (u32 half = 0; half < 2; half++) {
    total[half] += tc_shuffle(total[half], 1u); total[half] += tc_shuffle(total[half], 2u);
    const u32 row = top + warp * 16u + half * 8u + lane / 4u;
    const f32 part = highest[half] == lowest() ? 0.0f : 1.0f / total[half];
    TC_UNROLLED for (u32 n = 0; n < ${widthOf(made) / 8}; n++) TC_UNROLLED for (u32 e = 0; e < 2; e++) sums[n][half * 2u + e] *= part;
    if (lane % 4u == 0u && row < p.queries) lse[size_t(plane) * p.queries + row] = highest[half] + logf(total[half]);
  }`
      : '';
  const causal = byQuery
    ? `if (p.causal != 0u) last = wg_min(last, top + ${CORE_ROWS}u);`
    : 'if (p.causal != 0u) from = top;';
  return kernelText(
    name,
    dtype,
    params,
    `#define MMA tc_mma_${dtype}\n${FUNCTIONS(dtype, aligned)}${POWERS}\n#undef MMA`,
    // Without the number of blocks the compiler spills registers for more of them.
    `__launch_bounds__(${THREADS}, 1) ${name}(${pointers.join(', ')}, const Params p)`,
    `  __shared__ tc_chunk tile[${chunks}];
  const u32 t = threadIdx.x, lane = t % 32u, warp = t / 32u;
  const u32 number = blockIdx.y * gridDim.x + blockIdx.x, tiles = (p.${side} + ${CORE_ROWS - 1}u) / ${CORE_ROWS}u;
  const u32 plane = number / tiles, h = plane % p.heads, b = plane / p.heads, top = number % tiles * ${CORE_ROWS}u;
  if (b >= p.batch) return;
  const bool apart = p.timeFirst != 0u;
  const u32 queriesStep = apart ? p.heads : 1u, keysStep = queriesStep;
  const u32 queriesBase = apart ? b * p.queries * p.heads + h : plane * p.queries;
  const u32 keysBase = apart ? b * p.keys * p.heads + h : plane * p.keys;
  u32 from = 0u, last = p.${first.side};
  ${causal}
  ${loads.join('\n  ')}
  f32 sums[${widthOf(made) / 8}][4] = {};
  ${makes === 'result' ? 'f32 highest[2] = {lowest(), lowest()}, total[2] = {};' : ''}
  ${fetchFirst('from')}
  ${fetchSecond('from')}
  for (u32 start = from; start < last; start += ${tile}u) {
    f32 scores[${tile / 8}][4];
    ${step}
  }
  tc_wait<0>();
  ${end}
  TC_UNROLLED for (u32 n = 0; n < ${widthOf(made) / 8}; n++)
    TC_UNROLLED for (u32 i = 0; i < 4; i++) {
      const u32 row = top + warp * 16u + i / 2u * 8u + lane / 4u, column = n * 8u + lane % 4u * 2u + i % 2u;
      if (row < p.${side} && column < p.${made.width}) y[size_t(${side}Base + row * ${side}Step) * p.${made.width} + column] = narrowed(sums[n][i]);
    }`,
  );
}
