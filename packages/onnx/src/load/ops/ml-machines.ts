// Support vector machines.
import {
  abs,
  concat,
  constant,
  matmul,
  max,
  reduceAny,
  stack,
  type Tensor,
  where,
  zerosLike,
} from '@eagre/core';
import { whileLoop } from '@eagre/graph';
import type { NodeCall, Run } from '../node.ts';
import { range } from './helpers.ts';
import { asFloat, floats, labelled, labelsOf, transformed } from './ml-scores.ts';

function kernelOf(node: NodeCall, x: Tensor, vectors: Tensor): Tensor {
  const [gamma, coef0, degree] = [...node.attrs.floats('kernel_params', [0, 0, 3])] as [
    number,
    number,
    number,
  ];
  const products = (): Tensor => x.matmul(vectors, { transposeB: true });
  switch (node.attrs.text('kernel_type', 'LINEAR')) {
    case 'LINEAR':
      return products();
    case 'POLY':
      return products().mul(gamma).add(coef0).pow(degree);
    case 'SIGMOID':
      return products().mul(gamma).add(coef0).tanh();
    case 'RBF': {
      const square = x.square().sum(1, { keepdims: true }).add(vectors.square().sum(1).expandDims(0));
      return square.sub(products().mul(2)).maximum(0).mul(-gamma).exp();
    }
    default:
      return node.unsupported(`the kernel ${node.attrs.text('kernel_type')} is not translated`);
  }
}

export const supportRegressor: Run = (node) => {
  const x = asFloat(node.x());
  const count = node.attrs.int('n_supports', 0);
  const coefficients = node.attrs.floats('coefficients');
  const rho = node.attrs.floats('rho')[0] ?? 0;
  if (count === 0)
    return transformed(node, x.matmul(floats(coefficients, [coefficients.length, 1])).add(rho));
  const list = node.attrs.floats('support_vectors');
  const vectors = floats(list, [count, list.length / count]);
  const y = kernelOf(node, x, vectors)
    .matmul(floats(coefficients, [count, 1]))
    .add(rho);
  if (node.attrs.int('one_class', 0) === 1) return where(y.greater(0), 1, -1).cast('float32');
  return transformed(node, y);
};

/** One machine for each pair of classes; the class that wins most often is the label. */
export const supportClassifier: Run = (node) => {
  const { attrs } = node;
  const labels = labelsOf(node, 'classlabels_ints', 'classlabels_strings');
  const perClass = attrs.ints('vectors_per_class', []);
  if (perClass.length === 0) node.unsupported('a linear machine without support vectors is not translated');
  const classes = perClass.length;
  const scores = pairScores(node, perClass);
  const pairs = pairsOf(classes);
  // [pairs, classes]: which class a machine votes for.
  const votesFor = (side: 0 | 1): Tensor =>
    floats(
      pairs.flatMap((pair) => range(0, classes).map((c) => (pair[side] === c ? 1 : 0))),
      [pairs.length, classes],
    );
  const first = scores.greater(0).cast('float32');
  const votes = first.matmul(votesFor(0)).add(first.neg().add(1).matmul(votesFor(1)));
  const found = labelled(labels, votes.argMax(1));
  if (attrs.floats('prob_a', []).length > 0)
    return [found, transformed(node, probabilities(node, scores, classes))];
  if (classes > 2) return [found, transformed(node, scores)];
  if (attrs.text('post_transform', 'NONE') !== 'NONE')
    node.unsupported('scores of two classes that are transformed are not translated');
  return [found, concat([scores.neg(), scores], 1)];
};

const pairsOf = (classes: number): readonly (readonly [number, number])[] =>
  range(0, classes).flatMap((a) => range(a + 1, classes).map((b) => [a, b] as const));

// More than any file of machines needs.
const MOST_WEIGHTS = 2 ** 26;

/** How far each row is on the side of the first class of each pair: [rows, pairs]. */
function pairScores(node: NodeCall, perClass: readonly number[]): Tensor {
  const { attrs } = node;
  const total = perClass.reduce((a, b) => a + b, 0);
  const pairs = pairsOf(perClass.length);
  if (!(total * pairs.length <= MOST_WEIGHTS))
    node.fail(`there cannot be ${total} vectors of ${perClass.length} classes`);
  const list = attrs.floats('support_vectors');
  const kernel = kernelOf(node, asFloat(node.x()), floats(list, [total, list.length / total]));
  const [coefficients, rho] = [attrs.floats('coefficients'), attrs.floats('rho')];
  if (coefficients.length !== total * (perClass.length - 1) || rho.length !== pairs.length)
    node.fail(`${coefficients.length} coefficients and ${rho.length} offsets do not fit ${total} vectors`);
  const starts = perClass.map((_, c) => perClass.slice(0, c).reduce((a, b) => a + b, 0));
  const weights = new Float32Array(total * pairs.length);
  pairs.forEach(([a, b], pair) => {
    // The coefficients of a class against the others stand below each other, itself left out.
    for (const [own, row] of [
      [a, b - 1],
      [b, a],
    ] as const)
      for (let i = 0; i < (perClass[own] as number); i++) {
        const at = (starts[own] as number) + i;
        weights[at * pairs.length + pair] = coefficients[row * total + at] as number;
      }
  });
  return kernel
    .matmul(constant({ data: weights, shape: [total, pairs.length] }))
    .add(floats(rho, [rho.length]));
}

const ALMOST_0 = 1e-7;
const MOST_ROUNDS = 100;

/** The probability of each class, from those within each pair: the iteration of libsvm, until it changes little. */
function probabilities(node: NodeCall, scores: Tensor, classes: number): Tensor {
  const [a, b] = [node.attrs.floats('prob_a'), node.attrs.floats('prob_b')];
  const pairs = pairsOf(classes);
  if (a.length !== pairs.length || b.length !== pairs.length)
    node.fail(`${a.length} and ${b.length} numbers of probabilities do not fit ${pairs.length} pairs`);
  const within = scores
    .mul(floats(a, [a.length]))
    .add(floats(b, [b.length]))
    .neg()
    .sigmoid()
    .maximum(ALMOST_0)
    .minimum(1 - ALMOST_0);
  const column = (x: Tensor, i: number): Tensor => x.slice([0, i], [-1, 1]);
  const of = new Map(pairs.map(([i, j], at) => [i * classes + j, at]));
  const zero = zerosLike(column(scores, 0));
  /** How likely class i is, of i and j: [rows, 1]. */
  const r = (i: number, j: number): Tensor =>
    i < j
      ? column(within, of.get(i * classes + j) as number)
      : column(within, of.get(j * classes + i) as number)
          .neg()
          .add(1);
  const others = (i: number): number[] => range(0, classes).filter((j) => j !== i);
  const q = range(0, classes).map((i) =>
    range(0, classes).map((j) =>
      i === j ? others(i).reduce((sum, k) => sum.add(r(k, i).square()), zero) : r(j, i).mul(r(i, j)).neg(),
    ),
  );
  const rows = q.map((row) => concat(row, 1));
  const matrix = stack(rows, 1);
  const limit = 0.005 / classes;
  const times = (p: Tensor): Tensor => matmul(matrix, p.expandDims(-1)).squeeze(-1);
  const errorOf = (p: Tensor): Tensor => {
    const qp = times(p);
    const pqp = p.mul(qp).sum(1, { keepdims: true });
    return max(abs(qp.sub(pqp)), 1, { keepdims: true });
  };
  const round = (before: Tensor): Tensor => {
    let p = before;
    let qp = times(p);
    let pqp = p.mul(qp).sum(1, { keepdims: true });
    for (let i = 0; i < classes; i++) {
      const own = (q[i] as Tensor[])[i] as Tensor;
      const at = column(qp, i);
      const diff = pqp.sub(at).div(own);
      const scale = diff.add(1);
      pqp = pqp
        .add(diff.mul(diff.mul(own).add(at.mul(2))))
        .div(scale)
        .div(scale);
      qp = qp.add(diff.mul(rows[i] as Tensor)).div(scale);
      const moved = concat(
        range(0, classes).map((j) => (j === i ? column(p, j).add(diff) : column(p, j))),
        1,
      );
      p = moved.div(scale);
    }
    return p;
  };
  const start = concat(
    range(0, classes).map(() => zero.add(1 / classes)),
    1,
  );
  const [result] = whileLoop(
    (p: Tensor) => reduceAny(errorOf(p).greaterEqual(limit)),
    (p: Tensor) => [where(errorOf(p).greaterEqual(limit), round(p), p)],
    [start],
    { maximumIterations: MOST_ROUNDS },
  ) as unknown as [Tensor];
  return result;
}
