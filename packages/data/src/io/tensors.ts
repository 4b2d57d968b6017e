// Tensors as bytes, and back: TensorProto messages.
import { DataLossError, type DType, InvalidArgumentError } from '@eagre/backend';
import { constant, type NamedFunction, type Tensor, type TensorLike } from '@eagre/core';
import {
  bytesOf,
  checkDTypeName,
  defineFunction,
  kind,
  onKnown,
  stringTensor,
  textOf,
  toTensor,
} from '@eagre/core/internal';
import { decodeTensorProto, encodeTensorProto, FormatError, tensorflow } from '@eagre/formats';
import { atOnce, type BytesLike, bytesFrom } from './byte-strings.ts';

/** A tensor as a `TensorProto` message in a scalar of bytes. `parseTensor` makes it a tensor again. */
export const serializeTensor: NamedFunction<[tensor: TensorLike], ['tensor']> =
  /* @__PURE__ */ defineFunction('io.serializeTensor', { tensor: kind.tensor }, {}, (tensor) =>
    onKnown('SerializeTensor', [toTensor(tensor)], (x) => {
      const proto = encodeTensorProto(
        x.dtype === 'string'
          ? { data: x.strings().map(bytesOf), shape: x.shape, dtype: 'string' }
          : (x.ndarray() as never),
      );
      return stringTensor([textOf(tensorflow.TensorProto.encode(asTensorFlow(proto)))], []);
    }),
  );

/** A tensor as the bytes of a `TensorProto` whose values are its content, strings too: their lengths, then their bytes. */
export function serializedContent(x: Tensor): string {
  if (x.dtype !== 'string') return serializeTensor(x).strings()[0] as string;
  const strings = x.strings().map(bytesOf);
  const tensor_content = Uint8Array.from([
    ...strings.flatMap(({ length }) => varint(length)),
    ...strings.flatMap((bytes) => [...bytes]),
  ]);
  const dim = x.shape.map((size) => ({ size }));
  const proto = { dtype: STRINGS, tensor_shape: { dim }, tensor_content } as tensorflow.TensorProto;
  return textOf(tensorflow.TensorProto.encode(asTensorFlow(proto)));
}
const STRINGS = 7;
function varint(n: number): number[] {
  return n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...varint(Math.floor(n / 0x80))];
}
/** The strings in a content. @throws FormatError for lengths that do not fit */
function contentStrings(content: Uint8Array, count: number): Uint8Array[] {
  const fault = (): never => {
    throw new FormatError({ format: 'TensorProto', what: 'strings do not fit into their content' });
  };
  let at = 0;
  const lengths = Array.from({ length: Math.min(count, content.length + 1) }, () => {
    let n = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= content.length || shift > 28) fault();
      const byte = content[at++] as number;
      n += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return n;
    }
  });
  if (lengths.length !== count || lengths.reduce((a, b) => a + b, at) !== content.length) fault();
  return lengths.map((n) => content.subarray(at, (at += n)));
}

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
          ? stringTensor(value.data.map(textOf), value.shape)
          : constant({ data: value.data, shape: value.shape, dtype: value.dtype } as never),
      );
    },
  );

function decoded(bytes: Uint8Array): ReturnType<typeof decodeTensorProto> {
  try {
    const proto = tensorflow.TensorProto.decode(bytes);
    const { tensor_content: content, ...rest } = proto;
    if (proto.dtype !== STRINGS || content === undefined || content.length === 0)
      return decodeTensorProto(proto, { maxBytes: MOST_BYTES });
    const count = (proto.tensor_shape?.dim ?? []).reduce((n, { size = 0 }) => n * Number(size), 1);
    return decodeTensorProto(
      { ...rest, string_val: contentStrings(content, count) },
      { maxBytes: MOST_BYTES },
    );
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new DataLossError(cause.message, 'ParseTensor', { cause });
  }
}
