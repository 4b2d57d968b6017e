import { indexLoad, indexType } from './gather.ts';
import {
  type Call,
  FAULT,
  fits,
  type GpuKernels,
  groups,
  head,
  type Lowered,
  lowered,
  nothing,
  programOf,
  raise,
} from './kernel.ts';
import { GROUP, GROUP_ENTRY, type Reduction, treeOf } from './reduce.ts';

const largest: Reduction = { start: 'fNeg(fInf())', combine: (a, b) => `fMax(${a}, ${b})` };
const sum: Reduction = { start: '0.0', combine: (a, b) => `${a} + ${b}` };

/** Statements after which `top` is the largest element of a row and `total` the sum of exp(x − top). */
const rowSums = `let base = row * p.n;
  var mine = ${largest.start};
  for (var i = t; i < p.n; i += ${GROUP}u) { mine = fMax(mine, x[base + i]); }
  ${treeOf(largest)}
  let top = part[0];
  workgroupBarrier();
  mine = 0.0;
  for (var i = t; i < p.n; i += ${GROUP}u) { mine = mine + fExp(x[base + i] - top); }
  ${treeOf(sum)}
  let total = part[0];
  workgroupBarrier();`;

const each = (body: string): string => `for (var i = t; i < p.n; i += ${GROUP}u) { ${body} }`;

function rows(buffers: Readonly<Record<string, string>>, body: string): ReturnType<typeof programOf> {
  return programOf(`${head(buffers, { rows: 'u32', n: 'u32' })}
var<workgroup> part: array<f32, ${GROUP}>;
${GROUP_ENTRY}
  if (row < p.rows) { ${rowSums} ${body} }
}`);
}

function overRows(
  buffers: Readonly<Record<string, string>>,
  body: string,
  operands: readonly number[],
): (call: Call) => Lowered | undefined {
  return ({ inputs: [x, labels = x], outputs }) => {
    if (!fits(x, ...outputs)) return undefined;
    const n = x.shape[x.shape.length - 1];
    if (outputs.every(({ size }) => size === 0)) return nothing;
    // The losses of rows of no classes are what the host makes of them.
    if (n === 0) return undefined;
    const type = indexType(labels.dtype);
    const count = x.size / n;
    const isSparse = 'labels' in buffers && buffers.labels === '';
    if (isSparse && type === undefined) return undefined;
    const typed = isSparse ? { ...buffers, labels: type as string } : buffers;
    const text = isSparse ? `${indexLoad('hit', 'labels', 'row', labels.dtype)} ${body}` : body;
    return lowered({ program: rows(typed, text), operands, params: [count, n], workgroups: groups(count) });
  };
}

export const kernels: GpuKernels = {
  Softmax: {
    dtypes: ['float32'],
    lower: overRows(
      { x: 'f32', y: 'mut f32' },
      each('y[base + i] = fDiv(fExp(x[base + i] - top), total);'),
      [0, 1],
    ),
  },
  LogSoftmax: {
    dtypes: ['float32'],
    lower: overRows(
      { x: 'f32', y: 'mut f32' },
      `let level = fLog(total); ${each('y[base + i] = (x[base + i] - top) - level;')}`,
      [0, 1],
    ),
  },
  SoftmaxCrossEntropyWithLogits: {
    dtypes: ['float32'],
    lower: overRows(
      { x: 'f32', labels: 'f32', loss: 'mut f32', y: 'mut f32' },
      `let level = fLog(total);
      mine = 0.0;
      ${each('mine = mine + labels[base + i];')}
      ${treeOf(sum)}
      let mass = part[0];
      workgroupBarrier();
      mine = 0.0;
      ${each('mine = mine - labels[base + i] * ((x[base + i] - top) - level);')}
      ${treeOf(sum)}
      if (t == 0u) { loss[row] = part[0]; }
      ${each('y[base + i] = fDiv(fExp(x[base + i] - top), total) * mass - labels[base + i];')}`,
      [0, 1, 2, 3],
    ),
  },
  SparseSoftmaxCrossEntropyWithLogits: {
    dtypes: ['float32'],
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
