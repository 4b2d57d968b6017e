// `window`: datasets of consecutive elements.
import { InvalidArgumentError } from '@eagre/backend';
import { DatasetSpec, type ElementSpec, flattenSpec, mapSpec } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import { datasetOf, type Element, flatten, mapLeaves } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  type DatasetNode,
  type ElementIterator,
  END,
  type IterationContext,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { count, fields, flag, list, UnaryIterator, UnaryNode } from '../pipeline/node.ts';
import { type Count, checkCount } from '../pipeline/options.ts';
import { ElementsNode } from '../sources/elements.ts';

/** Options of `window`. */
export interface WindowOptions {
  /** From the start of one window to the start of the next; `size` unless set. */
  readonly shift?: Count;
  /** From one element of a window to the next; 1 unless set. */
  readonly stride?: Count;
  /** Whether windows at the end that are not full are left out. */
  readonly dropRemainder?: boolean;
}

export class WindowNode extends UnaryNode {
  readonly kind = 'Window';
  readonly size: number;
  /** From the start of one window to the start of the next. */
  readonly shift: number;
  /** From one element of a window to the next. */
  readonly stride: number;
  readonly whole: boolean;

  constructor(input: DatasetNode, size: Count, options: WindowOptions) {
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

/** In the place of an element that failed. */
class Fault {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

class WindowIterator extends UnaryIterator<WindowNode> {
  /** What the next window begins with. What failed keeps its place: windows fail with it. */
  #buffer: (Element | Fault)[] = [];
  /** Elements to leave out before it. */
  #skip = 0;
  #ended = false;

  next(): Awaitable<Step> {
    return until(this.#turn);
  }

  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    const buffer = this.#buffer;
    const { size, shift, stride, whole, reach } = this.node;
    if (buffer.length < reach && !this.#ended) {
      try {
        const step = this.input.next();
        return step instanceof Promise ? later(step).then(this.#take, this.#failed) : this.#take(step);
      } catch (error) {
        return this.#failed(error);
      }
    }
    if (buffer.length === 0 || (whole && buffer.length < reach)) return END;
    const elements: (Element | Fault)[] = [];
    for (let i = 0; i < buffer.length && elements.length < size; i += stride) elements.push(buffer[i]);
    this.#skip = Math.max(0, shift - buffer.length);
    buffer.splice(0, shift);
    const fault = elements.find((e) => e instanceof Fault);
    if (fault !== undefined) throw fault.error;
    return windowOf(elements as Element[], this.node.input.spec);
  };
  readonly #take = (step: Step): typeof AGAIN => {
    if (step === END) this.#ended = true;
    else if (this.#skip > 0) this.#skip--;
    else this.#buffer.push(step);
    return AGAIN;
  };
  readonly #failed = (error: unknown): typeof AGAIN => {
    if (this.#skip > 0) this.#skip--;
    else this.#buffer.push(new Fault(error));
    return AGAIN;
  };

  protected override save(): State {
    const buffer = this.#buffer.map((e) => (e instanceof Fault ? String(e.error) : saveElement(e)));
    const faults = this.#buffer.map((e) => e instanceof Fault);
    return { buffer, faults, skip: this.#skip, ended: this.#ended };
  }
  protected override restore(state: State): void {
    const { buffer, faults, skip, ended } = fields(state);
    const isFault = list(faults);
    this.#buffer = list(buffer).map((saved, i) =>
      isFault[i] === true
        ? new Fault(new InvalidArgumentError(String(saved), 'Dataset.window'))
        : loadElement(saved),
    );
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
