// Matrices whose lines begin at no multiple of 16 bytes, copied so that they do: tensor cores bring such lines many times as fast.
import type { CudaDispatch, CudaProgram } from '../kernels/kernel.ts';
import { type CoreDType, coreProgram, elementOf, kernelText, lanesOf } from './tensor-cores.ts';

const THREADS = 256;

/** How many elements a line has that is a whole number of chunks. */
export function pitchOf(dtype: CoreDType, run: number): number {
  const lanes = lanesOf(dtype);
  return Math.ceil(run / lanes) * lanes;
}

function program(dtype: CoreDType): CudaProgram {
  const lanes = lanesOf(dtype);
  const fields = { from: 'u32', all: 'u32', run: 'u32', chunks: 'u32' } as const;
  const pointers = [`const ${elementOf(dtype)}* x`, 'tc_chunk* y'];
  return coreProgram(`pad lines of ${dtype}`, THREADS, () => ({
    pointers,
    params: Object.values(fields),
    print: (name) =>
      kernelText(
        name,
        dtype,
        fields,
        '',
        `__launch_bounds__(${THREADS}) ${name}(${pointers.join(', ')}, const Params p)`,
        `  const u32 number = blockIdx.x * ${THREADS}u + threadIdx.x;
  if (number >= p.all) return;
  const u32 line = number / p.chunks, begin = number % p.chunks * ${lanes}u;
  Element part[${lanes}];
  TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++) part[e] = begin + e < p.run ? x[line * p.run + begin + e] : Element(0);
  tc_chunk whole;
  memcpy(&whole, part, 16);
  y[p.from + number] = whole;`,
      ),
  }));
}

/**
 * Copies `lines` lines of `run` elements, with zeros behind each up to a whole chunk of 16 bytes.
 * @param from the chunk of the target where the first line begins.
 */
export function padLines(
  dtype: CoreDType,
  [source, target]: readonly [number, number],
  { from, lines, run }: { readonly from: number; readonly lines: number; readonly run: number },
): CudaDispatch {
  const chunks = pitchOf(dtype, run) / lanesOf(dtype);
  return {
    program: program(dtype),
    operands: [source, target],
    params: [from, lines * chunks, run, chunks],
    workgroups: [Math.ceil((lines * chunks) / THREADS), 1, 1],
  };
}
