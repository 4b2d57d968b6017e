// Losses from logits.
import { InvalidArgumentError } from '@eagre/backend';
import type { IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { type BinaryFunction, defineBinary, defineOp, execute, type Op, pair } from '../../dispatch/op.ts';
import { uniform, values } from '../../dispatch/samples.ts';
import { dims, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { broadcastShapes, normalizeAxis, sameShape, showShape } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { toIndices } from '../array/moving.ts';
import { broadcastTo, expandDims, moveAxis, reshape } from '../array/shaping.ts';

type CrossEntropyPair = [labels: TensorLike, logits: TensorLike];

/** The gradient for the logits of softmax(logits) · weight, where d arrives for it. */
function throughSoftmax(logits: Tensor, d: Tensor): { forLogits: Tensor; weighted: Tensor } {
  const p = logits.softmax();
  const weighted = d.mul(p).sum(-1, { keepdims: true });
  return { forLogits: d.sub(weighted).mul(p), weighted };
}

/** Cross-entropy of softmax(logits) and given distributions, with its gradient. */
const softmaxCrossEntropyOp: Op = defineOp({
  name: 'SoftmaxCrossEntropyWithLogits',
  kernel: 'SoftmaxCrossEntropyWithLogits',
  infer: ([logits]) => [
    { dtype: logits.dtype, shape: [dims(logits)[0]] },
    { dtype: logits.dtype, shape: logits.shape },
  ],
  grad: (g, dLoss, ...more) => {
    const [logits, labels] = g.inputs;
    const each = expandDims(dLoss, -1);
    const dBackprop = more[0] ?? null;
    let dLogits = g.needs(0) ? each.mul(g.outputs[1]) : null;
    let dLabels = g.needs(1) ? each.mul(logits.logSoftmax()).neg() : null;
    if (dBackprop !== null) {
      const { forLogits, weighted } = throughSoftmax(logits, dBackprop);
      if (dLogits !== null) dLogits = dLogits.add(forLogits.mul(labels.sum(-1, { keepdims: true })));
      if (dLabels !== null) dLabels = dLabels.add(weighted.sub(dBackprop));
    }
    return [dLogits, dLabels];
  },
  // Small results are differences of large terms.
  ulp: 128,
  samples: () => [{ inputs: [uniform([3, 4]), uniform([3, 4], 0, 1)] }],
});
/** Cross-entropy of softmax(logits) and class numbers, with its gradient. */
const sparseOp: Op = defineOp({
  name: 'SparseSoftmaxCrossEntropyWithLogits',
  kernel: 'SparseSoftmaxCrossEntropyWithLogits',
  infer: ([logits, labels]) => [
    { dtype: logits.dtype, shape: labels.shape },
    { dtype: logits.dtype, shape: logits.shape },
  ],
  grad: (g, dLoss, ...more) => {
    const dBackprop = more[0] ?? null;
    const d = expandDims(dLoss, -1).mul(g.outputs[1]);
    return [dBackprop === null ? d : d.add(throughSoftmax(g.inputs[0], dBackprop).forLogits), null];
  },
  // Small results are differences of large terms.
  ulp: 128,
  samples: () => [
    { inputs: [uniform([3, 4]), values([2, 0, 3], [3], 'int32')] },
    { inputs: [uniform([2, 3]), values([1, 1], [2], 'int64')] },
  ],
});

function checkLogits(logits: Tensor, op: string): void {
  checkDType(logits.dtype, 'floating', 'logits', op);
  if (logits.rank === 0) throw new InvalidArgumentError('logits is a scalar, expected a class axis', op);
}

/**
 * −Σ labels · log softmax(logits) along the class axis (the last by default); the result has the other axes. `labels` are
 * probabilities of logits' shape (or broadcast to it), and get a gradient too.
 */
export const softmaxCrossEntropyWithLogits: NamedFunction<
  CrossEntropyPair,
  ['labels', 'logits'],
  {
    /** The axis of the classes; the last by default. */
    axis?: IntegerLike;
  }
> = /* @__PURE__ */ defineFunction(
  'nn.softmaxCrossEntropyWithLogits',
  { labels: kind.tensor, logits: kind.tensor },
  { axis: kind.axis },
  (labels, logits, { axis = -1 }: { axis?: number }) => {
    const op = 'SoftmaxCrossEntropyWithLogits';
    let [x, p] = pair(logits, labels, op);
    checkLogits(x, op);
    if (!sameShape(x.shape, p.shape)) {
      const shape = broadcastShapes(x.shape, p.shape, op);
      x = broadcastTo(x, shape);
      p = broadcastTo(p, shape);
    }
    const a = normalizeAxis(axis, x.rank, op);
    if (a !== x.rank - 1) {
      x = moveAxis(x, a, -1);
      p = moveAxis(p, a, -1);
    }
    const lead = toShape(dims(x).slice(0, -1));
    const flat = toShape([sizeOfDims(lead), dims(x)[x.rank - 1]]);
    return reshape(execute(softmaxCrossEntropyOp, [reshape(x, flat), reshape(p, flat)])[0], lead);
  },
);

/**
 * −log softmax(logits)[label] for each example: labels [...] (integer class numbers), logits [..., classes].
 * @throws OutOfRangeError for a label outside of 0 … classes - 1.
 */
export const sparseSoftmaxCrossEntropyWithLogits: NamedFunction<CrossEntropyPair, ['labels', 'logits']> =
  /* @__PURE__ */ defineFunction(
    'nn.sparseSoftmaxCrossEntropyWithLogits',
    { labels: kind.tensor, logits: kind.tensor },
    {},
    (labels, logits) => {
      const op = 'SparseSoftmaxCrossEntropyWithLogits';
      const x = toTensor(logits);
      const l = toIndices(labels, 'labels', op);
      checkLogits(x, op);
      const lead = toShape(dims(x).slice(0, -1));
      if (!sameShape(l.shape, lead)) {
        throw new InvalidArgumentError(
          `labels have shape ${showShape(l.shape)}, expected ${showShape(lead)} for logits ${showShape(x.shape)}`,
          op,
        );
      }
      const n = sizeOfDims(lead);
      const rows = reshape(x, toShape([n, dims(x)[x.rank - 1]]));
      return reshape(execute(sparseOp, [rows, reshape(l, toShape([n]))])[0], lead);
    },
  );

/** Cross-entropy of sigmoid(logits) and given probabilities. */
const sigmoidCrossEntropy: BinaryFunction = defineBinary({
  name: 'SigmoidCrossEntropyWithLogits',
  // max(x, 0) − x·z + log(1 + exp(−|x|)): exact where the loss is tiny, without overflow.
  scalar: (s, x, z) => s.add(s.sub(s.max(x, 0), s.mul(x, z)), s.log1p(s.exp(s.neg(s.abs(x))))),
  grad: (g, dy) => [
    g.needs(0) ? dy.mul(g.a.sigmoid().sub(g.b)) : null,
    g.needs(1) ? dy.mul(g.a).neg() : null,
  ],
  ulp: 16,
});

/** −z · log sigmoid(x) − (1 − z) · log(1 − sigmoid(x)) for labels z and logits x, element-wise. */
export const sigmoidCrossEntropyWithLogits: NamedFunction<CrossEntropyPair, ['labels', 'logits']> =
  /* @__PURE__ */ defineFunction(
    'nn.sigmoidCrossEntropyWithLogits',
    { labels: kind.tensor, logits: kind.tensor },
    {},
    (labels, logits) => {
      const [x, z] = pair(logits, labels, 'SigmoidCrossEntropyWithLogits');
      return sigmoidCrossEntropy(x, z);
    },
  );

/** `sigmoidCrossEntropyWithLogits` in which the positive part counts `posWeight` times. */
export const weightedCrossEntropyWithLogits: NamedFunction<
  [labels: TensorLike, logits: TensorLike, posWeight: TensorLike],
  ['labels', 'logits', 'posWeight']
> = /* @__PURE__ */ defineFunction(
  'nn.weightedCrossEntropyWithLogits',
  { labels: kind.tensor, logits: kind.tensor, posWeight: kind.tensor },
  {},
  (labels, logits, posWeight) => {
    const [x, z] = pair(logits, labels, 'weightedCrossEntropyWithLogits');
    checkDType(x.dtype, 'floating', 'logits', 'weightedCrossEntropyWithLogits');
    const weight = toTensor(posWeight, x.dtype).sub(1).mul(z).add(1);
    return x.mul(z.neg().add(1)).add(weight.mul(x.neg().softplus()));
  },
);

/** Half the sum of squares. */
const l2LossOp: Op = defineOp({
  name: 'L2Loss',
  compose: ([x]) => x.square().sum().mul(0.5),
  grad: ({ x }, dy) => x.mul(dy),
  samples: () => [{ inputs: [uniform([3, 4])] }],
});

/** Σ x² / 2, a scalar. */
export const l2Loss: NamedFunction<[x: TensorLike], ['x|t']> = /* @__PURE__ */ defineFunction(
  'nn.l2Loss',
  { 'x|t': kind.tensor },
  {},
  (x) => {
    const t = toTensor(x);
    checkDType(t.dtype, 'floating', 'x', 'L2Loss');
    return execute(l2LossOp, [t])[0];
  },
);
