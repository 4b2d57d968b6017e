import { type DType, InvalidArgumentError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { type Arguments, argumentsOf, isPlain, shown, takesArguments } from '@eagre/core/internal';
import { TensorSpec } from '@eagre/graph';
import type { ElementSpec } from '../elements/element-spec.ts';
import type { Element } from '../elements/structure.ts';
import { Dataset } from '../pipeline/dataset.ts';
import type { Awaitable } from '../pipeline/iterator.ts';
import { later } from '../pipeline/later.ts';
import { checkCount } from '../pipeline/options.ts';
import { type CsvFormat, CsvRecords, checkCsvFormat } from './csv-records.ts';
import { checkFileOptions, FileBytes, type FileOptions } from './file-bytes.ts';
import { type ElementReader, type FileNames, FilesNode, namesNode } from './files-node.ts';
import { type CheckedElement, type RecordOptions, recordElement } from './schema.ts';

/** The dtypes that CSV columns have. */
export type CsvDType = 'float32' | 'float64' | 'int32' | 'int64' | 'string';

/** A column: its dtype alone where a value is required, or with the value that stands for missing ones. */
export type CsvColumn = CsvDType | { readonly dtype: CsvDType; readonly default: number | bigint | string };

/** Options of {@link CsvDataset}. */
export interface CsvOptions<Output = Tensor[]> extends FileOptions, CsvFormat, RecordOptions<Output> {
  /** Whether the first line of each file is to be left out. Default: false. */
  readonly header?: boolean | undefined;
  /** A text that stands for a missing value, besides none at all. Default: `''`. */
  readonly naValue?: string | undefined;
  /** Which columns to take, by number, ascending. Default: all. */
  readonly selectCols?: readonly number[] | undefined;
  /** Which columns to leave out, by number, ascending; in the place of `selectCols`. */
  readonly excludeCols?: readonly number[] | undefined;
}

const DTYPES: readonly DType[] = ['float32', 'float64', 'int32', 'int64', 'string'] satisfies CsvDType[];

/** A column as it is read. */
export interface Column {
  readonly dtype: CsvDType;
  /** Undefined where a value is required. */
  readonly missing: number | bigint | string | undefined;
}

/** @throws InvalidArgumentError for columns that are none. */
export function checkColumns(columns: readonly CsvColumn[], what: string): Column[] {
  if (!Array.isArray(columns) || columns.length === 0)
    throw new InvalidArgumentError('give the dtype, or dtype and default, of at least one column', what);
  return columns.map((column: CsvColumn, i) => {
    const { dtype, default: missing } =
      typeof column === 'object' && column !== null ? column : { dtype: column, default: undefined };
    if (!DTYPES.includes(dtype))
      throw new InvalidArgumentError(
        `column ${i}: the dtype must be one of ${DTYPES.join(', ')}, got ${shown(dtype)}`,
        what,
      );
    if (missing !== undefined) {
      if ((dtype === 'string') !== (typeof missing === 'string'))
        throw new InvalidArgumentError(
          `column ${i}: the default ${shown(missing)} is not of dtype ${dtype}`,
          what,
        );
      if (dtype !== 'string') constant(missing as number, dtype).dispose();
    }
    return { dtype, missing };
  });
}

/** A field as the schema gets it. */
export type CsvValue = number | bigint | string;

/**
 * The records of CSV files as tuples of scalars, by TensorFlow's rules: a field that is empty, or `naValue`, takes the
 * column's default.
 *
 *     new tf.data.CsvDataset('iris.csv', ['float32', { dtype: 'string', default: '?' }], { header: true })
 *
 * A `schema` gets the tuple as values of the host, a number, bigint (int64) or string for each column, and what it makes of that is the
 * element. With an asynchronous schema, `for await` is needed.
 *
 * Iterating throws InvalidArgumentError, with file and line, for a wrong number of fields, a missing value without a
 * default, what is no number of the column's dtype, and what the schema refuses; NotFoundError for a file that is not there.
 */
export class CsvDataset<Output = Tensor[]> extends Dataset<CheckedElement<Output>> {
  constructor(
    ...args: Arguments<
      [filenames: FileNames, recordDefaults: readonly CsvColumn[]],
      ['filenames', 'recordDefaults'],
      CsvOptions<Output>
    >
  ) {
    const {
      filenames,
      recordDefaults: columns,
      ...options
    } = argumentsOf<CsvArguments<Output>>(CsvDataset, new.target, args);
    const what = 'CsvDataset';
    super(csvNode(filenames, checkColumns(columns, what), options, what));
  }
}

interface CsvArguments<Output> extends CsvOptions<Output> {
  readonly filenames: FileNames;
  readonly recordDefaults: readonly CsvColumn[];
}
takesArguments<CsvArguments<unknown>>(
  {
    positional: ['filenames', 'recordDefaults'],
    names: {
      filenames: true,
      recordDefaults: true,
      compressionType: true,
      bufferSize: true,
      numParallelReads: true,
      fieldDelim: true,
      useQuoteDelim: true,
      schema: true,
      elementSpec: true,
      header: true,
      naValue: true,
      selectCols: true,
      excludeCols: true,
    },
  },
  CsvDataset,
);

/** Names of columns where rows are objects, and of the one that stands apart. */
export interface CsvNames {
  readonly names: readonly string[];
  readonly label: string | undefined;
}

/** The node behind CSV datasets: rows are tuples, or objects with `naming`. */
export function csvNode<Output>(
  filenames: FileNames,
  columns: readonly Column[],
  options: CsvOptions<Output>,
  what: string,
  naming: CsvNames | null = null,
): FilesNode {
  const { header = false, naValue = '', schema, elementSpec } = options;
  const files = checkFileOptions(options, what);
  const format = checkCsvFormat(options, what);
  const select = checkSelection(options, columns.length, what);
  const row = <V>(values: readonly V[]): readonly V[] | { readonly [name: string]: V } =>
    naming === null ? values : Object.fromEntries(naming.names.map((name, i) => [name, values[i]]));
  const isPlainRow = schema === undefined && elementSpec === undefined;
  const make = recordElement(options, what);
  const open = (path: string, at: number): ElementReader => {
    const records = new CsvRecords(new FileBytes(path, files, at, what), at, format, what);
    if (header && at === 0) records.next();
    let position = records.position;
    return {
      get position() {
        return position;
      },
      next(): Awaitable<Element | null> {
        const arrived = (element: Element): Element => {
          // Not before the element is there: a restored reader checks the record again.
          position = records.position;
          return labelled(element, naming, () => records.where(), what);
        };
        const failed = (error: unknown): never => {
          position = records.position;
          throw error;
        };
        try {
          const fields = records.next();
          if (fields === null) return null;
          const values = select(fields, records).map((text, i) =>
            valueOf(text, columns[i], naValue, i, records, what),
          );
          if (isPlainRow) return arrived(row(values.map((v, i) => constant(v, columns[i].dtype))));
          const element = make(row(values), () => records.where());
          return element instanceof Promise ? later(element).then(arrived, failed) : arrived(element);
        } catch (error) {
          return failed(error);
        }
      },
      close: () => records.close(),
    };
  };
  const known =
    elementSpec ?? (isPlainRow ? row(columns.map(({ dtype }) => new TensorSpec([], dtype))) : null);
  const spec = known === null ? null : labelled(known, naming, () => 'elementSpec', what);
  const names = namesNode(filenames, what);
  // What a schema returns may be held elsewhere.
  return new FilesNode('Csv', names, spec, open, files.numParallelReads, undefined, schema === undefined);
}

/** [features, label] of a row, or of its spec, where there is a label. */
function labelled<E extends Element | ElementSpec>(
  row: E,
  naming: CsvNames | null,
  where: () => string,
  what: string,
): E {
  const { label } = naming ?? {};
  if (label === undefined) return row;
  if (!isPlain(row) || !Object.hasOwn(row, label))
    throw new InvalidArgumentError(`${where()}: the value that the schema returned has no '${label}'`, what);
  const { [label]: apart, ...features } = row;
  return [features, apart] as unknown as E;
}

/** Takes the fields of a record that are wanted. @throws InvalidArgumentError when there are not as many as there must be. */
type Selection = (fields: readonly string[], records: CsvRecords) => readonly string[];

function checkSelection<Output>(
  { selectCols, excludeCols }: CsvOptions<Output>,
  columns: number,
  what: string,
): Selection {
  if (selectCols !== undefined && excludeCols !== undefined)
    throw new InvalidArgumentError('give either selectCols or excludeCols', what);
  ascending(selectCols, 'selectCols', what);
  ascending(excludeCols, 'excludeCols', what);
  if (selectCols !== undefined && selectCols.length !== columns)
    throw new InvalidArgumentError(
      `selectCols has ${selectCols.length} columns, but dtypes are given for ${columns}`,
      what,
    );
  const wrong = (records: CsvRecords, needed: string, got: number): InvalidArgumentError =>
    new InvalidArgumentError(`${records.where()}: expected ${needed} fields, got ${got}`, what);
  if (selectCols !== undefined) {
    const needed = (selectCols.at(-1) as number) + 1;
    return (fields, records) => {
      if (fields.length < needed) throw wrong(records, `at least ${needed}`, fields.length);
      return selectCols.map((column) => fields[column]);
    };
  }
  const excluded = new Set(excludeCols);
  const needed = columns + excluded.size;
  if (excludeCols !== undefined && (excludeCols.at(-1) ?? 0) >= needed)
    throw new InvalidArgumentError(
      `excludeCols contains a column that does not exist; there are ${needed} columns`,
      what,
    );
  return (fields, records) => {
    if (fields.length !== needed) throw wrong(records, String(needed), fields.length);
    return excluded.size === 0 ? fields : fields.filter((_, column) => !excluded.has(column));
  };
}

function ascending(columns: readonly number[] | undefined, name: string, what: string): void {
  columns?.forEach((column, i) => {
    checkCount(column, name, what, i === 0 ? 0 : columns[i - 1] + 1);
  });
}

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const SPECIAL: Readonly<Record<string, number>> = { nan: Number.NaN, inf: Infinity, infinity: Infinity };

/** A number that a field spells, or undefined. */
export function parseNumber(text: string, dtype: Exclude<CsvDType, 'string'>): number | bigint | undefined {
  const trimmed = text.trim();
  if (dtype === 'int32' || dtype === 'int64') {
    if (!INTEGER.test(trimmed) || trimmed.length > 40) return undefined;
    const value = BigInt(trimmed.replace('+', ''));
    if (value !== BigInt.asIntN(dtype === 'int32' ? 32 : 64, value)) return undefined;
    return dtype === 'int32' ? Number(value) : value;
  }
  if (NUMBER.test(trimmed)) return Number(trimmed);
  const special = SPECIAL[trimmed.replace(/^[+-]/, '').toLowerCase()];
  return special === undefined ? undefined : trimmed.startsWith('-') ? -special : special;
}

function valueOf(
  text: string,
  { dtype, missing }: Column,
  naValue: string,
  column: number,
  records: CsvRecords,
  what: string,
): CsvValue {
  if (text === '' || text === naValue) {
    if (missing !== undefined) return missing;
    throw new InvalidArgumentError(
      `${records.where()}: field ${column} is missing; give the column a default if that is allowed`,
      what,
    );
  }
  if (dtype === 'string') return text;
  const value = parseNumber(text, dtype);
  if (value !== undefined) return value;
  throw new InvalidArgumentError(
    `${records.where()}: field ${column} is not of dtype ${dtype}: ${JSON.stringify(text.slice(0, 40))}`,
    what,
  );
}
