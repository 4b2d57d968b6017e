// Recurrent networks over whole sequences.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import {
  type Attrs,
  defineOp,
  execute,
  type GradContext,
  type Op,
  type OutputSpec,
  pair,
} from '../../dispatch/op.ts';
import { type Sample, type SampleInput, uniform } from '../../dispatch/samples.ts';
import { type Dim, type Dims, floorDivDims, modDims, mulDims, subDims } from '../../shapes/dim.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { type Shape, sameShape, showShape } from '../../shapes/shape.ts';
import { lessThan } from '../../shapes/shape-env.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { zeros } from '../array/creation.ts';
import { concat, stack } from '../array/join.ts';
import { expandDims, reshape } from '../array/shaping.ts';
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
/** The sequence without its first step, then `last`. */
const after = (t: Tensor, last: Tensor): Tensor => concat([from(t, 1, allButOne(t)), expandDims(last, 1)], 1);
const firstOf = (t: Tensor): Tensor => reshape(from(t, 0, 1), toShape([dims(t)[0], dims(t)[2]]));
const zeroState = (t: Tensor): Tensor => zeros(t.shape, t.dtype as 'float32');
const orZeros = (t: Tensor | null | undefined, like: Tensor): Tensor => t ?? zeroState(like);
/** x − x² = x(1 − x), the slope of a sigmoid; 1 − x², that of tanh. */
const slope = (x: Tensor): Tensor => x.sub(x.square());
const slopeOfTanh = (x: Tensor): Tensor => x.square().neg().add(1);
const steps = (t: Tensor): Tensor[] => unstack(t, 1);
/** The sum of what is there. */
const total = (first: Tensor, ...more: readonly (Tensor | null)[]): Tensor =>
  more.reduce<Tensor>((sum, t) => (t === null ? sum : sum.add(t)), first);
/** f of the tensor, if it is there. */
const given = (t: Tensor | null | undefined, f: (t: Tensor) => Tensor): Tensor | null =>
  t === null || t === undefined ? null : f(t);

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
    if (dReserve !== null && dReserve !== undefined) return lstmUnrolled(g, dh, lastH, lastC, dReserve);
    const [, dH0, dC0, dKernel, dRecurrent, dBias, dX] = execute(
      lstmGradOp,
      [x, h0, c0, kernel, recurrent, h, reserve, dh, lastH, lastC],
      { inputGradient: g.needs(0) },
    );
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
  grad: (g, dGates, ...more) => lstmGradGrad(g, dGates, more),
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

/** LSTM's gradient step by step, for when one arrived at the reserve too: in the gradient of a gradient. */
function lstmUnrolled(
  g: GradContext,
  dh: Tensor,
  dLastH: Tensor,
  dLastC: Tensor,
  dReserve: Tensor,
): Tensor[] {
  const [x, h0, c0, kernel, recurrent] = g.inputs;
  const [h, , , reserve] = g.outputs;
  const [i, f, c, o, cell, squashed] = split(reserve, 6, 2);
  const [di, df, dg, dO, dCell, dSquashed] = split(dReserve, 6, 2);
  // A step's gates follow from the gradients that arrive at its state and its cell.
  const perStep = [
    dh,
    dO,
    squashed,
    slope(o),
    o,
    dSquashed,
    slopeOfTanh(squashed),
    dCell,
    di,
    c,
    slope(i),
    df,
    before(c0, cell),
    slope(f),
    dg,
    i,
    slopeOfTanh(c),
    f,
  ].map(steps);
  const gates: Tensor[] = [];
  let toH = dLastH;
  let toC = dLastC;
  for (let t = x.shape[1] - 1; t >= 0; t--) {
    const at = perStep.map((list) => list[t]);
    const [up, rO, tc, sO, out, rTc, sTc, rC, rI, cand, sI, rF, prev, sF, rG, inp, sG, forget] = at;
    const d = up.add(toH);
    const dc = toC.add(rC).add(d.mul(out).add(rTc).mul(sTc));
    const gate = concat(
      [
        dc.mul(cand).add(rI).mul(sI),
        dc.mul(prev).add(rF).mul(sF),
        dc.mul(inp).add(rG).mul(sG),
        d.mul(tc).add(rO).mul(sO),
      ],
      1,
    );
    gates.unshift(gate);
    toC = dc.mul(forget);
    toH = byTransposed(gate, recurrent);
  }
  const all = stack(gates, 1);
  return [
    byTransposed(all, kernel),
    toH,
    toC,
    overSteps(x, all),
    overSteps(before(h0, h), all),
    all.sum([0, 1]),
  ];
}

/**
 * LSTMGrad walks back in time, linear in the gradients that it carries: with d the gradient of h and e that of c, a step has
 * d = dh + (the later step's gates) · Uᵀ, e = (the later e · f) + d · P, gates = (e · Ai, e · Af, e · Ag, d · Ao). Its own
 * gradient therefore walks forth, carrying what arrives at d and e.
 */
function lstmGradGrad(g: GradContext, ddGates: Tensor, more: readonly (Tensor | null)[]): Tensor[] {
  const [x, h0, c0, kernel, recurrent, h, reserve, dh, dLastH, dLastC] = g.inputs;
  const gates = g.outputs[0];
  const [ddH0, ddC0, ddKernel, ddRecurrent, ddBias, ddX] = more;
  const time = x.shape[1];
  const [i, f, c, o, cell, squashed] = split(reserve, 6, 2);
  const hBefore = before(h0, h);
  const cBefore = before(c0, cell);
  const si = slope(i);
  const sf = slope(f);
  const so = slope(o);
  const sc = slopeOfTanh(c);
  const st = slopeOfTanh(squashed);
  const P = o.mul(st);

  const d = dh.add(after(byTransposed(gates, recurrent), dLastH));
  const fSteps = steps(f);
  const own = steps(d.mul(P));
  const cells: Tensor[] = [];
  let carry = dLastC;
  for (let t = time - 1; t >= 0; t--) {
    const e = carry.add(own[t]);
    cells.unshift(e);
    carry = e.mul(fSteps[t]);
  }
  const e = stack(cells, 1);

  // What arrives at the gates from all but the recurrence.
  const arrived = steps(
    total(
      ddGates,
      given(ddKernel, (w) => matmul(x, w)),
      given(ddRecurrent, (w) => matmul(hBefore, w)),
      ddBias ?? null,
      given(ddX, (t) => matmul(t, kernel)),
    ),
  );
  const factors = [c.mul(si), cBefore.mul(sf), i.mul(sc), squashed.mul(so), P].map(steps);
  const lists: [Tensor[], Tensor[], Tensor[], Tensor[], Tensor[]] = [[], [], [], [], []];
  let toH = orZeros(ddH0, h0);
  let toC = orZeros(ddC0, c0);
  for (let t = 0; t < time; t++) {
    const [Ai, Af, Ag, Ao, p] = factors.map((list) => list[t]);
    const gate = arrived[t].add(matmul(toH, recurrent));
    const [gi, gf, gg, go] = split(gate, 4, 1);
    const ofC = total(toC.mul(fSteps[t]), gi.mul(Ai), gf.mul(Af), gg.mul(Ag));
    const ofH = go.mul(Ao).add(ofC.mul(p));
    [toH, toC, gate, ofC, ofH].forEach((value, k) => {
      lists[k].push(value);
    });
    toH = ofH;
    toC = ofC;
  }
  const [carriedH, carriedC, gate, ofC, ofH] = lists.map((list) => stack(list, 1));
  const [gi, gf, gg, go] = split(gate, 4, 2);
  const toAi = gi.mul(e);
  const toAf = gf.mul(e);
  const toAg = gg.mul(e);
  const toAo = go.mul(d);
  const toP = ofC.mul(d);
  const toCBefore = toAf.mul(sf);
  const toHBefore = given(ddRecurrent, (w) => byTransposed(gates, w)) ?? zeroState(h);
  const double = (t: Tensor): Tensor => t.mul(2);
  const opposite = (t: Tensor): Tensor => double(t).neg().add(1);
  const toReserve = concat(
    [
      toAi.mul(c).mul(opposite(i)).add(toAg.mul(sc)),
      carriedC.mul(e).add(toAf.mul(cBefore).mul(opposite(f))),
      toAi.mul(si).sub(double(toAg.mul(i).mul(c))),
      toP.mul(st).add(toAo.mul(squashed).mul(opposite(o))),
      after(toCBefore, zeroState(c0)),
      toAo.mul(so).sub(double(toP.mul(o).mul(squashed))),
    ],
    2,
  );
  return [
    given(ddKernel, (w) => byTransposed(gates, w)) ?? zeroState(x),
    firstOf(toHBefore),
    firstOf(toCBefore),
    given(ddX, (t) => overSteps(t, gates)) ?? zeroState(kernel),
    overSteps(carriedH, gates),
    after(toHBefore, zeroState(h0)),
    toReserve,
    ofH,
    toH,
    toC,
  ];
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
    if (dReserve !== null && dReserve !== undefined) return gruUnrolled(g, dh, lastH, dReserve);
    const [, dH0, dKernel, dRecurrent, dBias, dX] = execute(
      gruGradOp,
      [x, h0, kernel, recurrent, h, reserve, dh, lastH],
      { inputGradient: g.needs(0) },
    );
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
  grad: (g, dGates, ...more) => gruGradGrad(g, dGates, more),
  samples: () => gradSamples(4, 1, (f, u) => [uniform([f, 3 * u], 0.1, 0.5), uniform([u, 3 * u], 0.1, 0.5)]),
});

/** Of [z, r, g, q] what the products with x see, [z, r, g], and what those with the state see, [z, r, q]. */
function gateSides(gates: Tensor): { ofX: Tensor; ofH: Tensor } {
  const axis = gates.rank - 1;
  const [z, r, g, q] = split(gates, 4, axis);
  return { ofX: concat([z, r, g], axis), ofH: concat([z, r, q], axis) };
}
/** The reverse: sums of z and r, then g and q. */
function gatesOf(ofX: Tensor, ofH: Tensor): Tensor {
  const axis = ofX.rank - 1;
  const [zx, rx, g] = split(ofX, 3, axis);
  const [zh, rh, q] = split(ofH, 3, axis);
  return concat([zx.add(zh), rx.add(rh), g, q], axis);
}

function gruUnrolled(g: GradContext, dh: Tensor, dLastH: Tensor, dReserve: Tensor): Tensor[] {
  const [x, h0, kernel, recurrent] = g.inputs;
  const [h, , reserve] = g.outputs;
  const [z, r, c, q] = split(reserve, 4, 2);
  const hBefore = before(h0, h);
  const one = z.neg().add(1);
  const perStep = [dh, z, one, hBefore.sub(c), slope(z), slopeOfTanh(c), q, r, slope(r)]
    .concat(split(dReserve, 4, 2))
    .map(steps);
  const gates: Tensor[] = [];
  let toH = dLastH;
  for (let t = x.shape[1] - 1; t >= 0; t--) {
    const at = perStep.map((list) => list[t]);
    const [up, update, rest, difference, sZ, sC, inner, reset, sR, rZ, rR, rC, rQ] = at;
    const d = up.add(toH);
    const candidate = d.mul(rest).add(rC).mul(sC);
    const gate = concat(
      [
        d.mul(difference).add(rZ).mul(sZ),
        candidate.mul(inner).add(rR).mul(sR),
        candidate,
        candidate.mul(reset).add(rQ),
      ],
      1,
    );
    gates.unshift(gate);
    toH = d.mul(update).add(byTransposed(gateSides(gate).ofH, recurrent));
  }
  const { ofX, ofH } = gateSides(stack(gates, 1));
  return [
    byTransposed(ofX, kernel),
    toH,
    overSteps(x, ofX),
    overSteps(hBefore, ofH),
    stack([ofX.sum([0, 1]), ofH.sum([0, 1])]),
  ];
}

/**
 * As for LSTM: with d the gradient of h, a step has gates z = d · Cz, g = d · Cg, r = g · Cr, q = g · r, and gives
 * d · z + (z, r, q) · Uᵀ to the step before.
 */
function gruGradGrad(g: GradContext, ddGates: Tensor, more: readonly (Tensor | null)[]): Tensor[] {
  const [x, h0, kernel, recurrent, h, reserve, dh, dLastH] = g.inputs;
  const gates = g.outputs[0];
  const [ddH0, ddKernel, ddRecurrent, ddBias, ddX] = more;
  const time = x.shape[1];
  const [z, r, c, q] = split(reserve, 4, 2);
  const { ofX, ofH } = gateSides(gates);
  const hBefore = before(h0, h);
  const difference = hBefore.sub(c);
  const sz = slope(z);
  const sr = slope(r);
  const sc = slopeOfTanh(c);
  const rest = z.neg().add(1);
  const Cz = difference.mul(sz);
  const Cg = rest.mul(sc);
  const Cr = q.mul(sr);

  const zSteps = steps(z);
  const dhSteps = steps(dh);
  const through = steps(byTransposed(ofH, recurrent));
  const carried: Tensor[] = [];
  let carry = dLastH;
  for (let t = time - 1; t >= 0; t--) {
    const d = carry.add(dhSteps[t]);
    carried.unshift(d);
    carry = d.mul(zSteps[t]).add(through[t]);
  }
  const d = stack(carried, 1);

  const biases = ddBias === null || ddBias === undefined ? null : unstack(ddBias, 0);
  const [direct, candidateDirect, innerDirect] = (() => {
    const zero = zeros(ofX.shape, ofX.dtype as 'float32');
    const toX = total(
      zero,
      given(ddKernel, (w) => matmul(x, w)),
      biases === null ? null : biases[0],
      given(ddX, (t) => matmul(t, kernel)),
    );
    const toHidden = total(
      zero,
      given(ddRecurrent, (w) => matmul(hBefore, w)),
      biases === null ? null : biases[1],
    );
    const all = split(ddGates.add(gatesOf(toX, toHidden)), 4, 2);
    return [concat([all[0], all[1]], 2), all[2], all[3]];
  })();
  const arrived = steps(concat([direct, innerDirect, candidateDirect], 2));
  const factors = [Cz, Cg, Cr, r].map(steps);
  const lists: [Tensor[], Tensor[], Tensor[], Tensor[], Tensor[], Tensor[]] = [[], [], [], [], [], []];
  const units = h0.shape[1];
  let toH = orZeros(ddH0, h0);
  for (let t = 0; t < time; t++) {
    const [cz, cg, cr, reset] = factors.map((list) => list[t]);
    const [recurrentPart, candidate] = split(arrived[t], [3 * units, units], 1);
    const [gz, gr, gq] = split(recurrentPart.add(matmul(toH, recurrent)), 3, 1);
    const gg = total(candidate, gr.mul(cr), gq.mul(reset));
    const ofD = total(toH.mul(zSteps[t]), gz.mul(cz), gg.mul(cg));
    [toH, gz, gr, gg, gq, ofD].forEach((value, k) => {
      lists[k].push(value);
    });
    toH = ofD;
  }
  const [carriedH, gz, gr, gg, gq, ofD] = lists.map((list) => stack(list, 1));
  const candidate = split(gates, 4, 2)[2];
  const toCz = gz.mul(d);
  const toCg = gg.mul(d);
  const toCr = gr.mul(candidate);
  const fromDifference = toCz.mul(sz);
  const toHBefore = total(
    fromDifference,
    given(ddRecurrent, (w) => byTransposed(ofH, w)),
  );
  const opposite = (t: Tensor): Tensor => t.mul(-2).add(1);
  const toReserve = concat(
    [
      total(carriedH.mul(d), toCz.mul(opposite(z)).mul(difference), toCg.mul(sc).neg()),
      gq.mul(candidate).add(toCr.mul(q).mul(opposite(r))),
      fromDifference.neg().sub(toCg.mul(rest).mul(c).mul(2)),
      toCr.mul(sr),
    ],
    2,
  );
  return [
    given(ddKernel, (w) => byTransposed(ofX, w)) ?? zeroState(x),
    firstOf(toHBefore),
    given(ddX, (t) => overSteps(t, ofX)) ?? zeroState(kernel),
    overSteps(carriedH, ofH),
    after(toHBefore, zeroState(h0)),
    toReserve,
    ofD,
    toH,
  ];
}

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
  { initialState?: readonly [h: TensorLike, c: TensorLike] | null },
  { output: Tensor; h: Tensor; c: Tensor }
> = defineFunction(
  'nn.lstm',
  { x: kind.tensor, kernel: kind.tensor, recurrentKernel: kind.tensor, bias: kind.tensor },
  { initialState: kind.asIs },
  (x, kernel, recurrentKernel, bias = null, options) => {
    const [h0, c0] = options.initialState ?? [];
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
  { initialState?: TensorLike | null },
  { output: Tensor; h: Tensor }
> = defineFunction(
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
