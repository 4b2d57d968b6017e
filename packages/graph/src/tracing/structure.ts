// Arguments and results of functions: tensors in arrays, maps and plain objects, beside anything else.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import { constant, type PartialShape, Tensor, type TypedArray, Variable } from '@eagre/core';
import {
  aliasTensor,
  checkLevel,
  isComposite,
  isRefusedPromise,
  partialShape,
  tree,
} from '@eagre/core/internal';
import { TensorArray } from '../control/tensor-array.ts';
import { specOfParts } from '../ir/composite-specs.ts';
import { TensorSpec } from '../ir/tensor-spec.ts';
import { isStrings } from './strings.ts';

const OP = 'tf.function';

/** Arguments taken apart. */
export interface Flat<Leaf = Tensor> {
  readonly tensors: Leaf[];
  /** Tells calls apart that need traces of their own. */
  readonly key: string;
}

const ids = new WeakMap<object, number>();
let nextId = 1;

/** A number for each object. */
export function identity(object: object): number {
  let id = ids.get(object);
  if (id === undefined) ids.set(object, (id = nextId++));
  return id;
}

/** What tells keys of maps apart: objects by identity, all else by value. */
function keyOf(key: unknown): string {
  if ((typeof key === 'object' && key !== null) || typeof key === 'function') return `#${identity(key)}`;
  return typeof key === 'string' ? JSON.stringify(key) : hostKey(key);
}

const symbols = new Map<symbol, number>();

/** What tells values apart that are neither strings nor objects. */
function hostKey(v: unknown): string {
  if (Object.is(v, -0)) return '-0';
  if (typeof v !== 'symbol') return `${typeof v === 'bigint' ? 'n' : ''}${String(v)}`;
  let id = symbols.get(v);
  if (id === undefined) symbols.set(v, (id = symbols.size));
  return `@${id}`;
}

const isTypedArray = (v: unknown): v is TypedArray => ArrayBuffer.isView(v) && !(v instanceof DataView);

/**
 * The tensors of a call, in order, and a key of everything else: dtypes and shapes of tensors, values of numbers, strings, tensors of
 * strings and booleans, the identity of variables and other objects. Typed arrays become tensors.
 */
export function flatten(values: readonly unknown[]): Flat {
  const { tensors, key } = flattenShapes(values);
  for (const t of tensors)
    if (t instanceof TensorSpec) throw new InvalidArgumentError(`${t} is no tensor`, OP);
  return { tensors: tensors as Tensor[], key };
}

/** As `flatten`, with specs of known shapes in the places of tensors. */
export function flattenShapes(values: readonly unknown[]): Flat<Tensor | TensorSpec> {
  return takeApart(values, (t) => `${t.dtype}[${t.shape}]`);
}

/** As `flatten`, with a key in which tensors count by dtype and rank alone, and with specs in the places of tensors. */
export function flattenKinds(values: readonly unknown[]): Flat<Tensor | TensorSpec> {
  return takeApart(values, (t) => `${t.dtype}^${t.shape?.length ?? '?'}`);
}

/** As `flattenKinds`, with strings among the tensors, as a trace for a file has them. */
export function flattenForFile(values: readonly unknown[]): Flat<Tensor | TensorSpec> {
  return takeApart(values, (t) => `${t.dtype}[${t.shape}]`, true);
}

// Tensors of more strings count as objects do.
const LISTED = 64;

function takeApart(
  values: readonly unknown[],
  tensorKey: (t: Tensor | TensorSpec) => string,
  withStrings = false,
): Flat<Tensor | TensorSpec> {
  const tensors: (Tensor | TensorSpec)[] = [];
  let key = '';
  let level = 0;
  const field = (item: unknown, k: unknown): void => {
    key += `${keyOf(k)}:`;
    visit(item);
  };
  const visit = (v: unknown): void => {
    if (isStrings(v)) {
      key += `s[${v.shape}]${v.size <= LISTED ? JSON.stringify(v.strings()) : identity(v)}`;
    } else if (v instanceof Tensor || v instanceof TensorSpec) {
      if (withStrings || v.dtype !== 'string') tensors.push(v);
      key += tensorKey(v);
    } else if (v instanceof Variable) key += `v${v.id}`;
    else if (typeof v === 'object' && v !== null) {
      checkLevel(++level, OP);
      if (isTypedArray(v)) visit(constant(v));
      else if (Array.isArray(v)) {
        key += '(';
        for (const item of v) visit(item);
        key += ')';
      } else if (isComposite(v)) {
        key += `${v.facts}<`;
        for (const part of v.parts) visit(part);
        key += '>';
      } else if (tree.isContainer(v)) {
        key += v instanceof Map ? 'm{' : '{';
        tree.forEachItem(v, field);
        key += '}';
      } else key += `#${identity(v)}`;
      level--;
    } else if (typeof v === 'function') key += `#${identity(v)}`;
    else if (typeof v === 'string') key += JSON.stringify(v);
    else key += hostKey(v);
    key += ',';
  };
  for (const v of values) visit(v);
  return { tensors, key };
}

/** Whether there is a spec of strings in a structure. */
export function holdsStringSpec(value: unknown): boolean {
  return tree.leavesOf(value, OP).some((leaf) => leaf instanceof TensorSpec && leaf.dtype === 'string');
}

/** What calls are told apart by, for people: `argument 1.x` → `float32 [2, 3]`. */
export function describeArguments(values: readonly unknown[]): Map<string, string> {
  const found = new Map<string, string>();
  values.forEach((value, i) => {
    tree.forEachLeaf(value, OP, (leaf, path) =>
      found.set(`argument ${i}${tree.showPath(path)}`, describeLeaf(leaf)),
    );
  });
  return found;
}

function describeLeaf(v: unknown): string {
  if (isStrings(v)) return `strings ${String(v)}`;
  if (v instanceof Tensor) return `${v.dtype} [${v.shape}]`;
  if (v instanceof TensorSpec) return String(v);
  if (typeof v === 'function') return `function ${v.name} (object ${identity(v)})`;
  if (typeof v === 'string') return JSON.stringify(v);
  if (typeof v !== 'object' || v === null) return String(v);
  if (v instanceof Variable) return `the variable '${v.path}'`;
  if (isTypedArray(v)) return `${v.constructor.name} of ${v.length}`;
  return `a ${v.constructor.name} (object ${identity(v)})`;
}

/** A TensorArray among results: one tensor in the graph. */
class ReturnedArray {
  readonly array: TensorArray;
  constructor(array: TensorArray) {
    this.array = array;
  }
}

/** Makes a structure anew, with these in the places of its tensors. */
export type Rebuild = (leaves: readonly unknown[]) => unknown;

/**
 * What makes the same structure with other leaves in the place of each tensor (spec, typed array), in their order.
 * @param at where the leaf for each place stands among those given; in the same order by default.
 * @param withStrings whether specs of strings are such places too.
 */
export function rebuilder(value: unknown, at?: readonly number[], withStrings = false): Rebuild {
  let next = 0;
  const place = (): number => {
    const i = next++;
    return at === undefined ? i : (at[i] as number);
  };
  const visit = (v: unknown): Rebuild => {
    if (isStrings(v)) return () => aliasTensor(v, v.shape);
    if (!withStrings && v instanceof TensorSpec && v.dtype === 'string') return () => v;
    if (v instanceof Tensor || v instanceof TensorSpec || isTypedArray(v)) {
      const i = place();
      return (leaves) => leaves[i];
    }
    if (v instanceof ReturnedArray) {
      const i = place();
      return (leaves) => v.array.withRows(leaves[i] as Tensor);
    }
    if (!tree.isContainer(v)) return () => v;
    if (isComposite(v)) {
      const parts = v.parts.map(visit);
      return (leaves) => v.withParts(parts.map((part) => part(leaves)));
    }
    // Functions for its items: what is made once is done at each call.
    const parts = tree.mapItems(v, visit) as tree.Container<Rebuild>;
    if (Array.isArray(parts)) {
      const items = parts as readonly Rebuild[];
      return (leaves) => {
        const made = new Array<unknown>(items.length);
        for (let i = 0; i < items.length; i++) made[i] = (items[i] as Rebuild)(leaves);
        return made;
      };
    }
    if (parts instanceof Map) {
      const items = [...(parts as ReadonlyMap<unknown, Rebuild>)];
      return (leaves) => new Map(items.map(([key, item]) => [key, item(leaves)]));
    }
    const items = Object.entries(parts as Readonly<Record<string, Rebuild>>);
    return (leaves) => Object.fromEntries(items.map(([key, item]) => [key, item(leaves)]));
  };
  return visit(value);
}

/** What `results` has found, with a spec in the place of each tensor; null for sizes that are not known. */
export function specsOf(
  structure: unknown,
  outputs: readonly { readonly dtype: DType; readonly shape: PartialShape }[],
): unknown {
  let next = 0;
  const specs = tree.mapLeaves(structure, OP, (v) => {
    if (isStrings(v)) return TensorSpec.fromTensor(v);
    if (!(v instanceof ReturnedArray || v instanceof Tensor)) return v;
    const { dtype, shape } = outputs[next++] as { readonly dtype: DType; readonly shape: PartialShape };
    return new TensorSpec(partialShape(shape), dtype);
  });
  return tree.mapLeaves(specs, OP, (v) => (isComposite(v) ? specOfParts(v) : v), tree.wholeComposites);
}

/**
 * The tensors that a function returned, with variables read.
 * @param inGraph what stands for strings that are known, where they are among the tensors.
 * @throws InvalidArgumentError for a promise.
 */
export function results(
  value: unknown,
  inGraph?: (strings: Tensor) => Tensor,
): { readonly tensors: Tensor[]; readonly structure: unknown } {
  if (isRefusedPromise(value)) {
    throw new InvalidArgumentError(
      'a traced function must not be async: its code runs once, and its runs do not wait for promises',
      OP,
    );
  }
  const tensors: Tensor[] = [];
  const reads = new Map<Variable, Tensor>();
  const read = (v: Variable): Tensor => {
    let t = reads.get(v);
    if (t === undefined) reads.set(v, (t = v.read()));
    return t;
  };
  const structure = tree.mapLeaves(value, OP, (v) => {
    if (inGraph === undefined && isStrings(v)) return v;
    if (v instanceof Tensor || v instanceof Variable) {
      const t = v instanceof Variable ? read(v) : inGraph !== undefined && isStrings(v) ? inGraph(v) : v;
      tensors.push(t);
      return t;
    }
    if (!(v instanceof TensorArray)) return v;
    const rows = v.dense();
    if (rows === null) return v;
    tensors.push(rows);
    return new ReturnedArray(v);
  });
  return { structure, tensors };
}
