// Functions of two and three numbers that take loops of their own: incomplete gamma and beta functions, the zeta function. The processor
// computes them, in float64.
import {
  betaIncomplete,
  gammaIncomplete,
  gammaIncompleteSlope,
  hurwitzZeta,
  polygammaOf,
  processorOf,
  specialFunctions,
} from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { currentBackend, eagerBackend } from '../../dispatch/context.ts';
import {
  type Attrs,
  copyTo,
  defineOp,
  execute1,
  type GradFn,
  kernelFor,
  type Op,
  pair,
  sumTo,
} from '../../dispatch/op.ts';
import { type Sample, uniform, values } from '../../dispatch/samples.ts';
import { broadcastShapes, sameShape } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { emptyTensor, hostValues, setValues, type Tensor } from '../../tensor/tensor.ts';
import { broadcastTo } from '../array/shaping.ts';
import { polygamma as ofOrder } from '../gradients.ts';

/** Declares an op of numbers that broadcast, which the host computes one by one. */
/* @__NO_SIDE_EFFECTS__ */
function defineNumbers(spec: {
  readonly name: string;
  readonly of: (attrs: Attrs, ...values: number[]) => number;
  /** The kernel's function that is the same. */
  readonly kernel?: (typeof specialFunctions)[number];
  readonly grad?: GradFn;
  readonly notDifferentiable?: string;
  readonly samples: () => readonly Sample[];
}): Op {
  const { of, kernel, grad, ...rest } = spec;
  return defineOp({
    ...rest,
    ulp: 64,
    infer: (inputs) => ({
      dtype: (inputs.at(-1) as Tensor).dtype,
      shape: inputs.map((x) => x.shape).reduce((a, b) => broadcastShapes(a, b, spec.name)),
    }),
    host: (inputs, attrs) => {
      const shape = inputs.map((x) => x.shape).reduce((a, b) => broadcastShapes(a, b, spec.name));
      const { dtype } = inputs.at(-1) as Tensor;
      if (kernel !== undefined && (dtype === 'float32' || dtype === 'float64'))
        return [
          byKernel(
            kernel,
            inputs.map((x) => broadcastTo(x.cast(dtype), shape)),
          ),
        ];
      const all = inputs.map(
        (x) => hostValues(sameShape(x.shape, shape) ? x : broadcastTo(x, shape)) as ArrayLike<number>,
      );
      const size = all[0].length;
      const found = new Float64Array(size);
      for (let i = 0; i < size; i++) found[i] = of(attrs, ...all.map((list) => Number(list[i])));
      return [setValues(emptyTensor(dtype, shape, size), found)];
    },
    ...(grad === undefined
      ? {}
      : {
          grad: (g, dy) => {
            const all = grad(g, dy) as readonly (Tensor | null)[];
            return all.map((d, i) => (d === null ? null : sumTo(d, (g.inputs[i] as Tensor).shape)));
          },
        }),
  });
}

/** A function of tensors of one dtype and shape, by a kernel of the processor. */
function byKernel(name: (typeof specialFunctions)[number], inputs: readonly Tensor[]): Tensor {
  const [backend, processor] = [currentBackend(), processorOf(eagerBackend())];
  const own = inputs.map((x) => (x.backend === processor ? x : copyTo(x, processor)));
  const { dtype, shape, size } = own[0] as Tensor;
  const y = emptyTensor(dtype, shape, size, processor);
  kernelFor(processor, 'SpecialFunction', own)(own, [y], { function: specialFunctions.indexOf(name) });
  return processor === backend ? y : copyTo(y, backend);
}

/** Two or three tensors of one floating dtype. */
function floats(op: string, ...given: readonly TensorLike[]): Tensor[] {
  let all = given.map((x) => toTensor(x));
  for (let i = 1; i < all.length; i++) {
    const [a, b] = pair(given[i] === all[i] ? all[i] : (given[i] as TensorLike), all[0], op);
    all = all.map((x, j) => (j === i ? a : j === 0 ? b : x));
  }
  for (const x of all) checkDType(x.dtype, 'floating', 'x', op);
  return all.map((x) => (x.dtype === all[0].dtype ? x : x.cast(all[0].dtype)));
}

type OfTwo<A extends string, B extends string> = NamedFunction<[TensorLike, TensorLike], [A, B]>;

// ---- derivatives that have no formula: by differences

/** The functions whose derivatives are taken so, and how far from a number they may be asked. */
const functions: Readonly<
  Record<string, { readonly of: (...values: number[]) => number; readonly room?: (value: number) => number }>
> = {
  IgammaGradA: { of: gammaIncompleteSlope },
  Betainc: { of: betaIncomplete },
  Zeta: { of: hurwitzZeta, room: (x) => x - 1 },
};

/** The derivative by differences on three scales, exact to the sixth order of the step. */
function difference(name: string, orders: readonly number[], values: readonly number[]): number {
  const at = orders.findIndex((n) => n > 0);
  const { of, room } = functions[name] as (typeof functions)[string];
  if (at < 0) return of(...values);
  const less = orders.map((n, i) => (i === at ? n - 1 : n));
  const value = values[at] as number;
  const free = at === 0 && room !== undefined ? room(value) : Math.abs(value);
  const step = 2e-2 * Math.min(free, Math.max(1, Math.abs(value)));
  const on = (shift: number): number =>
    difference(
      name,
      less,
      values.map((v, i) => (i === at ? v + shift : v)),
    );
  const slope = (h: number): number => (on(h) - on(-h)) / (2 * h);
  const [d1, d2, d4, d8] = [slope(step), slope(step / 2), slope(step / 4), slope(step / 8)] as const;
  const [e1, e2, e4] = [(4 * d2 - d1) / 3, (4 * d4 - d2) / 3, (4 * d8 - d4) / 3];
  const [f1, f2] = [(16 * e2 - e1) / 15, (16 * e4 - e2) / 15];
  return (64 * f2 - f1) / 63;
}

/** A derivative of a function of the host, by differences. */
const slopeOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'HostSlope',
  of: (attrs, ...values) =>
    difference(attrs['function'] as string, attrs['orders'] as readonly number[], values),
  grad: (g, dy) => g.inputs.map((_, i) => (g.needs(i) ? dy.mul(slope(g.attrs, g.inputs, i)) : null)),
  samples: () => [
    {
      inputs: [values([1.5, 2, 4], [3], 'float32'), uniform([3], 0.5, 4)],
      attrs: { function: 'Zeta', orders: [1, 0] },
    },
  ],
});
function slope(attrs: Attrs, inputs: readonly Tensor[], by: number): Tensor {
  const orders = (attrs['orders'] as readonly number[]).map((n, i) => (i === by ? n + 1 : n));
  return execute1(slopeOp, inputs, { function: attrs['function'], orders });
}
const slopeOf = (name: string, inputs: readonly Tensor[], by: number): Tensor =>
  slope({ function: name, orders: inputs.map(() => 0) }, inputs, by);

const gammaSamples = (): readonly Sample[] => [
  { inputs: [uniform([3, 4], 0.5, 6), uniform([3, 4], 0.3, 7)] },
  { inputs: [uniform([2, 1], 0.5, 6), uniform([3], 0.3, 7)] },
];
/** x^(a − 1) exp(−x) / Γ(a): the derivative of the lower incomplete gamma function by x. */
const densityOf = (a: Tensor, x: Tensor): Tensor => x.log().mul(a.sub(1)).sub(x).sub(a.lgamma()).exp();
/** The derivative of the lower incomplete gamma function by a. */
const igammaGradAOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'IgammaGradA',
  of: (_, a, x) => gammaIncompleteSlope(a, x),
  kernel: 'igammaGradA',
  grad: (g, dy) => [
    g.needs(0) ? dy.mul(slopeOf('IgammaGradA', g.inputs, 0)) : null,
    g.needs(1) ? dy.mul(densityOf(g.a, g.b)).mul(g.b.log().sub(g.a.digamma())) : null,
  ],
  samples: gammaSamples,
});
/** The regularised lower incomplete gamma function. */
const igammaOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'Igamma',
  of: (_, a, x) => gammaIncomplete(a, x, false),
  kernel: 'igamma',
  grad: (g, dy) => [
    g.needs(0) ? dy.mul(execute1(igammaGradAOp, [g.a, g.b])) : null,
    g.needs(1) ? dy.mul(densityOf(g.a, g.b)) : null,
  ],
  samples: gammaSamples,
});
/** The regularised upper incomplete gamma function. */
const igammacOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'Igammac',
  of: (_, a, x) => gammaIncomplete(a, x, true),
  kernel: 'igammac',
  grad: (g, dy) => [
    g.needs(0) ? dy.mul(execute1(igammaGradAOp, [g.a, g.b])).neg() : null,
    g.needs(1) ? dy.mul(densityOf(g.a, g.b)).neg() : null,
  ],
  samples: gammaSamples,
});
/** The regularised incomplete beta function. */
const betaincOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'Betainc',
  of: (_, a, b, x) => betaIncomplete(a, b, x),
  kernel: 'betainc',
  grad: (g, dy) => {
    const [a, b, x] = g.inputs;
    const size = a.lgamma().add(b.lgamma()).sub(a.add(b).lgamma());
    const density = b.sub(1).xlog1py(x.neg()).add(a.sub(1).xlogy(x)).sub(size).exp();
    return [
      g.needs(0) ? dy.mul(slopeOf('Betainc', g.inputs, 0)) : null,
      g.needs(1) ? dy.mul(slopeOf('Betainc', g.inputs, 1)) : null,
      g.needs(2) ? dy.mul(density) : null,
    ];
  },
  samples: () => [
    {
      inputs: [
        values([0.5, 2, 3.5], [3], 'float32'),
        values([1.5, 2, 0.7], [3], 'float32'),
        uniform([2, 3], 0.1, 0.9),
      ],
    },
  ],
});
/** The Hurwitz zeta function. */
const zetaOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'Zeta',
  of: (_, x, q) => hurwitzZeta(x, q),
  kernel: 'zeta',
  grad: (g, dy) => [
    g.needs(0) ? dy.mul(slopeOf('Zeta', g.inputs, 0)) : null,
    g.needs(1)
      ? dy
          .mul(execute1(zetaOp, [g.a.add(1), g.b]))
          .mul(g.a)
          .neg()
      : null,
  ],
  samples: () => [{ inputs: [values([1.5, 2, 4], [3], 'float32'), uniform([2, 3], 0.5, 4)] }],
});

/** The lower incomplete gamma function γ(a, x) / Γ(a), element-wise; a above 0, x at least 0, else NaN. */
export const igamma: OfTwo<'a', 'x'> = /* @__PURE__ */ defineFunction(
  'math.igamma',
  { a: kind.tensor, x: kind.tensor },
  {},
  (a, x) => execute1(igammaOp, floats('Igamma', a, x)),
);
/** The upper incomplete gamma function Γ(a, x) / Γ(a), element-wise: 1 − igamma(a, x), exact where it is small. */
export const igammac: OfTwo<'a', 'x'> = /* @__PURE__ */ defineFunction(
  'math.igammac',
  { a: kind.tensor, x: kind.tensor },
  {},
  (a, x) => execute1(igammacOp, floats('Igammac', a, x)),
);
/** The regularised incomplete beta function, element-wise: a and b above 0, x from 0 to 1, else NaN. */
export const betainc: NamedFunction<[a: TensorLike, b: TensorLike, x: TensorLike], ['a', 'b', 'x']> =
  /* @__PURE__ */ defineFunction(
    'math.betainc',
    { a: kind.tensor, b: kind.tensor, x: kind.tensor },
    {},
    (a, b, x) => execute1(betaincOp, floats('Betainc', a, b, x)),
  );
/** The Hurwitz zeta function Σ (q + n)^(−x) over n from 0, element-wise, for x above 1. */
export const zeta: OfTwo<'x', 'q'> = /* @__PURE__ */ defineFunction(
  'math.zeta',
  { x: kind.tensor, q: kind.tensor },
  {},
  (x, q) => execute1(zetaOp, floats('Zeta', x, q)),
);

/** The derivatives of digamma of the orders n, integers of at least 1. */
const polygammaOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'Polygamma',
  of: (_, n, x) => polygammaOf(n, x),
  kernel: 'polygamma',
  grad: (g, dy) => [null, dy.mul(execute1(polygammaOp, [g.a.add(1), g.b]))],
  samples: () => [{ inputs: [values([1, 2, 3], [3], 'int32'), uniform([2, 3], 0.5, 4)] }],
});
/** A program has instructions for each order. */
const LONGEST_PROGRAM = 100;
/** Derivatives of digamma, element-wise: the a-th one at x. a is an integer of at least 0, else the result is NaN. */
export const polygamma: OfTwo<'a', 'x'> = /* @__PURE__ */ defineFunction(
  'math.polygamma',
  { a: kind.tensor, x: kind.tensor },
  {},
  (a, x) => {
    // One order for all is a scalar program.
    if (typeof a === 'number' && Number.isInteger(a) && a >= 0 && a <= LONGEST_PROGRAM) {
      const t = toTensor(x);
      checkDType(t.dtype, 'floating', 'x', 'Polygamma');
      return a === 0 ? t.digamma() : ofOrder(t, a);
    }
    const [n, t] = floats('Polygamma', a, x);
    const order = n.stopGradient();
    const found = order.equal(0).where(t.digamma(), execute1(polygammaOp, [order.cast('int32'), t]));
    return order.equal(order.floor()).where(found, Number.NaN);
  },
);
