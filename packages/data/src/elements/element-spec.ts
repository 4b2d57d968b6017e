// Dtypes and shapes of elements, in their structure.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import {
  type AnyTensor,
  type CompositeTensor,
  constant,
  type PartialShape,
  Tensor,
  type TensorLike,
  Variable,
  zeros,
} from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  defineMethods,
  isCompatible,
  isComposite,
  shown,
  showShape,
  sizeOf,
  takesArguments,
  toOwnTensor,
  tree,
} from '@eagre/core/internal';
import { specOfParts, specRelations, TensorSpec } from '@eagre/graph';
import type { Dataset } from '../pipeline/dataset.ts';
import { type Element, isDataset, type Leaf, mapLeaves } from './structure.ts';

const { commonSupertype, compatible, isSpecClass, specMethods, subtype } = specRelations;

/** The spec of a dataset inside of an element, such as a window. */
export class DatasetSpec {
  /** Of its elements; null where that is not known. */
  readonly elementSpec: ElementSpec | null;

  constructor(...args: Arguments<[elementSpec: ElementSpec | null], ['elementSpec']>) {
    const { elementSpec } = argumentsOf<{ readonly elementSpec: ElementSpec | null }>(
      DatasetSpec,
      new.target,
      args,
    );
    this.elementSpec = elementSpec;
  }

  /** Whether a dataset, or a dataset of another spec, can be of this one. */
  isCompatibleWith(...args: Arguments<[specOrValue: unknown], ['specOrValue']>): boolean;
  isCompatibleWith(specOrValue: unknown): boolean {
    return compatible(this, isDataset(specOrValue) ? new DatasetSpec(specOrValue.elementSpec) : specOrValue);
  }
  /** Whether every dataset of this spec is one of the other. */
  isSubtypeOf(...args: Arguments<[other: unknown], ['other']>): boolean;
  isSubtypeOf(other: unknown): boolean {
    return subtype(this, other);
  }
  /** The spec that datasets of this one and of all others have, as exact as can be; null where there is none. */
  mostSpecificCommonSupertype(
    ...args: Arguments<[others: readonly unknown[]], ['others']>
  ): DatasetSpec | null;
  mostSpecificCommonSupertype(others: readonly unknown[]): DatasetSpec | null {
    return commonSupertype<DatasetSpec>(this, others, 'DatasetSpec.mostSpecificCommonSupertype');
  }
  /** The spec of a dataset. */
  static fromValue(...args: Arguments<[value: Dataset<unknown>], ['value']>): DatasetSpec;
  static fromValue(value: Dataset<unknown>): DatasetSpec {
    if (!isDataset(value))
      throw new InvalidArgumentError(`expected a dataset, got ${shown(value)}`, 'DatasetSpec.fromValue');
    return new DatasetSpec(value.elementSpec);
  }

  toString(): string {
    return `DatasetSpec(${showSpec(this.elementSpec)})`;
  }
}
defineMethods(DatasetSpec, 'DatasetSpec', { fromValue: { positional: ['value'], objects: ['value'] } });
defineMethods(DatasetSpec.prototype, 'DatasetSpec', specMethods);
isSpecClass(DatasetSpec);

takesArguments<{ readonly elementSpec: ElementSpec | null }>(
  { positional: ['elementSpec'], objects: ['elementSpec'], names: { elementSpec: true } },
  DatasetSpec,
);

/** The spec of rows of a ragged tensor, which are tensors whose first sizes differ: `batch` makes a ragged tensor of them again. */
export class RaggedRowSpec extends TensorSpec {
  readonly rowSplitsDtype: 'int32' | 'int64';

  constructor(shape: PartialShape, dtype: DType, rowSplitsDtype: 'int32' | 'int64') {
    super(shape, dtype);
    this.rowSplitsDtype = rowSplitsDtype;
  }
}

export type LeafSpec = TensorSpec | DatasetSpec;
/** Specs in the structure of elements. A dimension that differs between elements is null. */
export type ElementSpec =
  | LeafSpec
  | CompositeTensor
  | readonly ElementSpec[]
  | { readonly [key: string]: ElementSpec };

/** The elements that specs describe. */
export type ElementOfSpec<E> = E extends TensorSpec
  ? AnyTensor
  : E extends DatasetSpec
    ? Dataset<unknown>
    : { -readonly [K in keyof E]: ElementOfSpec<E[K]> };

const OP = 'Dataset';

/** The specs of leaves in order. */
export function flattenSpec(spec: ElementSpec): LeafSpec[] {
  return tree.leavesOf(spec, OP) as LeafSpec[];
}

/** The same structure with another value for each leaf. */
export function mapSpec<L>(spec: ElementSpec, leaf: (spec: LeafSpec, index: number) => L): unknown {
  return tree.mapLeaves(spec, OP, leaf as (leaf: unknown, index: number) => L);
}

/** `mapSpec` on specs of tensors. @throws InvalidArgumentError for datasets inside of elements. */
export function mapTensorSpec(
  spec: ElementSpec | null,
  what: string,
  leaf: (spec: TensorSpec, index: number) => LeafSpec,
): ElementSpec | null {
  if (spec === null) return null;
  return mapSpec(spec, (s, i) => {
    if (s instanceof TensorSpec) return leaf(s, i);
    throw new InvalidArgumentError(
      'the elements hold datasets (windows); turn them into tensors with flatMap',
      what,
    );
  }) as ElementSpec;
}

/** The spec of one element. */
export function specOf(element: Element): ElementSpec {
  const spec = mapLeaves(element, (leaf) =>
    leaf instanceof Tensor ? new TensorSpec(leaf.shape, leaf.dtype) : new DatasetSpec(leaf.elementSpec),
  );
  return tree.mapLeaves(
    spec,
    OP,
    (leaf) => (isComposite(leaf) ? specOfParts(leaf) : leaf),
    tree.wholeComposites,
  ) as ElementSpec;
}

/** A spec that fits both, or null when structures or dtypes differ. */
export function commonSpec(a: ElementSpec | null, b: ElementSpec | null): ElementSpec | null {
  if (a === null || b === null) return null;
  const common: (LeafSpec | null)[] = [];
  const add = (x: unknown, y: unknown): unknown => common.push(commonLeaf(x as LeafSpec, y));
  tree.forEachPair(a, b, OP, add, () => common.push(null));
  return common.includes(null) ? null : (tree.pack(a, common, OP) as ElementSpec);
}

function commonLeaf(a: LeafSpec, b: unknown): LeafSpec | null {
  if (a instanceof DatasetSpec)
    return b instanceof DatasetSpec ? new DatasetSpec(commonSpec(a.elementSpec, b.elementSpec)) : null;
  if (!(b instanceof TensorSpec) || a.dtype !== b.dtype) return null;
  const shape = commonShape(a.shape, b.shape);
  if (a instanceof RaggedRowSpec && b instanceof RaggedRowSpec && shape !== null)
    return new RaggedRowSpec(shape, a.dtype, a.rowSplitsDtype);
  return new TensorSpec(shape, a.dtype);
}

function commonShape(a: PartialShape | null, b: PartialShape | null): PartialShape | null {
  if (a === null || b === null || a.length !== b.length) return null;
  return a.map((d, i) => (d === b[i] ? d : null));
}

/** Whether two specs are of one structure and of the same dtypes. */
export function sameKind(a: ElementSpec | null, b: ElementSpec | null): boolean {
  return a === null || b === null || commonSpec(a, b) !== null;
}

/** @throws InvalidArgumentError for a state of another structure or dtype than the initial one. */
export function checkState(state: ElementSpec, initial: ElementSpec, what: string): void {
  if (commonSpec(initial, state) === null)
    throw new InvalidArgumentError(
      `the new state is ${showSpec(state)}, the initial one ${showSpec(initial)}`,
      what,
    );
}

/** Whether all leaves are tensors of numbers whose shapes are known: such elements can be stacked without a look at each. */
export function isStatic(spec: ElementSpec | null): spec is ElementSpec {
  return (
    spec !== null &&
    flattenSpec(spec).every(
      (s) => s instanceof TensorSpec && s.dtype !== 'string' && s.shape !== null && !s.shape.includes(null),
    )
  );
}

export function showSpec(spec: ElementSpec | null): string {
  return spec === null ? 'unknown' : tree.showStructure(spec, String);
}

/**
 * The element that a value stands for where its spec is known: numbers take the spec's dtypes, arrays are tuples or values as it says.
 * @throws InvalidArgumentError for another structure, dtype or shape.
 */
export function conform(value: unknown, spec: ElementSpec, what: string): Element {
  const fail = (expected: unknown, why: string): never => {
    throw new InvalidArgumentError(
      `the element does not match ${showSpec(expected as ElementSpec)}: ${why}`,
      what,
    );
  };
  const leaves: Leaf[] = [];
  tree.forEachPair(
    spec,
    value,
    what,
    (s, v) => leaves.push(conformLeaf(v, s as LeafSpec, (why) => fail(s, why))),
    (how, expected, v) => fail(expected, misfit(how, expected, v)),
  );
  return tree.pack(spec, leaves, what) as Element;
}

function misfit(how: tree.Misfit, expected: tree.Container, value: unknown): string {
  if (how.kind === 'missing key') return `'${String(how.key)}' is missing`;
  if (how.kind === 'unknown key') return `its keys are ${tree.keysOf(value as tree.Container).join(', ')}`;
  if (how.kind === 'length') return `it has ${(value as readonly unknown[]).length} parts`;
  return Array.isArray(expected) ? 'it is no array' : 'it is no plain object';
}

function conformLeaf(value: unknown, spec: LeafSpec, fail: (why: string) => never): Leaf {
  if (spec instanceof DatasetSpec) return isDataset(value) ? value : fail('it is no dataset');
  let tensor: Tensor;
  try {
    tensor = toOwnTensor(value instanceof Variable ? value.read() : (value as TensorLike), spec.dtype);
  } catch (error) {
    return fail((error as Error).message);
  }
  if (tensor.dtype !== spec.dtype || (spec.shape !== null && !isCompatible(tensor.shape, spec.shape)))
    fail(`it is ${tensor.dtype} ${showShape(tensor.shape)}`);
  return tensor;
}

/** Zeros, or empty strings: what stands where a tensor of such a spec is not there. */
export function zerosOf(shape: readonly number[], dtype: DType): Tensor {
  return dtype === 'string'
    ? constant(new Array<string>(sizeOf(shape)).fill(''), 'string', { shape })
    : zeros(shape, dtype);
}

/** Whether a leaf is as its spec says. */
export function fits(leaf: Leaf, spec: LeafSpec): boolean {
  if (!(leaf instanceof Tensor)) return spec instanceof DatasetSpec;
  return (
    spec instanceof TensorSpec &&
    leaf.dtype === spec.dtype &&
    (spec.shape === null || isCompatible(leaf.shape, spec.shape))
  );
}
