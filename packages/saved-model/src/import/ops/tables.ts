// Static tables.

import type { DType, Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import {
  columnOfLines,
  itemsOf,
  knownTensor,
  LookupTable,
  linesOf,
  numberOf,
  type TableItem,
  tensorOfItems,
} from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { TableHandle } from '../values.ts';

const newTable = (c: OpCall): TableHandle => {
  const shape = c.op.includes('Mutable') ? (c.shapeAttr('value_shape') ?? []) : [];
  if (shape.includes(null)) throw c.wrong('the shape of the values is not known');
  return new TableHandle(
    new LookupTable(
      c.node.name ?? '',
      c.dtypeAttr('key_dtype'),
      c.dtypeAttr('value_dtype'),
      shape as readonly number[],
    ),
  );
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
  const look = (keys: Tensor, missing: Tensor): Tensor =>
    tensorOfItems(table.find(itemsOf(keys), itemsOf(missing)), table.valueDType, keys.shape);
  const [keys, missing] = [c.x(1), c.x(2)];
  const [known, other] = [knownTensor(keys), knownTensor(missing)];
  if (known !== null && other !== null) return look(known, other);
  if (table.valueDType === 'string')
    throw c.lacks('strings that differ from run to run cannot be looked up here');
  return tf.hostFunction(look as never, [keys, missing], { dtype: table.valueDType, shape: keys.shape });
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
    table.insert(itemsOf(known(c, 1)), itemsOf(known(c, 2)), replaces);
  };

/** Keys and values of the lines of a text file: whole lines, their numbers, or columns. */
const fromFile: Translate = (c) => {
  const table = c.table(0);
  if (table.initialized) return;
  const path = known(c, 1).strings()[0] as string;
  const size = c.intAttr('vocab_size', -1);
  const from = c.intAttr('offset', 0);
  const lines = linesOf(c.runtime.surroundings.assetText(path, c)).slice(from, size >= 0 ? size : undefined);
  const column = (index: number, dtype: DType): TableItem[] =>
    columnOfLines(
      lines,
      index,
      c.textAttr('delimiter', '\t'),
      0,
      (text, line) => {
        const item = dtype === 'string' ? text : numberOf(text, dtype);
        if (item === undefined) throw c.wrong(`'${text}' in line ${line} of ${path} is no ${dtype}`);
        return item;
      },
      (why) => c.wrong(`${path}: ${why}`),
    );
  table.insert(
    column(c.intAttr('key_index'), table.keyDType),
    column(c.intAttr('value_index'), table.valueDType),
    false,
  );
};

export const tables: OpTable = {
  HashTable: named,
  HashTableV2: named,
  MutableHashTable: named,
  MutableHashTableV2: named,
  AnonymousHashTable: (c) => newTable(c),
  AnonymousMutableHashTable: (c) => newTable(c),
  LookupTableFind: find,
  LookupTableFindV2: find,
  LookupTableSize: (c) => tf.constant(BigInt(c.table().size), 'int64'),
  LookupTableSizeV2: (c) => tf.constant(BigInt(c.table().size), 'int64'),
  LookupTableInsert: insert(true),
  LookupTableInsertV2: insert(true),
  LookupTableImport: (c) => {
    c.table().clear();
    c.table().insert(itemsOf(known(c, 1)), itemsOf(known(c, 2)), true);
  },
  LookupTableImportV2: (c) => {
    c.table().clear();
    c.table().insert(itemsOf(known(c, 1)), itemsOf(known(c, 2)), true);
  },
  LookupTableExportV2: several(['keys', 'values'], (c) => {
    const table = c.table();
    const entries = table.entries();
    return [
      tensorOfItems(
        entries.map(([key]) => key),
        table.keyDType,
        [entries.length],
      ),
      tensorOfItems(
        entries.flatMap(([, value]) => value),
        table.valueDType,
        [entries.length],
      ),
    ];
  }),
  InitializeTable: insert(false),
  InitializeTableV2: insert(false),
  InitializeTableFromTextFile: fromFile,
  InitializeTableFromTextFileV2: fromFile,
};
