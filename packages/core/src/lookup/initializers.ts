// What static tables are filled with.
import { type DType, InvalidArgumentError } from '@eagre/backend';
import type { Arguments } from '../arguments/arguments.ts';
import { checkCount, checkOneOf, checkPath, checkText } from '../arguments/checks.ts';
import { argumentsOf, takesArguments } from '../arguments/class-arguments.ts';
import { numberOf } from '../ops/strings/numbers.ts';
import { sameShape, showShape } from '../shapes/shape.ts';
import { type TensorLike, toTensor } from '../tensor/convert.ts';
import { checkDTypeName } from '../tensor/dtypes.ts';
import type { Tensor } from '../tensor/tensor.ts';
import {
  columnOfLines,
  LINE_NUMBER,
  linesOf,
  type TableItem,
  type TableItems,
  WHOLE_LINE,
} from './table-items.ts';
import type { TableFile } from './table-resource.ts';
import { textFile } from './text-file.ts';

/** Dtypes of keys. */
export type KeyDType = 'string' | 'int32' | 'int64';
const KEYS: readonly DType[] = ['string', 'int32', 'int64'];

/** @throws InvalidArgumentError for a dtype that keys do not have */
export function checkKeyDType(dtype: unknown, what: string, op: string): asserts dtype is KeyDType {
  checkOneOf(dtype, KEYS, what, op);
}

/** Keys and values for a table. */
export interface TableInitializer {
  /** The dtype of the keys. */
  readonly keyDtype: DType;
  /** The dtype of the values. */
  readonly valueDtype: DType;
  /** @internal */
  entries(): readonly [keys: TableItems, values: TableItems];
  /** @internal The file that they are in. */
  readonly file?: TableFile;
}

const areNumbers = (value: unknown): boolean =>
  typeof value === 'number' || (Array.isArray(value) && value.length > 0 && areNumbers(value[0]));

export interface KeyValueArguments {
  /** The keys, a vector of numbers or texts. */
  readonly keys: TensorLike;
  /** One for each key. */
  readonly values: TensorLike;
  /** The dtype of the keys; theirs by default. */
  readonly keyDtype?: DType | null;
  /** The dtype of the values; theirs by default. */
  readonly valueDtype?: DType | null;
}

/** Keys and values in two tensors. */
export class KeyValueTensorInitializer implements TableInitializer {
  readonly keyDtype: DType;
  readonly valueDtype: DType;
  readonly #keys: Tensor;
  readonly #values: Tensor;

  constructor(
    ...args: Arguments<
      [keys: TensorLike, values: TensorLike, keyDtype?: DType | null, valueDtype?: DType | null],
      ['keys', 'values', 'keyDtype', 'valueDtype']
    >
  ) {
    const op = 'KeyValueTensorInitializer';
    const { keys, values, keyDtype, valueDtype } = argumentsOf<KeyValueArguments>(
      KeyValueTensorInitializer,
      new.target,
      args,
    );
    // Bare numbers are int32 here, as in TensorFlow.
    const tensorOf = (value: TensorLike, dtype: DType | null | undefined): Tensor =>
      dtype == null ? toTensor(value, areNumbers(value) ? 'int32' : undefined) : toTensor(value, dtype, true);
    this.#keys = tensorOf(keys, keyDtype);
    this.#values = tensorOf(values, valueDtype);
    checkKeyDType(this.#keys.dtype, 'the dtype of keys', op);
    if (!sameShape(this.#keys.shape, this.#values.shape))
      throw new InvalidArgumentError(
        `keys have shape ${showShape(this.#keys.shape)}, and values ${showShape(this.#values.shape)}`,
        op,
      );
    this.keyDtype = this.#keys.dtype;
    this.valueDtype = this.#values.dtype;
  }
  /** @internal */
  entries(): readonly [Tensor, Tensor] {
    return [this.#keys, this.#values];
  }
}

/** What of a line is a key or a value, beside a column. */
export const TextFileIndex: { readonly WHOLE_LINE: -2; readonly LINE_NUMBER: -1 } =
  /* @__PURE__ */ Object.freeze({
    WHOLE_LINE,
    LINE_NUMBER,
  });

export interface TextFileArguments {
  /** The path of the file. */
  readonly filename: string;
  readonly keyDtype: DType;
  /** A column from 0 on, or one of `TextFileIndex`. */
  readonly keyIndex: number;
  readonly valueDtype: DType;
  readonly valueIndex: number;
  /** How many lines are read; all by default. */
  readonly vocabSize?: number | null;
  /** What stands between columns; a tab by default. */
  readonly delimiter?: string;
  /** What is added to line numbers that are values. */
  readonly valueIndexOffset?: number;
}

/**
 * The lines of a text file: columns, whole lines, or their numbers.
 *
 *     new tf.lookup.TextFileInitializer('words.txt', 'string', tf.lookup.TextFileIndex.WHOLE_LINE, 'int64', tf.lookup.TextFileIndex.LINE_NUMBER)
 */
export class TextFileInitializer implements TableInitializer {
  readonly keyDtype: DType;
  readonly valueDtype: DType;
  readonly #given: TextFileArguments;

  constructor(
    ...args: Arguments<
      [
        filename: string,
        keyDtype: DType,
        keyIndex: number,
        valueDtype: DType,
        valueIndex: number,
        vocabSize?: number | null,
        delimiter?: string,
      ],
      ['filename', 'keyDtype', 'keyIndex', 'valueDtype', 'valueIndex', 'vocabSize', 'delimiter'],
      {
        /** What is added to the numbers of lines that are values; 0 by default. */
        readonly valueIndexOffset?: number;
      }
    >
  ) {
    const op = 'TextFileInitializer';
    const given = argumentsOf<TextFileArguments>(TextFileInitializer, new.target, args);
    const {
      filename,
      keyDtype,
      keyIndex,
      valueDtype,
      valueIndex,
      vocabSize = null,
      delimiter = '\t',
    } = given;
    checkPath(filename, 'filename', op);
    checkKeyDType(keyDtype, 'keyDtype', op);
    checkDTypeName(valueDtype);
    checkText(delimiter, 'delimiter', op);
    if (delimiter.length !== 1) throw new InvalidArgumentError('delimiter must be one character', op);
    checkCount(keyIndex, 'keyIndex', op, WHOLE_LINE);
    checkCount(valueIndex, 'valueIndex', op, WHOLE_LINE);
    if (vocabSize !== null) checkCount(vocabSize, 'vocabSize', op, 1);
    checkCount(given.valueIndexOffset ?? 0, 'valueIndexOffset', op, Number.MIN_SAFE_INTEGER);
    for (const [what, index, dtype] of [
      ['key', keyIndex, keyDtype],
      ['value', valueIndex, valueDtype],
    ] as const) {
      if (index === LINE_NUMBER && dtype !== 'int64')
        throw new InvalidArgumentError(`${what}Dtype must be int64 for line numbers, got ${dtype}`, op);
      if (index === WHOLE_LINE && dtype !== 'string' && !(what === 'key' && dtype === 'int64'))
        throw new InvalidArgumentError(`${what}Dtype must be string for whole lines, got ${dtype}`, op);
    }
    this.keyDtype = keyDtype;
    this.valueDtype = valueDtype;
    this.#given = given;
  }
  /** @internal */
  get file(): TableFile {
    const { filename: path, keyIndex, valueIndex, vocabSize, delimiter, valueIndexOffset } = this.#given;
    return {
      path,
      keyIndex,
      valueIndex,
      vocabSize: vocabSize ?? null,
      delimiter: delimiter ?? '\t',
      offset: valueIndexOffset ?? 0,
    };
  }
  /** @internal @throws NotFoundError, and InvalidArgumentError for lines that are not as they should be */
  entries(): readonly [readonly TableItem[], readonly TableItem[]] {
    const op = 'TextFileInitializer';
    const { filename, keyIndex, valueIndex, vocabSize, delimiter = '\t', valueIndexOffset = 0 } = this.#given;
    const lines = linesOf(textFile(filename, op));
    const fail = (why: string): InvalidArgumentError => new InvalidArgumentError(`${filename}: ${why}`, op);
    if (vocabSize != null && lines.length < vocabSize)
      throw fail(`vocabSize is ${vocabSize}, and there are ${lines.length} lines`);
    const used = lines.slice(0, vocabSize ?? undefined);
    const reader =
      (dtype: DType) =>
      (field: string, line: number): TableItem => {
        if (dtype === 'string') return field;
        const number = numberOf(field, dtype);
        if (number === undefined) throw fail(`'${field}' in line ${line} is no ${dtype}`);
        return number;
      };
    return [
      columnOfLines(used, keyIndex, delimiter, 0, reader(this.keyDtype), fail),
      columnOfLines(used, valueIndex, delimiter, valueIndexOffset, reader(this.valueDtype), fail),
    ];
  }
}

takesArguments<KeyValueArguments>(
  {
    positional: ['keys', 'values', 'keyDtype', 'valueDtype'],
    required: 2,
    names: { keys: true, values: true, keyDtype: true, valueDtype: true },
  },
  KeyValueTensorInitializer,
);
takesArguments<TextFileArguments>(
  {
    positional: ['filename', 'keyDtype', 'keyIndex', 'valueDtype', 'valueIndex', 'vocabSize', 'delimiter'],
    required: 5,
    names: {
      filename: true,
      keyDtype: true,
      keyIndex: true,
      valueDtype: true,
      valueIndex: true,
      vocabSize: true,
      delimiter: true,
      valueIndexOffset: true,
    },
  },
  TextFileInitializer,
);
