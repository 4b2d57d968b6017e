// One of several branches, by a value.
import { InternalError, InvalidArgumentError } from '@eagre/backend';
import { debugging, logicalAnd, logicalNot, logicalOr, Tensor, type TensorLike } from '@eagre/core';
import {
  type Arguments,
  checkFlag,
  checkFunction,
  defineFunction,
  kind,
  type NamedFunction,
  shown,
} from '@eagre/core/internal';
import { tracedCase } from './case.ts';
import { branchIndex, predicate } from './known.ts';
import {
  describe,
  difference,
  flatten,
  fromGraph,
  inGraph,
  type Nest,
  pack,
  ShapeFound,
  type Tensors,
  toGraph,
  unifyArrays,
} from './nest.ts';
import { sameRank } from './traced-body.ts';

/** Something that a branch does: it takes nothing, and gives tensors in arrays, maps and plain objects, or nothing. */
export type Branch<R> = () => R;

/**
 * What `trueFn` returns where `pred` (one bool) is true, and what `falseFn` returns where it is false:
 *
 *     tf.cond(x.less(y), () => x.add(1), () => y.mul(2))
 *
 * Only that function runs, now or at each run of a traced function. While a function is traced both are traced, unless the predicate is
 * known, so host code in them runs then. Both return the same structure of the same dtypes and ranks: tensors, numbers, variables and
 * TensorArrays in arrays, maps and plain objects, or nothing. Where their sizes differ, that of the result is known to a run only.
 * @throws InvalidArgumentError for a predicate that is not one bool; while tracing, for branches that do not return the same, with what both
 * return.
 */
export const cond: <A, B>(
  ...args: Arguments<[pred: TensorLike, trueFn: Branch<A>, falseFn: Branch<B>], ['pred', 'trueFn', 'falseFn']>
) => Tensors<A | B> = defineFunction<
  NamedFunction<
    [pred: TensorLike, trueFn: Branch<unknown>, falseFn: Branch<unknown>],
    ['pred', 'trueFn', 'falseFn'],
    unknown,
    unknown
  >
>('tf.cond', { pred: kind.tensor, trueFn: kind.asIs, falseFn: kind.asIs }, {}, (pred, trueFn, falseFn) => {
  checkFunction(trueFn, 'trueFn', 'tf.cond');
  checkFunction(falseFn, 'falseFn', 'tf.cond');
  const branches = [trueFn, falseFn];
  return choose('If', predicate(pred, 'tf.cond'), ['trueFn', 'falseFn'], branches, 'tf.cond');
}) as never;

/**
 * What the branch of number `index` (int32 scalar) returns; without a `default`, the last one where there is none of that number.
 *
 *     tf.switchCase(tf.constant(1, 'int32'), [() => x.add(1), () => x.mul(2)])
 *
 * Otherwise as `tf.cond`.
 * @param branches a list, or an object whose keys are the numbers from 0 on.
 * @throws InvalidArgumentError for no branches, keys that are other numbers, or an index that is not one int32; while tracing, for branches that do not return the same.
 */
export const switchCase: <R, D = never>(
  ...args: Arguments<
    [index: TensorLike, branches: Branches<R>],
    ['index|branchIndex', 'branches|branchFns'],
    {
      /** The branch for numbers that have none; the last one by default. */
      readonly default?: Branch<D>;
    }
  >
) => Tensors<R | D> = defineFunction<
  NamedFunction<
    [index: TensorLike, branches: Branches<unknown>],
    ['index|branchIndex', 'branches|branchFns'],
    { readonly default?: Branch<unknown> },
    unknown
  >
>(
  'tf.switchCase',
  { 'index|branchIndex': kind.tensor, 'branches|branchFns': kind.structure },
  { default: kind.asIs },
  (index, branches, options) => {
    const op = 'tf.switchCase';
    const keys = typeof branches === 'object' && branches !== null ? Object.keys(branches) : [];
    if (keys.length === 0) throw new InvalidArgumentError('expected a list of at least one function', op);
    if (keys.some((key, i) => key !== String(i)))
      throw new InvalidArgumentError(
        `the branches are numbered ${keys.join(', ')}, expected the numbers from 0 to ${keys.length - 1}`,
        op,
      );
    const all: Branch<unknown>[] = keys.map((_, i) => branches[i]);
    const names = all.map((_, i) => `branch ${i}`);
    if (options.default !== undefined) {
      all.push(options.default);
      names.push('default');
    }
    all.forEach((fn, i) => checkFunction(fn, names[i], op));
    return choose('Case', branchIndex(index, op), names, all, op);
  },
) as never;

/** Branches by number. */
type Branches<R> = readonly Branch<R>[] | { readonly [index: number]: Branch<R> };

/**
 * What the function beside the first predicate (one bool each) that is true returns; `default` where none is.
 *
 *     tf.case([[x.less(y), () => x], [x.greater(z), () => z]], { default: () => y })
 *
 * Otherwise as `tf.cond`.
 * @param options.exclusive more than one predicate that is true is an error.
 * @throws InvalidArgumentError for no pairs; where no predicate is true and there is no default, or several are and `exclusive` is set.
 */
export const caseOf: <R, D = never>(
  ...args: Arguments<
    [pairs: Pairs<R>],
    ['pairs|predFnPairs'],
    {
      /** What is computed where no condition holds; an error by default. */
      readonly default?: Branch<D>;
      /** Whether it is an error that several conditions hold; false by default, and the first one counts. */
      readonly exclusive?: boolean;
      /** Whether lists of one tensor stay lists; false by default. */
      readonly strict?: boolean;
    }
  >
) => Tensors<R | D> = defineFunction<
  NamedFunction<
    [pairs: Pairs<unknown>],
    ['pairs|predFnPairs'],
    { readonly default?: Branch<unknown>; readonly exclusive?: boolean; readonly strict?: boolean },
    unknown
  >
>(
  'tf.case',
  { 'pairs|predFnPairs': kind.asIs },
  { default: kind.asIs, exclusive: kind.asIs, strict: kind.asIs },
  (pairs, options) => {
    const op = 'tf.case';
    if (!Array.isArray(pairs) || pairs.length === 0)
      throw new InvalidArgumentError('expected a list of at least one [predicate, function]', op);
    const list = pairs as Pairs<unknown>;
    list.forEach((pair, i) => {
      if (!Array.isArray(pair) || pair.length !== 2)
        throw new InvalidArgumentError(`pair ${i} is ${shown(pair)}, expected [predicate, function]`, op);
      checkFunction(pair[1], `the second part of pair ${i}`, op);
    });
    if (options.default !== undefined) checkFunction(options.default, 'default', op);
    const predicates = list.map(([pred]) => predicate(pred, op));
    // Lists of one are lists in any case, as in TensorFlow 2.
    checkFlag(options.strict, 'strict', op);
    if (checkFlag(options.exclusive, 'exclusive', op)) checkExclusive(predicates);
    const names = list.map((_, i) => `the function of pair ${i}`);
    const functions: Branch<unknown>[] = list.map(([, fn]) => fn);
    if (options.default !== undefined) {
      names.push('default');
      functions.push(options.default);
    } else checkSome(predicates);
    // One after the other: the last function where nothing else is left.
    const from = (i: number): unknown => {
      const [fn, name] = [functions[i], names[i]];
      if (i === functions.length - 1) return choose('If', true, [name], [fn], op);
      const others = i + 2 === functions.length ? names[i + 1] : 'those behind it';
      return choose('If', predicates[i] as Truth, [name, others], [fn, () => from(i + 1)], op);
    };
    return from(0);
  },
) as never;

type Pairs<R> = readonly (readonly [pred: TensorLike, fn: Branch<R>])[];

type Truth = boolean | Tensor;

const or = (a: Truth, b: Truth): Truth =>
  a === true || b === true ? true : a === false ? b : b === false ? a : logicalOr(a, b);
const and = (a: Truth, b: Truth): Truth =>
  a === false || b === false ? false : a === true ? b : b === true ? a : logicalAnd(a, b);

/** Throws, or has each run throw, where it does not hold. */
function check(holds: Truth, message: string): void {
  if (holds === false) throw new InvalidArgumentError(message, 'tf.case');
  if (holds !== true) debugging.assertEqual(holds, true, message);
}

function checkSome(predicates: readonly Truth[]): void {
  check(predicates.reduce(or), 'none of the predicates is true, and there is no default');
}

function checkExclusive(predicates: readonly Truth[]): void {
  let before: Truth = false;
  let several: Truth = false;
  for (const p of predicates) {
    several = or(several, and(before, p));
    before = or(before, p);
  }
  check(
    several instanceof Tensor ? logicalNot(several) : !several,
    'exclusive is set, but more than one predicate is true',
  );
}

/** Runs one branch, or has all of them traced. */
function choose(
  name: 'If' | 'Case',
  selector: boolean | number | Tensor,
  names: readonly string[],
  branches: readonly Branch<unknown>[],
  op: string,
): unknown {
  if (selector instanceof Tensor) return trace(name, selector, names, branches, op);
  const at = typeof selector === 'boolean' ? (selector ? 0 : 1) : selector;
  const chosen = flatten((branches[at] ?? (branches.at(-1) as Branch<unknown>))(), op);
  return pack(chosen, chosen.leaves);
}

function trace(
  name: 'If' | 'Case',
  selector: Tensor,
  names: readonly string[],
  branches: readonly Branch<unknown>[],
  op: string,
): unknown {
  for (let attempt = 0; ; attempt++) {
    let first: Nest | null = null;
    let known: boolean[] = [];
    const run = (branch: Branch<unknown>, i: number) => (): readonly Tensor[] => {
      const nest = flatten(branch(), op);
      if (first === null) {
        first = nest;
        known = inGraph(nest);
        return toGraph(nest);
      }
      const different = difference(first, nest, sameRank);
      if (different !== null) {
        throw new InvalidArgumentError(
          `all branches must return the same structure of the same dtypes and ranks, but ${different}.\n  ${names[0]} returns ${describe(first)}\n  ${names[i]} returns ${describe(nest)}`,
          op,
        );
      }
      unifyArrays(first, known, nest);
      return toGraph(nest);
    };
    try {
      const outputs = tracedCase(name, selector, branches.map(run));
      if (first === null) throw new InternalError('no branch was traced', op);
      return pack(first, fromGraph(first, known, outputs));
    } catch (error) {
      if (!(error instanceof ShapeFound)) throw error;
      if (attempt > branches.length)
        throw new InvalidArgumentError(
          'a branch creates a TensorArray whose element shape is known in the other branches only: give it { elementShape }',
          op,
        );
    }
  }
}
