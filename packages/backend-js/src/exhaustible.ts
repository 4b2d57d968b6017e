import { type Kernel, ResourceExhaustedError } from '@eagre/backend';

/** What V8 says of arrays and buffers that it cannot make, as one of our errors. */
export function exhaustible(kernel: Kernel): Kernel {
  return (inputs, outputs, attrs) => {
    try {
      kernel(inputs, outputs, attrs);
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw new ResourceExhaustedError(
        `no memory to compute with (${cause.message}); use smaller tensors, or the native backend`,
        undefined,
        { cause },
      );
    }
  };
}
