// Tensors as TensorFlow's messages, and back.
import {
  constant,
  type DType,
  InvalidArgumentError,
  type Tensor,
  type TensorLike,
  type TypedArray,
} from '@eagre/core';
import {
  type Dims,
  defineFunction,
  kind,
  type NamedFunction,
  sameShape,
  shown,
  toTensor,
} from '@eagre/core/internal';
import { decodeTensorProto, encodeTensorProto, FormatError, type tensorflow } from '@eagre/formats';

/** A tensor as a message of TensorFlow: `{ dtype, tensor_shape, tensor_content }`. */
export const makeTensorProto: NamedFunction<
  [values: TensorLike],
  ['values'],
  {
    /** Of the tensor; that of the values by default. */
    readonly dtype?: DType;
    /** Of the tensor; that of the values by default. */
    readonly shape?: readonly number[];
  },
  tensorflow.TensorProto
> = /* @__PURE__ */ defineFunction(
  'makeTensorProto',
  { values: kind.tensor },
  { dtype: kind.asIs, shape: kind.shape },
  (values, options) => {
    const given = toTensor(values, options.dtype);
    const x = options.dtype === undefined ? given : given.cast(options.dtype);
    const shape = (options.shape ?? x.shape) as Dims;
    const t = sameShape(x.shape, shape) ? x : x.reshape(shape as number[]);
    if (t.dtype === 'string')
      return encodeTensorProto({ dtype: 'string', shape: t.shape, data: t.strings() });
    return encodeTensorProto(t.ndarray() as never);
  },
);

/** The tensor of such a message. @throws InvalidArgumentError for a message that is none */
export const makeNdarray: NamedFunction<[tensor: tensorflow.TensorProto], ['tensor']> =
  /* @__PURE__ */ defineFunction('makeNdarray', { tensor: kind.structure }, {}, (tensor): Tensor => {
    if (typeof tensor !== 'object' || tensor === null)
      throw new InvalidArgumentError(`expected a TensorProto, got ${shown(tensor)}`, 'makeNdarray');
    try {
      const value = decodeTensorProto(tensor);
      if (value.dtype !== 'string')
        return constant({ data: value.data as TypedArray, shape: value.shape, dtype: value.dtype });
      const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
      return constant(
        value.data.map((bytes) => text.decode(bytes)),
        'string',
        { shape: value.shape },
      );
    } catch (cause) {
      if (!(cause instanceof FormatError || cause instanceof TypeError)) throw cause;
      throw new InvalidArgumentError(`this is no TensorProto: ${cause.message}`, 'makeNdarray', { cause });
    }
  });
