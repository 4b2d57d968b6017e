import { Dataset } from '../dataset.ts';
import type { Element } from '../elements/structure.ts';
import { type Compression, checkFileOptions } from '../files/file-bytes.ts';
import { CacheFileNode } from './cache-file.ts';
import { SavedWriter, savedNode } from './saved-files.ts';

/** Options of {@link save}. */
export interface SaveOptions {
  /** Default: none. */
  readonly compression?: Compression | undefined;
}

/**
 * Goes through a dataset once and writes its elements into a folder. It appears there whole or, when something fails, not at
 * all; a dataset that was saved there before is replaced.
 *
 * @throws FailedPreconditionError when something else is at `path`; and what iterating throws.
 */
export async function save<T>(dataset: Dataset<T>, path: string, options: SaveOptions = {}): Promise<void> {
  const { compression } = checkFileOptions({ compressionType: options.compression }, 'save');
  const writer = new SavedWriter(path, dataset.elementSpec, compression, 'save');
  try {
    for await (const element of dataset) writer.write(element as Element);
    writer.finish();
  } catch (error) {
    writer.abort();
    throw error;
  }
}

/**
 * The dataset that `save` wrote, with its spec and number of elements. Its type is what the caller says it is.
 *
 * @throws NotFoundError when there is none at `path`.
 * @throws DataLossError when it is damaged; iterating throws it as well.
 */
export function load<T = Element>(path: string): Dataset<T> {
  return new Dataset<T>(savedNode(path, 'load'));
}

/**
 * Keeps the elements of the first complete pass in a folder, in the format of `save`; later passes read them there, also those
 * of other programs. A pass that ends early, or in which an element fails, leaves nothing. Delete the folder to have the elements made
 * anew: nobody sees whether the pipeline before has changed.
 */
export function cacheInFile<T>(dataset: Dataset<T>, path: string): Dataset<T> {
  return new Dataset<T>(new CacheFileNode(dataset.node, path));
}
