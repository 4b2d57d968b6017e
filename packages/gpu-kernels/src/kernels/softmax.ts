import { indexLoad, indexType } from './gather.ts';
import {
  alwaysFits,
  type Dispatch,
  FAULT,
  type GpuKernel,
  type GpuKernels,
  lowered,
  perCapability,
  raise,
} from './kernel.ts';
import { acrossRow, combined, eachOf, largest, launchRows, once, perRow, total } from './reduce.ts';
import { floats, ofFloats } from './scalar-program.ts';

const exps = (k: number): string => `fExpBelow(x${k} - level)`;

/**
 * Statements after which `top` is the largest element of a row and `total` the sum of exp(x − top). Each thread measures from the largest that it has
 * seen so far, so that the row is read once.
 */
export const rowSums = (
  atOnce?: number,
): string => `let base = row * p.n; var most = ${largest.start}; var sums = 0.0;
  ${eachOf(
    (k) => `let x${k} = x[base + i${k}];`,
    (many) => `let next = ${many.reduce((before, k) => largest.combine(before, `x${k}`), 'most')};
    let level = select(next, 0.0, bitcast<u32>(next) == 0xff800000u);
    if (next > most) { sums = sums * fExp(most - level); }
    most = next; sums = sums + (${many.map(exps).join(' + ')});`,
    atOnce,
  )}
  mine = most; ${combined('top', largest)}
  mine = sums * fExp(most - top); ${combined('total')} let share = fDiv(1.0, total);`;

/** Statements that store what `value` makes of each element. */
const stored = (value: (k: number) => string, atOnce?: number, more = ''): string =>
  eachOf(
    (k) => `let x${k} = x[base + i${k}]; ${more.replaceAll('#', String(k))}`,
    (many) => many.map((k) => `y[base + i${k}] = ${value(k)};`).join(' '),
    atOnce,
  );

/** From so many elements on, GPUs of NVIDIA take more threads for a row, so that fewer rows are under way, and are still in the cache for their second reading. */
export const LONG = 8192;

function overRows(
  buffers: Readonly<Record<string, string>>,
  body: (atOnce?: number) => string,
  operands: readonly number[],
): GpuKernel['lower'] {
  return alwaysFits(({ inputs: [x, labels = x] }) => {
    const n = x.shape[x.shape.length - 1];
    // The losses of rows of no classes are what the host makes of them.
    if (n === 0) return undefined;
    const type = indexType(labels.dtype);
    const count = x.size / n;
    const isSparse = 'labels' in buffers && buffers.labels === '';
    if (isSparse && type === undefined) return undefined;
    const ofX = ofFloats(x.dtype, buffers);
    const typed = isSparse ? { ...ofX, labels: type as string } : ofX;
    const text = (atOnce?: number): string =>
      isSparse ? `${indexLoad('hit', 'labels', 'row', labels.dtype)} ${body(atOnce)}` : body(atOnce);
    const rows = (across: number, atOnce?: number): Dispatch =>
      launchRows(perRow(typed, {}, `${rowSums(atOnce)} ${text(atOnce)}`, across), operands, count, n, across);
    const plain = rows(acrossRow(n));
    if (n < LONG) return lowered(plain);
    return lowered({ ...plain, cuda: perCapability(() => ({ dispatches: [rows(1024, 8)], scratch: 0 })) });
  });
}

/** Statements that store the loss of a row whose label is `hit`. */
export const lossOfHit: string = once(
  `if (hit < p.n) { loss[row] = fLog(total) - (x[base + hit] - top); } else { loss[row] = 0.0; ${raise(4)} }`,
);

export const kernels: GpuKernels = {
  Softmax: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', y: 'mut f32' },
      (atOnce) => stored((k) => `fExpBelow(x${k} - top) * share`, atOnce),
      [0, 1],
    ),
  },
  LogSoftmax: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', y: 'mut f32' },
      (atOnce) => `let log = fLog(total); ${stored((k) => `(x${k} - top) - log`, atOnce)}`,
      [0, 1],
    ),
  },
  SoftmaxCrossEntropyWithLogits: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', labels: 'f32', loss: 'mut f32', y: 'mut f32' },
      (atOnce) => `let log = fLog(total);
      ${total('mass', 'labels[base + i]')}
      ${total('entropy', 'labels[base + i] * (log - (x[base + i] - top))')}
      ${once('loss[row] = entropy;')}
      ${stored((k) => `fExpBelow(x${k} - top) * share * mass - label${k}`, atOnce, 'let label# = labels[base + i#];')}`,
      [0, 1, 2, 3],
    ),
  },
  SparseSoftmaxCrossEntropyWithLogits: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', labels: '', loss: 'mut f32', y: 'mut f32', fault: 'mut atomic<u32>' },
      (atOnce) => `${lossOfHit}
      ${stored((k) => `fExpBelow(x${k} - top) * share - select(0.0, 1.0, i${k} == hit)`, atOnce)}`,
      [0, 1, 2, 3, FAULT],
    ),
  },
};
