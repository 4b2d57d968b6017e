// The domain ai.onnx.ml: what scikit-learn's models are exported as.
import type { DType } from '@eagre/backend';
import { broadcastTo, concat, constant, gather, searchsorted, type Tensor, where } from '@eagre/core';
import { dims, toShape } from '@eagre/core/internal';
import type { Attributes } from '../attributes.ts';
import type { ClassMap, NodeCall, OnnxOp, OpTable, Run } from '../node.ts';
import { elements, Results } from '../node.ts';
import { range, shaped } from './helpers.ts';
import { supportClassifier, supportRegressor } from './ml-machines.ts';
import { asFloat, binary, floats, labelled, labelsOf, transformed } from './ml-scores.ts';
import { treeClassifier, treeEnsemble, treeRegressor } from './ml-trees.ts';

const linearScores = (node: NodeCall, rows: number): Tensor => {
  const x = asFloat(node.x());
  const two = x.rank === 1 ? x.expandDims(0) : x;
  const coefficients = node.attrs.floats('coefficients');
  const weights = floats(coefficients, [rows, coefficients.length / rows]);
  const intercepts = node.attrs.floats('intercepts', []);
  const y = two.matmul(weights, { transposeB: true });
  return intercepts.length === 0 ? y : y.add(floats(intercepts, [intercepts.length]));
};

const linearRegressor: Run = (node) => transformed(node, linearScores(node, node.attrs.int('targets', 1)));

const linearClassifier: OnnxOp = {
  run: (node) => {
    const labels = labelsOf(node, 'classlabels_ints', 'classlabels_strings');
    const count = labels.size;
    const intercepts = node.attrs.floats('intercepts', []);
    const rows = Math.max(1, intercepts.length || count);
    const scores = linearScores(node, rows);
    if (rows === 1 && count === 2) return binary(node, scores, labels);
    return [labelled(labels, scores.argMax(-1)), transformed(node, scores)];
  },
};

// ---- features

const scaler: Run = (node) => {
  const x = asFloat(node.x());
  const [offset, scale] = [node.attrs.floats('offset', [0]), node.attrs.floats('scale', [1])];
  return x.sub(floats(offset, [offset.length])).mul(floats(scale, [scale.length]));
};

const normalizer: Run = (node) => {
  const x = asFloat(node.x());
  const kind = node.attrs.text('norm', 'MAX');
  const axis = x.rank - 1;
  const size =
    kind === 'L1'
      ? x.abs().sum(axis, { keepdims: true })
      : kind === 'L2'
        ? x.square().sum(axis, { keepdims: true }).sqrt()
        : x.max(axis, { keepdims: true });
  return where(size.equal(0), x, x.divNoNan(size));
};

const imputer: Run = (node) => {
  const x = node.x();
  const byFloat = x.dtype.startsWith('float');
  const values = byFloat
    ? floats(node.attrs.floats('imputed_value_floats'), [node.attrs.floats('imputed_value_floats').length])
    : constant(node.attrs.bigints('imputed_value_int64s'), 'int64').reshape([-1]).cast(x.dtype);
  const replaced = byFloat
    ? node.attrs.float('replaced_value_float', 0)
    : Number(node.attrs.bigints('replaced_value_int64', [0n])[0] ?? 0n);
  const missing = Number.isNaN(replaced) ? x.notEqual(x) : x.equal(replaced);
  return where(missing, values.cast(x.dtype), x);
};

type Entry = string | number | bigint;
const KINDS = ['int64s', 'floats', 'strings'] as const;

/** The keys or values of a LabelEncoder. */
function entries(node: NodeCall, side: 'keys' | 'values'): readonly Entry[] {
  const { attrs } = node;
  const kind = KINDS.find((k) => attrs.has(`${side}_${k}`));
  if (kind === 'int64s') return attrs.bigints(`${side}_int64s`);
  if (kind === 'floats') return attrs.floats(`${side}_floats`);
  if (kind === 'strings') return attrs.texts(`${side}_strings`);
  return attrs.has(`${side}_tensor`)
    ? valuesIn(attrs.tensor(`${side}_tensor`))
    : node.unsupported(`there are no ${side}`);
}

function encoderDefault(node: NodeCall, like: Entry | undefined): Entry {
  const { attrs } = node;
  if (attrs.has('default_tensor')) return valuesIn(attrs.tensor('default_tensor'))[0] as Entry;
  if (typeof like === 'string') return attrs.text('default_string', '_Unused');
  return typeof like === 'bigint' ? BigInt(attrs.int('default_int64', -1)) : attrs.float('default_float', 0);
}

const isText = (attrs: Attributes, name: string): boolean =>
  attrs.has(`${name}_strings`) ||
  (attrs.has(`${name}_tensor`) && attrs.tensor(`${name}_tensor`).dtype === 'string');

const encoder: OnnxOp = {
  eager: (attrs) => isText(attrs, 'keys') || isText(attrs, 'values'),
  run: (node) => {
    const { attrs } = node;
    const x = node.x();
    const [keys, values] = [entries(node, 'keys'), entries(node, 'values')];
    if (keys.length !== values.length) node.fail(`there are ${keys.length} keys for ${values.length} values`);
    const otherwise = encoderDefault(node, values[0]);
    const dtype = attrs.has('values_tensor')
      ? attrs.tensor('values_tensor').dtype
      : ENTRY_DTYPES[typeof values[0] as 'bigint'];
    // Later entries of a key count.
    const map = new Map(keys.map((key, i) => [key, values[i] as Entry]));
    if (isText(attrs, 'keys') || isText(attrs, 'values')) {
      const byText = new Map([...map].map(([key, value]) => [String(key), value]));
      const found = valuesIn(x).map((v) => byText.get(String(v)) ?? otherwise);
      return constant(found as string[], dtype as 'string').reshape(x.shape);
    }
    return looked(x, map as Map<number | bigint, number | bigint>, otherwise as number | bigint, dtype);
  },
};
const ENTRY_DTYPES = { string: 'string', bigint: 'int64', number: 'float32' } as const;

/** The numbers of a map at the numbers of a tensor, by a search in its sorted keys; a NaN among them is that of the tensor. */
function looked(
  x: Tensor,
  map: ReadonlyMap<number | bigint, number | bigint>,
  otherwise: number | bigint,
  dtype: DType,
): Tensor {
  const list = (all: readonly (number | bigint)[], as: DType): Tensor =>
    constant(all.map((v) => (as === 'int64' ? BigInt(v) : Number(v))) as number[], as as 'float32');
  const number = (value: number | bigint): Tensor => list([value], dtype).reshape([]);
  const ofNaN = map.get(Number.NaN);
  const sorted = [...map]
    .filter(([key]) => !Number.isNaN(key))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  let y = number(otherwise);
  if (sorted.length > 0) {
    const keys = list(
      sorted.map(([key]) => key),
      x.dtype,
    );
    const at = searchsorted(keys, x.reshape([-1])).minimum(sorted.length - 1);
    const found = gather(
      list(
        sorted.map(([, value]) => value),
        dtype,
      ),
      at,
    );
    y = shaped(where(gather(keys, at).equal(x.reshape([-1])), found, y), dims(x));
  } else y = broadcastTo(y, toShape(dims(x)));
  return ofNaN === undefined ? y : where(x.notEqual(x), number(ofNaN), y);
}

const valuesIn = (x: Tensor): Entry[] => (x.dtype === 'string' ? x.strings() : Array.from(elements(x)));

const hot: OnnxOp = {
  // Values of no category are refused where they get no row of zeros.
  eager: (attrs) => attrs.texts('cats_strings', []).length > 0 || attrs.int('zeros', 1) === 0,
  run: (node) => {
    const x = node.x();
    const texts = node.attrs.texts('cats_strings', []);
    if (texts.length === 0 && node.attrs.int('zeros', 1) === 1) {
      const cats = constant(node.attrs.bigints('cats_int64s'), 'int64').reshape([-1]);
      return x.cast('int64').expandDims(-1).equal(cats).cast('float32');
    }
    const cats: readonly (string | bigint)[] = texts.length > 0 ? texts : node.attrs.bigints('cats_int64s');
    const place = new Map(cats.map((c, i) => [String(c), i]));
    const rows = valuesIn(x).map((v) => place.get(String(typeof v === 'number' ? Math.trunc(v) : v)) ?? -1);
    if (rows.includes(-1) && node.attrs.int('zeros', 1) === 0) node.fail('a value is of no category');
    const data = new Float32Array(rows.length * cats.length);
    rows.forEach((at, i) => {
      if (at >= 0) data[i * cats.length + at] = 1;
    });
    return constant({ data, shape: [...x.shape, cats.length] });
  },
};

const zipped: OnnxOp = {
  eager: true,
  run: (node) => {
    const x = node.x();
    const names = node.attrs.texts('classlabels_strings', []);
    const keys: readonly (string | number)[] =
      names.length > 0 ? names : node.attrs.ints('classlabels_int64s');
    const data = elements(x);
    const maps = range(0, x.shape[0] as number).map(
      (row): ClassMap => new Map(keys.map((key, i) => [key, Number(data[row * keys.length + i])])),
    );
    return new Results(maps);
  },
};

export const ml: OpTable = {
  ArrayFeatureExtractor: (node) => {
    const x = node.x();
    return gather(x.rank === 1 ? x.expandDims(0) : x, node.x(1).reshape([-1]), -1);
  },
  Binarizer: (node) => node.x().greater(node.attrs.float('threshold', 0)).cast(node.x().dtype),
  FeatureVectorizer: (node) => {
    return concat(
      node.all().map((x) => asFloat(x.rank === 1 ? x.expandDims(0) : x)),
      1,
    );
  },
  Imputer: imputer,
  LabelEncoder: encoder,
  LinearClassifier: linearClassifier,
  LinearRegressor: linearRegressor,
  Normalizer: normalizer,
  OneHotEncoder: hot,
  SVMClassifier: supportClassifier,
  SVMRegressor: supportRegressor,
  Scaler: scaler,
  TreeEnsemble: treeEnsemble,
  TreeEnsembleClassifier: treeClassifier,
  TreeEnsembleRegressor: treeRegressor,
  ZipMap: zipped,
};
