// Messages between the processes of a parameter server cluster: a length, a header of JSON, and what tensors and graphs consist of.
import { DataLossError, type DType, dtypeTraits } from '@eagre/backend';
import type { Shape, Tensor } from '@eagre/core';
import { emptyTensor, inContext, spaceOf, stringTensor, uploaded, viewOf } from '@eagre/core/internal';

/** The longest message: what a buffer of Node holds on all platforms. */
export const longestMessage: number = 2 ** 31 - 1;
const longestHeader = 64 << 20;

/** What is said, with tensors, and with pieces of bytes such as graphs. */
export interface Message {
  /** What is asked for, or `'ok'` and `'error'` of answers. */
  readonly kind: string;
  /** Which question an answer is for. */
  readonly id: number;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly tensors: readonly Tensor[];
  readonly blobs: readonly Uint8Array[];
}

/** How a tensor or a blob is announced. */
type Part = readonly [dtype: DType | 'blob', shape: Shape, bytes: number];

/** The bytes of a message, with its length before them. @throws RangeError for more than 2 GiB */
export function encodeMessage({ kind, id, fields, tensors, blobs }: Message): Uint8Array {
  const pieces = [...tensors.map(bytesOfTensor), ...blobs];
  const parts: Part[] = pieces.map((bytes, i) => {
    const tensor = tensors[i];
    return tensor === undefined
      ? ['blob', [], bytes.byteLength]
      : [tensor.dtype, tensor.shape, bytes.byteLength];
  });
  const header = Buffer.from(JSON.stringify({ kind, id, fields, parts }));
  const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 4 + header.byteLength);
  if (length > longestMessage)
    throw new RangeError(
      `a message of ${length} bytes is longer than ${longestMessage}: divide the variable`,
    );
  // With memory of its own, which can go to another thread: Node keeps that of its pool.
  const bytes = Buffer.allocUnsafeSlow(4 + length);
  bytes.writeUInt32LE(length, 0);
  bytes.writeUInt32LE(header.byteLength, 4);
  header.copy(bytes, 8);
  let next = 8 + header.byteLength;
  for (const piece of pieces) {
    bytes.set(piece, next);
    next += piece.byteLength;
  }
  return bytes;
}

/** The message in bytes without the length. @throws DataLossError for what is none */
export function decodeMessage(body: Uint8Array): Message {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const size = bytes.byteLength < 4 ? -1 : bytes.readUInt32LE(0);
  if (size < 0 || size > longestHeader || 4 + size > bytes.byteLength) throw damaged('its header is cut off');
  let header: Partial<Message & { readonly parts: unknown }>;
  try {
    header = JSON.parse(bytes.toString('utf8', 4, 4 + size)) as typeof header;
  } catch (cause) {
    throw damaged('its header is no JSON', cause);
  }
  const { kind, id, fields, parts } = header ?? {};
  if (
    typeof kind !== 'string' ||
    !Number.isSafeInteger(id) ||
    typeof fields !== 'object' ||
    fields === null ||
    !Array.isArray(parts) ||
    !parts.every(isPart)
  )
    throw damaged('its header says something else');
  const total = parts.reduce((sum, [, , length]) => sum + length, 0);
  if (4 + size + total !== bytes.byteLength)
    throw damaged(`${total} bytes were announced, ${bytes.byteLength - 4 - size} came`);
  const tensors: Tensor[] = [];
  const blobs: Uint8Array[] = [];
  let next = 4 + size;
  for (const [dtype, shape, length] of parts) {
    const piece = bytes.subarray(next, next + length);
    next += length;
    if (dtype === 'blob') blobs.push(piece);
    else tensors.push(tensorOfBytes(dtype, shape, piece));
  }
  return { kind, id: id as number, fields, tensors, blobs };
}

function isPart(part: unknown): part is Part {
  if (!Array.isArray(part) || part.length !== 3) return false;
  const [dtype, shape, bytes] = part as readonly unknown[];
  return (
    typeof dtype === 'string' &&
    (dtype === 'blob' || Object.hasOwn(dtypeTraits, dtype)) &&
    Array.isArray(shape) &&
    shape.every((n) => Number.isSafeInteger(n) && n >= 0) &&
    Number.isSafeInteger(bytes) &&
    (bytes as number) >= 0
  );
}

function bytesOfTensor(x: Tensor): Uint8Array {
  if (x.dtype === 'string') return Buffer.from(JSON.stringify([...x.strings()]));
  const { buffer, byteOffset, byteLength } = viewOf(x);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function tensorOfBytes(dtype: DType, shape: Shape, bytes: Uint8Array): Tensor {
  const size = shape.reduce((product, n) => product * n, 1);
  if (dtype === 'string') {
    let texts: unknown;
    try {
      texts = JSON.parse(Buffer.from(bytes).toString('utf8'));
    } catch (cause) {
      throw damaged('strings are no JSON', cause);
    }
    if (!Array.isArray(texts) || texts.length !== size || texts.some((text) => typeof text !== 'string'))
      throw damaged(`${size} strings were announced`);
    return stringTensor(texts as string[], shape);
  }
  if (size * dtypeTraits[dtype].bytes !== bytes.byteLength)
    throw damaged(`a tensor of ${dtype} [${shape}] has ${bytes.byteLength} bytes`);
  // It belongs to no memory scope: whoever asked may be in another one by now.
  return inContext({ tracker: null }, () => {
    const tensor = emptyTensor(dtype, shape, size);
    const space = spaceOf(tensor);
    new Uint8Array(space.buffer, space.byteOffset, space.byteLength).set(bytes);
    return uploaded(tensor, space);
  });
}

const damaged = (why: string, cause?: unknown): DataLossError =>
  new DataLossError(`a message of the cluster is damaged: ${why}`, undefined, { cause });
