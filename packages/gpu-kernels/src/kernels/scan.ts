import type { NumericDType } from '@eagre/backend';
import {
  fits,
  type GpuKernel,
  type GpuKernels,
  launch,
  lowered,
  nothing,
  perThread,
  product,
} from './kernel.ts';
import { bufferType } from './scalar-program.ts';

/** A thread for each line. */
function scan(name: 'CumSum' | 'CumProd'): GpuKernel['lower'] {
  return ({ inputs: [x], outputs: [y], attrs }) => {
    if (!fits(x, y)) return undefined;
    if (y.size === 0) return nothing;
    const axis = attrs.axis as number;
    const n = x.shape[axis];
    const step = product(x.shape.slice(axis + 1));
    const type = bufferType(x.dtype as NumericDType);
    const float = type === 'f32';
    const sum = name === 'CumSum';
    const start = sum ? (float ? '0.0' : '0') : float ? '1.0' : '1';
    const next = float ? `value ${sum ? '+' : '*'} x[at]` : `${sum ? 'iAdd' : 'iMul'}(value, x[at])`;
    const program = perThread(
      { x: type, y: `mut ${type}` },
      { n: 'u32', step: 'u32' },
      `let first = (thread / p.step) * p.n * p.step + thread % p.step; var value: ${type} = ${start};
      for (var i = 0u; i < p.n; i++) {
        let at = first + ${attrs.reverse ? '(p.n - 1u - i)' : 'i'} * p.step;
        ${attrs.exclusive ? `let before = value; value = ${next}; y[at] = before;` : `value = ${next}; y[at] = value;`}
      }`,
    );
    return lowered(launch(program, [0, 1], [n, step], x.size / n));
  };
}

export const kernels: GpuKernels = {
  CumSum: { dtypes: ['float32', 'int32'], lower: scan('CumSum') },
  CumProd: { dtypes: ['float32', 'int32'], lower: scan('CumProd') },
};
