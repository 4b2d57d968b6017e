// `zip`, `concatenate`, `enumerate`: several datasets as one.
import { InvalidArgumentError } from '@eagre/backend';
import { shown, tree } from '@eagre/core/internal';
import { commonSpec, type ElementSpec, sameKind, showSpec } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import { type Element, isDataset } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  after,
  type DatasetNode,
  ElementIterator,
  END,
  type IterationContext,
  type RowAccess,
  type State,
  type Step,
  until,
} from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { closeAll, count, fields, list } from '../pipeline/node.ts';
import { INFINITE_CARDINALITY, UNKNOWN_CARDINALITY } from '../pipeline/options.ts';

/** A structure of nodes. */
type Nodes = DatasetNode | readonly Nodes[] | { readonly [key: string]: Nodes };

/** @throws InvalidArgumentError for anything but datasets in arrays and plain objects. */
export function nodesOf(value: unknown, what: string): Nodes {
  return tree.mapLeaves(value, what, (leaf) => {
    if (isDataset(leaf)) return leaf.node;
    throw new InvalidArgumentError(
      `expected datasets, in arrays and plain objects, got ${shown(leaf)}`,
      what,
    );
  }) as Nodes;
}

const OP = 'Dataset.zip';

/** Elements of several datasets side by side, until the shortest ends. */
export class ZipNode implements DatasetNode {
  readonly kind: string;
  readonly inputs: readonly DatasetNode[];
  readonly spec: ElementSpec | null;
  readonly #nodes: Nodes;

  constructor(nodes: Nodes, kind = 'Zip') {
    this.kind = kind;
    this.#nodes = nodes;
    this.inputs = tree.leavesOf(nodes, OP) as DatasetNode[];
    if (this.inputs.length === 0) throw new InvalidArgumentError('there is no dataset to zip', OP);
    const specs = this.inputs.map((n) => n.spec);
    this.spec = specs.includes(null) ? null : (tree.pack(nodes, specs, OP) as ElementSpec);
  }

  cardinality(): number {
    const counts = this.inputs.map((n) => n.cardinality());
    if (counts.includes(UNKNOWN_CARDINALITY)) return UNKNOWN_CARDINALITY;
    const known = counts.filter((n) => n !== INFINITE_CARDINALITY);
    return known.length === 0 ? INFINITE_CARDINALITY : Math.min(...known);
  }

  rows(): RowAccess | null {
    const rows = this.inputs.map((n) => n.rows?.() ?? null);
    if (rows.includes(null)) return null;
    const all = rows as RowAccess[];
    const each = (of: (rows: RowAccess) => Element): Element =>
      tree.pack(this.#nodes, all.map(of), OP) as Element;
    return {
      count: Math.min(...all.map((r) => r.count)),
      at: (i) => each((r) => r.at(i)),
      slice: (start, n) => each((r) => r.slice(start, n)),
      gather: (indices) => each((r) => r.gather(indices)),
    };
  }

  iterate(context: IterationContext): ElementIterator {
    const inputs = this.inputs.map((n) => n.iterate(context));
    return new ZipIterator(inputs, (parts) => tree.pack(this.#nodes, parts, OP) as Element);
  }
}

/** In the place of a part that failed. */
const NOTHING: Element = [];

class ZipIterator extends ElementIterator {
  override readonly ownsElements: boolean;
  readonly #inputs: readonly ElementIterator[];
  readonly #join: (parts: readonly Element[]) => Element;
  #parts: Element[] = [];
  /** What the first of the inputs threw that failed in this row, of which the others give their parts nevertheless: rows stay together. */
  #fault: { readonly error: unknown } | null = null;
  #ended = false;

  constructor(inputs: readonly ElementIterator[], join: (parts: readonly Element[]) => Element) {
    super();
    this.#inputs = inputs;
    this.#join = join;
    this.ownsElements = inputs.every((i) => i.ownsElements);
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    if (this.#ended) return END;
    const parts = this.#parts;
    if (parts.length === this.#inputs.length) {
      const fault = this.#fault;
      this.#parts = [];
      this.#fault = null;
      if (fault !== null) throw fault.error;
      return this.#join(parts);
    }
    try {
      const step = this.#inputs[parts.length].next();
      return step instanceof Promise ? later(step).then(this.#take, this.#failed) : this.#take(step);
    } catch (error) {
      return this.#failed(error);
    }
  };
  readonly #take = (step: Step): typeof END | typeof AGAIN => {
    if (step === END) {
      this.#ended = true;
      this.#parts = [];
      const fault = this.#fault;
      this.#fault = null;
      if (fault !== null) throw fault.error;
      return END;
    }
    this.#parts.push(step);
    return AGAIN;
  };
  readonly #failed = (error: unknown): typeof AGAIN => {
    this.#fault ??= { error };
    this.#parts.push(NOTHING);
    return AGAIN;
  };

  saveState(): State {
    return {
      inputs: this.#inputs.map((i) => i.saveState()),
      parts: this.#parts.map((part) => (part === NOTHING ? null : saveElement(part))),
      fault: this.#fault === null ? null : String(this.#fault.error),
      ended: this.#ended,
    };
  }
  restoreState(state: State): void {
    const { inputs, parts, fault, ended } = fields(state);
    restoreAll(this.#inputs, inputs);
    this.#parts = list(parts).map((part) => (part === null ? NOTHING : loadElement(part)));
    this.#fault = typeof fault === 'string' ? { error: new InvalidArgumentError(fault, OP) } : null;
    this.#ended = ended === true;
  }

  override close(): Awaitable<void> {
    this.#parts = [];
    this.#ended = true;
    return closeAll(this.#inputs);
  }
}

/** @throws InvalidArgumentError when the state is of another number of iterators. */
export function restoreAll(iterators: readonly ElementIterator[], state: State | undefined): void {
  const states = list(state);
  if (states.length !== iterators.length)
    throw new InvalidArgumentError(
      `the saved state has ${states.length} datasets, this pipeline has ${iterators.length}`,
      'Dataset',
    );
  iterators.forEach((iterator, i) => iterator.restoreState(states[i]));
}

/** One dataset behind the other. */
export class ConcatenateNode implements DatasetNode {
  readonly kind = 'Concatenate';
  readonly inputs: readonly DatasetNode[];
  readonly spec: ElementSpec | null;

  constructor(first: DatasetNode, second: DatasetNode) {
    if (!sameKind(first.spec, second.spec))
      throw new InvalidArgumentError(
        `Incompatible dataset elements: ${showSpec(first.spec)} and ${showSpec(second.spec)}`,
        'Dataset.concatenate',
      );
    this.inputs = [first, second];
    this.spec = commonSpec(first.spec, second.spec);
  }

  cardinality(): number {
    const counts = this.inputs.map((n) => n.cardinality());
    if (counts.includes(INFINITE_CARDINALITY)) return INFINITE_CARDINALITY;
    return counts.includes(UNKNOWN_CARDINALITY) ? UNKNOWN_CARDINALITY : counts.reduce((a, b) => a + b);
  }

  iterate(context: IterationContext): ElementIterator {
    return new ConcatenateIterator(this.inputs.map((n) => n.iterate(context)));
  }
}

class ConcatenateIterator extends ElementIterator {
  override readonly ownsElements: boolean;
  readonly #inputs: readonly ElementIterator[];
  #current = 0;

  constructor(inputs: readonly ElementIterator[]) {
    super();
    this.#inputs = inputs;
    this.ownsElements = inputs.every((i) => i.ownsElements);
  }

  next(): Awaitable<Step> {
    return until(this.#turn);
  }
  readonly #turn = (): Awaitable<Step | typeof AGAIN> => {
    const input = this.#inputs[this.#current];
    return input === undefined ? END : after(input.next(), this.#take);
  };
  readonly #take = (step: Step): Step | typeof AGAIN => {
    if (step !== END) return step;
    this.#current++;
    return AGAIN;
  };

  saveState(): State {
    return { current: this.#current, inputs: this.#inputs.map((i) => i.saveState()) };
  }
  restoreState(state: State): void {
    const { current, inputs } = fields(state);
    this.#current = count(current);
    restoreAll(this.#inputs, inputs);
  }

  override close(): Awaitable<void> {
    return closeAll(this.#inputs);
  }
}
