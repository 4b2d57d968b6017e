// What nodes of TensorFlow's graphs compute, as far as it is no tensor here: handles of variables and tables, and lists of tensors.
import type { DType, Tensor, Variable } from '@eagre/core';
import type { LookupTable, TableItem } from '@eagre/core/internal';
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
  /** Keys that stand for none in a dense table, and for removed ones. */
  readonly reserved: readonly TableItem[];
  /** Whether graphs change it as they run. */
  readonly isMutable: boolean;
  constructor(table: LookupTable, isMutable: boolean, reserved: readonly TableItem[] = []) {
    this.table = table;
    this.isMutable = isMutable;
    this.reserved = reserved;
  }

  /** Gives it other contents. Files have the reserved keys too. */
  replace(keys: readonly TableItem[], values: readonly TableItem[]): void {
    const width = keys.length === 0 ? 0 : values.length / keys.length;
    const kept = keys.flatMap((key, i) => (this.reserved.includes(key) ? [] : [i]));
    this.table.clear();
    this.table.insert(
      kept.map((i) => keys[i] as TableItem),
      kept.flatMap((i) => values.slice(i * width, (i + 1) * width)),
      true,
    );
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
