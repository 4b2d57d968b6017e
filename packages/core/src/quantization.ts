/** `tf.quantization`. */
export {
  fakeQuantWithMinMaxArgs,
  fakeQuantWithMinMaxArgsGradient,
  fakeQuantWithMinMaxVars,
  fakeQuantWithMinMaxVarsGradient,
  fakeQuantWithMinMaxVarsPerChannel,
  fakeQuantWithMinMaxVarsPerChannelGradient,
  type QuantizeOptions,
  quantizeAndDequantize,
  quantizeAndDequantizeV2,
} from './ops/nn/quantization.ts';
