import type { KernelName } from '@eagre/backend';

type Shape = readonly number[];

const product = (shape: Shape): number => shape.reduce((n, d) => n * d, 1);

/**
 * How many multiplications and additions a kernel call needs whose work is sums of products, as its shapes tell; null for other
 * kernels, whose work is moving memory. Biases and activations, a few operations for each element, are not counted; padding counts as
 * if it were pixels. Attention counts its products but not its softmax, recurrent layers their products but not their gates.
 */
export function productOperations(
  kernel: KernelName,
  inputs: readonly Shape[],
  outputs: readonly Shape[],
  attrs: Readonly<Record<string, unknown>>,
): number | null {
  switch (kernel) {
    case 'MatMul':
      return 2 * product(outputs[0]) * (inputs[0].at(attrs.transposeA === true ? -2 : -1) as number);
    case 'Conv2D':
      return convolution(outputs[0], inputs[1]);
    case 'Conv2DBackpropInput':
      return convolution(inputs[1], inputs[0]);
    case 'Conv2DBackpropFilter':
      return convolution(inputs[1], outputs[0]);
    case 'ScaledDotProductAttention':
      return attention(inputs[0], inputs[1], inputs[2], attrs.timeFirst === true, 1, 1);
    case 'ScaledDotProductAttentionGrad':
      // Scores are computed once more, and go into the gradients of query and key; values' products have two gradients.
      return attention(inputs[1], inputs[2], inputs[3], attrs.timeFirst === true, 3, 2);
    case 'LSTM':
      return recurrent(inputs[0], inputs[3], inputs[4]);
    case 'GRU':
      return recurrent(inputs[0], inputs[2], inputs[3]);
    case 'LSTMGrad':
      return recurrentGrad(inputs[0], inputs[3], inputs[4], outputs.length > 6);
    case 'GRUGrad':
      return recurrentGrad(inputs[0], inputs[2], inputs[3], outputs.length > 5);
    default:
      return null;
  }
}

function convolution(y: Shape, [height, width, channels]: Shape): number {
  return 2 * product(y) * height * width * channels;
}

/** @param scores, values how many products there are of the size of query · keyᵀ and of softmax · value. */
function attention(
  query: Shape,
  key: Shape,
  value: Shape,
  timeFirst: boolean,
  scores: number,
  values: number,
): number {
  const [heads, time] = timeFirst ? [2, 1] : [1, 2];
  const pairs = query[0] * query[heads] * query[time] * key[time];
  return 2 * pairs * (scores * query[3] + values * value[3]);
}

function recurrent([batch, time]: Shape, kernel: Shape, recurrentKernel: Shape): number {
  return 2 * batch * time * (product(kernel) + product(recurrentKernel));
}

/** Two products for each of the forward pass, less the one for x where nobody wants its gradient. */
function recurrentGrad(x: Shape, kernel: Shape, recurrentKernel: Shape, ofX: boolean): number {
  const steps = x[0] * x[1];
  return 2 * steps * ((ofX ? 2 : 1) * product(kernel) + 2 * product(recurrentKernel));
}
