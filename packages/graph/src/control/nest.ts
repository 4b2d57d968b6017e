// Structures of loop variables and of what branches return: tensors and TensorArrays in arrays, maps and plain objects.
import { InvalidArgumentError, type TypedArray } from '@eagre/backend';
import { isTensor, type Scalar, type Shape, Tensor, type TensorLike, Variable } from '@eagre/core';
import { isRefusedPromise, sameShape, showShape, toOwnTensor, tree } from '@eagre/core/internal';
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

/** What stands in a tree for each leaf. */
const LEAF: unique symbol = Symbol('leaf');

export type Leaf = Tensor | TensorArray;

/** A structure taken apart. */
export interface Nest {
  /** The structure with `LEAF` in the place of each leaf, and undefined for nothing. */
  readonly tree: unknown;
  readonly leaves: readonly Leaf[];
}

/**
 * Takes a structure apart; numbers, variables and typed arrays become tensors.
 * @param like tensors in the same places, whose dtypes bare numbers take.
 * @throws InvalidArgumentError for what can be in no structure.
 */
export function flatten(value: unknown, op: string, like: readonly Leaf[] = []): Nest {
  // What nearly every branch and body returns is not walked: a tensor, or a list of them.
  if (value instanceof Tensor) return { tree: LEAF, leaves: [toOwnTensor(value)] };
  if (Array.isArray(value) && value.length > 0 && value.length < LISTS.length && value.every(isTensor))
    return { tree: LISTS[value.length], leaves: value.map((v) => toOwnTensor(v)) };
  const leaves: Leaf[] = [];
  const convert = (v: Value): Tensor => toOwnTensor(v as TensorLike, like[leaves.length]?.dtype);
  const empty = tree.mapLeaves(value, op, (v) => {
    if (v === null || v === undefined) return undefined;
    if (!(v instanceof TensorArray || isValue(v))) throw new InvalidArgumentError(refusal(v), op);
    leaves.push(v instanceof TensorArray ? v : convert(v));
    return LEAF;
  });
  return { tree: empty, leaves };
}

/** The structures of short lists of tensors, by their length. */
const LISTS: readonly (readonly (typeof LEAF)[])[] = Array.from({ length: 16 }, (_, n) =>
  Array<typeof LEAF>(n).fill(LEAF),
);

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

/** Whether a structure is a list of leaves, as most are. */
function isList(structure: unknown): boolean {
  if (!Array.isArray(structure)) return false;
  for (let i = 0; i < structure.length; i++) if (structure[i] !== LEAF) return false;
  return true;
}

/** The structure again, with other leaves. */
export function pack(nest: Pick<Nest, 'tree'>, leaves: readonly Leaf[]): unknown {
  if (nest.tree === LEAF) return leaves[0];
  if (isList(nest.tree)) return [...leaves];
  let next = 0;
  return tree.mapLeaves(nest.tree, OP, (leaf) => (leaf === LEAF ? leaves[next++] : undefined));
}
// Structures that have been taken apart once do not hold themselves.
const OP = 'nest';

/** Whether two shapes may stand for each other; `at` counts the tensors of the structure. */
export type Agree = (a: Shape, b: Shape, at: number) => boolean;

/** Why two structures are not the same; null if they are. */
export function difference(a: Nest, b: Nest, agree: Agree = sameShape): string | null {
  if (areListsAlike(a, b, agree)) return null;
  let next = 0;
  let found: string | null = null;
  const at = (path: tree.Path): string => `the value${tree.showPath(path)}`;
  tree.forEachPair(
    a.tree,
    b.tree,
    OP,
    (s, t, path) => {
      if (found !== null) return;
      if (s !== t) found = `${at(path)} is ${kindOf(s)} and ${kindOf(t)}`;
      else if (s === LEAF) {
        const i = next++;
        const [x, y] = [a.leaves[i], b.leaves[i]];
        const alike = (s: Shape, t: Shape): boolean => agree(s, t, i);
        if (!leavesAgree(x, y, alike)) found = leafDifference(x, y, at(path), alike);
      }
    },
    (how, s, t, path) => {
      found ??= `${at(path)} ${structureDifference(how, s, t)}`;
    },
  );
  return found;
}

/**
 * What a structure like another one holds in the places of its tensors; undefined where it has nothing.
 * @param what it is, for errors.
 * @throws InvalidArgumentError where it is no structure like it.
 */
export function inPlaces(nest: Nest, like: unknown, what: string, op: string): readonly unknown[] {
  const found: unknown[] = [];
  const add = (leaf: unknown, value: unknown): void => {
    if (leaf === LEAF) found.push(value ?? undefined);
  };
  tree.forEachPair(nest.tree, like, op, add, (how, s, t, path) => {
    if (t !== undefined && t !== null)
      throw new InvalidArgumentError(
        `${what} must match the variables, but ${what}${tree.showPath(path)} ${structureDifference(how, s, t)}`,
        op,
      );
    for (const leaf of tree.leavesOf(s, op)) add(leaf, undefined);
  });
  return found;
}

/** Whether two structures are lists of tensors and no more, which most are, and agree. */
function areListsAlike(a: Nest, b: Nest, agree: Agree): boolean {
  if (!isList(a.tree) || !isList(b.tree) || a.leaves.length !== b.leaves.length) return false;
  for (let i = 0; i < a.leaves.length; i++) {
    const x = a.leaves[i];
    const y = b.leaves[i];
    if (!(x instanceof Tensor && y instanceof Tensor) || x.dtype !== y.dtype || !agree(x.shape, y.shape, i))
      return false;
  }
  return true;
}

function structureDifference({ kind }: tree.Misfit, s: tree.Container, t: unknown): string {
  if (kind === 'type') return `is ${kindOf(s)} and ${kindOf(t)}`;
  if (kind === 'length')
    return `has ${(s as readonly unknown[]).length} and ${(t as readonly unknown[]).length} items`;
  const keys = (of: tree.Container): string => tree.sortKeys(tree.keysOf(of)).map(String).join(', ');
  return `has the keys ${keys(s)} and the keys ${keys(t as tree.Container)}`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  return value === LEAF ? 'a tensor' : tree.containerName(value as tree.Container);
}

type Alike = (a: Shape, b: Shape) => boolean;

function leavesAgree(a: Leaf, b: Leaf, alike: Alike): boolean {
  return a instanceof Tensor && b instanceof Tensor && a.dtype === b.dtype && alike(a.shape, b.shape);
}

function leafDifference(a: Leaf, b: Leaf, where: string, alike: Alike): string | null {
  if (a instanceof TensorArray && b instanceof TensorArray) return a.differs(b, where);
  if (a instanceof TensorArray || b instanceof TensorArray)
    return `${where} is ${a instanceof TensorArray ? 'a TensorArray and a tensor' : 'a tensor and a TensorArray'}`;
  if (a.dtype !== b.dtype) return `${where} is ${a.dtype} and ${b.dtype}`;
  return alike(a.shape, b.shape)
    ? null
    : `${where} has the shapes ${showShape(a.shape)} and ${showShape(b.shape)}`;
}

/** A structure with dtypes and shapes, for messages: `[float32 [2], { n: int32 [] }]`. */
export function describe(nest: Nest): string {
  return tree.showStructure(pack(nest, nest.leaves), (leaf) => {
    if (leaf === undefined) return 'nothing';
    return leaf instanceof Tensor ? `${leaf.dtype} ${showShape(leaf.shape)}` : String(leaf);
  });
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
    if (l instanceof TensorArray) return known[i] === true ? l.withRows(tensors[next++]) : l.emptied();
    return tensors[next++];
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

/**
 * Notes the places of TensorArrays that the body of a loop makes longer.
 * @throws ShapeFound for one that was not `open` to that when the trace began.
 */
export function growArrays(before: Nest, after: Nest, open: Set<number>): void {
  const known = open.size;
  before.leaves.forEach((l, i) => {
    const other = after.leaves[i];
    if (l instanceof TensorArray && other instanceof TensorArray && other.hasGrown(l)) open.add(i);
  });
  if (open.size > known) throw new ShapeFound('a TensorArray becomes longer');
}
