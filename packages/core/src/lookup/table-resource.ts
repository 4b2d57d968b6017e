// What of a table is written into a SavedModel.
import type { DType } from '@eagre/backend';
import type { Tensor } from '../tensor/tensor.ts';

/** The lines of a text file as the contents of a table. */
export interface TableFile {
  readonly path: string;
  readonly keyIndex: number;
  readonly valueIndex: number;
  readonly vocabSize: number | null;
  readonly delimiter: string;
  readonly offset: number;
}

export interface TableFields {
  readonly name: string;
  readonly keyDtype: DType;
  readonly valueDtype: DType;
  readonly valueShape?: readonly number[];
  /** What it is filled with, now. */
  readonly contents: () => readonly [keys: Tensor, values: Tensor];
  /** The file that it is filled from. */
  readonly file?: TableFile | null;
  /** Whether functions change it. */
  readonly isMutable?: boolean;
  /** The keys that stand for none and for removed ones, of a dense table. */
  readonly reserved?: readonly [empty: Tensor, deleted: Tensor] | null;
}

/** A table as a resource of TensorFlow: functions capture it. */
export class TableResource {
  readonly name: string;
  readonly keyDtype: DType;
  readonly valueDtype: DType;
  readonly valueShape: readonly number[];
  /** What it is filled with, now. */
  readonly contents: () => readonly [keys: Tensor, values: Tensor];
  /** The file that it is filled from. */
  readonly file: TableFile | null;
  /** Whether functions change it. */
  readonly isMutable: boolean;
  /** The keys that stand for none and for removed ones, of a dense table. */
  readonly reserved: readonly [empty: Tensor, deleted: Tensor] | null;

  constructor(fields: TableFields) {
    this.name = fields.name;
    this.keyDtype = fields.keyDtype;
    this.valueDtype = fields.valueDtype;
    this.valueShape = fields.valueShape ?? [];
    this.contents = fields.contents;
    this.file = fields.file ?? null;
    this.isMutable = fields.isMutable ?? false;
    this.reserved = fields.reserved ?? null;
  }
}

/** The resource of an object that is a table; null for any other. */
export function tableOf(object: object): TableResource | null {
  if (object instanceof TableResource) return object;
  const { tableResource } = object as { readonly tableResource?: unknown };
  return tableResource instanceof TableResource ? tableResource : null;
}
