// What functions of tensors make of ragged ones: one table.
// Types in a circle: the class of ragged tensors asks here.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { shown } from '../arguments/checks.ts';
import { type Call, isComposite } from '../composite/composite.ts';
import { ofEachPair, ofEachValue } from '../composite/unary-names.ts';
import { graphLoops } from '../dispatch/graph-loops.ts';
import { zeros } from '../ops/array/creation.ts';
import { stack } from '../ops/array/join.ts';
import type { Dim } from '../shapes/dim.ts';
import { dims } from '../shapes/dims.ts';
import { differs } from '../shapes/sizes.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { elementwise } from './broadcasting.ts';
import { DynamicRaggedShape } from './dynamic-shape.ts';
import { gatherNdRagged, gatherRagged } from './gathering.ts';
import { expandDims, join, reverse, squeeze, tile } from './joining.ts';
import { checkSameRows, countFrom, partitions, split } from './pieces.ts';
import { matmul } from './products.ts';
import { integerFrom, isRagged, type RaggedOrDense, raggedAxis, toRaggedOrDense } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import { isReduction, reduce, segments } from './reducing.ts';
import { countsOfRows, cumsum, softmax } from './row-ops.ts';
import { rowCount, type SplitsDType } from './row-partition.ts';

type Options = Readonly<Record<string, unknown>>;
type Handler = (call: Call, ...values: readonly unknown[]) => unknown;

const listedIntegers = (value: unknown, what: string, op: string): number[] =>
  (Array.isArray(value) ? value : [value]).map((v: unknown) => integerFrom(v, what, op));

const handlers: Readonly<Record<string, Handler>> = {
  concat: (_, list, axis = 0) =>
    join(allOf(list, 'ConcatV2'), integerFrom(axis, 'axis', 'ConcatV2'), false, 'ConcatV2'),
  stack: (_, list, axis = 0) => join(allOf(list, 'Pack'), integerFrom(axis, 'axis', 'Pack'), true, 'Pack'),
  addN: (call, list) => elementwise(allOf(list, 'AddN'), (...flat) => call.run([flat]) as Tensor, 'AddN'),
  'strings.join'(call, list, ...rest) {
    const all = allOf(list, 'StringJoin');
    if (!all.some(isRagged)) return undefined;
    return elementwise(all, (...flat) => call.run([flat, ...rest]) as Tensor, 'StringJoin');
  },
  gatherNd({ options }, params, indices) {
    if ((options.batchDims ?? 0) !== 0)
      throw new UnimplementedError('gatherNd of ragged tensors with batchDims', 'GatherNd');
    return gatherNdRagged(params, indices);
  },
  split: (_, x, numOrSizes, axis = 0) => split(ragged(x, 'split'), numOrSizes, axis),
  // The shape of a ragged tensor says itself what becomes of others.
  broadcastTo: (call, _, shape) =>
    isComposite(shape) && !isRagged(shape) ? shape.dispatch(call) : undefined,
  reshape: (call, x, ...rest) => call.run([ragged(x, 'reshape').flatValues, ...rest]),
  dynamicPartition(_, data, ids, given) {
    const op = 'DynamicPartition';
    const count = countFrom(given, 'numPartitions', op);
    if (typeof count !== 'number' || count < 0)
      throw new InvalidArgumentError(
        `numPartitions must be an integer of at least 0, got ${String(count)}`,
        op,
      );
    const [d, p] = [toRaggedOrDense(data as TensorLike), toRaggedOrDense(ids as TensorLike, 'int32')];
    const stacked = partitions(d, p, count, op);
    return Array.from({ length: count }, (_, i) => stacked.at(i));
  },
  'math.bincount'(call, given) {
    const x = ragged(given, 'arr');
    const { weights = null, axis = null, binaryOutput } = call.options;
    if (weights !== null && !isRagged(weights))
      throw new InvalidArgumentError('weights of ragged numbers must be ragged too', 'Bincount');
    if (weights !== null) checkSameRows(x, weights, 'Bincount');
    const values = weights === null ? null : weights.flatValues;
    const count = (flat: Tensor): Tensor =>
      call.run([flat], { ...call.options, weights: values, axis: axis === -1 ? null : axis }) as Tensor;
    if (axis !== -1) return count(x.flatValues);
    return countsOfRows(x, values, binaryOutput === true, count);
  },
  oneHot(call, given, depth) {
    const x = ragged(given, 'indices');
    const { axis = -1, ...options } = call.options;
    const a = raggedAxis(integerFrom(axis, 'axis', 'OneHot'), x.rank + 1, 'OneHot');
    if (a <= x.raggedRank)
      throw new InvalidArgumentError(
        `axis must be behind the ${x.raggedRank} ragged ones, got ${String(axis)}`,
        'OneHot',
      );
    const flat = call.run([x.flatValues, depth], { ...options, axis: a - x.raggedRank }) as Tensor;
    return x.withFlatValues(flat);
  },
  'image.resize'(call, given, size) {
    const x = ragged(given, 'images');
    if (x.rank !== 4)
      throw new InvalidArgumentError(`ragged images must have rank 4, got ${x.rank}`, 'image.resize');
    const image = (i: TensorLike): Tensor => {
      const one = x.at(i as number);
      return call.run([isRagged(one) ? one.toTensor() : one, size]) as Tensor;
    };
    const count = rowCount(x.rowSplits);
    if (typeof count !== 'number') return graphLoops.rows(count, (i) => [image(i)])[0];
    // Without images, what one would be tells the shape.
    if (count === 0) return call.run([zeros([0, 1, 1, dims(x.flatValues).at(-1) as number], x.dtype), size]);
    return stack(
      Array.from({ length: count }, (_, i) => image(i)),
      0,
    );
  },
  'nn.embeddingLookup'(call, params, ids) {
    const x = ragged(ids, 'ids');
    return x.withFlatValues(call.run([params, x.flatValues]) as Tensor);
  },
  gather: ({ options }, params, indices, axis) => gatherRagged(params, indices, axis, options.batchDims),
  where(call, condition, x = null, y = null) {
    if (x === null || y === null)
      return (condition as RaggedTensor).toTensor({ defaultValue: false }).nonzero();
    return elementwise(
      [toRaggedOrDense(condition as TensorLike, 'bool'), ...allOf([x, y], 'Where')],
      (...flat) => call.run(flat) as Tensor,
      'SelectV2',
    );
  },
  matmul: ({ options }, a, b) => matmul(a as RaggedOrDense, b as RaggedOrDense, options),
  tile(_, x, multiples) {
    const list = listedIntegers(
      Array.isArray(multiples)
        ? multiples
        : Array.from(toTensor(multiples as TensorLike).data() as ArrayLike<number>, Number),
      'multiples',
      'Tile',
    );
    if (list.length !== (x as RaggedTensor).rank)
      throw new InvalidArgumentError(
        `multiples must have ${(x as RaggedTensor).rank} numbers, got [${list}]`,
        'Tile',
      );
    return tile(x as RaggedTensor, list);
  },
  expandDims: (_, x, axis) => expandDims(ragged(x, 'expandDims'), integerFrom(axis, 'axis', 'ExpandDims')),
  squeeze(_, x, axis = null) {
    if (axis === null)
      throw new InvalidArgumentError('the axes to squeeze of a ragged tensor must be given', 'Squeeze');
    return squeeze(x as RaggedTensor, listedIntegers(axis, 'axis', 'Squeeze'));
  },
  reverse: (_, x, axis) =>
    reverse(
      x as RaggedTensor,
      listedIntegers(axis, 'axis', 'ReverseV2').map((a) =>
        raggedAxis(a, (x as RaggedTensor).rank, 'ReverseV2'),
      ),
    ),
  size: (_, x) => constant((x as RaggedTensor).flatValues.size, 'int32'),
  shapeOf({ options }, x) {
    const { outType: dtype = 'int32' } = options as { readonly outType?: SplitsDType };
    return DynamicRaggedShape.fromTensor(ragged(x, 'x'), { dtype });
  },
  rank: (_, x) => constant((x as RaggedTensor).rank, 'int32'),
  softmax: (_, x, axis = -1) => softmax(x as RaggedTensor, integerFrom(axis, 'axis', 'Softmax')),
  cumsum: ({ options }, x, axis = 0) =>
    cumsum(x as RaggedTensor, integerFrom(axis, 'axis', 'Cumsum'), options),
};

/** The first argument, which is to be the ragged one. @throws InvalidArgumentError for another. */
function ragged(x: unknown, what: string): RaggedTensor {
  if (isRagged(x)) return x;
  throw new InvalidArgumentError(`${what} must be a ragged tensor where another argument is one`);
}

/** Assertions on the elements of two tensors. */
const comparisons: ReadonlySet<string> = new Set(
  ['Equal', 'NoneEqual', 'Less', 'LessEqual', 'Greater', 'GreaterEqual', 'Near'].map(
    (how) => `debugging.assert${how}`,
  ),
);

const isOfSegments = (name: string): boolean => /^(math\.)?unsortedSegment/.test(name);

/** Rows with one number become one, place by place. Numbers that are ragged are those of the values in the rows. */
function bySegment(call: Call): RaggedOrDense {
  const [data, given, count] = call.values;
  const op = call.name;
  let x = toRaggedOrDense(data as TensorLike);
  let ids = toRaggedOrDense(given as TensorLike, 'int32');
  while (isRagged(ids)) {
    if (!isRagged(x)) throw new InvalidArgumentError('segmentIds are ragged, but the data are not', op);
    checkSameRows(x, ids, op);
    [x, ids] = [x.values, ids.values];
  }
  if (isRagged(x) && (ids.rank !== 1 || differs(dims(ids)[0] as Dim, rowCount(x.rowSplits))))
    throw new InvalidArgumentError(
      `segmentIds of shape [${ids.shape}] must be the numbers of ${String(rowCount(x.rowSplits))} rows`,
      op,
    );
  const n = countFrom(count, 'numSegments', op);
  return segments((flat, numbers, size) => call.run([flat, numbers, size]) as Tensor, x, ids, n);
}

/** Several values as tensors and ragged tensors; bare numbers and lists take the dtype of the first that has one. */
function allOf(list: unknown, op: string): RaggedOrDense[] {
  if (!Array.isArray(list))
    throw new InvalidArgumentError(`expected a list of tensors, got ${shown(list)}: put it in a list`, op);
  const values = list as readonly TensorLike[];
  const typed = values.find((v) => typeof v === 'object' && v !== null && 'dtype' in v) as Tensor | undefined;
  return values.map((v) => toRaggedOrDense(v, typed?.dtype));
}

/** What a function makes of its arguments, one of which is ragged; undefined where it is not for ragged tensors. */
export function dispatchRagged(call: Call): unknown {
  const { name, values, options } = call;
  if (Object.hasOwn(handlers, name)) return (handlers[name] as Handler)(call, ...values);
  const [x, axis] = values;
  if (isReduction(name) && isRagged(x))
    return reduce(name, x, axesOf(axis), (options as Options).keepdims === true);
  if (isOfSegments(name)) return bySegment(call);
  if (call.elementwise || ofEachPair.has(name)) return byElement(call);
  if (comparisons.has(name)) {
    byElement(call, (flat) => flat);
    // Of what was looked at nothing comes.
    return null;
  }
  if (ofEachValue.has(name) && isRagged(x)) {
    const flat = call.run([x.flatValues, ...values.slice(1)]) as Tensor;
    return x.withFlatValues(flat);
  }
  return undefined;
}

function axesOf(axis: unknown): number | readonly number[] | null {
  if (axis === undefined || axis === null) return null;
  const op = 'RaggedReduce';
  return Array.isArray(axis) ? listedIntegers(axis, 'axis', op) : integerFrom(axis, 'axis', op);
}

/** The tensors among the arguments broadcast; bare numbers and options are for all elements. */
function byElement(call: Call, of?: (first: Tensor) => Tensor): RaggedTensor {
  const { values } = call;
  const places = values.flatMap((v, i) => (typeof v === 'object' && v !== null ? [i] : []));
  const inputs = allOf(
    places.map((i) => values[i]),
    call.name,
  );
  const fn = (...flat: readonly Tensor[]): Tensor => {
    const all = [...values];
    places.forEach((place, i) => {
      all[place] = flat[i];
    });
    const result = call.run(all) as Tensor;
    return of === undefined ? result : of(flat[0] as Tensor);
  };
  return elementwise(inputs, fn, call.name);
}
