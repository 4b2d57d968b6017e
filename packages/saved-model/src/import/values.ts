// What nodes of TensorFlow's graphs compute, as far as it is no tensor here: handles of variables, tables and queues, lists of tensors, and
// variants with composite tensors.
import type { DType, queue, Tensor, Variable } from '@eagre/core';
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

/** The handle of a queue. */
export class QueueHandle {
  readonly queue: queue.QueueBase;
  constructor(queue: queue.QueueBase) {
    this.queue = queue;
  }
}

/** The handle of a TensorArray of TensorFlow 1, whose contents are in its flow. */
export class ArrayHandle {
  readonly dtype: DType;
  constructor(dtype: DType) {
    this.dtype = dtype;
  }
}

/**
 * What a variant holds: of a ragged tensor its splits, outermost first, and flat values; the coordinates, values and shape of a sparse one;
 * or values that may be none.
 */
export type Composite =
  | { readonly kind: 'ragged'; readonly splits: readonly Tensor[]; readonly values: Tensor }
  | { readonly kind: 'sparse'; readonly parts: readonly [indices: Tensor, values: Tensor, shape: Tensor] }
  | {
      readonly kind: 'optional';
      readonly values: readonly Value[] | null;
      /** Where branches are traced: at each run, whether there are values. Otherwise they are zeros. */
      readonly has?: Tensor;
      /** Where branches give values of different shapes: those of each branch, and what chooses the branch. */
      readonly choices?: { readonly selector: Value; readonly values: readonly (readonly Value[] | null)[] };
    };

/** A tensor of the dtype variant, of rank 0 or 1, whose elements are composite tensors or optional values. */
export class VariantTensor {
  readonly items: readonly Composite[];
  readonly rank: 0 | 1;
  constructor(items: readonly Composite[], rank: 0 | 1) {
    this.items = items;
    this.rank = rank;
  }
  /** As TensorFlow has it: a sparse tensor is three variants. */
  get shape(): readonly number[] {
    const own = this.items.some(({ kind }) => kind === 'sparse') ? [3] : [];
    return this.rank === 0 ? own : [this.items.length, ...own];
  }
}

/** A list whose elements are variants; null for those that nobody has set. */
export class VariantList {
  readonly items: readonly (Composite | null)[];
  constructor(items: readonly (Composite | null)[]) {
    this.items = items;
  }
  /** One of the same length, none of whose elements is set. */
  emptied(): VariantList {
    return new VariantList(this.items.map(() => null));
  }
}

/** A resource of the graph. */
export type Resource = VariableHandle | TableHandle | QueueHandle | ArrayHandle;

/** What a node computes: a variant is a list of tensors, or holds composite tensors or optional values. */
export type Value = Tensor | TensorArray | Resource | VariantTensor | VariantList;

/** Whether the value is a variant that is no list of tensors. */
export function isVariant(value: unknown): value is VariantTensor | VariantList {
  return value instanceof VariantTensor || value instanceof VariantList;
}

/** Whether the value is a resource, of which there is one whatever branch or turn of a loop uses it. */
export function isResource(value: unknown): value is Resource {
  return [VariableHandle, TableHandle, QueueHandle, ArrayHandle].some((kind) => value instanceof kind);
}
