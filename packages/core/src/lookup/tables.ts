// The tables of `tf.lookup`.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import { type Arguments, defineMethods } from '../arguments/arguments.ts';
import { checkCount, shown } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import { type CompositeTensor, isComposite } from '../composite/composite.ts';
import { atRunTime } from '../dispatch/host.ts';
import { knownTensor } from '../dispatch/symbolic.ts';
import type { Trackable, TrackableView } from '../module/trackable.ts';
import { where } from '../ops/elementwise/select.ts';
import { setBuckets } from '../ops/strings/buckets.ts';
import { onKnown } from '../ops/strings/known-strings.ts';
import { dims, toShape } from '../shapes/dims.ts';
import { sameShape, showShape } from '../shapes/shape.ts';
import { constant } from '../tensor/constant.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { checkKeyDType, type TableInitializer } from './initializers.ts';
import {
  missingIndex,
  portableBins,
  portableFind,
  portableInsert,
  portableRemove,
  portableSize,
} from './portable-lookups.ts';
import { itemsOf, LookupTable, tensorOfItems } from './table-items.ts';
import { TableResource } from './table-resource.ts';
import { tableView } from './table-view.ts';

/** Looks keys up at once or, in a traced function, at each run. Values that are text have to be known while it is traced. */
function lookUp(
  name: string,
  keys: Tensor,
  more: readonly Tensor[],
  dtype: DType,
  valueShape: readonly number[],
  find: (keys: Tensor, ...more: Tensor[]) => Tensor,
  portable: (keys: Tensor, ...more: Tensor[]) => Tensor,
  changes = false,
): Tensor {
  // What does not change can be looked up while a function is traced.
  const isKnown = !changes && [keys, ...more].every((x) => knownTensor(x) !== null);
  if (dtype === 'string' || isKnown) return onKnown(name, [keys, ...more], find, portable);
  const shape = toShape([...dims(keys), ...valueShape]);
  const form = (x: Tensor, ...others: Tensor[]): readonly Tensor[] => [portable(x, ...others)];
  return atRunTime(name, find as never, [keys, ...more], [{ dtype, shape }], false, form as never)[0];
}

/** Keys of the dtype of a table. */
function keysOf(value: TensorLike, dtype: DType, op: string): Tensor {
  const keys = toTensor(value, dtype);
  if (keys.dtype !== dtype) throw new InvalidArgumentError(`keys must be ${dtype}, got ${keys.dtype}`, op);
  return keys;
}

/** Looks up the values of sparse and ragged keys in their places. */
function lookUpAny(keys: unknown, lookUpDense: (keys: TensorLike) => Tensor): Tensor {
  if (!isComposite(keys) || keys.dense !== null) return lookUpDense(keys as TensorLike);
  return keys.withDifferentiable(lookUpDense(keys.differentiable as Tensor)) as Tensor;
}

const countOf = (name: string, count: () => number, portable: () => Tensor): Tensor =>
  atRunTime(
    name,
    (() => tensorOfItems([count()], 'int64', [])) as never,
    [],
    [{ dtype: 'int64', shape: [] }],
    false,
    () => [portable()],
  )[0];

/** The resource of a static table. */
const staticResource = (table: LookupTable, initializer: TableInitializer): TableResource =>
  new TableResource({
    name: table.name,
    keyDtype: table.keyDType,
    valueDtype: table.valueDType,
    contents: () => table.contents(),
    file: initializer.file ?? null,
  });

interface StaticArguments {
  readonly initializer: TableInitializer;
  readonly defaultValue: TensorLike;
  readonly name?: string | null;
}

/**
 * A table that does not change.
 *
 *     const table = new tf.lookup.StaticHashTable(new tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1, 2]), -1);
 *     table.lookup(tf.constant(['b', 'c'])); // [2, -1]
 *
 * @throws InvalidArgumentError for a key with two values
 */
export class StaticHashTable implements Trackable {
  /** Of the table in graphs. */
  readonly name: string;
  /** The dtype of the keys. */
  readonly keyDtype: DType;
  /** The dtype of the values. */
  readonly valueDtype: DType;
  /** What keys give that are not there. */
  readonly defaultValue: Tensor;
  /** @internal */
  readonly tableResource: TableResource;
  readonly #table: LookupTable;

  constructor(
    ...args: Arguments<
      [initializer: TableInitializer, defaultValue: TensorLike, name?: string | null],
      ['initializer', 'defaultValue', 'name']
    >
  ) {
    const { initializer, defaultValue, name } = argumentsOf<StaticArguments>(
      StaticHashTable,
      new.target,
      args,
    );
    checkInitializer(initializer, 'StaticHashTable');
    this.name = name ?? 'hash_table';
    this.keyDtype = initializer.keyDtype;
    this.valueDtype = initializer.valueDtype;
    this.defaultValue = toTensor(defaultValue, this.valueDtype, true);
    if (this.defaultValue.rank !== 0)
      throw new InvalidArgumentError(
        `defaultValue must be a scalar, got shape ${showShape(this.defaultValue.shape)}`,
        'StaticHashTable',
      );
    this.#table = new LookupTable(this.name, this.keyDtype, this.valueDtype);
    this.#table.insert(...initializer.entries(), false);
    this.tableResource = staticResource(this.#table, initializer);
  }
  /** How many keys there are (int64). */
  size(): Tensor {
    return countOf(
      'LookupTableSizeV2',
      () => this.#table.size,
      () => portableSize(this.tableResource),
    );
  }
  /** The value of each key, and the default value of others. Sparse and ragged keys give sparse and ragged results. */
  lookup(keys: TensorLike): Tensor;
  lookup<Keys extends CompositeTensor>(keys: Keys): Keys;
  lookup(options: {
    /** What is looked up, of the table's dtype and any shape. */
    readonly keys: TensorLike;
  }): Tensor;
  lookup(keys: unknown): Tensor {
    return lookUpAny(keys, (dense) => this.#lookUp(dense));
  }
  #lookUp(keys: TensorLike): Tensor {
    const x = keysOf(keys, this.keyDtype, `${this.name}.lookup`);
    return lookUp(
      'LookupTableFindV2',
      x,
      [this.defaultValue],
      this.valueDtype,
      [],
      (list, missing) => this.#table.find(list, missing),
      (keys, missing) => portableFind(this.tableResource, keys, missing as Tensor),
    );
  }
  /** All keys and their values: `[keys, values]`. */
  export(): [keys: Tensor, values: Tensor] {
    return onKnown('LookupTableExportV2', [], () => this.#table.contents());
  }
  /** Nothing: what it was made of is known to the program. */
  trackableView(): TrackableView {
    return { children: [] };
  }
}

function checkInitializer(initializer: unknown, op: string): void {
  if (typeof (initializer as Partial<TableInitializer> | null)?.entries === 'function') return;
  throw new InvalidArgumentError(
    `initializer must be a KeyValueTensorInitializer or a TextFileInitializer, got ${shown(initializer)}`,
    op,
  );
}

interface VocabularyArguments {
  readonly initializer: TableInitializer | null;
  readonly numOovBuckets: number;
  readonly lookupKeyDtype?: DType | null;
  readonly name?: string | null;
}

/**
 * Words as their ids; others by a hash as one of `numOovBuckets` ids behind them.
 * @throws InvalidArgumentError for values other than int64, and no buckets
 */
export class StaticVocabularyTable implements Trackable {
  /** Of the table in graphs. */
  readonly name: string;
  /** The dtype of the keys. */
  readonly keyDtype: DType;
  /** The dtype of the values. */
  readonly valueDtype: 'int64' = 'int64';
  /** @internal Null where there are buckets alone. */
  readonly tableResource: TableResource | null;
  readonly #table: LookupTable | null;
  readonly #buckets: number;

  constructor(
    ...args: Arguments<
      [
        initializer: TableInitializer | null,
        numOovBuckets: number,
        lookupKeyDtype?: DType | null,
        name?: string | null,
      ],
      ['initializer', 'numOovBuckets', 'lookupKeyDtype', 'name']
    >
  ) {
    const op = 'StaticVocabularyTable';
    const { initializer, numOovBuckets, lookupKeyDtype, name } = argumentsOf<VocabularyArguments>(
      StaticVocabularyTable,
      new.target,
      args,
    );
    checkCount(numOovBuckets, 'numOovBuckets', op, 1);
    this.name = name ?? 'vocabulary_table';
    this.keyDtype = lookupKeyDtype ?? initializer?.keyDtype ?? 'string';
    this.#buckets = numOovBuckets;
    checkKeyDType(this.keyDtype, 'lookupKeyDtype', op);
    if (initializer === null) {
      this.#table = null;
      this.tableResource = null;
    } else {
      checkInitializer(initializer, op);
      if (initializer.valueDtype !== 'int64')
        throw new InvalidArgumentError(`the ids must be int64, got ${initializer.valueDtype}`, op);
      if ((initializer.keyDtype === 'string') !== (this.keyDtype === 'string'))
        throw new InvalidArgumentError(
          `the keys are ${initializer.keyDtype}, and lookupKeyDtype is ${this.keyDtype}`,
          op,
        );
      this.#table = new LookupTable(this.name, initializer.keyDtype, 'int64');
      this.#table.insert(...initializer.entries(), false);
      this.tableResource = staticResource(this.#table, initializer);
    }
  }
  get #words(): number {
    return this.#table?.size ?? 0;
  }
  /** How many ids there are (int64): of words, and of buckets. */
  size(): Tensor {
    return countOf(
      'LookupTableSizeV2',
      () => this.#words + this.#buckets,
      () => {
        const buckets = constant(BigInt(this.#buckets), 'int64');
        return this.tableResource === null ? buckets : portableSize(this.tableResource).add(buckets);
      },
    );
  }
  /** The id of each key (int64). Sparse and ragged keys give sparse and ragged results. */
  lookup(keys: TensorLike): Tensor;
  lookup<Keys extends CompositeTensor>(keys: Keys): Keys;
  lookup(options: {
    /** What is looked up, of the table's dtype and any shape. */
    readonly keys: TensorLike;
  }): Tensor;
  lookup(keys: unknown): Tensor {
    return lookUpAny(keys, (dense) => this.#lookUp(dense));
  }
  #lookUp(keys: TensorLike): Tensor {
    const x = keysOf(keys, this.keyDtype, `${this.name}.lookup`);
    const find = (known: Tensor): Tensor => {
      const table = this.#table;
      const numbers = table?.numbers(known) ?? new Int32Array(known.size).fill(-1);
      const found = table?.valuesAt(numbers, missingIndex(), known.shape);
      const data = (found?.data() ?? new BigInt64Array(known.size)) as BigInt64Array<ArrayBuffer>;
      setBuckets(data, known, numbers, this.#words, this.#buckets);
      return constant({ data, shape: known.shape, dtype: 'int64' });
    };
    return lookUp('VocabularyTableFind', x, [], 'int64', [], find, (list) => this.#portable(list));
  }
  /** The lookup in ops that TensorFlow has. */
  #portable(keys: Tensor): Tensor {
    const hashed = portableBins(keys, this.#buckets, null);
    const table = this.tableResource;
    if (table === null) return hashed;
    const missing = missingIndex();
    const ids = portableFind(table, keys.cast(table.keyDtype), missing);
    return where(ids.equal(missing), hashed.add(portableSize(table)), ids);
  }
  /** Nothing: what it was made of is known to the program. */
  trackableView(): TrackableView {
    return { children: [] };
  }
}

interface MutableArguments {
  readonly keyDtype: DType;
  readonly valueDtype: DType;
  readonly defaultValue: TensorLike;
  readonly name?: string;
}

/**
 * A table that can be added to and removed from. Its keys and values go into checkpoints.
 *
 *     const table = new tf.lookup.experimental.MutableHashTable('string', 'int64', -1);
 *     table.insert(tf.constant(['a']), tf.constant([1n]));
 */
export class MutableHashTable implements Trackable {
  /** Of the table in graphs. */
  readonly name: string;
  /** The dtype of the keys. */
  readonly keyDtype: DType;
  /** The dtype of the values. */
  readonly valueDtype: DType;
  /** What keys give that are not there. */
  readonly defaultValue: Tensor;
  /** @internal */
  tableResource: TableResource;
  readonly #table: LookupTable;

  constructor(
    ...args: Arguments<
      [keyDtype: DType, valueDtype: DType, defaultValue: TensorLike, name?: string],
      ['keyDtype', 'valueDtype', 'defaultValue', 'name']
    >
  ) {
    const { keyDtype, valueDtype, defaultValue, name } = argumentsOf<MutableArguments>(
      MutableHashTable,
      new.target,
      args,
    );
    checkKeyDType(keyDtype, 'keyDtype', new.target.name);
    this.name = name ?? new.target.name;
    this.keyDtype = keyDtype;
    this.valueDtype = valueDtype;
    this.defaultValue = toTensor(defaultValue, valueDtype, true);
    this.#table = new LookupTable(this.name, keyDtype, valueDtype, this.defaultValue.shape);
    this.#table.insert([], [], true);
    this.tableResource = this.#resource(null);
  }
  /** @internal Keys that it may not have from now on: scalars. */
  protected reserve(keys: readonly [empty: Tensor, deleted: Tensor]): void {
    this.#table.reserved = keys.flatMap(itemsOf);
    this.tableResource = this.#resource(keys);
  }
  #resource(reserved: readonly [empty: Tensor, deleted: Tensor] | null): TableResource {
    const { name, keyDtype, valueDtype } = this;
    const contents = (): readonly [Tensor, Tensor] => this.export();
    const valueShape = this.defaultValue.shape;
    return new TableResource({ name, keyDtype, valueDtype, valueShape, contents, isMutable: true, reserved });
  }

  /** How many keys there are (int64). */
  size(): Tensor {
    return countOf(
      'LookupTableSizeV2',
      () => this.#table.size,
      () => portableSize(this.tableResource),
    );
  }
  /**
   * The value of each key, and the default value of others.
   * @param dynamicDefaultValues the values of keys that are not there: one, or one for each key
   */
  lookup(keys: TensorLike, dynamicDefaultValues?: TensorLike | null): Tensor;
  lookup(options: {
    /** What is looked up, of the table's dtype and any shape. */
    readonly keys: TensorLike;
    /** The values of keys that are not there: one, or one for each key. The table's default value unless given. */
    readonly dynamicDefaultValues?: TensorLike | null;
  }): Tensor;
  lookup(keys: unknown, dynamicDefaultValues: unknown = null): Tensor {
    const op = `${this.name}.lookup`;
    const x = keysOf(keys as TensorLike, this.keyDtype, op);
    const missing = toTensor(
      (dynamicDefaultValues ?? this.defaultValue) as TensorLike,
      this.valueDtype,
      true,
    );
    const { shape } = this.defaultValue;
    if (!sameShape(missing.shape, shape) && !sameShape(missing.shape, toShape([...dims(x), ...shape])))
      throw new InvalidArgumentError(
        `dynamicDefaultValues must have the shape ${showShape(shape)} of a value, or one for each key, got ${showShape(missing.shape)}`,
        op,
      );
    return lookUp(
      'LookupTableFindV2',
      x,
      [missing],
      this.valueDtype,
      shape,
      (list, others) => this.#table.find(list, others),
      (list, others) => portableFind(this.tableResource, list, others as Tensor),
      true,
    );
  }
  /** Gives keys their values, new ones or other ones: at once or, in a traced function, at each run. */
  insert(keys: TensorLike, values: TensorLike): void;
  insert(options: {
    /** The keys, of the table's dtype. */
    readonly keys: TensorLike;
    /** One for each key. */
    readonly values: TensorLike;
  }): void;
  insert(keys: unknown, values?: unknown): void {
    const op = `${this.name}.insert`;
    const x = keysOf(keys as TensorLike, this.keyDtype, op);
    const y = toTensor(values as TensorLike, this.valueDtype, true);
    const { shape } = this.defaultValue;
    if (!sameShape(y.shape, toShape([...dims(x), ...shape])))
      throw new InvalidArgumentError(
        `values must have the shape ${showShape([...x.shape, ...shape])} for these keys, got ${showShape(y.shape)}`,
        op,
      );
    const put = (k: Tensor, v: Tensor): void => this.#table.insert(k, v, true);
    const form = (k: Tensor, v: Tensor): [] => {
      portableInsert(this.tableResource, k, v);
      return [];
    };
    atRunTime('LookupTableInsertV2', put as never, [x, y], [], false, form as never);
  }
  /** Removes keys; those that are not there do not matter. */
  remove(keys: TensorLike): void;
  remove(options: {
    /** What is removed; keys that are not there do no harm. */
    readonly keys: TensorLike;
  }): void;
  remove(keys: unknown): void {
    const x = keysOf(keys as TensorLike, this.keyDtype, `${this.name}.remove`);
    const drop = (k: Tensor): void => this.#table.remove(k);
    const form = (k: Tensor): [] => {
      portableRemove(this.tableResource, k);
      return [];
    };
    atRunTime('LookupTableRemoveV2', drop as never, [x], [], false, form as never);
  }
  /** All keys and their values, in the order in which they came: `[keys, values]`. Not in traced functions, whose sizes it would change. */
  export(): [keys: Tensor, values: Tensor] {
    return onKnown('LookupTableExportV2', [], () => this.#table.contents());
  }
  /** Keys and values, as checkpoints of TensorFlow have them. */
  trackableView(): TrackableView {
    return tableView(this.#table, this.tableResource);
  }
}

interface DenseArguments extends MutableArguments {
  readonly emptyKey: TensorLike;
  readonly deletedKey: TensorLike;
  readonly initialNumBuckets?: number | null;
}

/** A `MutableHashTable` of which two keys stand for none and for removed ones, so that they cannot be used. TensorFlow's is faster than the other; here both are one. */
export class DenseHashTable extends MutableHashTable {
  constructor(
    ...args: Arguments<
      [
        keyDtype: DType,
        valueDtype: DType,
        defaultValue: TensorLike,
        emptyKey: TensorLike,
        deletedKey: TensorLike,
      ],
      ['keyDtype', 'valueDtype', 'defaultValue', 'emptyKey', 'deletedKey'],
      {
        /** Of the table in graphs. */
        readonly name?: string;
      }
    >
  ) {
    const given = argumentsOf<DenseArguments>(DenseHashTable, new.target, args);
    const { keyDtype, valueDtype, defaultValue, name, emptyKey, deletedKey } = given;
    super({ keyDtype, valueDtype, defaultValue, name: name ?? 'DenseHashTable' } as never);
    const keys = [emptyKey, deletedKey].map((key) => toTensor(key, keyDtype, true));
    if (keys.some(({ rank }) => rank !== 0))
      throw new InvalidArgumentError('emptyKey and deletedKey must be scalars', 'DenseHashTable');
    const [empty, deleted] = keys.flatMap(itemsOf);
    if (empty === deleted)
      throw new InvalidArgumentError('emptyKey and deletedKey must differ', 'DenseHashTable');
    this.reserve(keys as [Tensor, Tensor]);
  }
}

const names = { name: true } as const;
takesArguments<StaticArguments>(
  {
    positional: ['initializer', 'defaultValue', 'name'],
    required: 2,
    names: { initializer: true, defaultValue: true, ...names },
  },
  StaticHashTable,
);
takesArguments<VocabularyArguments>(
  {
    positional: ['initializer', 'numOovBuckets', 'lookupKeyDtype', 'name'],
    required: 2,
    names: { initializer: true, numOovBuckets: true, lookupKeyDtype: true, ...names },
  },
  StaticVocabularyTable,
);
takesArguments<MutableArguments>(
  {
    positional: ['keyDtype', 'valueDtype', 'defaultValue', 'name'],
    required: 3,
    names: { keyDtype: true, valueDtype: true, defaultValue: true, ...names },
  },
  MutableHashTable,
);
takesArguments<Omit<DenseArguments, 'initialNumBuckets'>>(
  {
    positional: ['keyDtype', 'valueDtype', 'defaultValue', 'emptyKey', 'deletedKey'],
    required: 5,
    names: {
      keyDtype: true,
      valueDtype: true,
      defaultValue: true,
      emptyKey: true,
      deletedKey: true,
      ...names,
    },
  },
  DenseHashTable,
);
for (const table of [StaticHashTable, StaticVocabularyTable])
  defineMethods(table.prototype, table.name, { size: {}, lookup: { positional: ['keys'] } });
defineMethods(MutableHashTable.prototype, 'MutableHashTable', {
  size: {},
  lookup: { positional: ['keys', 'dynamicDefaultValues'], required: 1 },
  insert: { positional: ['keys', 'values'] },
  remove: { positional: ['keys'] },
  export: {},
});
defineMethods(StaticHashTable.prototype, 'StaticHashTable', { export: {} });
