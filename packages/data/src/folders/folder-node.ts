// Elements that are made of files with labels.
import { EagreError, InvalidArgumentError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { nodeBuiltin } from '@eagre/formats';
import { TensorSpec } from '@eagre/graph';
import { Dataset } from '../dataset.ts';
import type { ElementSpec } from '../elements/element-spec.ts';
import type { Element } from '../elements/structure.ts';
import {
  type Awaitable,
  after,
  type DatasetNode,
  ElementIterator,
  END,
  type State,
  type Step,
} from '../iterator.ts';
import { later } from '../later.ts';

import { checkCount } from '../options.ts';
import { type SeedWords, seedWords } from '../random.ts';
import { PassOrder } from '../sources/pass-order.ts';
import { BatchNode } from '../transformations/batch.ts';
import type { FolderFiles, FolderOptions } from './folder-files.ts';

/** What makes a tensor of a file. */
export interface FileDecoder {
  readonly spec: TensorSpec;
  /** Whether it has to be waited for. */
  decode(bytes: Uint8Array, path: string): Awaitable<Tensor>;
}

/** A dataset of files in folders: [values, labels], or values alone where there are no labels. */
export class FolderDataset<T> extends Dataset<T> {
  /** What each label stands for. */
  readonly classNames: readonly string[];
  /** The files, in the order without shuffling. */
  readonly filePaths: readonly string[];

  /** @internal Use `imageDatasetFromDirectory` and the like. */
  constructor(node: DatasetNode, files: FolderFiles) {
    super(node);
    this.classNames = files.classNames;
    this.filePaths = files.paths;
  }
}

/** The dataset of files that the options describe. */
export function folderDataset<T>(
  files: FolderFiles,
  decoder: FileDecoder,
  options: FolderOptions,
  what: string,
): FolderDataset<T> {
  const { batchSize = 32, shuffle = true, labelMode = 'int' } = options;
  const seed = shuffle ? seedWords(options.seed, what) : null;
  const node = new FolderNode(files, decoder, labelMode, seed, what);
  if (batchSize === null) return new FolderDataset<T>(node, files);
  checkCount(batchSize, 'batchSize', what);
  return new FolderDataset<T>(new BatchNode(node, batchSize, {}), files);
}

class FolderNode implements DatasetNode {
  readonly kind: string = 'Folder';
  readonly inputs: readonly DatasetNode[] = [];
  readonly spec: ElementSpec;
  readonly #files: FolderFiles;
  readonly #element: (index: number) => Awaitable<Tensor | [Tensor, Tensor]>;
  readonly #seed: SeedWords | null;
  #passes = 0;

  constructor(
    files: FolderFiles,
    decoder: FileDecoder,
    mode: FolderOptions['labelMode'],
    seed: SeedWords | null,
    what: string,
  ) {
    const { paths, labels, classNames } = files;
    this.#files = files;
    this.#seed = seed;
    this.spec = labels === null ? decoder.spec : [decoder.spec, labelSpec(mode, classNames.length)];
    this.#element = (index) => {
      const path = paths[index] as string;
      const bytes = new Uint8Array(nodeBuiltin('node:fs').readFileSync(path));
      return after(decoded(decoder, bytes, path, what), (tensor) =>
        labels === null ? tensor : [tensor, labelOf(labels[index] as number, mode, classNames.length)],
      );
    };
  }

  cardinality(): number {
    return this.#files.paths.length;
  }

  iterate(): ElementIterator {
    return new FolderIterator(this.#element, new PassOrder(this.cardinality(), this.#seed, this.#passes++));
  }
}

function decoded(decoder: FileDecoder, bytes: Uint8Array, path: string, what: string): Awaitable<Tensor> {
  const failed = (cause: unknown): never => {
    if (cause instanceof EagreError) throw cause;
    throw new InvalidArgumentError(`${path}: ${(cause as Error).message}`, what, { cause });
  };
  try {
    const tensor = decoder.decode(bytes, path);
    return tensor instanceof Promise ? tensor.catch(failed) : tensor;
  } catch (cause) {
    return failed(cause);
  }
}

function labelSpec(mode: FolderOptions['labelMode'], classes: number): TensorSpec {
  if (mode === 'int' || mode === undefined) return new TensorSpec([], 'int32');
  return new TensorSpec([mode === 'binary' ? 1 : classes], 'float32');
}

function labelOf(label: number, mode: FolderOptions['labelMode'], classes: number): Tensor {
  if (mode === 'int' || mode === undefined) return constant(label, 'int32');
  if (mode === 'binary') return constant(Float32Array.of(label));
  return constant(Float32Array.from({ length: classes }, (_, i) => (i === label ? 1 : 0)));
}

class FolderIterator extends ElementIterator {
  override readonly fresh = true;
  readonly #element: (index: number) => Awaitable<Tensor | [Tensor, Tensor]>;
  readonly #order: PassOrder;

  constructor(element: (index: number) => Awaitable<Tensor | [Tensor, Tensor]>, order: PassOrder) {
    super();
    this.#element = element;
    this.#order = order;
  }

  next(): Awaitable<Step> {
    const order = this.#order;
    const index = order.next;
    if (index < 0) return END;
    // A position moves when its element has arrived, or failed.
    const arrived = (element: Element): Element => {
      order.position++;
      return element;
    };
    const failed = (error: unknown): never => {
      order.position++;
      throw error;
    };
    let element: Awaitable<Element>;
    try {
      element = this.#element(index);
    } catch (error) {
      return failed(error);
    }
    return element instanceof Promise ? later(element).then(arrived, failed) : arrived(element);
  }

  saveState(): State {
    return this.#order.save();
  }
  restoreState(state: State): void {
    this.#order.restore(state);
  }
}
