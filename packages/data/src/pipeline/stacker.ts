// Elements one after the other become tensors with one more axis.
import { arrayLength, InvalidArgumentError } from '@eagre/backend';
import { type CompositeTensor, constant, type RaggedTensor, Tensor } from '@eagre/core';
import {
  emptyTensor,
  makeRagged,
  sameShape,
  showShape,
  spaceOf,
  uploaded,
  viewOf,
} from '@eagre/core/internal';
import { holdsComposite, packWhole, stackComposites, wholeLeaves } from '../elements/composites.ts';
import { type ElementSpec, RaggedRowSpec } from '../elements/element-spec.ts';
import { loadElement, saveElement } from '../elements/saved.ts';
import { type Element, flatten, isDataset, mapLeaves } from '../elements/structure.ts';
import {
  AGAIN,
  type Awaitable,
  after,
  type ElementIterator,
  END,
  type State,
  type Step,
  until,
} from './iterator.ts';
import { later } from './later.ts';
import { fields, list } from './node.ts';

/** Stacks tensors of one dtype and shape. @param component their number in the elements, for messages. */
export function stackTensors(tensors: readonly Tensor[], component: number, what: string): Tensor {
  const first = tensors[0];
  for (let i = 1; i < tensors.length; i++) {
    const t = tensors[i];
    if (t.dtype !== first.dtype || !(t.shape === first.shape || sameShape(t.shape, first.shape))) {
      throw new InvalidArgumentError(
        t.dtype === first.dtype
          ? `Cannot batch tensors with different shapes in component ${component}. First element had shape ${showShape(first.shape)} and element ${i} had shape ${showShape(t.shape)}.`
          : `Cannot batch tensors with different types in component ${component}. First element had type ${first.dtype} and element ${i} had type ${t.dtype}.`,
        what,
      );
    }
  }
  const shape = [tensors.length, ...first.shape];
  if (first.dtype === 'string')
    return strings(
      tensors.flatMap((t) => t.strings()),
      shape,
    );
  const { size } = first;
  const out = emptyTensor(first.dtype, shape, size * tensors.length);
  const to = spaceOf(out);
  const numbers = arrayLength(first.dtype, size);
  for (let i = 0; i < tensors.length; i++) {
    const from = viewOf(tensors[i]);
    if (numbers === 1) (to as { [i: number]: unknown })[i] = from[0];
    else to.set(from as never, i * numbers);
  }
  return uploaded(out, to);
}

/** The ragged tensor whose row i is tensor i. @throws InvalidArgumentError where more than the first sizes differ. */
export function raggedOf(
  tensors: readonly Tensor[],
  splitsDtype: 'int32' | 'int64',
  what: string,
): RaggedTensor {
  const first = tensors[0];
  const inner = first.shape.slice(1);
  for (const t of tensors) {
    if (t.rank === 0 || !sameShape(t.shape.slice(1), inner))
      throw new InvalidArgumentError(
        `only the first size may vary in a ragged batch, got ${showShape(first.shape)} and ${showShape(t.shape)}`,
        what,
      );
  }
  const splits = new Array<number>(tensors.length + 1).fill(0);
  let rows = 0;
  tensors.forEach((t, i) => {
    rows += t.shape[0];
    splits[i + 1] = rows;
  });
  const shape = [rows, ...inner];
  if (first.dtype === 'string')
    return makeRagged(
      strings(
        tensors.flatMap((t) => t.strings()),
        shape,
      ),
      constant(splits, splitsDtype),
    );
  return makeRagged(joined(tensors, shape), constant(splits, splitsDtype));
}

/** A string tensor, also of no strings. */
export function strings(values: readonly string[], shape: readonly number[]): Tensor {
  return values.length === 0 ? constant([], 'string', { shape }) : constant(values, 'string', { shape });
}

/** Stacks the elements of one structure. */
export function stackElements(
  elements: readonly Element[],
  what: string,
  spec: ElementSpec | null = null,
): Element {
  const first = elements[0];
  if (spec !== null && holdsRaggedRows(spec)) return stackWhole(elements, what, spec);
  if (first instanceof Tensor) return stackTensors(elements as readonly Tensor[], 0, what);
  if (holdsComposite(first)) return stackWhole(elements, what);
  const leaves = leavesOf(elements, what);
  return mapLeaves(first, (_, k) =>
    stackTensors(
      leaves.map((l) => l[k]),
      k,
      what,
    ),
  ) as Element;
}

const holdsRaggedRows = (spec: ElementSpec): boolean =>
  wholeLeaves(spec as never).some((s) => (s as unknown) instanceof RaggedRowSpec);

/** `stackElements` of elements with ragged or sparse tensors, or with rows that make ragged ones. */
function stackWhole(elements: readonly Element[], what: string, spec?: ElementSpec): Element {
  const leaves = elements.map(wholeLeaves);
  const specs = spec === undefined ? [] : (wholeLeaves(spec as never) as readonly unknown[]);
  const stacked = (leaves[0] as ReturnType<typeof wholeLeaves>).map((first, k) => {
    const all = leaves.map((list) => list[k]);
    const of = specs[k];
    if (of instanceof RaggedRowSpec) return raggedOf(all as readonly Tensor[], of.rowSplitsDtype, what);
    if (first instanceof Tensor) return stackTensors(all as readonly Tensor[], k, what);
    return stackComposites(all as readonly CompositeTensor[], what);
  });
  return packWhole(elements[0], stacked);
}

/** The tensors of each element. @throws InvalidArgumentError unless all have as many, and no datasets. */
export function leavesOf(elements: readonly Element[], what: string): Tensor[][] {
  const leaves = elements.map((e) => flatten(e));
  for (const list of leaves) {
    if (list.length !== (leaves[0] as unknown[]).length)
      throw new InvalidArgumentError('the elements have different structures', what);
    if (list.some(isDataset))
      throw new InvalidArgumentError(
        'the elements hold datasets (windows), which cannot be stacked; use flatMap',
        what,
      );
  }
  return leaves as Tensor[][];
}

/** Joins blocks of rows. Gives back the memory of the blocks. */
export function joinBlocks(blocks: readonly Element[]): Element {
  const [first] = blocks;
  if (blocks.length === 1) return first;
  const leaves = blocks.map((b) => flatten(b) as Tensor[]);
  return mapLeaves(first, (leaf, k) => {
    const parts = leaves.map((l) => l[k]);
    const rows = parts.reduce((n, p) => n + p.shape[0], 0);
    const out = joined(parts, [rows, ...(leaf as Tensor).shape.slice(1)]);
    for (const part of parts) part.dispose();
    return out;
  }) as Element;
}

/** The elements of tensors that are no strings, one tensor behind the other, in a shape. */
function joined(parts: readonly Tensor[], shape: readonly number[]): Tensor {
  const out = emptyTensor(parts[0].dtype, shape);
  const to = spaceOf(out);
  let at = 0;
  for (const part of parts) {
    const from = viewOf(part);
    to.set(from as never, at);
    at += from.length;
  }
  return uploaded(out, to);
}

export function rowsOf(block: Element): number {
  return (flatten(block)[0] as Tensor).shape[0];
}

/**
 * Takes elements from an iterator and stacks them: as many as are asked for, or what is left. What it has taken already is part of its state.
 */
export class Stacker {
  readonly #input: ElementIterator;
  readonly #what: string;
  readonly #spec: ElementSpec | null;
  #elements: Element[] = [];
  #blocks: Element[] = [];
  #rows = 0;
  #wanted = 0;

  /** @param spec of the elements, where some may be rows of ragged tensors. */
  constructor(input: ElementIterator, what: string, spec: ElementSpec | null = null) {
    this.#input = input;
    this.#what = what;
    this.#spec = spec;
  }

  /** @param whole whether fewer than `count` are dropped at the end. */
  next(count: number, whole = false): Awaitable<Step> {
    this.#wanted = count;
    try {
      const result = until(this.#input.hasRows ? this.#turnBlock : this.#turn);
      if (result instanceof Promise)
        return later(result).then((step) => this.#stack(step, whole), this.#failed);
      return this.#stack(result, whole);
    } catch (error) {
      return this.#failed(error);
    }
  }

  readonly #failed = (error: unknown): never => {
    this.#elements = [];
    this.#blocks = [];
    this.#rows = 0;
    throw error;
  };

  readonly #turn = (): Awaitable<Step | typeof AGAIN | null> => {
    if (this.#elements.length === this.#wanted) return null;
    const step = this.#input.next();
    return step instanceof Promise ? later(step).then(this.#take) : this.#take(step);
  };
  readonly #take = (step: Step): typeof AGAIN | typeof END => {
    if (step === END) return END;
    this.#elements.push(step);
    return AGAIN;
  };

  readonly #turnBlock = (): Awaitable<Step | typeof AGAIN | null> => {
    if (this.#rows === this.#wanted) return null;
    return after(this.#input.nextRows(this.#wanted - this.#rows), this.#takeBlock);
  };
  readonly #takeBlock = (step: Step): typeof AGAIN | typeof END => {
    if (step === END) return END;
    this.#rows += rowsOf(step);
    this.#blocks.push(step);
    return AGAIN;
  };

  #stack(step: Step | null, whole: boolean): Step {
    const { length } = this.#input.hasRows ? this.#blocks : this.#elements;
    const [elements, blocks, rows] = [this.#elements, this.#blocks, this.#rows];
    this.#elements = [];
    this.#blocks = [];
    this.#rows = 0;
    const count = this.#input.hasRows ? rows : elements.length;
    if (length === 0 || (step === END && whole && count < this.#wanted)) return END;
    if (this.#input.hasRows) return joinBlocks(blocks);
    const result = stackElements(elements, this.#what, this.#spec);
    if (this.#input.ownsElements)
      for (const e of elements) for (const leaf of flatten(e)) if (leaf instanceof Tensor) leaf.dispose();
    return result;
  }

  save(): State {
    return { elements: this.#elements.map(saveElement), blocks: this.#blocks.map(saveElement) };
  }
  restore(state: State): void {
    const { elements, blocks } = fields(state);
    this.#elements = list(elements).map(loadElement);
    this.#blocks = list(blocks).map(loadElement);
    this.#rows = this.#blocks.reduce<number>((n, b) => n + rowsOf(b), 0);
  }
}
