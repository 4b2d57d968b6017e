// Layer normalization of a sum, which it makes as well.
import { columnStore } from '../kernels/columns.ts';
import type { Call, Lowered } from '../kernels/kernel.ts';
import { rowNorm } from '../kernels/norms.ts';
import { eachOf } from '../kernels/reduce.ts';
import { rounded } from '../kernels/scalar-program.ts';

/** Two summands, then scale and offset → their sum, rounded, then what `LayerNorm` makes of that. A thread reads later what it wrote itself. */
export const summedLayerNorm: (call: Pick<Call, 'inputs' | 'outputs' | 'attrs'>) => Lowered | undefined =
  rowNorm(true, (value, lanes, dtype) => {
    const sum = (k: number, lane: number): string =>
      rounded(`${value('a', k, lane)} + ${value('b', k, lane)}`, dtype);
    const stored = (k: number): string =>
      columnStore(lanes === 2 ? [sum(k, 0), sum(k, 1)] : [sum(k, 0)], dtype);
    return eachOf(
      (k) => `let a${k} = a[base + i${k}]; let b${k} = b[base + i${k}];`,
      (many) => many.map((k) => `let x${k} = ${stored(k)}; x[base + i${k}] = x${k};`).join(' '),
    );
  });
