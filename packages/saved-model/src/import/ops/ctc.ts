// Connectionist temporal classification: losses and the labels of frames.
import type { SparseTensor, Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { columnOf, makeSparse } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import { intOf, type OpTable, several, type Translate } from '../op-row.ts';
import { vjp } from '../vjp.ts';

/** The loss of each sequence, and what its gradient by the logits is. The blank is the last class, or the first one where GPUs compute it. */
const lossOf =
  (blankIndex: 0 | -1): Translate =>
  (c) => {
    if (c.boolAttr('preprocess_collapse_repeated', false) || !c.boolAttr('ctc_merge_repeated', true))
      throw c.lacks('only the usual rules for repeated labels are supported');
    const [logits, indices, values, times] = [c.x(0), c.x(1), c.x(2), c.x(3)];
    const rows = columnOf(indices, 0);
    const lengths = tf.unsortedSegmentSum(tf.onesLike(rows, 'int32'), rows, tf.size(times));
    const batch = tf.cast(tf.size(times), 'int64');
    const longest = tf.cast(tf.max(tf.concat([tf.zeros([1], 'int32'), lengths], 0)), 'int64');
    const labels = tf.sparse.toDense(makeSparse(indices, values, tf.stack([batch, longest])));
    const run = (x: Tensor): Tensor => tf.nn.ctcLoss(labels, x, lengths, times, { blankIndex });
    const result = run(logits);
    const [gradient] = vjp(run, [logits], tf.onesLike(result));
    return [result, gradient ?? tf.zerosLike(logits)];
  };

/** The parts of sparse tensors: all indices, all values, all shapes. */
const partsOf = (readings: readonly SparseTensor[]): Tensor[] => [
  ...readings.map((x) => x.indices),
  ...readings.map((x) => x.values),
  ...readings.map((x) => x.denseShape),
];

const greedy: Translate = (c) => {
  const [readings, scores] = tf.nn.ctcGreedyDecoder(c.x(0), c.x(1), {
    mergeRepeated: c.boolAttr('merge_repeated', false),
    blankIndex: c.intAttr('blank_index', -1),
  });
  return [...partsOf(readings), scores];
};

const beamSearch = (c: OpCall): Tensor[] => {
  if (c.boolAttr('merge_repeated', true)) throw c.lacks('merge_repeated is not supported');
  const [readings, scores] = tf.nn.ctcBeamSearchDecoder(c.x(0), c.x(1), {
    beamWidth: c.intAttr('beam_width'),
    topPaths: c.intAttr('top_paths'),
  });
  return [...partsOf(readings), scores];
};

const DECODED = ['decoded_indices', 'decoded_values', 'decoded_shape', 'log_probability'];

export const ctc: OpTable = {
  CTCLoss: several(['loss', 'gradient'], lossOf(-1)),
  CTCLossV2: several(['loss', 'gradient'], lossOf(0)),
  CTCGreedyDecoder: several(DECODED, greedy),
  CTCBeamSearchDecoder: {
    outputs: DECODED,
    counts: (node) => [...new Array<number>(3).fill(intOf(node, 'top_paths', 1)), 1],
    run: beamSearch,
  },
};
