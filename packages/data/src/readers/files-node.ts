// Elements of many files.
import { InvalidArgumentError } from '@eagre/backend';
import { constant, Tensor } from '@eagre/core';
import type { ElementSpec } from '../elements/element-spec.ts';
import { type Element, isDataset } from '../elements/structure.ts';
import type { Dataset } from '../pipeline/dataset.ts';
import {
  AGAIN,
  type Awaitable,
  after,
  type DatasetNode,
  ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { count, fields, list } from '../pipeline/node.ts';
import { UNKNOWN_CARDINALITY } from '../pipeline/options.ts';
import { ElementsNode } from '../sources/elements.ts';
import { dividedInput } from '../transformations/divided-input.ts';

/** Names of files: one, several, a string tensor, or a dataset of them (`listFiles`). */
export type FileNames = string | readonly string[] | Tensor | Dataset<Tensor>;

/** What gives the elements of one file, from a position that an earlier reader told, or from 0. */
export interface ElementReader {
  next(): Awaitable<Element | null>;
  readonly position: number;
  close(): void;
}

/** A node for the names. @throws InvalidArgumentError for what names no files. */
export function namesNode(names: FileNames, what: string): DatasetNode {
  if (isDataset(names)) return names.node;
  const all =
    names instanceof Tensor
      ? names.dtype === 'string' && names.strings()
      : typeof names === 'string'
        ? [names]
        : names;
  if (!Array.isArray(all) || !all.every((name) => typeof name === 'string' && name !== ''))
    throw new InvalidArgumentError(
      'file names must be strings, a string tensor or a dataset of strings',
      what,
    );
  return new ElementsNode(all.map((name) => constant(name)));
}

/** The elements of files whose names another node gives. */
export class FilesNode implements DatasetNode {
  readonly kind: string;
  readonly inputs: readonly DatasetNode[];
  readonly spec: ElementSpec | null;
  readonly #open: (path: string, position: number) => ElementReader;
  readonly #cycle: number;
  readonly #size: number;
  readonly #fresh: boolean;

  /**
   * @param cycle from how many files elements come in turn.
   * @param size how many elements there are in all.
   * @param fresh whether nobody else can hold the elements' tensors.
   */
  constructor(
    kind: string,
    names: DatasetNode,
    spec: ElementSpec | null,
    open: (path: string, position: number) => ElementReader,
    cycle: number,
    size: number = UNKNOWN_CARDINALITY,
    fresh: boolean = true,
  ) {
    this.kind = kind;
    this.inputs = [names];
    this.spec = spec;
    this.#open = open;
    this.#cycle = cycle;
    this.#size = size;
    this.#fresh = fresh;
  }

  cardinality(): number {
    return this.#size;
  }

  iterate(context: IterationContext): ElementIterator {
    const names = dividedInput(this, this.inputs[0], context).iterate(context);
    return new FilesIterator(this.kind, names, this.#open, this.#cycle, this.#fresh);
  }
}

interface OpenFile {
  readonly path: string;
  readonly reader: ElementReader;
}

class FilesIterator extends ElementIterator {
  override readonly ownsElements: boolean;
  readonly #kind: string;
  readonly #names: ElementIterator;
  readonly #open: (path: string, position: number) => ElementReader;
  readonly #files: (OpenFile | null)[];
  /** Whose turn it is. */
  #turn = 0;
  #namesEnded = false;

  constructor(
    kind: string,
    names: ElementIterator,
    open: (path: string, position: number) => ElementReader,
    cycle: number,
    fresh: boolean,
  ) {
    super();
    this.ownsElements = fresh;
    this.#kind = kind;
    this.#names = names;
    this.#open = open;
    this.#files = new Array<OpenFile | null>(cycle).fill(null);
  }

  next(): Awaitable<Step> {
    return until(() => this.#turnOf());
  }

  /** One file's turn: it gives an element, or ends, or there is none and the next one is opened. */
  #turnOf(): Awaitable<Step | typeof AGAIN> {
    const slot = this.#turn;
    const file = this.#files[slot];
    if (!file) {
      if (!this.#namesEnded) return after(this.#names.next(), (name) => this.#begin(slot, name));
      if (this.#files.every((f) => f === null)) return END;
      this.#advance(slot);
      return AGAIN;
    }
    // A wrong record is left behind like any other; behind damage nothing can be found.
    const failed = (error: unknown): never => {
      if (error instanceof InvalidArgumentError) this.#advance(slot);
      else this.#end(slot, file);
      throw error;
    };
    const arrived = (element: Element | null): Step | typeof AGAIN => {
      if (element === null) this.#end(slot, file);
      else this.#advance(slot);
      return element ?? AGAIN;
    };
    try {
      const element = file.reader.next();
      return element instanceof Promise ? later(element).then(arrived, failed) : arrived(element);
    } catch (error) {
      return failed(error);
    }
  }

  #advance(slot: number): void {
    this.#turn = (slot + 1) % this.#files.length;
  }

  #end(slot: number, file: OpenFile): void {
    if (this.#files[slot] === file) this.#files[slot] = null;
    this.#advance(slot);
    file.reader.close();
  }

  #begin(slot: number, name: Step): typeof AGAIN {
    if (name === END) this.#namesEnded = true;
    else {
      const path = name instanceof Tensor && name.dtype === 'string' ? name.strings()[0] : undefined;
      if (path === undefined)
        throw new InvalidArgumentError(
          'the dataset of file names gave an element that is not a string',
          this.#kind,
        );
      this.#files[slot] = { path, reader: this.#open(path, 0) };
    }
    return AGAIN;
  }

  saveState(): State {
    return {
      names: this.#names.saveState(),
      ended: this.#namesEnded,
      turn: this.#turn,
      files: this.#files.map((file) =>
        file === null ? null : { path: file.path, at: file.reader.position },
      ),
    };
  }

  restoreState(state: State): void {
    const { names, ended, turn, files } = fields(state);
    this.#names.restoreState(names as State);
    const all = list(files);
    this.#turn = count(turn);
    this.#namesEnded = ended === true;
    if (all.length !== this.#files.length || this.#turn >= all.length)
      throw new InvalidArgumentError('the saved state has another numParallelReads', this.#kind);
    all.forEach((file, slot) => {
      if (file === null) return;
      const { path, at } = fields(file);
      this.#files[slot] = { path: String(path), reader: this.#open(String(path), count(at)) };
    });
  }

  override close(): Awaitable<void> {
    for (const [slot, file] of this.#files.entries()) {
      file?.reader.close();
      this.#files[slot] = null;
    }
    this.#namesEnded = true;
    return this.#names.close();
  }
}
