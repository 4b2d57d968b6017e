/** `tf.keras.tree`: structures in arrays, maps and plain objects, as `tf.nest` has them, under Keras's names. */
import { InvalidArgumentError, nest } from '@eagre/core';
import {
  checkFunction,
  checkLevel,
  defineFunction,
  type NamedFunction,
  shown,
  tree,
} from '@eagre/core/internal';

type Nest = typeof nest;
/** Does nothing for two structures of the same form. @throws InvalidArgumentError that says where they differ */
export const assertSameStructure: Nest['assertSameStructure'] = /* @__PURE__ */ (() =>
  nest.assertSameStructure)();
/** The leaves of a structure, in order: those of objects and maps by their keys. */
export const flatten: Nest['flatten'] = /* @__PURE__ */ (() => nest.flatten)();
/** Whether a value is an array, a map or a plain object. */
export const isNested: Nest['isNested'] = /* @__PURE__ */ (() => nest.isNested)();
/** Calls a function with the leaves of one or several structures of the same form, and gives its results in that form. */
export const mapStructure: Nest['mapStructure'] = /* @__PURE__ */ (() => nest.mapStructure)();
/** The same, down to the depth of a shallower structure. */
export const mapStructureUpTo: Nest['mapStructureUpTo'] = /* @__PURE__ */ (() => nest.mapStructureUpTo)();
/** A list of leaves in the form of a structure. */
export const packSequenceAs: Nest['packSequenceAs'] = /* @__PURE__ */ (() => nest.packSequenceAs)();

/** What the function of `traverse` returns to put null in the place of a part. */
export const MAP_TO_NONE: unique symbol = Symbol('MAP_TO_NONE');

/** The way to a leaf: indices of arrays, keys of objects and maps. */
export type LeafPath = readonly unknown[];

/** The leaves in the order of `flatten`, each with the way to it: `[[path, leaf], …]`. @throws InvalidArgumentError for what holds itself */
export const flattenWithPath: NamedFunction<
  [structure: unknown],
  ['structure'],
  unknown,
  [path: LeafPath, leaf: unknown][]
> = /* @__PURE__ */ defineFunction(
  'keras.tree.flattenWithPath',
  { structure: { plain: true } },
  {},
  (structure: unknown) => withPaths(structure, 'keras.tree.flattenWithPath'),
);

function withPaths(structure: unknown, op: string): [LeafPath, unknown][] {
  const found: [LeafPath, unknown][] = [];
  tree.forEachLeaf(structure, op, (leaf, path) => found.push([[...path], leaf]));
  return found;
}

/**
 * Does nothing for two structures with leaves at the same indices and keys, whether these are of objects or of maps.
 * @throws InvalidArgumentError that names the paths which only one of them has
 */
export const assertSamePaths: NamedFunction<[a: unknown, b: unknown], ['a', 'b'], unknown, void> =
  /* @__PURE__ */ defineFunction(
    'keras.tree.assertSamePaths',
    { a: { plain: true }, b: { plain: true } },
    {},
    (a: unknown, b: unknown) => {
      const op = 'keras.tree.assertSamePaths';
      const pathsOf = (value: unknown): Map<string, string> =>
        // Index 0 and key '0' are not the same.
        new Map(withPaths(value, op).map(([path]) => [path.map(shown).join(), tree.showPath(path) || '.']));
      const [ofA, ofB] = [pathsOf(a), pathsOf(b)];
      const only = (of: Map<string, string>, other: Map<string, string>): string[] =>
        [...of].flatMap(([key, path]) => (other.has(key) ? [] : [path]));
      const [onlyA, onlyB] = [only(ofA, ofB), only(ofB, ofA)];
      if (onlyA.length + onlyB.length === 0) return;
      const says = (name: string, paths: readonly string[]): string =>
        paths.length === 0 ? '' : `; only ${name} has ${paths.join(', ')}`;
      throw new InvalidArgumentError(
        `a and b do not have the same paths${says('a', onlyA)}${says('b', onlyB)}`,
        op,
      );
    },
  );

/** A copy whose arrays, at any depth, are frozen: JavaScript's form of tuples. */
export const listsToTuples: NamedFunction<[structure: unknown], ['structure'], unknown, unknown> =
  /* @__PURE__ */ defineFunction(
    'keras.tree.listsToTuples',
    { structure: { plain: true } },
    {},
    (structure: unknown) => {
      const op = 'keras.tree.listsToTuples';
      const frozen = (value: unknown, level: number): unknown => {
        if (!tree.isContainer(value)) return value;
        checkLevel(level, op);
        const copy = tree.mapItems(value, (item) => frozen(item, level + 1));
        return Array.isArray(copy) ? Object.freeze(copy) : copy;
      };
      return frozen(structure, 0);
    },
  );

const isShape = (value: tree.Container): boolean =>
  Array.isArray(value) && value.every((size) => size === null || Number.isInteger(size));

/** `mapStructure` that takes shapes for leaves: arrays of integers and nulls, all of which `func` gets as a whole. */
export const mapShapeStructure: NamedFunction<
  [func: (shape: readonly (number | null)[]) => unknown, structure: unknown],
  ['func', 'structure'],
  unknown,
  unknown
> = /* @__PURE__ */ defineFunction(
  'keras.tree.mapShapeStructure',
  { func: true, structure: { plain: true } },
  {},
  (func, structure: unknown) => {
    const op = 'keras.tree.mapShapeStructure';
    checkFunction(func, 'func', op);
    return tree.mapLeaves(structure, op, (shape) => func(shape as readonly (number | null)[]), isShape);
  },
);

/**
 * Calls `func` with a structure and all its parts, leaves too. What it returns stands in the place of the part, `MAP_TO_NONE` puts null
 * there, and undefined or null keeps the part.
 * @param topDown Whether `func` gets a part before what is in it, as by default. What it replaces is not looked into.
 */
export const traverse: NamedFunction<
  [func: (part: unknown) => unknown, structure: unknown, topDown?: boolean],
  ['func', 'structure', 'topDown'],
  unknown,
  unknown
> = /* @__PURE__ */ defineFunction(
  'keras.tree.traverse',
  { func: true, structure: { plain: true }, topDown: true },
  {},
  (func, structure: unknown, topDown: boolean = true) => {
    const op = 'keras.tree.traverse';
    checkFunction(func, 'func', op);
    const replaced = (result: unknown, otherwise: () => unknown): unknown => {
      if (result === undefined || result === null) return otherwise();
      return result === MAP_TO_NONE ? null : result;
    };
    const visit = (part: unknown, level: number): unknown => {
      checkLevel(level, op);
      const inside = (): unknown =>
        tree.isContainer(part) ? tree.mapItems(part, (item) => visit(item, level + 1)) : part;
      if (topDown) return replaced(func(part), inside);
      const made = inside();
      return replaced(func(made), () => made);
    };
    return visit(structure, 0);
  },
);
