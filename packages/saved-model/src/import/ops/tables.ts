// Static tables.

import type { DType, Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { knownTensor } from '@eagre/core/internal';
import { itemsOf, LookupTable, type TableItem } from '../lookup-table.ts';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { TableHandle } from '../values.ts';

const newTable = (c: OpCall): TableHandle =>
  new TableHandle(new LookupTable(c.node.name ?? '', c.dtypeAttr('key_dtype'), c.dtypeAttr('value_dtype')));

/** The one table of a name. */
const named: Translate = (c) => {
  const { resources } = c.runtime.surroundings;
  const name = c.textAttr('shared_name', '') || (c.node.name ?? '');
  let table = resources.get(name);
  if (table === undefined) resources.set(name, (table = newTable(c)));
  return table;
};

const tensorOf = (items: readonly TableItem[], dtype: DType, shape: readonly number[]): Tensor =>
  tf.constant(items as never, dtype, { shape });

const find: Translate = (c) => {
  const table = c.table(0);
  const look = (keys: Tensor, missing: Tensor): Tensor =>
    tensorOf(table.find(itemsOf(keys), itemsOf(missing)[0] as TableItem), table.valueDType, keys.shape);
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

const LINE = -1;
const NUMBER = -2;

/** Keys and values of the lines of a text file: whole lines, their numbers, or columns. */
const fromFile: Translate = (c) => {
  const table = c.table(0);
  if (table.initialized) return;
  const path = known(c, 1).strings()[0] as string;
  const lines = c.runtime.surroundings
    .assetText(path, c)
    .split('\n')
    .map((line) => line.replace(/\r$/, ''));
  if (lines.at(-1) === '') lines.pop();
  const size = c.intAttr('vocab_size', -1);
  const used = lines.slice(c.intAttr('offset', 0), size >= 0 ? size : undefined);
  const delimiter = c.textAttr('delimiter', '\t');
  const column = (index: number, dtype: DType): TableItem[] =>
    used.map((line, i) => {
      // -2 is the whole line and -1 its number.
      const item = index === NUMBER ? line : index === LINE ? i : line.split(delimiter)[index];
      if (item === undefined) throw c.wrong(`line ${i} of ${path} has no column ${index}`);
      if (dtype === 'string') return String(item);
      const number = dtype === 'int64' ? BigInt(item) : Number(item);
      return number;
    });
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
      tensorOf(
        entries.map(([key]) => key),
        table.keyDType,
        [entries.length],
      ),
      tensorOf(
        entries.map(([, value]) => value),
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
