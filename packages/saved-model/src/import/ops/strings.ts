// Text. Strings are on the host: where a function is traced, those that it knows then.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { hostValues, isFloating, knownTensor } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';

/** The tensor with values that input `i` is. */
function known(c: OpCall, i: number): Tensor {
  const value = knownTensor(c.x(i));
  if (value === null)
    throw c.lacks('a traced function cannot compute text from values that differ from run to run');
  return value;
}

const textOf = (strings: readonly string[], shape: readonly number[]): Tensor =>
  tf.constant([...strings], 'string', { shape });

const each =
  (fn: (text: string, c: OpCall) => string): Translate =>
  (c) => {
    const x = known(c, 0);
    return textOf(
      x.strings().map((text) => fn(text, c)),
      x.shape,
    );
  };

/** A pattern in RE2's syntax, of which JavaScript has all but classes such as [[:punct:]]. */
function pattern(source: string, flags: string, c: OpCall): RegExp {
  const translated = source
    .replace(/\[:punct:\]/g, '!-\\/:-@\\[-`{-~')
    .replace(/\[:space:\]/g, '\\s')
    .replace(/\[:digit:\]/g, '0-9')
    .replace(/\[:alpha:\]/g, 'A-Za-z')
    .replace(/\[:alnum:\]/g, 'A-Za-z0-9')
    .replace(/\[:upper:\]/g, 'A-Z')
    .replace(/\[:lower:\]/g, 'a-z');
  const inline = /^\(\?([is]+)\)/.exec(translated);
  const body = inline === null ? translated : translated.slice(inline[0].length);
  const all = flags + (inline?.[1] ?? '');
  for (const unicode of ['u', '']) {
    try {
      return new RegExp(body, all + unicode);
    } catch {
      // Escapes that RE2 permits and JavaScript, with Unicode, does not.
    }
  }
  throw c.lacks(`the pattern '${source}' is not one of JavaScript too`);
}

const replace = (c: OpCall, source: string, rewrite: string): Tensor => {
  const x = known(c, 0);
  const expression = pattern(source, c.boolAttr('replace_global', true) ? 'g' : '', c);
  const by = rewrite
    .replace(/\$/g, '$$$$')
    .replace(/\\(\d|\\)/g, (_, at: string) => (at === '\\' ? '\\' : at === '0' ? '$&' : `$${at}`));
  return textOf(
    x.strings().map((text) => text.replace(expression, by)),
    x.shape,
  );
};
const matches = (c: OpCall, source: string): Tensor => {
  const x = known(c, 0);
  const expression = pattern(`^(?:${source})$`, '', c);
  return tf.constant(
    x.strings().map((text) => expression.test(text)),
    'bool',
    { shape: x.shape },
  );
};

const join: Translate = (c) => {
  const parts = c.inputs.map((_, i) => known(c, i));
  const shape = parts.find((t) => t.rank > 0)?.shape ?? [];
  const n = shape.reduce((a, b) => a * b, 1);
  const lists = parts.map((t) => t.strings());
  const separator = c.textAttr('separator', '');
  return textOf(
    Array.from({ length: n }, (_, i) => lists.map((list) => list[list.length === 1 ? 0 : i]).join(separator)),
    shape,
  );
};

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const inBytes = (c: OpCall): boolean => c.textAttr('unit', 'BYTE') !== 'UTF8_CHAR';

const isUtf8 = (c: OpCall): boolean => c.textAttr('encoding', '') === 'utf-8';

const asString: Translate = (c) => {
  const x = known(c, 0);
  if (c.intAttr('width', -1) > 0 || c.textAttr('fill', '') !== '') throw c.lacks('widths are not supported');
  const precision = c.intAttr('precision', -1);
  const floats = isFloating(x.dtype);
  const scientific = c.boolAttr('scientific', false);
  return textOf(
    Array.from(hostValues(x) as ArrayLike<number | bigint>, (value) => {
      if (x.dtype === 'bool') return value ? 'true' : 'false';
      if (!floats) return String(value);
      if (c.boolAttr('shortest', false)) return String(Number(Math.fround(Number(value)).toPrecision(6)));
      const digits = precision < 0 ? 6 : precision;
      if (!scientific) return Number(value).toFixed(digits);
      return Number(value)
        .toExponential(digits)
        .replace(/e([+-])(\d)$/, 'e$10$2');
    }),
    x.shape,
  );
};

const toNumber: Translate = (c) => {
  const x = known(c, 0);
  const dtype = c.dtypeAttr('out_type', 'float32');
  const numbers = x.strings().map((text) => {
    const trimmed = text.trim();
    const number = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$|^[-+]?(inf|infinity|nan)$/i.test(trimmed)
      ? Number(trimmed.replace(/^([-+]?)inf(inity)?$/i, '$1Infinity').replace(/^[-+]?nan$/i, 'NaN'))
      : undefined;
    if (number === undefined) throw c.wrong(`'${text}' is no number`);
    return dtype === 'int64' ? BigInt(trimmed) : number;
  });
  return tf.constant(numbers as number[], dtype, { shape: x.shape });
};

/** The words of each text, as the values of a sparse tensor. */
const split: Translate = (c) => {
  const x = known(c, 0);
  const separator = known(c, 1).strings()[0] ?? '';
  const limit = c.intAttr('maxsplit', -1);
  if (limit >= 0) throw c.lacks('maxsplit is not supported');
  const rows = x
    .strings()
    .map((text) =>
      separator === '' ? text.split(/\s+/).filter((word) => word !== '') : text.split(separator),
    );
  const places = rows.flatMap((words, row) => words.map((_, i) => [row, i]));
  const longest = rows.reduce((most, words) => Math.max(most, words.length), 0);
  return [
    tf.constant(places.flat(), 'int64', { shape: [places.length, 2] }),
    textOf(rows.flat(), [places.length]),
    tf.constant([rows.length, longest], 'int64'),
  ];
};

/** Rows of different length as a matrix, with a value where they end. */
const raggedToTensor: Translate = (c) => {
  const kinds = c.textsAttr('row_partition_types');
  const rows = kinds.indexOf('ROW_SPLITS') >= 0 || kinds.indexOf('VALUE_ROWIDS') >= 0;
  if (!rows) throw c.lacks(`rows told by ${kinds.join(', ')} are not supported`);
  const shape = c.ints(0);
  const values = c.x(1);
  const missing = c.x(2);
  const parts = c.inputs.slice(3).map((_, i) => c.ints(3 + i));
  let starts: number[];
  if (kinds.length === 1 && kinds[0] === 'ROW_SPLITS') starts = parts[0] as number[];
  else if (kinds.length === 2 && kinds[0] === 'FIRST_DIM_SIZE' && kinds[1] === 'VALUE_ROWIDS') {
    const [[n = 0] = [], ids = []] = parts;
    starts = [0];
    for (let row = 0; row < n; row++)
      starts.push((starts[row] as number) + ids.filter((id) => id === row).length);
  } else throw c.lacks('ragged tensors of more than one ragged axis are not supported');
  const lengths = starts.slice(1).map((end, i) => end - (starts[i] as number));
  const count = shape[0] !== undefined && shape[0] >= 0 ? shape[0] : lengths.length;
  const width = shape[1] !== undefined && shape[1] >= 0 ? shape[1] : Math.max(0, ...lengths);
  const n = values.shape[0] as number;
  const places = Array.from({ length: count * width }, (_, i) => {
    const [row, column] = [Math.floor(i / width), i % width];
    return column < (lengths[row] ?? 0) ? (starts[row] as number) + column : n;
  });
  const rest = values.shape.slice(1);
  if (values.dtype === 'string') {
    const words = [...values.strings(), missing.strings()[0] ?? ''];
    return textOf(
      places.map((i) => words[i] as string),
      [count, width],
    );
  }
  const filled = tf.concat([values, tf.broadcastTo(missing, [1, ...rest])], 0);
  return tf.reshape(tf.gather(filled, tf.constant(places, 'int32')), [count, width, ...rest]);
};

const format: Translate = (c) => {
  const placeholder = c.textAttr('placeholder', '%s');
  let next = 0;
  const text = c
    .textAttr('template', '%s')
    .split(placeholder)
    .reduce((all, part) => `${all}${shown(known(c, next++))}${part}`);
  return textOf([text], []);
};
const shown = (x: Tensor): string =>
  x.dtype === 'string' && x.rank === 0 ? (x.strings()[0] ?? '') : x.toString();

export const strings: OpTable = {
  // Without an encoding only the letters of ASCII change.
  StringLower: each((text, c) =>
    isUtf8(c) ? text.toLowerCase() : text.replace(/[A-Z]+/g, (s) => s.toLowerCase()),
  ),
  StringUpper: each((text, c) =>
    isUtf8(c) ? text.toUpperCase() : text.replace(/[a-z]+/g, (s) => s.toUpperCase()),
  ),
  // The white space of ASCII alone.
  StringStrip: each((text) => text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '')),
  StringLength: (c) => {
    const x = known(c, 0);
    const length = inBytes(c) ? (t: string) => bytesOf(t).length : (t: string) => [...t].length;
    return tf.constant(x.strings().map(length), 'int32', { shape: x.shape });
  },
  Substr: (c) => {
    const x = known(c, 0);
    const [from, count] = [c.ints(1), c.ints(2)];
    return textOf(
      x.strings().map((text, i) => {
        const units = inBytes(c) ? [...bytesOf(text)] : [...text];
        const at = from[from.length === 1 ? 0 : i] as number;
        const begin = at < 0 ? units.length + at : at;
        const part = units.slice(begin, begin + (count[count.length === 1 ? 0 : i] as number));
        return inBytes(c)
          ? new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(part as number[]))
          : part.join('');
      }),
      x.shape,
    );
  },
  StringJoin: join,
  ReduceJoin: (c) => {
    const x = known(c, 0);
    const axes = c.ints(1);
    const whole = axes.length === 0 || axes.length === x.rank;
    const last = axes.length === 1 && (axes[0] === -1 || axes[0] === x.rank - 1);
    if (!whole && !last) throw c.lacks('only all axes, or the last one, can be joined');
    const words = x.strings();
    const n = whole ? words.length : (x.shape.at(-1) as number);
    const outer = whole ? [] : x.shape.slice(0, -1);
    const kept = c.boolAttr('keep_dims', false)
      ? x.shape.map((d, i) => (whole || i === x.rank - 1 ? 1 : d))
      : outer;
    const count = outer.reduce((a, b) => a * b, 1);
    return textOf(
      Array.from({ length: count }, (_, i) =>
        words.slice(i * n, (i + 1) * n).join(c.textAttr('separator', '')),
      ),
      kept,
    );
  },
  StaticRegexReplace: (c) => replace(c, c.textAttr('pattern'), c.textAttr('rewrite')),
  RegexReplace: (c) => replace(c, known(c, 1).strings()[0] ?? '', known(c, 2).strings()[0] ?? ''),
  StaticRegexFullMatch: (c) => matches(c, c.textAttr('pattern')),
  RegexFullMatch: (c) => matches(c, known(c, 1).strings()[0] ?? ''),
  AsString: asString,
  StringToNumber: toNumber,
  StringFormat: format,
  StringSplitV2: several(['indices', 'values', 'shape'], split),
  RaggedTensorToTensor: raggedToTensor,
};
