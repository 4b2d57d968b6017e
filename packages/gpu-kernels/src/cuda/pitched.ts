// Matrices whose lines begin at multiples of 16 bytes, as tensor cores bring them, though they have another number of elements: who makes them leaves zeros
// behind each line, and products read them so.
import { type DType, isHalf } from '@eagre/backend';
import { launchWords, perWord } from '../kernels/elements.ts';
import { indexLoad, indexType } from '../kernels/gather.ts';
import { type Call, FAULT, fits, type Lowered, lowered, type TensorInfo } from '../kernels/kernel.ts';
import { matmulProduct } from '../kernels/matmul.ts';
import { productDispatch } from '../kernels/product.ts';
import { acrossRow, eachOf, launchRows, perRow } from '../kernels/reduce.ts';
import { floatType } from '../kernels/scalar-program.ts';
import { LONG, lossOfHit, rowSums } from '../kernels/softmax.ts';
import { narrowFunctions } from '../language/syntax.ts';
import { pitchOf } from './pad-lines.ts';
import { LEAST_PADDED, pitchedFactor, pitchFields } from './padded-product.ts';

type Half = 'float16' | 'bfloat16';

/** The pitch of a matrix of 16 bits in rows, if its lines begin elsewhere than at multiples of 16 bytes; undefined for all others. */
export function pitchWanted({ dtype, shape }: TensorInfo): number | undefined {
  const run = shape[shape.length - 1];
  if (!isHalf(dtype) || run === undefined) return undefined;
  const pitch = pitchOf(dtype, run);
  return pitch === run ? undefined : pitch;
}

/** Whether tensor cores win more by a pitch than it takes to make one, in a call of `MatMul`. */
export function isWorthPitching(call: Pick<Call, 'inputs' | 'outputs' | 'attrs'>): boolean {
  const { rank, sizes } = matmulProduct(call);
  return rank === 0 && Math.min(...sizes.slice(1)) >= LEAST_PADDED;
}

/** A call of `MatMul` whose factors have these pitches, where they have one. */
export function pitchedMatmul(
  call: Pick<Call, 'inputs' | 'outputs' | 'attrs'>,
  pitches: readonly [number | undefined, number | undefined],
): Lowered | undefined {
  const { made, operands, values, sizes } = matmulProduct(call);
  const [left, right] = [made.left, made.right].map((factor, i) => {
    const pitch = pitches[i];
    return pitch === undefined ? factor : pitchedFactor(factor, i === 0 ? 0 : 1, pitch, 0);
  });
  const own = { ...made, params: { ...made.params, ...pitchFields }, left, right };
  const dispatch = productDispatch(own, operands, [...values, pitches[0] ?? 0, pitches[1] ?? 0, 0], sizes);
  return dispatch && lowered(dispatch);
}

/** Lines of `run` floats as ones of 16 bits with a pitch. */
export function pitchedLines(from: DType, to: Half, lines: number, run: number): Lowered {
  const { store } = narrowFunctions[to];
  const pitch = pitchOf(to, run);
  const program = perWord({ x: floatType(from), y: 'mut u32' }, { run: 'u32', chunks: 'u32' }, 4, {
    declare: (k) => `var low${k} = 0.0; var high${k} = 0.0;`,
    load: (
      k,
    ) => `let line${k} = w${k} / p.chunks; let e${k} = (w${k} - line${k} * p.chunks) * 2u; let at${k} = line${k} * p.run + e${k};
      if (e${k} < p.run) { low${k} = x[at${k}]; } if (e${k} + 1u < p.run) { high${k} = x[at${k} + 1u]; }`,
    work: (k) => `y[w${k}] = ${store}(low${k}) | (${store}(high${k}) << 16u);`,
  });
  return lowered(launchWords(program, [0, 1], [run, pitch / 2], (lines * pitch) / 2));
}

/**
 * Cross-entropy from logits of 16 bits, computed in float32: logits [n, c], labels [n] → loss [n] in float32, gradient [n, c] times `factor`.
 * @param pitch of the gradient, from a line to the next.
 * @returns undefined for labels that GPUs do not read, or too many elements.
 */
export function narrowCrossEntropy(
  [x, labels]: readonly TensorInfo[],
  gradient: TensorInfo,
  factor: number,
  pitch: number,
): Lowered | undefined {
  const n = x.shape[x.shape.length - 1];
  const type = indexType(labels.dtype);
  const count = labels.size;
  if (n === 0 || type === undefined || !fits(x, labels, { ...gradient, size: count * pitch }))
    return undefined;
  const isLong = n >= LONG;
  const across = isLong ? 1024 : acrossRow(n);
  const atOnce = isLong ? 8 : undefined;
  const program = perRow(
    {
      x: floatType(x.dtype),
      labels: type,
      loss: 'mut f32',
      y: `mut ${floatType(gradient.dtype)}`,
      fault: 'mut atomic<u32>',
    },
    { factor: 'f32', pitch: 'u32' },
    `${rowSums(atOnce)} ${indexLoad('hit', 'labels', 'row', labels.dtype)} ${lossOfHit}
    let line = row * p.pitch;
    ${eachOf(
      (k) => `let x${k} = x[base + i${k}];`,
      (many) =>
        many
          .map(
            (k) =>
              `y[line + i${k}] = (fExpBelow(x${k} - top) * share - select(0.0, 1.0, i${k} == hit)) * p.factor;`,
          )
          .join(' '),
      atOnce,
    )}
    if (isRow) { for (var i = p.n + t; i < p.pitch; i += ACROSS) { y[line + i] = 0.0; } }`,
    across,
  );
  return lowered(launchRows(program, [0, 1, 2, 3, FAULT], count, n, across, [factor, pitch]));
}
