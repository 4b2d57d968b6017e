// Functions over the elements of tensors along their first axis, one after the other.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import {
  concat,
  constant,
  type PartialShape,
  type RaggedTensor,
  range,
  type Shape,
  Tensor,
  type TensorLike,
  unstack,
  zeros,
} from '@eagre/core';
import {
  checkDTypeName,
  checkFlag,
  checkFunction,
  context,
  type Dim,
  defineFunction,
  differs,
  dims,
  equalDims,
  getRow,
  graphLoops,
  isCompatible,
  isComposite,
  isRagged,
  kind,
  lengthsOf,
  makeRagged,
  type NamedFunction,
  sameShape,
  showShape,
  sizeValue,
  splitsOfLengths,
  toOwnTensor,
  toShape,
  tree,
} from '@eagre/core/internal';
import type { RaggedTensorSpec } from '../ir/composite-specs.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { checkSignature } from '../tracing/signature.ts';
import { FunctionTracer } from '../tracing/tracer.ts';
import {
  describe,
  difference,
  flatten,
  type Leaf,
  type Nest,
  pack,
  type Tensors,
  type Values,
} from './nest.ts';
import { TensorArray } from './tensor-array.ts';
import { whileLoop } from './while-loop.ts';

/** What a function returns for one element: dtypes, or dtypes with shapes, in its structure. */
export type OutputSignature =
  | DType
  | TensorSpec
  | RaggedTensorSpec
  | readonly OutputSignature[]
  | { readonly [key: string]: OutputSignature };

/** Options of `mapFn`. */
export interface MapOptions {
  /**
   * What `fn` returns: numbers take these dtypes, anything else is refused. Where a `RaggedTensorSpec` stands, rows of different lengths
   * become a ragged tensor, with one ragged dimension more: `new tf.RaggedTensorSpec([null], 'int32', 0)` for vectors.
   */
  readonly fnOutputSignature?: OutputSignature;
}

const OP = 'tf.mapFn';

/** Of a ragged tensor something that has its rows, to be counted. @throws InvalidArgumentError for other composite tensors. */
function rowsIn(leaf: unknown, op: string): unknown {
  if (isRagged(leaf)) return leaf.rowStarts();
  if (isComposite(leaf))
    throw new InvalidArgumentError('elems must be tensors or ragged tensors; make sparse ones dense', op);
  return leaf;
}

/** @throws InvalidArgumentError for ragged and sparse tensors among what a function returns: rows of different lengths do not stack. */
function withoutComposites(result: unknown, op: string): unknown {
  if (
    isComposite(result) ||
    (!(result instanceof Tensor) && tree.leavesOf(result, op, tree.wholeComposites).some(isComposite))
  )
    throw new InvalidArgumentError(
      'fn must return tensors of one shape, not ragged or sparse tensors; for rows of different lengths give mapFn a fnOutputSignature of tf.RaggedTensorSpec',
      op,
    );
  return result;
}

/** Checks functions, and tensors whose first axis counts elements. */
class Elements {
  readonly count: Dim;
  readonly #nest: Nest;
  readonly #tensors: readonly Tensor[];
  // Without a trace they are cut apart at once.
  readonly #slices: readonly (readonly Tensor[])[] | null;
  /** The structure as it was given, where some are ragged; null else. */
  readonly #ragged: unknown = null;

  constructor(fn: unknown, elems: unknown, op: string) {
    checkFunction(fn, 'fn', op);
    if (tree.leavesOf(elems, op, tree.wholeComposites).some(isComposite)) {
      this.#ragged = elems;
      elems = tree.mapLeaves(elems, op, (leaf) => rowsIn(leaf, op), tree.wholeComposites);
    }
    this.#nest = flatten(elems, op);
    this.#tensors = this.#nest.leaves.map((leaf) => {
      if (leaf instanceof TensorArray)
        throw new InvalidArgumentError('elems must be tensors: call stack() on a TensorArray', op);
      if (leaf.rank === 0)
        throw new InvalidArgumentError(
          'elems must have a first axis, but one is a scalar; convert arrays of numbers with tf.constant',
          op,
        );
      return leaf;
    });
    const counts = this.#tensors.map((t) => dims(t)[0]);
    const [count] = counts;
    if (count === undefined) throw new InvalidArgumentError('elems must hold at least one tensor', op);
    if (counts.some((n) => differs(n, count)))
      throw new InvalidArgumentError(`elems must have the same first dimension, got [${counts}]`, op);
    this.count = count;
    this.#slices = context.tracer === null ? this.#tensors.map((t) => unstack(t)) : null;
  }

  /** Whether some are ragged. */
  get hasRagged(): boolean {
    return this.#ragged !== null;
  }

  /**
   * Where `fn` returns the structure of ragged elements with rows again, of their dtype and rank, what holds all rows: a signature for `mapToRows`.
   * Null where nothing that it returns is such.
   */
  rowsLike(result: unknown): OutputSignature | null {
    const specs: (DType | Rows)[] = [];
    let isAlike = true;
    tree.forEachPair(
      this.#ragged,
      result,
      OP,
      (from, leaf) => {
        if (leaf instanceof Tensor || isRagged(leaf)) specs.push(rowsOr(from, leaf));
        else isAlike = false;
      },
      () => {
        isAlike = false;
      },
      tree.wholeComposites,
    );
    if (!isAlike || !specs.some((spec) => spec instanceof Rows)) return null;
    return tree.pack(result, specs, OP, tree.wholeComposites) as OutputSignature;
  }

  /** How many there are at a run. */
  get limit(): number | Tensor {
    return sizeValue(this.count, 'int32');
  }

  /** The element of a number (int32 []), in the structure of all. */
  at(index: Tensor): unknown {
    if (this.#ragged !== null)
      return tree.mapLeaves(
        this.#ragged,
        OP,
        (leaf) => (isRagged(leaf) ? leaf.at(index) : getRow(toOwnTensor(leaf as TensorLike), index)),
        tree.wholeComposites,
      );
    const slices = this.#slices;
    if (slices === null)
      return pack(
        this.#nest,
        this.#tensors.map((t) => getRow(t, index)),
      );
    const at = index.item();
    return pack(
      this.#nest,
      slices.map((list) => list[at]),
    );
  }

  /** What a function of an element returns, without values: it is traced for that. */
  resultOf(fn: (elem: unknown) => Nest): Nest {
    const { tracer } = context;
    const probe = new FunctionTracer('fn', tracer === null, tracer instanceof FunctionTracer ? tracer : null);
    return probe.run(() => {
      if (this.#ragged !== null) return fn(this.at(probe.argument('int32', [], 'place')));
      const args = this.#tensors.map((t) => probe.argument(t.dtype, dims(t).slice(1), 'elem'));
      return fn(pack(this.#nest, args));
    });
  }
}

/** The forms of a call of `tf.mapFn`. */
export interface MapFn {
  /**
   * Calls `fn` with each element of `elems` along the first axis, and stacks what it returns.
   *
   *     tf.mapFn((x) => x.square().sum(), matrix)          // [rows]
   *     tf.mapFn(([x, y]) => x.add(y), [a, b])
   *     tf.mapFn((x) => ({ low: x.min(), high: x.max() }), matrix)
   *
   * @param fn gets an element in the structure of `elems`, and returns tensors in arrays, maps and plain objects: for each element the same
   * structure, dtypes and shapes.
   * @param elems tensors of one first dimension, in arrays, maps and plain objects. Of a ragged tensor the elements are its rows.
   * @returns what `fn` returns, with a first axis of the elements. Where it makes rows of rows, of their dtype and rank in the structure of `elems`, a
   * ragged tensor.
   * @throws InvalidArgumentError for scalars, for different first dimensions, and for different results.
   */
  <E, R>(fn: (elem: Tensors<E>) => R, elems: E, options?: MapOptions | null): Tensors<R>;
  <E, R>(
    options: MapOptions & {
      /** What becomes of an element. */
      readonly fn: (elem: Tensors<E>) => R;
      /** Tensors whose rows are the elements. */
      readonly elems: E;
    },
  ): Tensors<R>;
}
type Mapping<O = unknown> = NamedFunction<
  [fn: (elem: never) => unknown, elems: unknown],
  ['fn', 'elems'],
  O,
  unknown
>;
/** Calls a function with each element along the first axis, and stacks what it returns. */
export const mapFn: MapFn = defineFunction<Mapping<MapOptions>>(
  'tf.mapFn',
  { fn: kind.asIs, elems: kind.structure },
  { fnOutputSignature: kind.asIs },
  (fn, elems, options) => {
    const op = 'tf.mapFn';
    const { fnOutputSignature: signature } = options;
    if (signature !== undefined)
      checkSignature(
        signature,
        'fnOutputSignature',
        op,
        (leaf) => {
          if (typeof leaf === 'string') checkDTypeName(leaf as DType, op);
          return typeof leaf === 'string' || isRowsSpec(leaf);
        },
        isRowsSpec,
      );
    const elements = new Elements(fn, elems, op);
    if (signature !== undefined && tree.leavesOf(signature, op, isRowsSpec).some(isRowsSpec))
      return mapToRows(fn as never, elements, signature, op);
    let run = fn as (elem: unknown) => unknown;
    if (signature === undefined && elements.hasRagged) {
      const { results, model } = resultsOf(run, elements);
      const rows = elements.rowsLike(model);
      let next = 0;
      if (results.length > 0) run = () => results[next++];
      if (rows !== null) return mapToRows(run, elements, rows, op);
    }
    const call = (elem: unknown): Nest => {
      const result: unknown = withoutComposites(run(elem), op);
      return flatten(signature === undefined ? result : conform(result, signature, 'the result'), op);
    };
    return (context.tracer === null ? mapNow : mapTraced)(call, elements, op, () => false);
  },
) as never;

/** What of a spec of ragged tensors counts here, for results that nobody gave one for. */
class Rows implements RowsSpec {
  declare readonly dtype: DType;
  declare readonly shape: PartialShape;
  declare readonly raggedRank: number;
  declare readonly rowSplitsDtype: 'int32' | 'int64';

  constructor(spec: RowsSpec) {
    Object.assign(this, spec);
  }
}
type RowsSpec = Pick<RaggedTensorSpec, 'dtype' | 'shape' | 'raggedRank' | 'rowSplitsDtype'>;

/** What a spec of ragged tensors tells; by this, so that programs without ragged tensors need no such class. */
const isRowsSpec = (leaf: unknown): leaf is RowsSpec =>
  leaf instanceof Rows || (isComposite(leaf) && 'rowSplitsDtype' in leaf && 'raggedRank' in leaf);

/** What holds a result for each row of a ragged tensor as that one holds the rows; the result's dtype where nothing does. */
function rowsOr(from: unknown, result: Tensor | RaggedTensor): DType | Rows {
  const { dtype, rank } = result;
  const raggedRank = isRagged(result) ? result.raggedRank : 0;
  const isLike = isRagged(from) && dtype === from.dtype && rank === from.rank - 1;
  if (!isLike || raggedRank !== from.raggedRank - 1) return dtype;
  const inner = (result.shape as PartialShape).slice(raggedRank + 1);
  const shape = [...new Array<null>(raggedRank + 1).fill(null), ...inner];
  return new Rows({ dtype, shape, raggedRank, rowSplitsDtype: from.rowSplits.dtype as 'int64' });
}

/** All results of a function of ragged elements, none in a trace, and one to look at. */
function resultsOf(
  fn: (elem: unknown) => unknown,
  elements: Elements,
): { readonly results: readonly unknown[]; readonly model: unknown } {
  const count = context.tracer === null ? (elements.limit as number) : 0;
  const results = Array.from({ length: count }, (_, i) => fn(elements.at(constant(i, 'int32'))));
  let model = results[0];
  if (count === 0)
    elements.resultOf((elem) => {
      model = fn(elem);
      return flatten([], OP);
    });
  return { results, model };
}

/** As `mapFn` where the signature has ragged tensors: their parts are joined, and not stacked. */
function mapToRows(
  fn: (elem: unknown) => unknown,
  elements: Elements,
  signature: OutputSignature,
  op: string,
): unknown {
  const leaves = tree.leavesOf(signature, op, isRowsSpec);
  // By place among all tensors, those of one result after the other.
  const joined = leaves.flatMap((leaf) =>
    isRowsSpec(leaf) ? new Array<boolean>(leaf.raggedRank + 2).fill(true) : [false],
  );
  const call = (elem: unknown): Nest => {
    const given = tree.leavesOf(conform(fn(elem), signature, 'the result'), op, tree.wholeComposites);
    return flatten(
      given.map((value, i) => {
        const spec = leaves[i];
        return isRowsSpec(spec) ? rowParts(value as RaggedTensor | Tensor, spec) : (value as Tensor);
      }),
      op,
    );
  };
  const run = context.tracer === null ? mapNow : mapTraced;
  const results = run(call, elements, op, (k) => joined[k] as boolean) as readonly (Tensor | Tensor[])[];
  return tree.mapLeaves(
    signature,
    op,
    (leaf, i) => (isRowsSpec(leaf) ? rowsOfParts(results[i] as Tensor[], leaf) : results[i]),
    isRowsSpec,
  );
}

/** The innermost values of one result, the lengths of its rows, the outermost ones first, and how many these are. */
function rowParts(value: RaggedTensor | Tensor, { rowSplitsDtype }: RowsSpec): Tensor[] {
  const splits = isRagged(value) ? value.nestedRowSplits : [];
  const flat = isRagged(value) ? value.flatValues : value;
  const lengths = splits.map(lengthsOf);
  const count = toOwnTensor(sizeValue(dims(lengths[0] ?? flat)[0] as Dim, rowSplitsDtype), rowSplitsDtype);
  return [flat, ...lengths, count.reshape([1])];
}

/** The ragged tensor of all results, one behind the other. */
function rowsOfParts(parts: readonly Tensor[], { shape, raggedRank }: RowsSpec): unknown {
  const [flat, ...lengths] = parts as [Tensor, ...Tensor[]];
  const counts = lengths.pop() as Tensor;
  return [counts, ...lengths].reduceRight<Tensor | RaggedTensor>(
    (values, of, level) =>
      makeRagged(values, splitsOfLengths(of), level <= raggedRank ? (shape?.[level] ?? null) : null),
    flat,
  );
}

graphLoops.rows = (count, fn) => mapFn(fn, range(sizeValue(count, 'int32'), { dtype: 'int32' }));

/** The forms of a call of `tf.vectorizedMap`. */
export interface VectorizedMap {
  /**
   * `mapFn` under TensorFlow's other name. It calls `fn` for one element after the other as well. Tensors whose first dimension is 1 go with
   * every element of the others.
   */
  <E, R>(fn: (elem: Tensors<E>) => R, elems: E): Tensors<R>;
  <E, R>(options: {
    /** What becomes of an element. */
    readonly fn: (elem: Tensors<E>) => R;
    /** Tensors whose rows are the elements. */
    readonly elems: E;
  }): Tensors<R>;
}
/** `mapFn`, where tensors whose first dimension is 1 go with every element of the others. */
export const vectorizedMap: VectorizedMap = defineFunction<Mapping>(
  'tf.vectorizedMap',
  { fn: kind.asIs, elems: kind.structure },
  {},
  (fn, elems) => mapFn(fn as (elem: unknown) => unknown, inAllRows(elems, 'tf.vectorizedMap')),
) as never;

/** A structure of tensors of which those with a first dimension of 1 are as long as the others. */
function inAllRows(elems: unknown, op: string): unknown {
  if (tree.leavesOf(elems, op, tree.wholeComposites).some(isComposite)) return elems;
  const nest = flatten(elems, op);
  const rowsOf = (leaf: Leaf): Dim | undefined => (leaf instanceof TensorArray ? undefined : dims(leaf)[0]);
  const count = nest.leaves.map(rowsOf).find((n) => n !== undefined && n !== 1);
  if (count === undefined || !nest.leaves.some((leaf) => rowsOf(leaf) === 1)) return elems;
  const leaves = nest.leaves.map((leaf) =>
    leaf instanceof TensorArray || rowsOf(leaf) !== 1
      ? leaf
      : leaf.broadcastTo(toShape([count, ...dims(leaf).slice(1)])),
  );
  return pack(nest, leaves);
}

/** Whether the tensors at a place of the results are joined along their first axis, and not stacked along a new one. */
type Joins = (place: number) => boolean;

function mapNow(call: (elem: unknown) => Nest, elements: Elements, op: string, joins: Joins): unknown {
  const count = elements.limit as number;
  const results = Array.from({ length: count }, (_, i) => call(elements.at(constant(i, 'int32'))));
  const model = results[0] ?? elements.resultOf(call);
  for (const result of results) checkSame(model, result, 'for all elements', op, joins);
  const empty = emptyLike(model, count, op, joins);
  return pack(
    model,
    empty.map((start, k) => {
      const all = results.map(({ leaves }) => leaves[k] as Tensor);
      if (start instanceof Tensor) return concat([start, ...all], 0);
      return all.reduce((array, x, i) => array.write(i, x), start).stack();
    }),
  );
}

function mapTraced(call: (elem: unknown) => Nest, elements: Elements, op: string, joins: Joins): unknown {
  const { limit } = elements;
  const model = elements.resultOf(call);
  const empty = emptyLike(model, limit, op, joins);
  const growing = empty.map((start) => (start instanceof Tensor ? [null, ...start.shape.slice(1)] : null));
  const [, all] = whileLoop(
    (i) => i.less(limit),
    (i, before) => {
      const result = call(elements.at(i));
      checkSame(model, result, 'for all elements', op, joins);
      const after = before.map((x, k) => {
        const own = result.leaves[k] as Tensor;
        return x instanceof TensorArray ? x.write(i, own) : concat([x as Tensor, own], 0);
      });
      return [i.add(1), after];
    },
    [constant(0, 'int32'), empty],
    growing.some((shape) => shape !== null) ? { shapeInvariants: [null, growing] } : {},
  );
  return pack(
    model,
    all.map((x) => (x instanceof TensorArray ? x.stack() : (x as Tensor))),
  );
}

/** What results are put into: arrays for so many, and tensors without rows for those that are joined. */
function emptyLike(
  { leaves, tree: of }: Nest,
  size: number | Tensor,
  op: string,
  joins: Joins,
): (Tensor | TensorArray)[] {
  return leaves.map((leaf, k) =>
    joins(k) && leaf instanceof Tensor
      ? zeros(toShape([0, ...dims(leaf).slice(1)]), leaf.dtype)
      : (arraysLike({ leaves: [leaf], tree: of }, size, op)[0] as TensorArray),
  );
}

/** For each tensor of a structure, an array of `size` such tensors. @throws InvalidArgumentError for arrays in it. */
function arraysLike({ leaves }: Nest, size: number | Tensor, op: string): TensorArray[] {
  return leaves.map((leaf) => {
    if (leaf instanceof TensorArray)
      throw new InvalidArgumentError('a TensorArray cannot be stacked: return its stack()', op);
    return new TensorArray(leaf.dtype, { size, elementShape: leaf.shape });
  });
}

function checkSame(expected: Nest, got: Nest, when: string, op: string, joins: Joins = () => false): void {
  // Of what is joined the first sizes may differ.
  const different = difference(expected, got, (a, b, place) =>
    joins(place) ? a.length === b.length && sameShape(a.slice(1), b.slice(1)) : sameShape(a, b),
  );
  if (different !== null) {
    throw new InvalidArgumentError(
      `fn must return the same structure of the same dtypes and shapes ${when}, but ${different}.\n  ${describe(expected)}\n  ${describe(got)}`,
      op,
    );
  }
}

/** A result brought to a signature. */
function conform(value: unknown, signature: OutputSignature, where: string): unknown {
  const fail = (path: tree.Path, why: string): never => {
    throw new InvalidArgumentError(
      `${where}${tree.showPath(path)} ${why}, as fnOutputSignature says`,
      'tf.mapFn',
    );
  };
  const found: (Tensor | RaggedTensor)[] = [];
  const check = (
    x: Tensor | RaggedTensor,
    dtype: DType,
    shape: PartialShape | null,
    path: tree.Path,
  ): void => {
    if (x.dtype !== dtype) fail(path, `is ${x.dtype}, but must be ${dtype}`);
    if (!isCompatible(x.shape as Shape, shape))
      fail(path, `has shape ${showShape(x.shape)}, but must have ${showShape(shape ?? [])}`);
    found.push(x);
  };
  tree.forEachPair(
    signature,
    value,
    'tf.mapFn',
    (leaf, given, path) => {
      if (isRowsSpec(leaf)) {
        const { raggedRank, rowSplitsDtype, dtype, shape } = leaf;
        const rows = isRagged(given) ? given : toOwnTensor(given as TensorLike, dtype);
        const rank = isRagged(rows) ? rows.raggedRank : 0;
        if (rank !== raggedRank || rows.rank === 0)
          fail(
            path,
            `has ${rank} ragged dimensions in shape ${showShape(rows.shape)}, but must be rows with ${raggedRank}`,
          );
        if (isRagged(rows) && rows.rowSplits.dtype !== rowSplitsDtype)
          fail(path, `has rowSplits of ${rows.rowSplits.dtype}, but must have ${rowSplitsDtype}`);
        check(rows, dtype, shape, path);
        return;
      }
      withoutComposites(given, 'tf.mapFn');
      const { dtype, shape } = leaf instanceof TensorSpec ? leaf : { dtype: leaf as DType, shape: null };
      check(toOwnTensor(given as TensorLike, dtype), dtype, shape, path);
    },
    (_, expected, __, path) =>
      fail(
        path,
        Array.isArray(expected)
          ? `must be a list of ${expected.length}`
          : `must be ${tree.containerName(expected)} of ${tree.keysOf(expected).join(', ')}`,
      ),
    isRowsSpec,
  );
  return tree.pack(signature, found, 'tf.mapFn', isRowsSpec);
}

type Step = (state: unknown, elem: unknown) => unknown;

/** Goes through the elements with a state. @returns the last state, or all of them in the places of the elements if `keep` is set. */
function fold(
  fn: Step,
  elems: unknown,
  options: { readonly initializer?: unknown; readonly reverse?: boolean },
  { op, keep, backward }: { readonly op: string; readonly keep: boolean; readonly backward?: boolean },
): unknown {
  const { initializer } = options;
  const reverse = backward ?? checkFlag(options.reverse, 'reverse', op);
  const elements = new Elements(fn, elems, op);
  const { count, limit } = elements;
  const last = typeof limit === 'number' ? constant(limit - 1, 'int32') : limit.sub(1);
  const place = (i: Tensor): Tensor => (reverse ? last.sub(i) : i);
  const start = constant(0, 'int32');
  const fromFirst = initializer === undefined;
  if (fromFirst && equalDims(count, 0))
    throw new InvalidArgumentError('there are no elements, so an initializer is needed', op);
  const initial = flatten(fromFirst ? elements.at(place(start)) : initializer, op);
  let arrays = keep ? arraysLike(initial, limit, op) : [];
  const written = (i: Tensor, states: readonly (Tensor | TensorArray)[]): void => {
    arrays = arrays.map((array, k) => array.write(place(i), states[k] as Tensor));
  };
  if (fromFirst) written(start, initial.leaves);
  const [, state, stacks] = whileLoop(
    (i) => i.less(limit),
    (i, states, before) => {
      const result = flatten(
        withoutComposites(fn(pack(initial, states), elements.at(place(i))), op),
        op,
        states,
      );
      checkSame({ tree: initial.tree, leaves: states }, result, 'as the state', op);
      arrays = before;
      written(i, result.leaves);
      return [i.add(1), result.leaves, arrays];
    },
    [constant(fromFirst ? 1 : 0, 'int32'), [...initial.leaves], arrays],
  );
  return keep
    ? pack(
        initial,
        stacks.map((array) => array.stack()),
      )
    : pack(initial, state);
}

type Folding<O> = NamedFunction<[fn: Step, elems: unknown], ['fn', 'elems'], O, unknown>;

/** The forms of a call of `tf.foldl`. */
export interface Foldl {
  /**
   * The state after `fn(state, element)` for each element of `elems` along the first axis, from the first to the last.
   * `tf.foldl((sum, x) => sum.add(x), tf.constant([1, 2, 3]))` is 6.
   * @param options.initializer the first state, in any structure; without it the first element is, and `fn` is not called for that one.
   * @throws InvalidArgumentError for a state that changes its structure, dtypes or shapes, and for no elements without an initializer.
   */
  <E, const I>(
    fn: (state: Tensors<I>, elem: Tensors<E>) => Values<Tensors<I>>,
    elems: E,
    options: {
      /** The state before the first element. */
      readonly initializer: I;
    },
  ): Tensors<I>;
  <E>(
    fn: (state: Tensors<E>, elem: Tensors<E>) => Values<Tensors<E>>,
    elems: E,
    options?: Record<never, never> | null,
  ): Tensors<E>;
  <E, const I>(options: {
    /** Makes the next state of the state and an element. */
    readonly fn: (state: Tensors<I>, elem: Tensors<E>) => Values<Tensors<I>>;
    /** Tensors whose rows are the elements. */
    readonly elems: E;
    /** The state before the first element. */
    readonly initializer: I;
  }): Tensors<I>;
  <E>(options: {
    /** Makes the next state of the state and an element. */
    readonly fn: (state: Tensors<E>, elem: Tensors<E>) => Values<Tensors<E>>;
    /** Tensors whose rows are the elements; the first is the state at the start. */
    readonly elems: E;
  }): Tensors<E>;
}
/** Combines the elements along the first axis, from the first on: the last state. */
export const foldl: Foldl = defineFunction<Folding<{ readonly initializer?: unknown }>>(
  'tf.foldl',
  { fn: kind.asIs, elems: kind.structure },
  { initializer: kind.asIs },
  (fn, elems, options) => fold(fn, elems, options, { op: 'tf.foldl', keep: false }),
) as never;

/** The forms of a call of `tf.foldr`. */
export interface Foldr {
  /** As `tf.foldl`, from the last element to the first. */
  <E, const I>(
    fn: (state: Tensors<I>, elem: Tensors<E>) => Values<Tensors<I>>,
    elems: E,
    options: {
      /** The state before the last element, where it begins. */
      readonly initializer: I;
    },
  ): Tensors<I>;
  <E>(
    fn: (state: Tensors<E>, elem: Tensors<E>) => Values<Tensors<E>>,
    elems: E,
    options?: Record<never, never> | null,
  ): Tensors<E>;
  <E, const I>(options: {
    /** Makes the next state of the state and an element. */
    readonly fn: (state: Tensors<I>, elem: Tensors<E>) => Values<Tensors<I>>;
    /** Tensors whose rows are the elements. */
    readonly elems: E;
    /** The state before the last element, where it begins. */
    readonly initializer: I;
  }): Tensors<I>;
  <E>(options: {
    /** Makes the next state of the state and an element. */
    readonly fn: (state: Tensors<E>, elem: Tensors<E>) => Values<Tensors<E>>;
    /** Tensors whose rows are the elements; the last is the state at the start. */
    readonly elems: E;
  }): Tensors<E>;
}
/** Combines the elements along the first axis, from the last on: the last state. */
export const foldr: Foldr = defineFunction<Folding<{ readonly initializer?: unknown }>>(
  'tf.foldr',
  { fn: kind.asIs, elems: kind.structure },
  { initializer: kind.asIs },
  (fn, elems, options) => fold(fn, elems, options, { op: 'tf.foldr', keep: false, backward: true }),
) as never;

/** The forms of a call of `tf.scan`. */
export interface Scan {
  /**
   * All states of a fold, stacked along a first axis of the elements: `tf.scan((sum, x) => sum.add(x), tf.constant([1, 2, 3]))` is [1, 3, 6].
   * @param options.initializer as for `tf.foldl`; it is not among the results.
   * @param options.reverse from the last element to the first; the states stay in the places of the elements.
   * @throws InvalidArgumentError as `tf.foldl`.
   */
  <E, const I>(
    fn: (state: Tensors<I>, elem: Tensors<E>) => Values<Tensors<I>>,
    elems: E,
    options: {
      /** The state before the first element. */
      readonly initializer: I;
      /** From the last element to the first; false by default. */
      readonly reverse?: boolean;
    },
  ): Tensors<I>;
  <E>(
    fn: (state: Tensors<E>, elem: Tensors<E>) => Values<Tensors<E>>,
    elems: E,
    options?: {
      /** From the last element to the first; false by default. */
      readonly reverse?: boolean;
    } | null,
  ): Tensors<E>;
  <E, const I>(options: {
    /** Makes the next state of the state and an element. */
    readonly fn: (state: Tensors<I>, elem: Tensors<E>) => Values<Tensors<I>>;
    /** Tensors whose rows are the elements. */
    readonly elems: E;
    /** The state before the first element. */
    readonly initializer: I;
    /** From the last element to the first; false by default. */
    readonly reverse?: boolean;
  }): Tensors<I>;
  <E>(options: {
    /** Makes the next state of the state and an element. */
    readonly fn: (state: Tensors<E>, elem: Tensors<E>) => Values<Tensors<E>>;
    /** Tensors whose rows are the elements; the first is the state at the start. */
    readonly elems: E;
    /** From the last element to the first; false by default. */
    readonly reverse?: boolean;
  }): Tensors<E>;
}
/** Combines the elements along the first axis, and stacks all states. */
export const scan: Scan = defineFunction<
  Folding<{ readonly initializer?: unknown; readonly reverse?: boolean }>
>(
  'tf.scan',
  { fn: kind.asIs, elems: kind.structure },
  { initializer: kind.asIs, reverse: kind.asIs },
  (fn, elems, options) => fold(fn, elems, options, { op: 'tf.scan', keep: true }),
) as never;

graphLoops.repeat = (times, fn, initial) => {
  const [, ...state] = whileLoop(
    (i: Tensor) => i.less(times),
    (i: Tensor, ...now: Tensor[]) => [i.add(1), ...fn(now, i)],
    [constant(0, 'int32'), ...initial],
  ) as Tensor[];
  return state;
};
graphLoops.scanBack = (fn, elems, initial) =>
  scan({ fn: fn as never, elems, initializer: initial, reverse: true }) as readonly Tensor[];
