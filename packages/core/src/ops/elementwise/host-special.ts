// Functions of two and three numbers that take loops of their own: incomplete gamma and beta functions, the zeta function. The host
// computes them, in float64.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { defineOp, execute1, type GradFn, type Op, pair, sumTo } from '../../dispatch/op.ts';
import { type Sample, uniform, values } from '../../dispatch/samples.ts';
import { broadcastShapes, sameShape } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { emptyTensor, hostValues, setValues, type Tensor } from '../../tensor/tensor.ts';
import { broadcastTo } from '../array/shaping.ts';
import { polygamma as ofOrder } from '../gradients.ts';
import { betaIncomplete, gammaIncomplete, gammaIncompleteSlope, hurwitzZeta } from './host-numbers.ts';

/** Declares an op of numbers that broadcast, which the host computes one by one. */
function defineNumbers(spec: {
  readonly name: string;
  readonly of: (...values: number[]) => number;
  readonly grad?: GradFn;
  readonly notDifferentiable?: string;
  readonly samples: () => readonly Sample[];
}): Op {
  const { of, grad, ...rest } = spec;
  return defineOp({
    ...rest,
    ulp: 64,
    infer: (inputs) => ({
      dtype: inputs[0].dtype,
      shape: inputs.map((x) => x.shape).reduce((a, b) => broadcastShapes(a, b, spec.name)),
    }),
    host: (inputs) => {
      const shape = inputs.map((x) => x.shape).reduce((a, b) => broadcastShapes(a, b, spec.name));
      const all = inputs.map(
        (x) => hostValues(sameShape(x.shape, shape) ? x : broadcastTo(x, shape)) as ArrayLike<number>,
      );
      const size = all[0].length;
      const found = new Float64Array(size);
      for (let i = 0; i < size; i++) found[i] = of(...all.map((list) => list[i]));
      return [setValues(emptyTensor(inputs[0].dtype, shape, size), found)];
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

const gammaSamples = (): readonly Sample[] => [
  { inputs: [uniform([3, 4], 0.5, 6), uniform([3, 4], 0.3, 7)] },
  { inputs: [uniform([2, 1], 0.5, 6), uniform([3], 0.3, 7)] },
];
/** The derivative of the lower incomplete gamma function by a. */
const igammaGradAOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'IgammaGradA',
  of: gammaIncompleteSlope,
  notDifferentiable: 'a second derivative by a has no formula here, as in TensorFlow',
  samples: gammaSamples,
});
/** x^(a − 1) exp(−x) / Γ(a): the derivative of the lower incomplete gamma function by x. */
const densityOf = (a: Tensor, x: Tensor): Tensor => x.log().mul(a.sub(1)).sub(x).sub(a.lgamma()).exp();
/** The regularised lower incomplete gamma function. */
const igammaOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'Igamma',
  of: (a, x) => gammaIncomplete(a, x, false),
  grad: (g, dy) => [
    g.needs(0) ? dy.mul(execute1(igammaGradAOp, [g.a, g.b])) : null,
    g.needs(1) ? dy.mul(densityOf(g.a, g.b)) : null,
  ],
  samples: gammaSamples,
});
/** The regularised upper incomplete gamma function. */
const igammacOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'Igammac',
  of: (a, x) => gammaIncomplete(a, x, true),
  grad: (g, dy) => [
    g.needs(0) ? dy.mul(execute1(igammaGradAOp, [g.a, g.b])).neg() : null,
    g.needs(1) ? dy.mul(densityOf(g.a, g.b)).neg() : null,
  ],
  samples: gammaSamples,
});
/** The regularised incomplete beta function. */
const betaincOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'Betainc',
  of: betaIncomplete,
  grad: ({ inputs }, dy) => {
    const [a, b, x] = inputs;
    const size = a.lgamma().add(b.lgamma()).sub(a.add(b).lgamma());
    const density = b.sub(1).xlog1py(x.neg()).add(a.sub(1).xlogy(x)).sub(size).exp();
    // As TensorFlow, which has none for a and b.
    return [null, null, dy.mul(density)];
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
  of: hurwitzZeta,
  // As TensorFlow, which has none for x.
  grad: (g, dy) => [
    null,
    dy
      .mul(execute1(zetaOp, [g.a.add(1), g.b]))
      .mul(g.a)
      .neg(),
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
/** The regularised incomplete beta function, element-wise: a and b above 0, x from 0 to 1, else NaN. Gradients are those for x alone, as in TensorFlow. */
export const betainc: NamedFunction<[a: TensorLike, b: TensorLike, x: TensorLike], ['a', 'b', 'x']> =
  /* @__PURE__ */ defineFunction(
    'math.betainc',
    { a: kind.tensor, b: kind.tensor, x: kind.tensor },
    {},
    (a, b, x) => execute1(betaincOp, floats('Betainc', a, b, x)),
  );
/** The Hurwitz zeta function Σ (q + n)^(−x) over n from 0, element-wise, for x above 1. Gradients are those for q alone, as in TensorFlow. */
export const zeta: OfTwo<'x', 'q'> = /* @__PURE__ */ defineFunction(
  'math.zeta',
  { x: kind.tensor, q: kind.tensor },
  {},
  (x, q) => execute1(zetaOp, floats('Zeta', x, q)),
);

const polygammaOp: Op = /* @__PURE__ */ defineNumbers({
  name: 'Polygamma',
  of: (n, x) => {
    if (!Number.isInteger(n) || n < 1) return Number.NaN;
    let factorial = 1;
    for (let i = 2; i <= n; i++) factorial *= i;
    return (n % 2 === 0 ? -1 : 1) * factorial * hurwitzZeta(n + 1, x);
  },
  // As TensorFlow, which has none for the order.
  grad: (g, dy) => [null, dy.mul(execute1(polygammaOp, [g.a.add(1), g.b]))],
  samples: () => [{ inputs: [values([1, 2, 3], [3], 'float32'), uniform([2, 3], 0.5, 4)] }],
});
/** Derivatives of digamma, element-wise: the a-th one at x. a is an integer of at least 0, else the result is NaN. */
export const polygamma: OfTwo<'a', 'x'> = /* @__PURE__ */ defineFunction(
  'math.polygamma',
  { a: kind.tensor, x: kind.tensor },
  {},
  (a, x) => {
    // One order for all is a scalar program.
    if (typeof a === 'number' && Number.isInteger(a) && a >= 0) {
      const t = toTensor(x);
      checkDType(t.dtype, 'floating', 'x', 'Polygamma');
      if (a > 100) throw new InvalidArgumentError(`a is ${a}, expected at most 100`, 'Polygamma');
      return a === 0 ? t.digamma() : ofOrder(t, a);
    }
    const [n, t] = floats('Polygamma', a, x);
    return n.equal(0).where(t.digamma(), execute1(polygammaOp, [n, t]));
  },
);
