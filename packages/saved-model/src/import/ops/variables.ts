// Variables: those of resources, and TensorFlow 1's references.
import * as tf from '@eagre/core';
import { type Tensor, Variable } from '@eagre/core';
import { isFloating } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import type { OpTable, Translate } from '../op-row.ts';
import { VariableHandle } from '../values.ts';
import { truncatedDiv } from './elementwise.ts';
import { assignedSlice } from './strided-slice.ts';

/** The one variable of a name; zeros until somebody assigns. */
const handle: Translate = (c) => {
  const { resources, isTrainable } = c.runtime.surroundings;
  const name = c.textAttr('shared_name', '') || (c.node.name ?? '');
  let found = resources.get(name);
  if (found === undefined) {
    const shape = c.shapeAttr('shape');
    if (shape === null || shape.includes(null))
      throw c.lacks(`the variable '${name}' has no shape of its own`);
    const dtype = c.dtypeAttr('dtype');
    const initial = dtype === 'string' ? '' : 0;
    found = new VariableHandle(
      new Variable(() => tf.fill(shape as number[], initial, dtype), {
        name,
        dtype,
        trainable: isTrainable(name),
      }),
    );
    resources.set(name, found);
  }
  return found;
};

const read: Translate = (c) => c.variable().read();

/** Changes a variable, and gives its reference for those who want it. */
const update =
  (fn: (variable: Variable, c: OpCall) => void): Translate =>
  (c) => {
    fn(c.variable(), c);
    return c.inputs[0] as VariableHandle;
  };
const assign = update((variable, c) => {
  variable.assign(c.x(1));
});
const assignAdd = update((variable, c) => {
  variable.assignAdd(c.x(1));
});
const assignSub = update((variable, c) => {
  variable.assignSub(c.x(1));
});

type Scatter = (x: Tensor, indices: Tensor, updates: Tensor) => Tensor;

/** Rows at indices of any shape. */
const scatterRows = (fn: Scatter): Translate =>
  update((variable, c) => {
    const indices = tf.expandDims(c.x(1), -1);
    const rows = c.x(2);
    const shape = [...c.x(1).shape, ...variable.shape.slice(1)];
    const full = rows.rank === shape.length ? rows : tf.broadcastTo(rows, shape);
    variable.assign(fn(variable.read(), indices, full));
  });
const scatterNd = (fn: Scatter): Translate =>
  update((variable, c) => {
    variable.assign(fn(variable.read(), c.x(1), c.x(2)));
  });

/** Rows times, or divided by, the products of all updates for them. */
const scatterProducts = (fn: (x: Tensor, factors: Tensor) => Tensor): Translate =>
  update((variable, c) => {
    const indices = c.x(1);
    const shape = [...indices.shape, ...variable.shape.slice(1)];
    const factors = tf.broadcastTo(c.x(2), shape).reshape([-1, ...variable.shape.slice(1)]);
    const rows = variable.shape[0] as number;
    variable.assign(fn(variable.read(), tf.math.unsortedSegmentProd(factors, indices.reshape([-1]), rows)));
  });
const quotient = (x: Tensor, y: Tensor): Tensor => (isFloating(x.dtype) ? x.div(y) : truncatedDiv(x, y));

const assignSlice = update((variable, c) => {
  variable.assign(assignedSlice(c, variable.read(), c.x(4)));
});

/** The part of a value that a text such as `7 4 0,3:-` tells: the sizes of the whole, and where the part begins and how long it is along each axis. */
function partOf(c: OpCall, whole: Tensor, slice: string): Tensor {
  const words = slice.trim().split(/\s+/);
  const extents = (words.pop() as string).split(':').map((text, axis) => {
    if (text === '-') return [0, whole.shape[axis] ?? 0];
    const [, start, size] = /^(\d+),(\d+)$/.exec(text) ?? [];
    if (start === undefined) throw c.wrong(`'${slice}' is no slice of a variable`);
    return [Number(start), Number(size)];
  }) as [number, number][];
  const isInside = extents.every(([start, size], axis) => start + size <= (whole.shape[axis] ?? 0));
  if (words.map(Number).join() !== whole.shape.join() || extents.length !== whole.rank || !isInside)
    throw c.wrong(`'${slice}' is no slice of a value of shape [${whole.shape}]`);
  return tf.slice(
    whole,
    extents.map(([start]) => start),
    extents.map(([, size]) => size),
  );
}

export const variables: OpTable = {
  VarHandleOp: handle,
  Variable: handle,
  VariableV2: handle,
  ReadVariableOp: read,
  AssignVariableOp: assign,
  AssignAddVariableOp: assignAdd,
  AssignSubVariableOp: assignSub,
  Assign: assign,
  AssignAdd: assignAdd,
  AssignSub: assignSub,
  VarIsInitializedOp: () => tf.constant(true),
  IsVariableInitialized: () => tf.constant(true),
  VariableShape: (c) => tf.constant([...c.variable().shape], c.dtypeAttr('out_type', 'int32')),
  DestroyResourceOp: () => [],
  ResourceGather: (c) => tf.gather(c.variable(), c.x(1), 0, { batchDims: c.intAttr('batch_dims', 0) }),
  ResourceGatherNd: (c) => tf.gatherNd(c.variable(), c.x(1)),
  ResourceScatterUpdate: scatterRows(tf.tensorScatterNdUpdate),
  ResourceScatterAdd: scatterRows(tf.tensorScatterNdAdd),
  ResourceScatterSub: scatterRows(tf.tensorScatterNdSub),
  ResourceScatterMax: scatterRows(tf.tensorScatterNdMax),
  ResourceScatterMin: scatterRows(tf.tensorScatterNdMin),
  ScatterUpdate: scatterRows(tf.tensorScatterNdUpdate),
  ScatterAdd: scatterRows(tf.tensorScatterNdAdd),
  ScatterSub: scatterRows(tf.tensorScatterNdSub),
  ScatterMax: scatterRows(tf.tensorScatterNdMax),
  ScatterMin: scatterRows(tf.tensorScatterNdMin),
  ScatterNdUpdate: scatterNd(tf.tensorScatterNdUpdate),
  ScatterNdAdd: scatterNd(tf.tensorScatterNdAdd),
  ScatterNdSub: scatterNd(tf.tensorScatterNdSub),
  ResourceScatterNdMax: scatterNd(tf.tensorScatterNdMax),
  ResourceScatterNdMin: scatterNd(tf.tensorScatterNdMin),
  ResourceStridedSliceAssign: assignSlice,
  StridedSliceAssign: assignSlice,
  ResourceScatterNdUpdate: scatterNd(tf.tensorScatterNdUpdate),
  ResourceScatterNdAdd: scatterNd(tf.tensorScatterNdAdd),
  ResourceScatterNdSub: scatterNd(tf.tensorScatterNdSub),
  ResourceScatterMul: scatterProducts((x, factors) => x.mul(factors)),
  ResourceScatterDiv: scatterProducts(quotient),
  ScatterMul: scatterProducts((x, factors) => x.mul(factors)),
  ScatterDiv: scatterProducts(quotient),
  ScatterNdMax: scatterNd(tf.tensorScatterNdMax),
  ScatterNdMin: scatterNd(tf.tensorScatterNdMin),
  RestoreV2: (c) => {
    const names = c.x(1).strings();
    const slices = c.x(2).strings();
    if (slices.length !== names.length)
      throw c.wrong(`there are ${names.length} names, but ${slices.length} slices`);
    // Parts of one variable come from its whole value.
    const keys = [...new Set(names)];
    const values = c.runtime.surroundings.restore(c.x(0).strings()[0] ?? '', keys, c);
    return names.map((name, i) => {
      const whole = values[keys.indexOf(name)] as Tensor;
      const slice = slices[i] as string;
      return slice === '' ? whole : partOf(c, whole, slice);
    });
  },
};
