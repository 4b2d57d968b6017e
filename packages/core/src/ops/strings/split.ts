// Strings in rows of strings: words, bytes, n-grams.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { shown } from '../../arguments/checks.ts';
import { portable as portableCall } from '../../dispatch/portable.ts';
import { isRagged, type RaggedOrDense } from '../../ragged/ragged-base.ts';
import { RaggedTensor } from '../../ragged/ragged-tensor.ts';
import { dims } from '../../shapes/dims.ts';
import { columnOf } from '../../sparse/sparse-base.ts';
import type { TensorLike } from '../../tensor/convert.ts';
import { stringTensor, type Tensor, textsOf } from '../../tensor/tensor.ts';
import { unsortedSegmentSum } from '../array/gather.ts';
import { bytesOf, textOf } from './bytes.ts';
import { onKnown, toStrings, toText } from './known-strings.ts';
import { cutManyWords } from './many-words.ts';
import { cutBetween, cutWords, type NgramsOptions, ngramsOf } from './parts.ts';
import { type Pieces, SharedPieces } from './pieces.ts';
import { denseLists, raggedLists, rowsLike } from './rows.ts';

/**
 * The parts of strings: a row for each string, so a ragged tensor, or a vector for a scalar.
 * @param sep what stands between parts; spaces by default, of which several count as one and those at the ends for nothing.
 * @param maxsplit how often a string is split at most; -1, as often as possible, by default.
 */
export const split: NamedFunction<
  [input: TensorLike | RaggedTensor, sep?: TensorLike | null, maxsplit?: number],
  ['input', 'sep', 'maxsplit'],
  unknown,
  RaggedOrDense
> = /* @__PURE__ */ defineFunction(
  'strings.split',
  { input: kind.tensor, sep: kind.tensor, maxsplit: kind.integer },
  {},
  (input, sep = null, maxsplit: number = -1) => {
    const separator = sep === null ? '' : toText(sep, 'sep', 'StringSplit');
    if (!Number.isInteger(maxsplit))
      throw new InvalidArgumentError(`maxsplit must be an integer, got ${shown(maxsplit)}`, 'StringSplit');
    const portable = (x: Tensor): RaggedOrDense => splitPortably(x, separator, maxsplit);
    return partsOf(
      input,
      'StringSplit',
      (text, to) =>
        separator === '' ? cutWords(text, maxsplit, to) : cutBetween(text, separator, maxsplit, to),
      { portable, fast: separator === '' && maxsplit < 0 ? cutManyWords : undefined },
    );
  },
);

/** The bytes of strings, each a string: a row for each string, so a ragged tensor, or a vector for a scalar. */
export const bytesSplit: NamedFunction<
  [input: TensorLike | RaggedTensor],
  ['input'],
  unknown,
  RaggedOrDense
> = /* @__PURE__ */ defineFunction('strings.bytesSplit', { input: kind.tensor }, {}, (input) => {
  const texts: string[] = [];
  return partsOf(input, 'StringBytesSplit', (text, to) => {
    for (const byte of bytesOf(text)) {
      texts[byte] ??= textOf(Uint8Array.of(byte));
      to.add(texts[byte], 0, texts[byte].length);
    }
  });
});

/** A row of strings for each string: the pieces that it is cut into. */
function partsOf(
  input: TensorLike | RaggedTensor,
  op: string,
  cut: (text: string, to: Pieces) => void,
  ways: {
    readonly portable?: (x: Tensor) => RaggedOrDense;
    /** Cuts the first texts, as many as it says. */
    readonly fast?: (x: Tensor, to: SharedPieces, lengths: number[]) => number;
  } = {},
): RaggedOrDense {
  if (isRagged(input)) return input.withFlatValues(partsOf(input.flatValues, op, cut, ways) as RaggedTensor);
  const parts = (x: Tensor): RaggedOrDense => {
    const pieces = new SharedPieces();
    const texts = textsOf(x);
    const lengths: number[] = [];
    for (let i = ways.fast?.(x, pieces, lengths) ?? 0; i < texts.length; i++) {
      const before = pieces.count;
      cut(texts[i], pieces);
      lengths.push(pieces.count - before);
    }
    return rowsLike(x.shape, stringTensor(pieces.list(), [pieces.count]), lengths);
  };
  return onKnown(op, [toStrings(input, 'input', op)], parts, ways.portable);
}

/** `split` in ops of TensorFlow, of scalars and vectors. */
function splitPortably(x: Tensor, separator: string, maxsplit: number): RaggedOrDense {
  if (x.rank > 1)
    throw new UnimplementedError(
      'strings of more than one axis that differ from run to run cannot be split in a function that is saved: reshape them to a vector',
      'StringSplit',
    );
  const texts = x.rank === 0 ? x.reshape([1]) : x;
  const [indices, values] = portableCall({
    op: 'StringSplitV2',
    inputs: [texts, stringTensor([separator], [])],
    attrs: { maxsplit: { kind: 'int', value: maxsplit } },
    outputs: (size) => {
      const count = size();
      return [
        { dtype: 'int64', shape: [count, 2] },
        { dtype: 'string', shape: [count] },
        { dtype: 'int64', shape: [2] },
      ];
    },
  });
  if (x.rank === 0) return values;
  const rows = columnOf(indices, 0);
  const lengths = unsortedSegmentSum(rows.mul(0).add(1), rows, dims(texts)[0] as number);
  return RaggedTensor.fromRowLengths(values, lengths, { validate: false });
}

/**
 * Strings of the last axis, so many together as `ngramWidth` says, or as each of several widths says.
 * @throws InvalidArgumentError for a scalar, and for widths that are not positive
 */
export const ngrams: NamedFunction<
  [data: TensorLike | RaggedTensor, ngramWidth: number | readonly number[]],
  ['data', 'ngramWidth'],
  NgramsOptions,
  RaggedOrDense
> = /* @__PURE__ */ defineFunction(
  'strings.ngrams',
  { data: kind.tensor, ngramWidth: kind.oneOrMore },
  { separator: kind.asIs, padValues: kind.asIs, paddingWidth: kind.asIs, preserveShortSequences: kind.asIs },
  (data, ngramWidth, options) => {
    const widths = typeof ngramWidth === 'number' ? [ngramWidth] : (ngramWidth as number[]);
    const make = ngramsOf(widths, options);
    if (isRagged(data))
      return raggedLists(data, 'StringNGrams', make, (values, splits) =>
        ngramsPortably(values, splits, widths, options),
      );
    const x = toStrings(data, 'data', 'StringNGrams');
    if (x.rank === 0) throw new InvalidArgumentError('data must have an axis, got a scalar', 'StringNGrams');
    return denseLists(x, 'StringNGrams', make);
  },
);

/** `ngrams` of ragged rows in ops of TensorFlow. */
function ngramsPortably(
  values: Tensor,
  splits: Tensor,
  widths: readonly number[],
  { separator = ' ', padValues, paddingWidth, preserveShortSequences = false }: NgramsOptions,
): RaggedTensor {
  const [left, right] =
    padValues == null ? ['', ''] : typeof padValues === 'string' ? [padValues, padValues] : padValues;
  const [grams, ownSplits] = portableCall({
    op: 'StringNGrams',
    inputs: [values, splits],
    attrs: {
      separator: { kind: 'text', value: separator },
      ngram_widths: { kind: 'ints', value: widths },
      left_pad: { kind: 'text', value: left },
      right_pad: { kind: 'text', value: right },
      pad_width: { kind: 'int', value: padValues == null ? 0 : (paddingWidth ?? -1) },
      preserve_short_sequences: { kind: 'bool', value: preserveShortSequences },
      Tsplits: { kind: 'type', value: splits.dtype },
    },
    outputs: (size) => [
      { dtype: 'string', shape: [size()] },
      { dtype: splits.dtype, shape: dims(splits) },
    ],
  });
  return RaggedTensor.fromRowSplits(grams, ownSplits, { validate: false });
}
