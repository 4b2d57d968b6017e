/**
 * Reads `length` bytes at `offset` of an open file into `target`, of just that length, or nowhere, and gives their CRC-32C; -1 where not all of
 * them can be read.
 */
export type RangeReader = (
  file: number,
  offset: number,
  length: number,
  target: Uint8Array | undefined,
) => number;

let native: RangeReader | undefined;

/** Has large parts of files read and summed up by `fn`, which can do both at the same time; undefined: by Node, one after the other. */
export function useRangeReader(fn: RangeReader | undefined): void {
  native = fn;
}

/** What {@link useRangeReader} was given does the work; -1 also where that was nothing. */
export function readRange(
  file: number,
  offset: number,
  length: number,
  target: Uint8Array | undefined,
): number {
  return native === undefined ? -1 : native(file, offset, length, target);
}
