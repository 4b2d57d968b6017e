import { FailedPreconditionError, InvalidArgumentError, OutOfRangeError } from '@eagre/backend';
import type { Tensor, Trackable, TrackableView } from '@eagre/core';
import { type Arguments, context, defineMethods, isRefusedPromise } from '@eagre/core/internal';
import type { ElementSpec } from '../elements/element-spec.ts';
import { Optional } from '../elements/optional.ts';
import { iteratorMark } from '../elements/structure.ts';
import {
  type Awaitable,
  type DatasetNode,
  type ElementIterator,
  END,
  IterationContext,
  type State,
  type Step,
} from './iterator.ts';
import { optionsOf } from './node.ts';
import { preparing } from './preparing.ts';
import { stateFromTensor, stateToTensor } from './state.ts';

/**
 * One pass over a dataset: made by `for…of`, `for await` and `dataset.iterator()`. `for await` works on every pipeline; `for…of` on those in
 * which nothing has to be waited for.
 *
 * Its position can be saved, by itself (`saveState`) or in a checkpoint: `new tf.train.Checkpoint({ iterator })`.
 */
export class DatasetIterator<T> implements IterableIterator<T>, AsyncIterable<T>, Trackable {
  readonly #node: DatasetNode;
  #iterator: ElementIterator;
  readonly #inLoop: boolean;
  #last: Promise<unknown> | null = null;
  #closed = false;
  /** Where the pass was when it was closed. */
  #final: (() => State) | null = null;

  /**
   * @internal
   * @param inLoop whether it belongs to a loop, so that nobody goes on with it behind an error or its end.
   */
  constructor(node: DatasetNode, inLoop = false) {
    this.#node = node;
    this.#inLoop = inLoop;
    this.#iterator = this.#begin();
  }

  #begin(): ElementIterator {
    return this.#outside(() => this.#node.iterate(new IterationContext(optionsOf(this.#node))));
  }

  /** Elements are nobody's but the user's, and nothing of how they are made belongs on a tape. */
  #outside<R>(fn: () => R): R {
    if (context.tracer !== null) {
      throw new FailedPreconditionError(
        'a dataset has no values while tf.function traces: iterate outside the function and pass it the elements',
        'Dataset',
      );
    }
    return preparing(fn);
  }

  /** Dtypes and shapes of the elements, in their structure; null where it is not known. */
  get elementSpec(): ElementSpec | null {
    return this.#node.spec;
  }

  /**
   * The next element, at once.
   * @throws FailedPreconditionError when something has to be waited for: use `nextAsync`, or `for await`.
   */
  next(): IteratorResult<T, undefined> {
    if (this.#last !== null) throw this.#mustWait();
    let step: Awaitable<Step>;
    try {
      step = this.#step();
    } catch (error) {
      this.#leave(this.#failed());
      throw error;
    }
    if (isRefusedPromise(step)) {
      this.#leave(this.close());
      throw this.#mustWait();
    }
    if (step === END) this.#leave(this.close());
    return result<T>(step);
  }

  /**
   * The next element itself, at once: for those who know that there is one, as in a dataset that repeats.
   * @throws OutOfRangeError at the end. @throws FailedPreconditionError as `next`.
   */
  getNext(): T {
    const { done, value } = this.next();
    if (done === true) throw new OutOfRangeError('End of sequence', 'Dataset');
    return value;
  }

  /**
   * The next element as an optional, which is empty at the end.
   * @throws FailedPreconditionError as `next`, and at the end of a dataset whose `elementSpec` is not known.
   */
  getNextAsOptional(): Optional<T> {
    const { done, value } = this.next();
    if (done !== true) return Optional.of<T>(value);
    if (this.elementSpec === null)
      throw new FailedPreconditionError(
        'an empty optional needs the spec of the elements, which is not known: give an outputSignature',
        'Dataset',
      );
    return Optional.ofSpec(this.elementSpec) as Optional<T>;
  }

  /** The next element. Calls may overlap; each gets an element of its own. */
  async nextAsync(): Promise<IteratorResult<T, undefined>> {
    const before = this.#last;
    const own = (async (): Promise<Step> => {
      // One after the other, whether or not the one before has failed.
      if (before !== null) await before.catch(() => undefined);
      try {
        const step = await this.#step();
        // What ends with another part of the pipeline, as behind `take`, is left open.
        if (step === END) await this.close();
        return step;
      } catch (error) {
        await this.#failed();
        throw error;
      }
    })();
    this.#last = own;
    try {
      return result<T>(await own);
    } finally {
      if (this.#last === own) this.#last = null;
    }
  }

  #step(): Awaitable<Step> {
    if (this.#closed) return END;
    return this.#outside(() => this.#iterator.next());
  }

  #mustWait(): FailedPreconditionError {
    return new FailedPreconditionError(
      'this dataset has an asynchronous part (an async generator, function or source): use `for await (const x of dataset)`',
      'Dataset',
    );
  }

  /** Ends the pass early and frees what it holds: files, workers, generators. A pass that comes to its end does so by itself. */
  close(): void | Promise<void> {
    if (this.#closed) return;
    this.#final = this.#inLoop ? notSaved : kept(() => this.#outside(() => this.#iterator.saveState()));
    this.#closed = true;
    return this.#iterator.close();
  }

  /** Behind an error a loop is over; a pass by hand may go on. The error counts, whatever closing does. */
  #failed(): void | Promise<void> {
    if (!this.#inLoop) return;
    try {
      const closing = this.close();
      return closing instanceof Promise ? closing.catch(() => undefined) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Where nobody can wait, a failure to close is an unhandled rejection, as it should be. */
  #leave(closing: void | Promise<void>): void {
    if (closing instanceof Promise) void closing;
  }

  /** `close`, as loops call it when they are left. */
  return(): IteratorResult<T, undefined> {
    this.#leave(this.close());
    return { done: true, value: undefined };
  }

  [Symbol.iterator](): this {
    return this;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T> {
    const self = this;
    return {
      next: () => self.nextAsync(),
      async return() {
        await self.close();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  [Symbol.dispose](): void {
    this.return();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Where the pass is, or was when it was closed: positions, buffers and random numbers. May be called at any time; elements that are being
   * computed are computed again after a restoration. @throws UnimplementedError where a source cannot tell.
   */
  saveState(): State {
    const iterator = this.#final === null ? this.#outside(() => this.#iterator.saveState()) : this.#final();
    return { kinds: kinds(this.#node), iterator };
  }

  /**
   * Goes on where another iterator of an equal pipeline, perhaps in another process, was when it was saved.
   * @throws InvalidArgumentError for a state of another pipeline.
   */
  restoreState(...args: Arguments<[state: State], ['state']>): void;
  restoreState(state: State): void {
    const { kinds: saved, iterator } = (state ?? {}) as { kinds?: State; iterator?: State };
    const own = kinds(this.#node);
    if (saved !== own || iterator === undefined) {
      throw new InvalidArgumentError(
        `the state belongs to another pipeline: ${typeof saved === 'string' ? saved : 'none'}, this one is ${own}`,
        'Dataset',
      );
    }
    if (this.#last !== null)
      throw new FailedPreconditionError(
        'an element is still pending: wait for it, then restore the iterator',
        'Dataset',
      );
    if (!this.#closed) this.#leave(this.#iterator.close());
    this.#closed = false;
    this.#final = null;
    this.#iterator = this.#begin();
    this.#outside(() => this.#iterator.restoreState(iterator));
  }

  /** Checkpoints keep the state as bytes. */
  trackableView(): TrackableView {
    const attribute = {
      save: (): Tensor => stateToTensor(this.saveState()),
      restore: (value: Tensor): void => this.restoreState(stateFromTensor(value)),
    };
    return { children: [], attributes: [['state', attribute]] };
  }
}

defineMethods(DatasetIterator.prototype, 'DatasetIterator', {
  getNext: {},
  getNextAsOptional: {},
  nextAsync: {},
  close: {},
  saveState: {},
  restoreState: { positional: ['state'], objects: ['state'] },
});

/** What `save` gives now, or its error, for later. */
function kept(save: () => State): () => State {
  try {
    const state = save();
    return () => state;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
function notSaved(): State {
  throw new FailedPreconditionError(
    'the loop of this iterator has ended: create your own iterator, `dataset.iterator()`, and save that',
    'Dataset',
  );
}

/** The kinds of a pipeline's nodes: `Batch(Shuffle(Range))`. */
function kinds(node: DatasetNode): string {
  return node.inputs.length === 0 ? node.kind : `${node.kind}(${node.inputs.map(kinds).join(', ')})`;
}

function result<T>(step: Step): IteratorResult<T, undefined> {
  return step === END ? { done: true, value: undefined } : { done: false, value: step as T };
}
Object.defineProperty(DatasetIterator.prototype, iteratorMark, { value: true });
