// Dtypes and shapes of elements, in their structure.
import { InvalidArgumentError } from '@eagre/backend';
import { type PartialShape, Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  isCompatible,
  isPlain,
  showShape,
  takesArguments,
  toOwnTensor,
} from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import type { Dataset } from '../dataset.ts';
import { type Element, isDataset, type Leaf } from './structure.ts';

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

  toString(): string {
    return `DatasetSpec(${showSpec(this.elementSpec)})`;
  }
}

takesArguments<{ readonly elementSpec: ElementSpec | null }>(
  { positional: ['elementSpec'], objects: ['elementSpec'], names: { elementSpec: true } },
  DatasetSpec,
);

export type LeafSpec = TensorSpec | DatasetSpec;
/** Specs in the structure of elements. A dimension that differs between elements is null. */
export type ElementSpec = LeafSpec | readonly ElementSpec[] | { readonly [key: string]: ElementSpec };

/** The elements that specs describe. */
export type ElementOfSpec<E> = E extends TensorSpec
  ? Tensor
  : E extends DatasetSpec
    ? Dataset<unknown>
    : { -readonly [K in keyof E]: ElementOfSpec<E[K]> };

const isLeafSpec = (spec: ElementSpec): spec is LeafSpec =>
  spec instanceof TensorSpec || spec instanceof DatasetSpec;

/** The specs of leaves in order. */
export function flattenSpec(spec: ElementSpec, into: LeafSpec[] = []): LeafSpec[] {
  if (isLeafSpec(spec)) into.push(spec);
  else for (const item of Object.values(spec)) flattenSpec(item as ElementSpec, into);
  return into;
}

/** The same structure with another value for each leaf. */
export function mapSpec<L>(spec: ElementSpec, leaf: (spec: LeafSpec, index: number) => L): unknown {
  let next = 0;
  const visit = (s: ElementSpec): unknown => {
    if (isLeafSpec(s)) return leaf(s, next++);
    if (Array.isArray(s)) return (s as readonly ElementSpec[]).map(visit);
    return Object.fromEntries(Object.entries(s).map(([k, v]) => [k, visit(v as ElementSpec)]));
  };
  return visit(spec);
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
      'the elements hold datasets (windows); make tensors of them by flatMap',
      what,
    );
  }) as ElementSpec;
}

/** The spec of one element. */
export function specOf(element: Element): ElementSpec {
  if (element instanceof Tensor) return new TensorSpec(element.shape, element.dtype);
  if (isDataset(element)) return new DatasetSpec(element.elementSpec);
  if (Array.isArray(element)) return (element as readonly Element[]).map(specOf);
  return Object.fromEntries(Object.entries(element).map(([k, v]) => [k, specOf(v as Element)]));
}

/** A spec that fits both, or null when structures or dtypes differ. */
export function commonSpec(a: ElementSpec | null, b: ElementSpec | null): ElementSpec | null {
  if (a === null || b === null) return null;
  if (a instanceof TensorSpec) {
    if (!(b instanceof TensorSpec) || a.dtype !== b.dtype) return null;
    return new TensorSpec(commonShape(a.shape, b.shape), a.dtype);
  }
  if (a instanceof DatasetSpec)
    return b instanceof DatasetSpec ? new DatasetSpec(commonSpec(a.elementSpec, b.elementSpec)) : null;
  if (isLeafSpec(b) || Array.isArray(a) !== Array.isArray(b)) return null;
  const [x, y] = [Object.entries(a), b as Readonly<Record<string, ElementSpec>>];
  if (x.length !== Object.keys(y).length || x.some(([k]) => !Object.hasOwn(y, k))) return null;
  const items = x.map(([k, item]) => [k, commonSpec(item as ElementSpec, y[k] as ElementSpec)] as const);
  if (items.some(([, item]) => item === null)) return null;
  return (Array.isArray(a) ? items.map(([, item]) => item) : Object.fromEntries(items)) as ElementSpec;
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
  if (spec === null) return 'unknown';
  if (isLeafSpec(spec)) return String(spec);
  if (Array.isArray(spec)) return `[${(spec as readonly ElementSpec[]).map(showSpec).join(', ')}]`;
  return `{ ${Object.entries(spec)
    .map(([k, v]) => `${k}: ${showSpec(v as ElementSpec)}`)
    .join(', ')} }`;
}

/**
 * The element that a value stands for where its spec is known: numbers take the spec's dtypes, arrays are tuples or values as it says.
 * @throws InvalidArgumentError for another structure, dtype or shape.
 */
export function conform(value: unknown, spec: ElementSpec, what: string): Element {
  const fail = (expected: ElementSpec, why: string): never => {
    throw new InvalidArgumentError(`the element does not fit ${showSpec(expected)}: ${why}`, what);
  };
  const visit = (v: unknown, s: ElementSpec): Element => {
    if (s instanceof TensorSpec) {
      let tensor: Tensor;
      try {
        tensor = toOwnTensor(v instanceof Variable ? v.read() : (v as TensorLike), s.dtype);
      } catch (error) {
        return fail(s, (error as Error).message);
      }
      if (tensor.dtype !== s.dtype || (s.shape !== null && !isCompatible(tensor.shape, s.shape)))
        fail(s, `it is ${tensor.dtype} ${showShape(tensor.shape)}`);
      return tensor;
    }
    if (s instanceof DatasetSpec) return isDataset(v) ? v : fail(s, 'it is no dataset');
    if (Array.isArray(s)) {
      if (!Array.isArray(v) || v.length !== s.length)
        return fail(s, Array.isArray(v) ? `it has ${v.length} parts` : 'it is no array');
      return (s as readonly ElementSpec[]).map((item, i) => visit(v[i], item));
    }
    if (!isPlain(v)) return fail(s, 'it is no plain object');
    const entries = Object.entries(s as Readonly<Record<string, ElementSpec>>);
    for (const [k] of entries) if (!Object.hasOwn(v, k)) fail(s, `'${k}' is missing`);
    if (Object.keys(v).length !== entries.length) fail(s, `its keys are ${Object.keys(v).join(', ')}`);
    return Object.fromEntries(entries.map(([k, item]) => [k, visit(v[k], item)]));
  };
  return visit(value, spec);
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
