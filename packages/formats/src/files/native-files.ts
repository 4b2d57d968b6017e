/** What native code does with open files where Node can do only one thing after the other. */
export interface NativeFiles {
  /**
   * Reads parts of a file, whose offsets and lengths `places` has by turns, into `targets` of just these lengths, or nowhere, and gives their
   * CRC-32Cs; -1 where not all of one can be read.
   */
  readRanges(
    file: number,
    places: Float64Array,
    targets: readonly Uint8Array[] | undefined,
  ): ArrayLike<number>;
  /**
   * The same, begun on another thread while the caller goes on. Until it is finished the file must stay open, and nobody may use the targets.
   * @returns what {@link finishRanges} takes
   */
  beginRanges(file: number, places: Float64Array, targets: readonly Uint8Array[]): unknown;
  /**
   * Reads what is left, together with the other thread.
   * @param reads false: what is not read yet stays so, and nothing is returned
   */
  finishRanges(reading: unknown, reads: boolean): ArrayLike<number> | undefined;
  /** Has the system begin to bring `length` bytes at `offset`, which were written, to the disk; does nothing where that cannot be asked. */
  beginSync(file: number, offset: number, length: number): void;
}

let native: NativeFiles | undefined;

/** Has files read and written with the help of native code; undefined: by Node alone. */
export function useNativeFiles(files: NativeFiles | undefined): void {
  native = files;
}

/** What {@link useNativeFiles} was given. */
export function nativeFiles(): NativeFiles | undefined {
  return native;
}
