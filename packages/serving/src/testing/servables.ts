// What tests serve.

import type { Tensor } from '@eagre/core';
import { TensorSpec, tfFunction } from '@eagre/graph';
import type { HostTensor, Servable, ServableSignature, TensorInfo } from '../servable/servable.ts';

/** TensorFlow Serving's example: x / 2 + 3. */
export const halfPlusThree = () =>
  tfFunction({ inputSignature: [new TensorSpec([null], 'float32', 'x')], name: 'half_plus_three' })(
    (x: Tensor): Tensor => x.mul(0.5).add(3),
  );

/** x / 2 + `bias`, of any shape. */
export function halfPlus(bias: number): ServableSignature {
  return {
    inputs: { x: { dtype: 'float32', shape: null } },
    outputs: { y: { dtype: 'float32', shape: null } },
    run: async ({ x }) => ({ y: mapped(x, (v) => v / 2 + bias) }),
  };
}

/** Gives each input back, as an output of the same name. */
export function echo(infos: Readonly<Record<string, TensorInfo>>): ServableSignature {
  return { inputs: infos, outputs: infos, run: async (inputs) => inputs };
}

export const alone = (signature: ServableSignature): Servable => ({
  signatures: { serving_default: signature },
});

export function mapped(tensor: HostTensor, fn: (value: number) => number): HostTensor {
  return { ...tensor, values: Float32Array.from(tensor.values as Float32Array, fn) };
}
