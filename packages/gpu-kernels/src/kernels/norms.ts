// Means and variances, batch and layer normalization.
import { type DType, isHalf, list, product } from '@eagre/backend';
import {
  type ColumnReduction,
  type Columns,
  columnLanes,
  columnPass,
  columnReduction,
  columnStore,
  columnType,
  columnValue,
  launchColumns,
  mergingOf,
  piecesOf,
} from './columns.ts';
import {
  alwaysFits,
  type Call,
  type Dispatch,
  fits,
  type GpuKernels,
  type Lowered,
  lowered,
  type TensorInfo,
} from './kernel.ts';
import { acrossRow, combined, eachOf, launchRows, once, perRow } from './reduce.ts';
import { floats, floatType, ofFloats, rounded } from './scalar-program.ts';

/** A finite number near the values, from which they are measured; 0 where the first of them is none. */
export const levelOf = (name: string, first: string): string =>
  `let ${name} = select(0.0, ${first}, isFinite(${first}));`;
const sum = { start: '0.0', combine: (a: string, b: string) => `${a} + ${b}` };
/** The squares of distances from the mean, from sums of distances from a level; not below 0 by rounding, but NaN as it is. */
const squaresOf = (name: string, s: string, squares: string, count: string): string =>
  `var ${name} = ${squares} - fDiv(${s} * ${s}, ${count}); ${name} = select(${name}, 0.0, ${name} < 0.0);`;
const elementOf = (lane: number, lanes: number): string => `column * ${lanes}u + ${lane}u`;

/** Where means and variances go. */
export interface Made {
  /** Of a mean and a variance in turn. */
  readonly buffers: Readonly<Record<string, string>>;
  readonly operands: readonly number[];
}

/** Statements that store `center` and `square` of a lane, of so many numbers, as the mean and the variance. */
export function storeMoments({ buffers }: Made, at: string, total: string, lane: number | '' = ''): string {
  return Object.keys(buffers)
    .map((name, k) => `${name}[${at}] = ${k % 2 === 0 ? `center${lane}` : `fDiv(square${lane}, ${total})`};`)
    .join(' ');
}

/** What threads do to get means and variances of columns: each measures from the first of its rows, so that a mean far from zero costs no digits of the variance. */
export function momentText(
  dtype: DType,
  lanes: 1 | 2,
): Pick<ColumnReduction, 'type' | 'states' | 'setUp' | 'load' | 'use'> & { readonly moments: string } {
  const all = Array.from({ length: lanes }, (_, lane) => lane);
  // Of no rows, nothing is read.
  const near = all
    .map(
      (lane) =>
        `let first${lane} = ${columnValue('start', lane, dtype, lanes)}; ${levelOf(`level${lane}`, `first${lane}`)}`,
    )
    .join(' ');
  return {
    type: 'f32',
    states: all.flatMap(() => [sum, sum]),
    setUp: `var start: ${lanes === 2 ? 'u32' : 'f32'} = 0${lanes === 2 ? 'u' : '.0'}; if (first < last) { start = x[origin + first * p.inner]; } ${near}`,
    load: (k) => `let x${k} = x[at${k}];`,
    use: (k) =>
      all
        .map(
          (lane) => `let d${k}_${lane} = ${columnValue(`x${k}`, lane, dtype, lanes)} - level${lane};
          s${2 * lane} = s${2 * lane} + d${k}_${lane}; s${2 * lane + 1} = fma(d${k}_${lane}, d${k}_${lane}, s${2 * lane + 1});`,
        )
        .join('\n'),
    /** Statements that declare the mean of `count` rows, `center`, and the squares of the distances from it, `square`, of each lane. */
    moments: all
      .map(
        (lane) => `let center${lane} = level${lane} + fDiv(s${2 * lane}, count);
        ${squaresOf(`square${lane}`, `s${2 * lane}`, `s${2 * lane + 1}`, 'count')}`,
      )
      .join('\n'),
  };
}

/** Means and variances of columns in one pass. */
export function columnMoments(
  x: number,
  dtype: DType,
  columns: Columns,
  made: Made,
  extra: (bytes: number) => number,
): Dispatch[] {
  const { outer, n, inner } = columns;
  const lanes = columnLanes(dtype, inner);
  const cut = piecesOf({ outer, n, inner: inner / lanes }, 'reduce');
  const isLast = cut.pieces === 1;
  const place = `(plane * p.pieces + part) * ${2 * lanes}u * p.inner + `;
  const { moments, ...reduction } = momentText(dtype, lanes);
  const program = columnReduction({
    ...reduction,
    buffers: { x: columnType(dtype, lanes), ...(isLast ? made.buffers : { parts: 'mut f32' }) },
    finish: `${reduction.setUp} let count = f32(last - first); ${moments}
    ${perLane(lanes, (lane, at) =>
      isLast
        ? storeMoments(made, `plane * p.inner * ${lanes}u + ${at}`, 'count', lane)
        : `parts[${place}${at}] = center${lane}; parts[${place}${lanes}u * p.inner + ${at}] = square${lane};`,
    )}`,
  });
  if (isLast) return [launchColumns(program, [x, ...made.operands], cut)];
  const parts = extra(8 * outer * cut.pieces * inner);
  const base = (r: string): string => `(plane * p.n + ${r}) * 2u * p.inner + column`;
  const nearParts = `let start = parts[${base('0u')}]; ${levelOf('level', 'start')}`;
  const merge = columnReduction({
    type: 'f32',
    buffers: { parts: 'f32', ...made.buffers },
    params: { rows: 'u32', total: 'u32' },
    states: [sum, sum],
    setUp: nearParts,
    load: (k) => `let m${k} = parts[${base(`r${k}`)}]; let q${k} = parts[${base(`r${k}`)} + p.inner];`,
    use: (k) => `let d${k} = m${k} - level; let w${k} = d${k} * f32(min(p.rows, p.total - r${k} * p.rows));
      s0 = s0 + w${k}; s1 = s1 + fma(w${k}, d${k}, q${k});`,
    finish: `${nearParts} let count = f32(p.total); let center = level + s0 / count; ${squaresOf('square', 's0', 's1', 'count')}
      ${storeMoments(made, 'plane * p.inner + column', 'count')}`,
  });
  return [
    launchColumns(program, [x, parts], cut),
    launchColumns(merge, [parts, ...made.operands], mergingOf(outer, cut.pieces, inner), [cut.piece, n]),
  ];
}

function moments({ inputs: [x], outputs: [mean], attrs }: Call): Lowered {
  const axes = list(attrs.axes);
  const n = product(axes.map((axis) => x.shape[axis]));
  const inner = axes.length === 0 ? 1 : product(x.shape.slice(axes[axes.length - 1] + 1));
  const scratch: number[] = [];
  const made = { buffers: ofFloats(x.dtype, { mean: 'mut f32', variance: 'mut f32' }), operands: [1, 2] };
  const columns = { outer: mean.size / inner, n, inner };
  const dispatches = columnMoments(0, x.dtype, columns, made, (bytes) => 2 + scratch.push(bytes));
  return { dispatches, scratch };
}

/** Results of 16 bits, beside those in float32 that other kernels read. */
const roundedTo = (dtype: DType, ...names: readonly string[]): Readonly<Record<string, string>> =>
  isHalf(dtype) ? ofFloats(dtype, Object.fromEntries(names.map((name) => [name, 'mut f32']))) : {};

/** Statements for each lane of a thread, which see the number of the column as `e`; their names end in the lane. */
export const perLane = (lanes: number, text: (lane: number, at: string) => string): string =>
  Array.from({ length: lanes }, (_, lane) => text(lane, `(${elementOf(lane, lanes)})`)).join('\n');

function batchNorm({ inputs: [x, scale], attrs }: Call): Lowered | undefined {
  if (!fits(x) || scale.size === 0) return undefined;
  const { dtype } = x;
  const inner = scale.size;
  const n = x.size / inner;
  // Mean and variance have the scale's.
  const half = isHalf(scale.dtype);
  const scratch = half ? [4 * inner, 4 * inner] : [];
  const extra = (bytes: number): number => 5 + scratch.push(bytes);
  // Mean and variance, and those of float32 that y is computed from.
  const exact = half ? [6, 7] : [4, 5];
  const made: Made = {
    buffers: {
      mean: 'mut f32',
      variance: 'mut f32',
      ...roundedTo(scale.dtype, 'roundedMean', 'roundedVariance'),
    },
    operands: half ? [...exact, 4, 5] : exact,
  };
  const lanes = columnLanes(dtype, inner);
  const stored = columnType(dtype, lanes);
  const apply = columnPass({
    buffers: {
      x: stored,
      ...ofFloats(scale.dtype, { scale: 'f32', offset: 'f32' }),
      mean: 'f32',
      variance: 'f32',
      y: `mut ${stored}`,
    },
    params: { epsilon: 'f32' },
    setUp: perLane(
      lanes,
      (lane, at) =>
        `let level${lane} = mean[${at}]; let slope${lane} = scale[${at}] * fRsqrt(variance[${at}] + p.epsilon); let start${lane} = offset[${at}];`,
    ),
    load: (k) => `let x${k} = x[at${k}];`,
    use: (k) =>
      `y[at${k}] = ${columnStore(
        Array.from(
          { length: lanes },
          (_, lane) =>
            `(${columnValue(`x${k}`, lane, dtype, lanes)} - level${lane}) * slope${lane} + start${lane}`,
        ),
        dtype,
      )};`,
  });
  return {
    dispatches: [
      ...columnMoments(0, dtype, { outer: 1, n, inner }, made, extra),
      launchColumns(apply, [0, 1, 2, ...exact, 3], piecesOf({ outer: 1, n, inner: inner / lanes }, 'apply'), [
        attrs.epsilon as number,
      ]),
    ],
    scratch,
  };
}

/** What a thread adds up along a column, as an expression for a lane of row k. */
export interface ColumnSums {
  readonly n: number;
  readonly inner: number;
  readonly lanes: 1 | 2;
  readonly inputs: Readonly<Record<string, string>>;
  readonly operands: readonly number[];
  readonly params?: Readonly<Record<string, number>>;
  readonly setUp?: string;
  readonly load: (k: number) => string;
  /** Statements behind all loads, before the sums of row k. */
  readonly make?: (k: number) => string;
  readonly sums: readonly ((k: number, lane: number) => string)[];
  /** What becomes of the sum at the end, as an expression of the column `at`. */
  readonly finish?: (sum: string, number: number, at: string) => string;
  /** For each sum, the buffers to which it goes, and their operands. */
  readonly outputs: readonly Readonly<Record<string, readonly [type: string, operand: number]>>[];
}

/** What threads do to get sums of columns, where these go, and their variables. */
export function sumText({ lanes, params = {}, setUp, load, make = () => '', sums, outputs }: ColumnSums): {
  readonly reduction: Pick<ColumnReduction, 'type' | 'states' | 'setUp' | 'load' | 'use'> & {
    readonly params: Readonly<Record<string, 'f32'>>;
  };
  readonly buffers: Readonly<Record<string, string>>;
  readonly places: readonly number[];
  readonly nameOf: (number: number, lane: number) => string;
  /** Statements that add a value, as an expression, to each sum. */
  readonly add: (value: (number: number, lane: number) => string) => string;
  /** Statements that put what a sum has become where it goes. */
  readonly store: (number: number, value: string, at: string) => string;
} {
  const all = Array.from({ length: lanes }, (_, lane) => lane);
  const made = Object.assign({}, ...outputs) as Record<string, readonly [string, number]>;
  const nameOf = (number: number, lane: number): string => `s${number * lanes + lane}`;
  const add = (value: (number: number, lane: number) => string): string =>
    sums
      .flatMap((_, number) =>
        all.map((lane) => `${nameOf(number, lane)} = ${nameOf(number, lane)} + ${value(number, lane)};`),
      )
      .join('\n');
  return {
    reduction: {
      type: 'f32',
      params: Object.fromEntries(Object.keys(params).map((name) => [name, 'f32' as const])),
      states: sums.flatMap(() => all.map(() => sum)),
      setUp,
      load,
      use: (k) => `${make(k)}\n${add((number, lane) => sums[number](k, lane))}`,
    },
    buffers: Object.fromEntries(Object.entries(made).map(([name, [type]]) => [name, `mut ${type}`])),
    places: Object.values(made).map(([, operand]) => operand),
    nameOf,
    add,
    store: (number, value, at) =>
      Object.keys(outputs[number])
        .map((name) => `${name}[${at}] = ${value};`)
        .join(' '),
  };
}

/** Sums over rows of functions of 2-D tensors. */
export function columnSums(given: ColumnSums, extra: (bytes: number) => number): Dispatch[] {
  const { n, inner, lanes, inputs, operands, params = {}, sums, finish = (s) => s } = given;
  const { reduction, buffers, places, nameOf, store } = sumText(given);
  const cut = piecesOf({ outer: 1, n, inner: inner / lanes }, 'reduce');
  const isLast = cut.pieces === 1;
  const program = columnReduction({
    ...reduction,
    buffers: { ...inputs, ...(isLast ? buffers : { parts: 'mut f32' }) },
    finish: sums
      .map((_, i) =>
        perLane(lanes, (lane, at) => {
          const value = finish(nameOf(i, lane), i, at);
          return isLast
            ? store(i, value, at)
            : `parts[(part * ${sums.length}u + ${i}u) * ${lanes}u * p.inner + ${at}] = ${value};`;
        }),
      )
      .join('\n'),
  });
  const numbers = Object.values(params);
  if (isLast) return [launchColumns(program, [...operands, ...places], cut, numbers)];
  const parts = extra(4 * sums.length * cut.pieces * inner);
  const merge = columnReduction({
    type: 'f32',
    buffers: { parts: 'f32', ...buffers },
    params: { size: 'u32' },
    states: [sum],
    load: (k) => `let x${k} = parts[at${k}];`,
    use: (k) => `s0 = s0 + x${k};`,
    finish: sums
      .map((_, i) => `if (column / p.size == ${i}u) { ${store(i, 's0', `column - ${i}u * p.size`)} }`)
      .join(' '),
  });
  return [
    launchColumns(program, [...operands, parts], cut, numbers),
    launchColumns(merge, [parts, ...places], mergingOf(1, cut.pieces, sums.length * inner), [inner]),
  ];
}

function batchNormGrad({ inputs: [dy, x, scale], attrs }: Call): Lowered | undefined {
  if (!fits(dy, x) || scale.size === 0) return undefined;
  const { dtype } = x;
  const inner = scale.size;
  const n = x.size / inner;
  const epsilon = attrs.epsilon as number;
  const half = isHalf(scale.dtype);
  const scratch = half ? [4 * inner, 4 * inner] : [];
  const extra = (bytes: number): number => 7 + scratch.push(bytes);
  const [dscale, doffset] = half ? [8, 9] : [6, 7];
  const lanes = columnLanes(dtype, inner);
  const stored = columnType(dtype, lanes);
  const rounded = (name: string, operand: number): Readonly<Record<string, readonly [string, number]>> =>
    half ? { [name]: [floatType(scale.dtype), operand] } : {};
  const value = (name: string, k: number, lane: number): string =>
    columnValue(`${name}${k}`, lane, dtype, lanes);
  const load = (k: number): string => `let dy${k} = dy[at${k}]; let x${k} = x[at${k}];`;
  const sums = columnSums(
    {
      n,
      inner,
      lanes,
      inputs: { dy: stored, x: stored, ...ofFloats(scale.dtype, { mean: 'f32', variance: 'f32' }) },
      operands: [0, 1, 3, 4],
      params: { epsilon },
      setUp: perLane(lanes, (lane, at) => `let level${lane} = mean[${at}];`),
      load,
      sums: [
        (k, lane) => value('dy', k, lane),
        (k, lane) => `${value('dy', k, lane)} * (${value('x', k, lane)} - level${lane})`,
      ],
      finish: (s, number, at) => (number === 0 ? s : `${s} * fRsqrt(variance[${at}] + p.epsilon)`),
      outputs: [
        { doffset: ['f32', doffset], ...rounded('roundedOffset', 7) },
        { dscale: ['f32', dscale], ...rounded('roundedScale', 6) },
      ],
    },
    extra,
  );
  // The gradient reads the sums, dscale and doffset.
  const apply = columnPass({
    buffers: {
      dy: stored,
      x: stored,
      ...ofFloats(scale.dtype, { scale: 'f32', mean: 'f32', variance: 'f32' }),
      dscale: 'f32',
      doffset: 'f32',
      dx: `mut ${stored}`,
    },
    params: { epsilon: 'f32', count: 'f32' },
    setUp: perLane(
      lanes,
      (lane, at) =>
        `let inverse${lane} = fRsqrt(variance[${at}] + p.epsilon); let level${lane} = mean[${at}]; let factor${lane} = scale[${at}] * inverse${lane};
        let shift${lane} = doffset[${at}] / p.count; let slope${lane} = dscale[${at}] * inverse${lane} / p.count;`,
    ),
    load,
    use: (k) =>
      `dx[at${k}] = ${columnStore(
        Array.from(
          { length: lanes },
          (_, lane) =>
            `factor${lane} * ((${value('dy', k, lane)} - shift${lane}) - (${value('x', k, lane)} - level${lane}) * slope${lane})`,
        ),
        dtype,
      )};`,
  });
  const cut = piecesOf({ outer: 1, n, inner: inner / lanes }, 'apply');
  return {
    dispatches: [...sums, launchColumns(apply, [0, 1, 2, 3, 4, dscale, doffset, 5], cut, [epsilon, n])],
    scratch,
  };
}

/** What is read along the rows of x, as a buffer of its own dtype: what loads it for place k, and its value for a lane. */
interface Along {
  readonly type: string;
  readonly load: (k: number) => string;
  readonly value: (k: number, lane: number) => string;
}

function along(name: string, { dtype }: TensorInfo, x: DType, lanes: 1 | 2): Along {
  if (dtype === x)
    return {
      type: columnType(x, lanes),
      load: (k) => `let ${name}${k} = ${name}[i${k}];`,
      value: (k, lane) => columnValue(`${name}${k}`, lane, x, lanes),
    };
  return {
    type: floatType(dtype),
    load: () => '',
    value: (k, lane) => `${name}[i${k} * ${lanes}u + ${lane}u]`,
  };
}

/** Of layers, and of root mean squares, where nothing is subtracted. Where x has 16 bits, all but y may be of float32. @param sum statements that make x, the first output, of the first two inputs, `a` and `b`. */
export function rowNorm(
  centered: boolean,
  sum?: (value: (name: string, k: number, lane: number) => string, lanes: 1 | 2, dtype: DType) => string,
): (call: Pick<Call, 'inputs' | 'outputs' | 'attrs'>) => Lowered | undefined {
  return ({ inputs, outputs, attrs }) => {
    const [x] = inputs;
    const rstd = outputs[outputs.length - 1];
    if (!fits(x)) return undefined;
    if (x.size === 0) return undefined;
    const scaled = Boolean(attrs.scaled);
    const shifted = centered && Boolean(attrs.shifted);
    const n = x.size / rstd.size;
    const lanes = columnLanes(x.dtype, n);
    const stored = columnType(x.dtype, lanes);
    const all = Array.from({ length: lanes }, (_, lane) => lane);
    const value = (name: string, k: number, lane: number): string =>
      columnValue(`${name}${k}`, lane, x.dtype, lanes);
    const load = (k: number): string => `let x${k} = x[base + i${k}];`;
    const sums = (of: (k: number, lane: number) => string): string =>
      `mine = 0.0; ${eachOf(load, (many) => `mine = mine + (${many.flatMap((k) => all.map((lane) => of(k, lane))).join(' + ')});`)}`;
    const from = (k: number, lane: number): string => `(${value('x', k, lane)} - center)`;
    const [gamma, beta] = ['gamma', 'beta'].map((name, i) =>
      (i === 0 ? scaled : shifted)
        ? along(name, inputs[(sum ? 2 : 1) + (i === 0 || !scaled ? 0 : 1)], x.dtype, lanes)
        : undefined,
    );
    const across = acrossRow(n / lanes);
    const program = perRow(
      {
        ...(sum ? { a: stored, b: stored } : { x: stored }),
        ...(gamma && { gamma: gamma.type }),
        ...(beta && { beta: beta.type }),
        ...(sum && { x: `mut ${stored}` }),
        y: `mut ${stored}`,
        ...ofFloats(rstd.dtype, { ...(centered ? { mean: 'mut f32' } : {}), rstd: 'mut f32' }),
      },
      { epsilon: 'f32' },
      `let base = row * p.n; let size = f32(p.n * ${lanes}u); ${sum?.(value, lanes, x.dtype) ?? ''}
      ${centered ? `${sums((k, lane) => value('x', k, lane))} ${combined('level')} let center = level / size;` : 'let center = 0.0;'}
      ${sums((k, lane) => `${from(k, lane)} * ${from(k, lane)}`)} ${combined('square')}
      let inverse = fRsqrt(square / size + p.epsilon);
      ${once(`${centered ? 'mean[row] = center;' : ''} rstd[row] = inverse;`)}
      ${eachOf(
        (k) => `${load(k)} ${gamma?.load(k) ?? ''} ${beta?.load(k) ?? ''}`,
        (many) =>
          many
            .map(
              (k) =>
                `y[base + i${k}] = ${columnStore(
                  all.map(
                    (lane) =>
                      `${from(k, lane)} * inverse${gamma ? ` * ${gamma.value(k, lane)}` : ''}${beta ? ` + ${beta.value(k, lane)}` : ''}`,
                  ),
                  x.dtype,
                )};`,
            )
            .join(' '),
      )}`,
      across,
    );
    const operands = [...inputs, ...outputs].map((_, i) => i);
    return lowered(launchRows(program, operands, rstd.size, n / lanes, across, [attrs.epsilon as number]));
  };
}

/** The gradient of a normalisation of rows. @param summand whether the last input is added to dx, as rounded numbers are. @param sumsOf what makes the gradients of columns. */
export function rowNormGrad(
  centered: boolean,
  summand = '',
  sumsOf: typeof columnSums = columnSums,
): (call: Pick<Call, 'inputs' | 'outputs'>) => Lowered | undefined {
  return ({ inputs, outputs }) => {
    const [dy, x] = inputs;
    const rstd = inputs[centered ? 3 : 2];
    const scaled = inputs.length - (summand ? 1 : 0) > (centered ? 4 : 3);
    if (!fits(dy, x) || x.size === 0) return undefined;
    const n = x.size / rstd.size;
    const lanes = columnLanes(x.dtype, n);
    const stored = columnType(x.dtype, lanes);
    const all = Array.from({ length: lanes }, (_, lane) => lane);
    const value = (name: string, k: number, lane: number): string =>
      columnValue(`${name}${k}`, lane, x.dtype, lanes);
    const gamma = scaled ? along('gamma', inputs[centered ? 4 : 3], x.dtype, lanes) : undefined;
    const load = (k: number): string =>
      `let dy${k} = dy[base + i${k}]; let x${k} = x[base + i${k}]; ${gamma?.load(k) ?? ''}`;
    const slopeOf = (k: number, lane: number): string =>
      gamma ? `(${value('dy', k, lane)} * ${gamma.value(k, lane)})` : value('dy', k, lane);
    const normal = (k: number, lane: number): string =>
      `((${value('x', k, lane)}${centered ? ' - center' : ''}) * inverse)`;
    const across = acrossRow(n / lanes);
    const dx = perRow(
      {
        dy: stored,
        x: stored,
        ...ofFloats(rstd.dtype, { ...(centered ? { mean: 'f32' } : {}), rstd: 'f32' }),
        ...(gamma && { gamma: gamma.type }),
        ...(summand && { [summand]: stored }),
        dx: `mut ${stored}`,
      },
      {},
      `let base = row * p.n; let size = f32(p.n * ${lanes}u); let inverse = rstd[row]; ${centered ? 'let center = mean[row];' : ''}
      var levels = 0.0; var slopes = 0.0;
      ${eachOf(load, (many) =>
        many
          .flatMap((k) =>
            all.map(
              (lane) =>
                `${centered ? `levels = levels + ${slopeOf(k, lane)};` : ''} slopes = slopes + ${slopeOf(k, lane)} * ${normal(k, lane)};`,
            ),
          )
          .join('\n'),
      )}
      ${centered ? `mine = levels; ${combined('levelSum')} let level = levelSum / size;` : 'let level = 0.0;'}
      mine = slopes; ${combined('slopeSum')} let slope = slopeSum / size;
      ${eachOf(
        (k) => `${load(k)} ${summand && `let ${summand}${k} = ${summand}[base + i${k}];`}`,
        (many) =>
          many
            .map(
              (k) =>
                `dx[base + i${k}] = ${columnStore(
                  all.map((lane) => {
                    const made = `inverse * (${slopeOf(k, lane)} - level - ${normal(k, lane)} * slope)`;
                    return summand ? `${value(summand, k, lane)} + ${rounded(made, x.dtype)}` : made;
                  }),
                  x.dtype,
                )};`,
            )
            .join('\n'),
      )}`,
      across,
    );
    const given = inputs.map((_, i) => i);
    const out = inputs.length;
    const scratch: number[] = [];
    const made = floatType(outputs[1].dtype);
    const params = sumsOf(
      {
        n: rstd.size,
        inner: n,
        lanes,
        inputs: {
          dy: stored,
          x: stored,
          ...ofFloats(rstd.dtype, { ...(centered ? { mean: 'f32' } : {}), rstd: 'f32' }),
        },
        operands: given.slice(0, centered ? 4 : 3),
        load: (k) =>
          `let dy${k} = dy[at${k}]; let x${k} = x[at${k}]; let rstd${k} = rstd[r${k}]; ${centered ? `let mean${k} = mean[r${k}];` : ''}`,
        sums: [
          (k, lane) =>
            `${value('dy', k, lane)} * ((${value('x', k, lane)}${centered ? ` - mean${k}` : ''}) * rstd${k})`,
          ...(centered ? [(k: number, lane: number) => value('dy', k, lane)] : []),
        ],
        outputs: [{ dgamma: [made, out + 1] }, ...(centered ? [{ dbeta: [made, out + 2] as const }] : [])],
      },
      (bytes) => out + outputs.length - 1 + scratch.push(bytes),
    );
    return {
      dispatches: [launchRows(dx, [...given, out], rstd.size, n / lanes, across), ...params],
      scratch,
    };
  };
}

// Batch normalization reads what it has written, which 16 bits would round between.
export const kernels: GpuKernels = {
  Moments: { dtypes: floats, lower: alwaysFits(moments) },
  FusedBatchNorm: { dtypes: floats, lower: batchNorm },
  FusedBatchNormGrad: { dtypes: floats, lower: batchNormGrad },
  LayerNorm: { dtypes: floats, lower: rowNorm(true) },
  LayerNormGrad: { dtypes: floats, lower: rowNormGrad(true) },
  RMSNorm: { dtypes: floats, lower: rowNorm(false) },
  RMSNormGrad: { dtypes: floats, lower: rowNormGrad(false) },
};
