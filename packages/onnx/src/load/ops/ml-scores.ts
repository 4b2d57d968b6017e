// What classifiers and regressors of ai.onnx.ml have in common: labels, and what they do to their scores.
import { concat, constant, gather, math, nn, type Tensor, where } from '@eagre/core';
import type { NodeCall } from '../node.ts';

/** Numbers of an attribute as a tensor. */
export const floats = (list: readonly number[], shape: readonly number[]): Tensor =>
  constant({ data: Float32Array.from(list), shape });
export const asFloat = (x: Tensor): Tensor => (x.dtype === 'float32' ? x : x.cast('float32'));

/** What a model does to its scores. */
export function transformed(
  node: NodeCall,
  scores: Tensor,
  kind: string = node.attrs.text('post_transform', 'NONE'),
): Tensor {
  switch (kind) {
    case 'NONE':
      return scores;
    case 'LOGISTIC':
      return scores.sigmoid();
    case 'SOFTMAX':
      return nn.softmax(scores, -1);
    case 'SOFTMAX_ZERO': {
      const soft = nn.softmax(where(scores.equal(0), Number.NEGATIVE_INFINITY, scores), -1);
      return where(scores.equal(0), 0, soft);
    }
    case 'PROBIT':
      return math.ndtri(scores);
    default:
      return node.fail(`the post_transform '${kind}' is unknown`);
  }
}

/** The labels of a classifier: strings or integers. */
export function labelsOf(node: NodeCall, ints: string, strings: string): Tensor {
  const names = node.attrs.texts(strings, []);
  if (names.length > 0) return constant(names);
  return constant(node.attrs.bigints(ints, []), 'int64').reshape([-1]);
}
/** The label at each place. */
export function labelled(labels: Tensor, places: Tensor): Tensor {
  return gather(labels, places.cast('int32'), 0);
}

/** One score for two classes. */
export function binary(node: NodeCall, scores: Tensor, labels: Tensor): readonly Tensor[] {
  const kind = node.attrs.text('post_transform', 'NONE');
  const one = transformed(node, scores);
  const other = kind === 'LOGISTIC' ? one.neg().add(1) : one.neg();
  const chosen = kind === 'LOGISTIC' ? one.greater(0.5) : one.greater(0);
  return [labelled(labels, chosen.cast('int32').reshape([-1])), concat([other, one], -1)];
}
