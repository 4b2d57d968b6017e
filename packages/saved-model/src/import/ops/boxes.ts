// Boxes in images: which to keep, what is inside of them, drawing them.
import * as tf from '@eagre/core';
import type { OpCall } from '../op-call.ts';
import { type OpTable, several, type Translate } from '../op-row.ts';

/** The place of the score threshold among the inputs; older ops have none. */
const suppressed =
  (scoreThreshold: number | null): Translate =>
  (c) =>
    tf.image.nonMaxSuppression(c.x(0), c.x(1), c.x(2), {
      iouThreshold: c.op === 'NonMaxSuppression' ? c.floatAttr('iou_threshold', 0.5) : c.x(3),
      ...(scoreThreshold === null ? {} : { scoreThreshold: c.x(scoreThreshold) }),
    });

const pads = (c: OpCall): boolean => c.boolAttr('pad_to_max_output_size', false);

/** Indices filled with zeros up to a number, where the node asks for that. */
function padded(c: OpCall, x: tf.Tensor, size: tf.Tensor): tf.Tensor {
  if (!pads(c)) return x;
  const missing = tf.cast(size, 'int32').sub(tf.size(x));
  return tf.pad(x, tf.reshape(tf.stack([tf.zerosLike(missing), missing]), [1, 2]));
}

const withScores: Translate = (c) => {
  const [indices, scores] = tf.image.nonMaxSuppressionWithScores(c.x(0), c.x(1), c.x(2), {
    iouThreshold: c.x(3),
    scoreThreshold: c.x(4),
    softNmsSigma: c.x(5),
  });
  return [padded(c, indices, c.x(2)), padded(c, scores, c.x(2)), tf.size(indices)];
};

export const boxes: OpTable = {
  NonMaxSuppression: suppressed(null),
  NonMaxSuppressionV2: suppressed(null),
  NonMaxSuppressionV3: suppressed(4),
  NonMaxSuppressionV4: several(['selected_indices', 'valid_outputs'], (c) => {
    const found = suppressed(4)(c) as tf.Tensor;
    return [padded(c, found, c.x(2)), tf.size(found)];
  }),
  NonMaxSuppressionV5: several(['selected_indices', 'selected_scores', 'valid_outputs'], withScores),
  NonMaxSuppressionWithOverlaps: (c) =>
    tf.image.nonMaxSuppressionOverlaps(c.x(0), c.x(1), c.x(2), {
      overlapThreshold: c.x(3),
      scoreThreshold: c.x(4),
    }),
  CombinedNonMaxSuppression: several(
    ['nmsed_boxes', 'nmsed_scores', 'nmsed_classes', 'valid_detections'],
    (c) =>
      tf.image.combinedNonMaxSuppression(c.x(0), c.x(1), c.x(2), c.x(3), {
        iouThreshold: c.x(4),
        scoreThreshold: c.x(5),
        padPerClass: c.boolAttr('pad_per_class', false),
        clipBoxes: c.boolAttr('clip_boxes', true),
      }),
  ),
  CropAndResize: (c) =>
    tf.image.cropAndResize(c.x(0), c.x(1), c.x(2), c.x(3), {
      method: c.textAttr('method', 'bilinear') as 'bilinear' | 'nearest',
      extrapolationValue: c.floatAttr('extrapolation_value', 0),
    }),
  DrawBoundingBoxes: (c) => tf.image.drawBoundingBoxes(c.x(0), c.x(1)),
  DrawBoundingBoxesV2: (c) => tf.image.drawBoundingBoxes(c.x(0), c.x(1), c.x(2)),
};
