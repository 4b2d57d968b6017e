import { type DType, dtypeTraits, type NumericDType } from '../dtype.ts';
import { isHalf } from '../half.ts';
import type { KernelName } from '../kernels.ts';
import { buildScalarProgram } from '../program/scalar.ts';
import type { Backend, Kernel, TensorRef } from './backend.ts';

/**
 * A kernel that takes floats of 16 bits by one of float32, between copies: inputs are widened, results rounded. An output that lies where an
 * input does is computed in that input's copy.
 * @returns undefined where the backend has none of float32.
 */
export function wideKernel(
  backend: Backend,
  name: KernelName,
  dtypes: readonly NumericDType[],
): Kernel | undefined {
  const kernel = backend.kernel(
    name,
    dtypes.map((dtype) => (isHalf(dtype) ? 'float32' : dtype)),
  );
  if (kernel === undefined) return undefined;
  const cast = (from: TensorRef, to: TensorRef): void => {
    const of = (dtype: DType): NumericDType => dtype as NumericDType;
    backend.elementwise(buildScalarProgram([of(from.dtype)], (s, x) => s.cast(x, of(to.dtype))))(
      [from],
      [to],
      {},
    );
  };
  return (inputs, outputs, attrs) => {
    const copies: TensorRef[] = [];
    const wide = (t: TensorRef): TensorRef => {
      const storage = backend.allocator.allocate(t.size * dtypeTraits.float32.bytes);
      const copy: TensorRef = { dtype: 'float32', shape: t.shape, size: t.size, storage };
      copies.push(copy);
      return copy;
    };
    try {
      const wideInputs = inputs.map((t) => {
        if (!isHalf(t.dtype)) return t;
        const copy = wide(t);
        cast(t, copy);
        return copy;
      });
      const wideOutputs = outputs.map((t) => {
        if (!isHalf(t.dtype)) return t;
        const place = inputs.findIndex((input) => input.storage === t.storage);
        return place < 0 ? wide(t) : wideInputs[place];
      });
      kernel(wideInputs, wideOutputs, attrs);
      outputs.forEach((t, i) => {
        if (isHalf(t.dtype)) cast(wideOutputs[i], t);
      });
    } finally {
      for (const { storage } of copies) storage.release();
    }
  };
}
