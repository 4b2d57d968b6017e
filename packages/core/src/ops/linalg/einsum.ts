import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineVariadic } from '../../arguments/arguments.ts';
import { checkText } from '../../arguments/checks.ts';
import { defineOp, execute1, type Op } from '../../dispatch/op.ts';
import { type SampleInput, uniform } from '../../dispatch/samples.ts';
import type { Dim } from '../../shapes/dim.ts';
import { dims, dimsOf, sizeOfDims, toShape } from '../../shapes/dims.ts';
import { broadcastDims, broadcastShapes, type Shape, showShape } from '../../shapes/shape.ts';
import { differs } from '../../shapes/sizes.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType, common } from '../../tensor/dtypes.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { broadcastTo, expandDims, identity, reshape } from '../array/shaping.ts';
import { diagPart, matmul } from './linalg.ts';
import { permuted } from './products.ts';

/** A tensor with a label for each axis. */
interface Term {
  readonly x: Tensor;
  readonly labels: readonly string[];
}

// The axes behind '...' get labels that no equation can hold.
const HIDDEN = '0123456789';

/**
 * Einstein's summation: labels name axes, those missing from the result are summed, equal ones are paired.
 * `tf.einsum('bij,bjk->bik', a, b)` is a product of matrices; `'ij->ji'` transposes, `'ii->i'` takes a diagonal, `'...i,i'`
 * sums the last axis of a with weights. Without `->` the result has the labels that occur once, in alphabetical order.
 * More than two operands are taken pair by pair from the left.
 * @throws InvalidArgumentError when the equation does not fit the operands.
 */
export const einsum: (
  ...args:
    | [equation: string, ...operands: readonly TensorLike[]]
    | [
        options: {
          /** A letter for each axis of the operands and of the result: `'ij,jk->ik'`. */
          readonly equation: string;
          /** The tensors, in the order of the equation. */
          readonly operands: readonly TensorLike[];
        },
      ]
    | [
        options: {
          /** A letter for each axis of the operands and of the result: `'ij,jk->ik'`. */
          readonly subscripts: string;
          /** The tensors, in the order of the equation. */
          readonly operands: readonly TensorLike[];
        },
      ]
) => Tensor = defineVariadic(
  'einsum',
  { 'equation|subscripts': kind.asIs },
  'operands',
  {},
  (equation: string, operands: readonly TensorLike[]) => {
    checkText(equation, 'equation', 'einsum');
    if (operands.length === 0)
      throw new InvalidArgumentError(`'${equation}': there are no operands`, 'Einsum');
    const tensors = operands.map((o) => toTensor(o));
    const dtype = tensors.reduce((d, t) => common(d, t.dtype, 'Einsum'), tensors[0].dtype);
    checkDType(dtype, 'numeric', 'the operands', 'Einsum');
    return execute1(
      einsumOp,
      tensors.map((t) => (t.dtype === dtype ? t : t.cast(dtype))),
      { equation },
    );
  },
);

/** Sums of products, as an equation of axis labels says. */
const einsumOp: Op = defineOp({
  name: 'Einsum',
  compose: (inputs, attrs) => evaluate(attrs.equation as string, inputs),
  ulp: 16,
  samples: () => [
    { inputs: [positive([2, 3, 2]), positive([2, 2, 4])], attrs: { equation: 'bij,bjk->kbi' } },
    { inputs: [positive([2, 3]), positive([3]), positive([3, 2])], attrs: { equation: '...i,i,ij->...j' } },
    { inputs: [positive([3, 2, 3])], attrs: { equation: 'iji->j' } },
  ],
});
const positive = (shape: Shape): SampleInput => uniform(shape, 0.1, 2);

function evaluate(equation: string, tensors: readonly Tensor[]): Tensor {
  const fail = (text: string): never => {
    throw new InvalidArgumentError(`'${equation}': ${text}`, 'Einsum');
  };
  if (typeof equation !== 'string') fail('the equation is no string');
  const [left, right, ...tooMany] = equation.replace(/\s+/g, '').split('->');
  if (tooMany.length > 0) fail("there may be one '->'");
  const parts = left.split(',');
  for (const part of right === undefined ? parts : [...parts, right]) {
    if (!/^[A-Za-z]*(\.\.\.)?[A-Za-z]*$/.test(part))
      fail(`'${part}' is not made of letters and at most one '...'`);
  }
  if (parts.length !== tensors.length) {
    fail(`it is written for ${parts.length} operand${parts.length === 1 ? '' : 's'}, got ${tensors.length}`);
  }

  const hidden = tensors.map((t, i) => {
    const named = parts[i].replace('...', '').length;
    const rest = t.rank - named;
    if (parts[i].includes('...') ? rest < 0 : rest !== 0)
      fail(`'${parts[i]}' does not name the axes of operand ${i} of shape ${showShape(t.shape)}`);
    return rest;
  });
  const most = Math.max(...hidden);
  const dots = HIDDEN.slice(0, most);
  const terms = tensors.map(
    (x, i): Term => ({ x, labels: [...parts[i].replace('...', dots.slice(most - hidden[i]))] }),
  );

  const sizes = new Map<string, Dim>();
  for (const { x, labels } of terms) {
    labels.forEach((label, axis) => {
      const size = dims(x)[axis];
      const known = sizes.get(label) ?? 1;
      const both = broadcastDims(known, size);
      if (both === null) {
        return fail(
          `the axis '${HIDDEN.includes(label) ? '...' : label}' is ${known} long in one place and ${size} in another`,
        );
      }
      sizes.set(label, both);
    });
  }
  // Only what '...' stands for broadcasts; a letter means one size.
  for (const { x, labels } of terms) {
    const bad = labels.findIndex(
      (label, axis) => !HIDDEN.includes(label) && differs(dims(x)[axis], sizes.get(label) as Dim),
    );
    if (bad >= 0)
      fail(`the axis '${labels[bad]}' is 1 long in one place and ${sizes.get(labels[bad])} in another`);
  }

  const all = terms.flatMap((t) => t.labels);
  const wanted =
    right === undefined
      ? [
          ...dots,
          ...[...new Set(all)]
            .filter((l) => !HIDDEN.includes(l) && all.indexOf(l) === all.lastIndexOf(l))
            .sort(),
        ]
      : [...right.replace('...', dots)];
  const missing = wanted.find((l) => !all.includes(l));
  if (missing !== undefined) fail(`'${missing}' of the result is in no operand`);
  if (new Set(wanted).size !== wanted.length) fail('the result contains an axis twice');
  if (right !== undefined && !right.includes('...') && most > 0)
    fail("the result needs '...' when an operand has axes behind it");

  const singles = terms.map(diagonal);
  let result = singles[0];
  for (let i = 1; i < singles.length; i++) {
    const later = new Set([...wanted, ...singles.slice(i + 1).flatMap((t) => t.labels)]);
    result = contract(result, singles[i], later);
  }
  result = sumAway(result, new Set(wanted));
  // A letter that is in the result but was 1 long where it survived cannot occur, so the shapes are final.
  const y = permuted(
    result.x,
    wanted.map((l) => result.labels.indexOf(l)),
  );
  // Never an operand itself, which may be the value of a variable.
  return tensors.includes(y) ? identity(y) : y;
}

/** Takes diagonals until every label occurs once. */
function diagonal(term: Term): Term {
  let { x } = term;
  let labels = [...term.labels];
  for (;;) {
    const second = labels.findIndex((l, i) => labels.indexOf(l) < i);
    if (second < 0) return { x, labels };
    const first = labels.indexOf(labels[second]);
    const others = labels.map((_, i) => i).filter((i) => i !== first && i !== second);
    const label = labels[second];
    x = diagPart(permuted(x, [...others, first, second]));
    labels = [...others.map((i) => labels[i]), label];
  }
}

/** Sums the axes whose label nobody needs any more. */
function sumAway(term: Term, needed: ReadonlySet<string>): Term {
  const gone = term.labels.map((_, i) => i).filter((i) => !needed.has(term.labels[i]));
  if (gone.length === 0) return term;
  return { x: term.x.sum(gone), labels: term.labels.filter((l) => needed.has(l)) };
}

/** One product of matrices: shared axes that are kept become the batch, shared ones that are not are summed. */
function contract(a: Term, b: Term, needed: ReadonlySet<string>): Term {
  const p = sumAway(a, new Set([...needed, ...b.labels]));
  const q = sumAway(b, new Set([...needed, ...a.labels]));
  const shared = p.labels.filter((l) => q.labels.includes(l));
  const batch = shared.filter((l) => needed.has(l));
  const summed = shared.filter((l) => !needed.has(l));
  const onlyP = p.labels.filter((l) => !shared.includes(l));
  const onlyQ = q.labels.filter((l) => !shared.includes(l));
  const labels = [...batch, ...onlyP, ...onlyQ];

  const arrange = (t: Term, order: readonly string[]): Tensor =>
    permuted(
      t.x,
      order.map((l) => t.labels.indexOf(l)),
    );
  // A matrix that lies the other way round need not be moved.
  const lies = (t: Term, order: readonly string[]): boolean => t.labels.every((l, i) => l === order[i]);
  const transposeA = summed.length > 0 && onlyP.length > 0 && lies(p, [...batch, ...summed, ...onlyP]);
  const transposeB = summed.length > 0 && onlyQ.length > 0 && lies(q, [...batch, ...onlyQ, ...summed]);
  const n = batch.length;
  /** A matrix, and the sizes of its three kinds of axes. */
  const matrixOf = (t: Term, only: readonly string[], deepFirst: boolean) => {
    const x = arrange(t, [...batch, ...(deepFirst ? [...summed, ...only] : [...only, ...summed])]);
    const sizes = dims(x);
    const at = deepFirst ? n : n + only.length;
    const rest = deepFirst ? sizes.slice(n + summed.length) : sizes.slice(n, at);
    return { x, lead: sizes.slice(0, n), deep: sizes.slice(at, at + summed.length), rest, deepFirst };
  };
  const left = matrixOf(p, onlyP, transposeA);
  const right = matrixOf(q, onlyQ, !transposeB);
  const { x, rest: rows } = left;
  const { x: y, rest: columns } = right;
  const lead = broadcastShapes(left.lead, right.lead, 'Einsum');
  // Summed axes behind '...' may be 1 long in one operand only.
  const depth = broadcastShapes(left.deep, right.deep, 'Einsum');
  if (summed.length === 0) {
    // Nothing to sum: an elementwise product is cheaper than matrices of depth 1, and takes every dtype.
    const wide =
      columns.length === 0
        ? x
        : expandDims(
            x,
            columns.map((_, i) => x.rank + i),
          );
    const tall =
      rows.length === 0 ? y : reshape(y, toShape([...right.lead, ...rows.map(() => 1), ...columns]));
    return { x: wide.mul(tall), labels };
  }
  const deep = dimsOf(depth);
  const count = sizeOfDims(deep);
  const flat = ({ x, lead, rest, deepFirst }: ReturnType<typeof matrixOf>): Tensor => {
    const size = sizeOfDims(rest);
    return reshape(
      broadcastTo(x, toShape([...lead, ...(deepFirst ? [...deep, ...rest] : [...rest, ...deep])])),
      toShape([...lead, ...(deepFirst ? [count, size] : [size, count])]),
    );
  };
  const product = matmul(flat(left), flat(right), { transposeA, transposeB });
  return { x: reshape(product, toShape([...dimsOf(lead), ...rows, ...columns])), labels };
}
