import {
  type Backend,
  dtypeOfValue,
  dtypeTraits,
  hostView,
  isBigArray,
  type NumericDType,
  type ScalarInstr,
  type ScalarProgram,
  type TensorRef,
  type TypedArray,
} from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { nativeBackend } from '@eagre/backend-native';
import { describe, expect, it } from 'vitest';
import { ProgramWriter, programKey } from './program.ts';
import { isOfKind, variables as names, type ScalarRule, scalarRules, type Term } from './scalar-rules.ts';

// Those with which programs compute.
type Computed = 'float32' | 'float64' | 'int32' | 'int64' | 'uint64' | 'uint8' | 'bool';
const dtypes: readonly Computed[] = ['float32', 'float64', 'int32', 'int64', 'uint64', 'uint8', 'bool'];
const comparisons = new Set(['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'isNaN', 'isInf', 'isFinite']);
const numbers = [Number.NaN, 0, -0, 1, -1, 0.5, -2.5, 3, -7, 1e9, Number.POSITIVE_INFINITY, -Infinity];
const special: Record<Computed, readonly number[]> = {
  float32: [...numbers, 1.4e-45, -1e-40, 1.17549435e-38, 3.4028235e38, -1.0000001, 8388609.5],
  float64: [...numbers, 5e-324, -1e-310, 2.2250738585072014e-308, Number.MAX_VALUE, -1.0000000000000002],
  int32: [0, 1, -1, 2, -3, 7, 100, 65537, 2147483647, -2147483648, -2147483647],
  int64: [0, 1, -1, 2, -3, 7, 100, 65537, 2 ** 31, -(2 ** 31), 2 ** 62, -(2 ** 63)],
  uint64: [0, 1, 2, 3, 7, 100, 65537, 2 ** 31, 2 ** 62, 2 ** 63],
  uint8: [0, 1, 2, 3, 7, 100, 127, 128, 200, 254, 255],
  bool: [0, 1],
};
const constants: Record<Computed, readonly number[]> = {
  float32: [0, -0, 1, -1, 3, Math.fround(0.1), Number.POSITIVE_INFINITY, Number.NaN],
  float64: [0, -0, 1, -1, 3, 0.1, Number.POSITIVE_INFINITY, Number.NaN],
  int32: [0, 1, -1, 5, 2147483647, -2147483648],
  int64: [0, 1, -1, 5],
  uint64: [0, 1, 5],
  uint8: [0, 1, 5, 255],
  bool: [0, 1],
};
const powersOf = (dtype: NumericDType): readonly number[] => {
  if (dtypeTraits[dtype].floating) return [1, 2, -0.5, 8, 2 ** -20, 2 ** 60, -(2 ** 126), 2 ** -126];
  return [1, 2, 8, ...(dtype === 'uint8' ? [128] : [2 ** 30])];
};

/** The names of a term's variables, each once. */
function variablesOf(term: Term): string[] {
  if ('variable' in term) return [names[term.variable]];
  return 'op' in term ? [...new Set(term.args.flatMap(variablesOf))] : [];
}

const isConstant = (name: string): boolean => /^[ABP]$/.test(name);
const isTruth = (op: string): boolean => comparisons.has(op) || ['and', 'or', 'xor', 'not'].includes(op);

/** Writes terms as instructions, as they stand. */
class Writer {
  readonly instrs: ScalarInstr[] = [];
  readonly #dtype: NumericDType;
  readonly #variables: readonly string[];
  readonly #given: ReadonlyMap<string, number>;

  /** @param dtype that of all variables but c, which is bool. */
  constructor(dtype: NumericDType, variables: readonly string[], given: ReadonlyMap<string, number>) {
    this.#dtype = dtype;
    this.#variables = variables;
    this.#given = given;
  }

  dtypeOf(term: Term): NumericDType | undefined {
    if ('number' in term) return undefined;
    if ('variable' in term) return names[term.variable] === 'c' ? 'bool' : this.#dtype;
    return isTruth(term.op) ? 'bool' : this.#operand(term.op === 'select' ? term.args.slice(1) : term.args);
  }

  #operand(args: readonly Term[]): NumericDType {
    return args.map((arg) => this.dtypeOf(arg)).find((dtype) => dtype !== undefined) ?? 'bool';
  }

  write(term: Term, wanted: NumericDType): number {
    if ('number' in term) return this.#constant(term.number, wanted);
    if ('variable' in term) {
      const name = names[term.variable];
      const value = this.#given.get(name);
      return value === undefined ? this.#variables.indexOf(name) : this.#constant(value, this.#dtype);
    }
    const inner = this.#operand(term.op === 'select' ? term.args.slice(1) : term.args);
    const args = term.args.map((arg, i) => this.write(arg, term.op === 'select' && i === 0 ? 'bool' : inner));
    return this.#emit({ op: term.op, dtype: this.dtypeOf(term) ?? inner, args, value: 0 });
  }

  #constant(value: number, dtype: NumericDType): number {
    return this.#emit({ op: 'const', dtype, args: [], value });
  }

  #emit(instr: ScalarInstr): number {
    return this.#variables.length + this.instrs.push(instr) - 1;
  }
}

interface Case {
  readonly variables: readonly string[];
  readonly left: ScalarProgram;
  readonly right: ScalarProgram;
}

/** Both sides as programs, for every choice of constants. */
function casesOf({ from, to }: ScalarRule, dtype: Computed): Case[] {
  const all = variablesOf(from);
  const variables = all.filter((name) => !isConstant(name));
  let choices: ReadonlyMap<string, number>[] = [new Map()];
  for (const name of all.filter(isConstant)) {
    const values = name === 'P' ? powersOf(dtype) : constants[dtype];
    choices = choices.flatMap((choice) => values.map((value) => new Map([...choice, [name, value]])));
  }
  return choices.map((given) => {
    const program = (term: Term): ScalarProgram => {
      const writer = new Writer(dtype, variables, given);
      const output = writer.write(term, new Writer(dtype, variables, given).dtypeOf(from) ?? dtype);
      return {
        inputs: variables.map((name) => (name === 'c' ? 'bool' : dtype)),
        instrs: writer.instrs,
        outputs: [output],
      };
    };
    return { variables, left: program(from), right: program(to) };
  });
}

/** What a program makes of all combinations of special values, element by element. */
function evaluated(backend: Backend, program: ScalarProgram): (number | bigint)[] {
  const columns = program.inputs.map((dtype) => special[dtype as Computed]);
  const size = columns.reduce((n, column) => n * column.length, 1);
  const tensor = (dtype: NumericDType): TensorRef & { readonly view: TypedArray } => {
    const storage = backend.allocator.allocate(size * dtypeTraits[dtype].bytes);
    const view = hostView(storage, dtype, size);
    return { dtype, shape: [size], size, storage, view };
  };
  let step = 1;
  const inputs = program.inputs.map((dtype, k) => {
    const input = tensor(dtype);
    const column = columns[k];
    for (let i = 0; i < size; i++) {
      const value = column[Math.floor(i / step) % column.length];
      if (isBigArray(input.view)) input.view[i] = BigInt(value);
      else input.view[i] = value;
    }
    step *= column.length;
    return input;
  });
  const output = tensor(dtypeOfValue(program, program.outputs[0]));
  backend.elementwise(program)(inputs, [output], {});
  return [...output.view];
}

function simplified(program: ScalarProgram): string {
  const writer = new ProgramWriter();
  const inputs = program.inputs.map((dtype) => writer.input(dtype));
  return programKey(writer.finish(writer.inline(program, inputs)).program);
}

const tried = scalarRules().flatMap((rule) =>
  dtypes.filter((dtype) => isOfKind(rule.kind, dtype)).map((dtype) => [rule.text, dtype, rule] as const),
);
// Native code computes powers in its own way.
const exact = (rule: ScalarRule): boolean => rule.from.op !== 'pow';

describe('scalarRules', () => {
  it.each(tried)('%s changes no bit of %s', (_, dtype, rule) => {
    for (const { left, right } of casesOf(rule, dtype)) {
      expect(evaluated(jsBackend, right)).toEqual(evaluated(jsBackend, left));
      if (nativeBackend !== undefined && exact(rule))
        expect(evaluated(nativeBackend, right)).toEqual(evaluated(nativeBackend, left));
    }
  });

  it.each(tried)('%s is applied to %s', (_, dtype, rule) => {
    for (const { left, right } of casesOf(rule, dtype)) {
      const result = simplified(left);
      expect(result).toBe(simplified(right));
      expect(result.split(';').length).toBeLessThanOrEqual(left.instrs.length);
    }
  });
});

it.each([0, -1, -2, -8, 3, 6])('the remainder by %d is no mask', (divisor) => {
  const program: ScalarProgram = {
    inputs: ['int32'],
    instrs: [
      { op: 'const', dtype: 'int32', args: [], value: divisor },
      { op: 'mod', dtype: 'int32', args: [0, 1], value: 0 },
    ],
    outputs: [2],
  };
  expect(simplified(program)).toBe(programKey(program));
});

it.each([
  [1, 0],
  [0, 1],
])('a choice of the numbers %d and %d is no truth', (yes, no) => {
  const program: ScalarProgram = {
    inputs: ['bool'],
    instrs: [
      { op: 'const', dtype: 'float32', args: [], value: yes },
      { op: 'const', dtype: 'float32', args: [], value: no },
      { op: 'select', dtype: 'float32', args: [0, 1, 2], value: 0 },
    ],
    outputs: [3],
  };
  expect(simplified(program)).toBe(programKey(program));
});

describe('casts', () => {
  it.each(dtypes.flatMap((a) => dtypes.flatMap((b) => dtypes.map((c) => [a, b, c] as const))))(
    'of %s over %s to %s keep every value',
    (a, b, c) => {
      const program: ScalarProgram = {
        inputs: [a],
        instrs: [
          { op: 'cast', dtype: b, args: [0], value: 0 },
          { op: 'cast', dtype: c, args: [1], value: 0 },
        ],
        outputs: [2],
      };
      const writer = new ProgramWriter();
      const { program: shorter } = writer.finish(writer.inline(program, [writer.input(a)]));
      for (const backend of [jsBackend, ...(nativeBackend === undefined ? [] : [nativeBackend])])
        expect(evaluated(backend, shorter)).toEqual(evaluated(backend, program));
    },
  );
});
