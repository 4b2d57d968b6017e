// What nodes of TensorFlow's graphs compute, as far as it is no tensor here: handles of variables and tables, and lists of tensors.
import type { DType, Tensor, Variable } from '@eagre/core';
import { type LookupTable, type TableFile, TableResource } from '@eagre/core/internal';
import type { TensorArray } from '@eagre/graph';

/** The handle of a variable. */
export class VariableHandle {
  readonly variable: Variable;
  constructor(variable: Variable) {
    this.variable = variable;
  }
}

/** The handle of a table. */
export class TableHandle {
  readonly table: LookupTable;
  /** Whether graphs change it as they run. */
  readonly isMutable: boolean;
  /** The keys that stand for none and for removed ones, of a dense table. */
  readonly reserved: readonly [empty: Tensor, deleted: Tensor] | null;
  /** The file that it was filled from. */
  file: TableFile | null = null;
  #resource: TableResource | undefined;

  constructor(
    table: LookupTable,
    isMutable: boolean,
    reserved: readonly [empty: Tensor, deleted: Tensor] | null = null,
  ) {
    this.table = table;
    this.isMutable = isMutable;
    this.reserved = reserved;
  }

  /** What of it is saved again. The table is filled by then. */
  get resource(): TableResource {
    const { table, isMutable, reserved, file } = this;
    this.#resource ??= new TableResource({
      name: table.name,
      keyDtype: table.keyDType,
      valueDtype: table.valueDType,
      valueShape: table.valueShape,
      contents: () => table.contents(),
      file,
      isMutable,
      reserved,
    });
    return this.#resource;
  }
}

/** The handle of a TensorArray of TensorFlow 1, whose contents are in its flow. */
export class ArrayHandle {
  readonly dtype: DType;
  constructor(dtype: DType) {
    this.dtype = dtype;
  }
}

/** A resource of the graph. */
export type Resource = VariableHandle | TableHandle | ArrayHandle;

/** What a node computes: a variant is a list of tensors. */
export type Value = Tensor | TensorArray | Resource;

/** Whether the value is a resource, of which there is one whatever branch or turn of a loop uses it. */
export function isResource(value: unknown): value is Resource {
  return value instanceof VariableHandle || value instanceof TableHandle || value instanceof ArrayHandle;
}
