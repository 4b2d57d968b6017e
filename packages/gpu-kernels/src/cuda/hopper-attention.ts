// Attention by warpgroups, with Hopper's wgmma, of 16 bits: on compute capability 9.0 alone. A warp brings tiles to shared memory, where the rows of the workgroup stay too; each
// warpgroup makes the scores of 64 of them, and what is made of scores is multiplied from registers. Results are as those of the kernels in `attention.ts`.

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
import { ALIGNMENT, GROUP, hopperPrelude, wgmma, wgmmaOfRegisters } from './hopper.ts';
import { CHUNK_BYTES, coreProgram, kernelText, lanesOf } from './tensor-cores.ts';

/** What is made by warpgroups. */
export type HopperAttention = CoreAttention & { readonly dtype: 'float16' | 'bfloat16' };

/** Tiles that are in shared memory at once, and by how many of them a tile's copies are told to come before it is waited for. */
const STAGES = 4;
const AHEAD = 2;
/** Chunks of a line, and rows of a warpgroup. */
const LINE = 8;
const ROWS = 64;
/** Narrower heads leave most of the instruction's 64 columns unused. */
const LEAST_WIDTH = 33;

/** Whether warpgroups serve it. */
export function isHopperAttention(
  attention: Omit<CoreAttention, 'rows'>,
): attention is Omit<HopperAttention, 'rows'> {
  const { dtype, aligned, width, values } = attention;
  return dtype !== 'float32' && aligned && Math.min(width, values) >= LEAST_WIDTH;
}

/** Rows of a workgroup, of so many rows in each plane: one warpgroup or two make them. */
export function hopperRows(planes: number, rows: number): 64 | 128 {
  return hasMany(planes, rows) ? 128 : 64;
}

/** By how much scores may be larger than the largest ones that were kept, so that sums need not be made smaller for each tile: weights are up to e⁵, far from what float16 has. */
const SLACK = 5;

/** Others of a tile. */
function tileOf({ makes, width, values }: HopperAttention): 32 | 64 {
  return makes === 'keyGradients' && Math.max(width, values) > 64 ? 32 : 64;
}

/** Columns that an instruction makes of a factor; those beyond its width are never looked at. */
function columnsOf(width: number): 64 | 128 {
  return width <= 64 ? 64 : 128;
}

/** A factor lies in pieces of so many lines of 128 bytes. */
function chunksOf(width: number, lines: number): number {
  return (columnsOf(width) / 64) * lines * LINE;
}

/** Registers of each thread: those that a launch gives, and those of warps that bring and of warps that multiply. */
interface Registers {
  /** Workgroups that a multiprocessor has room for. */
  readonly workgroups: number;
  readonly bring: number;
  readonly multiply: number;
}

/** A multiprocessor has 65,536. More workgroups hide how long exponentials take, where registers suffice. */
function registersOf({ makes, mask, rows, width, values }: HopperAttention): Registers {
  if (makes === 'result' && mask === undefined && Math.max(width, values) <= 64)
    return rows === 128
      ? { workgroups: 2, bring: 32, multiply: 104 }
      : { workgroups: 3, bring: 32, multiply: 128 };
  return rows === 128
    ? { workgroups: 1, bring: 40, multiply: 232 }
    : { workgroups: 2, bring: 40, multiply: 216 };
}

/** @param params of the kernels of attention, type by name. */
export function hopperAttention(
  attention: HopperAttention,
  params: Readonly<Record<string, 'u32' | 'f32'>>,
): CudaProgram {
  return coreProgram(`hopper ${JSON.stringify(attention)}`, threadsOf(attention), () => {
    const pointers = pointersOf(attention);
    return {
      print: (name) => text(name, attention, params, pointers),
      pointers,
      params: Object.values(params),
      capability: 90,
      isSpecific: true,
      shared: CHUNK_BYTES * sizesOf(attention).all + ALIGNMENT,
    };
  });
}

/** The first warpgroup brings, the others multiply 64 rows each. */
function threadsOf({ rows }: HopperAttention): number {
  return (1 + rows / ROWS) * GROUP;
}

/** The chunks of the rows, of a stage, and of all. */
function sizesOf(attention: HopperAttention): {
  readonly rows: number;
  readonly stage: number;
  readonly all: number;
} {
  const { rows: held, others } = FACTORS[attention.makes];
  const sum = (factors: readonly Factor[], lines: number): number =>
    factors.reduce((all, { width }) => all + chunksOf(attention[width], lines), 0);
  const rows = sum(held, attention.rows);
  const stage = sum(others, tileOf(attention));
  return { rows, stage, all: rows + STAGES * stage };
}

/** Copies lines of a factor, the pieces of 8 of them turned around as the cores want them. */
const BRING = `template <int Lines, int Chunks> __device__ __forceinline__ void bring(tc_chunk* tile, const Element* from, u32 base, u32 step, u32 width, u32 first, u32 count) {
  const u32 line = threadIdx.x / 8u, chunk = threadIdx.x % 8u;
  const Element* at = from + size_t(base + (first + line) * step) * width + chunk * 8u;
  const size_t next = size_t(16u * step) * width;
  tc_chunk* const to = tile + line * 8u + (chunk ^ (line & 7u));
  if (Chunks % 8 == 0 && first + Lines <= count && width == Chunks * 8u) {
    TC_UNROLLED for (u32 j = 0; j < Lines / 16u; j++) {
      TC_UNROLLED for (u32 piece = 0; piece < Chunks / 8u; piece++) tc_copy16(to + j * 128u + piece * (Lines * 8u), at + piece * 64u, true);
      at += next;
    }
    return;
  }
  TC_UNROLLED for (u32 j = 0; j < Lines / 16u; j++) {
    TC_UNROLLED for (u32 piece = 0; piece < (Chunks + 7u) / 8u; piece++) {
      if (piece * 8u + chunk >= Chunks) break;
      const bool inside = first + line + j * 16u < count && (piece * 8u + chunk) * 8u < width;
      tc_copy16(to + j * 128u + piece * (Lines * 8u), inside ? at + piece * 64u : from, inside);
    }
    at += next;
  }
}`;

function text(
  name: string,
  attention: HopperAttention,
  params: Readonly<Record<string, 'u32' | 'f32'>>,
  pointers: readonly string[],
): string {
  const { dtype, makes, aligned, rows } = attention;
  const {
    rows: held,
    others: [first, second],
  } = FACTORS[makes];
  const byQuery = makes !== 'keyGradients';
  const tile = tileOf(attention);
  const registers = registersOf(attention);
  // Both products of a turn at once take more; the other workgroup's keep the cores busy then.
  const isTight = registers.multiply < 112;
  const groups = rows / ROWS;
  const sizes = sizesOf(attention);
  // The largest score is that of the smallest product where scores are multiplied by a negative number.
  const steps = stepsOf(attention, 1, tile, makes === 'result' ? ['scale < 0.0f'] : [], SLACK);
  const { forEach } = steps;
  const widthOf = (factor: Factor): number => attention[factor.width];
  const chunks = (factor: Factor, lines: number): number => chunksOf(widthOf(factor), lines);
  const bring = (factor: Factor, to: string, from: string, lines: number): string =>
    `bring<${lines}, ${widthOf(factor) / lanesOf(dtype)}>(${to}, ${factor.buffer}, ${rowsIn(attention, factor.buffer, factor.side).join(', ')}, p.${factor.width}, ${from}, p.${factor.side});`;
  const known = `if (threadIdx.x < ${2 * tile}u) {
          const u32 of = threadIdx.x / ${tile}u, column = threadIdx.x % ${tile}u, q = start + column; const bool inside = q < p.queries;
          tc_copy4(&known[stage][of][column], (of == 0u ? lse : delta) + (inside ? plane * p.queries + q : 0u), inside);
        }`;
  const producer = `${held.map((factor, i) => bring(factor, `memory + ${i === 0 ? 0 : chunks(held[0], rows)}u`, 'top', rows)).join('\n    ')}
    for (u32 turn = 0; turn < turns + ${AHEAD}u; turn++) {
      if (turn < turns) {
        const u32 stage = turn % ${STAGES}u, start = from + turn * ${tile}u;
        if (turn >= ${STAGES}u) tc_barrier_wait(&empty[stage], (turn / ${STAGES}u - 1u) % 2u);
        tc_chunk* const to = tiles_at + stage * ${sizes.stage}u;
        ${bring(first, 'to', 'start', tile)}
        ${bring(second, `to + ${chunks(first, tile)}u`, 'start', tile)}
        ${byQuery ? '' : known}
      }
      tc_commit();
      if (turn < ${AHEAD}u) continue;
      tc_wait<${AHEAD}>();
      tc_fence_async();
      tc_barrier_arrive(&full[(turn - ${AHEAD}u) % ${STAGES}u]);
    }
    return;`;

  const declare = (sums: string, columns: number): string => `f32 ${sums}[1][${columns / 8}][4]`;
  const zeros = (sums: string, factor: Factor): string =>
    `${declare(sums, columnsOf(widthOf(factor)))} = {};`;
  /** Tells the products of the warpgroup's rows of a factor with those of the tile of `stage`. */
  const multiply = (sums: string, of: 0 | 1): string => {
    const at = (k: number, lines: number): number => Math.floor(k / 4) * lines * LINE + (k % 4) * 2;
    const told = Array.from(
      { length: widthOf(held[of]) / 16 },
      (_, k) =>
        `tc_wgmma_${dtype}<false, false, ${k > 0}>(flat(${sums}), rows${of} + ${at(k, rows)}u, along${of} + (stage * ${sizes.stage}u + ${at(k, tile)}u));`,
    );
    return `${told.join('\n      ')}
      tc_wgmma_commit();`;
  };
  /** Tells that rows of weights times those of the tile of a stage are added to sums. */
  const add = (sums: string, weights: string, of: 0 | 1, stage = 'stage'): string => {
    const told = Array.from(
      { length: tile / 16 },
      (_, k) =>
        `tc_wgmma_registers_${dtype}(flat(${sums}), ${weights}[${k}], turned${of} + (${stage} * ${sizes.stage}u + ${k * 2 * LINE * 8}u));`,
    );
    return `${told.join('\n      ')}
      tc_wgmma_commit();`;
  };
  /** Rounds what is to be multiplied. */
  const pack = (to: string, from: string): string => `TC_UNROLLED for (u32 k = 0; k < ${tile / 16}; k++)
        TC_UNROLLED for (u32 i = 0; i < 4; i++) ${to}[k][i] = tc_pack_${dtype}(${from}[0][2 * k + i / 2][i % 2 * 2], ${from}[0][2 * k + i / 2][i % 2 * 2 + 1]);`;
  const waitFor = (pending: number, sums: string): string => `tc_wgmma_wait_for<${pending}>(flat(${sums}));`;
  const full = (turn: string): string =>
    `tc_barrier_wait(&full[${turn} % ${STAGES}u], ${turn} / ${STAGES}u % 2u);`;
  const release = (turn: string): string =>
    `if (lane == 0u) tc_barrier_arrive(&empty[(${turn}) % ${STAGES}u]);`;
  /** Tiles that the warpgroup does not see, but the other one. */
  const pass = (from: string, to: string): string =>
    `for (u32 turn = ${from}; turn < ${to}; turn++) { ${full('turn')} ${release('turn')} }`;
  const weights = (name: string): string => `u32 ${name}[${tile / 16}][4];`;

  const weigh = `${steps.masked}
      ${steps.newHighest}
      if (kept[0][0] != 1.0f || kept[0][1] != 1.0f) {
        ${steps.keep('sums', widthOf(second))}
      }
      ${forEach(`scores[m][n][i] = ${steps.power}; total[m][i / 2u] += scores[m][n][i];`)}
      ${pack('weights', 'scores')}`;
  const slopes = (base: string): string =>
    forEach(`slopes[m][n][i] = ${base} * (slopes[m][n][i] - ${steps.mean});`);
  const ends = byQuery
    ? `const u32 ends = p.causal != 0u ? (wg_min(last, groupTop + ${ROWS}u) + ${tile - 1}u) / ${tile}u : turns;`
    : `const u32 begins = p.causal != 0u ? wg_min((groupTop - from) / ${tile}u, turns) : 0u;`;
  const made = makes === 'result' ? second : first;
  const consumer = {
    // Behind the weights of a tile times its values the cores have the scores of the next one to make.
    result: () => `f32 highest[1][2] = {{lowest(), lowest()}}, total[1][2] = {};
  ${weights('weights')}
  ${full('0u')}
  tc_wgmma_fence();
  { const u32 stage = 0u; ${multiply('scores', 0)} }
  ${waitFor(0, 'scores')}
  for (u32 turn = 1; turn < ends; turn++) {
      const u32 stage = turn % ${STAGES}u, start = (turn - 1u) * ${tile}u;
      ${weigh}
      ${full('turn')}
      tc_wgmma_fence();
      ${add('sums', 'weights', 1, `((turn - 1u) % ${STAGES}u)`)}
      ${isTight ? `${waitFor(0, 'sums')}\n      tc_wgmma_fence();` : ''}
      ${multiply('scores', 0)}
      ${waitFor(0, 'scores')}
      ${isTight ? '' : waitFor(0, 'sums')}
      ${release('turn - 1u')}
  }
  {
      const u32 start = (ends - 1u) * ${tile}u;
      ${weigh}
      tc_wgmma_fence();
      ${add('sums', 'weights', 1, `((ends - 1u) % ${STAGES}u)`)}
  }
  ${waitFor(0, 'sums')}
  ${release('ends - 1u')}
  ${pass('ends', 'turns')}`,
    queryGradient: () => `${steps.prepareRows}
  ${declare('slopes', tile)};
  ${weights('weights')}
  for (u32 turn = 0; turn < ends; turn++) {
      const u32 stage = turn % ${STAGES}u, start = turn * ${tile}u;
      ${full('turn')}
      tc_wgmma_fence();
      ${multiply('scores', 0)}
      ${multiply('slopes', 1)}
      ${waitFor(1, 'scores')}
      if (turn > 0u) { ${release('turn - 1u')} }
      ${steps.masked}
      ${forEach(`scores[m][n][i] = ${steps.power};`)}
      ${waitFor(0, 'slopes')}
      ${slopes('scores[m][n][i]')}
      ${pack('weights', 'slopes')}
      tc_wgmma_fence();
      ${add('sums', 'weights', 0)}
  }
  ${waitFor(0, 'sums')}
  ${release('ends - 1u')}
  ${pass('ends', 'turns')}`,
    // A tile is used at once.
    keyGradients: () => `constexpr u32 part = 0u;
  ${zeros('ofValues', second)}
  ${declare('slopes', tile)};
  ${weights('weights')} ${weights('changes')}
  ${pass('0u', 'begins')}
  // The waits are inside of it, lest the compiler take the sums of no tile for some that are under way.
  if (begins < turns) {
    for (u32 turn = begins; turn < turns; turn++) {
      const u32 stage = turn % ${STAGES}u, start = from + turn * ${tile}u;
      ${full('turn')}
      tc_wgmma_fence();
      ${multiply('scores', 0)}
      ${multiply('slopes', 1)}
      ${waitFor(1, 'scores')}
      if (turn > begins) { ${release('turn - 1u')} }
      ${steps.baseOfColumns}
      ${steps.masked}
      ${forEach(`scores[m][n][i] = ${steps.power};`)}
      ${pack('weights', 'scores')}
      ${waitFor(0, 'slopes')}
      tc_wgmma_fence();
      ${add('ofValues', 'weights', 1)}
      ${steps.meanOfColumns}
      ${slopes('scores[m][n][i]')}
      ${pack('changes', 'slopes')}
      tc_wgmma_fence();
      ${add('sums', 'changes', 0)}
    }
    ${waitFor(0, 'sums')}
    ${waitFor(0, 'ofValues')}
  }`,
  }[makes]();

  const instructions = [
    ...new Set([
      wgmma(dtype, tile),
      ...[made, ...(byQuery ? [] : [second])].map((factor) =>
        wgmmaOfRegisters(dtype, columnsOf(widthOf(factor))),
      ),
    ]),
  ];
  return kernelText(
    name,
    dtype,
    params,
    `${instructions.join('\n')}
${BRING}
${stepFunctions(dtype, aligned)}
template <int N> __device__ __forceinline__ f32 (&flat(f32 (&c)[1][N][4]))[4 * N] { return (f32(&)[4 * N])c; }`,
    `__launch_bounds__(${threadsOf(attention)}, ${registers.workgroups}) ${name}(${pointers.join(', ')}, const Params p)`,
    `  __shared__ tc_barrier full[${STAGES}], empty[${STAGES}];
  ${byQuery ? '' : `__shared__ f32 known[${STAGES}][2][${tile}];`}
  const u32 lane = threadIdx.x % 32u, warp = tc_uniform(threadIdx.x / 32u), group = warp / 4u;
  ${placeOf(attention)}
  const u32 turns = from < last ? (last - from + ${tile - 1}u) / ${tile}u : 0u;
  tc_chunk* const memory = tc_memory();
  tc_chunk* const tiles_at = memory + ${sizes.rows}u;
  if (threadIdx.x == 0u)
    for (u32 i = 0; i < ${STAGES}u; i++) {
      tc_barrier_init(&full[i], ${GROUP}u);
      // Each warp that multiplies says so.
      tc_barrier_init(&empty[i], ${groups * 4}u);
    }
  __syncthreads();
  if (group == 0u) {
    tc_registers_fewer<${registers.bring}>();
    if (turns == 0u) return;
    ${producer}
  }
  tc_registers_more<${registers.multiply}>();
  const u32 groupTop = top + (group - 1u) * ${ROWS}u, warpTop = top + (warp - 4u) * 16u;
  ${ends}
  const f32 scale = p.scale;
  ${held
    .map(
      (_, i) =>
        `const unsigned long long rows${i} = tc_descriptor(memory + (${i === 0 ? 0 : chunks(held[0], rows)}u + (group - 1u) * ${ROWS * LINE}u), 0u, 1024u);`,
    )
    .join('\n  ')}
  // As they are multiplied along their rows, and across them.
  ${['0u', `${chunks(first, tile)}u`]
    .map(
      (
        at,
        i,
      ) => `const unsigned long long along${i} = tc_descriptor(tiles_at + ${at}, 0u, 1024u), turned${i} = tc_descriptor(tiles_at + ${at}, ${tile * LINE * CHUNK_BYTES}u, 1024u);
  (void)along${i}; (void)turned${i};`,
    )
    .join('\n  ')}
  ${zeros('sums', made)}
  ${declare('scores', tile)};
  ${consumer}
  ${steps.stored}
#undef LOG2E`,
    hopperPrelude(),
  );
}
