// Strings of numbers, numbers of strings, and their hashes.
import {
  type DType,
  dtypeTraits,
  InvalidArgumentError,
  type TextHash,
  type TypedArray,
} from '@eagre/backend';
import type { IntegerLike, IntegersLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { type Arguments, defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, checkOneOf, shown } from '../../arguments/checks.ts';
import { portableEach, type TypedAttr } from '../../dispatch/portable.ts';
import { constant } from '../../tensor/constant.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { isFloating, isInteger } from '../../tensor/dtypes.ts';
import { checkListSize } from '../../tensor/list-size.ts';
import { hostValues, type Known, stringTensor, type Tensor, textsOf } from '../../tensor/tensor.ts';
import { bucketsOf, hashedTexts } from './buckets.ts';
import { onKnown, stringsOf, toStrings } from './known-strings.ts';
import { type AsStringOptions, type Values, writer } from './number-texts.ts';
import { numberOf, plainNumber } from './numbers.ts';
import { eachUtf8 } from './utf8.ts';
import { setInteger } from './wide-integers.ts';

export type { AsStringOptions };

/**
 * Numbers as strings, as C's printf writes them: '%d' for integers, '%f' for floats, true and false for bools.
 * @throws InvalidArgumentError for options that the dtype does not have
 */
export const asString: NamedFunction<
  [input: TensorLike],
  ['input'],
  AsStringOptions,
  Tensor<'string'>
> = /* @__PURE__ */ defineFunction(
  'strings.asString',
  { input: kind.tensor },
  { precision: kind.asIs, scientific: kind.asIs, shortest: kind.asIs, width: kind.asIs, fill: kind.asIs },
  (input, options) => {
    const x = toTensor(input);
    const write = writer(x.dtype, options);
    const inOps = (given: Tensor): Tensor =>
      portableEach('AsString', [given], 'string', {
        T: { kind: 'type', value: given.dtype },
        precision: { kind: 'int', value: options.precision ?? -1 },
        scientific: { kind: 'bool', value: options.scientific ?? false },
        shortest: { kind: 'bool', value: options.shortest ?? false },
        width: { kind: 'int', value: options.width ?? -1 },
        fill: { kind: 'text', value: options.fill ?? '' },
      });
    const bare = isInteger(x.dtype) && !((options.width ?? -1) > 0) && !options.fill;
    const texts = (known: Tensor): Tensor => {
      if (bare) return stringsOf(hashedTexts(known), known.shape, 'AsString');
      const values: Values =
        known.dtype === 'string' ? known.strings() : (hostValues(known) as ArrayLike<number | bigint>);
      checkListSize(known.size, 'strings', 'make smaller tensors', 'AsString');
      const texts = new Array<string>(known.size);
      for (let i = 0; i < texts.length; i++) texts[i] = write(values, i);
      return stringTensor(texts, known.shape);
    };
    return onKnown('AsString', [x], texts, inOps);
  },
);

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
} as const;
const NUMBERS = /* @__PURE__ */ Object.keys(ARRAYS) as readonly DType[];

/**
 * The numbers in strings, float32 unless `outType` says otherwise. Spaces around them do not matter.
 * @throws InvalidArgumentError for a string that is no number, or none that the dtype can hold
 */
export const toNumber: <D extends DType = 'float32'>(
  ...args: Arguments<[input: TensorLike, outType?: D], ['input', 'outType']>
) => Tensor<Known<D>> = /* @__PURE__ */ defineFunction<
  NamedFunction<[input: TensorLike, outType?: DType], ['input', 'outType']>
>('strings.toNumber', { input: kind.tensor, outType: kind.asIs }, {}, (input, outType = 'float32') => {
  checkOneOf(outType, NUMBERS, 'outType', 'StringToNumber');
  const numbersIn = (x: Tensor): Tensor => {
    const texts = textsOf(x);
    const isFloat = isFloating(outType);
    const traits = dtypeTraits[outType];
    const isWide = !isFloat && traits.bytes === 8;
    const data = new ARRAYS[outType as keyof typeof ARRAYS](x.size) as TypedArray;
    const words = new Uint32Array(data.buffer);
    const least = traits.kind === 'uint' ? 0 : isWide ? Number.MIN_SAFE_INTEGER : -(2 ** 31);
    const most = isWide ? Number.MAX_SAFE_INTEGER : 2 ** (traits.kind === 'uint' ? 32 : 31) - 1;
    eachUtf8(x, ({ bytes, starts }, first) => {
      for (let i = 0; i + 1 < starts.length; i++) {
        const plain = plainNumber(bytes, starts[i], starts[i + 1], isFloat);
        if (isFloat ? !Number.isNaN(plain) : plain >= least && plain <= most) {
          if (isWide) setInteger(words, first + i, plain);
          else data[first + i] = plain as never;
          continue;
        }
        const number = numberOf(texts[first + i], outType);
        if (number === undefined)
          throw new InvalidArgumentError(
            `${shown(texts[first + i])} is no number of ${outType}`,
            'StringToNumber',
          );
        data[first + i] = number as never;
      }
    });
    return constant({ data, shape: x.shape, dtype: outType } as never);
  };
  const strings = toStrings(input, 'input', 'StringToNumber');
  return onKnown('StringToNumber', [strings], numbersIn, (x) =>
    portableEach('StringToNumber', [x], outType, { out_type: { kind: 'type', value: outType } }),
  );
});

/** An int64 for each string. */
export function integersOfStrings(
  x: Tensor,
  op: string,
  fn: (text: string) => bigint,
  portable?: (x: Tensor) => Tensor,
): Tensor {
  const integers = (known: Tensor): Tensor =>
    constant({ data: BigInt64Array.from(known.strings(), fn), shape: known.shape, dtype: 'int64' });
  return onKnown(op, [x], integers, portable);
}

function buckets(
  input: TensorLike,
  count: number,
  op: string,
  hash: TextHash,
  key?: readonly bigint[],
): Tensor {
  checkCount(count, 'numBuckets', op, 1);
  const attrs: Readonly<Record<string, TypedAttr>> = {
    num_buckets: { kind: 'int', value: count },
    ...(key === undefined ? {} : { key: { kind: 'ints', value: key } }),
  };
  return onKnown(
    op,
    [toStrings(input, 'input', op)],
    (known) => constant({ data: bucketsOf(known, count, hash), shape: known.shape, dtype: 'int64' }),
    (x) => portableEach(op, [x], 'int64', attrs),
  );
}

type Buckets = NamedFunction<
  [input: TensorLike, numBuckets: IntegerLike],
  ['input', 'numBuckets'],
  unknown,
  Tensor<'int64'>
>;

/** Strings as numbers below `numBuckets` (int64), by the hash that TensorFlow used first. Not for new programs. */
export const toHashBucket: Buckets = /* @__PURE__ */ defineFunction(
  'strings.toHashBucket',
  { input: kind.tensor, numBuckets: kind.integer },
  {},
  (input, numBuckets: number) => buckets(input, numBuckets, 'StringToHashBucket', 'murmur'),
);

/** Strings as numbers below `numBuckets` (int64), by FarmHash64. Who knows it can choose strings that fall together. */
export const toHashBucketFast: Buckets = /* @__PURE__ */ defineFunction(
  'strings.toHashBucketFast',
  { input: kind.tensor, numBuckets: kind.integer },
  {},
  (input, numBuckets: number) => buckets(input, numBuckets, 'StringToHashBucketFast', 'farm'),
);

/** Strings as numbers below `numBuckets` (int64), by SipHash-2-4 with a key of two integers, which may be bigints. */
export const toHashBucketStrong: NamedFunction<
  [input: TensorLike, numBuckets: IntegerLike, key: IntegersLike],
  ['input', 'numBuckets', 'key'],
  unknown,
  Tensor<'int64'>
> = /* @__PURE__ */ defineFunction(
  'strings.toHashBucketStrong',
  { input: kind.tensor, numBuckets: kind.integer, key: kind.asIs },
  {},
  (input, numBuckets: number, key) => {
    const op = 'StringToHashBucketStrong';
    const own = keyOf(key, op);
    return buckets(input, numBuckets, op, own, own);
  },
);

function keyOf(key: unknown, op: string): readonly [bigint, bigint] {
  const isKey = (k: unknown): boolean => typeof k === 'bigint' || Number.isSafeInteger(k);
  if (Array.isArray(key) && key.length === 2 && key.every(isKey)) return [BigInt(key[0]), BigInt(key[1])];
  throw new InvalidArgumentError(`key must be two integers, got ${shown(key)}`, op);
}
