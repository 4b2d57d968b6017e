// Serialized `tf.train.Example`s, and the bytes of strings. Strings are on the host, so these run where their values are known.
import { dtypeTraits } from '@eagre/backend';
import { bitcast, constant, type DType, InvalidArgumentError, type Tensor } from '@eagre/core';
import { bytesIn, textOf } from '@eagre/core/internal';
import {
  decodeExample,
  decodeSequenceExample,
  type FeatureValue,
  FormatError,
  type SequenceExampleValue,
  type tensorflow,
} from '@eagre/formats';
import type { AttrShape, OpCall } from '../op-call.ts';
import type { OpRow, OpTable, Translate } from '../op-row.ts';
import { known } from './strings.ts';

type Example = ReadonlyMap<string, FeatureValue>;
type Values = readonly (number | bigint | string)[];

/** What is wanted of messages. */
interface Request {
  readonly sparse: readonly { readonly key: string; readonly dtype: DType }[];
  readonly dense: readonly {
    readonly key: string;
    readonly dtype: DType;
    readonly shape: AttrShape;
    readonly missing: Tensor;
  }[];
  readonly ragged: readonly { readonly key: string; readonly dtype: DType; readonly splits: DType }[];
}

const KINDS: Readonly<Record<string, DType>> = { float32: 'float32', int64: 'int64', string: 'string' };

/** The values of a feature; null where the example has none. */
function valuesOf(c: OpCall, example: Example, index: number, key: string, dtype: DType): Values | null {
  const value = example.get(key) ?? null;
  if (value === null || value.length === 0) return null;
  const kind =
    value instanceof Float32Array ? 'float32' : value instanceof BigInt64Array ? 'int64' : 'string';
  if (KINDS[dtype] !== kind)
    throw c.wrong(
      `Key: ${key}, Index: ${index}. Data types don't match. Expected type: ${dtype}, got ${kind}`,
    );
  return kind === 'string'
    ? Array.from(value as readonly Uint8Array[], textOf)
    : Array.from(value as ArrayLike<number | bigint>);
}

const made = (values: Values, dtype: DType, shape: readonly number[]): Tensor =>
  constant([...values] as number[], dtype, { shape });

/** The values of rows, one behind the other. */
const flatOf = (rows: readonly Values[], dtype: DType): Tensor =>
  made(rows.flat(), dtype, [rows.flat().length]);

const zeroOf = (dtype: DType): number | bigint | string =>
  dtype === 'string' ? '' : dtype === 'int64' ? 0n : 0;

/** The elements of a default; integers of 64 bits as they are. */
const elementsOf = (x: Tensor): Values =>
  x.dtype === 'string' ? x.strings() : Array.from(x.data() as ArrayLike<number | bigint>);

/** The messages in input 0, a string or a vector of strings. */
function messagesOf<M>(c: OpCall, decode: (bytes: Uint8Array) => M): M[] {
  const serialized = known(c, 0);
  if (serialized.dtype !== 'string' || serialized.rank > 1)
    throw c.wrong('serialized must be a string, or a vector of strings');
  return bytesIn(serialized).map((bytes, i) => {
    try {
      return decode(bytes);
    } catch (cause) {
      if (!(cause instanceof FormatError)) throw cause;
      throw new InvalidArgumentError(`could not parse example ${i}: ${cause.message}`, c.op, { cause });
    }
  });
}

/** All results in the order of ParseExampleV2. */
function parsed(c: OpCall, examples: readonly Example[], { sparse, dense, ragged }: Request): Tensor[] {
  const isOne = c.x(0).rank === 0;
  const rowsOf = (key: string, dtype: DType): (Values | null)[] =>
    examples.map((example, i) => valuesOf(c, example, i, key, dtype));
  const sparseRows = sparse.map(({ key, dtype }) => rowsOf(key, dtype).map((row) => row ?? []));
  const raggedRows = ragged.map(({ key, dtype }) => rowsOf(key, dtype).map((row) => row ?? []));
  return [
    ...sparseRows.map((rows) => {
      const places = rows.flatMap((row, i) => row.map((_, k) => (isOne ? [k] : [i, k])));
      return constant(places.flat(), 'int64', { shape: [places.length, isOne ? 1 : 2] });
    }),
    ...sparseRows.map((rows, i) => flatOf(rows, sparse[i]?.dtype as DType)),
    ...sparseRows.map((rows) => {
      const longest = rows.reduce((most, row) => Math.max(most, row.length), 0);
      return constant(isOne ? [longest] : [rows.length, longest], 'int64');
    }),
    ...dense.map((feature) => denseOf(c, feature, rowsOf(feature.key, feature.dtype), isOne)),
    ...raggedRows.map((rows, i) => flatOf(rows, ragged[i]?.dtype as DType)),
    ...raggedRows.map((rows, i) =>
      isOne ? made([], ragged[i]?.splits as DType, [0]) : splitsOf(rows, ragged[i]?.splits as DType),
    ),
  ];
}

/** Where rows begin and end. */
function splitsOf(rows: readonly { readonly length: number }[], dtype: DType): Tensor {
  const splits = [0];
  for (const row of rows) splits.push((splits.at(-1) as number) + row.length);
  return constant(splits, dtype);
}

/** The lists of features in sequences, in the order of ParseSequenceExampleV2. */
function parsedLists(
  c: OpCall,
  examples: readonly SequenceExampleValue[],
  missingIsEmpty: readonly boolean[],
  { sparse, dense, ragged }: Request,
): Tensor[] {
  const isOne = c.x(0).rank === 0;
  /** By example, what each step has; null where there is no such list. */
  const stepsOf = (key: string, dtype: DType): (Values[] | null)[] =>
    examples.map(({ featureLists }, index) => {
      const steps = featureLists.get(key);
      if (steps === undefined) return null;
      return steps.map((value) => valuesOf(c, new Map([[key, value]]), index, key, dtype) ?? []);
    });
  const most = (lists: readonly { readonly length: number }[]): number =>
    lists.reduce((length, list) => Math.max(length, list.length), 0);
  const all = (lists: readonly { readonly key: string; readonly dtype: DType }[]): Values[][][] =>
    lists.map(({ key, dtype }) => stepsOf(key, dtype).map((steps) => steps ?? []));
  const sparseLists = all(sparse);
  const raggedLists = all(ragged);
  const denseLists = dense.map(({ key, dtype, shape }, i) => {
    if (shape === null || shape.includes(null)) throw c.wrong(`the shape of '${key}' is not known`);
    const each = (shape as readonly number[]).reduce((n, d) => n * d, 1);
    const lists = stepsOf(key, dtype).map((steps, index) => {
      if (steps === null && missingIsEmpty[i] !== true)
        throw c.wrong(
          `Name: <unknown>, Feature list '${key}' is required but could not be found. Did you mean to include it in feature_list_dense_missing_assumed_empty? Index: ${index}`,
        );
      for (const [step, values] of (steps ?? []).entries())
        if (values.length !== each)
          throw c.wrong(
            `Key: ${key}, Index: ${index}, step ${step}. Number of ${dtype} values != expected. Values size: ${values.length} but output shape: [${shape}]`,
          );
      return steps ?? [];
    });
    return { lists, dtype, each, shape: shape as readonly number[] };
  });
  return [
    ...sparseLists.map((lists) => {
      const places = lists.flatMap((steps, i) =>
        steps.flatMap((values, step) => values.map((_, k) => (isOne ? [step, k] : [i, step, k]))),
      );
      return constant(places.flat(), 'int64', { shape: [places.length, isOne ? 2 : 3] });
    }),
    ...sparseLists.map((lists, i) => flatOf(lists.flat(), sparse[i]?.dtype as DType)),
    ...sparseLists.map((lists) => {
      const sizes = [most(lists), most(lists.flat())];
      return constant(isOne ? sizes : [lists.length, ...sizes], 'int64');
    }),
    ...denseLists.map(({ lists, dtype, each, shape }) => {
      const longest = most(lists);
      const filled = lists.flatMap((steps) => [
        ...steps.flat(),
        ...new Array<number | bigint | string>((longest - steps.length) * each).fill(zeroOf(dtype)),
      ]);
      return made(filled, dtype, [...(isOne ? [] : [lists.length]), longest, ...shape]);
    }),
    ...denseLists.map(({ lists }) =>
      constant(
        lists.map((steps) => steps.length),
        'int64',
        { shape: isOne ? [] : [lists.length] },
      ),
    ),
    ...raggedLists.map((lists, i) => flatOf(lists.flat(), ragged[i]?.dtype as DType)),
    ...raggedLists.map((lists, i) =>
      isOne ? made([], ragged[i]?.splits as DType, [0]) : splitsOf(lists, ragged[i]?.splits as DType),
    ),
    ...raggedLists.map((lists, i) => splitsOf(lists.flat(), ragged[i]?.splits as DType)),
  ];
}

/** A feature of one shape in all examples, or of a first size that may be any, filled up with the default. */
function denseOf(
  c: OpCall,
  { key, dtype, shape, missing }: Request['dense'][number],
  rows: readonly (Values | null)[],
  isOne: boolean,
): Tensor {
  if (shape === null) throw c.wrong(`the shape of '${key}' is not known`);
  const isOpen = shape[0] === null;
  const sizes = shape.slice(isOpen ? 1 : 0);
  if (sizes.includes(null)) throw c.wrong(`the shape of '${key}' is not known behind its first size`);
  const each = (sizes as readonly number[]).reduce((n, d) => n * d, 1);
  const defaults = elementsOf(missing);
  const wrong = (i: number, count: number): Error =>
    c.wrong(
      `Key: ${key}, Index: ${i}. Number of ${dtype} values != expected. Values size: ${count} but output shape: [${shape.map((d) => d ?? -1)}]`,
    );
  if (!isOpen) {
    const all = rows.flatMap((row, i) => {
      if (row === null && defaults.length !== each)
        throw c.wrong(`Key: ${key}, Index: ${i}. Feature is required but could not be found`);
      const values = row ?? defaults;
      if (values.length !== each) throw wrong(i, values.length);
      return values;
    });
    return made(all, dtype, [...(isOne ? [] : [rows.length]), ...(sizes as readonly number[])]);
  }
  rows.forEach((row, i) => {
    if (row !== null && (each === 0 || row.length % each !== 0)) throw wrong(i, row.length);
  });
  const longest = rows.reduce((most, row) => Math.max(most, row?.length ?? 0), 0);
  const filler = defaults[0] ?? zeroOf(dtype);
  const all = rows.flatMap((row) => [
    ...(row ?? []),
    ...new Array<number | bigint | string>(longest - (row?.length ?? 0)).fill(filler),
  ]);
  const count = each === 0 ? 0 : longest / each;
  return made(all, dtype, [...(isOne ? [] : [rows.length]), count, ...(sizes as readonly number[])]);
}

const dtypesIn = (c: OpCall, name: string): readonly DType[] => c.dtypesAttr(name);

/** The dense features of a node: keys, and where the defaults of them begin among the inputs, if there are some. */
function denseRequest(
  c: OpCall,
  keys: readonly string[],
  firstDefault: number | null,
  [types, shapesName]: readonly [types: string, shapes: string] = ['Tdense', 'dense_shapes'],
): Request['dense'] {
  const dtypes = dtypesIn(c, types);
  const shapes = c.shapesAttr(shapesName);
  if (dtypes.length !== keys.length || shapes.length !== keys.length)
    throw c.wrong(`there are ${keys.length} dense keys, ${dtypes.length} types and ${shapes.length} shapes`);
  return keys.map((key, i) => ({
    key,
    dtype: dtypes[i] as DType,
    shape: shapes[i] as AttrShape,
    missing: firstDefault === null ? made([], dtypes[i] as DType, [0]) : known(c, firstDefault + i),
  }));
}

function pairs(
  c: OpCall,
  keys: readonly string[],
  dtypes: readonly DType[],
): { key: string; dtype: DType }[] {
  if (keys.length !== dtypes.length)
    throw c.wrong(`there are ${keys.length} keys for ${dtypes.length} types`);
  return keys.map((key, i) => ({ key, dtype: dtypes[i] as DType }));
}

const textsAt = (c: OpCall, i: number): readonly string[] => known(c, i).strings();

/** The ragged features of a node. `prefix` is that of its attributes. */
function raggedRequest(c: OpCall, keys: readonly string[], prefix = ''): Request['ragged'] {
  const splits = dtypesIn(c, `${prefix}ragged_split_types`);
  return pairs(c, keys, dtypesIn(c, `${prefix}ragged_value_types`)).map((feature, i) => ({
    ...feature,
    splits: splits[i] ?? 'int64',
  }));
}

const parseExampleV2: Translate = (c) =>
  parsed(c, messagesOf(c, decodeExample), {
    sparse: pairs(c, textsAt(c, 2), dtypesIn(c, 'sparse_types')),
    dense: denseRequest(c, textsAt(c, 3), 5),
    ragged: raggedRequest(c, textsAt(c, 4)),
  });

const parseSequenceExampleV2: Translate = (c) => {
  const examples = messagesOf(c, decodeSequenceExample);
  const context: Request = {
    sparse: pairs(c, textsAt(c, 2), dtypesIn(c, 'context_sparse_types')),
    dense: denseRequest(c, textsAt(c, 3), 9, ['Tcontext_dense', 'context_dense_shapes']),
    ragged: raggedRequest(c, textsAt(c, 4), 'context_'),
  };
  const lists: Request = {
    sparse: pairs(c, textsAt(c, 5), dtypesIn(c, 'feature_list_sparse_types')),
    dense: denseRequest(c, textsAt(c, 6), null, ['feature_list_dense_types', 'feature_list_dense_shapes']),
    ragged: raggedRequest(c, textsAt(c, 7), 'feature_list_'),
  };
  const missingIsEmpty = Array.from(known(c, 8).data() as ArrayLike<number>, Boolean);
  return [
    ...parsed(
      c,
      examples.map((example) => example.context),
      context,
    ),
    ...parsedLists(c, examples, missingIsEmpty, lists),
  ];
};

/** The messages of sequences as the first version of the op has them: without ragged features. */
const parseSequences = (
  c: OpCall,
  keys: readonly (readonly string[])[],
  missing: readonly string[],
  firstDefault: number,
): Tensor[] => {
  const [sparse = [], dense = [], sparseLists = [], denseLists = []] = keys;
  const examples = messagesOf(c, decodeSequenceExample);
  const context: Request = {
    sparse: pairs(c, sparse, dtypesIn(c, 'context_sparse_types')),
    dense: denseRequest(c, dense, firstDefault, ['Tcontext_dense', 'context_dense_shapes']),
    ragged: [],
  };
  const lists: Request = {
    sparse: pairs(c, sparseLists, dtypesIn(c, 'feature_list_sparse_types')),
    dense: denseRequest(c, denseLists, null, ['feature_list_dense_types', 'feature_list_dense_shapes']),
    ragged: [],
  };
  const isEmpty = denseLists.map((key) => missing.includes(key));
  return [
    ...parsed(
      c,
      examples.map((example) => example.context),
      context,
    ),
    ...parsedLists(c, examples, isEmpty, lists),
  ];
};
const KEYS = ['context_sparse', 'context_dense', 'feature_list_sparse', 'feature_list_dense'];

const parseSequenceExample: Translate = (c) =>
  parseSequences(
    c,
    KEYS.map((name) => c.textsAttr(`${name}_keys`)),
    c.textsAttr('feature_list_dense_missing_assumed_empty'),
    2,
  );

const parseSingleSequenceExample: Translate = (c) => {
  if (c.x(0).rank !== 0) throw c.wrong('serialized must be one string');
  let at = 2;
  const keys = KEYS.map((name) =>
    Array.from({ length: c.intAttr(`N${name}`, 0) }, () => known(c, at++).strings()[0] ?? ''),
  );
  const results = parseSequences(c, keys, textsAt(c, 1), at);
  // It does not give the lengths of lists.
  return results.slice(0, results.length - (keys[3]?.length ?? 0));
};

const parseExample: Translate = (c) => {
  const [sparse, dense] = [c.intAttr('Nsparse'), c.intAttr('Ndense')];
  const keys = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, i) => known(c, from + i).strings()[0] ?? '');
  return parsed(c, messagesOf(c, decodeExample), {
    sparse: pairs(c, keys(2, sparse), dtypesIn(c, 'sparse_types')),
    dense: denseRequest(c, keys(2 + sparse, dense), 2 + sparse + dense),
    ragged: [],
  });
};

const parseSingleExample: Translate = (c) =>
  parsed(c, messagesOf(c, decodeExample), {
    sparse: pairs(c, c.textsAttr('sparse_keys'), dtypesIn(c, 'sparse_types')),
    dense: denseRequest(c, c.textsAttr('dense_keys'), 1),
    ragged: [],
  });

const SPARSE_AND_DENSE = ['sparse_indices', 'sparse_values', 'sparse_shapes', 'dense_values'];
/** Those of sequences: names, and the attributes that have as many types. */
const SEQUENCES: Readonly<Record<string, string>> = {
  context_sparse_indices: 'context_sparse_types',
  context_sparse_values: 'context_sparse_types',
  context_sparse_shapes: 'context_sparse_types',
  context_dense_values: 'Tcontext_dense',
  context_ragged_values: 'context_ragged_value_types',
  context_ragged_row_splits: 'context_ragged_split_types',
  feature_list_sparse_indices: 'feature_list_sparse_types',
  feature_list_sparse_values: 'feature_list_sparse_types',
  feature_list_sparse_shapes: 'feature_list_sparse_types',
  feature_list_dense_values: 'feature_list_dense_types',
  feature_list_dense_lengths: 'feature_list_dense_types',
  feature_list_ragged_values: 'feature_list_ragged_value_types',
  feature_list_ragged_outer_splits: 'feature_list_ragged_split_types',
  feature_list_ragged_inner_splits: 'feature_list_ragged_split_types',
};
const lengthOf = (node: tensorflow.NodeDef, name: string): number =>
  node.attr?.get(name)?.list?.type?.length ?? 0;

/** The row of an op with lists of outputs: as many of each as attributes have types. */
const parser = (outputs: readonly string[], run: Translate): OpRow => ({
  outputs,
  counts: (node) => [
    ...new Array<number>(3).fill(lengthOf(node, 'sparse_types')),
    lengthOf(node, 'Tdense'),
    ...new Array<number>(outputs.length - 4).fill(lengthOf(node, 'ragged_value_types')),
  ],
  run,
});

/** The row of an op with the outputs of sequences whose names fit. */
const sequences = (fits: (name: string) => boolean, run: Translate): OpRow => {
  const outputs = Object.keys(SEQUENCES).filter(fits);
  return {
    outputs,
    counts: (node) => outputs.map((name) => lengthOf(node, SEQUENCES[name] as string)),
    run,
  };
};

/** Strings as the values that their bytes are, along one more axis. */
function decodedRaw(c: OpCall, fixedLength: number | null): Tensor {
  const x = known(c, 0);
  const dtype = c.dtypeAttr('out_type');
  const texts = bytesIn(x);
  const { bytes: size, kind } = dtypeTraits[dtype];
  const length = fixedLength ?? texts[0]?.length ?? 0;
  if (fixedLength === null && texts.some((own) => own.length !== length))
    throw c.wrong('DecodeRaw requires input strings to all be the same size');
  if (length < 0 || length % size !== 0)
    throw c.wrong(
      `Input to DecodeRaw has length ${length} that is not a multiple of ${size}, the size of ${dtype}`,
    );
  const all = new Uint8Array(texts.length * length);
  texts.forEach((own, i) => {
    all.set(own.subarray(0, length), i * length);
  });
  if (!c.boolAttr('little_endian', true)) {
    const each = kind === 'complex' ? size / 2 : size;
    for (let at = 0; at < all.length; at += each) all.subarray(at, at + each).reverse();
  }
  const shape = [...x.shape, length / size];
  if (dtype === 'bool')
    return constant(
      Array.from(all, (byte) => byte !== 0),
      'bool',
      { shape },
    );
  return bitcast(constant(all, 'uint8', { shape: size === 1 ? shape : [...shape, size] }), dtype);
}

export const examples: OpTable = {
  ParseExample: parser(SPARSE_AND_DENSE, parseExample),
  ParseExampleV2: parser([...SPARSE_AND_DENSE, 'ragged_values', 'ragged_row_splits'], parseExampleV2),
  ParseSequenceExampleV2: sequences(() => true, parseSequenceExampleV2),
  ParseSequenceExample: sequences((name) => !name.includes('ragged'), parseSequenceExample),
  ParseSingleSequenceExample: sequences(
    (name) => !name.includes('ragged') && !name.endsWith('lengths'),
    parseSingleSequenceExample,
  ),
  ParseSingleExample: parser(SPARSE_AND_DENSE, parseSingleExample),
  DecodeRaw: (c) => decodedRaw(c, null),
  DecodePaddedRaw: (c) => decodedRaw(c, c.int(1)),
};
