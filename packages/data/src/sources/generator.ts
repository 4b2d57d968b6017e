// Elements that code of the user yields.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { checkNoPromise } from '@eagre/core/internal';
import { conform, type ElementSpec } from '../elements/element-spec.ts';
import { toElement } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  type DatasetNode,
  ElementIterator,
  END,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { count, fields } from '../pipeline/node.ts';
import { UNKNOWN_CARDINALITY } from '../pipeline/options.ts';

/** What yields elements: a function that begins anew at each call, or something that can be iterated several times. */
export type ElementSource<S> = (() => Iterable<S> | AsyncIterable<S>) | Iterable<S> | AsyncIterable<S>;

/** Options of `Dataset.fromGenerator`. */
export interface GeneratorOptions<E extends ElementSpec = ElementSpec> {
  /** Dtypes and shapes of the elements; what is yielded is converted and checked. Without it elements are what they are. */
  readonly outputSignature?: E;
}
const what = 'Dataset.fromGenerator';

/** A generator, sync or async. */
export class GeneratorNode implements DatasetNode {
  readonly kind = 'Generator';
  readonly inputs: readonly DatasetNode[] = [];
  readonly spec: ElementSpec | null;
  readonly #source: ElementSource<unknown>;

  constructor(source: ElementSource<unknown>, spec: ElementSpec | null) {
    const isIterable = typeof source === 'object' && source !== null && iterates(source);
    if (typeof source !== 'function' && !isIterable)
      throw new InvalidArgumentError(
        `expected a generator function or an iterable, got ${source === null ? 'null' : typeof source}`,
        what,
      );
    if (isIterable && typeof (source as Partial<Iterator<unknown>>).next === 'function')
      throw new InvalidArgumentError(
        'a running generator can be iterated only once: pass the generator function itself',
        what,
      );
    this.#source = source;
    this.spec = spec;
  }

  cardinality(): number {
    return Array.isArray(this.#source) ? this.#source.length : UNKNOWN_CARDINALITY;
  }

  iterate(): ElementIterator {
    return new GeneratorIterator(this.#source, this.spec);
  }
}

function iterates(value: object): value is Iterable<unknown> | AsyncIterable<unknown> {
  // A scalar tensor has the name, and nothing under it.
  const has = (name: symbol): boolean => typeof (value as Record<symbol, unknown>)[name] === 'function';
  return has(Symbol.iterator) || has(Symbol.asyncIterator);
}

class GeneratorIterator extends ElementIterator {
  readonly #source: ElementSource<unknown>;
  readonly #spec: ElementSpec | null;
  #running: Iterator<unknown> | AsyncIterator<unknown> | null = null;
  #position = 0;
  /** Elements that were given before the state was saved. */
  #skip = 0;
  #ended = false;

  constructor(source: ElementSource<unknown>, spec: ElementSpec | null) {
    super();
    this.#source = source;
    this.#spec = spec;
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    if (this.#ended) return END;
    let result: Awaitable<IteratorResult<unknown>>;
    try {
      this.#running ??= this.#begin();
      result = this.#running.next() as Awaitable<IteratorResult<unknown>>;
    } catch (error) {
      return this.#failed(error);
    }
    return result instanceof Promise ? later(result).then(this.#take, this.#failed) : this.#take(result);
  };
  /** What yields is over when it throws, as everywhere. */
  readonly #failed = (error: unknown): never => {
    this.#ended = true;
    throw error;
  };
  readonly #take = ({ done, value }: IteratorResult<unknown>): Step | typeof AGAIN => {
    if (done === true) {
      this.#ended = true;
      return END;
    }
    if (this.#skip > 0) {
      this.#skip--;
      return AGAIN;
    }
    this.#position++;
    return this.#spec === null ? toElement(value, what) : conform(value, this.#spec, what);
  };

  #begin(): Iterator<unknown> | AsyncIterator<unknown> {
    const source = this.#source;
    const iterable = typeof source === 'function' ? source() : source;
    checkNoPromise(iterable, 'the function', what);
    if (typeof iterable !== 'object' || iterable === null || !iterates(iterable))
      throw new InvalidArgumentError('the function must return an iterable', what);
    return Symbol.asyncIterator in iterable ? iterable[Symbol.asyncIterator]() : iterable[Symbol.iterator]();
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }

  saveState(): State {
    return { position: this.#position, ended: this.#ended };
  }
  restoreState(state: State): void {
    if (this.#running !== null) throw new FailedPreconditionError('the iterator is in use', what);
    const { position, ended } = fields(state);
    this.#position = this.#skip = count(position);
    this.#ended = ended === true;
  }

  override close(): Awaitable<void> {
    this.#ended = true;
    const running = this.#running;
    this.#running = null;
    const closing: unknown = running?.return?.();
    if (closing instanceof Promise) return closing.then(() => undefined);
  }
}
