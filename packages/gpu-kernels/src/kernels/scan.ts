import { product } from '@eagre/backend';
import { alwaysFits, type GpuKernel, type GpuKernels, launch, lowered, perThread } from './kernel.ts';
import { binary, floats, literal, ofFloats } from './scalar-program.ts';

/** A thread for each line. */
function scan(name: 'CumSum' | 'CumProd'): GpuKernel['lower'] {
  return alwaysFits(({ inputs: [x], attrs }) => {
    const axis = attrs.axis as number;
    const n = x.shape[axis];
    const step = product(x.shape.slice(axis + 1));
    const type = x.dtype === 'int32' ? 'i32' : 'f32';
    const sum = name === 'CumSum';
    const start = literal(sum ? 0 : 1, type === 'f32' ? 'float32' : 'int32');
    const next = binary(sum ? 'add' : 'mul', type)('value', 'x[at]');
    const program = perThread(
      ofFloats(x.dtype, { x: type, y: `mut ${type}` }),
      { n: 'u32', step: 'u32' },
      `let first = (thread / p.step) * p.n * p.step + thread % p.step; var value: ${type} = ${start};
      for (var i = 0u; i < p.n; i++) {
        let at = first + ${attrs.reverse ? '(p.n - 1u - i)' : 'i'} * p.step;
        ${attrs.exclusive ? `let before = value; value = ${next}; y[at] = before;` : `value = ${next}; y[at] = value;`}
      }`,
    );
    return lowered(launch(program, [0, 1], [n, step], x.size / n));
  });
}

export const kernels: GpuKernels = {
  CumSum: { dtypes: [...floats, 'int32'], lower: scan('CumSum') },
  CumProd: { dtypes: [...floats, 'int32'], lower: scan('CumProd') },
};
