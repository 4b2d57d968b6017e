// Structures of loop variables and of what branches return: tensors and TensorArrays in arrays, maps and plain objects.
import { InvalidArgumentError, type TypedArray } from '@eagre/backend';
import { type Scalar, Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  checkLevel,
  isPlain,
  isRefusedPromise,
  sameShape,
  showShape,
  toOwnTensor,
} from '@eagre/core/internal';
import { TensorArray } from './tensor-array.ts';

/** What a structure may hold for a tensor. */
type Value = Tensor | Variable | Scalar | TypedArray;

/** The structure of `S` with a tensor in the place of each value. */
export type Tensors<S> = S extends Value
  ? Tensor
  : S extends TensorArray | null | undefined | void
    ? S
    : S extends ReadonlyMap<infer K, infer T>
      ? Map<K, Tensors<T>>
      : { -readonly [K in keyof S]: Tensors<S[K]> };
/** The same for a list of arguments. */
export type TensorsOf<V extends readonly unknown[]> = { -readonly [K in keyof V]: Tensors<V[K]> };
/** What may stand where tensors are expected: bare numbers and variables as well. */
export type Values<S> = S extends Tensor
  ? Value
  : S extends TensorArray | null | undefined | void
    ? S
    : S extends ReadonlyMap<infer K, infer T>
      ? ReadonlyMap<K, Values<T>>
      : { readonly [K in keyof S]: Values<S[K]> };

/** A structure without what is in it. Entries are in the order of their keys. */
type Tree =
  | 'leaf'
  | null
  | { readonly kind: 'list'; readonly items: readonly Tree[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [key: string, item: Tree])[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [key: unknown, item: Tree])[] };

export type Leaf = Tensor | TensorArray;

/** A structure taken apart. */
export interface Nest {
  readonly tree: Tree;
  readonly leaves: readonly Leaf[];
}

const compareKeys = ([a]: readonly [unknown, unknown], [b]: readonly [unknown, unknown]): number => {
  const [x, y] = [`${typeof a} ${String(a)}`, `${typeof b} ${String(b)}`];
  return x < y ? -1 : x > y ? 1 : 0;
};

/**
 * Takes a structure apart; numbers, variables and typed arrays become tensors.
 * @param like tensors in the same places, whose dtypes bare numbers take.
 * @throws InvalidArgumentError for what can be in no structure.
 */
export function flatten(value: unknown, op: string, like: readonly Leaf[] = []): Nest {
  const leaves: Leaf[] = [];
  const convert = (v: Value): Tensor => toOwnTensor(v as TensorLike, like[leaves.length]?.dtype);
  const visit = (v: unknown, level: number): Tree => {
    if (v === null || v === undefined) return null;
    if (v instanceof TensorArray || isValue(v)) {
      leaves.push(v instanceof TensorArray ? v : convert(v));
      return 'leaf';
    }
    checkLevel(level, op);
    const inside = (item: unknown): Tree => visit(item, level + 1);
    if (Array.isArray(v)) return { kind: 'list', items: v.map(inside) };
    if (v instanceof Map)
      return {
        kind: 'map',
        entries: [...v].sort(compareKeys).map(([k, item]) => [k, inside(item)] as const),
      };
    if (isPlain(v)) {
      const entries = Object.entries(v).sort(compareKeys);
      return { kind: 'object', entries: entries.map(([k, item]) => [k, inside(item)] as const) };
    }
    throw new InvalidArgumentError(refusal(v), op);
  };
  return { tree: visit(value, 0), leaves };
}

function isValue(v: unknown): v is Value {
  return (
    v instanceof Tensor ||
    v instanceof Variable ||
    typeof v === 'number' ||
    typeof v === 'boolean' ||
    typeof v === 'bigint' ||
    typeof v === 'string' ||
    (ArrayBuffer.isView(v) && !(v instanceof DataView))
  );
}

function refusal(v: unknown): string {
  if (isRefusedPromise(v))
    return 'a function returned a promise: the bodies of control flow must not be async';
  const what = typeof v === 'object' && v !== null ? `an object of class ${v.constructor.name}` : typeof v;
  return `${what} is no part of a structure: expected tensors, numbers, variables and TensorArrays in arrays, maps and plain objects`;
}

/** The structure again, with other leaves. */
export function pack({ tree }: Pick<Nest, 'tree'>, leaves: readonly Leaf[]): unknown {
  let next = 0;
  const visit = (t: Tree): unknown => {
    if (t === null) return undefined;
    if (t === 'leaf') return leaves[next++];
    if (t.kind === 'list') return t.items.map(visit);
    if (t.kind === 'map') return new Map(t.entries.map(([k, item]) => [k, visit(item)]));
    return Object.fromEntries(t.entries.map(([k, item]) => [k, visit(item)]));
  };
  return visit(tree);
}

/** Why two structures are not the same; null if they are. */
export function difference(a: Nest, b: Nest): string | null {
  let next = 0;
  const leaf = (where: string): string | null => {
    const at = next++;
    return leafDifference(a.leaves[at] as Leaf, b.leaves[at] as Leaf, where);
  };
  const entries = (
    s: readonly (readonly [unknown, Tree])[],
    t: readonly (readonly [unknown, Tree])[],
    where: string,
  ): string | null => {
    const keys = (list: readonly (readonly [unknown, Tree])[]): string =>
      list.map(([k]) => String(k)).join(', ');
    if (s.length !== t.length || s.some(([k], i) => k !== t[i]?.[0]))
      return `${where} has the keys ${keys(s)} and the keys ${keys(t)}`;
    for (const [i, [k, item]] of s.entries()) {
      const found = visit(item, t[i]?.[1] as Tree, `${where}.${String(k)}`);
      if (found !== null) return found;
    }
    return null;
  };
  const visit = (s: Tree, t: Tree, where: string): string | null => {
    if (s === null || t === null) return s === t ? null : `${where} is ${kindOf(s)} and ${kindOf(t)}`;
    if (s === 'leaf' || t === 'leaf') {
      if (s !== t) return `${where} is ${kindOf(s)} and ${kindOf(t)}`;
      return leaf(where);
    }
    if (s.kind === 'list' && t.kind === 'list') {
      if (s.items.length !== t.items.length)
        return `${where} has ${s.items.length} and ${t.items.length} items`;
      for (let i = 0; i < s.items.length; i++) {
        const [item, other] = [s.items[i] as Tree, t.items[i] as Tree];
        // What says where it is takes longer than the comparison.
        if (
          item === 'leaf' &&
          other === 'leaf' &&
          leavesAgree(a.leaves[next] as Leaf, b.leaves[next] as Leaf)
        ) {
          next++;
          continue;
        }
        const found = visit(item, other, `${where}[${i}]`);
        if (found !== null) return found;
      }
      return null;
    }
    if (s.kind === 'list' || t.kind === 'list' || s.kind !== t.kind)
      return `${where} is ${kindOf(s)} and ${kindOf(t)}`;
    return entries(s.entries, t.entries, where);
  };
  return visit(a.tree, b.tree, 'the value');
}

function kindOf(tree: Tree): string {
  if (tree === null) return 'nothing';
  if (tree === 'leaf') return 'a tensor';
  return { list: 'an array', map: 'a map', object: 'an object' }[tree.kind];
}

function leavesAgree(a: Leaf, b: Leaf): boolean {
  return a instanceof Tensor && b instanceof Tensor && a.dtype === b.dtype && sameShape(a.shape, b.shape);
}

function leafDifference(a: Leaf, b: Leaf, where: string): string | null {
  if (a instanceof TensorArray && b instanceof TensorArray) return a.differs(b, where);
  if (a instanceof TensorArray || b instanceof TensorArray)
    return `${where} is ${a instanceof TensorArray ? 'a TensorArray and a tensor' : 'a tensor and a TensorArray'}`;
  if (a.dtype !== b.dtype) return `${where} is ${a.dtype} and ${b.dtype}`;
  return sameShape(a.shape, b.shape)
    ? null
    : `${where} has the shapes ${showShape(a.shape)} and ${showShape(b.shape)}`;
}

/** A structure with dtypes and shapes, for messages: `[float32 [2], { n: int32 [] }]`. */
export function describe({ tree, leaves }: Nest): string {
  let next = 0;
  const leaf = (l: Leaf): string =>
    l instanceof TensorArray ? l.toString() : `${l.dtype} ${showShape(l.shape)}`;
  const visit = (t: Tree): string => {
    if (t === null) return 'nothing';
    if (t === 'leaf') return leaf(leaves[next++] as Leaf);
    if (t.kind === 'list') return `[${t.items.map(visit).join(', ')}]`;
    const inside = t.entries.map(([k, item]) => `${String(k)}: ${visit(item)}`).join(', ');
    return t.kind === 'map' ? `Map { ${inside} }` : `{ ${inside} }`;
  };
  return visit(tree);
}

/** Thrown through a trace that has found the element shape of a TensorArray: it has to start again. */
export class ShapeFound extends Error {
  override readonly name: string = 'ShapeFound';
}

/** The tensors that stand for a structure in a graph. A TensorArray whose element shape is not known yet has none. */
export function toGraph({ leaves }: Nest): Tensor[] {
  return leaves.flatMap((l) => (l instanceof TensorArray ? (l.dense() ?? []) : [l]));
}

/** The leaves of a structure with the tensors that stand for them now. `known[i]`: whether leaf i has a tensor. */
export function fromGraph(
  { leaves }: Nest,
  known: readonly boolean[],
  tensors: readonly Tensor[],
): readonly Leaf[] {
  let next = 0;
  return leaves.map((l, i) => {
    if (l instanceof TensorArray)
      return known[i] === true ? l.withRows(tensors[next++] as Tensor) : l.emptied();
    return tensors[next++] as Tensor;
  });
}

/** For each leaf, whether there is a tensor for it in a graph. */
export function inGraph({ leaves }: Nest): boolean[] {
  return leaves.map((l) => !(l instanceof TensorArray) || l.hasShape());
}

/**
 * Lets TensorArrays in the same places have one element shape.
 * @throws ShapeFound if an array whose shape was not known, when the trace began, has one now.
 */
export function unifyArrays(before: Nest, known: readonly boolean[], after: Nest): void {
  let found = false;
  before.leaves.forEach((l, i) => {
    const other = after.leaves[i];
    if (!(l instanceof TensorArray) || !(other instanceof TensorArray)) return;
    if (!l.hasShape()) l.takeShape(other);
    else if (!other.hasShape()) other.takeShape(l);
    found ||= known[i] === false && l.hasShape();
  });
  if (found) throw new ShapeFound('the element shape of a TensorArray was found');
}
