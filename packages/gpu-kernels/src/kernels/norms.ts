// Means and variances, batch and layer normalization. Sums in two passes, so that a mean far from zero costs no digits of the variance.
import { type DType, isHalf, list, product } from '@eagre/backend';
import {
  alwaysFits,
  type Call,
  fits,
  type GpuKernels,
  type GpuProgram,
  groups,
  type Lowered,
  launch,
  lowered,
  perThread,
} from './kernel.ts';
import { each, perRow, total } from './reduce.ts';
import { floats, ofFloats } from './scalar-program.ts';

/** Over axes that follow each other, x is [outer, n, inner], and a workgroup makes a mean and a variance. */
const momentsProgram = (
  dtype: DType,
  made: DType = dtype,
  rounded: Readonly<Record<string, string>> = {},
): GpuProgram =>
  perRow(
    {
      ...ofFloats(dtype, { x: 'f32' }),
      ...ofFloats(made, { mean: 'mut f32', variance: 'mut f32' }),
      ...rounded,
    },
    { inner: 'u32' },
    `let base = (row / p.inner) * p.n * p.inner + row % p.inner;
    ${total('level', 'x[base + i * p.inner]')} let center = fDiv(level, f32(p.n));
    ${total('square', '(x[base + i * p.inner] - center) * (x[base + i * p.inner] - center)')}
    if (t == 0u) { mean[row] = center; variance[row] = fDiv(square, f32(p.n));
      ${Object.keys(rounded)
        .map((name, k) => `${name}[row] = ${k === 0 ? 'center' : 'fDiv(square, f32(p.n))'};`)
        .join(' ')} }`,
  );

function moments({ inputs: [x], outputs: [mean, variance], attrs }: Call): Lowered {
  const axes = list(attrs.axes);
  const n = product(axes.map((axis) => x.shape[axis]));
  const inner = axes.length === 0 ? 1 : product(x.shape.slice(axes[axes.length - 1] + 1));
  return lowered({
    program: momentsProgram(x.dtype),
    operands: [0, 1, 2],
    params: [variance.size, n, inner],
    workgroups: groups(mean.size),
  });
}

/** Results of 16 bits, beside those in float32 that other kernels read. */
const roundedTo = (dtype: DType, ...names: readonly string[]): Readonly<Record<string, string>> =>
  isHalf(dtype) ? ofFloats(dtype, Object.fromEntries(names.map((name) => [name, 'mut f32']))) : {};

function batchNorm({ inputs: [x, scale], outputs: [y, , variance], attrs }: Call): Lowered | undefined {
  if (!fits(x) || scale.size === 0) return undefined;
  const channels = scale.size;
  const half = isHalf(x.dtype);
  const apply = perThread(
    {
      ...ofFloats(x.dtype, { x: 'f32', scale: 'f32', offset: 'f32' }),
      mean: 'f32',
      variance: 'f32',
      ...ofFloats(x.dtype, { y: 'mut f32' }),
    },
    { channels: 'u32', epsilon: 'f32' },
    `let k = thread % p.channels;
    y[thread] = (x[thread] - mean[k]) * (scale[k] * fRsqrt(variance[k] + p.epsilon)) + offset[k];`,
  );
  // Mean and variance, and those of float32 that y is computed from.
  const exact = half ? [6, 7] : [4, 5];
  return {
    dispatches: [
      {
        program: momentsProgram(x.dtype, 'float32', roundedTo(x.dtype, 'roundedMean', 'roundedVariance')),
        operands: half ? [0, ...exact, 4, 5] : [0, ...exact],
        params: [variance.size, x.size / channels, channels],
        workgroups: groups(channels),
      },
      launch(apply, [0, 1, 2, ...exact, 3], [channels, attrs.epsilon as number], y.size),
    ],
    scratch: half ? [4 * channels, 4 * channels] : [],
  };
}

function batchNormGrad({ inputs: [dy, x, scale], attrs }: Call): Lowered | undefined {
  if (!fits(dy, x) || scale.size === 0) return undefined;
  const channels = scale.size;
  const pixels = x.size / channels;
  const epsilon = attrs.epsilon as number;
  const half = isHalf(x.dtype);
  const rounded = roundedTo(x.dtype, 'roundedScale', 'roundedOffset');
  const sums = perRow(
    {
      ...ofFloats(x.dtype, { dy: 'f32', x: 'f32', mean: 'f32', variance: 'f32' }),
      dscale: 'mut f32',
      doffset: 'mut f32',
      ...rounded,
    },
    { epsilon: 'f32' },
    `let center = mean[row]; let inverse = fRsqrt(variance[row] + p.epsilon);
    ${total('level', 'dy[i * p.rows + row]')}
    ${total('slope', 'dy[i * p.rows + row] * ((x[i * p.rows + row] - center) * inverse)')}
    if (t == 0u) { doffset[row] = level; dscale[row] = slope; ${half ? 'roundedOffset[row] = level; roundedScale[row] = slope;' : ''} }`,
  );
  // The gradient reads the sums, dscale and doffset.
  const apply = perThread(
    {
      ...ofFloats(x.dtype, { dy: 'f32', x: 'f32', scale: 'f32', mean: 'f32', variance: 'f32' }),
      dscale: 'f32',
      doffset: 'f32',
      ...ofFloats(x.dtype, { dx: 'mut f32' }),
    },
    { channels: 'u32', pixels: 'f32', epsilon: 'f32' },
    `let k = thread % p.channels; let inverse = fRsqrt(variance[k] + p.epsilon); let normal = (x[thread] - mean[k]) * inverse;
    dx[thread] = scale[k] * inverse * (dy[thread] - (doffset[k] + normal * dscale[k]) / p.pixels);`,
  );
  const exact = half ? [8, 9] : [6, 7];
  return {
    dispatches: [
      {
        program: sums,
        operands: half ? [0, 1, 3, 4, ...exact, 6, 7] : [0, 1, 3, 4, ...exact],
        params: [channels, pixels, epsilon],
        workgroups: groups(channels),
      },
      launch(apply, [0, 1, 2, 3, 4, ...exact, 5], [channels, pixels, epsilon], x.size),
    ],
    scratch: half ? [4 * channels, 4 * channels] : [],
  };
}

/** Of layers, and of root mean squares, where nothing is subtracted. */
function rowNorm(centered: boolean): (call: Call) => Lowered | undefined {
  return ({ inputs, outputs, attrs }) => {
    const [x] = inputs;
    const rstd = outputs[outputs.length - 1];
    if (!fits(x)) return undefined;
    if (x.size === 0) return undefined;
    const scaled = Boolean(attrs.scaled);
    const shifted = centered && Boolean(attrs.shifted);
    const n = x.size / rstd.size;
    const program = perRow(
      ofFloats(x.dtype, {
        x: 'f32',
        ...(scaled ? { gamma: 'f32' } : {}),
        ...(shifted ? { beta: 'f32' } : {}),
        y: 'mut f32',
        ...(centered ? { mean: 'mut f32' } : {}),
        rstd: 'mut f32',
      }),
      { epsilon: 'f32' },
      `let base = row * p.n;
      ${centered ? `${total('level', 'x[base + i]')} let center = level / f32(p.n);` : 'let center = 0.0;'}
      ${total('square', '(x[base + i] - center) * (x[base + i] - center)')}
      let inverse = fRsqrt(square / f32(p.n) + p.epsilon);
      if (t == 0u) { ${centered ? 'mean[row] = center;' : ''} rstd[row] = inverse; }
      ${each(`y[base + i] = (x[base + i] - center) * inverse${scaled ? ' * gamma[i]' : ''}${shifted ? ' + beta[i]' : ''};`)}`,
    );
    const operands = [...inputs, ...outputs].map((_, i) => i);
    return lowered({
      program,
      operands,
      params: [rstd.size, n, attrs.epsilon as number],
      workgroups: groups(rstd.size),
    });
  };
}

function rowNormGrad(centered: boolean): (call: Call) => Lowered | undefined {
  return ({ inputs, outputs }) => {
    const [dy, x] = inputs;
    const rstd = inputs[centered ? 3 : 2];
    const scaled = inputs.length > (centered ? 4 : 3);
    if (!fits(dy, x) || x.size === 0) return undefined;
    const n = x.size / rstd.size;
    const read = {
      dy: 'f32',
      x: 'f32',
      ...(centered ? { mean: 'f32' } : {}),
      rstd: 'f32',
      ...(scaled ? { gamma: 'f32' } : {}),
    };
    const normal = (at: string, row: string): string =>
      `((x[${at}]${centered ? ` - mean[${row}]` : ''}) * rstd[${row}])`;
    const h = `dy[base + i]${scaled ? ' * gamma[i]' : ''}`;
    const dx = perRow(
      ofFloats(x.dtype, { ...read, dx: 'mut f32' }),
      {},
      `let base = row * p.n;
      ${centered ? `${total('sums', h)} let level = sums / f32(p.n);` : 'let level = 0.0;'}
      ${total('slopes', `${h} * ${normal('base + i', 'row')}`)} let slope = slopes / f32(p.n);
      ${each(`dx[base + i] = rstd[row] * (${h} - level - ${normal('base + i', 'row')} * slope);`)}`,
    );
    const { gamma: _, ...columns } = read as Record<string, string>;
    // A workgroup for each column adds over the rows.
    const params = perRow(
      ofFloats(x.dtype, { ...columns, dgamma: 'mut f32', ...(centered ? { dbeta: 'mut f32' } : {}) }),
      {},
      `${total('slope', `dy[i * p.rows + row] * ${normal('i * p.rows + row', 'i')}`)}
      ${centered ? `${total('level', 'dy[i * p.rows + row]')}` : ''}
      if (t == 0u) { dgamma[row] = slope; ${centered ? 'dbeta[row] = level;' : ''} }`,
    );
    const given = inputs.map((_, i) => i);
    const out = inputs.length;
    return lowered(
      { program: dx, operands: [...given, out], params: [rstd.size, n], workgroups: groups(rstd.size) },
      {
        program: params,
        operands: [...given.slice(0, centered ? 4 : 3), ...outputs.slice(1).map((_, i) => out + 1 + i)],
        params: [n, rstd.size],
        workgroups: groups(n),
      },
    );
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
