// All kernels, and the compiler of scalar programs: Node loads them when one is first asked for (`late.ts`).
import { type Kernel, type KernelName, ResourceExhaustedError } from '@eagre/backend';
import { kernels as attention } from './attention.ts';
import { kernels as batchnorm } from './batchnorm.ts';
import { kernels as conv2d } from './conv2d.ts';
import { kernels as eigen } from './eigen.ts';
import { kernels as factors } from './factors.ts';
import { kernels as fft } from './fft.ts';
import { kernels as fill } from './fill.ts';
import { kernels as gather } from './gather.ts';
import { kernels as hashTexts } from './hash-texts.ts';
import { kernels as layernorm } from './layernorm.ts';
import { kernels as mapReduce } from './map-reduce.ts';
import { kernels as matmul } from './matmul.ts';
import { kernels as moments } from './moments.ts';
import { kernels as moves } from './moves.ts';
import { kernels as optimizers } from './optimizers.ts';
import { kernels as philoxNumbers } from './philox-numbers.ts';
import { kernels as pool2d } from './pool2d.ts';
import { kernels as random } from './random.ts';
import { kernels as reduce } from './reduce.ts';
import { kernels as resize } from './resize.ts';
import { kernels as rnn } from './rnn.ts';
import { kernels as scan } from './scan.ts';
import { kernels as softmax } from './softmax.ts';
import { kernels as sort } from './sort.ts';
import { kernels as specialFunction } from './special-function.ts';
import { kernels as svd } from './svd.ts';

export { compileScalar } from './scalar.ts';

/** What V8 says of arrays and buffers that it cannot make, as one of our errors. */
function exhaustible(kernel: Kernel): Kernel {
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

export const kernels: Partial<Record<KernelName, Kernel>> = Object.fromEntries(
  Object.entries<Kernel>({
    ...attention,
    ...batchnorm,
    ...conv2d,
    ...eigen,
    ...factors,
    ...fft,
    ...fill,
    ...gather,
    ...layernorm,
    ...mapReduce,
    ...matmul,
    ...moments,
    ...moves,
    ...optimizers,
    ...philoxNumbers,
    ...pool2d,
    ...random,
    ...reduce,
    ...resize,
    ...rnn,
    ...scan,
    ...softmax,
    ...sort,
    ...specialFunction,
    ...hashTexts,
    ...svd,
  }).map(([name, kernel]) => [name, exhaustible(kernel)]),
);
