/** `tf.lookup.experimental`: tables that change. */
export { DenseHashTable, MutableHashTable } from './lookup/tables.ts';
