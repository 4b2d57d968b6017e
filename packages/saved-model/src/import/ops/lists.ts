// Lists of tensors, which loops fill: TensorFlow 2's TensorLists, and the TensorArrays of TensorFlow 1.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { context, type Dim, dims, hostDims, isUnknown, sizeValue, toShape } from '@eagre/core/internal';
import { TensorArray } from '@eagre/graph';
import type { AttrShape, OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';
import { ArrayHandle, type Value } from '../values.ts';
import {
  addVariants,
  countVariants,
  getVariant,
  joinVariants,
  listFromVariants,
  orVariants,
  popVariant,
  pushVariant,
  reserveVariants,
  setVariant,
  stackVariants,
} from './variants.ts';

/** The shape of elements that input `i` tells: a scalar is any shape. */
function elementShape(c: OpCall, i: number): AttrShape {
  const x = c.x(i);
  if (x.rank === 0) return null;
  const sizes = hostDims(x, 'element_shape', c.op);
  if (!sizes.includes(-1)) return toShape(sizes);
  return sizes.map((d: Dim) => (typeof d === 'number' && d >= 0 ? d : null));
}

/** Elements whose shape the file does not know may have different ones, which a trace has no form for. */
const sized = (c: OpCall, size: Tensor | number, shape: AttrShape, dynamicSize = false): TensorArray =>
  new TensorArray(c.dtypeAttr('element_dtype'), {
    size,
    elementShape: shape,
    dynamicSize,
    inferShape: context.tracer !== null || (shape !== null && !shape.includes(null)),
  });

const rowsOf = (x: Tensor, dynamicSize: boolean): TensorArray =>
  new TensorArray(x.dtype, {
    size: sizeValue(dims(x)[0] as Dim, 'int32'),
    dynamicSize,
  }).unstack(x);

const scatter: Translate = (c) => {
  const [x, indices] = [c.x(0), c.x(1)];
  const n = c.has(3) ? c.x(3) : null;
  const size =
    n !== null && n.size === 1 && hostDims(n, 'num_elements', c.op)[0] !== -1
      ? tf.reshape(n, [])
      : tf.max(indices).add(1);
  return sized(c, size, elementShape(c, 2)).scatter(indices, x);
};

const lengthsOf = (c: OpCall, list: TensorArray): Tensor => {
  const [n] = hostDims(list.size(), 'size', c.op) as [Dim];
  if (isUnknown(n)) throw c.lacks('how many elements the list has is only known when the graph runs');
  return tf.stack(Array.from({ length: n }, (_, i) => tf.shapeOf(list.read(i)).gather(0).cast('int64')));
};

const concat: Translate = (c) => [c.list(0).concat(), lengthsOf(c, c.list(0))];

/** The elements of a list behind those of another one. */
const listAfterList: Translate = (c) => {
  const [first, second] = [c.list(0), c.list(1)];
  if (first.dtype !== second.dtype) throw c.wrong(`lists of ${first.dtype} and ${second.dtype}`);
  const [n] = hostDims(second.size(), 'size', c.op) as [Dim];
  if (isUnknown(n)) throw c.lacks('how many elements the list has is only known when the graph runs');
  let list = first;
  for (let i = 0; i < n; i++) list = list.write(list.size(), second.read(i));
  return list;
};

/** A sum of tensors, or of lists element by element. */
const sum: Translate = (c) =>
  c.inputs.some((value) => value instanceof TensorArray)
    ? rowsOf(tf.addN(c.inputs.map((_, i) => c.list(i).stack())), c.runtime.growsLists)
    : tf.addN(c.xs());

const shapeOfElements: Translate = (c) => {
  const shape = c.list(0).elementShape;
  const dtype = c.dtypeAttr('shape_type');
  return shape === null
    ? tf.constant(-1, dtype)
    : tf.constant(
        shape.map((d) => d ?? -1),
        dtype,
      );
};

/** The contents of an array of TensorFlow 1 go where its flow goes. */
const flow = (c: OpCall, i: number): TensorArray => c.list(i);

export const lists: OpTable = {
  // Gradients of lists that are read several times are added.
  AddN: orVariants(sum, addVariants),
  EmptyTensorList: orVariants(
    (c) => sized(c, 0, elementShape(c, 0), true),
    (c) => reserveVariants(c, 0),
  ),
  TensorListReserve: orVariants(
    (c) => sized(c, tf.reshape(c.x(1), []), elementShape(c, 0), c.runtime.growsLists),
    (c) => reserveVariants(c, c.int(1)),
  ),
  TensorListFromTensor: orVariants((c) => rowsOf(c.x(0), c.runtime.growsLists), listFromVariants),
  TensorListStack: orVariants((c) => c.list(0).stack(), stackVariants),
  TensorListLength: orVariants((c) => c.list(0).size(), countVariants),
  TensorListElementShape: orVariants(shapeOfElements, (c) =>
    tf.zeros([0], c.dtypeAttr('shape_type') as 'int32'),
  ),
  TensorListSetItem: orVariants((c) => c.list(0).write(tf.reshape(c.x(1), []), c.x(2)), setVariant),
  TensorListGetItem: orVariants((c) => c.list(0).read(tf.reshape(c.x(1), [])), getVariant),
  TensorListPushBack: orVariants((c) => c.list(0).write(c.list(0).size(), c.x(1)), pushVariant),
  TensorListConcatLists: orVariants(listAfterList, joinVariants),
  TensorListPopBack: several(
    ['output_handle', 'tensor'],
    orVariants((c) => c.list(0).popped(), popVariant),
  ),
  TensorListGather: (c) => c.list(0).gather(c.x(1)),
  TensorListScatter: scatter,
  TensorListScatterV2: scatter,
  TensorListScatterIntoExistingList: (c) => c.list(0).scatter(c.x(2), c.x(1)),
  TensorListConcat: several(['tensor', 'lengths'], concat),
  TensorListConcatV2: several(['tensor', 'lengths'], concat),
  TensorListSplit: (c) =>
    new TensorArray(c.x(0).dtype, { size: c.x(2).size, inferShape: false }).split(c.x(0), c.x(2)),
  TensorListResize: (c) => {
    const list = c.list(0);
    const size = tf.reshape(c.x(1), []);
    return new TensorArray(list.dtype, { size, elementShape: list.elementShape, dynamicSize: true }).scatter(
      tf.range(0, tf.minimum(size, list.size()), 1, { dtype: 'int32' }),
      list.stack(),
    );
  },

  TensorArrayV3: several(['handle', 'flow'], (c): Value[] => {
    const dtype = c.dtypeAttr('dtype');
    const array = new TensorArray(dtype, {
      size: tf.reshape(c.x(0), []),
      dynamicSize: c.boolAttr('dynamic_size', false),
      elementShape: c.shapeAttr('element_shape'),
    });
    return [new ArrayHandle(dtype), array];
  }),
  TensorArrayWriteV3: (c) => flow(c, 3).write(tf.reshape(c.x(1), []), c.x(2)),
  TensorArrayReadV3: (c) => flow(c, 2).read(tf.reshape(c.x(1), [])),
  TensorArrayGatherV3: (c) => flow(c, 2).gather(c.x(1)),
  TensorArrayScatterV3: (c) => flow(c, 3).scatter(c.x(1), c.x(2)),
  TensorArraySizeV3: (c) => flow(c, 1).size(),
  TensorArrayConcatV3: several(['value', 'lengths'], (c) => [flow(c, 1).concat(), lengthsOf(c, flow(c, 1))]),
  TensorArraySplitV3: (c) => flow(c, 3).split(c.x(1), c.x(2)),
  TensorArrayCloseV3: () => [],
};
