// `scan`: a function of a state and each element.
import { InvalidArgumentError } from '@eagre/backend';
import { ElementFunction, type FunctionCallOptions } from '../element-function.ts';
import { commonSpec, type ElementSpec, showSpec, specOf } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import { type Element, toElement } from '../elements/structure.ts';
import {
  type Awaitable,
  after,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
} from '../iterator.ts';
import { later } from '../later.ts';
import { fields, UnaryIterator, UnaryNode } from '../node.ts';

export class ScanNode extends UnaryNode {
  readonly kind = 'Scan';
  readonly #initial: Element;
  readonly #fn: ElementFunction;

  constructor(
    input: DatasetNode,
    initial: unknown,
    fn: (...args: never[]) => unknown,
    options: FunctionCallOptions,
  ) {
    const what = 'Dataset.scan';
    const first = toElement(initial, what);
    const own = new ElementFunction(fn, [specOf(first), input.spec], options, what);
    super(input, own.spec === null ? null : (pair(own.spec)[1] as ElementSpec));
    if (own.spec !== null && commonSpec(specOf(first), pair(own.spec)[0] as ElementSpec) === null)
      throw new InvalidArgumentError(
        `the new state is ${showSpec(pair(own.spec)[0] as ElementSpec)}, the initial one ${showSpec(specOf(first))}`,
        what,
      );
    this.#initial = first;
    this.#fn = own;
  }

  iterate(context: IterationContext): ElementIterator {
    return new ScanIterator(this.input.iterate(context), this.#initial, this.#fn);
  }
}

function pair(value: Element | ElementSpec): readonly unknown[] {
  if (!Array.isArray(value) || value.length !== 2)
    throw new InvalidArgumentError('the function must return [new state, output]', 'Dataset.scan');
  return value as readonly unknown[];
}

class ScanIterator extends UnaryIterator {
  readonly #fn: ElementFunction;
  #state: Element;
  /** The element that an async function is at. */
  #current: Element | null = null;

  constructor(input: ElementIterator, initial: Element, fn: ElementFunction) {
    super(input);
    this.#state = initial;
    this.#fn = fn;
  }

  next(): Awaitable<Step> {
    return after(this.#current ?? this.input.next(), this.#call);
  }
  readonly #call = (step: Step): Awaitable<Step> => {
    if (step === END) return END;
    this.#current = step;
    try {
      const result = this.#fn.call([this.#state, step]);
      return result instanceof Promise ? later(result).then(this.#take, this.#failed) : this.#take(result);
    } catch (error) {
      return this.#failed(error);
    }
  };
  readonly #take = (result: Element): Step => {
    this.#current = null;
    const [state, output] = pair(result) as readonly [Element, Element];
    this.#state = state;
    return output;
  };
  readonly #failed = (error: unknown): never => {
    this.#current = null;
    throw error;
  };

  protected override save(): State {
    return {
      state: saveElement(this.#state),
      current: this.#current === null ? null : saveElement(this.#current),
    };
  }
  protected override restore(state: State): void {
    const { state: own, current } = fields(state);
    this.#state = loadElement(own);
    this.#current = current === null ? null : loadElement(current);
  }
}
