// Strings of other strings.
import { InvalidArgumentError } from '@eagre/backend';
import type { AxisLike, IntegerLike } from '../../arguments/argument-kinds.ts';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkCount, checkText, shown } from '../../arguments/checks.ts';
import { isComposite, type Printed } from '../../composite/composite.ts';
import { isRagged, type RaggedOrDense } from '../../ragged/ragged-base.ts';
import type { RaggedTensor } from '../../ragged/ragged-tensor.ts';
import { over } from '../../ragged/reducing.ts';
import { type Axis, checkFlag, checkList, normalizeAxis, sameShape, showShape } from '../../shapes/shape.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { checkDType } from '../../tensor/dtypes.ts';
import { checkListSize } from '../../tensor/list-size.ts';
import { summarizeTensor } from '../../tensor/summarize.ts';
import { hostValues, stringTensor, type Tensor, textsOf } from '../../tensor/tensor.ts';
import { bytesOf, textOf } from './bytes.ts';
import { onKnown, toStrings } from './known-strings.ts';
import { raggedTexts } from './rows.ts';

/** Whether a text ends, or begins, with a byte that with others may be a part of UTF-8. */
const endsOpen = (text: string): boolean => isByte(text.charCodeAt(text.length - 1));
const beginsOpen = (text: string): boolean => isByte(text.charCodeAt(0));
const isByte = (unit: number): boolean => unit >= 0xdc80 && unit <= 0xdcff;

/** Texts one behind the other. Bytes that only together are UTF-8 become text. */
export function joined(texts: readonly string[], separator: string): string {
  return joinedPart(texts, 0, texts.length, separator);
}

/** The same of those from one on, up to another one. */
export function joinedPart(texts: readonly string[], from: number, to: number, separator: string): string {
  if (from >= to) return '';
  let text = texts[from];
  let open = false;
  for (let i = from + 1; i < to; i++) {
    const next = texts[i];
    open ||= endsOpen(texts[i - 1]) || beginsOpen(next);
    text += separator + next;
  }
  return open || beginsOpen(separator) || endsOpen(separator) ? closed(text) : text;
}
const closed = (text: string): string => (/[\udc80-\udcff]/.test(text) ? textOf(bytesOf(text)) : text);

/** Strings of several tensors, one behind the other. The tensors have one shape; scalars stand for all of its elements. */
export const join: NamedFunction<
  [inputs: readonly TensorLike[], separator?: string],
  ['inputs', 'separator'],
  unknown,
  Tensor<'string'>
> = /* @__PURE__ */ defineFunction(
  'strings.join',
  { inputs: kind.tensors, separator: kind.asIs },
  {},
  (inputs, separator = '') => {
    checkText(separator, 'separator', 'StringJoin');
    const list = checkList(inputs, 'inputs', 'StringJoin').map((x, i) =>
      toStrings(x, `inputs[${i}]`, 'StringJoin'),
    );
    const shape = list.find((x) => x.rank > 0)?.shape ?? [];
    for (const x of list)
      if (x.rank > 0 && !sameShape(x.shape, shape))
        throw new InvalidArgumentError(
          `inputs must have one shape, got ${showShape(shape)} and ${showShape(x.shape)}`,
          'StringJoin',
        );
    return onKnown('StringJoin', list, (...known) => {
      const texts = known.map(textsOf);
      const n = shape.reduce((product, size) => product * size, 1);
      const out = new Array<string>(n);
      const row = new Array<string>(texts.length);
      for (let i = 0; i < n; i++) {
        for (let k = 0; k < row.length; k++) row[k] = texts[k][known[k].rank === 0 ? 0 : i];
        out[i] = joined(row, separator);
      }
      return stringTensor(out, shape);
    });
  },
);

/** Options of `reduceJoin`. */
export interface ReduceJoinOptions {
  /** Whether the axes that were joined stay, with size 1; false by default. */
  readonly keepdims?: boolean;
  /** What stands between strings; nothing by default. */
  readonly separator?: string;
}

type ReduceJoin<X, Y> = NamedFunction<[inputs: X, axis?: AxisLike], ['inputs', 'axis'], ReduceJoinOptions, Y>;
/** Strings along axes joined; along all, row by row, by default. Of several axes the first varies fastest, as in TensorFlow. */
export const reduceJoin: ReduceJoin<TensorLike, Tensor> &
  ReduceJoin<TensorLike | RaggedTensor, RaggedOrDense> = /* @__PURE__ */ defineFunction(
  'strings.reduceJoin',
  { inputs: kind.tensor, axis: kind.axes },
  { keepdims: kind.asIs, separator: kind.asIs },
  (inputs: TensorLike | RaggedTensor, axis: Axis = null, options: ReduceJoinOptions): never => {
    const { separator = '', keepdims = false } = options;
    checkText(separator, 'separator', 'ReduceJoin');
    checkFlag(keepdims, 'keepdims', 'ReduceJoin');
    if (isRagged(inputs)) return joinedRows(inputs, axis, keepdims, separator) as never;
    return onKnown('ReduceJoin', [toStrings(inputs, 'inputs', 'ReduceJoin')], (x) => {
      const axes = axesInOrder(axis, x.rank);
      const kept = x.shape.map((_, i) => i).filter((i) => !axes.includes(i));
      const shape = keepdims
        ? x.shape.map((size, i) => (axes.includes(i) ? 1 : size))
        : kept.map((i) => x.shape[i]);
      const count = shape.reduce((product, size) => product * size, 1);
      checkListSize(count, 'strings', 'make smaller tensors', 'ReduceJoin');
      if (x.size === 0) return stringTensor(new Array<string>(count).fill(''), shape);
      const texts = textsOf(x);
      const parts = placesOf(x.shape, axes.toReversed());
      const begins = placesOf(x.shape, kept);
      const row = new Array<string>(parts.length);
      const out = new Array<string>(begins.length);
      for (let i = 0; i < out.length; i++) {
        for (let k = 0; k < row.length; k++) row[k] = texts[begins[i] + parts[k]];
        out[i] = joined(row, separator);
      }
      return stringTensor(out, shape);
    }) as never;
  },
);

/** The places of elements along some axes of a shape, the last axis first. */
function placesOf(shape: readonly number[], axes: readonly number[]): Float64Array {
  let places = new Float64Array(1);
  for (const axis of axes) {
    const stride = shape.slice(axis + 1).reduce((product, size) => product * size, 1);
    const size = shape[axis];
    const next = new Float64Array(places.length * size);
    for (let i = 0; i < places.length; i++)
      for (let k = 0; k < size; k++) next[i * size + k] = places[i] + k * stride;
    places = next;
  }
  return places;
}

function joinedRows(x: RaggedTensor, axis: Axis, keepdims: boolean, separator: string): RaggedOrDense {
  if (x.dtype !== 'string')
    throw new InvalidArgumentError(`inputs must be strings, got ${x.dtype}`, 'ReduceJoin');
  const axes = typeof axis === 'number' ? [axis] : axis;
  if (
    axes?.length === 1 &&
    !keepdims &&
    x.flatValues.rank === 1 &&
    (axes[0] === -1 || axes[0] === x.rank - 1)
  )
    return raggedTexts(x, 'ReduceJoin', (texts, from, to) => joinedPart(texts, from, to, separator));
  return over(
    {
      segment: (values, ids, count) => unsortedSegmentJoin(values, ids, count as number, separator),
      dense: (values, own, keeps) => reduceJoin(values, own, { separator, keepdims: keeps }) as Tensor,
    },
    x,
    axis as number | null,
    keepdims,
  );
}

/** As given: along the first of them strings follow each other. */
function axesInOrder(axis: Axis, rank: number): number[] {
  if (axis === null || axis === undefined) return Array.from({ length: rank }, (_, i) => rank - 1 - i);
  const axes = (Array.isArray(axis) ? axis : [axis]).map((i) => normalizeAxis(i, rank, 'ReduceJoin'));
  if (new Set(axes).size === axes.length) return axes;
  throw new InvalidArgumentError(`axis has one axis twice: ${axes.join(', ')}`, 'ReduceJoin');
}

/**
 * Joins the strings of each segment: those whose `segmentIds` are the same.
 * @param segmentIds an integer for each row of the inputs, or for each of the axes that it has itself
 */
export const unsortedSegmentJoin: NamedFunction<
  [inputs: TensorLike, segmentIds: TensorLike, numSegments: IntegerLike, separator?: string],
  ['inputs', 'segmentIds', 'numSegments', 'separator']
> = /* @__PURE__ */ defineFunction(
  'strings.unsortedSegmentJoin',
  { inputs: kind.tensor, segmentIds: kind.tensor, numSegments: kind.integer, separator: kind.asIs },
  {},
  (inputs, segmentIds, numSegments: number, separator = '') => {
    const op = 'UnsortedSegmentJoin';
    checkText(separator, 'separator', op);
    checkCount(numSegments, 'numSegments', op);
    const ids = toTensor(segmentIds, 'int32');
    checkDType(ids.dtype, 'integer', 'segmentIds', op);
    return onKnown(op, [toStrings(inputs, 'inputs', op), ids], (x, places) => {
      if (!sameShape(places.shape, x.shape.slice(0, places.rank)))
        throw new InvalidArgumentError(
          `segmentIds have shape ${showShape(places.shape)}, which is not how ${showShape(x.shape)} begins`,
          op,
        );
      const inner = x.shape.slice(places.rank);
      const n = inner.reduce((product, size) => product * size, 1);
      checkListSize(numSegments * n, 'strings', 'make fewer segments', op);
      // Of many segments most are empty: only those with a text have a list.
      const found = new Map<number, string[]>();
      const texts = textsOf(x);
      const segments = hostValues(places) as ArrayLike<number | bigint>;
      for (let row = 0; row < segments.length; row++) {
        const id = Number(segments[row]);
        if (id < 0 || id >= numSegments)
          throw new InvalidArgumentError(`the segment ${id} is none of ${numSegments}`, op);
        for (let i = 0; i < n; i++) {
          const own = found.get(id * n + i);
          const text = texts[row * n + i];
          // Nothing stands behind empty strings at the beginning of a segment, as in TensorFlow.
          if (own !== undefined) own.push(text);
          else if (text !== '') found.set(id * n + i, [text]);
        }
      }
      const all = new Array<string>(numSegments * n).fill('');
      for (const [at, own] of found) all[at] = joined(own, separator);
      return stringTensor(all, [numSegments, ...inner]);
    });
  },
);

/** Options of `format`. */
export interface FormatOptions {
  /** What stands for a tensor in the template; '{}' by default. */
  readonly placeholder?: string;
  /** How many elements at either end of an axis are shown; 3 by default, all for -1. */
  readonly summarize?: number;
}

const shownTensor = (x: Tensor): Printed => ({
  tensors: [x],
  text: ([now], atEnds) => summarizeTensor(now as Tensor, atEnds),
});

/**
 * A string with tensors in it, shown as `tf.print` shows them: `tf.strings.format('loss {}', [loss])`.
 * @throws InvalidArgumentError where the template has more or fewer places than there are tensors
 */
export const format: NamedFunction<
  [template: string, inputs: TensorLike | readonly TensorLike[]],
  ['template', 'inputs'],
  FormatOptions,
  Tensor<'string'>
> = /* @__PURE__ */ defineFunction(
  'strings.format',
  { template: kind.asIs, inputs: kind.asIs },
  { placeholder: kind.asIs, summarize: kind.asIs },
  (template, inputs, options) => {
    const { placeholder = '{}', summarize = 3 } = options;
    checkText(template, 'template', 'StringFormat');
    checkText(placeholder, 'placeholder', 'StringFormat');
    if (!Number.isInteger(summarize) || summarize < -1)
      throw new InvalidArgumentError(
        `summarize must be an integer of at least -1, got ${shown(summarize)}`,
        'StringFormat',
      );
    // A list of numbers is one tensor; a list of tensors is several.
    const several = Array.isArray(inputs) && inputs.some((x) => typeof x === 'object');
    const list = (several ? (inputs as readonly TensorLike[]) : [inputs as TensorLike]).map(
      (x): Printed => (isComposite(x) ? x.printed : null) ?? shownTensor(toTensor(x)),
    );
    const parts = placeholder === '' ? [template] : template.split(placeholder);
    if (parts.length - 1 !== list.length)
      throw new InvalidArgumentError(
        `the template has ${parts.length - 1} places '${placeholder}' for ${list.length} tensors`,
        'StringFormat',
      );
    const tensors = list.flatMap((p) => p.tensors);
    return onKnown('StringFormat', tensors, (...known) => {
      let at = 0;
      const texts = list.map((p) => {
        at += p.tensors.length;
        return p.text(known.slice(at - p.tensors.length, at), summarize);
      });
      return stringTensor([parts.reduce((text, part, i) => `${text}${texts[i - 1]}${part}`)], []);
    });
  },
);
