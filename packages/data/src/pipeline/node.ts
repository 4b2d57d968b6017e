// What nodes and their iterators have in common.
import { InvalidArgumentError } from '@eagre/backend';
import type { ElementSpec } from '../elements/element-spec.ts';
import {
  type Awaitable,
  type DatasetNode,
  ElementIterator,
  type IterationContext,
  type State,
} from './iterator.ts';
import type { DatasetOptions } from './options.ts';

/** The options of a pipeline: those set last count. */
export function optionsOf(node: DatasetNode): DatasetOptions {
  return Object.assign({}, ...node.inputs.map(optionsOf), node.options);
}

/** A node with one input, whose elements and number are those of the input by default. */
export abstract class UnaryNode implements DatasetNode {
  abstract readonly kind: string;
  readonly input: DatasetNode;
  readonly inputs: readonly DatasetNode[];
  readonly spec: ElementSpec | null;

  constructor(input: DatasetNode, spec: ElementSpec | null = input.spec) {
    this.input = input;
    this.inputs = [input];
    this.spec = spec;
  }

  cardinality(): number {
    return this.input.cardinality();
  }

  abstract iterate(context: IterationContext): ElementIterator;
}

/** An iterator over one other, whose state is the other's and fields of its own. What never changes it reads in its node. */
export abstract class UnaryIterator<N extends UnaryNode = UnaryNode> extends ElementIterator {
  protected readonly input: ElementIterator;
  protected readonly node: N;

  constructor(input: ElementIterator, node: N) {
    super();
    this.input = input;
    this.node = node;
  }

  /** Of this iterator alone. */
  protected save(): State {
    return null;
  }
  protected restore(_state: State): void {}

  saveState(): State {
    return { input: this.input.saveState(), own: this.save() };
  }

  restoreState(state: State): void {
    const { input, own } = fields(state);
    this.input.restoreState(input as State);
    this.restore(own as State);
  }

  override close(): Awaitable<void> {
    return this.input.close();
  }
}

/** An iterator over one other that counts elements: how many it has asked for, or given. */
export abstract class CountingIterator<N extends UnaryNode> extends UnaryIterator<N> {
  override readonly ownsElements: boolean = this.input.ownsElements;
  protected position = 0;

  protected override save(): State {
    return this.position;
  }
  protected override restore(state: State): void {
    this.position = count(state);
  }
}

/** An iterator without others, whose state is the number of its next element. */
export abstract class PositionIterator extends ElementIterator {
  protected position = 0;

  saveState(): State {
    return this.position;
  }
  restoreState(state: State): void {
    this.position = count(state);
  }
}

/** Closes all of them, whatever happens; the first error is thrown in the end. */
export function closeAll(iterators: Iterable<ElementIterator | null | undefined>): Awaitable<void> {
  const waiting: Promise<void>[] = [];
  const errors: unknown[] = [];
  for (const iterator of iterators) {
    try {
      const closing = iterator?.close();
      if (closing instanceof Promise) waiting.push(closing);
    } catch (error) {
      errors.push(error);
    }
  }
  if (waiting.length > 0)
    return Promise.all(waiting).then(() => {
      if (errors.length > 0) throw errors[0];
    });
  if (errors.length > 0) throw errors[0];
}

// ---- reading states

const refused = (expected: string): InvalidArgumentError =>
  new InvalidArgumentError(
    `the saved state is damaged or belongs to another pipeline: expected ${expected}`,
    'Dataset',
  );

/** The fields of a state. @throws InvalidArgumentError for another kind of state. */
export function fields(state: State | undefined): Readonly<Record<string, State | undefined>> {
  if (typeof state !== 'object' || state === null || Array.isArray(state) || ArrayBuffer.isView(state))
    throw refused('fields');
  return state as Readonly<Record<string, State | undefined>>;
}
/** A state that is a count. */
export function count(state: State | undefined): number {
  if (typeof state !== 'number' || !Number.isSafeInteger(state) || state < 0) throw refused('a count');
  return state;
}
export function list(state: State | undefined): readonly State[] {
  if (!Array.isArray(state)) throw refused('a list');
  return state as readonly State[];
}
export function flag(state: State | undefined): boolean {
  if (typeof state !== 'boolean') throw refused('true or false');
  return state;
}
