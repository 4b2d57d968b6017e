// Texts: how they are written, cut and counted. All of them run eagerly, for strings are on the host.
import { broadcastTo, constant, strings, type Tensor } from '@eagre/core';
import { broadcastShapes, expressionOf } from '@eagre/core/internal';
import { elements, type NodeCall, type OnnxOp, type OpTable, type Run } from '../node.ts';

const OP = 'tf.onnx.load';
const onHost = (run: Run): OnnxOp => ({ eager: true, run });
const textTensor = (list: readonly string[], shape: readonly number[]): Tensor =>
  constant(list, 'string').reshape(shape);

/** Lists of texts as one tensor, whose last axis is filled up to the longest of them. */
function filled(lists: readonly (readonly string[])[], shape: readonly number[], filling: string): Tensor {
  const width = lists.reduce((most, list) => Math.max(most, list.length), 0);
  const all = lists.flatMap((list) => [
    ...list,
    ...Array.from({ length: width - list.length }, () => filling),
  ]);
  return textTensor(all, [...shape, width]);
}

/** Texts without some of them, in other letters. */
const normalized: Run = (node) => {
  const { attrs } = node;
  const x = node.x();
  if (x.rank > 2 || x.rank < 1 || (x.rank === 2 && x.shape[0] !== 1))
    node.fail(`it takes [C] or [1, C], not [${x.shape}]`);
  const change = attrs.text('case_change_action', 'NONE');
  if (!['NONE', 'LOWER', 'UPPER'].includes(change))
    node.fail(`the case_change_action '${change}' is unknown`);
  const written = (text: string): string =>
    change === 'LOWER' ? text.toLowerCase() : change === 'UPPER' ? text.toUpperCase() : text;
  const exact = attrs.int('is_case_sensitive', 0) === 1;
  const compared = (text: string): string => (exact ? text : text.toLowerCase());
  const stops = new Set(attrs.texts('stopwords', []).map(compared));
  const kept = x
    .strings()
    .filter((text) => !stops.has(compared(text)))
    .map(written);
  const list = kept.length === 0 ? [''] : kept;
  return textTensor(list, x.rank === 1 ? [list.length] : [1, list.length]);
};

const regexFullMatch: Run = (node) => strings.regexFullMatch(node.x(), node.attrs.text('pattern', ''));

/** At most so many cuts, from the left; null for any number. */
function cut(text: string, delimiter: string, most: number | null): string[] {
  const parts: string[] = [];
  let rest = delimiter === '' ? text.trim() : text;
  if (delimiter === '' && rest === '') return [];
  while (most === null || parts.length < most) {
    const found = delimiter === '' ? /\s+/.exec(rest) : null;
    const at = delimiter === '' ? (found?.index ?? -1) : rest.indexOf(delimiter);
    if (at < 0) break;
    parts.push(rest.slice(0, at));
    rest = rest.slice(at + (found?.[0].length ?? delimiter.length));
  }
  return [...parts, rest];
}

const splits: Run = (node) => {
  const x = node.x();
  const most = node.attrs.has('maxsplit') ? node.attrs.int('maxsplit') : null;
  const delimiter = node.attrs.text('delimiter', '');
  const lists = x.strings().map((text) => cut(text, delimiter, most));
  const counts = BigInt64Array.from(lists, (list) => BigInt(list.length));
  return [filled(lists, x.shape, ''), constant({ data: counts, shape: x.shape })];
};

// ---- counts of n-grams

const MODES = ['TF', 'IDF', 'TFIDF'];
// More than any vocabulary has.
const MOST_COLUMNS = 2 ** 26;

/** The n-grams of a pool, each with its place, as keys. */
function poolOf(node: NodeCall): Map<string, number> {
  const { attrs } = node;
  const pool = attrs.has('pool_strings')
    ? attrs.texts('pool_strings')
    : attrs.bigints('pool_int64s').map(String);
  const starts = attrs.ints('ngram_counts');
  const places = new Map<string, number>();
  starts.forEach((from, i) => {
    const [to, size] = [starts[i + 1] ?? pool.length, i + 1];
    if (!(from >= 0 && from <= to && to <= pool.length && (to - from) % size === 0))
      node.fail(`the ${size}-grams of the pool cannot be from ${from} to ${to}`);
    for (let at = from; at < to; at += size) places.set(keyOf(pool.slice(at, at + size)), places.size);
  });
  return places;
}
const keyOf = (parts: readonly string[]): string => parts.map((p) => `${p.length}:${p}`).join('');

const counted: Run = (node) => {
  const { attrs } = node;
  const x = node.x();
  if (x.rank < 1 || x.rank > 2) node.fail(`it takes [C] or [N, C], not [${x.shape}]`);
  const [least, most] = [attrs.int('min_gram_length'), attrs.int('max_gram_length')];
  const skips = attrs.int('max_skip_count');
  const mode = attrs.text('mode');
  if (!MODES.includes(mode)) node.fail(`the mode '${mode}' is unknown`);
  if (!(least >= 1 && most >= least && skips >= 0))
    node.fail(`there are no ${least}- to ${most}-grams with ${skips} skips`);
  const places = poolOf(node);
  const columns = attrs.ints('ngram_indexes');
  if (columns.length !== places.size)
    node.fail(`ngram_indexes has ${columns.length} numbers for ${places.size} n-grams of the pool`);
  const width = columns.reduce((max, c) => Math.max(max, c + 1), 0);
  const weights = attrs.floats('weights', []);
  const length = x.shape.at(-1) as number;
  const rows = x.rank === 1 ? 1 : (x.shape[0] as number);
  if (columns.some((c) => c < 0) || !(width * rows <= MOST_COLUMNS))
    node.fail('ngram_indexes are out of range');
  const texts = x.dtype === 'string' ? x.strings() : Array.from(elements(x), String);
  const data = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    const words = texts.slice(row * length, (row + 1) * length);
    const found = countsIn(words, places, least, Math.min(most, attrs.ints('ngram_counts').length), skips);
    for (const [place, count] of found) {
      const weight = weights[place] ?? 1;
      const at = row * width + (columns[place] as number);
      data[at] = mode === 'TF' ? count : mode === 'IDF' ? weight : count * weight;
    }
  }
  return constant({ data, shape: x.rank === 1 ? [width] : [rows, width] });
};

/** How often each n-gram of the pool occurs, with up to so many words left out between two of it. */
function countsIn(
  words: readonly string[],
  places: ReadonlyMap<string, number>,
  least: number,
  most: number,
  skips: number,
): Map<number, number> {
  const counts = new Map<number, number>();
  for (let size = least; size <= most; size++)
    // Nothing is between the words of a single one.
    for (let step = 1; step <= (size === 1 ? 1 : skips + 1); step++) {
      const last = words.length - (size - 1) * step;
      if (last <= 0) break;
      for (let from = 0; from < last; from++) {
        const gram = Array.from({ length: size }, (_, k) => words[from + k * step] as string);
        const place = places.get(keyOf(gram));
        if (place !== undefined) counts.set(place, (counts.get(place) ?? 0) + 1);
      }
    }
  return counts;
}

/** Integers for texts, or texts for integers. */
const mapped: Run = (node) => {
  const { attrs } = node;
  const x = node.x();
  const [texts, ints] = [attrs.texts('cats_strings'), attrs.bigints('cats_int64s')];
  if (texts.length !== ints.length) node.fail(`${texts.length} texts do not fit ${ints.length} integers`);
  if (x.dtype === 'string') {
    const map = new Map(texts.map((text, i) => [text, ints[i] as bigint]));
    const otherwise = BigInt(attrs.int('default_int64', -1));
    const data = BigInt64Array.from(x.strings(), (text) => map.get(text) ?? otherwise);
    return constant({ data, shape: x.shape });
  }
  const map = new Map(ints.map((int, i) => [String(int), texts[i] as string]));
  const otherwise = attrs.text('default_string', '_Unused');
  return textTensor(
    Array.from(elements(x), (int) => map.get(String(int)) ?? otherwise),
    x.shape,
  );
};

const START = '\u0002';
const END = '\u0003';

/** Texts cut into words: what a pattern matches, what is between patterns, or characters. */
const tokenized: Run = (node) => {
  const { attrs } = node;
  const x = node.x();
  const least = attrs.int('mincharnum', 1);
  const separators = attrs.texts('separators', []);
  const wordsOf = attrs.has('tokenexp')
    ? matchesOf(attrs.text('tokenexp'))
    : separators.length === 1 && separators[0] === ''
      ? (text: string): string[] => [...text]
      : partsBetween(separators);
  const marked = attrs.int('mark', 0) === 1;
  const lists = x.strings().map((text) => {
    const words = wordsOf(text).filter((word) => word !== '' && [...word].length >= least);
    return marked ? [START, ...words, END] : words;
  });
  return filled(lists, x.shape, attrs.text('pad_value', ''));
};
function matchesOf(pattern: string): (text: string) => string[] {
  const expression = expressionOf(pattern, false, OP);
  return (text) => Array.from(text.matchAll(expression), ([match]) => match);
}
function partsBetween(patterns: readonly string[]): (text: string) => string[] {
  const expressions = patterns.map((pattern) => expressionOf(pattern, false, OP));
  const between = (text: string, expression: RegExp): string[] => {
    const parts: string[] = [];
    let from = 0;
    for (const { 0: match, index } of text.matchAll(expression)) {
      if (match === '') continue;
      parts.push(text.slice(from, index));
      from = index + match.length;
    }
    return [...parts, text.slice(from)];
  };
  return (text) =>
    expressions.reduce<string[]>((parts, e) => parts.flatMap((part) => between(part, e)), [text]);
}

export const texts: OpTable = {
  RegexFullMatch: onHost(regexFullMatch),
  StringConcat: onHost((node) => {
    const shape = broadcastShapes(node.x(0).shape, node.x(1).shape, OP);
    return strings.join([0, 1].map((i) => broadcastTo(node.x(i), shape)));
  }),
  StringNormalizer: onHost(normalized),
  StringSplit: onHost(splits),
  TfIdfVectorizer: onHost(counted),
};
/** Those of ai.onnx.ml. */
export const mlTexts: OpTable = { CategoryMapper: onHost(mapped) };
/** Those that ONNX Runtime adds, which exporters of scikit-learn use. */
export const runtimeTexts: OpTable = { Tokenizer: onHost(tokenized) };
