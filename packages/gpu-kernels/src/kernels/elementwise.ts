import { dtypeOfValue, type NumericDType, type ScalarProgram } from '@eagre/backend';
import { broadcastSteps, fields, lanesOf, mergeAxes, placeOf, rawLoad, takeApart } from './elements.ts';
import {
  bytesOf,
  type Dispatch,
  FAULT,
  fits,
  type GpuProgram,
  launch,
  perThread,
  type TensorInfo,
} from './kernel.ts';
import { bufferType, decode, encode, type ScalarText, scalarText } from './scalar-program.ts';

/** A scalar program that GPUs can map over tensors. */
export interface ElementwiseKernel {
  /** Undefined where a call is too large for 32 bits. */
  readonly lower: (inputs: readonly TensorInfo[], outputs: readonly TensorInfo[]) => Dispatch | undefined;
}

/** The kernel of a scalar program; undefined where GPUs lack a dtype or a function of it. */
export function elementwiseKernel(program: ScalarProgram): ElementwiseKernel | undefined {
  const text = scalarText(program);
  if (text === undefined) return undefined;
  const variants = new Map<string, GpuProgram>();
  const results = program.outputs.map((id) => dtypeOfValue(program, id));
  const lanes = Math.max(...results.map((dtype) => lanesOf(bytesOf(dtype))));
  return {
    lower(inputs, outputs) {
      if (!fits(...inputs, ...outputs)) return undefined;
      const [{ shape, size }] = outputs;
      // What has one element, or all of them, needs no places.
      const even = inputs.every((x) => x.size === 1 || x.size === size);
      const steps = inputs.map((x) => broadcastSteps(x.shape, shape));
      const axes = even ? { sizes: [], steps: [] } : mergeAxes(shape, steps);
      const kinds = even ? inputs.map((x) => (x.size === 1 ? 's' : 'e')).join('') : '';
      const key = even && size === 1 ? 's'.repeat(inputs.length) : kinds || `${axes.sizes.length}`;
      let made = variants.get(key);
      if (made === undefined)
        variants.set(key, (made = variant(program, text, results, lanes, key, axes.sizes.length)));
      const operands = [...inputs, ...outputs].map((_, i) => i);
      if (text.mayFail) operands.push(FAULT);
      const params = [size, ...axes.sizes, ...axes.steps.flat()];
      return launch(made, operands, params, Math.ceil(size / lanes));
    },
  };
}

/** @param kinds for inputs that need no places, by input: `s` for one element, `e` for all; else the rank. */
function variant(
  program: ScalarProgram,
  { text, mayFail }: ScalarText,
  results: readonly NumericDType[],
  lanes: number,
  kinds: string,
  rank: number,
): GpuProgram {
  const { inputs, outputs } = program;
  const buffers: Record<string, string> = {};
  inputs.forEach((dtype, i) => (buffers[`x${i}`] = bufferType(dtype)));
  results.forEach((dtype, i) => (buffers[`y${i}`] = `mut ${bufferType(dtype)}`));
  if (mayFail) buffers.fault = 'mut atomic<u32>';
  const params: Record<string, 'u32' | 'i32'> = { size: 'u32', ...fields('d', rank, 'u32') };
  if (rank > 0) inputs.forEach((_, i) => Object.assign(params, fields(`s${i}_`, rank, 'i32')));
  const places = takeApart('e', rank);
  const loads = inputs.map((dtype, i) => {
    const at = rank > 0 ? `u32(${placeOf(rank, 'i', `s${i}_`)})` : kinds[i] === 's' ? '0u' : 'e';
    return `let a${i} = ${at}; let v${i} = ${decode(rawLoad(`x${i}`, `a${i}`, bytesOf(dtype)), dtype)};`;
  });
  const small = (i: number): boolean => bytesOf(results[i]) < 4;
  const stores = outputs.map((id, i) => {
    const value = encode(`v${id}`, results[i]);
    if (!small(i)) return `y${i}[e] = ${value};`;
    const bits = 8 * bytesOf(results[i]);
    // A thread may have several words of elements of two bytes beside those of one byte.
    const own = lanesOf(bytesOf(results[i]));
    const flush =
      own === lanes
        ? ''
        : `if (lane % ${own}u == ${own - 1}u || e + 1u == p.size) { y${i}[e / ${own}u] = w${i}; w${i} = 0u; }`;
    const mask = bits === 8 ? '255u' : '65535u';
    return `w${i} = w${i} | ((${value} & ${mask}) << ((lane % ${own}u) * ${bits}u)); ${flush}`;
  });
  const one = [places, ...loads, text, ...stores].join('\n');
  if (lanes === 1) return perThread(buffers, params, `let e = thread;\n${one}`);
  const words = outputs.map((_, i) => (small(i) ? `var w${i} = 0u;` : '')).join(' ');
  const last = outputs
    .map((_, i) => (small(i) && lanesOf(bytesOf(results[i])) === lanes ? `y${i}[thread] = w${i};` : ''))
    .join(' ');
  return perThread(
    buffers,
    params,
    `${words}
    for (var lane = 0u; lane < ${lanes}u; lane++) {
      let e = thread * ${lanes}u + lane;
      if (e < p.size) { ${one} }
    }
    ${last}`,
  );
}
