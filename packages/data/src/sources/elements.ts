// Elements that lie in memory: windows, groups, caches.
import { commonSpec, type ElementSpec, specOf } from '../elements/element-spec.ts';
import { type Element, shared } from '../elements/structure.ts';
import { type DatasetNode, ElementIterator, END, type State, type Step } from '../iterator.ts';
import { count } from '../node.ts';

/** A list of elements. */
export class ElementsNode implements DatasetNode {
  readonly kind: string;
  readonly inputs: readonly DatasetNode[] = [];
  readonly spec: ElementSpec | null;
  readonly elements: readonly Element[];

  /** @param spec of the elements; found from them unless given. */
  constructor(elements: readonly Element[], spec?: ElementSpec | null, kind = 'Elements') {
    this.kind = kind;
    this.elements = elements;
    this.spec = spec ?? specOfAll(elements);
  }

  cardinality(): number {
    return this.elements.length;
  }

  iterate(): ElementIterator {
    return new ElementsIterator(this.elements);
  }
}

function specOfAll(elements: readonly Element[]): ElementSpec | null {
  const [first, ...rest] = elements;
  if (first === undefined) return null;
  return rest.reduce<ElementSpec | null>((spec, e) => commonSpec(spec, specOf(e)), specOf(first));
}

class ElementsIterator extends ElementIterator {
  override readonly fresh = true;
  readonly #elements: readonly Element[];
  #next = 0;

  constructor(elements: readonly Element[]) {
    super();
    this.#elements = elements;
  }

  next(): Step {
    if (this.#next >= this.#elements.length) return END;
    return shared(this.#elements[this.#next++] as Element);
  }

  saveState(): State {
    return this.#next;
  }

  restoreState(state: State): void {
    this.#next = count(state);
  }
}
