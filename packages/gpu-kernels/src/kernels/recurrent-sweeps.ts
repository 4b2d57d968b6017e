// All steps of a recurrent network in one dispatch, where the units are few enough. A workgroup has some sequences and all their units, so workgroups never
// wait for each other; it reads the recurrent weights anew at each step. States pass from step to step in its memory.
import type { CoreRecurrent } from '../cuda/recurrent.ts';
import { cudaForms } from './cuda-forms.ts';
import {
  type Dispatch,
  type GpuProgram,
  groups,
  head,
  launch,
  perCapability,
  perThread,
  programOf,
} from './kernel.ts';

/** Sizes of the steps of a recurrent network. */
export interface SweepSizes {
  readonly batch: number;
  readonly time: number;
  readonly units: number;
}

const THREADS = 256;
/** So many workgroups keep the multiprocessors of a GPU busy; of more sequences a workgroup has several, for which it reads the weights once. */
const MANY_GROUPS = 128;
/** Bytes of weights that workgroups read in a step, in all: more take longer than a dispatch of its own for each step. */
const MOST_BYTES = 2 ** 26;
/** Words of a workgroup's memory that states take at most, so that with partial sums they fit into 16 KiB. */
const MOST_STATES = 2048;

/** How the threads of a workgroup share its work. */
interface Shape {
  /** Sequences of a workgroup. */
  readonly rows: number;
  /** Threads beside each other, one for each unit. */
  readonly across: number;
  /** Into how many parts the depth of the product with the states is cut; the first part's threads add them. */
  readonly parts: number;
}

/** @param states words that a unit of a sequence has in the workgroup's memory. @returns undefined where steps are faster as dispatches of their own. */
function shapeOf({ batch, units }: SweepSizes, gates: number, states: number): Shape | undefined {
  // More units have more weights than a workgroup reads while another kernel is launched.
  const across = [32, 64, 128].find((width) => width >= units);
  if (across === undefined) return undefined;
  const possible = [1, 2, 4].filter((rows) => rows * states * across <= MOST_STATES);
  const rows = possible.find((count) => batch <= count * MANY_GROUPS) ?? possible[possible.length - 1];
  if (Math.ceil(batch / rows) * 4 * gates * units * units > MOST_BYTES) return undefined;
  return { rows, across, parts: THREADS / across };
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);
/** A text for each number below `count`. */
const each = (count: number, text: (i: number) => string): string => upTo(count).map(text).join(' ');

/** Statements for the units of each sequence that there are, by the threads that have their state. */
const own = (rows: number, text: (r: number) => string): string =>
  `if (part == 0u && unit < p.units) { ${each(rows, (r) => `if (first + ${r}u < p.batch) { ${text(r)} }`)} }`;

/**
 * Statements that add the products of all sequences with columns of the weights to `s0`, `s1`, …: `count` of them for each sequence, in the part of the
 * depth from `begin` to `end`. Several weights are on their way at once.
 */
function products(
  rows: number,
  count: number,
  at: {
    readonly weight: (deep: string, i: number) => string;
    readonly state: (r: number, deep: string) => string;
  },
): string {
  const unrolled = count === 1 ? 16 : 4;
  const some = (steps: number): string =>
    [
      each(steps, (j) => each(count, (i) => `let w${j * count + i} = ${at.weight(`(k + ${j}u)`, i)};`)),
      each(steps, (j) =>
        each(
          rows,
          (r) =>
            `let v${j * rows + r} = ${at.state(r, `(k + ${j}u)`)}; ${each(count, (i) => `s${r * count + i} = fma(v${j * rows + r}, w${j * count + i}, s${r * count + i});`)}`,
        ),
      ),
    ].join('\n');
  return `if (unit < p.units) {
      var k = begin;
      for (; k + ${unrolled - 1}u < end; k += ${unrolled}u) { ${some(unrolled)} }
      for (; k < end; k++) { ${some(1)} }
    }`;
}

/** Statements after which the first part's threads have the whole sums; all threads of the workgroup have passed a barrier. */
function gathered({ rows, across, parts }: Shape, count: number): string {
  const place = (from: string, s: number): string =>
    `sums[((${from}) * ${rows * count}u + ${s}u) * ${across}u + unit]`;
  if (parts === 1) return 'workgroupBarrier();';
  return `if (part > 0u) { ${each(rows * count, (s) => `${place('part - 1u', s)} = s${s};`)} }
    workgroupBarrier();
    if (part == 0u) { for (var other = 0u; other < ${parts - 1}u; other++) { ${each(rows * count, (s) => `s${s} = s${s} + ${place('other', s)};`)} } }`;
}

/** @param states words of a sequence in the workgroup's memory. @param count sums of a thread for each sequence. @param depth of their products. */
function sweepProgram(
  buffers: Readonly<Record<string, string>>,
  shape: Shape,
  states: number,
  count: number,
  depth: string,
  body: string,
): GpuProgram {
  const { rows, across, parts } = shape;
  return programOf(`${head(buffers, { batch: 'u32', time: 'u32', units: 'u32' })}
var<workgroup> states: array<f32, ${rows * states}>;
${parts === 1 ? '' : `var<workgroup> sums: array<f32, ${(parts - 1) * rows * count * across}>;`}
@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) thread: u32) {
  let first = (group.y * all.x + group.x) * ${rows}u;
  let unit = thread % ${across}u; let part = thread / ${across}u;
  let deep = ${depth}; let length = (deep + ${parts - 1}u) / ${parts}u;
  let begin = min(part * length, deep); let end = min(begin + length, deep);
  ${body}
}`);
}

function sweepDispatch(
  program: GpuProgram,
  operands: readonly number[],
  { batch, time, units }: SweepSizes,
  { rows }: Shape,
  recurrent: Pick<CoreRecurrent, 'kind' | 'hasSequence'>,
): Dispatch {
  const dispatch = {
    program,
    operands,
    params: [batch, time, units],
    workgroups: groups(Math.ceil(batch / rows)),
  };
  const forms = cudaForms();
  if (forms === undefined) return dispatch;
  const width = Math.ceil(units / 32) * 32;
  return {
    ...dispatch,
    cuda: perCapability((capability) => {
      const core = forms.recurrent({ ...recurrent, rows, width }, capability);
      return core && { dispatches: [{ ...dispatch, program: core }], scratch: 0 };
    }),
  };
}

/** Statements before a step's product: `x0`, `x1`, … are what the gates have of the input. */
const ofInput = (rows: number, gates: number): string =>
  `${each(rows * gates, (i) => `var x${i} = 0.0;`)}
    ${own(rows, (r) => `let step = (first + ${r}u) * p.time + t; ${each(gates, (g) => `x${r * gates + g} = gates[(step * ${gates}u + ${g}u) * p.units + unit];`)}`)}`;

/** Statements of a forward step: from the states of all units to the sums of the gates. */
const ofStates = (shape: Shape, gates: number): string =>
  `${ofInput(shape.rows, gates)}
    ${each(shape.rows * gates, (i) => `var s${i} = 0.0;`)}
    ${products(shape.rows, gates, {
      weight: (k, g) => `recurrent[(${k} * ${gates}u + ${g}u) * p.units + unit]`,
      state: (r, k) => `states[${r * shape.across}u + ${k}]`,
    })}
    ${gathered(shape, gates)}`;

function lstmProgram(shape: Shape, hasReserve: boolean): GpuProgram {
  const { rows, across } = shape;
  const gate = (r: number, g: number): string => `s${r * 4 + g} + x${r * 4 + g}`;
  const parts = (r: number): readonly string[] => ['i', 'f', 'g', 'o', `cell${r}`, 'squashed'];
  return sweepProgram(
    {
      gates: 'f32',
      h0: 'f32',
      c0: 'f32',
      recurrent: 'f32',
      y: 'mut f32',
      lastH: 'mut f32',
      lastC: 'mut f32',
      ...(hasReserve ? { reserve: 'mut f32' } : {}),
    } as Record<string, string>,
    shape,
    across,
    4,
    'p.units',
    `${each(rows, (r) => `var cell${r} = 0.0;`)}
  ${own(rows, (r) => `let own = (first + ${r}u) * p.units + unit; cell${r} = c0[own]; states[${r * across}u + unit] = h0[own];`)}
  workgroupBarrier();
  for (var t = 0u; t < p.time; t++) {
    ${ofStates(shape, 4)}
    ${own(
      rows,
      (r) => `let own = (first + ${r}u) * p.units + unit; let step = (first + ${r}u) * p.time + t;
      let i = fSigmoid(${gate(r, 0)}); let f = fSigmoid(${gate(r, 1)}); let g = fTanh(${gate(r, 2)}); let o = fSigmoid(${gate(r, 3)});
      cell${r} = f * cell${r} + i * g; let squashed = fTanh(cell${r}); let h = o * squashed;
      states[${r * across}u + unit] = h; y[step * p.units + unit] = h;
      if (t + 1u == p.time) { lastH[own] = h; lastC[own] = cell${r}; }
      ${hasReserve ? each(6, (k) => `reserve[(step * 6u + ${k}u) * p.units + unit] = ${parts(r)[k]};`) : ''}`,
    )}
    workgroupBarrier();
  }`,
  );
}

/**
 * All steps of an LSTM; undefined where they are faster as dispatches of their own.
 * @param operands the gates' part of the input, h0, c0, recurrent weights, y, last h, last c and, if wanted, the reserve.
 */
export function lstmSweep(sizes: SweepSizes, operands: readonly number[]): Dispatch | undefined {
  const shape = shapeOf(sizes, 4, 1);
  const hasSequence = operands.length > 7;
  return (
    shape &&
    sweepDispatch(lstmProgram(shape, hasSequence), operands, sizes, shape, { kind: 'lstm', hasSequence })
  );
}

function gruProgram(shape: Shape): GpuProgram {
  const { rows, across } = shape;
  const ofH = (r: number, g: number): string => `(s${r * 3 + g} + b${g})`;
  const ofX = (r: number, g: number): string => `x${r * 3 + g}`;
  return sweepProgram(
    {
      gates: 'f32',
      h0: 'f32',
      recurrent: 'f32',
      bias: 'f32',
      y: 'mut f32',
      lastH: 'mut f32',
      reserve: 'mut f32',
    },
    shape,
    across,
    3,
    'p.units',
    `${each(rows, (r) => `var before${r} = 0.0;`)} ${each(3, (g) => `var b${g} = 0.0;`)}
  if (part == 0u && unit < p.units) { ${each(3, (g) => `b${g} = bias[${3 + g}u * p.units + unit];`)} }
  ${own(rows, (r) => `before${r} = h0[(first + ${r}u) * p.units + unit]; states[${r * across}u + unit] = before${r};`)}
  workgroupBarrier();
  for (var t = 0u; t < p.time; t++) {
    ${ofStates(shape, 3)}
    ${own(
      rows,
      (r) => `let own = (first + ${r}u) * p.units + unit; let step = (first + ${r}u) * p.time + t;
      let z = fSigmoid(${ofX(r, 0)} + ${ofH(r, 0)}); let r = fSigmoid(${ofX(r, 1)} + ${ofH(r, 1)}); let q = ${ofH(r, 2)};
      let g = fTanh(${ofX(r, 2)} + r * q); let h = z * before${r} + (1.0 - z) * g;
      before${r} = h; states[${r * across}u + unit] = h; y[step * p.units + unit] = h;
      if (t + 1u == p.time) { lastH[own] = h; }
      ${['z', 'r', 'g', 'q'].map((name, k) => `reserve[(step * 4u + ${k}u) * p.units + unit] = ${name};`).join(' ')}`,
    )}
    workgroupBarrier();
  }`,
  );
}

/**
 * All steps of a GRU; undefined where they are faster as dispatches of their own.
 * @param operands the gates' part of the input, h0, recurrent weights, biases, y, last h, reserve.
 */
export function gruSweep(sizes: SweepSizes, operands: readonly number[]): Dispatch | undefined {
  const shape = shapeOf(sizes, 3, 1);
  return (
    shape && sweepDispatch(gruProgram(shape), operands, sizes, shape, { kind: 'gru', hasSequence: true })
  );
}

// ---- gradients

/** The buffers of LSTM's gradient, of a step or of all; `weights` are the recurrent ones, or these turned. */
export function lstmGradBuffers(
  weights: 'recurrent' | 'turned',
  hasSequence: boolean,
): Readonly<Record<string, string>> {
  return {
    c0: 'f32',
    [weights]: 'f32',
    reserve: 'f32',
    ...(hasSequence ? { dh: 'f32' } : {}),
    dlastH: 'f32',
    dgates: 'mut f32',
    dh0: 'mut f32',
    dc0: 'mut f32',
  };
}

/** The same of GRU. */
export function gruGradBuffers(
  weights: 'recurrent' | 'turned',
  hasSequence: boolean,
): Readonly<Record<string, string>> {
  return {
    h0: 'f32',
    [weights]: 'f32',
    y: 'f32',
    reserve: 'f32',
    ...(hasSequence ? { dh: 'f32' } : {}),
    dlastH: 'f32',
    dgates: 'mut f32',
    dh0: 'mut f32',
  };
}

/**
 * The recurrent weights with their columns as rows, so that threads beside each other read words beside each other. A GPU may have no more than 8 buffers for a
 * kernel: the gradient of the last cells lies behind them.
 */
function turnedWeights(
  { batch, units }: SweepSizes,
  gates: number,
  operands: readonly [recurrent: number, lastC: number | undefined, turned: number],
): Dispatch {
  const [recurrent, lastC, turned] = operands;
  const weights = 'turned[thread] = recurrent[thread % p.units * p.columns + thread / p.units];';
  const size = gates * units * units;
  const program = perThread(
    { recurrent: 'f32', ...(lastC === undefined ? {} : { lastC: 'f32' }), turned: 'mut f32' } as Record<
      string,
      string
    >,
    { units: 'u32', columns: 'u32', size: 'u32' },
    lastC === undefined
      ? weights
      : `if (thread < p.size) { ${weights} } else { turned[thread] = lastC[thread - p.size]; }`,
  );
  return launch(
    program,
    [recurrent, ...(lastC === undefined ? [] : [lastC]), turned],
    [units, gates * units, size],
    size + (lastC === undefined ? 0 : batch * units),
  );
}

/** Statements of a step back: from the gradients of all gates to those of the states before. */
const ofGates = (shape: Shape, gates: number): string =>
  `${each(shape.rows, (r) => `s${r} = 0.0;`)}
    ${products(shape.rows, 1, {
      weight: (k) => `turned[${k} * p.units + unit]`,
      state: (r, k) => `states[${r * gates * shape.across}u + ${k}]`,
    })}
    ${gathered(shape, 1)}`;

/** Statements that read what a step needs of those before it, one step ahead. */
const ahead = (
  rows: number,
  names: readonly string[],
  load: (r: number) => string,
): readonly [string, string] => [
  each(rows, (r) => names.map((name) => `var ${name}${r} = 0.0;`).join(' ')),
  own(rows, (r) => `let step = (first + ${r}u) * p.time + at; ${load(r)}`),
];

function lstmGradProgram(shape: Shape, hasSequence: boolean): GpuProgram {
  const { rows, across } = shape;
  const part = (k: number): string => `reserve[(step * 6u + ${k}u) * p.units + unit]`;
  const [declare, load] = ahead(
    rows,
    ['i', 'f', 'g', 'o', 'squashed', 'before', ...(hasSequence ? ['up'] : [])],
    (
      r,
    ) => `i${r} = ${part(0)}; f${r} = ${part(1)}; g${r} = ${part(2)}; o${r} = ${part(3)}; squashed${r} = ${part(5)};
      if (at == 0u) { before${r} = c0[(first + ${r}u) * p.units + unit]; } else { before${r} = reserve[((step - 1u) * 6u + 4u) * p.units + unit]; }
      ${hasSequence ? `up${r} = dh[step * p.units + unit];` : ''}`,
  );
  const state = (r: number, g: number): string => `states[${r * 4 * across}u + ${g}u * p.units + unit]`;
  return sweepProgram(
    lstmGradBuffers('turned', hasSequence),
    shape,
    4 * across,
    1,
    '4u * p.units',
    `${each(rows, (r) => `var s${r} = 0.0; var back${r} = 0.0;`)}
  ${declare}
  ${own(rows, (r) => `let own = (first + ${r}u) * p.units + unit; s${r} = dlastH[own]; back${r} = turned[4u * p.units * p.units + own];`)}
  var at = p.time - 1u;
  ${load}
  for (var i = 0u; i < p.time; i++) {
    ${own(
      rows,
      (r) => `let to = ((first + ${r}u) * p.time + p.time - 1u - i) * 4u * p.units + unit;
      let total = ${hasSequence ? `s${r} + up${r}` : `s${r}`};
      let ofC = back${r} + total * o${r} * (1.0 - squashed${r} * squashed${r});
      let ofI = ofC * g${r} * i${r} * (1.0 - i${r}); let ofF = ofC * before${r} * f${r} * (1.0 - f${r});
      let ofG = ofC * i${r} * (1.0 - g${r} * g${r}); let ofO = total * squashed${r} * o${r} * (1.0 - o${r});
      back${r} = ofC * f${r};
      ${['ofI', 'ofF', 'ofG', 'ofO'].map((name, g) => `dgates[to + ${g}u * p.units] = ${name}; ${state(r, g)} = ${name};`).join(' ')}`,
    )}
    workgroupBarrier();
    if (at > 0u) { at = at - 1u; ${load} }
    ${ofGates(shape, 4)}
  }
  ${own(rows, (r) => `let own = (first + ${r}u) * p.units + unit; dh0[own] = s${r}; dc0[own] = back${r};`)}`,
  );
}

/** What a sweep back makes, and the bytes of its temporary. */
export interface GradSweep {
  readonly dispatches: readonly Dispatch[];
  readonly scratch: number;
}

/**
 * All steps back of an LSTM; undefined where they are faster as dispatches of their own.
 * @param operands c0, recurrent weights, reserve, dh or undefined, gradients of the last h and c, dgates, dh0, dc0. @param scratch the temporary's number
 */
export function lstmGradSweep(
  sizes: SweepSizes,
  operands: readonly [
    c0: number,
    recurrent: number,
    reserve: number,
    dh: number | undefined,
    dlastH: number,
    dlastC: number,
    ...made: number[],
  ],
  scratch: number,
): GradSweep | undefined {
  const shape = shapeOf(sizes, 4, 4);
  if (shape === undefined) return undefined;
  const [c0, recurrent, reserve, dh, dlastH, dlastC, ...made] = operands;
  const ofSequence = dh === undefined ? [] : [dh];
  const { batch, units } = sizes;
  return {
    dispatches: [
      turnedWeights(sizes, 4, [recurrent, dlastC, scratch]),
      sweepDispatch(
        lstmGradProgram(shape, dh !== undefined),
        [c0, scratch, reserve, ...ofSequence, dlastH, ...made],
        sizes,
        shape,
        { kind: 'lstmGrad', hasSequence: dh !== undefined },
      ),
    ],
    scratch: 4 * units * (4 * units + batch),
  };
}

function gruGradProgram(shape: Shape, hasSequence: boolean): GpuProgram {
  const { rows, across } = shape;
  const part = (k: number): string => `reserve[(step * 4u + ${k}u) * p.units + unit]`;
  const [declare, load] = ahead(
    rows,
    ['z', 'r', 'g', 'q', 'before', ...(hasSequence ? ['up'] : [])],
    (r) => `z${r} = ${part(0)}; r${r} = ${part(1)}; g${r} = ${part(2)}; q${r} = ${part(3)};
      if (at == 0u) { before${r} = h0[(first + ${r}u) * p.units + unit]; } else { before${r} = y[(step - 1u) * p.units + unit]; }
      ${hasSequence ? `up${r} = dh[step * p.units + unit];` : ''}`,
  );
  const state = (r: number, g: number): string => `states[${r * 3 * across}u + ${g}u * p.units + unit]`;
  return sweepProgram(
    gruGradBuffers('turned', hasSequence),
    shape,
    3 * across,
    1,
    '3u * p.units',
    `${each(rows, (r) => `var s${r} = 0.0; var past${r} = 0.0;`)}
  ${declare}
  ${own(rows, (r) => `s${r} = dlastH[(first + ${r}u) * p.units + unit];`)}
  var at = p.time - 1u;
  ${load}
  for (var i = 0u; i < p.time; i++) {
    ${own(
      rows,
      (r) => `let to = ((first + ${r}u) * p.time + p.time - 1u - i) * 4u * p.units + unit;
      let total = s${r} + past${r}${hasSequence ? ` + up${r}` : ''};
      let ofG = total * (1.0 - z${r}) * (1.0 - g${r} * g${r});
      let ofZ = total * (before${r} - g${r}) * z${r} * (1.0 - z${r}); let ofR = ofG * q${r} * r${r} * (1.0 - r${r}); let ofQ = ofG * r${r};
      past${r} = total * z${r};
      ${['ofZ', 'ofR', 'ofG', 'ofQ'].map((name, g) => `dgates[to + ${g}u * p.units] = ${name};`).join(' ')}
      ${['ofZ', 'ofR', 'ofQ'].map((name, g) => `${state(r, g)} = ${name};`).join(' ')}`,
    )}
    workgroupBarrier();
    if (at > 0u) { at = at - 1u; ${load} }
    ${ofGates(shape, 3)}
  }
  ${own(rows, (r) => `dh0[(first + ${r}u) * p.units + unit] = s${r} + past${r};`)}`,
  );
}

/**
 * All steps back of a GRU; undefined where they are faster as dispatches of their own.
 * @param operands h0, recurrent weights, y, reserve, dh or undefined, gradient of the last h, dgates, dh0. @param scratch the temporary's number
 */
export function gruGradSweep(
  sizes: SweepSizes,
  operands: readonly [
    h0: number,
    recurrent: number,
    y: number,
    reserve: number,
    dh: number | undefined,
    ...others: number[],
  ],
  scratch: number,
): GradSweep | undefined {
  const shape = shapeOf(sizes, 3, 3);
  if (shape === undefined) return undefined;
  const [h0, recurrent, y, reserve, dh, ...others] = operands;
  const ofSequence = dh === undefined ? [] : [dh];
  return {
    dispatches: [
      turnedWeights(sizes, 3, [recurrent, undefined, scratch]),
      sweepDispatch(
        gruGradProgram(shape, dh !== undefined),
        [h0, scratch, y, reserve, ...ofSequence, ...others],
        sizes,
        shape,
        { kind: 'gruGrad', hasSequence: dh !== undefined },
      ),
    ],
    scratch: 12 * sizes.units * sizes.units,
  };
}
