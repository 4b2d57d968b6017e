// Sums of columns in one launch, which may make what they add up as well.
import { isHalf, type ScalarProgram } from '@eagre/backend';
import { columnLanes, columnType, columnValue } from '../kernels/columns.ts';
import { fits, type Lowered, type TensorInfo } from '../kernels/kernel.ts';
import type { ColumnSums } from '../kernels/norms.ts';
import { floatType, isFloat, scalarText } from '../kernels/scalar-program.ts';
import { narrowFunctions } from '../language/syntax.ts';
import { joinedSums } from './joined-columns.ts';

/** What makes the columns: a program whose inputs and outputs are all like them; the output of this number is added up. */
export interface ColumnMaker {
  readonly program: ScalarProgram;
  readonly summed: number;
}

/** The numbers of the buffers of a maker, and what its inputs, outputs and sums are in the text of a kernel. */
type Made = Pick<ColumnSums, 'inputs' | 'operands' | 'load' | 'make' | 'sums'>;

/**
 * The sums of columns [n, inner], in their dtype. Operands are the inputs of the maker, its outputs, and the sums; without a maker the columns and the sums.
 * @returns undefined where there are too many, or where they are no floats, or the maker does something that GPUs do not.
 */
export function summedColumns(
  { dtype, size }: TensorInfo,
  inner: number,
  maker?: ColumnMaker,
): Lowered | undefined {
  if (!fits({ dtype, size, shape: [] }) || size === 0 || !isFloat(dtype)) return undefined;
  const lanes = columnLanes(dtype, inner);
  const made = maker === undefined ? alone(dtype, lanes) : ofMaker(dtype, lanes, maker);
  if (made === undefined) return undefined;
  const y = made.operands.length;
  const scratch: number[] = [];
  const dispatches = joinedSums(
    { ...made, n: size / inner, inner, lanes, outputs: [{ sums: [floatType(dtype), y] }] },
    (bytes) => y + scratch.push(bytes),
  );
  return { dispatches, scratch };
}

function alone(dtype: TensorInfo['dtype'], lanes: 1 | 2): Made {
  return {
    inputs: { x: columnType(dtype, lanes) },
    operands: [0],
    load: (k) => `let x${k} = x[at${k}];`,
    sums: [(k, lane) => columnValue(`x${k}`, lane, dtype, lanes)],
  };
}

function ofMaker(
  dtype: TensorInfo['dtype'],
  lanes: 1 | 2,
  { program, summed }: ColumnMaker,
): Made | undefined {
  const text = scalarText(program);
  if (text === undefined || text.mayFail) return undefined;
  const { inputs, outputs } = program;
  const type = columnType(dtype, lanes);
  const narrow = isHalf(dtype) ? narrowFunctions[dtype] : undefined;
  /** Programs see 16 bits as they are stored. */
  const seen = (name: string, lane: number): string => {
    if (narrow === undefined) return name;
    if (lanes === 1) return `${narrow.store}(${name})`;
    return lane === 0 ? `${name} & 0xffffu` : `${name} >> 16u`;
  };
  const value = (bits: string): string => (narrow === undefined ? bits : `${narrow.load}(${bits})`);
  /** The variables of a lane of row k, which all have names of their own. */
  const named = (of: string, k: number, lane: number): string =>
    of.replaceAll(/\bv(\d+)\b/g, `v$1_${k}_${lane}`);
  const output = (i: number, k: number, lane: number): string => named(`v${outputs[i]}`, k, lane);
  const stored = (i: number, k: number): string =>
    lanes === 2 ? `${output(i, k, 0)} | (${output(i, k, 1)} << 16u)` : value(output(i, k, 0));
  const all = Array.from({ length: lanes }, (_, lane) => lane);
  return {
    inputs: Object.fromEntries([
      ...inputs.map((_, i) => [`x${i}`, type]),
      ...outputs.map((_, i) => [`y${i}`, `mut ${type}`]),
    ]) as Record<string, string>,
    operands: [...inputs, ...outputs].map((_, i) => i),
    load: (k) => inputs.map((_, i) => `let x${i}_${k} = x${i}[at${k}];`).join(' '),
    make: (k) =>
      `${all
        .map((lane) => {
          const given = inputs.map((_, i) => `let v${i} = ${seen(`x${i}_${k}`, lane)};`).join(' ');
          return named(`${given} ${text.text}`, k, lane);
        })
        .join('\n')} ${outputs.map((_, i) => `y${i}[at${k}] = ${stored(i, k)};`).join(' ')}`,
    sums: [(k, lane) => value(output(summed, k, lane))],
  };
}
