/** `tf.quantization`. */
export {
  fakeQuantWithMinMaxArgs,
  fakeQuantWithMinMaxVars,
  fakeQuantWithMinMaxVarsPerChannel,
} from './ops/nn/quantization.ts';
