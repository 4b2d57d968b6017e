// Functions of loaded models as they are in the file: saved again, they are written as they were.
import type { Tensor, Variable } from '@eagre/core';
import { Asset, type TableResource } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import type { TensorSpec } from '@eagre/graph';

/** A tensor inside of another function, which a gradient of that uses. */
export class InnerTensor {
  /** As `node:0`. */
  readonly name: string;
  /** The other function. */
  readonly concreteFunction: string;

  constructor(name: string, concreteFunction: string) {
    this.name = name;
    this.concreteFunction = concreteFunction;
  }
}

/** What a function of a file uses that is no argument. */
export type ImportedCapture = Variable | TableResource | Tensor | Asset | InnerTensor;

/** The functions of a file's graph. */
export interface ImportedLibrary {
  /** The function of a name, if there is one. */
  definition(name: string): tensorflow.FunctionDef | undefined;
  /** The function that is the gradient of nodes with this `_gradient_op_type`, if the file has one. */
  gradientOf(type: string): string | undefined;
}

/** A trace as it is in its file. */
export interface ImportedTrace {
  /** Of its function in the library. */
  readonly name: string;
  readonly library: ImportedLibrary;
  readonly saved: tensorflow.SavedConcreteFunction;
  /** Its arguments by the names that they are given by. */
  readonly namedInputs: readonly { readonly name: string; readonly spec: TensorSpec }[];
  /** Specs in the places of the results. */
  readonly structuredOutputs: unknown;
  /** @throws UnimplementedError for a resource that is neither a variable nor a table */
  importedCaptures(): readonly ImportedCapture[];
  /** Another function that the file describes, such as a gradient; undefined for one that it does not. */
  described(name: string): Pick<ImportedTrace, 'saved' | 'importedCaptures'> | undefined;
}

/** A function of several traces. */
export interface ImportedFunction {
  readonly traces: readonly ImportedTrace[];
  /** How Python calls it. */
  readonly spec: tensorflow.FunctionSpec | undefined;
  /** How a trace by itself is called. */
  readonly bare?: tensorflow.SavedBareConcreteFunction;
}

const IMPORTED = Symbol('imported function');

/** Says what of a file a function is; a function tells it when it is asked first. */
export function declareImported(
  fn: object,
  imported: ImportedFunction | (() => ImportedFunction | null),
): void {
  let known = typeof imported === 'function' ? null : imported;
  const get = (): ImportedFunction | null => (known ??= (imported as () => ImportedFunction | null)());
  Object.defineProperty(fn, IMPORTED, { get });
}

/** What of a file a function is; null for one of this program. */
export function importedOf(value: unknown): ImportedFunction | null {
  if (typeof value !== 'function' || !Object.hasOwn(value, IMPORTED)) return null;
  return (value as unknown as { [IMPORTED]: ImportedFunction | null })[IMPORTED];
}

const ASSET = Symbol('asset');

/** Says that a tensor is the path of an asset. */
export function declareAsset(tensor: Tensor, asset: Asset): void {
  Object.defineProperty(tensor, ASSET, { value: asset });
}

/** The asset that a value is, or is the path of; null for anything else. */
export function assetOf(value: unknown): Asset | null {
  if (value instanceof Asset) return value;
  return (value as { readonly [ASSET]?: Asset } | null | undefined)?.[ASSET] ?? null;
}
