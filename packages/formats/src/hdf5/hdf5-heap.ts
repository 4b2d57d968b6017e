// Heaps of texts in HDF5 files, which the library walks without looking where it goes.
import type { ErrorMaker } from '../errors.ts';

/** Bytes from a position on: as many as there are. */
type Bytes = (position: number, count: number) => Uint8Array;

const GCOL = 0x4c4f4347;
const LEAST_HEAP = 4096;
const HEADER = 16;
// What the library would have to hold anyway.
const MOST_HEAP = 2 ** 28;

/**
 * Whether bytes of a file are a heap of which the library would never find the end: an object of no bytes is followed by itself.
 * @param size of the file.
 * @throws FormatError for such a heap.
 */
export function checkHeap(
  start: Uint8Array,
  position: number,
  size: number,
  read: Bytes,
  error: ErrorMaker,
): void {
  if (start.length < HEADER) return;
  const head = new DataView(start.buffer, start.byteOffset, start.byteLength);
  // Version 1. Others are refused by the library.
  if (head.getUint32(0, true) !== GCOL || head.getUint32(4, true) !== 1) return;
  const length = Number(head.getBigUint64(8, true));
  if (length < LEAST_HEAP || length > MOST_HEAP || position + length > size) return;
  const bytes = start.length >= length ? start : read(position, length);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = HEADER; at + HEADER <= length; ) {
    const own = view.getBigUint64(at + 8, true);
    // Object 0 is the free space, whose size includes its header.
    const isFree = view.getUint16(at, true) === 0;
    const next = BigInt(at) + (isFree ? own : BigInt(HEADER) + ((own + 7n) & ~7n));
    if (next <= BigInt(at) || next > BigInt(length))
      throw error(
        `the heap at byte ${position}`,
        `objects within its ${length} bytes`,
        `one of ${own} at ${at}`,
      );
    at = Number(next);
  }
}
