// Static tables.

import type { DType, Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import {
  columnOfLines,
  context,
  dims,
  itemsOf,
  knownTensor,
  LookupTable,
  linesOf,
  numberOf,
  type TableItem,
  toShape,
} from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { TableHandle } from '../values.ts';

const newTable = (c: OpCall): TableHandle => {
  const isMutable = c.op.includes('Mutable');
  const shape = isMutable ? (c.shapeAttr('value_shape') ?? []) : [];
  if (shape.includes(null)) throw c.wrong('the shape of the values is not known');
  const [key, value] = [c.dtypeAttr('key_dtype'), c.dtypeAttr('value_dtype')];
  const table = new LookupTable(c.node.name ?? '', key, value, shape as readonly number[]);
  // One that is filled as the program goes on is never without contents.
  if (isMutable) table.insert([], [], true);
  if (!c.op.includes('Dense')) return new TableHandle(table, isMutable);
  const reserved = [known(c, 0), known(c, 1)] as const;
  table.reserved = reserved.flatMap(itemsOf);
  return new TableHandle(table, isMutable, reserved);
};

/** The one table of a name. */
const named: Translate = (c) => {
  const { resources } = c.runtime.surroundings;
  const name = c.textAttr('shared_name', '') || (c.node.name ?? '');
  let table = resources.get(name);
  if (table === undefined) resources.set(name, (table = newTable(c)));
  return table;
};

const find: Translate = (c) => {
  const table = c.table(0);
  const look = (keys: Tensor, missing: Tensor): Tensor => table.find(keys, missing);
  const [keys, missing] = [c.x(1), c.x(2)];
  const [known, other] = [knownTensor(keys), knownTensor(missing)];
  if (known !== null && other !== null) return look(known, other);
  if (table.valueDType === 'string')
    throw c.lacks('strings that differ from run to run cannot be looked up here');
  return tf.hostFunction(look as never, [keys, missing], {
    dtype: table.valueDType,
    shape: toShape([...dims(keys), ...table.valueShape]),
  });
};

/** The tensor with values. */
const known = (c: OpCall, i: number): Tensor => {
  const value = knownTensor(c.x(i));
  if (value === null) throw c.lacks('tables are filled when a model is loaded, not in a traced function');
  return value;
};

const insert =
  (replaces: boolean): Translate =>
  (c) => {
    const table = c.table(0);
    // A table that others of the same name have filled is left alone.
    if (!replaces && table.initialized) return;
    table.insert(known(c, 1), known(c, 2), replaces);
  };

/** Keys and values of the lines of a text file: whole lines, their numbers, or columns. */
const fromFile: Translate = (c) => {
  const handle = c.tableHandle(0);
  const { table } = handle;
  if (table.initialized) return;
  const path = known(c, 1).strings()[0] as string;
  const size = c.intAttr('vocab_size', -1);
  const firstNumber = c.intAttr('offset', 0);
  const delimiter = c.textAttr('delimiter', '\t');
  const [keyIndex, valueIndex] = [c.intAttr('key_index'), c.intAttr('value_index')];
  const lines = linesOf(c.runtime.surroundings.assetText(path, c)).slice(0, size >= 0 ? size : undefined);
  const column = (index: number, dtype: DType): TableItem[] =>
    columnOfLines(
      lines,
      index,
      delimiter,
      firstNumber,
      (text, line) => {
        const item = dtype === 'string' ? text : numberOf(text, dtype);
        if (item === undefined) throw c.wrong(`'${text}' in line ${line} of ${path} is no ${dtype}`);
        return item;
      },
      (why) => c.wrong(`${path}: ${why}`),
    );
  table.insert(column(keyIndex, table.keyDType), column(valueIndex, table.valueDType), false);
  const vocabSize = size < 0 ? null : size;
  handle.file = { path, keyIndex, valueIndex, vocabSize, delimiter, offset: firstNumber };
};

const replace: Translate = (c) => {
  c.table(0).replace(known(c, 1), known(c, 2));
};

/** How many keys there are: of a table that changes, at each run. */
const size: Translate = (c) => {
  const { table, isMutable } = c.tableHandle();
  const now = (): Tensor => tf.constant(BigInt(table.size), 'int64');
  return isMutable ? tf.hostFunction(now as never, [], { dtype: 'int64', shape: [] }) : now();
};

/** All keys, and the value of each. */
const contents = several(['keys', 'values'], (c) => {
  const { table, isMutable } = c.tableHandle();
  if (isMutable && context.tracer !== null)
    throw c.lacks('a table that changes has no contents while a function is traced');
  return table.contents();
});

export const tables: OpTable = {
  MutableDenseHashTable: named,
  MutableDenseHashTableV2: named,
  MutableHashTableOfTensors: named,
  MutableHashTableOfTensorsV2: named,
  AnonymousMutableDenseHashTable: (c) => newTable(c),
  AnonymousMutableHashTableOfTensors: (c) => newTable(c),
  HashTable: named,
  HashTableV2: named,
  MutableHashTable: named,
  MutableHashTableV2: named,
  AnonymousHashTable: (c) => newTable(c),
  AnonymousMutableHashTable: (c) => newTable(c),
  LookupTableFind: find,
  LookupTableFindV2: find,
  LookupTableSize: size,
  LookupTableSizeV2: size,
  LookupTableInsert: insert(true),
  LookupTableInsertV2: insert(true),
  LookupTableImport: replace,
  LookupTableImportV2: replace,
  LookupTableRemoveV2: (c) => {
    c.table(0).remove(known(c, 1));
  },
  LookupTableExport: contents,
  LookupTableExportV2: contents,
  InitializeTable: insert(false),
  InitializeTableV2: insert(false),
  InitializeTableFromTextFile: fromFile,
  InitializeTableFromTextFileV2: fromFile,
};
