// Tensors as bytes, and back: TensorProto messages.
import { DataLossError, type DType, InvalidArgumentError } from '@eagre/backend';
import { constant, type NamedFunction, type Tensor, type TensorLike } from '@eagre/core';
import {
  bytesIn,
  byteTensor,
  checkDTypeName,
  defineFunction,
  kind,
  onKnown,
  textOf,
  toTensor,
} from '@eagre/core/internal';
import { decodeTensorProto, encodeTensorProto, FormatError, tensorflow } from '@eagre/formats';
import { encodeStringContent } from '@eagre/formats/internal';
import { atOnce, type BytesLike, bytesFrom } from './byte-strings.ts';

/** A tensor as a `TensorProto` message in a scalar of bytes. `parseTensor` makes it a tensor again. */
export const serializeTensor: NamedFunction<[tensor: TensorLike], ['tensor']> =
  /* @__PURE__ */ defineFunction('io.serializeTensor', { tensor: kind.tensor }, {}, (tensor) =>
    onKnown('SerializeTensor', [toTensor(tensor)], (x) => {
      const proto = encodeTensorProto(
        x.dtype === 'string' ? { data: bytesIn(x), shape: x.shape, dtype: 'string' } : (x.ndarray() as never),
      );
      return byteTensor([tensorflow.TensorProto.encode(asTensorFlow(proto))], []);
    }),
  );

/** A tensor as the bytes of a `TensorProto` whose values are its content, strings too: their lengths, then their bytes. */
export function serializedContent(x: Tensor): string {
  if (x.dtype !== 'string') return serializeTensor(x).strings()[0] as string;
  const dim = x.shape.map((size) => ({ size }));
  const proto = {
    dtype: STRINGS,
    tensor_shape: { dim },
    tensor_content: encodeStringContent(bytesIn(x)),
  };
  return textOf(tensorflow.TensorProto.encode(asTensorFlow(proto)));
}
const STRINGS = 7;

/** As TensorFlow writes it: a scalar has an empty shape, and not none, and a tensor without elements no content. */
function asTensorFlow({ tensor_content, ...proto }: tensorflow.TensorProto): tensorflow.TensorProto {
  const content = tensor_content === undefined || tensor_content.length === 0 ? {} : { tensor_content };
  return { tensor_shape: {}, ...proto, ...content };
}

// One value may stand for many.
const MOST_BYTES = 2 ** 30;

/**
 * The tensor in the bytes of a `TensorProto` message.
 * @throws InvalidArgumentError for a tensor of another dtype, DataLossError for bytes that are no tensor
 */
export const parseTensor: NamedFunction<[serialized: BytesLike, outType: DType], ['serialized', 'outType']> =
  /* @__PURE__ */ defineFunction(
    'io.parseTensor',
    { serialized: kind.tensor, outType: kind.asIs },
    {},
    (serialized, outType): Tensor => {
      checkDTypeName(outType);
      const bytes = bytesFrom(serialized, 'serialized', 'ParseTensor');
      const value = decoded(bytes);
      if (value.dtype !== outType)
        throw new InvalidArgumentError(
          `the bytes hold a tensor of ${value.dtype}, not of ${outType}`,
          'ParseTensor',
        );
      return atOnce('ParseTensor', () =>
        value.dtype === 'string'
          ? byteTensor(
              value.data.map((each) => each.slice()),
              value.shape,
            )
          : constant({ data: value.data, shape: value.shape, dtype: value.dtype } as never),
      );
    },
  );

function decoded(bytes: Uint8Array): ReturnType<typeof decodeTensorProto> {
  try {
    return decodeTensorProto(tensorflow.TensorProto.decode(bytes), { maxBytes: MOST_BYTES });
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new DataLossError(cause.message, 'ParseTensor', { cause });
  }
}
