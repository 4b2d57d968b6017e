// Single numbers of 64 bits in scalar programs: counts of steps and rates, which GPUs move and cast.
// Types in a circle: elementwise kernels are these, where their results are such numbers.
import type { NumericDType, ScalarProgram } from '@eagre/backend';
import type { ElementwiseKernel } from './elementwise.ts';
import { bytesOf, FAULT, type GpuProgram, launch, perThread } from './kernel.ts';
import { bufferType, decode, encode, isWide, scalarText } from './scalar-program.ts';

/** The element type of a buffer of a dtype that programs read. */
export function loadedType(dtype: NumericDType): string {
  return isWide(dtype) ? 'vec2u' : bufferType(dtype);
}

/** Declares the words of an input of 64 bits. */
export function wideValue(input: number, raw: string): string {
  return `let v${input} = ${raw}.x; let h${input} = ${raw}.y;`;
}

/** The kernel of a program whose results are single numbers, some of 64 bits; undefined where it computes with these. */
export function wideScalarKernel(
  program: ScalarProgram,
  results: readonly NumericDType[],
): ElementwiseKernel | undefined {
  const text = scalarText(program, true);
  if (text === undefined) return undefined;
  const { inputs, outputs } = program;
  const buffers: Record<string, string> = {};
  inputs.forEach((dtype, i) => (buffers[`x${i}`] = loadedType(dtype)));
  results.forEach((dtype, i) => (buffers[`y${i}`] = `mut ${loadedType(dtype)}`));
  if (text.mayFail) buffers.fault = 'mut atomic<u32>';
  const loads = inputs.map((dtype, i) => {
    if (isWide(dtype)) return `let r${i} = x${i}[0u]; ${wideValue(i, `r${i}`)}`;
    const bits = 8 * bytesOf(dtype);
    const word = bits >= 32 ? `x${i}[0u]` : `(x${i}[0u] & ${2 ** bits - 1}u)`;
    return `let v${i} = ${decode(word, dtype)};`;
  });
  const stores = outputs.map((id, i) => {
    const value = isWide(results[i]) ? `vec2u(v${id}, h${id})` : encode(`v${id}`, results[i]);
    return `y${i}[0u] = ${value};`;
  });
  let made: GpuProgram | undefined;
  return {
    lower(given, written) {
      if (![...given, ...written].every(({ size }) => size === 1)) return undefined;
      made ??= perThread(buffers, {}, [...loads, text.text, ...stores].join('\n'));
      const operands = [...given, ...written].map((_, i) => i);
      return launch(made, text.mayFail ? [...operands, FAULT] : operands, [], 1);
    },
  };
}
