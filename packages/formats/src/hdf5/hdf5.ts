/** What HDF5 files consist of: groups by name, with arrays in them, and attributes of both. */
import type { DTypeName, NDArray } from '../arrays/ndarray.ts';

/** The value of an attribute. */
export type Hdf5Attribute = string | readonly string[] | number | readonly number[];

/** A data set whose elements are read when they are needed. */
export interface Hdf5Dataset {
  readonly shape: readonly number[];
  /** Null for types that no array here has, such as records and texts. */
  readonly dtype: DTypeName | null;
  /** The type in words, for messages: `float32`, `text`, `record`. */
  readonly type: string;
  /** Of an element in the file. */
  readonly elementBytes: number;
  readonly attributes: ReadonlyMap<string, Hdf5Attribute>;
  /** @throws FormatError when it is damaged, UnsupportedFormatError without a dtype */
  read(): NDArray;
}

/** A group; its children are in the order of their names. */
export interface Hdf5Group {
  readonly children: ReadonlyMap<string, Hdf5Group | Hdf5Dataset>;
  readonly attributes: ReadonlyMap<string, Hdf5Attribute>;
}

/** Whether a child of a group is an array. */
export function isHdf5Dataset(node: Hdf5Group | Hdf5Dataset): node is Hdf5Dataset {
  return 'shape' in node;
}

/** What lies at a path such as `layers/dense/vars`; undefined where nothing does. The empty path is the group itself. */
export function hdf5At(group: Hdf5Group, path: string): Hdf5Group | Hdf5Dataset | undefined {
  let at: Hdf5Group | Hdf5Dataset | undefined = group;
  for (const name of path.split('/')) {
    if (name === '') continue;
    if (at === undefined || isHdf5Dataset(at)) return undefined;
    at = at.children.get(name);
  }
  return at;
}
