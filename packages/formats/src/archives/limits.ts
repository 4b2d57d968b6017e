const MOST_BYTES = 2 ** 28;
const MOST_EXPANSION = 100;

/** What a file of so many bytes may unpack to in all, unless its reader is told otherwise: more is taken for a bomb. */
export function mostUnpacked(fileBytes: number): number {
  return Math.max(MOST_BYTES, MOST_EXPANSION * fileBytes);
}
