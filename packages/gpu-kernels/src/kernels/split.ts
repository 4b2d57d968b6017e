import type { ScalarProgram } from '@eagre/backend';
import { scalarText } from './scalar-program.ts';

/** Some of the results of a scalar program. */
export interface ProgramPart {
  readonly program: ScalarProgram;
  /** The numbers of its inputs and outputs among those of the whole. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/**
 * The results of a program that GPUs can compute, and the others, which are the host's: plans compute small numbers together that have nothing to do with
 * each other, such as the steps of an optimizer, which the host knows, and the sums of metrics. Undefined where all are the one or the other.
 */
export function splitProgram(
  program: ScalarProgram,
): readonly [ofGpu: ProgramPart, ofHost: ProgramPart] | undefined {
  const all = program.outputs.map((_, i) => i);
  const isOfGpu = all.map((i) => scalarText(partOf(program, [i]).program) !== undefined);
  const [own, others] = [true, false].map((wanted) => all.filter((i) => isOfGpu[i] === wanted));
  return own.length === 0 || others.length === 0
    ? undefined
    : [partOf(program, own), partOf(program, others)];
}

/** What some of the outputs follow from, and nothing else. */
function partOf({ inputs, instrs, outputs }: ScalarProgram, wanted: readonly number[]): ProgramPart {
  const needed = new Set(wanted.map((i) => outputs[i]));
  for (let i = instrs.length - 1; i >= 0; i--)
    if (needed.has(inputs.length + i)) for (const arg of instrs[i].args) needed.add(arg);
  const kept = [...needed].sort((a, b) => a - b);
  const numbers = new Map(kept.map((value, i) => [value, i]));
  const numberOf = (value: number): number => numbers.get(value) as number;
  const ofInputs = kept.filter((value) => value < inputs.length);
  return {
    program: {
      inputs: ofInputs.map((value) => inputs[value]),
      instrs: kept
        .slice(ofInputs.length)
        .map((value) => instrs[value - inputs.length])
        .map((instr) => ({ ...instr, args: instr.args.map(numberOf) })),
      outputs: wanted.map((i) => numberOf(outputs[i])),
    },
    inputs: ofInputs,
    outputs: wanted,
  };
}
