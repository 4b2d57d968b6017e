import type { Tensor } from '@eagre/core';

/** The values of a checkpoint. */
export interface Source {
  /** Its path, without the endings of files. */
  readonly prefix: string;
  /** Whether there is a value of that key. */
  has(key: string): boolean;
  /** What is stored under a key, without its values. @throws NotFoundError when there is nothing. */
  spec(key: string): { readonly dtype: string; readonly shape: readonly number[] };
  /** @throws DataLossError for damaged bytes. */
  /** The value of a key. */
  read(key: string): Tensor;
  /** Reads values of Eagre's dtypes but string only to see that they are whole. @throws DataLossError that names one that is not. */
  verify(keys: readonly string[]): void;
  /** Reads the bytes of such values into memory of their sizes. @throws DataLossError */
  readInto(values: readonly (readonly [key: string, target: Uint8Array])[]): void;
}
