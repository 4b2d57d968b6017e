// Recurrent networks over whole sequences.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { graphLoops } from '../../dispatch/graph-loops.ts';
import { type Attrs, defineOp, execute, type Op, type OutputSpec, opHooks, pair } from '../../dispatch/op.ts';
import { type Sample, type SampleInput, uniform } from '../../dispatch/samples.ts';
import {
  type Dim,
  type Dims,
  floorDivDims,
  isExpression,
  modDims,
  mulDims,
  subDims,
} from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { checkList, type Shape, sameShape, showShape } from '../../shapes/shape.ts';
import { lessThan } from '../../shapes/shape-env.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zeros } from '../array/creation.ts';
import { concat, stack } from '../array/join.ts';
import { expandDims, reshape, swapAxes } from '../array/shaping.ts';
import { slice, split, unstack } from '../array/slicing.ts';
import { matmul } from '../linalg/linalg.ts';

// ---- pieces that the gradients share. Sequences are [batch, time, n].

/** Rows of all steps: [batch · time, n]. */
const rows = (t: Tensor): Tensor => {
  const [batch, time, n] = dims(t);
  return reshape(t, toShape([mulDims(batch, time), n]));
};
/** x [.., n] · wᵀ */
const byTransposed = (x: Tensor, w: Tensor): Tensor => matmul(x, w, { transposeB: true });
/** Σ over all steps of aᵀ · b. */
const overSteps = (a: Tensor, b: Tensor): Tensor => matmul(rows(a), rows(b), { transposeA: true });
const from = (t: Tensor, step: number, count: Dim): Tensor =>
  slice(t, [0, step, 0], toShape([dims(t)[0], count, dims(t)[2]]));
const allButOne = (t: Tensor): Dim => subDims(dims(t)[1], 1);
/** What each step finds: `first`, then the sequence without its last step. */
const before = (first: Tensor, t: Tensor): Tensor =>
  concat([expandDims(first, 1), from(t, 0, allButOne(t))], 1);
const zeroState = (t: Tensor): Tensor => zeros(t.shape, t.dtype as 'float32');
const orZeros = (t: Tensor | null | undefined, like: Tensor): Tensor => t ?? zeroState(like);
/** x − x² = x(1 − x), the slope of a sigmoid; 1 − x², that of tanh. */
const slope = (x: Tensor): Tensor => x.sub(x.square());
const slopeOfTanh = (x: Tensor): Tensor => x.square().neg().add(1);
/** The sum of what is there. */
const total = (first: Tensor, ...more: readonly (Tensor | undefined)[]): Tensor =>
  more.reduce<Tensor>((sum, t) => (t === undefined ? sum : sum.add(t)), first);

type Step = (carry: readonly Tensor[], at: readonly Tensor[]) => readonly [gates: Tensor, ...carry: Tensor[]];
/**
 * Walks back over all steps of sequences [batch, time, n].
 * @param carry what the last step gets, [batch, units].
 * @returns the gates of all steps [batch, time, 4 · units], and what the first step leaves.
 */
function backInTime(
  carry: readonly Tensor[],
  sequences: readonly Tensor[],
  step: Step,
): readonly [gates: Tensor, ...carry: Tensor[]] {
  const [batch, units] = dims(carry[0]);
  if (isExpression(dims(sequences[0])[1])) {
    const none = zeros(toShape([batch, mulDims(4, units)]), carry[0].dtype as 'float32');
    const byTime = sequences.map((t) => swapAxes(t, 0, 1));
    const [gates, ...states] = graphLoops.scanBack(([, ...last], at) => step(last, at), byTime, [
      none,
      ...carry,
    ]);
    return [swapAxes(gates, 0, 1), ...states.map((t) => t.at(0))];
  }
  const perStep = sequences.map((t) => unstack(t, 1));
  const all: Tensor[] = [];
  let now = carry;
  for (let t = sequences[0].shape[1] - 1; t >= 0; t--) {
    const [gates, ...next] = step(
      now,
      perStep.map((list) => list[t]),
    );
    all.unshift(gates);
    now = next;
  }
  return [stack(all, 1), ...now];
}

const state = (batch: number, units: number): SampleInput => uniform([batch, units], 0.1, 1);
const sequence = (batch: number, time: number, n: number): SampleInput => uniform([batch, time, n], 0.1, 1);
const sizes: readonly (readonly [batch: number, time: number, features: number, units: number])[] = [
  [2, 3, 2, 3],
  [1, 1, 3, 2],
];

// ---- LSTM

/** Long short-term memory over a sequence: the states of all steps, the last two, and what the gradient needs. */
const lstmOp: Op = defineOp({
  name: 'LSTM',
  ulp: 64,
  kernel: 'LSTM',
  infer: ([x, h0]): OutputSpec[] => {
    const [batch, time] = dims(x);
    const units = dims(h0)[1];
    return [
      { dtype: x.dtype, shape: [batch, time, units] },
      { dtype: x.dtype, shape: h0.shape },
      { dtype: x.dtype, shape: h0.shape },
      { dtype: x.dtype, shape: [batch, time, mulDims(6, units)] },
    ];
  },
  grad: (g, dh, dLastH, dLastC, dReserve) => {
    const [x, h0, c0, kernel, recurrent] = g.inputs;
    const [h, , , reserve] = g.outputs;
    const lastH = orZeros(dLastH, h0);
    const lastC = orZeros(dLastC, c0);
    const given = [x, h0, c0, kernel, recurrent, h, reserve, dh, lastH, lastC];
    const [, dH0, dC0, dKernel, dRecurrent, dBias, dX] =
      dReserve === null || dReserve === undefined
        ? execute(lstmGradOp, given, { inputGradient: g.needs(0) })
        : lstmBackward(given, dReserve);
    return [dX ?? null, dH0, dC0, dKernel, dRecurrent, dBias];
  },
  samples: () =>
    sizes.map(([b, t, f, u]) => ({
      inputs: [
        sequence(b, t, f),
        state(b, u),
        state(b, u),
        uniform([f, 4 * u], 0.1, 0.5),
        uniform([u, 4 * u], 0.1, 0.5),
        uniform([4 * u], 0.1, 0.5),
      ],
    })),
});

/** The gradient of LSTM. The states and the reserve count as inputs of their own: that they are x's is LSTM's matter. */
const lstmGradOp: Op = defineOp({
  name: 'LSTMGrad',
  ulp: 128,
  kernel: 'LSTMGrad',
  kernelAttrs: () => ({}),
  infer: ([x, h0, , kernel, recurrent], attrs) => gradShapes(x, h0, 2, kernel, recurrent, attrs, 1),
  grad: ({ inputs }, ...dys) => opHooks.vjp(lstmBackward, inputs, dys),
  samples: () => gradSamples(6, 2, (f, u) => [uniform([f, 4 * u], 0.1, 0.5), uniform([u, 4 * u], 0.1, 0.5)]),
});

function gradShapes(
  x: Tensor,
  h0: Tensor,
  states: number,
  kernel: Tensor,
  recurrent: Tensor,
  attrs: Attrs,
  biases: number,
): OutputSpec[] {
  const { dtype } = x;
  const [batch, time] = dims(x);
  const width = dims(kernel)[1];
  const shapes: Dims[] = [
    [batch, time, mulDims(4, dims(h0)[1])],
    ...new Array<Dims>(states).fill(h0.shape),
    kernel.shape,
    recurrent.shape,
    biases === 1 ? [width] : [biases, width],
    ...(attrs.inputGradient === true ? [x.shape] : []),
  ];
  return shapes.map((shape) => ({ dtype, shape }));
}

/** With values as gates have them: positive, below 1. */
function gradSamples(
  parts: number,
  states: number,
  weights: (features: number, units: number) => SampleInput[],
): Sample[] {
  return sizes.map(([b, t, f, u], i) => ({
    inputs: [
      sequence(b, t, f),
      ...Array.from({ length: states }, () => state(b, u)),
      ...weights(f, u),
      uniform([b, t, u], 0.1, 0.3),
      uniform([b, t, parts * u], 0.4, 0.9),
      sequence(b, t, u),
      ...Array.from({ length: states }, () => state(b, u)),
    ],
    attrs: { inputGradient: i === 0 },
  }));
}

/**
 * What LSTMGrad computes, step by step and in ops that have gradients: for its own gradient, and for when one arrived at the reserve too.
 * A step's gates follow from the gradients that arrive at its state and its cell.
 */
function lstmBackward(inputs: readonly Tensor[], dReserve: Tensor | null = null): Tensor[] {
  const [x, h0, c0, kernel, recurrent, h, reserve, dh, dLastH, dLastC] = inputs;
  const [i, f, c, o, cell, squashed] = split(reserve, 6, 2);
  const arrived = dReserve === null ? [] : split(dReserve, 6, 2);
  const sequences = [dh, i, f, c, o, squashed, before(c0, cell), ...arrived];
  const [all, toH, toC] = backInTime([dLastH, dLastC], sequences, ([toH, toC], at) => {
    const [up, inp, forget, cand, out, tc, prev, rI, rF, rG, rO, rC, rTc] = at;
    const d = up.add(toH);
    const dc = total(toC, total(d.mul(out), rTc).mul(slopeOfTanh(tc)), rC);
    const gate = concat(
      [
        total(dc.mul(cand), rI).mul(slope(inp)),
        total(dc.mul(prev), rF).mul(slope(forget)),
        total(dc.mul(inp), rG).mul(slopeOfTanh(cand)),
        total(d.mul(tc), rO).mul(slope(out)),
      ],
      1,
    );
    return [gate, byTransposed(gate, recurrent), dc.mul(forget)];
  });
  const weights = [overSteps(x, all), overSteps(before(h0, h), all), all.sum([0, 1])];
  return [all, toH, toC, ...weights, byTransposed(all, kernel)];
}

// ---- GRU

/** Gated recurrent units over a sequence, reset after the product: all states, the last, and what the gradient needs. */
const gruOp: Op = defineOp({
  name: 'GRU',
  ulp: 64,
  kernel: 'GRU',
  infer: ([x, h0]): OutputSpec[] => {
    const [batch, time] = dims(x);
    const units = dims(h0)[1];
    return [
      { dtype: x.dtype, shape: [batch, time, units] },
      { dtype: x.dtype, shape: h0.shape },
      { dtype: x.dtype, shape: [batch, time, mulDims(4, units)] },
    ];
  },
  grad: (g, dh, dLastH, dReserve) => {
    const [x, h0, kernel, recurrent] = g.inputs;
    const [h, , reserve] = g.outputs;
    const lastH = orZeros(dLastH, h0);
    const given = [x, h0, kernel, recurrent, h, reserve, dh, lastH];
    const [, dH0, dKernel, dRecurrent, dBias, dX] =
      dReserve === null || dReserve === undefined
        ? execute(gruGradOp, given, { inputGradient: g.needs(0) })
        : gruBackward(given, dReserve);
    return [dX ?? null, dH0, dKernel, dRecurrent, dBias];
  },
  samples: () =>
    sizes.map(([b, t, f, u]) => ({
      inputs: [
        sequence(b, t, f),
        state(b, u),
        uniform([f, 3 * u], 0.1, 0.5),
        uniform([u, 3 * u], 0.1, 0.5),
        uniform([2, 3 * u], 0.1, 0.5),
      ],
    })),
});

/** The gradient of GRU. The states and the reserve count as inputs of their own: that they are x's is GRU's matter. */
const gruGradOp: Op = defineOp({
  name: 'GRUGrad',
  ulp: 256,
  kernel: 'GRUGrad',
  kernelAttrs: () => ({}),
  infer: ([x, h0, kernel, recurrent], attrs) => gradShapes(x, h0, 1, kernel, recurrent, attrs, 2),
  grad: ({ inputs }, ...dys) => opHooks.vjp(gruBackward, inputs, dys),
  samples: () => gradSamples(4, 1, (f, u) => [uniform([f, 3 * u], 0.1, 0.5), uniform([u, 3 * u], 0.1, 0.5)]),
});

/** Of [z, r, g, q] what the products with x see, [z, r, g], and what those with the state see, [z, r, q]. */
function gateSides(gates: Tensor): { ofX: Tensor; ofH: Tensor } {
  const axis = gates.rank - 1;
  const [z, r, g, q] = split(gates, 4, axis);
  return { ofX: concat([z, r, g], axis), ofH: concat([z, r, q], axis) };
}
/** What GRUGrad computes, step by step: see `lstmBackward`. */
function gruBackward(inputs: readonly Tensor[], dReserve: Tensor | null = null): Tensor[] {
  const [x, h0, kernel, recurrent, h, reserve, dh, dLastH] = inputs;
  const hBefore = before(h0, h);
  const arrived = dReserve === null ? [] : split(dReserve, 4, 2);
  const sequences = [dh, ...split(reserve, 4, 2), hBefore, ...arrived];
  const [all, toH] = backInTime([dLastH], sequences, ([toH], at) => {
    const [up, update, reset, cand, inner, prev, rZ, rR, rC, rQ] = at;
    const d = up.add(toH);
    const candidate = total(d.sub(d.mul(update)), rC).mul(slopeOfTanh(cand));
    const gate = concat(
      [
        total(d.mul(prev.sub(cand)), rZ).mul(slope(update)),
        total(candidate.mul(inner), rR).mul(slope(reset)),
        candidate,
        total(candidate.mul(reset), rQ),
      ],
      1,
    );
    return [gate, d.mul(update).add(byTransposed(gateSides(gate).ofH, recurrent))];
  });
  const { ofX, ofH } = gateSides(all);
  const biases = stack([ofX.sum([0, 1]), ofH.sum([0, 1])]);
  return [all, toH, overSteps(x, ofX), overSteps(hBefore, ofH), biases, byTransposed(ofX, kernel)];
}

/** @internal What LSTMGrad and GRUGrad compute, in ops that have gradients; always with the gradient of x, last. */
export const rnnGradients: {
  readonly lstm: (inputs: readonly Tensor[]) => Tensor[];
  readonly gru: (inputs: readonly Tensor[]) => Tensor[];
} = { lstm: lstmBackward, gru: gruBackward };

// ---- what users call

interface Checked {
  readonly x: Tensor;
  readonly kernel: Tensor;
  readonly recurrent: Tensor;
  readonly bias: Tensor;
  readonly states: readonly Tensor[];
}

type RnnWeights = readonly [kernel: TensorLike, recurrent: TensorLike, bias: TensorLike | null];

function check(
  op: string,
  gates: number,
  input: TensorLike,
  weights: RnnWeights,
  initial: readonly (TensorLike | null | undefined)[],
): Checked {
  const [x, kernel] = pair(input, weights[0], op);
  checkDType(x.dtype, 'floating', 'x', op);
  const fail = (what: string, t: Tensor, expected: string): never => {
    throw new InvalidArgumentError(
      `${what} is ${t.dtype} ${showShape(t.shape)}, expected ${x.dtype} ${expected}`,
      op,
    );
  };
  if (x.rank !== 3 || lessThan(dims(x)[1], 1)) fail('x', x, '[batch, time, features] of at least one step');
  const of = (value: TensorLike, what: string, shape: Shape): Tensor => {
    const t = toTensor(value, x.dtype);
    if (t.dtype !== x.dtype || !sameShape(t.shape, shape)) fail(what, t, showShape(shape));
    return t;
  };
  const features = dims(x)[2];
  if (
    kernel.rank !== 2 ||
    differs(dims(kernel)[0], features) ||
    differs(modDims(dims(kernel)[1], gates), 0)
  ) {
    fail('the kernel', kernel, `[${features}, ${gates} · units]`);
  }
  const width = dims(kernel)[1];
  const units = floorDivDims(width, gates);
  const biasShape = toShape(gates === 3 ? [2, width] : [width]);
  const stateShape = toShape([dims(x)[0], units]);
  return {
    x,
    kernel,
    recurrent: of(weights[1], 'the recurrent kernel', toShape([units, width])),
    bias:
      weights[2] === null ? zeros(biasShape, x.dtype as 'float32') : of(weights[2], 'the bias', biasShape),
    states: initial.map((s) =>
      s === null || s === undefined
        ? zeros(stateShape, x.dtype as 'float32')
        : of(s, 'the initial state', stateShape),
    ),
  };
}

/**
 * Long short-term memory over a sequence x [batch, time, features], with the gates i, f, g, o side by side in the weights:
 * (i, f, o) = σ, g = tanh of x · kernel + h · recurrentKernel + bias; c = f·c + i·g; h = o·tanh(c).
 * @param kernel [features, 4 · units]
 * @param recurrentKernel [units, 4 · units]
 * @param bias [4 · units], or `null`
 * @param options.initialState h and c before the first step, [batch, units] each; zeros by default.
 * @returns the states of all steps [batch, time, units], and the last h and c.
 */
export const lstm: NamedFunction<
  [x: TensorLike, kernel: TensorLike, recurrentKernel: TensorLike, bias?: TensorLike | null],
  ['x', 'kernel', 'recurrentKernel', 'bias'],
  {
    /** The states before the first step, each [batch, units]; zeros by default. */
    initialState?: readonly [h: TensorLike, c: TensorLike] | null;
  },
  { output: Tensor; h: Tensor; c: Tensor }
> = /* @__PURE__ */ defineFunction(
  'nn.lstm',
  { x: kind.tensor, kernel: kind.tensor, recurrentKernel: kind.tensor, bias: kind.tensor },
  { initialState: kind.asIs },
  (x, kernel, recurrentKernel, bias = null, options) => {
    const state: readonly TensorLike[] = options.initialState ?? [];
    checkList(state, 'initialState', 'nn.lstm');
    const count = state.length;
    if (count !== 0 && count !== 2)
      throw new InvalidArgumentError(`initialState must be [h, c], got ${count} values`, 'nn.lstm');
    const [h0, c0] = state;
    const [output, h, c] = runLstm(x, [kernel, recurrentKernel, bias], h0, c0);
    return { output, h, c };
  },
);

/** @internal `nn.lstm` for layers. @returns the states of all steps, the last h and the last c. */
export function runLstm(
  x: TensorLike,
  weights: RnnWeights,
  h0: TensorLike | null | undefined,
  c0: TensorLike | null | undefined,
): readonly [output: Tensor, h: Tensor, c: Tensor] {
  const a = check('LSTM', 4, x, weights, [h0, c0]);
  const [h, c] = a.states as [Tensor, Tensor];
  return execute(lstmOp, [a.x, h, c, a.kernel, a.recurrent, a.bias]) as [Tensor, Tensor, Tensor];
}

/**
 * Gated recurrent units over a sequence x [batch, time, features], with the gates z, r, g side by side in the weights. With
 * a = x · kernel + bias[0] and s = h · recurrentKernel + bias[1]: (z, r) = σ(a + s), g = tanh(a + r·s), h = z·h + (1 − z)·g.
 * @param kernel [features, 3 · units]
 * @param recurrentKernel [units, 3 · units]
 * @param bias [2, 3 · units], or `null`
 * @param options.initialState h before the first step, [batch, units]; zeros by default.
 * @returns the states of all steps [batch, time, units], and the last one.
 */
export const gru: NamedFunction<
  [x: TensorLike, kernel: TensorLike, recurrentKernel: TensorLike, bias?: TensorLike | null],
  ['x', 'kernel', 'recurrentKernel', 'bias'],
  {
    /** The state before the first step, [batch, units]; zeros by default. */
    initialState?: TensorLike | null;
  },
  { output: Tensor; h: Tensor }
> = /* @__PURE__ */ defineFunction(
  'nn.gru',
  { x: kind.tensor, kernel: kind.tensor, recurrentKernel: kind.tensor, bias: kind.tensor },
  { initialState: kind.asIs },
  (x, kernel, recurrentKernel, bias = null, options) => {
    const [output, h] = runGru(x, [kernel, recurrentKernel, bias], options.initialState);
    return { output, h };
  },
);

/** @internal `nn.gru` for layers. @returns the states of all steps, and the last one. */
export function runGru(
  x: TensorLike,
  weights: RnnWeights,
  h0: TensorLike | null | undefined,
): readonly [output: Tensor, h: Tensor] {
  const a = check('GRU', 3, x, weights, [h0]);
  return execute(gruOp, [a.x, a.states[0], a.kernel, a.recurrent, a.bias]) as [Tensor, Tensor];
}
