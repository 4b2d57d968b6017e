// Elements that lie in memory: windows, groups, caches.
import { commonSpec, type ElementSpec, specOf } from '../elements/element-spec.ts';
import { type Element, shared } from '../elements/structure.ts';
import { type DatasetNode, type ElementIterator, END, type Step } from '../pipeline/iterator.ts';
import { PositionIterator } from '../pipeline/node.ts';

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

class ElementsIterator extends PositionIterator {
  override readonly ownsElements = true;
  readonly #elements: readonly Element[];

  constructor(elements: readonly Element[]) {
    super();
    this.#elements = elements;
  }

  next(): Step {
    if (this.position >= this.#elements.length) return END;
    return shared(this.#elements[this.position++]);
  }
}
