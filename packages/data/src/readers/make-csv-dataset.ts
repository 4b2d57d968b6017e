import { InvalidArgumentError, NotFoundError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { type Arguments, defineFunction, type NamedFunction, type OptionNames } from '@eagre/core/internal';
import { Dataset } from '../pipeline/dataset.ts';
import { checkCount } from '../pipeline/options.ts';
import {
  type Column,
  type CsvColumn,
  type CsvDType,
  type CsvOptions,
  checkColumns,
  csvNode,
  parseNumber,
} from './csv-dataset.ts';
import { CsvRecords, checkCsvFormat } from './csv-records.ts';
import { batchesOfRecords, type FileBatchOptions, filesOf } from './file-batches.ts';
import { checkFileOptions, FileBytes } from './file-bytes.ts';
import type { CheckedElement } from './schema.ts';

/** Options of {@link makeCsvDataset}; names and defaults are TensorFlow's. */
export interface MakeCsvOptions<Output = CsvFeatures>
  extends Omit<CsvOptions<Output>, 'selectCols' | 'excludeCols'>,
    FileBatchOptions {
  /** The columns' names. Default: the first line of the first file. */
  readonly columnNames?: readonly string[] | undefined;
  /** The columns' dtypes and defaults, of all columns or of those selected. Default: found in the first rows. */
  readonly columnDefaults?: readonly CsvColumn[] | undefined;
  /** The column that is the label: elements are then [features, label]. */
  readonly labelName?: string | undefined;
  /** The columns to take, by name. Default: all. */
  readonly selectColumns?: readonly string[] | undefined;
  /** Whether files begin with a line of names. Default: true. */
  readonly header?: boolean | undefined;
  /** Whether rows that cannot be read, or that the schema refuses, are left out. Default: false. */
  readonly ignoreErrors?: boolean | undefined;
  /** How many rows tell the dtypes. Default: 100. */
  readonly numRowsForInference?: number | undefined;
}

/** Columns by name. */
export type CsvFeatures = Record<string, Tensor>;
/** The column that is the label. */
type LabelOf<Row, Label> = Label extends keyof Row ? Row[Label] : never;

const makeCsvNames: OptionNames<MakeCsvOptions> = {
  columnNames: true,
  columnDefaults: true,
  labelName: true,
  selectColumns: true,
  header: true,
  ignoreErrors: true,
  numRowsForInference: true,
  numEpochs: true,
  shuffle: true,
  shuffleBufferSize: true,
  shuffleSeed: true,
  prefetchBufferSize: true,
  compressionType: true,
  bufferSize: true,
  numParallelReads: true,
  fieldDelim: true,
  useQuoteDelim: true,
  naValue: true,
  schema: true,
  elementSpec: true,
};

/**
 * CSV files as batches of columns by name, { name: [batch] }, or with `labelName` as [features, label]: as TensorFlow's
 * `make_csv_dataset`. Dtypes that are not given are the narrowest of int32, int64, float32, float64, string that
 * hold the first rows, with 0 or an empty text for missing values.
 *
 * A `schema` gets each row before it is batched, { name: number, bigint or string }, and returns the row's element, in which the label
 * has its name still.
 *
 * @param filePattern a pattern, or several, as for `Dataset.listFiles`.
 * @throws NotFoundError when no file matches.
 * @throws InvalidArgumentError for wrong options and names; iterating throws what CsvDataset throws.
 */
export const makeCsvDataset: {
  <Label extends string, Output = CsvFeatures>(
    filePattern: string | readonly string[],
    batchSize: number,
    options: MakeCsvOptions<Output> & { readonly labelName: Label },
  ): Dataset<[features: Omit<CheckedElement<Output>, Label>, label: LabelOf<CheckedElement<Output>, Label>]>;
  <Label extends string, Output = CsvFeatures>(
    options: CsvFiles & MakeCsvOptions<Output> & { readonly labelName: Label },
  ): Dataset<[features: Omit<CheckedElement<Output>, Label>, label: LabelOf<CheckedElement<Output>, Label>]>;
  <Output = CsvFeatures>(
    ...args: Arguments<
      [filePattern: string | readonly string[], batchSize: number],
      ['filePattern', 'batchSize'],
      MakeCsvOptions<Output>
    >
  ): Dataset<CheckedElement<Output>>;
} = defineFunction<
  NamedFunction<
    [filePattern: string | readonly string[], batchSize: number],
    ['filePattern', 'batchSize'],
    MakeCsvOptions<unknown>,
    Dataset<unknown>
  >
>('tf.data.makeCsvDataset', { filePattern: true, batchSize: true }, makeCsvNames, makeCsv) as never;

interface CsvFiles {
  /** Names of files, or patterns with `*`. */
  readonly filePattern: string | readonly string[];
  /** How many rows become one batch. */
  readonly batchSize: number;
}

function makeCsv(
  filePattern: string | readonly string[],
  batchSize: number,
  options: MakeCsvOptions<unknown>,
): Dataset<unknown> {
  const what = 'makeCsvDataset';
  checkCount(batchSize, 'batchSize', what);
  const { header = true, labelName } = options;
  const first = [...Dataset.listFiles(filePattern, { shuffle: false })][0]?.item<string>();
  if (first === undefined) throw new NotFoundError(`no file matches ${String(filePattern)}`, what);
  const names = options.columnNames ?? firstRow(first, header, options, what);
  if (new Set(names).size !== names.length)
    throw new InvalidArgumentError(`two columns have the same name: ${names.join(', ')}`, what);
  const selectCols = selected(names, options.selectColumns, what);
  const columns = columnsOf(first, names.length, selectCols, { ...options, header }, what);
  const taken = selectCols.map((column) => names[column]);
  if (labelName !== undefined && !taken.includes(labelName))
    throw new InvalidArgumentError(`there is no column '${labelName}' among ${taken.join(', ')}`, what);

  const csv = { ...options, header, selectCols: options.selectColumns && selectCols };
  let records = new Dataset<unknown>(
    csvNode(filesOf(filePattern, options), columns, csv, what, { names: taken, label: labelName }),
  );
  if (options.ignoreErrors === true) records = records.ignoreErrors();
  return batchesOfRecords(records, options, (rows, endless) =>
    rows.batch(batchSize, { dropRemainder: endless }),
  );
}

function* rowsOf(
  path: string,
  options: CsvOptions<unknown>,
  what: string,
): Generator<string[], void, undefined> {
  const bytes = new FileBytes(path, checkFileOptions(options, what), 0, what);
  try {
    const records = new CsvRecords(bytes, 0, checkCsvFormat(options, what), what);
    for (let row = records.next(); row !== null; row = records.next()) yield row;
  } finally {
    bytes.close();
  }
}

function firstRow(
  path: string,
  header: boolean,
  options: CsvOptions<unknown>,
  what: string,
): readonly string[] {
  if (!header) throw new InvalidArgumentError('files without a header need columnNames', what);
  for (const row of rowsOf(path, options, what)) return row;
  throw new InvalidArgumentError(`${path} is empty, so it has no column names`, what);
}

function selected(names: readonly string[], select: readonly string[] | undefined, what: string): number[] {
  if (select === undefined) return names.map((_, i) => i);
  const columns = select.map((name) => {
    const column = names.indexOf(name);
    if (column < 0)
      throw new InvalidArgumentError(`there is no column '${name}' among ${names.join(', ')}`, what);
    return column;
  });
  return [...new Set(columns)].sort((a, b) => a - b);
}

function columnsOf(
  path: string,
  all: number,
  select: readonly number[],
  options: MakeCsvOptions<unknown>,
  what: string,
): Column[] {
  const { columnDefaults } = options;
  if (columnDefaults !== undefined) {
    const given = checkColumns(columnDefaults, what);
    if (given.length === select.length) return given;
    if (given.length === all) return select.map((column) => given[column]);
    throw new InvalidArgumentError(
      `columnDefaults has ${given.length} items for ${select.length} columns`,
      what,
    );
  }
  const wanted = checkCount(options.numRowsForInference ?? 100, 'numRowsForInference', what);
  const dtypes = new Array<CsvDType | undefined>(select.length).fill(undefined);
  let rows = options.header ? -1 : 0;
  for (const row of rowsOf(path, options, what)) {
    if (rows++ < 0) continue;
    if (rows > wanted) break;
    select.forEach((column, i) => {
      const text = row[column] ?? '';
      if (text !== '' && text !== (options.naValue ?? '')) dtypes[i] = widened(dtypes[i], text);
    });
  }
  return dtypes.map((found) => {
    const dtype = found ?? 'string';
    return { dtype, missing: dtype === 'string' ? '' : 0 };
  });
}

const ORDER: readonly CsvDType[] = ['int32', 'int64', 'float32', 'float64', 'string'];
const FLOAT32_MAX = 3.4028234663852886e38;

/** The narrowest dtype from `least` on that holds what a field spells. */
function widened(least: CsvDType = 'int32', text: string): CsvDType {
  for (const dtype of ORDER.slice(ORDER.indexOf(least))) {
    if (dtype === 'string') break;
    const value = parseNumber(text, dtype);
    if (value === undefined || !Number.isFinite(Number(value))) continue;
    if (dtype !== 'float32' || Math.abs(Number(value)) <= FLOAT32_MAX) return dtype;
  }
  return 'string';
}
