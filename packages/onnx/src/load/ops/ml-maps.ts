// Maps of features, as scikit-learn's models take them, as tensors of one row. What ONNX leaves open is as in ONNX Runtime.
import type { DType } from '@eagre/backend';
import { constant, type Tensor } from '@eagre/core';
import type { NodeCall, OnnxOp, OpTable } from '../node.ts';

type Entry = number | bigint | string;

// More than any table of features has.
const MOST_COLUMNS = 2 ** 24;

const rowOf = (values: readonly Entry[], dtype: DType): Tensor =>
  constant(
    dtype === 'int64'
      ? values.map((v) => BigInt(v))
      : dtype === 'string'
        ? values
        : (values.map(Number) as never),
    dtype as 'string',
  ).reshape([1, values.length]);

/** The values of a vocabulary's keys in its order; those that the map lacks are 0, or an empty text. */
const dictVectorizer: OnnxOp = {
  eager: true,
  run: (node) => {
    const { values, key, value } = node.map();
    const name = key === 'string' ? 'string_vocabulary' : 'int64_vocabulary';
    if (!node.attrs.has(name)) node.fail(`the keys of its map are ${key}, but it has no ${name}`);
    const keys: readonly Entry[] = key === 'string' ? node.attrs.texts(name) : node.attrs.bigints(name);
    const none = value === 'string' ? '' : 0;
    return rowOf(
      keys.map((k) => values.get(String(k)) ?? none),
      value,
    );
  },
};

const CASTS: Readonly<Record<string, DType>> = {
  TO_FLOAT: 'float32',
  TO_STRING: 'string',
  TO_INT64: 'int64',
};

function casted(node: NodeCall, value: Entry, dtype: DType): Entry {
  if (dtype === 'string') return typeof value === 'number' ? Math.fround(value).toFixed(6) : String(value);
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
  if (Number.isNaN(number) && typeof value === 'string') node.fail(`'${value.slice(0, 40)}' is no number`);
  if (dtype !== 'int64') return number;
  if (!Number.isFinite(number)) node.fail(`${number} is no integer`);
  return typeof value === 'bigint' ? value : BigInt(Math.trunc(number));
}

/** The values of a map in the order of its keys, or each in the column that its key tells. */
const castMap: OnnxOp = {
  eager: true,
  run: (node) => {
    const { values, key } = node.map();
    if (key !== 'int64') node.fail('the keys of its map are no integers');
    const cast = node.attrs.text('cast_to', 'TO_FLOAT');
    const dtype = Object.hasOwn(CASTS, cast) ? (CASTS[cast] as DType) : node.fail(`cast_to is '${cast}'`);
    const sorted = [...values]
      .map(([k, v]) => [BigInt(k), casted(node, v, dtype)] as const)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    const form = node.attrs.text('map_form', 'DENSE');
    if (form === 'DENSE')
      return rowOf(
        sorted.map(([, value]) => value),
        dtype,
      );
    if (form !== 'SPARSE') node.fail(`map_form is '${form}', expected DENSE or SPARSE`);
    const columns = node.attrs.int('max_map', 1);
    if (!(columns > 0 && columns <= MOST_COLUMNS))
      node.fail(`max_map must be from 1 to ${MOST_COLUMNS}, got ${columns}`);
    // ONNX Runtime's text for nothing.
    const row = new Array<Entry>(columns).fill(dtype === 'string' ? '0.f' : 0);
    for (const [at, value] of sorted) {
      if (at < 0n) node.fail(`the key ${at} is negative`);
      if (at < BigInt(columns)) row[Number(at)] = value;
    }
    return rowOf(row, dtype);
  },
};

export const mlMaps: OpTable = { CastMap: castMap, DictVectorizer: dictVectorizer };
