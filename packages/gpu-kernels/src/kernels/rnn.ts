// Recurrent networks. What does not depend on the state is one product before the steps, or after them. The steps are one dispatch where the units are few
// (`recurrent-sweeps.ts`); else each is one, which makes its part of the product with the state and what follows from it.
import { columnReduction, launchColumns, mergingOf, piecesOf } from './columns.ts';
import {
  alwaysFits,
  type Call,
  type Dispatch,
  fits,
  type GpuKernels,
  type GpuProgram,
  head,
  type Lowered,
  launch,
  lowered,
  perThread,
  programOf,
} from './kernel.ts';
import { copy } from './moves.ts';
import { matrixDispatch, productDispatch } from './product.ts';
import type { Product } from './product-factors.ts';
import {
  type GradSweep,
  gruGradBuffers,
  gruGradSweep,
  gruSweep,
  lstmGradBuffers,
  lstmGradSweep,
  lstmSweep,
} from './recurrent-sweeps.ts';
import { binary } from './scalar-program.ts';

/** A step is made by workgroups of so many threads; each has so many sequences, and so many of their units. */
const THREADS = 256;
const ROWS = 16;
const UNITS = 8;
/** Sums of a thread for each unit: those of so many sequences. The threads of a unit and these sequences share the depth. */
const OWN = 4;
const SHARES = THREADS / (UNITS * (ROWS / OWN));
/** Numbers of different sequences, and of different units, lie in different banks. */
const PITCH = ROWS + 1;

interface Sizes {
  readonly batch: number;
  readonly time: number;
  readonly features: number;
  readonly units: number;
}

function sizesOf(x: Call['inputs'][number], h0: Call['inputs'][number]): Sizes {
  const [batch, time, features] = x.shape;
  return { batch, time, features, units: h0.shape[1] };
}

/**
 * A kernel of one step, number `p.t`, in which a thread works on the state `unit` of the sequence `b`.
 * @param own what each workgroup has in its memory. @param product statements for all threads. @param cell those for the threads in range.
 */
function stepProgram(
  buffers: Readonly<Record<string, string>>,
  own: string,
  product: string,
  cell: string,
): GpuProgram {
  return programOf(`${head(buffers, { batch: 'u32', time: 'u32', units: 'u32', t: 'u32' })}
${own}
@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tx = thread % ${UNITS}u; let top = thread / ${UNITS}u % ${ROWS / OWN}u * ${OWN}u; let share = thread / ${THREADS / SHARES}u;
  let b = group.y * ${ROWS}u + thread / ${UNITS}u; let unit = group.x * ${UNITS}u + tx;
  ${product}
  if (thread < ${ROWS * UNITS}u && b < p.batch && unit < p.units) { let own = b * p.units + unit; let step = b * p.time + p.t; ${cell} }
}`);
}

/** A dispatch of a step; undefined for more sequences than a dimension has workgroups. */
function stepDispatch(
  program: GpuProgram,
  operands: readonly number[],
  { batch, time, units }: Sizes,
  t: number,
): Dispatch {
  const workgroups = [Math.ceil(units / UNITS), Math.ceil(batch / ROWS), 1] as const;
  return { program, operands, params: [batch, time, units, t], workgroups };
}

const isTooLarge = ({ batch, units }: Sizes): boolean => batch > 65535 * ROWS || units > 65535 * UNITS;

const texts = (count: number, text: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => text(i)).join(' ');

/** What a product of a step is of: states [sequences, depth] and weights, whose sums each unit has `count` of. */
interface StepProduct {
  readonly count: number;
  /** So deep a tile is. */
  readonly deep: number;
  readonly depth: string;
  /** Statements that set the variable `to` to the number of the sequence `row` at `d` of the depth. */
  readonly state: (to: string, row: string, d: string) => string;
  /** Where the weight `k` of a tile is in the tile's depth. */
  readonly inner: (k: string) => string;
  /** Statements that set `to` to it, if there is such a unit; `d` is its place in the whole depth. */
  readonly weight: (to: string, k: string, d: string) => string;
  /** Its place in the workgroup's memory. */
  readonly place: (k: string) => string;
  /** The place of the weight of a thread's unit for the sum `i` at `d` of the tile. */
  readonly at: (d: string, i: number) => string;
}

/** Statements after which `sums` are those of a thread's own unit and sequence. What comes next is read while what is there is multiplied. */
function stepProduct({ count, deep, depth, state, inner, weight, place, at }: StepProduct): string {
  const [states, weights] = [(ROWS * deep) / THREADS, (count * deep * UNITS) / THREADS];
  const number = (i: number): string => `(thread + ${i * THREADS}u)`;
  const read = `${texts(states, (i) => {
    const [row, d] = [`(group.y * ${ROWS}u + ${number(i)} / ${deep}u)`, `(start + ${number(i)} % ${deep}u)`];
    return `next${i} = 0.0; if (${row} < p.batch && ${d} < ${depth}) { ${state(`next${i}`, row, d)} }`;
  })}
    ${texts(weights, (i) => {
      const d = `(start + ${inner(number(i))})`;
      return `coming${i} = 0.0; if (${d} < ${depth}) { ${weight(`coming${i}`, number(i), d)} }`;
    })}`;
  return `var sums: array<f32, ${count}>;
  ${texts(states, (i) => `var next${i} = 0.0;`)} ${texts(weights, (i) => `var coming${i} = 0.0;`)}
  ${texts(count * OWN, (i) => `var part${i} = 0.0;`)}
  var start = 0u;
  ${read}
  for (var done = 0u; done < ${depth}; done += ${deep}u) {
    ${texts(states, (i) => `states[${number(i)} % ${deep}u * ${PITCH}u + ${number(i)} / ${deep}u] = next${i};`)}
    ${texts(weights, (i) => `weights[${place(number(i))}] = coming${i};`)}
    workgroupBarrier();
    start = done + ${deep}u;
    if (start < ${depth}) { ${read} }
    for (var d = share * ${deep / SHARES}u; d < (share + 1u) * ${deep / SHARES}u; d++) {
      ${texts(OWN, (r) => `let s${r} = states[d * ${PITCH}u + top + ${r}u];`)}
      ${texts(count, (i) => `let w${i} = weights[${at('d', i)}]; ${texts(OWN, (r) => `part${i * OWN + r} = fma(s${r}, w${i}, part${i * OWN + r});`)}`)}
    }
    workgroupBarrier();
  }
  ${texts(
    count,
    (
      i,
    ) => `${texts(OWN, (r) => `weights[(share * ${ROWS}u + top + ${r}u) * ${UNITS}u + tx] = part${i * OWN + r};`)}
  workgroupBarrier();
  if (thread < ${ROWS * UNITS}u) { var sum = weights[thread]; for (var i = 1u; i < ${SHARES}u; i++) { sum = sum + weights[i * ${ROWS * UNITS}u + thread]; } sums[${i}] = sum; }
  workgroupBarrier();`,
  )}`;
}

/** How deep the tiles of a step's product are, forward and back, so that their memory is at most 16 KiB. */
const DEEP = 64;
const DEEP_BACK = 128;

const memory = (deep: number, weights: number): string => `var<workgroup> states: array<f32, ${deep * PITCH}>;
var<workgroup> weights: array<f32, ${Math.max(weights, SHARES * ROWS * UNITS)}>;`;

/** Statements after which `sums` has the product of the state before this step with the recurrent kernel, for each of the gates. */
const ofState = (gates: number): string =>
  stepProduct({
    count: gates,
    deep: DEEP,
    depth: 'p.units',
    state: (to, row, d) =>
      `if (p.t == 0u) { ${to} = h0[${row} * p.units + ${d}]; } else { ${to} = y[(${row} * p.time + p.t - 1u) * p.units + ${d}]; }`,
    inner: (k) => `${k} / ${gates * UNITS}u`,
    weight: (to, k, d) => {
      const column = `(group.x * ${UNITS}u + ${k} % ${UNITS}u)`;
      return `if (${column} < p.units) { ${to} = recurrent[(${d} * ${gates}u + ${k} / ${UNITS}u % ${gates}u) * p.units + ${column}]; }`;
    },
    place: (k) => k,
    at: (d, i) => `(${d} * ${gates}u + ${i}u) * ${UNITS}u + tx`,
  });

const ofStateMemory = (gates: number): string => memory(DEEP, gates * DEEP * UNITS);

/** x · kernel + bias for all steps. */
function ofInput(
  { batch, time, features, units }: Sizes,
  gates: number,
  operands: readonly number[],
): Dispatch | undefined {
  return matrixDispatch(
    {
      dtype: 'float32',
      buffers: ['x', 'kernel', 'bias'],
      left: {
        buffer: 'x',
        side: { at: 'row * p.depth' },
        deep: { at: 'deep' },
        inner: 'deep',
        run: features,
      },
      right: {
        buffer: 'kernel',
        side: { at: 'column' },
        deep: { at: 'deep * p.columns' },
        inner: 'side',
        run: gates * units,
      },
      at: 'row * p.columns',
      biasAt: 'column',
    },
    operands,
    [],
    [batch * time, gates * units, features],
  );
}

/** The state before step t of a thread's own unit, where `y` has those after all steps. */
const STATE_BEFORE = 'var before = h0[own]; if (p.t > 0u) { before = y[(step - 1u) * p.units + unit]; }';

function lstmStep(hasReserve: boolean): GpuProgram {
  const gate = (g: number): string => `sums[${g}] + gates[(step * 4u + ${g}u) * p.units + unit]`;
  const parts = ['i', 'f', 'g', 'o', 'c', 'squashed'];
  const reserve = parts.map((part, k) => `reserve[(step * 6u + ${k}u) * p.units + unit] = ${part};`);
  return stepProgram(
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
    ofStateMemory(4),
    ofState(4),
    `var cell = c0[own]; if (p.t > 0u) { cell = lastC[own]; }
    let i = fSigmoid(${gate(0)}); let f = fSigmoid(${gate(1)}); let g = fTanh(${gate(2)}); let o = fSigmoid(${gate(3)});
    let c = f * cell + i * g; let squashed = fTanh(c); let h = o * squashed;
    y[step * p.units + unit] = h; lastC[own] = c;
    if (p.t + 1u == p.time) { lastH[own] = h; }
    ${hasReserve ? reserve.join(' ') : ''}`,
  );
}

function lstm({ inputs, outputs }: Call): Lowered | undefined {
  const sizes = sizesOf(inputs[0], inputs[1]);
  const [X, H0, C0, KERNEL, RECURRENT, BIAS, Y, LAST_H, LAST_C, RESERVE] = Array.from(
    { length: 10 },
    (_, i) => i,
  );
  if (sizes.time === 0) return lowered(copy(H0, LAST_H, inputs[1]), copy(C0, LAST_C, inputs[2]));
  const gates = inputs.length + outputs.length;
  const size = 4 * sizes.batch * sizes.time * sizes.units;
  const first = ofInput(sizes, 4, [X, KERNEL, BIAS, gates]);
  if (first === undefined || isTooLarge(sizes) || !fits({ dtype: 'float32', shape: [size], size }))
    return undefined;
  const hasReserve = outputs.length > 3;
  const operands = [gates, H0, C0, RECURRENT, Y, LAST_H, LAST_C, ...(hasReserve ? [RESERVE] : [])];
  const sweep = lstmSweep(sizes, operands);
  if (sweep !== undefined) return { dispatches: [first, sweep], scratch: [4 * size] };
  const program = lstmStep(hasReserve);
  const steps = Array.from({ length: sizes.time }, (_, t) => stepDispatch(program, operands, sizes, t));
  return { dispatches: [first, ...steps], scratch: [4 * size] };
}

function gruStep(): GpuProgram {
  const ofX = (g: number): string => `gates[(step * 3u + ${g}u) * p.units + unit]`;
  const ofH = (g: number): string => `(sums[${g}] + bias[${3 + g}u * p.units + unit])`;
  const reserve = ['z', 'r', 'g', 'q'].map(
    (part, k) => `reserve[(step * 4u + ${k}u) * p.units + unit] = ${part};`,
  );
  return stepProgram(
    {
      gates: 'f32',
      h0: 'f32',
      recurrent: 'f32',
      bias: 'f32',
      y: 'mut f32',
      lastH: 'mut f32',
      reserve: 'mut f32',
    },
    ofStateMemory(3),
    ofState(3),
    `${STATE_BEFORE}
    let z = fSigmoid(${ofX(0)} + ${ofH(0)}); let r = fSigmoid(${ofX(1)} + ${ofH(1)}); let q = ${ofH(2)};
    let g = fTanh(${ofX(2)} + r * q); let h = z * before + (1.0 - z) * g;
    y[step * p.units + unit] = h;
    if (p.t + 1u == p.time) { lastH[own] = h; }
    ${reserve.join(' ')}`,
  );
}

function gru({ inputs }: Call): Lowered | undefined {
  const sizes = sizesOf(inputs[0], inputs[1]);
  const [X, H0, KERNEL, RECURRENT, BIAS, Y, LAST_H, RESERVE, gates] = Array.from({ length: 9 }, (_, i) => i);
  if (sizes.time === 0) return lowered(copy(H0, LAST_H, inputs[1]));
  const size = 3 * sizes.batch * sizes.time * sizes.units;
  const first = ofInput(sizes, 3, [X, KERNEL, BIAS, gates]);
  if (first === undefined || isTooLarge(sizes)) return undefined;
  const operands = [gates, H0, RECURRENT, BIAS, Y, LAST_H, RESERVE];
  const sweep = gruSweep(sizes, operands);
  if (sweep !== undefined) return { dispatches: [first, sweep], scratch: [4 * size] };
  const program = gruStep();
  const steps = Array.from({ length: sizes.time }, (_, t) => stepDispatch(program, operands, sizes, t));
  return { dispatches: [first, ...steps], scratch: [4 * size] };
}

// ---- gradients

/** Which part of dgates the product with the state saw as its part `of`: GRU's last one is that of the state's own. */
const partOf = (gates: number, column: string): string =>
  gates === 4 ? column : `(${column} + ${column} / (2u * p.units) * p.units)`;

/** Statements after which `up` is the gradient of the state after step t: from the last state, or through the gates of step t + 1. */
const fromNext = (gates: number): string => `var up = 0.0;
  if (p.t + 1u < p.time) {
    ${stepProduct({
      count: 1,
      deep: DEEP_BACK,
      depth: `${gates}u * p.units`,
      state: (to, row, d) =>
        `${to} = dgates[(${row} * p.time + p.t + 1u) * 4u * p.units + ${partOf(gates, d)}];`,
      inner: (k) => `${k} % ${DEEP_BACK}u`,
      weight: (to, k, d) => {
        const other = `(group.x * ${UNITS}u + ${k} / ${DEEP_BACK}u)`;
        return `if (${other} < p.units) { ${to} = recurrent[${other} * ${gates}u * p.units + ${d}]; }`;
      },
      place: (k) => `${k} % ${DEEP_BACK}u * ${UNITS + 1}u + ${k} / ${DEEP_BACK}u`,
      at: (d) => `${d} * ${UNITS + 1}u + tx`,
    })}
    up = sums[0];
  }`;

const GRAD_MEMORY = memory(DEEP_BACK, DEEP_BACK * (UNITS + 1));

/** The step before the first one, whose number is 2³² − 1, has no gates: what has arrived is the gradient of the state before them. */
const FIRST = 0xffffffff;

/** dc0 begins as the gradient of the last cells. So there are 8 buffers at most, which every GPU has. */
function lstmGradStep(hasSequence: boolean): GpuProgram {
  const part = (k: number): string => `reserve[(step * 6u + ${k}u) * p.units + unit]`;
  return stepProgram(
    lstmGradBuffers('recurrent', hasSequence),
    GRAD_MEMORY,
    fromNext(4),
    `if (p.t == ${FIRST}u) { dh0[own] = up; } else {
      let dc = dc0[own];
      if (p.t + 1u == p.time) { up = dlastH[own]; }
      ${hasSequence ? 'up = up + dh[step * p.units + unit];' : ''}
      let i = ${part(0)}; let f = ${part(1)}; let g = ${part(2)}; let o = ${part(3)}; let squashed = ${part(5)};
      var before = c0[own]; if (p.t > 0u) { before = reserve[((step - 1u) * 6u + 4u) * p.units + unit]; }
      let ofC = dc + up * o * (1.0 - squashed * squashed);
      let to = step * 4u * p.units + unit;
      dgates[to] = ofC * g * i * (1.0 - i);
      dgates[to + p.units] = ofC * before * f * (1.0 - f);
      dgates[to + 2u * p.units] = ofC * i * (1.0 - g * g);
      dgates[to + 3u * p.units] = up * squashed * o * (1.0 - o);
      dc0[own] = ofC * f;
    }`,
  );
}

/** dh0 keeps what passes by the gates. */
function gruGradStep(hasSequence: boolean): GpuProgram {
  const part = (k: number): string => `reserve[(step * 4u + ${k}u) * p.units + unit]`;
  return stepProgram(
    gruGradBuffers('recurrent', hasSequence),
    GRAD_MEMORY,
    fromNext(3),
    `if (p.t + 1u == p.time) { up = dlastH[own]; } else { up = up + dh0[own]; }
    if (p.t == ${FIRST}u) { dh0[own] = up; } else {
      ${hasSequence ? 'up = up + dh[step * p.units + unit];' : ''}
      let z = ${part(0)}; let r = ${part(1)}; let g = ${part(2)}; let q = ${part(3)};
      ${STATE_BEFORE}
      let candidate = up * (1.0 - z) * (1.0 - g * g);
      let to = step * 4u * p.units + unit;
      dgates[to] = up * (before - g) * z * (1.0 - z);
      dgates[to + p.units] = candidate * q * r * (1.0 - r);
      dgates[to + 2u * p.units] = candidate;
      dgates[to + 3u * p.units] = candidate * r;
      dh0[own] = up * z;
    }`,
  );
}

/** Where the operands of a gradient are. */
interface GradPlaces {
  readonly x: number;
  readonly h0: number;
  readonly kernel: number;
  readonly y: number;
  readonly dgates: number;
  readonly dkernel: number;
  readonly drecurrent: number;
  readonly dbias: number;
  /** Undefined where nobody wants it. */
  readonly dx: number | undefined;
  /** Of the first temporary of those that the gradients of the weights have. */
  readonly scratch: number;
}

/**
 * The sums of the columns of `dgates` [steps, 4 · units], as parts of the biases.
 * @param partial a temporary of the sums of pieces of the steps. @returns its bytes, too
 */
function biasGrad(
  { batch, time, units }: Sizes,
  gates: number,
  [dgates, dbias, partial]: readonly [dgates: number, dbias: number, partial: number],
): { readonly dispatches: readonly Dispatch[]; readonly scratch: number } {
  const [steps, columns] = [batch * time, 4 * units];
  const add = binary('add', 'f32');
  const program = (finish: string): GpuProgram =>
    columnReduction({
      type: 'f32',
      buffers: { x: 'f32', sums: 'mut f32' },
      params: { units: 'u32' },
      states: [{ start: '0.0', combine: add }],
      load: (k) => `let x${k} = x[at${k}];`,
      use: (k) => `s0 = ${add('s0', `x${k}`)};`,
      finish,
    });
  // GRU's second bias is that of the product with the state, which has no part in the third column but in the fourth.
  const last = program(
    gates === 4
      ? 'sums[column] = s0;'
      : `if (column < 3u * p.units) { sums[column] = s0; }
    if (column < 2u * p.units) { sums[column + 3u * p.units] = s0; } else if (column >= 3u * p.units) { sums[column + 2u * p.units] = s0; }`,
  );
  const cut = piecesOf({ outer: 1, n: steps, inner: columns }, 'reduce');
  if (cut.pieces === 1)
    return { dispatches: [launchColumns(last, [dgates, dbias], cut, [units])], scratch: 0 };
  const ofPieces = program('sums[part * p.inner + column] = s0;');
  return {
    dispatches: [
      launchColumns(ofPieces, [dgates, partial], cut, [units]),
      launchColumns(last, [partial, dbias], mergingOf(1, cut.pieces, columns), [units]),
    ],
    scratch: 4 * cut.pieces * columns,
  };
}

/** The gradients that are products over all steps, with temporaries of their own; undefined where one is too large. */
function weightGrads(sizes: Sizes, gates: number, at: GradPlaces): Lowered | undefined {
  const { batch, time, features, units } = sizes;
  const steps = batch * time;
  const width = gates * units;
  // Those of GRU's four parts that the kernel has are no matrix whose rows follow each other.
  const product = (
    made: Omit<Product, 'dtype' | 'params' | 'at'>,
    operands: readonly number[],
    sizes: readonly [rows: number, columns: number, depth: number],
  ): Dispatch | undefined => {
    const whole: Product = { ...made, dtype: 'float32', params: { units: 'u32' }, at: 'row * p.columns' };
    return gates === 4
      ? matrixDispatch(whole, operands, [units], sizes)
      : productDispatch(whole, operands, [units], [1, ...sizes]);
  };
  const ofStep = (step: string): string => `${step} * 4u * p.units`;
  const [before, partial] = [at.scratch, at.scratch + 1];
  const ofBias = biasGrad(sizes, gates, [at.dgates, at.dbias, partial]);
  const dispatches: (Dispatch | undefined)[] = [];
  if (width > 0) {
    const size = steps * units;
    if (size > 0)
      dispatches.push(
        launch(
          perThread(
            { h0: 'f32', y: 'f32', before: 'mut f32' },
            { units: 'u32', time: 'u32' },
            `let step = thread / p.units;
    if (step % p.time == 0u) { before[thread] = h0[step / p.time * p.units + thread % p.units]; } else { before[thread] = y[thread - p.units]; }`,
          ),
          [at.h0, at.y, before],
          [units, time],
          size,
        ),
      );
    dispatches.push(
      product(
        {
          buffers: ['before', 'dgates'],
          left: {
            buffer: 'before',
            side: { at: 'row' },
            deep: { at: 'deep * p.rows' },
            inner: 'side',
            run: units,
          },
          right: {
            buffer: 'dgates',
            side: { at: partOf(gates, 'column') },
            deep: { at: ofStep('deep') },
            inner: 'side',
            run: units,
          },
        },
        [before, at.dgates, at.drecurrent],
        [units, width, steps],
      ),
      ...ofBias.dispatches,
    );
  }
  if (width > 0 && features > 0)
    dispatches.push(
      product(
        {
          buffers: ['x', 'dgates'],
          left: {
            buffer: 'x',
            side: { at: 'row' },
            deep: { at: 'deep * p.rows' },
            inner: 'side',
            run: features,
          },
          right: {
            buffer: 'dgates',
            side: { at: 'column' },
            deep: { at: ofStep('deep') },
            inner: 'side',
            run: units,
          },
        },
        [at.x, at.dgates, at.dkernel],
        [features, width, steps],
      ),
    );
  if (at.dx !== undefined && steps * features > 0)
    dispatches.push(
      product(
        {
          buffers: ['dgates', 'kernel'],
          left: {
            buffer: 'dgates',
            side: { at: ofStep('row') },
            deep: { at: 'deep' },
            inner: 'deep',
            run: units,
          },
          right: {
            buffer: 'kernel',
            side: { at: 'column * p.depth' },
            deep: { at: 'deep' },
            inner: 'deep',
            run: width,
          },
        },
        [at.dgates, at.kernel, at.dx],
        [steps, features, width],
      ),
    );
  if (dispatches.some((dispatch) => dispatch === undefined)) return undefined;
  return {
    dispatches: dispatches as Dispatch[],
    scratch: [4 * steps * units, ofBias.scratch],
  };
}

/** The steps from the last to the first, and that before it. */
function backInTime(program: GpuProgram, operands: readonly number[], sizes: Sizes): Dispatch[] {
  return Array.from({ length: sizes.time + 1 }, (_, i) => {
    const t = sizes.time - 1 - i;
    return stepDispatch(program, operands, sizes, t < 0 ? FIRST : t);
  });
}

function lstmGrad({ inputs, outputs }: Call): Lowered | undefined {
  const sizes = sizesOf(inputs[0], inputs[1]);
  const out = inputs.length;
  const hasSequence = out > 9;
  const [dLastH, dLastC] = [out - 2, out - 1];
  const [dgates, dh0, dc0, dkernel, drecurrent, dbias, dx] = Array.from({ length: 7 }, (_, i) => out + i);
  const [turned, scratch] = [out + outputs.length, out + outputs.length + 1];
  const places = { x: 0, h0: 1, kernel: 3, y: 5, dgates, dkernel, drecurrent, dbias, scratch };
  const weights = weightGrads(sizes, 4, { ...places, dx: outputs.length > 6 ? dx : undefined });
  if (weights === undefined || isTooLarge(sizes)) return undefined;
  const [C0, RECURRENT, RESERVE, DH] = [2, 4, 6, 7];
  const cells = copy(dLastC, dc0, inputs[dLastC]);
  if (outputs[1].size === 0) return withSteps({ dispatches: [], scratch: 0 }, weights);
  if (sizes.time === 0)
    return withSteps({ dispatches: [cells, copy(dLastH, dh0, inputs[dLastH])], scratch: 0 }, weights);
  const made = [dgates, dh0, dc0];
  const dh = hasSequence ? DH : undefined;
  const sweep = lstmGradSweep(sizes, [C0, RECURRENT, RESERVE, dh, dLastH, dLastC, ...made], turned);
  if (sweep !== undefined) return withSteps(sweep, weights);
  const operands = [C0, RECURRENT, RESERVE, ...(hasSequence ? [DH] : []), dLastH, ...made];
  const steps = backInTime(lstmGradStep(hasSequence), operands, sizes);
  return withSteps({ dispatches: [cells, ...steps], scratch: 0 }, weights);
}

/** The steps, whose temporary is the first, and then the gradients of the weights. */
function withSteps(steps: GradSweep, weights: Lowered): Lowered {
  return {
    dispatches: [...steps.dispatches, ...weights.dispatches],
    scratch: [steps.scratch, ...weights.scratch],
  };
}

function gruGrad({ inputs, outputs }: Call): Lowered | undefined {
  const sizes = sizesOf(inputs[0], inputs[1]);
  const out = inputs.length;
  const hasSequence = out > 7;
  const dLastH = out - 1;
  const [dgates, dh0, dkernel, drecurrent, dbias, dx] = Array.from({ length: 6 }, (_, i) => out + i);
  const [turned, scratch] = [out + outputs.length, out + outputs.length + 1];
  const places = { x: 0, h0: 1, kernel: 2, y: 4, dgates, dkernel, drecurrent, dbias, scratch };
  const weights = weightGrads(sizes, 3, { ...places, dx: outputs.length > 5 ? dx : undefined });
  if (weights === undefined || isTooLarge(sizes)) return undefined;
  const [H0, RECURRENT, Y, RESERVE, DH] = [1, 3, 4, 5, 6];
  if (outputs[1].size === 0) return withSteps({ dispatches: [], scratch: 0 }, weights);
  if (sizes.time === 0)
    return withSteps({ dispatches: [copy(dLastH, dh0, inputs[dLastH])], scratch: 0 }, weights);
  const others = [dLastH, dgates, dh0];
  const dh = hasSequence ? DH : undefined;
  const sweep = gruGradSweep(sizes, [H0, RECURRENT, Y, RESERVE, dh, ...others], turned);
  if (sweep !== undefined) return withSteps(sweep, weights);
  const operands = [H0, RECURRENT, Y, RESERVE, ...(hasSequence ? [DH] : []), ...others];
  return withSteps(
    { dispatches: backInTime(gruGradStep(hasSequence), operands, sizes), scratch: 0 },
    weights,
  );
}

export const kernels: GpuKernels = {
  LSTM: { dtypes: ['float32'], lower: alwaysFits(lstm) },
  LSTMGrad: { dtypes: ['float32'], lower: alwaysFits(lstmGrad) },
  GRU: { dtypes: ['float32'], lower: alwaysFits(gru) },
  GRUGrad: { dtypes: ['float32'], lower: alwaysFits(gruGrad) },
};
