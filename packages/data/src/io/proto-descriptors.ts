// Where `tf.io.decodeProto` and `tf.io.encodeProto` get descriptors from, and the dtypes of fields.
import { type DType, InvalidArgumentError, withFileErrors } from '@eagre/backend';
import { bytesOf, checkList, checkPath, checkText, shown } from '@eagre/core/internal';
import { FormatError } from '@eagre/formats';
import {
  type FieldDescriptor,
  type FieldType,
  type MessageDescriptor,
  nodeBuiltin,
  readDescriptors,
} from '@eagre/formats/internal';
import type { DescriptorSource } from './proto-options.ts';

const BYTES = 'bytes://';

/** The fields of a message. @throws InvalidArgumentError for descriptors without sense, and for what is not described */
export function fieldsOf(
  source: DescriptorSource | undefined,
  messageType: string,
  fieldNames: readonly string[],
  op: string,
): { readonly message: MessageDescriptor; readonly fields: readonly FieldDescriptor[] } {
  checkText(messageType, 'messageType', op);
  checkList(fieldNames, 'fieldNames', op);
  const message = descriptorsIn(sourceBytes(source, op), op).get(messageType);
  if (message === undefined)
    throw new InvalidArgumentError(`descriptorSource does not describe a message '${messageType}'`, op);
  const fields = fieldNames.map((name) => {
    checkText(name, 'a name in fieldNames', op);
    const field = message.byName.get(name) ?? message.extensions.get(name);
    if (field === undefined) throw new InvalidArgumentError(`'${messageType}' has no field '${name}'`, op);
    return field;
  });
  if (new Set(fields).size < fields.length)
    throw new InvalidArgumentError('fieldNames has a field twice', op);
  return { message, fields };
}

function sourceBytes(source: unknown, op: string): Uint8Array {
  if (source === undefined || source === '' || source === 'local://')
    throw new InvalidArgumentError(
      'no messages are described here: give a FileDescriptorSet as descriptorSource, its bytes or the path of a file that protoc wrote with --descriptor_set_out',
      op,
    );
  if (source instanceof Uint8Array) return source;
  if (typeof source !== 'string')
    throw new InvalidArgumentError(`descriptorSource must be a path or bytes, got ${shown(source)}`, op);
  if (source.startsWith(BYTES)) return bytesOf(source.slice(BYTES.length));
  checkPath(source, 'descriptorSource', op);
  return withFileErrors(source, op, () => new Uint8Array(nodeBuiltin('node:fs').readFileSync(source)));
}

function descriptorsIn(bytes: Uint8Array, op: string): ReadonlyMap<string, MessageDescriptor> {
  try {
    return readDescriptors(bytes);
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause;
    throw new InvalidArgumentError(`descriptorSource is no FileDescriptorSet: ${cause.message}`, op, {
      cause,
    });
  }
}

const STRINGS: readonly DType[] = ['string'];
const DTYPES: Readonly<Record<FieldType, readonly DType[]>> = {
  double: ['float64'],
  float: ['float32', 'float64'],
  int64: ['int64'],
  sint64: ['int64'],
  sfixed64: ['int64'],
  uint64: ['uint64'],
  fixed64: ['uint64'],
  int32: ['int32', 'int64'],
  sint32: ['int32', 'int64'],
  sfixed32: ['int32', 'int64'],
  uint32: ['uint32', 'uint64'],
  fixed32: ['uint32', 'uint64'],
  enum: ['int32'],
  bool: ['bool'],
  string: STRINGS,
  bytes: STRINGS,
  message: STRINGS,
  group: STRINGS,
};

/** The dtype that plain numbers and texts get. */
export const fieldDType = (field: FieldDescriptor): DType => DTYPES[field.type][0] as DType;

/** @throws InvalidArgumentError where values of the dtype are none of the field */
export function checkFieldDType(field: FieldDescriptor, dtype: DType, op: string): void {
  if (DTYPES[field.type].includes(dtype)) return;
  throw new InvalidArgumentError(
    `the field '${field.fullName}' of type ${field.type} has values of ${DTYPES[field.type].join(' or ')}, not of ${shown(dtype)}`,
    op,
  );
}
