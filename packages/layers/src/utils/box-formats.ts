// The formats of boxes, and their corners.
import { concat, InvalidArgumentError, split, type Tensor } from '@eagre/core';
import { shown } from '@eagre/core/internal';

const FORMATS = [
  'xyxy',
  'yxyx',
  'xywh',
  'center_xywh',
  'center_yxhw',
  'rel_xyxy',
  'rel_yxyx',
  'rel_xywh',
  'rel_center_xywh',
] as const;
/**
 * What the four numbers of a box are: two corners, or a corner or the middle, and the size. Those of `rel_` are parts of the image's width
 * and height.
 */
export type BoundingBoxFormat = (typeof FORMATS)[number];
/** @internal */
export type Corners = readonly [x1: Tensor, y1: Tensor, x2: Tensor, y2: Tensor];

export const named = (name: string): string => `keras.utils.boundingBoxes.${name}`;
export const refuse = (message: string, name: string): never => {
  throw new InvalidArgumentError(message, named(name));
};
export const four = (boxes: Tensor): Corners => split(boxes, 4, -1) as unknown as Corners;
export const join = (...parts: readonly Tensor[]): Tensor => concat(parts, -1);

/** @internal @throws InvalidArgumentError for what is no format */
export function formatOf(given: unknown, name: string): BoundingBoxFormat {
  const format = FORMATS.find((known) => typeof given === 'string' && known === given.toLowerCase());
  return (
    format ?? refuse(`the format of boxes is ${shown(given)}, expected one of ${FORMATS.join(', ')}`, name)
  );
}
/** @internal The corners of boxes, whose format is without `rel_`. */
export function toCorners(boxes: Tensor, format: string): Corners {
  const [a, b, c, d] = four(boxes);
  if (format === 'yxyx') return [b, a, d, c];
  if (format === 'xywh') return [a, b, a.add(c), b.add(d)];
  if (!format.startsWith('center')) return [a, b, c, d];
  const [x, y, w, h] = format === 'center_xywh' ? [a, b, c.div(2), d.div(2)] : [b, a, d.div(2), c.div(2)];
  return [x.sub(w), y.sub(h), x.add(w), y.add(h)];
}
/** @internal */
export function fromCorners([x1, y1, x2, y2]: Corners, format: string): Tensor {
  if (format === 'yxyx') return join(y1, x1, y2, x2);
  if (format === 'xyxy') return join(x1, y1, x2, y2);
  const [w, h] = [x2.sub(x1), y2.sub(y1)];
  if (format === 'xywh') return join(x1, y1, w, h);
  const [x, y] = [x1.add(w.div(2)), y1.add(h.div(2))];
  return format === 'center_xywh' ? join(x, y, w, h) : join(y, x, h, w);
}
/** @internal */
export const bare = (format: string): string => format.replace('rel_', '');
