// What functions of tensors make of ragged ones: one table.
// Types in a circle: the class of ragged tensors asks here.
import { InvalidArgumentError } from '@eagre/backend';
import type { Call } from '../composite/composite.ts';
import { ofEachValue } from '../composite/unary-names.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { elementwise } from './broadcasting.ts';
import { gatherRagged } from './gathering.ts';
import { expandDims, join, reverse, squeeze, tile } from './joining.ts';
import { matmul } from './products.ts';
import { isRagged, type RaggedOrDense, raggedAxis, toRaggedOrDense } from './ragged-base.ts';
import type { RaggedTensor } from './ragged-tensor.ts';
import { isReduction, reduce } from './reducing.ts';
import { cumsum, softmax } from './row-ops.ts';

type Options = Readonly<Record<string, unknown>>;
type Handler = (call: Call, ...values: readonly unknown[]) => unknown;

const listedIntegers = (value: unknown): number[] =>
  (Array.isArray(value) ? value : [value]).map((v: unknown) =>
    Number(typeof v === 'object' ? (v as Tensor).item() : v),
  );

const handlers: Readonly<Record<string, Handler>> = {
  concat: (_, list, axis = 0) => join(allOf(list), Number(axis), false, 'ConcatV2'),
  stack: (_, list, axis = 0) => join(allOf(list), Number(axis), true, 'Pack'),
  addN: (call, list) => elementwise(allOf(list), (...flat) => call.run([flat]) as Tensor, 'AddN'),
  'strings.join': (call, list, ...rest) =>
    elementwise(allOf(list), (...flat) => call.run([flat, ...rest]) as Tensor, 'StringJoin'),
  gather: ({ options }, params, indices, axis) => gatherRagged(params, indices, axis, options.batchDims),
  where(call, condition, x = null, y = null) {
    if (x === null || y === null)
      return (condition as RaggedTensor).toTensor({ defaultValue: false }).nonzero();
    return elementwise(
      [toRaggedOrDense(condition as TensorLike, 'bool'), ...allOf([x, y])],
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
    );
    if (list.length !== (x as RaggedTensor).rank)
      throw new InvalidArgumentError(
        `multiples must have ${(x as RaggedTensor).rank} numbers, got [${list}]`,
        'Tile',
      );
    return tile(x as RaggedTensor, list);
  },
  expandDims: (_, x, axis) => expandDims(x as RaggedTensor, Number(axis)),
  squeeze(_, x, axis = null) {
    if (axis === null)
      throw new InvalidArgumentError('the axes to squeeze of a ragged tensor must be given', 'Squeeze');
    return squeeze(x as RaggedTensor, listedIntegers(axis));
  },
  reverse: (_, x, axis) =>
    reverse(
      x as RaggedTensor,
      listedIntegers(axis).map((a) => raggedAxis(a, (x as RaggedTensor).rank, 'ReverseV2')),
    ),
  size: (_, x) => constant((x as RaggedTensor).flatValues.size, 'int32'),
  rank: (_, x) => constant((x as RaggedTensor).rank, 'int32'),
  softmax: (_, x, axis = -1) => softmax(x as RaggedTensor, Number(axis)),
  cumsum: ({ options }, x, axis = 0) => cumsum(x as RaggedTensor, Number(axis), options),
};

/** Several values as tensors and ragged tensors; bare numbers and lists take the dtype of the first that has one. */
function allOf(list: unknown): RaggedOrDense[] {
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
  if (call.elementwise) return byElement(call);
  if (ofEachValue.has(name) && isRagged(x)) {
    const flat = call.run([x.flatValues, ...values.slice(1)]) as Tensor;
    return x.withFlatValues(flat);
  }
  return undefined;
}

function axesOf(axis: unknown): number | readonly number[] | null {
  if (axis === undefined || axis === null) return null;
  return Array.isArray(axis) ? listedIntegers(axis) : (listedIntegers(axis)[0] as number);
}

/** The tensors among the arguments broadcast; bare numbers and options are for all elements. */
function byElement(call: Call): RaggedTensor {
  const { values } = call;
  const places = values.flatMap((v, i) => (typeof v === 'object' && v !== null ? [i] : []));
  const inputs = allOf(places.map((i) => values[i]));
  const fn = (...flat: readonly Tensor[]): Tensor => {
    const all = [...values];
    places.forEach((place, i) => {
      all[place] = flat[i];
    });
    return call.run(all) as Tensor;
  };
  return elementwise(inputs, fn, call.name);
}
