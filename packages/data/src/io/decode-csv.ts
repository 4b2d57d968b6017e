// Lines of CSV as columns: `tf.io.decodeCsv`.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import { constant, type NamedFunction, type Tensor, type TensorLike } from '@eagre/core';
import {
  checkCount,
  checkList,
  checkText,
  defineFunction,
  kind,
  numberOf,
  onKnown,
  stringTensor,
  toStrings,
  toTensor,
} from '@eagre/core/internal';
import { checkCsvFormat } from '../readers/csv-records.ts';

/** Options of `decodeCsv`. */
export interface DecodeCsvOptions {
  /** A comma by default. */
  readonly fieldDelim?: string;
  /** Whether `"` encloses fields; true by default. */
  readonly useQuoteDelim?: boolean;
  /** What else is a missing field, beside an empty one. */
  readonly naValue?: string;
  /** Which fields are wanted, in ascending order; all by default. */
  readonly selectCols?: readonly number[] | null;
}

const DTYPES: readonly DType[] = ['float32', 'float64', 'int32', 'int64', 'string'];

/**
 * The fields of lines: a tensor of the lines' shape for each column.
 * @param recordDefaults for each column its dtype and what stands for a missing field: a tensor of one value, or of none where the field must be there.
 * @throws InvalidArgumentError for a field that is missing, or none of its dtype, and for a line with more or fewer fields
 */
export const decodeCsv: NamedFunction<
  [records: TensorLike, recordDefaults: readonly TensorLike[]],
  ['records', 'recordDefaults'],
  DecodeCsvOptions,
  readonly Tensor[]
> = /* @__PURE__ */ defineFunction(
  'io.decodeCsv',
  { records: kind.tensor, recordDefaults: kind.asIs },
  { fieldDelim: kind.asIs, useQuoteDelim: kind.asIs, naValue: kind.asIs, selectCols: kind.asIs },
  (records, recordDefaults, options) => {
    const op = 'DecodeCSV';
    const { naValue = '', selectCols = null } = options;
    checkText(naValue, 'naValue', op);
    const { delimiter, quotes } = checkCsvFormat(options, op);
    const defaults = checkList(recordDefaults, 'recordDefaults', op).map((value) => toTensor(value));
    for (const [i, { dtype, size, rank }] of defaults.entries())
      if (!DTYPES.includes(dtype) || size > 1 || rank > 1)
        throw new InvalidArgumentError(
          `recordDefaults[${i}] must have one value or none, of ${DTYPES.join(', ')}`,
          op,
        );
    const columns =
      selectCols === null ? defaults.map((_, i) => i) : checkColumns(selectCols, defaults.length, op);
    return onKnown(op, [toStrings(records, 'records', op), ...defaults], (lines, ...missing) => {
      const rows = lines.strings().map((line, i) => {
        const fields = fieldsOf(line, String.fromCharCode(delimiter), quotes, `line ${i}`, op);
        const fits =
          selectCols === null ? fields.length === columns.length : (columns.at(-1) ?? -1) < fields.length;
        if (!fits)
          throw new InvalidArgumentError(
            `line ${i} has ${fields.length} fields where ${columns.length} are expected`,
            op,
          );
        return fields;
      });
      return columns.map((column, i) =>
        columnOf(
          rows.map((fields) => fields[column]),
          missing[i] as Tensor,
          naValue,
          lines.shape,
          column,
          op,
        ),
      );
    });
  },
);

function checkColumns(columns: readonly number[], count: number, op: string): readonly number[] {
  checkList(columns, 'selectCols', op);
  for (const [i, column] of columns.entries()) {
    checkCount(column, 'selectCols', op);
    if (i > 0 && column <= columns[i - 1]) throw new InvalidArgumentError('selectCols must ascend', op);
  }
  if (columns.length === count) return columns;
  throw new InvalidArgumentError(`selectCols has ${columns.length} columns for ${count} recordDefaults`, op);
}

function columnOf(
  fields: readonly string[],
  missing: Tensor,
  naValue: string,
  shape: readonly number[],
  column: number,
  op: string,
): Tensor {
  const { dtype } = missing;
  const [otherwise] =
    dtype === 'string' ? missing.strings() : (Array.from(missing.data() as never) as unknown[]);
  const values = fields.map((field, i) => {
    if (field === '' || field === naValue) {
      if (missing.size > 0) return otherwise;
      throw new InvalidArgumentError(`field ${column} of line ${i} is missing, and has no default`, op);
    }
    const value = dtype === 'string' ? field : numberOf(field, dtype);
    if (value !== undefined) return value;
    throw new InvalidArgumentError(`field ${column} of line ${i} is no ${dtype}: '${field}'`, op);
  });
  return dtype === 'string'
    ? stringTensor(values as string[], shape)
    : constant(values as number[], dtype, { shape });
}

/** The fields of one line. */
function fieldsOf(line: string, delimiter: string, quotes: boolean, where: string, op: string): string[] {
  const fail = (why: string): InvalidArgumentError => new InvalidArgumentError(`${where}: ${why}`, op);
  const fields: string[] = [];
  // An empty line has no field at all, as in TensorFlow.
  if (line === '') return fields;
  for (let at = 0; ; at++) {
    let field = '';
    if (quotes && line[at] === '"') {
      for (at++; ; at++) {
        if (at >= line.length) throw fail('a quoted field without its end');
        if (line[at] === '"' && line[at + 1] !== '"') break;
        if (line[at] === '"') at++;
        field += line[at];
      }
      at++;
      if (at < line.length && line[at] !== delimiter)
        throw fail('a quote inside of a quoted field; write it twice');
    } else {
      const end = line.indexOf(delimiter, at);
      field = line.slice(at, end < 0 ? line.length : end);
      if (quotes && field.includes('"')) throw fail('a quote inside of a field that is not quoted');
      if (/[\n\r]/.test(field)) throw fail('a line end inside of a field that is not quoted');
      at += field.length;
    }
    fields.push(field);
    if (at >= line.length) return fields;
  }
}
