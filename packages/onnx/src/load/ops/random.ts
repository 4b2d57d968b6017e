// Random numbers: of Eagre's generator, so a seed does not give the numbers of another program.

import type { DType } from '@eagre/backend';
import { random, type Tensor } from '@eagre/core';
import { dims, toShape } from '@eagre/core/internal';
import { dtypeOf } from '../../tensors.ts';
import { floating, type NodeCall, type OpTable, type Run } from '../node.ts';

const dtypeFor = (node: NodeCall, otherwise: DType): 'float32' =>
  (node.attrs.has('dtype') ? dtypeOf(node.attrs.int('dtype')) : otherwise) as 'float32';

const normal = (node: NodeCall, shape: readonly number[], dtype: 'float32'): Tensor =>
  random
    .normal(shape, { dtype: 'float32' })
    .mul(node.attrs.float('scale', 1))
    .add(node.attrs.float('mean', 0))
    .cast(dtype);
const uniform = (node: NodeCall, shape: readonly number[], dtype: 'float32'): Tensor => {
  const [low, high] = [node.attrs.float('low', 0), node.attrs.float('high', 1)];
  return random
    .uniform(shape, { dtype: 'float32' })
    .mul(high - low)
    .add(low)
    .cast(dtype);
};

const ofShape =
  (draw: typeof normal): Run =>
  (node) =>
    draw(node, node.attrs.ints('shape'), dtypeFor(node, 'float32'));
const like =
  (draw: typeof normal): Run =>
  (node) => {
    const x = node.x();
    return draw(node, toShape(dims(x)), dtypeFor(node, floating(x.dtype) ? x.dtype : 'float32'));
  };

export const randoms: OpTable = {
  Bernoulli: (node) => {
    const x = node.x();
    return random
      .uniform(toShape(dims(x)), { dtype: 'float32' })
      .less(x.cast('float32'))
      .cast(dtypeFor(node, x.dtype));
  },
  Multinomial: (node) => {
    const dtype = dtypeFor(node, 'int32') as string;
    if (dtype !== 'int32' && dtype !== 'int64') return node.unsupported(`classes of ${dtype}`);
    return random.categorical(node.x().cast('float32'), node.attrs.int('sample_size', 1), { dtype });
  },
  RandomNormal: ofShape(normal),
  RandomNormalLike: like(normal),
  RandomUniform: ofShape(uniform),
  RandomUniformLike: like(uniform),
};
