// Slices with steps, some of whose indices only a run knows.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { context, dims, knownTensor, sizeOfDims, sizeValue } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import type { Translate } from '../op-row.ts';

/** What tensors were packed of. */
const parts = new WeakMap<Tensor, readonly Tensor[]>();

/** Remembers what scalars a vector was made of: some of them may be known. */
export function withParts(packed: Tensor, of: readonly Tensor[]): Tensor {
  if (packed.rank === 1) parts.set(packed, of);
  return packed;
}

/** Whether integers are known, or made of sizes. */
const isKnown = (x: Tensor): boolean =>
  knownTensor(x) !== null || (context.tracer?.integers(x) ?? null) !== null;

interface Masks {
  readonly beginMask: number;
  readonly endMask: number;
  readonly ellipsisMask: number;
  readonly newAxisMask: number;
  readonly shrinkAxisMask: number;
}

/** The slice that a node describes. */
export const stridedSlice: Translate = (c) => slicedBy(c, c.x(0), 1);

/** The slice of `x` that the inputs of a node from `first` on describe: begin, end and strides. */
export function slicedBy(c: OpCall, x: Tensor, first: number): Tensor {
  const mask = (name: string): number => c.intAttr(name, 0);
  const masks: Masks = {
    beginMask: mask('begin_mask'),
    endMask: mask('end_mask'),
    ellipsisMask: mask('ellipsis_mask'),
    newAxisMask: mask('new_axis_mask'),
    shrinkAxisMask: mask('shrink_axis_mask'),
  };
  const [begin, end, strides] = [c.x(first), c.x(first + 1), c.x(first + 2)];
  if (isKnown(begin) && isKnown(end)) return tf.stridedSlice(x, begin, end, strides, masks);
  return withRunIndices(x, begin, end, strides, masks);
}

/** `x` with other values in a slice. */
export function assignedSlice(c: OpCall, x: Tensor, value: Tensor): Tensor {
  const count = sizeValue(sizeOfDims(dims(x)), 'int32');
  const places = slicedBy(c, tf.reshape(tf.range(0, count, 1, { dtype: 'int32' }), tf.shapeOf(x)), 1);
  const values = tf.reshape(tf.broadcastTo(value, tf.shapeOf(places)), [-1]);
  const flat = tf.tensorScatterNdUpdate(tf.flatten(x), tf.reshape(places, [-1, 1]), values);
  return tf.reshape(flat, tf.shapeOf(x));
}

/** Single elements along an axis are gathered where their index is not known; the rest is a slice. */
function withRunIndices(x: Tensor, begin: Tensor, end: Tensor, strides: Tensor, masks: Masks): Tensor {
  const n = begin.shape[0] as number;
  const at = (list: Tensor, i: number): Tensor => parts.get(list)?.[i] ?? list.gather(i);
  const has = (mask: number, i: number): boolean => (mask & (1 << i)) !== 0;
  const newAxes = count(n, (i) => has(masks.newAxisMask, i) && !has(masks.ellipsisMask, i));
  const ellipsis = count(n, (i) => has(masks.ellipsisMask, i));
  const skipped = x.rank - (n - newAxes - ellipsis);
  let { beginMask, endMask, shrinkAxisMask } = masks;
  const gathered: { readonly axis: number; readonly index: Tensor; readonly size: number }[] = [];
  let from = 0;
  let to = 0;
  for (let i = 0; i < n; i++) {
    if (has(masks.ellipsisMask, i)) {
      from += skipped;
      to += skipped;
    } else if (has(masks.newAxisMask, i)) to++;
    else {
      const single = has(shrinkAxisMask, i);
      if (single && !isKnown(at(begin, i))) {
        gathered.push({ axis: to, index: at(begin, i), size: dims(x)[from] as number });
        beginMask |= 1 << i;
        endMask |= 1 << i;
        shrinkAxisMask &= ~(1 << i);
        to++;
      } else if (!single) to++;
      from++;
    }
  }
  // Places that are masked take no part.
  const settled = (list: Tensor, mask: number): Tensor =>
    tf.stack(Array.from({ length: n }, (_, i) => (has(mask, i) ? tf.constant(0, list.dtype) : at(list, i))));
  const rest = tf.stridedSlice(x, settled(begin, beginMask), settled(end, endMask), strides, {
    ...masks,
    beginMask,
    endMask,
    shrinkAxisMask,
  });
  return gathered.reduceRight((sliced, { axis, index, size }) => {
    const place = tf.where(index.less(0), index.add(sizeValue(size, index.dtype)), index);
    return tf.gather(sliced, place, axis);
  }, rest);
}

const count = (n: number, fits: (i: number) => boolean): number =>
  Array.from({ length: n }, (_, i) => i).filter(fits).length;
