// Kernels that compute in float32 for tensors of float16 and bfloat16.
import {
  type Backend,
  buildScalarProgram,
  isHalf,
  type Kernel,
  type KernelName,
  type NumericDType,
  placedKernel,
  type TensorRef,
} from '@eagre/backend';
import { sizeOfDims } from '../shapes/dims.ts';
import { emptyTensor, type Tensor } from '../tensor/tensor.ts';
import { scalarKernel } from './scalar-kernels.ts';
import { symbolic } from './symbolic.ts';

function castKernel(backend: Backend, from: NumericDType, to: NumericDType): Kernel {
  return scalarKernel(backend, `cast ${from} ${to}`, () =>
    buildScalarProgram([from], (s, x) => s.cast(x, to)),
  );
}

/**
 * A kernel that takes tensors of 16 bit floats where the backend's takes float32: inputs are widened, results rounded. A result that
 * lies where an input does, as a variable that is updated, is computed in that input's wide copy.
 */
export function widenedKernel(
  backend: Backend,
  name: KernelName,
  dtypes: readonly NumericDType[],
): Kernel | undefined {
  const kernel = placedKernel(
    backend,
    name,
    dtypes.map((dtype) => (isHalf(dtype) ? 'float32' : dtype)),
  );
  if (kernel === undefined) return undefined;
  return (inputs, outputs, attrs) => {
    const own: Tensor[] = [];
    const wide = (t: TensorRef): TensorRef => {
      // Sizes that are not known must not be asked for.
      const tensor = emptyTensor('float32', t.shape, sizeOfDims(t.shape), backend);
      own.push(tensor);
      return tensor;
    };
    const wideInputs = inputs.map((t) => {
      if (!isHalf(t.dtype)) return t;
      const copy = wide(t);
      castKernel(backend, t.dtype, 'float32')([t], [copy], {});
      return copy;
    });
    const wideOutputs = outputs.map((t) => {
      if (!isHalf(t.dtype)) return t;
      const place = inputs.findIndex((input) => input.storage === t.storage);
      if (place < 0) return wide(t);
      const copy = wideInputs[place] as TensorRef;
      if (backend === symbolic) symbolic.recorder?.scratch?.(copy);
      return copy;
    });
    kernel(wideInputs, wideOutputs, attrs);
    outputs.forEach((t, i) => {
      if (isHalf(t.dtype)) castKernel(backend, 'float32', t.dtype)([wideOutputs[i] as TensorRef], [t], {});
    });
    for (const tensor of own) tensor.dispose();
  };
}
