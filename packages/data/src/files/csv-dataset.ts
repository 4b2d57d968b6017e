import { type DType, InvalidArgumentError } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import { TensorSpec } from '@eagre/graph';
import { Dataset } from '../dataset.ts';
import { checkCount } from '../options.ts';
import { type CsvFormat, CsvRecords, checkCsvFormat } from './csv-records.ts';
import { checkFileOptions, FileBytes, type FileOptions } from './file-bytes.ts';
import { type ElementReader, type FileNames, FilesNode, namesNode } from './files-node.ts';

/** The dtypes that CSV columns have. */
export type CsvDType = 'float32' | 'float64' | 'int32' | 'int64' | 'string';

/** A column: its dtype alone where a value is required, or with the value that stands for missing ones. */
export type CsvColumn = CsvDType | { readonly dtype: CsvDType; readonly default: number | bigint | string };

/** Options of {@link CsvDataset}. */
export interface CsvOptions extends FileOptions, CsvFormat {
  /** Whether the first line of each file is to be left out. Default: false. */
  readonly header?: boolean | undefined;
  /** A text that stands for a missing value, besides none at all. Default: `''`. */
  readonly naValue?: string | undefined;
  /** Which columns to take, by number, ascending. Default: all. */
  readonly selectCols?: readonly number[] | undefined;
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
      typeof column === 'string' ? { dtype: column, default: undefined } : column;
    if (!DTYPES.includes(dtype))
      throw new InvalidArgumentError(
        `column ${i}: the dtype must be one of ${DTYPES.join(', ')}, got ${String(dtype)}`,
        what,
      );
    if (missing !== undefined) {
      if ((dtype === 'string') !== (typeof missing === 'string'))
        throw new InvalidArgumentError(`column ${i}: the default ${String(missing)} is no ${dtype}`, what);
      if (dtype !== 'string') constant(missing as number, dtype).dispose();
    }
    return { dtype, missing };
  });
}

/**
 * The records of CSV files as tuples of scalars, by TensorFlow's rules: a field that is empty, or `naValue`, takes the
 * column's default.
 *
 *     new tf.data.CsvDataset('iris.csv', ['float32', { dtype: 'string', default: '?' }], { header: true })
 *
 * Iterating throws InvalidArgumentError, with file and line, for a wrong number of fields, a missing value without a
 * default, and what is no number of the column's dtype; NotFoundError for a file that is not there.
 */
export class CsvDataset extends Dataset<Tensor[]> {
  constructor(filenames: FileNames, columns: readonly CsvColumn[], options: CsvOptions = {}) {
    const what = 'CsvDataset';
    const checked = checkColumns(columns, what);
    const spec = checked.map(({ dtype }) => new TensorSpec([], dtype));
    super(csvNode(filenames, checked, options, what, spec, (values) => values));
  }
}

/** The node behind CSV datasets; `element` arranges the tensors of a record. */
export function csvNode(
  filenames: FileNames,
  columns: readonly Column[],
  options: CsvOptions,
  what: string,
  spec: FilesNode['spec'],
  element: (
    values: Tensor[],
  ) => Tensor[] | Record<string, Tensor> | readonly [Record<string, Tensor>, Tensor],
): FilesNode {
  const { header = false, naValue = '' } = options;
  const files = checkFileOptions(options, what);
  const format = checkCsvFormat(options, what);
  const select = checkSelection(options.selectCols, columns.length, what);
  const open = (path: string, at: number): ElementReader => {
    const records = new CsvRecords(new FileBytes(path, files, at, what), at, format, what);
    if (header && at === 0) records.next();
    return {
      get position() {
        return records.position;
      },
      next() {
        const fields = records.next();
        if (fields === null) return null;
        const values = picked(fields, select, columns.length, records, what);
        return element(
          values.map((text, i) => valueOf(text, columns[i] as Column, naValue, i, records, what)),
        );
      },
      close: () => records.close(),
    };
  };
  return new FilesNode('Csv', namesNode(filenames, what), spec, open, files.numParallelReads);
}

function checkSelection(
  select: readonly number[] | undefined,
  columns: number,
  what: string,
): readonly number[] | null {
  if (select === undefined) return null;
  select.forEach((column, i) => {
    checkCount(column, 'selectCols', what, i === 0 ? 0 : (select[i - 1] as number) + 1);
  });
  if (select.length !== columns)
    throw new InvalidArgumentError(
      `selectCols has ${select.length} columns, but ${columns} are described`,
      what,
    );
  return select;
}

function picked(
  fields: readonly string[],
  select: readonly number[] | null,
  columns: number,
  records: CsvRecords,
  what: string,
): readonly string[] {
  const needed = select === null ? columns : (select.at(-1) as number) + 1;
  if (select === null ? fields.length !== needed : fields.length < needed)
    throw new InvalidArgumentError(
      `${records.where()}: expected ${select === null ? '' : 'at least '}${needed} fields, got ${fields.length}`,
      what,
    );
  return select === null ? fields : select.map((column) => fields[column] as string);
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
): Tensor {
  if (text === '' || text === naValue) {
    if (missing !== undefined) return constant(missing as number, dtype);
    throw new InvalidArgumentError(
      `${records.where()}: field ${column} is missing; give the column a default if that is allowed`,
      what,
    );
  }
  if (dtype === 'string') return constant(text);
  const value = parseNumber(text, dtype);
  if (value !== undefined) return constant(value, dtype);
  throw new InvalidArgumentError(
    `${records.where()}: field ${column} is no ${dtype}: ${JSON.stringify(text.slice(0, 40))}`,
    what,
  );
}
