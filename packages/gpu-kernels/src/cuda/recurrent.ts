// All steps of a recurrent network in one kernel whose workgroups read the recurrent weights once: they stay in registers, and in shared memory what does not
// fit there. Sums are float32 by the plain cores. A workgroup has some sequences and all their units; its threads meet once a step.
import type { CudaProgram } from '../kernels/kernel.ts';
import { coreProgram, kernelText } from './tensor-cores.ts';

/** What a kernel of a recurrent network makes. */
export interface CoreRecurrent {
  readonly kind: 'lstm' | 'gru' | 'lstmGrad' | 'gruGrad';
  /** Sequences of a workgroup. */
  readonly rows: number;
  /** Whether there is a reserve to write; of a gradient whether there is one of each step's state. */
  readonly hasSequence: boolean;
  /** Units, filled up: 32, 64, 96 or 128. */
  readonly width: number;
}

/** Bytes of shared memory that a block may have, for the compute capabilities that have more than others. */
const MOST_SHARED: Readonly<Record<number, number>> = { 80: 163 * 1024, 90: 227 * 1024, 100: 227 * 1024 };
const LEAST_SHARED = 99 * 1024;
/** Registers of a multiprocessor. */
const REGISTERS = 2 ** 16;
/** Numbers that a thread reads at once. */
const LANES = 4;

/** How a kernel cuts its product: a thread has `outs` sums of each sequence, for which it reads every `parts`-th piece of the depth. */
interface Cut {
  readonly threads: number;
  readonly outs: number;
  readonly parts: number;
  /** Pieces of a thread, and how many of them have their weights in registers. */
  readonly pieces: number;
  readonly kept: number;
  /** Bytes of weights in shared memory, and of states in both buffers. */
  readonly given: number;
  readonly states: number;
}

function cutOf({ kind, width, rows }: CoreRecurrent): Cut {
  const gates = kind.startsWith('lstm') ? 4 : 3;
  const isGrad = kind.endsWith('Grad');
  const [outs, parts] = isGrad ? [4, 16] : [gates, 4];
  const threads = 4 * width;
  const pieces = Math.ceil((isGrad ? gates * width : width) / (parts * LANES));
  // Sums, and what is read ahead, take registers for each sequence.
  const registers = Math.min(255, Math.floor(REGISTERS / threads));
  const mostKept = Math.floor((registers - (rows === 4 ? 96 : rows === 2 ? 72 : 48)) / (outs * LANES));
  const kept = Math.min(pieces, mostKept);
  return {
    threads,
    outs,
    parts,
    pieces,
    kept,
    given: (pieces - kept) * outs * threads * 16,
    states: 2 * rows * pieces * parts * LANES * 4,
  };
}

/** The kernel; undefined where a GPU has not the memory. Its operands and parameters are those of the kernel that it stands for. */
export function coreRecurrent(recurrent: CoreRecurrent, capability: number): CudaProgram | undefined {
  if (capability < 80) return undefined;
  const cut = cutOf(recurrent);
  if (cut.given + cut.states > (MOST_SHARED[capability] ?? LEAST_SHARED)) return undefined;
  return coreProgram(`recurrent ${JSON.stringify(recurrent)}`, cut.threads, () => {
    const pointers = pointersOf(recurrent);
    return {
      print: (name) => text(name, recurrent, cut, pointers),
      pointers,
      params: ['u32', 'u32', 'u32'],
      shared: cut.given,
    };
  });
}

function pointersOf({ kind, hasSequence }: CoreRecurrent): readonly string[] {
  const [read, written] = {
    lstm: [
      ['gates', 'h0', 'c0', 'recurrent'],
      ['y', 'lastH', 'lastC', ...(hasSequence ? ['reserve'] : [])],
    ],
    gru: [
      ['gates', 'h0', 'recurrent', 'bias'],
      ['y', 'lastH', 'reserve'],
    ],
    lstmGrad: [
      ['c0', 'turned', 'reserve', ...(hasSequence ? ['dh'] : []), 'dlastH'],
      ['dgates', 'dh0', 'dc0'],
    ],
    gruGrad: [
      ['h0', 'turned', 'y', 'reserve', ...(hasSequence ? ['dh'] : []), 'dlastH'],
      ['dgates', 'dh0'],
    ],
  }[kind];
  return [...read.map((name) => `const f32* ${name}`), ...written.map((name) => `f32* ${name}`)];
}

const FUNCTIONS = `struct __align__(16) Quad { f32 e[4]; };
__device__ __forceinline__ f32 sigmoid(f32 x) { return 1.0f / (1.0f + expf(-x)); }
// Of four threads beside each other each gets the sum of one of four.
__device__ __forceinline__ f32 scattered(const f32 (&s)[4], u32 lane) {
  const bool high = (lane & 2u) != 0u, odd = (lane & 1u) != 0u;
  const f32 a = (high ? s[2] : s[0]) + tc_shuffle(high ? s[0] : s[2], 2u);
  const f32 b = (high ? s[3] : s[1]) + tc_shuffle(high ? s[1] : s[3], 2u);
  return (odd ? b : a) + tc_shuffle(odd ? a : b, 1u);
}
`;

const forRows = (rows: number, body: string): string =>
  `TC_UNROLLED for (u32 r = 0; r < ${rows}u; r++) { const u32 b = first + r; if (b < p.batch && unit < p.units) { ${body} } }`;

function text(name: string, recurrent: CoreRecurrent, cut: Cut, pointers: readonly string[]): string {
  const { kind, rows, hasSequence, width } = recurrent;
  const { threads, outs, parts, pieces, kept, states } = cut;
  const isGrad = kind.endsWith('Grad');
  const gates = kind.startsWith('lstm') ? 4 : 3;
  const weight = isGrad
    ? `const u32 gate = deep / ${width}u, of = deep % ${width}u, to = t / 16u * 4u + v;
          const f32 w = gate < ${gates}u && of < p.units && to < p.units ? turned[(gate * p.units + of) * p.units + to] : 0.0f;`
    : `const f32 w = deep < p.units && unit < p.units ? recurrent[(deep * ${gates}u + v) * p.units + unit] : 0.0f;`;
  // The place of a state among those of both buffers.
  const state = (buffer: string, r: string, at: string): string =>
    `states[(${buffer} * ${rows}u + ${r}) * ${pieces * parts}u + (${at}) / 4u].e[(${at}) % 4u]`;
  const sums = `f32 s[${rows}][${outs}];
    TC_UNROLLED for (u32 r = 0; r < ${rows}u; r++) TC_UNROLLED for (u32 v = 0; v < ${outs}u; v++) s[r][v] = 0.0f;
    TC_UNROLLED for (u32 i = 0; i < ${pieces}u; i++) {
      Quad w[${outs}];
      TC_UNROLLED for (u32 v = 0; v < ${outs}u; v++) {
        ${kept === 0 ? '' : `if (i < ${kept}u) w[v] = weights[i < ${kept}u ? i : 0u][v]; else`} w[v] = given[((i - ${kept}u) * ${outs}u + v) * ${threads}u + t];
      }
      TC_UNROLLED for (u32 r = 0; r < ${rows}u; r++) {
        const Quad h = states[(buffer * ${rows}u + r) * ${pieces * parts}u + i * ${parts}u + part];
        TC_UNROLLED for (u32 e = 0; e < 4; e++) TC_UNROLLED for (u32 v = 0; v < ${outs}u; v++) s[r][v] = fmaf(h.e[e], w[v].e[e], s[r][v]);
      }
    }`;
  const own = isGrad
    ? `part = t % 16u, unit = t / 16u * 4u + t % 4u, role = part / 4u`
    : 'part = t % 4u, unit = t / 4u';
  const { before, steps } = { lstm: lstm, gru: gru, lstmGrad: lstmGrad, gruGrad: gruGrad }[kind]({
    rows,
    hasSequence,
    width,
    state,
    sums,
  });
  return kernelText(
    name,
    'float32',
    { batch: 'u32', time: 'u32', units: 'u32' },
    FUNCTIONS,
    `__launch_bounds__(${threads}, 1) ${name}(${pointers.join(', ')}, const Params p)`,
    `  __shared__ Quad states[${states / 16}];
  Quad* given = (Quad*)tc_memory_bytes();
  const u32 t = threadIdx.x, ${own}, first = (blockIdx.y * gridDim.x + blockIdx.x) * ${rows}u;
  ${kept === 0 ? '' : `Quad weights[${kept}][${outs}];`}
  TC_UNROLLED for (u32 i = 0; i < ${pieces}u; i++)
    TC_UNROLLED for (u32 v = 0; v < ${outs}u; v++) {
      Quad piece;
      TC_UNROLLED for (u32 e = 0; e < 4; e++) {
        const u32 deep = (i * ${parts}u + part) * 4u + e;
          ${weight}
        piece.e[e] = w;
      }
      ${kept === 0 ? '' : `if (i < ${kept}u) weights[i < ${kept}u ? i : 0u][v] = piece; else`} given[((i - ${kept}u) * ${outs}u + v) * ${threads}u + t] = piece;
    }
  for (u32 i = t; i < ${states / 16}u; i += ${threads}u) TC_UNROLLED for (u32 e = 0; e < 4; e++) states[i].e[e] = 0.0f;
  __syncthreads();
  ${before}
  u32 buffer = 0u;
  ${steps}`,
  );
}

/** What the parts of the texts see. */
interface Parts {
  readonly rows: number;
  readonly hasSequence: boolean;
  readonly width: number;
  readonly state: (buffer: string, r: string, at: string) => string;
  readonly sums: string;
}
interface Steps {
  readonly before: string;
  readonly steps: string;
}

/** Each of four threads has a gate of a unit. */
function lstm({ rows, hasSequence, state, sums }: Parts): Steps {
  const gateOf = (g: number): string => {
    const others = [0, 1, 2, 3].map((q) => (g === q ? 'act' : `from${g ^ q}`));
    return `part == 0u ? ${others[0]} : part == 1u ? ${others[1]} : part == 2u ? ${others[2]} : ${others[3]}`;
  };
  const read = (t: string): string => `ahead[r] = gates[((b * p.time + ${t}) * 4u + part) * p.units + unit];`;
  return {
    before: `f32 cell[${rows}] = {}, ahead[${rows}] = {};
  ${forRows(rows, `cell[r] = c0[b * p.units + unit]; ${read('0u')} if (part == 0u) ${state('0u', 'r', 'unit')} = h0[b * p.units + unit];`)}
  __syncthreads();`,
    steps: `for (u32 step = 0; step < p.time; step++) {
    f32 x[${rows}];
    TC_UNROLLED for (u32 r = 0; r < ${rows}u; r++) x[r] = ahead[r];
    if (step + 1u < p.time) { ${forRows(rows, read('step + 1u'))} }
    ${sums}
    buffer ^= 1u;
    TC_UNROLLED for (u32 r = 0; r < ${rows}u; r++) {
      const u32 b = first + r;
      const f32 sum = scattered(s[r], part) + x[r];
      const f32 act = part == 2u ? tanhf(sum) : sigmoid(sum);
      const f32 from1 = tc_shuffle(act, 1u), from2 = tc_shuffle(act, 2u), from3 = tc_shuffle(act, 3u);
      const f32 i = ${gateOf(0)}, f = ${gateOf(1)}, g = ${gateOf(2)}, o = ${gateOf(3)};
      cell[r] = f * cell[r] + i * g;
      const f32 squashed = tanhf(cell[r]), h = o * squashed;
      if (b < p.batch && unit < p.units) {
        const u32 at = b * p.time + step;
        if (part == 0u) { ${state('buffer', 'r', 'unit')} = h; y[at * p.units + unit] = h; }
        ${hasSequence ? `reserve[(at * 6u + part) * p.units + unit] = act; if (part >= 2u) reserve[(at * 6u + 2u + part) * p.units + unit] = part == 2u ? cell[r] : squashed;` : ''}
        if (step + 1u == p.time && part == 1u) { lastH[b * p.units + unit] = h; lastC[b * p.units + unit] = cell[r]; }
      }
    }
    __syncthreads();
  }`,
  };
}

function gru({ rows, state, sums }: Parts): Steps {
  const read = (t: string): string =>
    `TC_UNROLLED for (u32 g = 0; g < 3; g++) ahead[r][g] = gates[((b * p.time + ${t}) * 3u + g) * p.units + unit];`;
  return {
    before: `f32 before[${rows}] = {}, ahead[${rows}][3] = {}, own[3] = {};
  if (unit < p.units) TC_UNROLLED for (u32 g = 0; g < 3; g++) own[g] = bias[(3u + g) * p.units + unit];
  ${forRows(rows, `before[r] = h0[b * p.units + unit]; ${read('0u')} if (part == 0u) ${state('0u', 'r', 'unit')} = before[r];`)}
  __syncthreads();`,
    steps: `for (u32 step = 0; step < p.time; step++) {
    f32 x[${rows}][3];
    TC_UNROLLED for (u32 r = 0; r < ${rows}u; r++) TC_UNROLLED for (u32 g = 0; g < 3; g++) x[r][g] = ahead[r][g];
    if (step + 1u < p.time) { ${forRows(rows, read('step + 1u'))} }
    ${sums}
    buffer ^= 1u;
    TC_UNROLLED for (u32 r = 0; r < ${rows}u; r++) {
      const u32 b = first + r;
      TC_UNROLLED for (u32 g = 0; g < 3; g++) {
        s[r][g] += tc_shuffle(s[r][g], 1u); s[r][g] += tc_shuffle(s[r][g], 2u);
        s[r][g] += own[g];
      }
      const f32 z = sigmoid(x[r][0] + s[r][0]), reset = sigmoid(x[r][1] + s[r][1]), q = s[r][2];
      const f32 g = tanhf(x[r][2] + reset * q), h = z * before[r] + (1.0f - z) * g;
      before[r] = h;
      if (b < p.batch && unit < p.units) {
        const u32 at = b * p.time + step;
        reserve[(at * 4u + part) * p.units + unit] = part == 0u ? z : part == 1u ? reset : part == 2u ? g : q;
        if (part == 0u) { ${state('buffer', 'r', 'unit')} = h; y[at * p.units + unit] = h; }
        if (step + 1u == p.time && part == 1u) lastH[b * p.units + unit] = h;
      }
    }
    __syncthreads();
  }`,
  };
}

/** Statements of a step back: of 16 threads each gets the sum of one of four units, which four of them have then. */
const upOf = (rows: number): string => `TC_UNROLLED for (u32 r = 0; r < ${rows}u; r++) {
      up[r] = scattered(s[r], part);
      up[r] += tc_shuffle(up[r], 4u); up[r] += tc_shuffle(up[r], 8u);
    }`;

/** Each of four threads has a gate of a unit. */
function lstmGrad({ rows, hasSequence, width, state, sums }: Parts): Steps {
  const names = ['i', 'f', 'g', 'o', 'squashed', 'before'];
  // What a step needs of those that were: it is read one step ahead.
  const read = (t: string): string =>
    `const u32 at = b * p.time + ${t};
      ${[0, 1, 2, 3, 5].map((k, i) => `${names[i]}[r] = reserve[(at * 6u + ${k}u) * p.units + unit];`).join(' ')}
      before[r] = ${t} == 0u ? c0[b * p.units + unit] : reserve[((at - 1u) * 6u + 4u) * p.units + unit];
      ${hasSequence ? 'own[r] = dh[at * p.units + unit];' : ''}`;
  return {
    before: `f32 up[${rows}] = {}, back[${rows}] = {}, own[${rows}] = {};
  f32 ${names.map((name) => `${name}[${rows}] = {}`).join(', ')};
  ${forRows(rows, `up[r] = dlastH[b * p.units + unit]; back[r] = turned[(4u * p.units + b) * p.units + unit]; ${read('(p.time - 1u)')}`)}`,
    steps: `for (u32 step = p.time; step-- > 0u;) {
    TC_UNROLLED for (u32 r = 0; r < ${rows}u; r++) {
      const u32 b = first + r;
      const f32 all = up[r] + own[r], ofC = back[r] + all * o[r] * (1.0f - squashed[r] * squashed[r]);
      const f32 made = role == 0u ? ofC * g[r] * i[r] * (1.0f - i[r]) : role == 1u ? ofC * before[r] * f[r] * (1.0f - f[r])
        : role == 2u ? ofC * i[r] * (1.0f - g[r] * g[r]) : all * squashed[r] * o[r] * (1.0f - o[r]);
      back[r] = ofC * f[r];
      if (b < p.batch && unit < p.units) {
        dgates[((b * p.time + step) * 4u + role) * p.units + unit] = made;
        ${state('buffer', 'r', `role * ${width}u + unit`)} = made;
      }
    }
    __syncthreads();
    if (step > 0u) { ${forRows(rows, read('(step - 1u)'))} }
    ${sums}
    ${upOf(rows)}
    buffer ^= 1u;
  }
  if (role == 0u) { ${forRows(rows, 'dh0[b * p.units + unit] = up[r]; dc0[b * p.units + unit] = back[r];')} }`,
  };
}

function gruGrad({ rows, hasSequence, width, state, sums }: Parts): Steps {
  const names = ['z', 'reset', 'g', 'q', 'before'];
  const read = (t: string): string =>
    `const u32 at = b * p.time + ${t};
      ${[0, 1, 2, 3].map((k) => `${names[k]}[r] = reserve[(at * 4u + ${k}u) * p.units + unit];`).join(' ')}
      before[r] = ${t} == 0u ? h0[b * p.units + unit] : y[(at - 1u) * p.units + unit];
      ${hasSequence ? 'own[r] = dh[at * p.units + unit];' : ''}`;
  return {
    before: `f32 up[${rows}] = {}, back[${rows}] = {}, own[${rows}] = {};
  f32 ${names.map((name) => `${name}[${rows}] = {}`).join(', ')};
  ${forRows(rows, `up[r] = dlastH[b * p.units + unit]; ${read('(p.time - 1u)')}`)}`,
    // The third part of dgates is of the input alone.
    steps: `for (u32 step = p.time; step-- > 0u;) {
    TC_UNROLLED for (u32 r = 0; r < ${rows}u; r++) {
      const u32 b = first + r;
      const f32 all = up[r] + back[r] + own[r], ofG = all * (1.0f - z[r]) * (1.0f - g[r] * g[r]);
      const f32 made = role == 0u ? all * (before[r] - g[r]) * z[r] * (1.0f - z[r]) : role == 1u ? ofG * q[r] * reset[r] * (1.0f - reset[r])
        : role == 2u ? ofG : ofG * reset[r];
      back[r] = all * z[r];
      if (b < p.batch && unit < p.units) {
        dgates[((b * p.time + step) * 4u + role) * p.units + unit] = made;
        if (role != 2u) ${state('buffer', 'r', `(role == 3u ? 2u : role) * ${width}u + unit`)} = made;
      }
    }
    __syncthreads();
    if (step > 0u) { ${forRows(rows, read('(step - 1u)'))} }
    ${sums}
    ${upOf(rows)}
    buffer ^= 1u;
  }
  if (role == 0u) { ${forRows(rows, 'dh0[b * p.units + unit] = up[r] + back[r];')} }`,
  };
}
