import { indexLoad, indexType } from './gather.ts';
import { alwaysFits, FAULT, type GpuKernel, type GpuKernels, lowered, raise } from './kernel.ts';
import { acrossRow, combined, eachOf, largest, launchRows, once, perRow, total } from './reduce.ts';
import { floats, ofFloats } from './scalar-program.ts';

const exps = (k: number): string => `fExp(x${k} - level)`;

/**
 * Statements after which `top` is the largest element of a row and `total` the sum of exp(x − top). Each thread measures from the largest that it has
 * seen so far, so that the row is read once.
 */
const rowSums = `let base = row * p.n; var most = ${largest.start}; var sums = 0.0;
  ${eachOf(
    (k) => `let x${k} = x[base + i${k}];`,
    (many) => `let next = ${many.reduce((before, k) => largest.combine(before, `x${k}`), 'most')};
    let level = select(next, 0.0, next == ${largest.start});
    if (next > most) { sums = sums * fExp(most - level); }
    most = next; sums = sums + (${many.map(exps).join(' + ')});`,
  )}
  mine = most; ${combined('top', largest)}
  mine = sums * fExp(most - top); ${combined('total')} let share = fDiv(1.0, total);`;

/** Statements that store what `value` makes of each element. */
const stored = (value: (k: number) => string, more = ''): string =>
  eachOf(
    (k) => `let x${k} = x[base + i${k}]; ${more.replaceAll('#', String(k))}`,
    (many) => many.map((k) => `y[base + i${k}] = ${value(k)};`).join(' '),
  );

function overRows(
  buffers: Readonly<Record<string, string>>,
  body: string,
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
    const text = isSparse ? `${indexLoad('hit', 'labels', 'row', labels.dtype)} ${body}` : body;
    const across = acrossRow(n);
    const program = perRow(typed, {}, `${rowSums} ${text}`, across);
    return lowered(launchRows(program, operands, count, n, across));
  });
}

export const kernels: GpuKernels = {
  Softmax: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', y: 'mut f32' },
      stored((k) => `fExp(x${k} - top) * share`),
      [0, 1],
    ),
  },
  LogSoftmax: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', y: 'mut f32' },
      `let log = fLog(total); ${stored((k) => `(x${k} - top) - log`)}`,
      [0, 1],
    ),
  },
  SoftmaxCrossEntropyWithLogits: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', labels: 'f32', loss: 'mut f32', y: 'mut f32' },
      `let log = fLog(total);
      ${total('mass', 'labels[base + i]')}
      ${total('entropy', 'labels[base + i] * (log - (x[base + i] - top))')}
      ${once('loss[row] = entropy;')}
      ${stored((k) => `fExp(x${k} - top) * share * mass - label${k}`, 'let label# = labels[base + i#];')}`,
      [0, 1, 2, 3],
    ),
  },
  SparseSoftmaxCrossEntropyWithLogits: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', labels: '', loss: 'mut f32', y: 'mut f32', fault: 'mut atomic<u32>' },
      `${once(
        `if (hit < p.n) { loss[row] = fLog(total) - (x[base + hit] - top); } else { loss[row] = 0.0; ${raise(4)} }`,
      )}
      ${stored((k) => `fExp(x${k} - top) * share - select(0.0, 1.0, i${k} == hit)`)}`,
      [0, 1, 2, 3, FAULT],
    ),
  },
};
