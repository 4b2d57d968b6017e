// A saved dataset: a folder of `elements.tfrecord`, one record per element, and `dataset.json`, which is written last.
import {
  DataLossError,
  FailedPreconditionError,
  fileError,
  NotFoundError,
  withFileErrors,
} from '@eagre/backend';
import { checkPath } from '@eagre/core/internal';
import { makeFolders, RecordFileWriter, writeFileAtomicSync } from '@eagre/formats';
import {
  deleteLeftoverFolders,
  folderBeside,
  nodeBuiltin,
  replaceFolder,
  restoreFolder,
} from '@eagre/formats/internal';
import type { ElementSpec } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import type { Element } from '../elements/structure.ts';
import { stateFromTensor, stateToTensor } from '../pipeline/state.ts';
import { type Compression, checkFileOptions, FileBytes } from './file-bytes.ts';
import { type ElementReader, FilesNode, namesNode } from './files-node.ts';
import { RecordReader } from './readers.ts';
import { specFromJson, specToJson } from './spec-json.ts';

const INFO = 'dataset.json';
const ELEMENTS = 'elements.tfrecord';
const FORMAT = 1;

/** What `dataset.json` says. */
interface Info {
  readonly count: number;
  readonly spec: ElementSpec | null;
  readonly compression: Compression;
}

/** Options of `Dataset.save`. */
export interface SaveOptions {
  /** Default: none. */
  readonly compression?: Compression | undefined;
}

/** Options of `Dataset.snapshot`. */
export interface SnapshotOptions extends SaveOptions {
  /** TensorFlow's order of files. There is one file here: leave it out. */
  readonly readerFunc?: unknown;
  /** TensorFlow's distribution of elements over files. There is one file here: leave it out. */
  readonly shardFunc?: unknown;
}

/** Writes the elements of a dataset into a folder, or nothing. */
export async function saveElements(
  dataset: AsyncIterable<unknown> & { readonly elementSpec: ElementSpec | null },
  path: string,
  options: SaveOptions,
): Promise<void> {
  const what = 'Dataset.save';
  checkPath(path, 'path', what);
  const { compression } = checkFileOptions({ compressionType: options.compression }, what);
  const writer = new SavedWriter(path, dataset.elementSpec, compression, what);
  try {
    for await (const element of dataset) writer.write(element as Element);
    writer.finish();
  } catch (error) {
    writer.abort();
    throw error;
  }
}

/** Whether a complete dataset is saved at `path`. */
export function isSaved(path: string): boolean {
  return nodeBuiltin('node:fs').existsSync(`${path}/${INFO}`);
}

/** Writes a dataset beside its place; only `finish` puts it there. */
export class SavedWriter {
  readonly #path: string;
  readonly #temporary: string;
  readonly #spec: ElementSpec | null;
  readonly #compression: Compression;
  readonly #what: string;
  #records: RecordFileWriter | null;
  #count = 0;

  /** @throws FailedPreconditionError when something else is at `path`. */
  constructor(path: string, spec: ElementSpec | null, compression: Compression, what: string) {
    this.#path = nodeBuiltin('node:path').resolve(path);
    this.#temporary = folderBeside(this.#path);
    this.#spec = spec;
    this.#compression = compression;
    this.#what = what;
    this.#records = withFileErrors(path, what, () => this.#begin());
  }

  #begin(): RecordFileWriter {
    const { mkdirSync, readdirSync, statSync } = nodeBuiltin('node:fs');
    const there = statSync(this.#path, { throwIfNoEntry: false });
    const isEmpty = there?.isDirectory() === true && readdirSync(this.#path).length === 0;
    if (there !== undefined && !isEmpty && !isSaved(this.#path))
      throw new FailedPreconditionError(
        `${this.#path} exists and is not a saved dataset; choose another folder`,
        this.#what,
      );
    makeFolders(nodeBuiltin('node:path').dirname(this.#path));
    deleteLeftoverFolders(this.#path);
    mkdirSync(this.#temporary);
    return new RecordFileWriter(`${this.#temporary}/${ELEMENTS}`, { compression: this.#compression });
  }

  write(element: Element): void {
    const tensor = stateToTensor(saveElement(element));
    withFileErrors(this.#path, this.#what, () => {
      this.#records?.write(tensor.data() as Uint8Array);
      // Passes may be dropped by the thousands.
      this.#records?.release();
    });
    tensor.dispose();
    this.#count++;
  }

  /** Puts the dataset in its place, where it replaces an earlier one. */
  finish(): void {
    withFileErrors(this.#path, this.#what, () => this.#finish());
  }

  #finish(): void {
    this.#records?.close();
    this.#records = null;
    const info = {
      format: FORMAT,
      count: this.#count,
      compression: this.#compression,
      spec: specToJson(this.#spec),
    };
    writeFileAtomicSync(`${this.#temporary}/${INFO}`, `${JSON.stringify(info)}\n`);
    replaceFolder(this.#path, this.#temporary);
  }

  /** Leaves nothing behind. May follow `finish`. */
  abort(): void {
    try {
      this.#records?.close();
    } catch {
      // What is deleted need not be whole.
    }
    this.#records = null;
    nodeBuiltin('node:fs').rmSync(this.#temporary, { recursive: true, force: true });
  }
}

function readInfo(path: string, what: string): Info {
  let json: Readonly<Record<string, unknown>>;
  try {
    // A save that was killed may have moved it away.
    restoreFolder(nodeBuiltin('node:path').resolve(path));
    json = JSON.parse(nodeBuiltin('node:fs').readFileSync(`${path}/${INFO}`, 'utf8'));
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new DataLossError(`${path}/${INFO} is damaged`, what, { cause });
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw fileError(cause, `${path}/${INFO}`, what);
    throw new NotFoundError(`there is no saved dataset at ${path}`, what, { cause });
  }
  const { format, count, compression, spec } = json ?? {};
  if (format !== FORMAT || typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0)
    throw new DataLossError(`${path}/${INFO} is damaged or has another version`, what);
  if (compression !== '' && compression !== 'GZIP' && compression !== 'ZLIB')
    throw new DataLossError(`${path}/${INFO} names an unknown compression`, what);
  return { count, compression, spec: specFromJson(spec) };
}

/**
 * The node of a saved dataset.
 *
 * @throws NotFoundError when there is none at `path`.
 * @throws DataLossError when it is damaged; iterating throws it as well.
 */
export function savedNode(path: string, what: string): FilesNode {
  const { count, compression, spec } = readInfo(path, what);
  const options = checkFileOptions({ compressionType: compression }, what);
  const open = (file: string, at: number): ElementReader => {
    const records = new RecordReader(new FileBytes(file, options, at, what), at);
    let given = 0;
    return {
      get position() {
        return records.position;
      },
      next() {
        const bytes = records.next();
        if (bytes === null) {
          // What was restored does not know how many came before.
          if (at === 0 && given !== count)
            throw new DataLossError(`${file} holds ${given} elements, but ${count} were saved`, what);
          return null;
        }
        given++;
        return loadElement(stateFromTensor(bytes));
      },
      close: () => records.close(),
    };
  };
  return new FilesNode('Saved', namesNode(`${path}/${ELEMENTS}`, what), spec, open, 1, count);
}
