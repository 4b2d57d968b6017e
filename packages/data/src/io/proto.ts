// Messages of protobuf as tensors: `tf.io.decodeProto` and `tf.io.encodeProto`.
import { DataLossError, type DType, InvalidArgumentError } from '@eagre/backend';
import { constant, type NamedFunction, type Tensor, type TensorLike } from '@eagre/core';
import {
  bytesIn,
  byteTensor,
  checkFlag,
  checkList,
  checkListSize,
  checkOneOf,
  defineFunction,
  kind,
  onKnown,
  toTensor,
} from '@eagre/core/internal';
import { FormatError } from '@eagre/formats';
import {
  DELIMITED,
  type FieldDescriptor,
  type MessageDescriptor,
  parseTextFormat,
  reserialized,
  type ScalarValue,
  WireReader,
  WireWriter,
  wireTypeOf,
} from '@eagre/formats/internal';
import { atOnce, type BytesLike, byteStringsOf } from './byte-strings.ts';
import { checkFieldDType, fieldDType, fieldsOf } from './proto-descriptors.ts';
import type { DecodeProtoOptions, EncodeProtoOptions } from './proto-options.ts';

/** What `decodeProto` reads. */
export interface DecodedProto {
  /** How many values there are of each field, int32 [...shape of bytes, fields]. */
  readonly sizes: Tensor;
  /** For each field [...shape of bytes, most values], of at least one; the field's default stands where there are fewer. */
  readonly values: readonly Tensor[];
}

/**
 * Fields of protobuf messages as tensors. Messages inside are byte strings, for another call, and groups too, between their tags; a map is a repeated message
 * with a key and a value.
 * @param bytes messages of one type, in any shape
 * @param fieldNames names of fields, or full names of extensions
 * @param outputTypes a dtype for each: that of the field; int64 is allowed for int32, uint64 for uint32, float64 for float, and enums are int32
 * @throws InvalidArgumentError for types and fields that are not described, and for other dtypes; DataLossError for damaged messages
 */
export const decodeProto: NamedFunction<
  [bytes: BytesLike, messageType: string, fieldNames: readonly string[], outputTypes: readonly DType[]],
  ['bytes', 'messageType', 'fieldNames', 'outputTypes'],
  DecodeProtoOptions,
  DecodedProto
> = /* @__PURE__ */ defineFunction(
  'io.decodeProto',
  { bytes: kind.tensor, messageType: kind.asIs, fieldNames: kind.asIs, outputTypes: kind.asIs },
  { descriptorSource: kind.asIs, messageFormat: kind.asIs, sanitize: kind.asIs },
  (bytes, messageType, fieldNames, outputTypes, options) => {
    const op = 'DecodeProtoV2';
    const { messageFormat = 'binary', sanitize = false, descriptorSource } = options;
    checkOneOf(messageFormat, ['binary', 'text'], 'messageFormat', op);
    checkFlag(sanitize, 'sanitize', op);
    const { message, fields } = fieldsOf(descriptorSource, messageType, fieldNames, op);
    checkList(outputTypes, 'outputTypes', op);
    if (outputTypes.length !== fields.length)
      throw new InvalidArgumentError(
        `outputTypes has ${outputTypes.length} dtypes for ${fields.length} names in fieldNames`,
        op,
      );
    fields.forEach((field, i) => {
      checkFieldDType(field, outputTypes[i] as DType, op);
    });
    const serialized = byteStringsOf(bytes, 'bytes', op);
    if (serialized.bytes.length === 0) throw new InvalidArgumentError('bytes has no message', op);
    const rows = serialized.bytes.map((own, i) =>
      withDataLoss(i, op, () => valuesIn(binaryOf(own, message, messageFormat, sanitize), fields)),
    );
    return atOnce(op, () => ({
      sizes: constant(
        rows.flatMap((row) => row.map(({ count }) => count)),
        'int32',
        { shape: [...serialized.shape, fields.length] },
      ),
      values: fields.map((field, i) =>
        column(
          field,
          outputTypes[i] as DType,
          rows.map((row) => (row[i] as FieldValues).values),
          serialized.shape,
          op,
        ),
      ),
    }));
  },
);

function withDataLoss<R>(index: number, op: string, fn: () => R): R {
  try {
    return fn();
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new DataLossError(`message ${index}: ${cause.message}`, op, { cause });
  }
}

function binaryOf(
  bytes: Uint8Array,
  message: MessageDescriptor,
  format: 'binary' | 'text',
  sanitize: boolean,
): Uint8Array {
  if (format === 'text') return parseTextFormat(bytes, message).encode();
  return sanitize ? reserialized(bytes, message) : bytes;
}

interface FieldValues {
  /** How many there are: of a field that is not repeated 1 at most, and its value is the last one. */
  count: number;
  values: ScalarValue[];
}

/** The values of fields in a message. @throws FormatError for damaged bytes */
function valuesIn(bytes: Uint8Array, fields: readonly FieldDescriptor[]): readonly FieldValues[] {
  const all = fields.map((): FieldValues => ({ count: 0, values: [] }));
  const places = new Map(fields.map(({ number }, i) => [number, i]));
  const reader = new WireReader(bytes);
  for (let start = 0; reader.nextField(); start = reader.position) {
    const place = places.get(reader.number) ?? -1;
    const field = fields[place];
    const own = all[place];
    if (field === undefined || own === undefined) {
      reader.skip();
      continue;
    }
    const wire = wireTypeOf(field.type);
    if (reader.wire === wire) {
      const read = reader.value(field.type);
      // Groups keep their tags, as in TensorFlow.
      const value = field.type === 'group' ? bytes.subarray(start, reader.position) : read;
      if (field.isRepeated) own.values.push(value);
      else own.values = [value];
      own.count = own.values.length;
    } else if (reader.wire === DELIMITED && field.message === undefined) {
      const list = reader.packed(field.type);
      // As in TensorFlow, a list for a field that is not repeated counts, and leaves its default.
      if (field.isRepeated) for (const value of list) own.values.push(value);
      own.count = field.isRepeated ? own.values.length : Math.min(1, own.count + list.length);
    } else reader.skip();
  }
  return all;
}

/** The values of one field, filled up to the longest row. */
function column(
  field: FieldDescriptor,
  dtype: DType,
  rows: readonly (readonly ScalarValue[])[],
  prefix: readonly number[],
  op: string,
): Tensor {
  const size = rows.reduce((most, row) => Math.max(most, row.length), 1);
  checkListSize(rows.length * size, `values of '${field.name}'`, 'decode fewer messages at a time', op);
  const shape = [...prefix, size];
  const filled = rows.flatMap((row) => {
    const missing = new Array<ScalarValue>(size - row.length).fill(field.defaultValue);
    return missing.length === 0 ? row : [...row, ...missing];
  });
  if (dtype === 'string') return byteTensor(filled as Uint8Array[], shape);
  const isWide = dtype === 'int64' || dtype === 'uint64';
  const values = isWide ? filled.map((value) => BigInt(value as number)) : filled;
  return constant(values as number[], dtype, { shape });
}

/**
 * Protobuf messages of tensors, a string tensor of the shape that the values have without their last axis. Fields are written in the
 * order of their numbers.
 * @param sizes how many values of each field to write, int32 [...shape, fields]
 * @param values for each field [...shape, at least as many values], of the dtypes of `decodeProto`
 * @throws InvalidArgumentError for types and fields that are not described, and for other dtypes and shapes
 */
export const encodeProto: NamedFunction<
  [sizes: TensorLike, values: readonly TensorLike[], fieldNames: readonly string[], messageType: string],
  ['sizes', 'values', 'fieldNames', 'messageType'],
  EncodeProtoOptions
> = /* @__PURE__ */ defineFunction(
  'io.encodeProto',
  { sizes: kind.tensor, values: kind.asIs, fieldNames: kind.asIs, messageType: kind.asIs },
  { descriptorSource: kind.asIs },
  (sizes, values, fieldNames, messageType, { descriptorSource }) => {
    const op = 'EncodeProto';
    const { fields } = fieldsOf(descriptorSource, messageType, fieldNames, op);
    const columns = checkList(values, 'values', op).map((value, i) => {
      const field = fields[i];
      return toTensor(value, field === undefined ? undefined : fieldDType(field));
    });
    checkColumns(columns, fields, op);
    return onKnown(op, [toTensor(sizes, 'int32'), ...columns], (counts, ...known) =>
      encoded(counts as Tensor, known, fields, op),
    );
  },
);

function checkColumns(columns: readonly Tensor[], fields: readonly FieldDescriptor[], op: string): void {
  if (columns.length !== fields.length || columns.length === 0)
    throw new InvalidArgumentError(
      `values has ${columns.length} tensors for ${fields.length} names in fieldNames, of which there must be one at least`,
      op,
    );
  fields.forEach((field, i) => {
    const { dtype, rank } = columns[i] as Tensor;
    checkFieldDType(field, dtype, op);
    if (rank < 2)
      throw new InvalidArgumentError(
        `values[${i}] must have the shape of the messages and one more axis, 2 at least; its rank is ${rank}`,
        op,
      );
  });
}

function encoded(
  sizes: Tensor,
  columns: readonly Tensor[],
  fields: readonly FieldDescriptor[],
  op: string,
): Tensor {
  const prefix = (columns[0] as Tensor).shape.slice(0, -1);
  for (const [i, { shape }] of columns.entries())
    if (shape.slice(0, -1).join() !== prefix.join())
      throw new InvalidArgumentError(
        `values[${i}] has shape [${shape}] where that of the messages is [${prefix}]`,
        op,
      );
  if (sizes.dtype !== 'int32' || sizes.shape.join() !== [...prefix, fields.length].join())
    throw new InvalidArgumentError(
      `sizes must be int32 of shape [${[...prefix, fields.length]}], got ${sizes.dtype} [${sizes.shape}]`,
      op,
    );
  const counts = sizes.data() as Int32Array;
  const parts = columns.map((column, i) => ({
    field: fields[i] as FieldDescriptor,
    place: i,
    width: column.shape.at(-1) as number,
    values: valuesOf(column),
  }));
  parts.sort((a, b) => a.field.number - b.field.number);
  const messages = Array.from({ length: counts.length / fields.length }, (_, m) => {
    const writer = new WireWriter();
    for (const { field, place, width, values } of parts) {
      const count = counts[m * fields.length + place] as number;
      if (count < 0 || count > width)
        throw new InvalidArgumentError(
          `sizes says that message ${m} has ${count} values of '${field.name}', of which there are ${width}`,
          op,
        );
      writer.field(field, values.slice(m * width, m * width + count));
    }
    return writer.finish();
  });
  return byteTensor(messages, prefix);
}

function valuesOf(x: Tensor): readonly ScalarValue[] {
  if (x.dtype === 'string') return bytesIn(x);
  const data = Array.from(x.data() as ArrayLike<number | bigint>);
  return x.dtype === 'bool' ? data.map((value) => value !== 0) : data;
}
