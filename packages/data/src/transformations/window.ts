// `window`: datasets of consecutive elements.
import { DatasetSpec, type ElementSpec, flattenSpec, mapSpec } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import { datasetOf, type Element, flatten, mapLeaves } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  after,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { count, fields, flag, list, UnaryIterator, UnaryNode } from '../pipeline/node.ts';
import { checkCount } from '../pipeline/options.ts';
import { ElementsNode } from '../sources/elements.ts';

export interface WindowOptions {
  /** From the start of one window to the start of the next; `size` unless set. */
  readonly shift?: number;
  /** From one element of a window to the next; 1 unless set. */
  readonly stride?: number;
  /** Whether windows at the end that are not full are left out. */
  readonly dropRemainder?: boolean;
}

export class WindowNode extends UnaryNode {
  readonly kind = 'Window';
  readonly size: number;
  readonly shift: number;
  readonly stride: number;
  readonly whole: boolean;

  constructor(input: DatasetNode, size: number, options: WindowOptions) {
    const what = 'Dataset.window';
    super(
      input,
      input.spec === null ? null : (mapSpec(input.spec, (s) => new DatasetSpec(s)) as ElementSpec),
    );
    this.size = checkCount(size, 'size', what);
    this.shift = checkCount(options.shift ?? size, 'shift', what);
    this.stride = checkCount(options.stride ?? 1, 'stride', what);
    this.whole = options.dropRemainder ?? false;
  }

  /** From the first element of a window to its last. */
  get reach(): number {
    return (this.size - 1) * this.stride + 1;
  }

  override cardinality(): number {
    const n = this.input.cardinality();
    if (n < 0) return n;
    if (!this.whole) return Math.ceil(n / this.shift);
    return n < this.reach ? 0 : Math.floor((n - this.reach) / this.shift) + 1;
  }

  iterate(context: IterationContext): ElementIterator {
    return new WindowIterator(this.input.iterate(context), this);
  }
}

class WindowIterator extends UnaryIterator<WindowNode> {
  /** What the next window begins with. */
  #buffer: Element[] = [];
  /** Elements to leave out before it. */
  #skip = 0;
  #ended = false;

  next(): Awaitable<Step> {
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    const buffer = this.#buffer;
    const { size, shift, stride, whole, reach } = this.node;
    if (buffer.length < reach && !this.#ended) return after(this.input.next(), this.#take);
    if (buffer.length === 0 || (whole && buffer.length < reach)) return END;
    const elements: Element[] = [];
    for (let i = 0; i < buffer.length && elements.length < size; i += stride) elements.push(buffer[i]);
    this.#skip = Math.max(0, shift - buffer.length);
    buffer.splice(0, shift);
    return windowOf(elements, this.node.input.spec);
  };
  readonly #take = (step: Step): typeof AGAIN => {
    if (step === END) this.#ended = true;
    else if (this.#skip > 0) this.#skip--;
    else this.#buffer.push(step);
    return AGAIN;
  };

  protected override save(): State {
    return { buffer: this.#buffer.map(saveElement), skip: this.#skip, ended: this.#ended };
  }
  protected override restore(state: State): void {
    const { buffer, skip, ended } = fields(state);
    this.#buffer = list(buffer).map(loadElement);
    this.#skip = count(skip);
    this.#ended = flag(ended);
  }
}

/** Elements as an element of datasets: one for each component. */
function windowOf(elements: readonly Element[], spec: ElementSpec | null): Element {
  const first = elements[0];
  const leaves = elements.map((e) => flatten(e));
  const specs = spec === null ? null : flattenSpec(spec);
  return mapLeaves(first, (_, k) =>
    datasetOf(
      new ElementsNode(
        leaves.map((l) => l[k]),
        specs?.[k],
      ),
    ),
  ) as Element;
}
