// Normalisation of rows, the last axis, by kernels of its own.
import { defineOp, execute, type GradContext, type Op, type OutputSpec } from '../../dispatch/op.ts';
import { type SampleInput, uniform } from '../../dispatch/samples.ts';
import { maxDims } from '../../shapes/dim.ts';
import { dims } from '../../shapes/dims.ts';
import type { Shape } from '../../shapes/shape.ts';
import { sizeValue } from '../../shapes/sizes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { expandDims } from '../array/shaping.ts';

const perRow = (x: Tensor): OutputSpec => ({ dtype: x.dtype, shape: dims(x).slice(0, -1) });
const like = (x: Tensor): OutputSpec => ({ dtype: x.dtype, shape: x.shape });
const perColumn = (x: Tensor): OutputSpec => ({ dtype: x.dtype, shape: dims(x).slice(-1) });
const rowMean = (t: Tensor): Tensor => t.mean(-1, { keepdims: true });
const overRows = (t: Tensor): Tensor => t.sum(Array.from({ length: t.rank - 1 }, (_, i) => i));
const column = (t: Tensor): Tensor => expandDims(t, -1);

/** x̂ · gamma + beta of each row; with `centered` x̂ = (x − mean) · r, else x · r. */
function forwardGrad(
  g: GradContext,
  dy: Tensor,
  dMean: Tensor | null,
  dRstd: Tensor | null,
): (Tensor | null)[] {
  const [x, second] = g.inputs;
  const centered = g.outputs.length === 3;
  const rstd = g.outputs[g.outputs.length - 1];
  const scaled = g.attrs.scaled === true;
  const statistics = g.outputs.slice(1);
  const [dx, dGamma, dBeta = null] = execute(centered ? layerNormGradOp : rmsNormGradOp, [
    dy,
    x,
    ...statistics,
    ...(scaled ? [second] : []),
  ]);
  let total = dx;
  const n = sizeValue(maxDims(1, dims(x)[x.rank - 1]), x.dtype);
  if (dMean !== null) total = total.add(column(dMean.div(n)));
  if (dRstd !== null) {
    // d rstd / dx = −r³ (x − mean) / n
    const centred = centered ? x.sub(column(g.outputs[1])) : x;
    total = total.add(centred.mul(column(dRstd.mul(rstd).mul(rstd).mul(rstd).div(n).neg())));
  }
  return [total, ...(scaled ? [dGamma] : []), ...(g.attrs.shifted === true ? [dBeta] : [])];
}

/**
 * The gradient's own gradient, where dy, x, mean, r and gamma count as independent; that the statistics are x's is the forward
 * op's matter. `u`, `v`, `w` arrive for dx, dgamma and dbeta.
 */
function backwardGrad(
  g: GradContext,
  centered: boolean,
  u: Tensor,
  v: Tensor | null,
  w: Tensor | null,
): (Tensor | null)[] {
  const [dy, x] = g.inputs;
  const mean = centered ? g.inputs[2] : null;
  const r = column(g.inputs[centered ? 3 : 2]);
  const gamma = g.inputs[centered ? 4 : 3] as Tensor | undefined;
  const centred = mean === null ? x : x.sub(column(mean));
  const normal = centred.mul(r);
  const h = gamma === undefined ? dy : dy.mul(gamma);
  const meanHx = rowMean(h.mul(normal));
  const meanUx = rowMean(u.mul(normal));
  /** What dx is but for r: t less its mean and its part along x̂. */
  const flat = (t: Tensor, along: Tensor): Tensor =>
    (centered ? t.sub(rowMean(t)) : t).sub(normal.mul(along));
  const inner = u.mul(flat(h, meanHx)).sum(-1);
  const toH = flat(u, meanUx).mul(r);
  let toNormal = u.mul(meanHx).add(h.mul(meanUx)).mul(r).neg();
  let toDy = gamma === undefined ? toH : toH.mul(gamma);
  if (v !== null) {
    toDy = toDy.add(normal.mul(v));
    toNormal = toNormal.add(dy.mul(v));
  }
  if (w !== null) toDy = toDy.add(w);
  const toX = toNormal.mul(r);
  const toR = inner.add(toNormal.mul(centred).sum(-1));
  return [
    toDy,
    toX,
    ...(centered ? [toX.sum(-1).neg()] : []),
    toR,
    ...(gamma === undefined ? [] : [overRows(toH.mul(dy))]),
  ];
}

const gammaSample = (n: number): SampleInput => uniform([n], 0.5, 2);
const statistic = (shape: Shape): SampleInput => uniform(shape, 0.5, 1.5);

/** Normalises each row of the last axis to mean 0 and variance 1, then scales and shifts; also gives mean and 1/√variance. */
const layerNormOp: Op = defineOp({
  name: 'LayerNorm',
  kernel: 'LayerNorm',
  infer: ([x]) => [like(x), perRow(x), perRow(x)],
  grad: (g, dy, ...more) => forwardGrad(g, dy, more[0] ?? null, more[1] ?? null),
  // Values near the mean are differences of large terms.
  ulp: 128,
  samples: () => [
    {
      inputs: [uniform([3, 5]), gammaSample(5), uniform([5])],
      attrs: { epsilon: 1e-3, scaled: true, shifted: true },
    },
    {
      inputs: [uniform([2, 3, 37]), gammaSample(37)],
      attrs: { epsilon: 1e-5, scaled: true, shifted: false },
    },
    { inputs: [uniform([2, 70]), uniform([70])], attrs: { epsilon: 1e-3, scaled: false, shifted: true } },
    { inputs: [uniform([6])], attrs: { epsilon: 1e-3, scaled: false, shifted: false } },
  ],
});

/** The gradient of LayerNorm. */
const layerNormGradOp: Op = defineOp({
  name: 'LayerNormGrad',
  kernel: 'LayerNormGrad',
  infer: ([, x]) => [like(x), perColumn(x), perColumn(x)],
  grad: (g, u, ...more) => backwardGrad(g, true, u, more[0] ?? null, more[1] ?? null),
  ulp: 128,
  samples: () => [
    { inputs: [uniform([3, 5]), uniform([3, 5]), uniform([3]), statistic([3]), gammaSample(5)] },
    { inputs: [uniform([2, 2, 35]), uniform([2, 2, 35]), uniform([2, 2]), statistic([2, 2])] },
  ],
});

/** Divides each row of the last axis by its root mean square, then scales; also gives the reciprocal of that root. */
const rmsNormOp: Op = defineOp({
  name: 'RMSNorm',
  kernel: 'RMSNorm',
  infer: ([x]) => [like(x), perRow(x)],
  grad: (g, dy, ...more) => forwardGrad(g, dy, null, more[0] ?? null),
  ulp: 64,
  samples: () => [
    { inputs: [uniform([3, 5]), gammaSample(5)], attrs: { epsilon: 1e-3, scaled: true } },
    { inputs: [uniform([2, 3, 37])], attrs: { epsilon: 1e-5, scaled: false } },
  ],
});

/** The gradient of RMSNorm. */
const rmsNormGradOp: Op = defineOp({
  name: 'RMSNormGrad',
  kernel: 'RMSNormGrad',
  infer: ([, x]) => [like(x), perColumn(x)],
  grad: (g, u, ...more) => backwardGrad(g, false, u, more[0] ?? null, null),
  ulp: 64,
  samples: () => [
    { inputs: [uniform([3, 5]), uniform([3, 5]), statistic([3]), gammaSample(5)] },
    { inputs: [uniform([2, 2, 35]), uniform([2, 2, 35]), statistic([2, 2])] },
  ],
});

/** (x − mean) · rstd · gamma + beta along the last axis; gamma and beta are [n] or null, of x's dtype. */
export function layerNormRows(x: Tensor, gamma: Tensor | null, beta: Tensor | null, epsilon: number): Tensor {
  const inputs = [x];
  if (gamma !== null) inputs.push(gamma);
  if (beta !== null) inputs.push(beta);
  return execute(layerNormOp, inputs, { epsilon, scaled: gamma !== null, shifted: beta !== null })[0];
}

/** x · rstd · gamma along the last axis; gamma is [n] or null, of x's dtype. */
export function rmsNormRows(x: Tensor, gamma: Tensor | null, epsilon: number): Tensor {
  const inputs = gamma === null ? [x] : [x, gamma];
  return execute(rmsNormOp, inputs, { epsilon, scaled: gamma !== null })[0];
}
