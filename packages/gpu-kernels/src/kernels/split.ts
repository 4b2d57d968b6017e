import { dtypeOfValue, type ScalarProgram } from '@eagre/backend';
import { isWide, scalarText } from './scalar-program.ts';

/** Some of the results of a scalar program. */
export interface ProgramPart {
  readonly program: ScalarProgram;
  /** The numbers of its inputs and outputs among those of the whole. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

const KINDS = ['host', 'wide', 'of wide', 'gpu'] as const;

/**
 * The results of a program of single numbers by who usually computes them: the host, then GPUs where the results or what they are made of are
 * of 64 bits, and where none are. Plans compute small numbers together that have nothing to do with each other, such as the steps of an
 * optimizer, which the host knows, and the sums of metrics. Undefined where all are of one kind.
 */
export function splitProgram(program: ScalarProgram): readonly ProgramPart[] | undefined {
  const kinds = program.outputs.map((id, i): (typeof KINDS)[number] => {
    const part = partOfProgram(program, [i]).program;
    if (scalarText(part) !== undefined) return 'gpu';
    if (scalarText(part, 'moved') === undefined) return 'host';
    return isWide(dtypeOfValue(program, id)) ? 'wide' : 'of wide';
  });
  const parts = KINDS.map((kind) => kinds.flatMap((one, i) => (one === kind ? [i] : [])));
  const some = parts.filter((part) => part.length > 0);
  return some.length < 2 ? undefined : some.map((part) => partOfProgram(program, part));
}

/** What some of the outputs follow from, and nothing else. @param wanted their numbers */
export function partOfProgram(
  { inputs, instrs, outputs }: ScalarProgram,
  wanted: readonly number[],
): ProgramPart {
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
