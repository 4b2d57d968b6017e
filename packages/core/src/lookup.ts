/** `tf.lookup`: tables from keys to values. */
export {
  KeyValueTensorInitializer,
  type TableInitializer,
  TextFileIndex,
  TextFileInitializer,
} from './lookup/initializers.ts';
export { StaticHashTable, StaticVocabularyTable } from './lookup/tables.ts';
export * as experimental from './lookup-experimental.ts';
