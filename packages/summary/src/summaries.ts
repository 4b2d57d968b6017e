// The kinds of summaries that are one tensor.
import { InvalidArgumentError } from '@eagre/backend';
import { type NamedFunction, Tensor, type TensorLike } from '@eagre/core';
import {
  checkCount,
  checkListSize,
  checkText,
  defineFunction,
  hostValues,
  isPlain,
  type OptionNames,
  shown,
  showShape,
} from '@eagre/core/internal';
import { encodeTensorProto, tensorflow } from '@eagre/formats';
import { histogramRows } from './histogram.ts';
import {
  checked,
  metadataOf,
  record,
  type SummaryOptions,
  summaryNames,
  tagOf,
  tensorProto,
} from './record.ts';
import type { Step } from './state.ts';

const noStrings = (x: Tensor): string | null =>
  x.dtype === 'string' ? 'expected numbers, got strings: tf.summary.text writes these' : null;

const SCALARS = metadataOf('scalars');

/**
 * Writes a number, as float32: `tf.summary.scalar('loss', loss, { step })`. Its tag is the name below the current name scopes.
 * @param data a number, a bool, or a tensor or variable without axes.
 * @returns whether it was written: false without a default writer and where `recordIf` says no. In a traced function, where each run
 * writes: whether there is a default writer.
 * @throws InvalidArgumentError for data with axes, strings, or a missing step.
 */
export const scalar: NamedFunction<
  [name: string, data: TensorLike],
  ['name', 'data'],
  SummaryOptions,
  boolean
> = defineFunction('tf.summary.scalar', { name: true, data: true }, summaryNames, (name, data, options) => {
  const what = 'tf.summary.scalar';
  const { step, description } = options;
  const tag = tagOf(name, 'scalar_summary', what);
  const metadata = description === undefined ? SCALARS : metadataOf('scalars', description);
  return record({
    what,
    tag,
    step,
    metadata,
    data: () =>
      checked(
        data,
        what,
        (x) =>
          noStrings(x) ?? (x.rank === 0 ? null : `expected a scalar, got the shape ${showShape(x.shape)}`),
      ),
    encode: (x) => scalarProto(Number(hostValues(x)[0])),
    ...(typeof data === 'number' ? { direct: () => scalarProto(data) } : {}),
  });
});

function scalarProto(value: number): tensorflow.TensorProto {
  return encodeTensorProto({ dtype: 'float32', shape: [], data: Float32Array.of(value) });
}

/** Options of `histogram`. */
export interface HistogramOptions extends SummaryOptions {
  /** How many; 30 unless given. The step is shown for each. */
  readonly buckets?: number;
}

const histogramNames: OptionNames<HistogramOptions> = { ...summaryNames, buckets: true };
const HISTOGRAMS = metadataOf('histograms');

/**
 * Writes how values are distributed: a float64 tensor `[buckets, 3]` of rows `[left, right, count]`, from the least to the greatest value.
 * @param data numbers of any shape.
 * @returns as `scalar`.
 * @throws InvalidArgumentError for strings, a number of buckets that is no count, or a missing step.
 */
export const histogram: NamedFunction<
  [name: string, data: TensorLike],
  ['name', 'data'],
  HistogramOptions,
  boolean
> = defineFunction(
  'tf.summary.histogram',
  { name: true, data: true },
  histogramNames,
  (name, data, options) => {
    const what = 'tf.summary.histogram';
    const { step, description, buckets = 30 } = options;
    checkCount(buckets, 'buckets', what);
    checkListSize(buckets, 'buckets', 'take fewer', what);
    return record({
      what,
      tag: tagOf(name, 'histogram_summary', what),
      step,
      metadata: description === undefined ? HISTOGRAMS : metadataOf('histograms', description),
      data: () => checked(data, what, noStrings),
      encode: (x) =>
        encodeTensorProto({
          dtype: 'float64',
          shape: [buckets, 3],
          data: histogramRows(hostValues(x), buckets),
        }),
    });
  },
);

const TEXT = metadataOf('text');

/**
 * Writes text, which TensorBoard shows as Markdown; a vector or a matrix of texts is a table.
 * @param data a string, or strings of any shape.
 * @returns as `scalar`.
 * @throws InvalidArgumentError for what is no string, or a missing step.
 */
export const text: NamedFunction<
  [name: string, data: TensorLike],
  ['name', 'data'],
  SummaryOptions,
  boolean
> = defineFunction('tf.summary.text', { name: true, data: true }, summaryNames, (name, data, options) => {
  const what = 'tf.summary.text';
  const { step, description } = options;
  return record({
    what,
    tag: tagOf(name, 'text_summary', what),
    step,
    metadata: description === undefined ? TEXT : metadataOf('text', description),
    data: () =>
      checked(data, what, (x) => (x.dtype === 'string' ? null : `expected strings, got ${x.dtype}`)),
    encode: tensorProto,
  });
});

/** Options of `write`, which writes for a plugin. */
export interface WriteOptions {
  /** The step that the value is of; that of the writer or of `setStep` by default. */
  readonly step?: Step;
  /** Whose plugin the tensor is for; none unless given. As a message, or its bytes. */
  readonly metadata?: tensorflow.SummaryMetadata | Uint8Array;
  /** The name of TensorFlow's op; nothing here has it. */
  readonly name?: string;
}

function checkMetadata(metadata: unknown, what: string): void {
  const message = (value: unknown, name: string): Readonly<Record<string, unknown>> => {
    if (isPlain(value)) return value;
    throw new InvalidArgumentError(`${name} must be a message, got ${shown(value)}`, what);
  };
  const { display_name, summary_description, plugin_data } = message(metadata, 'metadata');
  const texts: Record<string, unknown> = { display_name, summary_description };
  if (plugin_data !== undefined) {
    const { plugin_name, content } = message(plugin_data, 'plugin_data');
    texts.plugin_name = plugin_name;
    if (content !== undefined && !(content instanceof Uint8Array))
      throw new InvalidArgumentError(`content must be bytes, a Uint8Array, got ${shown(content)}`, what);
  }
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) checkText(text, name, what);
}

const writeNames: OptionNames<WriteOptions> = { step: true, metadata: true, name: true };

/**
 * Writes a tensor under a tag, which is taken as it is: for kinds of summaries of one's own.
 * @param tensor a value, or a function that gives it, which is only called where something is written.
 * @returns as `scalar`.
 * @throws InvalidArgumentError for a missing step; FormatError for bytes that are no metadata.
 */
export const write: NamedFunction<
  [tag: string, tensor: TensorLike | (() => TensorLike)],
  ['tag', 'tensor'],
  WriteOptions,
  boolean
> = defineFunction('tf.summary.write', { tag: true, tensor: true }, writeNames, (tag, tensor, options) => {
  const what = 'tf.summary.write';
  if (typeof tag !== 'string') throw new InvalidArgumentError(`expected a tag, got ${typeof tag}`, what);
  const { step, metadata } = options;
  if (metadata !== undefined && !(metadata instanceof Uint8Array)) checkMetadata(metadata, what);
  return record({
    what,
    tag,
    step,
    metadata: metadata instanceof Uint8Array ? tensorflow.SummaryMetadata.decode(metadata) : metadata,
    data: () =>
      checked(
        typeof tensor === 'function' && !(tensor instanceof Tensor) ? tensor() : tensor,
        what,
        () => null,
      ),
    encode: tensorProto,
  });
});
