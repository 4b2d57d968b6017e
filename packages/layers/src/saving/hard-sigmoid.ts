// The hard sigmoid of Keras 2 and TensorFlow.js, which is steeper than that of Keras 3.
import { clipByValue, type Tensor } from '@eagre/core';
import { registerKerasSerializable } from '@eagre/core/internal';

/** min(max(x / 5 + 1 / 2, 0), 1). */
export function hardSigmoidOfKeras2(x: Tensor): Tensor {
  return clipByValue(x.mul(0.2).add(0.5), 0, 1);
}

/** What configurations say of it. */
export const HARD_SIGMOID: Readonly<Record<string, string>> = {
  module: 'builtins',
  class_name: 'function',
  config: 'Eagre>hard_sigmoid_of_keras2',
  registered_name: 'function',
};

/** Makes it known to readers of configurations. */
export function knowHardSigmoid(): void {
  registerKerasSerializable(hardSigmoidOfKeras2, { package: 'Eagre', name: 'hard_sigmoid_of_keras2' });
}
