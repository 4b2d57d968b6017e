// `cache` in a folder.
import { InvalidArgumentError } from '@eagre/backend';
import { findDropped, whenDropped } from '@eagre/core/internal';
import {
  type Awaitable,
  after,
  type DatasetNode,
  ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { fields, UnaryNode } from '../pipeline/node.ts';
import { ElementsNode } from '../sources/elements.ts';
import { type Compression, checkFileOptions } from './file-bytes.ts';
import { isSaved, SavedWriter, type SaveOptions, savedNode } from './saved-files.ts';

/** Keeps the elements of the first complete pass in a folder. */
export class CacheFileNode extends UnaryNode {
  readonly kind = 'CacheFile';
  readonly #path: string;
  readonly #compression: Compression;
  readonly #what: string;

  /** @throws InvalidArgumentError for no path, or another compression. */
  constructor(input: DatasetNode, path: string, options: SaveOptions = {}, what = 'Dataset.cache') {
    super(input);
    if (typeof path !== 'string' || path === '')
      throw new InvalidArgumentError('give the path of a folder', what);
    this.#path = path;
    this.#compression = checkFileOptions({ compressionType: options.compression }, what).compression;
    this.#what = what;
  }

  iterate(context: IterationContext): ElementIterator {
    return new CacheFileIterator(
      this.#path,
      () => this.input.iterate(context),
      () => savedNode(this.#path, this.#what).iterate(context),
      () => new SavedWriter(this.#path, this.spec, this.#compression, this.#what),
    );
  }
}

class CacheFileIterator extends ElementIterator {
  readonly #path: string;
  readonly #make: () => ElementIterator;
  readonly #load: () => ElementIterator;
  readonly #write: () => SavedWriter;
  /** What elements come from; null before the first. */
  #source: ElementIterator | null = null;
  #isSaved = false;
  /** Null when nothing is kept: the elements are read, or not all of them were seen. */
  #writer: SavedWriter | null = null;
  /** Ends the watch for passes that nobody ends. */
  #unwatch: (() => void) | null = null;

  constructor(
    path: string,
    make: () => ElementIterator,
    load: () => ElementIterator,
    write: () => SavedWriter,
  ) {
    super();
    this.#path = path;
    this.#make = make;
    this.#load = load;
    this.#write = write;
  }

  next(): Awaitable<Step> {
    const source = this.#source ?? this.#begin();
    const failed = (error: unknown): never => {
      // What is kept must be whole.
      this.#stop();
      throw error;
    };
    try {
      const step = source.next();
      return step instanceof Promise ? later(step).then(this.#keep, failed) : this.#keep(step);
    } catch (error) {
      return failed(error);
    }
  }

  #begin(): ElementIterator {
    this.#isSaved = isSaved(this.#path);
    // What cannot be read is told once, and has no elements.
    this.#source = new ElementsNode([]).iterate();
    const source = this.#isSaved ? this.#load() : this.#make();
    this.#source = source;
    if (!this.#isSaved) {
      // In a loop that never pauses too, those of before make room.
      findDropped();
      const writer = this.#write();
      this.#writer = writer;
      this.#unwatch = whenDropped(this, () => writer.abort());
    }
    return source;
  }

  readonly #keep = (step: Step): Step => {
    if (this.#writer === null) return step;
    if (step !== END) this.#writer.write(step);
    else {
      // Another pass may have been faster.
      if (!isSaved(this.#path)) this.#writer.finish();
      this.#stop();
    }
    return step;
  };

  #stop(): void {
    this.#unwatch?.();
    this.#unwatch = null;
    this.#writer?.abort();
    this.#writer = null;
  }

  saveState(): State {
    if (this.#source === null) return null;
    return { saved: this.#isSaved, source: this.#source.saveState() };
  }

  restoreState(state: State): void {
    if (state === null) return;
    const { saved, source } = fields(state);
    this.#isSaved = saved === true;
    this.#source = this.#isSaved ? this.#load() : this.#make();
    this.#source.restoreState(source as State);
  }

  override close(): Awaitable<void> {
    this.#stop();
    return after(this.#source?.close(), () => undefined);
  }
}
