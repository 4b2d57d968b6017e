// `scan`: a function of a state and each element.
import { InvalidArgumentError } from '@eagre/backend';
import { checkState, type ElementSpec, specOf } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import { type Element, toElement } from '../elements/structure.ts';
import { ElementFunction, type FunctionCallOptions } from '../pipeline/element-function.ts';
import type {
  Awaitable,
  DatasetNode,
  ElementIterator,
  IterationContext,
  State,
  Step,
} from '../pipeline/iterator.ts';
import { UnaryNode } from '../pipeline/node.ts';
import { CallingIterator } from './calling-iterator.ts';

export class ScanNode extends UnaryNode {
  readonly kind = 'Scan';
  readonly initial: Element;
  readonly fn: ElementFunction;

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
    if (own.spec !== null) checkState(pair(own.spec)[0] as ElementSpec, specOf(first), what);
    this.initial = first;
    this.fn = own;
  }

  iterate(context: IterationContext): ElementIterator {
    return new ScanIterator(this.input.iterate(context), this);
  }
}

function pair(value: Element | ElementSpec): readonly unknown[] {
  if (!Array.isArray(value) || value.length !== 2)
    throw new InvalidArgumentError('the function must return [new state, output]', 'Dataset.scan');
  return value as readonly unknown[];
}

class ScanIterator extends CallingIterator<Element, ScanNode> {
  #state: Element = this.node.initial;

  protected call(element: Element): Awaitable<Element> {
    return this.node.fn.call([this.#state, element]);
  }
  protected answered(_element: Element, result: Element): Step {
    const [state, output] = pair(result) as readonly [Element, Element];
    if (this.node.fn.eager) checkState(specOf(state), specOf(this.#state), 'Dataset.scan');
    this.#state = state;
    return output;
  }

  protected override saveOwn(): State {
    return saveElement(this.#state);
  }
  protected override restoreOwn(state: State): void {
    this.#state = loadElement(state);
  }
}
