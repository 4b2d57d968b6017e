import { indexLoad, indexType } from './gather.ts';
import { alwaysFits, FAULT, type GpuKernel, type GpuKernels, groups, lowered, raise } from './kernel.ts';
import { each, largest, perRow, total } from './reduce.ts';
import { floats, ofFloats } from './scalar-program.ts';

/** Statements after which `top` is the largest element of a row and `total` the sum of exp(x − top). */
const rowSums = `let base = row * p.n;
  ${total('top', 'x[base + i]', largest)}
  ${total('total', 'fExp(x[base + i] - top)')}`;

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
    const program = perRow(typed, {}, `${rowSums} ${text}`);
    return lowered({ program, operands, params: [count, n], workgroups: groups(count) });
  });
}

export const kernels: GpuKernels = {
  Softmax: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', y: 'mut f32' },
      each('y[base + i] = fDiv(fExp(x[base + i] - top), total);'),
      [0, 1],
    ),
  },
  LogSoftmax: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', y: 'mut f32' },
      `let level = fLog(total); ${each('y[base + i] = (x[base + i] - top) - level;')}`,
      [0, 1],
    ),
  },
  SoftmaxCrossEntropyWithLogits: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', labels: 'f32', loss: 'mut f32', y: 'mut f32' },
      `let level = fLog(total);
      ${total('mass', 'labels[base + i]')}
      ${total('entropy', 'labels[base + i] * (level - (x[base + i] - top))')}
      if (t == 0u) { loss[row] = entropy; }
      ${each('y[base + i] = fDiv(fExp(x[base + i] - top), total) * mass - labels[base + i];')}`,
      [0, 1, 2, 3],
    ),
  },
  SparseSoftmaxCrossEntropyWithLogits: {
    dtypes: floats,
    lower: overRows(
      { x: 'f32', labels: '', loss: 'mut f32', y: 'mut f32', fault: 'mut atomic<u32>' },
      `if (t == 0u) {
        if (hit < p.n) { loss[row] = fLog(total) - (x[base + hit] - top); } else { loss[row] = 0.0; ${raise(4)} }
      }
      ${each('y[base + i] = fDiv(fExp(x[base + i] - top), total) - select(0.0, 1.0, i == hit);')}`,
      [0, 1, 2, 3, FAULT],
    ),
  },
};
