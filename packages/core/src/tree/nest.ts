// `tf.nest`: structures of anything, in arrays, maps and plain objects.
import { InvalidArgumentError } from '@eagre/backend';
import {
  asIs,
  defineFunction,
  defineVariadic,
  type NamedFunction,
  structure,
} from '../arguments/arguments.ts';
import { checkFunction, checkLevel, shown } from '../arguments/checks.ts';
import type { CompositeTensor } from '../composite/composite.ts';
import { checkFlag, checkList } from '../shapes/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import {
  containerName,
  forEachItem,
  forEachPair,
  type IsLeaf,
  isContainer,
  leavesOf,
  type Misfit,
  mapLeaves,
  type Path,
  pack,
  showPath,
  wholeComposites,
} from './tree.ts';

type AnyFunction = (...args: never) => unknown;

/** What is looked into: no functions, no ragged or sparse tensors, and no objects of classes, which are told by their methods. */
type IsPlain<S> = S extends AnyFunction | CompositeTensor
  ? false
  : S extends Readonly<Record<string, unknown>>
    ? true
    : S extends object
      ? Extract<S[keyof S], AnyFunction> extends never
        ? true
        : false
      : false;

/** What stands in structures of a type, beneath arrays, maps and plain objects. */
export type LeafOf<S> = 0 extends 1 & S
  ? S
  : S extends readonly (infer T)[]
    ? LeafOf<T>
    : S extends ReadonlyMap<unknown, infer T>
      ? LeafOf<T>
      : IsPlain<S> extends true
        ? LeafOf<S[keyof S]>
        : S;

/** The structure `S` with an `R` in the place of each leaf. */
export type StructureOf<S, R> = 0 extends 1 & S
  ? S
  : unknown extends S
    ? unknown
    : S extends readonly unknown[]
      ? { -readonly [K in keyof S]: StructureOf<S[K], R> }
      : S extends ReadonlyMap<infer K, infer T>
        ? Map<K, StructureOf<T, R>>
        : IsPlain<S> extends true
          ? { -readonly [K in keyof S]: StructureOf<S[K], R> }
          : R;

/** What stands in `V` where the shallower structure `S` has leaves. */
export type LeafUpTo<S, V> = S extends readonly (infer T)[]
  ? V extends readonly (infer U)[]
    ? LeafUpTo<T, U>
    : unknown
  : S extends ReadonlyMap<unknown, infer T>
    ? V extends ReadonlyMap<unknown, infer U>
      ? LeafUpTo<T, U>
      : unknown
    : IsPlain<S> extends true
      ? { [K in keyof S]: K extends keyof V ? LeafUpTo<S[K], V[K]> : unknown }[keyof S]
      : V;

type LeavesOf<L extends readonly unknown[]> = { [K in keyof L]: LeafOf<L[K]> };
type LeavesUpTo<S, L extends readonly unknown[]> = { [K in keyof L]: LeafUpTo<S, L[K]> };

/** The tensors of what is made of several, and anything else as it is. */
export type PartOf<L> = L extends CompositeTensor ? Tensor : L;
type PartsOf<L extends readonly unknown[]> = { [K in keyof L]: PartOf<LeafOf<L[K]>> };

/** Options of functions that look for leaves. */
export interface CompositeOptions {
  /** Whether ragged tensors, sparse tensors and slices are looked into: their tensors are leaves then. False unless given. */
  readonly expandComposites?: boolean;
}
interface Expanded {
  /** Sparse and ragged tensors are taken apart into their tensors. */
  readonly expandComposites: true;
}

/** How structures are compared in `tf.nest`. */
export interface NestOptions extends CompositeOptions {
  /** Whether arrays, maps and objects are told apart, and their keys; without, the leaves at the same places count. True unless given. */
  readonly checkTypes?: boolean;
}

/** Whether a value is an array, a map or a plain object. */
export const isNested: NamedFunction<[structure: unknown], ['structure'], unknown, boolean> = defineFunction(
  'nest.isNested',
  { structure },
  {},
  (value) => isContainer(value) && !wholeComposites(value),
);

/**
 * The leaves of a structure: items of arrays from front to back, those of objects and maps by key. A value that is no array, map or plain
 * object is the one leaf of itself.
 *
 *     tf.nest.flatten({ b: 3, a: [1, 2] })      // [1, 2, 3]
 *
 * @throws InvalidArgumentError for a structure that holds itself.
 */
export const flatten: {
  <S>(structure: S, options: Expanded): PartOf<LeafOf<S>>[];
  <S>(
    options: {
      /** Values in lists, maps and plain objects. */
      readonly structure: S;
    } & Expanded,
  ): PartOf<LeafOf<S>>[];
  <S>(structure: S, options?: CompositeOptions): LeafOf<S>[];
  <S>(
    options: {
      /** Values in lists, maps and plain objects. */
      readonly structure: S;
    } & CompositeOptions,
  ): LeafOf<S>[];
} = defineFunction<NamedFunction<[structure: unknown], ['structure'], CompositeOptions, unknown>>(
  'nest.flatten',
  { structure },
  { expandComposites: asIs },
  (value, options) => leavesOf(value, 'nest.flatten', leafIn(options, 'nest.flatten')),
) as never;

/** What counts as a leaf beside all that is no container. */
function leafIn({ expandComposites }: CompositeOptions, op: string): IsLeaf | undefined {
  return checkFlag(expandComposites, 'expandComposites', op) ? undefined : wholeComposites;
}

/**
 * A structure like `structure` with the values of a list as its leaves, in the order of `flatten`.
 *
 *     tf.nest.packSequenceAs({ b: 0, a: [0, 0] }, [1, 2, 3])      // { b: 3, a: [1, 2] }
 *
 * @throws InvalidArgumentError for a list of another length.
 */
export const packSequenceAs: {
  <S>(structure: S, flatSequence: readonly unknown[], options: Expanded): S;
  <S>(
    options: {
      /** The form of the result. */
      readonly structure: S;
      /** The new values, in order. */
      readonly flatSequence: readonly unknown[];
    } & Expanded,
  ): S;
  <S, T>(structure: S, flatSequence: readonly T[], options?: CompositeOptions): StructureOf<S, T>;
  <S, T>(
    options: {
      /** The form of the result. */
      readonly structure: S;
      /** The new values, in order. */
      readonly flatSequence: readonly T[];
    } & CompositeOptions,
  ): StructureOf<S, T>;
} = defineFunction<
  NamedFunction<
    [structure: unknown, flatSequence: readonly unknown[]],
    ['structure', 'flatSequence'],
    CompositeOptions,
    unknown
  >
>(
  'nest.packSequenceAs',
  { structure, flatSequence: asIs },
  { expandComposites: asIs },
  (value, flatSequence, options) => {
    const op = 'nest.packSequenceAs';
    checkList(flatSequence, 'flatSequence', op);
    const isLeaf = leafIn(options, op);
    const { length } = leavesOf(value, op, isLeaf);
    if (flatSequence.length !== length)
      throw new InvalidArgumentError(
        `the structure has ${length} leaves, but flatSequence has ${flatSequence.length} values`,
        op,
      );
    return pack(value, flatSequence, op, isLeaf);
  },
) as never;

/**
 * Calls `func` with each leaf of a structure, or with the leaves at each place of several, and gives a structure of the results.
 *
 *     tf.nest.mapStructure((x) => x.mul(2), { a, b: [c] })        // { a: Tensor, b: Tensor[] }
 *     tf.nest.mapStructure((x, y) => x.add(y), [a, b], [c, d])
 *     tf.nest.mapStructure({ func, structures: [map, object], checkTypes: false })
 *
 * @throws InvalidArgumentError for structures that differ.
 */
export const mapStructure: {
  <S extends readonly [unknown, ...unknown[]], R>(
    func: (...leaves: LeavesOf<S>) => R,
    ...structures: S
  ): StructureOf<S[0], R>;
  <S extends readonly [unknown, ...unknown[]]>(
    options: {
      /** Makes one value of those in the same place. */
      readonly func: (...leaves: PartsOf<S>) => unknown;
      /** Structures of one form. */
      readonly structures: S;
    } & NestOptions &
      Expanded,
  ): S[0];
  <S extends readonly [unknown, ...unknown[]], R>(
    options: {
      /** Makes one value of those in the same place. */
      readonly func: (...leaves: LeavesOf<S>) => R;
      /** Structures of one form. */
      readonly structures: S;
    } & NestOptions,
  ): StructureOf<S[0], R>;
} = defineVariadic(
  'nest.mapStructure',
  { func: asIs },
  { structures: structure },
  { checkTypes: asIs, expandComposites: asIs },
  (func: (...leaves: unknown[]) => unknown, structures: readonly unknown[], options: NestOptions) => {
    const op = 'nest.mapStructure';
    checkFunction(func, 'func', op);
    if (structures.length === 0)
      throw new InvalidArgumentError(
        'at least one structure must be given: write nest.mapStructure(func, structure)',
        op,
      );
    const [first, ...others] = structures;
    const isLeaf = leafIn(options, op);
    for (const other of others) checkSame(first, other, options, op);
    const lists = others.map((other) => leavesOf(other, op, isLeaf));
    return mapLeaves(first, op, (leaf, i) => func(leaf, ...lists.map((list) => list[i])), isLeaf);
  },
);

/**
 * Does nothing for two structures of the same arrays, maps and objects with the same lengths and keys, whatever their leaves are.
 * @throws InvalidArgumentError that says where they differ.
 */
export const assertSameStructure: NamedFunction<
  [nest1: unknown, nest2: unknown],
  ['nest1', 'nest2'],
  NestOptions,
  void
> = defineFunction(
  'nest.assertSameStructure',
  { nest1: structure, nest2: structure },
  { checkTypes: asIs, expandComposites: asIs },
  (nest1, nest2, options) => checkSame(nest1, nest2, options, 'nest.assertSameStructure'),
);

/**
 * What stands in a structure where a shallower one has its leaves.
 *
 *     tf.nest.flattenUpTo({ x: 0, y: 0 }, { x: [1, 2], y: 3 })      // [[1, 2], 3]
 *
 * @throws InvalidArgumentError for a structure that differs from the shallow one above its leaves.
 */
export const flattenUpTo: {
  <S, V>(shallowTree: S, inputTree: V): LeafUpTo<S, V>[];
  <S, V>(options: {
    /** Says how deep. */
    readonly shallowTree: S;
    /** What is flattened, as deep as the other one. */
    readonly inputTree: V;
  }): LeafUpTo<S, V>[];
} = defineFunction<
  NamedFunction<[shallowTree: unknown, inputTree: unknown], ['shallowTree', 'inputTree'], unknown, unknown>
>('nest.flattenUpTo', { shallowTree: structure, inputTree: structure }, {}, (shallowTree, inputTree) =>
  upTo(shallowTree, inputTree, 'nest.flattenUpTo'),
) as never;

/**
 * Calls `func` with what stands in structures where a shallower one has its leaves, and gives a structure like the shallow one.
 *
 *     tf.nest.mapStructureUpTo({ x: 0, y: 0 }, (list) => list.length, { x: [1, 2], y: [3] })      // { x: 2, y: 1 }
 *
 * @throws InvalidArgumentError for structures that differ from the shallow one above its leaves.
 */
export const mapStructureUpTo: {
  <S, I extends readonly [unknown, ...unknown[]], R>(
    shallowTree: S,
    func: (...values: LeavesUpTo<S, I>) => R,
    ...inputs: I
  ): StructureOf<S, R>;
  <S, I extends readonly [unknown, ...unknown[]], R>(options: {
    /** Says how deep. */
    readonly shallowTree: S;
    /** Makes one value of what is in the same place. */
    readonly func: (...values: LeavesUpTo<S, I>) => R;
    /** Structures that begin with the form of the shallow one. */
    readonly inputs: I;
  }): StructureOf<S, R>;
} = defineVariadic(
  'nest.mapStructureUpTo',
  { shallowTree: structure, func: asIs },
  { inputs: structure },
  {},
  (shallowTree: unknown, func: (...values: unknown[]) => unknown, inputs: readonly unknown[]) => {
    const op = 'nest.mapStructureUpTo';
    checkFunction(func, 'func', op);
    if (inputs.length === 0)
      throw new InvalidArgumentError(
        'at least one structure must be given: write nest.mapStructureUpTo(shallowTree, func, structure)',
        op,
      );
    const lists = inputs.map((input) => upTo(shallowTree, input, op));
    return mapLeaves(shallowTree, op, (_, i) => func(...lists.map((list) => list[i])));
  },
);

function upTo(shallow: unknown, input: unknown, op: string): unknown[] {
  const found: unknown[] = [];
  forEachPair(
    shallow,
    input,
    op,
    (_, value) => found.push(value),
    (how, expected, value, path) => {
      throw differ(how, expected, value, path, op);
    },
  );
  return found;
}

function checkSame(first: unknown, second: unknown, options: NestOptions, op: string): void {
  const strict = checkFlag(options.checkTypes ?? true, 'checkTypes', op);
  const isLeaf = leafIn(options, op);
  const form = (value: unknown): unknown => (strict ? value : inLists(value, op, isLeaf));
  forEachPair(
    form(first),
    form(second),
    op,
    (leaf, other, path) => {
      if (isContainer(other) && isLeaf?.(other) !== true)
        throw differ({ kind: 'type' }, leaf, other, path, op);
    },
    (how, expected, value, path) => {
      throw differ(how, expected, value, path, op);
    },
    isLeaf,
  );
}

/** A structure with arrays in the place of its maps and objects, and of composite tensors that are no leaves. */
function inLists(value: unknown, op: string, isLeaf: IsLeaf | undefined, level = 0): unknown {
  if (!isContainer(value) || isLeaf?.(value) === true) return value;
  checkLevel(level, op);
  const items: unknown[] = [];
  forEachItem(value, (item) => items.push(inLists(item, op, isLeaf, level + 1)));
  return items;
}

function differ(how: Misfit, first: unknown, second: unknown, path: Path, op: string): InvalidArgumentError {
  const where = `the structures differ: the value${showPath(path)}`;
  const text = (): string => {
    if (how.kind === 'length')
      return `has ${(first as readonly unknown[]).length} and ${(second as readonly unknown[]).length} items`;
    if (how.kind === 'type') return `is ${kindOf(first)} and ${kindOf(second)}`;
    const only = how.kind === 'unknown key' ? 'second' : 'first';
    return `has the key ${shown(how.key)} in the ${only} only`;
  };
  return new InvalidArgumentError(`${where} ${text()}`, op);
}

function kindOf(value: unknown): string {
  return isContainer(value) ? containerName(value) : 'a leaf';
}
