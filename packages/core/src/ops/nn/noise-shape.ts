import { InvalidArgumentError } from '@eagre/backend';
import type { Dim, Dims } from '../../shapes/dim.ts';
import { dims, dimsOf, toShape } from '../../shapes/dims.ts';
import { checkList, type PartialShape, type Shape, showShape, stretchesTo } from '../../shapes/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';

/** The dimensions of the noise of a dropout for x; null in a list of x's rank stands for x's own. */
export function noiseShapeOf(given: PartialShape, x: Tensor, op: string): Shape {
  checkList(given, 'noiseShape', op);
  const own = dims(x);
  const wanted: readonly (Dim | null)[] = dimsOf(given as Dims);
  const shape = wanted.map((d, i) => d ?? (given.length === x.rank ? own[i] : Number.NaN));
  const skip = x.rank - shape.length;
  if (skip < 0 || !shape.every((d, i) => stretchesTo(d, own[skip + i])))
    throw new InvalidArgumentError(
      `noiseShape ${showShape(given)} does not broadcast to x ${showShape(x.shape)}`,
      op,
    );
  return toShape(shape);
}
