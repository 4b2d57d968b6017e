import {
  castsDirectly,
  dtypeTraits,
  holdsEvery,
  isHalf,
  type NumericDType,
  roundToHalf,
  type ScalarInstr,
  type ScalarOp,
  type ScalarProgram,
  scalarProgramLimits,
} from '@eagre/backend';
import { commutative, type ProgramNodes, rewritten } from './scalar-rules.ts';

/** Operations that cost about as much as moving the values. */
const cheap: ReadonlySet<ScalarOp> = new Set<ScalarOp>([
  ...commutative,
  'const',
  'cast',
  'neg',
  'abs',
  'floor',
  'ceil',
  'round',
  'not',
  'sub',
  'min',
  'max',
  'lt',
  'le',
  'gt',
  'ge',
  'bitNot',
  'shiftLeft',
  'shiftRight',
  'select',
]);

/** How many instructions are not constants, or Infinity where one of them is costly. */
export function cheapInstrs(program: ScalarProgram): number {
  let count = 0;
  for (const { op } of program.instrs) {
    if (!cheap.has(op)) return Number.POSITIVE_INFINITY;
    if (op !== 'const') count++;
  }
  return count;
}

/** Whether a number is exactly a value of the dtype; false where kernels might cast it differently. Floats may be rounded. */
export function isValueOf(dtype: NumericDType, value: number): boolean {
  const { floating, low, high } = dtypeTraits[dtype];
  if (floating) return true;
  if (dtype === 'bool') return value === 0 || value === 1;
  return Number.isSafeInteger(value) && value >= low && value <= high;
}

/** Whether a value of `from` becomes the same of dtype `to` from a wider dtype: integers wrap, but not once they are floats. */
function castsAlike(from: NumericDType, wider: NumericDType, to: NumericDType): boolean {
  const integers = !dtypeTraits[from].floating && !dtypeTraits[to].floating;
  return to === 'bool' || !integers || !dtypeTraits[wider].floating || holdsEvery(from, to);
}

function showNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

const keys = new WeakMap<ScalarProgram, string>();

/** Two programs with equal keys are the same. */
export function programKey(program: ScalarProgram): string {
  let key = keys.get(program);
  if (key === undefined) keys.set(program, (key = written(program)));
  return key;
}

function written(program: ScalarProgram): string {
  const instrs = program.instrs.map(
    ({ op, dtype, args, value }) =>
      `${op} ${dtype} ${args.join(' ')} ${op === 'const' ? showNumber(value) : ''}`,
  );
  return `${program.inputs.join(' ')}: ${instrs.join('; ')} -> ${program.outputs.join(' ')}`;
}

const numbersOnly: Partial<Record<ScalarOp, (a: number, b: number) => number>> = {
  neg: (a) => -a,
  abs: Math.abs,
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  eq: (a, b) => Number(a === b),
  ne: (a, b) => Number(a !== b),
  lt: (a, b) => Number(a < b),
  le: (a, b) => Number(a <= b),
  gt: (a, b) => Number(a > b),
  ge: (a, b) => Number(a >= b),
};

/** Only those whose result IEEE 754 prescribes; of others backends may differ in the last place. */
const ofFloats: Partial<Record<ScalarOp, (a: number, b: number) => number>> = {
  ...numbersOnly,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  sqrt: Math.sqrt,
  floor: Math.floor,
  ceil: Math.ceil,
};

// Programs compute with no other dtypes.
const foldable: {
  readonly [dtype in NumericDType]?: Partial<Record<ScalarOp, (a: number, b: number) => number>>;
} = {
  float32: ofFloats,
  float64: ofFloats,
  int32: { ...numbersOnly, mul: Math.imul },
  // Only where the result is exact as a number, so nothing wraps.
  int64: { ...numbersOnly, mul: (a, b) => a * b },
  uint64: { ...numbersOnly, mul: (a, b) => a * b },
  uint8: { ...numbersOnly, neg: (a) => 256 - a, mul: Math.imul },
  bool: { not: (a) => 1 - a, and: (a, b) => a & b, or: (a, b) => a | b, xor: (a, b) => a ^ b },
};

/** A number as a float's dtype has it; those of other dtypes stay. */
export function roundedFloat(dtype: NumericDType, value: number): number {
  if (dtype === 'float32') return Math.fround(value);
  return isHalf(dtype) ? roundToHalf(value, dtype) : value;
}

function rounded(dtype: NumericDType, value: number): number {
  if (dtype === 'int32') return value | 0;
  return dtype === 'uint8' ? value & 255 : roundedFloat(dtype, value);
}

interface Node {
  readonly op: ScalarOp | 'input';
  readonly dtype: NumericDType;
  readonly args: readonly number[];
  readonly value: number;
}

/** A program, and which of the writer's inputs (in the order they were made) its inputs are. */
export interface WrittenProgram {
  readonly program: ScalarProgram;
  readonly inputs: readonly number[];
}

/**
 * Puts a scalar program together out of others. Equal instructions are shared, operations on constants done, casts left out that
 * lead through a dtype that holds every value, and the rules of `rules.ts` applied.
 */
export class ProgramWriter implements ProgramNodes {
  readonly #nodes: Node[] = [];
  readonly #known = new Map<string, number>();
  #inputs = 0;

  /** How many inputs there are so far. */
  get inputs(): number {
    return this.#inputs;
  }

  /** A new input. */
  input(dtype: NumericDType): number {
    return this.#nodes.push({ op: 'input', dtype, args: [], value: this.#inputs++ }) - 1;
  }

  constant(dtype: NumericDType, value: number): number {
    let exact = roundedFloat(dtype, value);
    // An integer has no −0.
    if (!dtypeTraits[dtype].floating && value === 0) exact = 0;
    return this.#share('const', dtype, [], exact);
  }

  /** The instructions of a program on the given nodes; returns the nodes of its outputs. */
  inline(program: ScalarProgram, args: readonly number[]): number[] {
    const nodes = [...args];
    for (const instr of program.instrs) {
      const operands = instr.args.map((id) => nodes[id]);
      nodes.push(
        instr.op === 'const'
          ? this.constant(instr.dtype, instr.value)
          : this.apply(instr.op, instr.dtype, operands),
      );
    }
    return program.outputs.map((id) => nodes[id]);
  }

  at(node: number): Node {
    return this.#nodes[node];
  }

  apply(op: ScalarOp, dtype: NumericDType, args: readonly number[]): number {
    return (
      this.fold(op, dtype, args) ??
      (op === 'cast' ? this.#cast(dtype, args[0]) : rewritten(this, op, dtype, args)) ??
      this.#share(op, dtype, args, 0)
    );
  }

  /** The number that a node always is, or undefined. */
  constantOf(node: number): number | undefined {
    const { op, dtype, value } = this.#nodes[node];
    return op === 'const' && isValueOf(dtype, value) ? value : undefined;
  }

  /** Which input a node is, or undefined. */
  inputOf(node: number): number | undefined {
    const { op, value } = this.#nodes[node];
    return op === 'input' ? value : undefined;
  }

  /** The program with the given results, without what none of them needs. */
  finish(outputs: readonly number[]): WrittenProgram {
    const live = new Uint8Array(this.#nodes.length);
    for (const node of outputs) live[node] = 1;
    for (let node = live.length - 1; node >= 0; node--) {
      if (live[node] === 1) for (const arg of this.#nodes[node].args) live[arg] = 1;
    }
    const ids = new Int32Array(live.length);
    const inputs: number[] = [];
    const dtypes: NumericDType[] = [];
    const instrs: ScalarInstr[] = [];
    this.#nodes.forEach(({ op, dtype, value }, node) => {
      if (op !== 'input' || live[node] === 0) return;
      ids[node] = inputs.length;
      inputs.push(value);
      dtypes.push(dtype);
    });
    this.#nodes.forEach(({ op, dtype, args, value }, node) => {
      if (op === 'input' || live[node] === 0) return;
      ids[node] = inputs.length + instrs.length;
      instrs.push({ op, dtype, args: args.map((arg) => ids[arg]), value });
    });
    return { program: { inputs: dtypes, instrs, outputs: outputs.map((node) => ids[node]) }, inputs };
  }

  #share(op: ScalarOp, dtype: NumericDType, args: readonly number[], value: number): number {
    const [a, b, c] = args;
    const operands = commutative.has(op) && a > b ? `${b} ${a}` : `${a} ${b} ${c}`;
    const key = `${op} ${dtype} ${operands} ${showNumber(value)}`;
    let node = this.#known.get(key);
    if (node === undefined) {
      node = this.#nodes.push({ op, dtype, args, value }) - 1;
      this.#known.set(key, node);
    }
    return node;
  }

  /** A shorter way to a cast's result, or undefined. */
  #cast(dtype: NumericDType, node: number): number | undefined {
    const { op, dtype: between, args } = this.#nodes[node];
    if (between === dtype) return node;
    if (op !== 'cast') return undefined;
    const from = this.#nodes[args[0]].dtype;
    if (!castsDirectly(from, dtype) || !holdsEvery(from, between) || !castsAlike(from, between, dtype))
      return undefined;
    return this.apply('cast', dtype, args);
  }

  fold(op: ScalarOp, dtype: NumericDType, args: readonly number[]): number | undefined {
    const numbers: number[] = [];
    for (const arg of args) {
      const number = this.constantOf(arg);
      if (number === undefined) return undefined;
      numbers.push(number);
    }
    const from = this.#nodes[args[0]].dtype;
    const [a, b] = numbers;
    if (op === 'cast') {
      if (dtype === 'bool') return this.constant('bool', a === 0 ? 0 : 1);
      return isValueOf(dtype, a) ? this.constant(dtype, a) : undefined;
    }
    const compute = foldable[from]?.[op];
    if (compute === undefined) return undefined;
    const value = rounded(dtype, compute(a, b));
    return isValueOf(dtype, value) ? this.constant(dtype, value) : undefined;
  }
}

// Those of native/cpu/elementwise.cc: a tile's buffers should stay in the first-level cache.
const TILE = 256;
const TILE_BYTES = 16 * 1024;

/**
 * Whether a program is within the limits of backends and its live values fit a tile.
 * @param buffered which inputs are copied into a tile, since they repeat.
 */
export function fitsTile(program: ScalarProgram, buffered: readonly boolean[]): boolean {
  const { inputs, outputs, instrs } = scalarProgramLimits;
  if (program.inputs.length > inputs || program.outputs.length > outputs || program.instrs.length > instrs)
    return false;
  let item = 1;
  let buffers = 0;
  program.inputs.forEach((dtype, i) => {
    if (!buffered[i]) return;
    buffers++;
    item = Math.max(item, dtypeTraits[dtype].bytes);
  });
  for (const { dtype } of program.instrs) item = Math.max(item, dtypeTraits[dtype].bytes);
  return TILE * item * (buffers + liveResults(program)) <= TILE_BYTES;
}

/** The largest number of results that must be kept at a time: constants always, others from their instruction to their last reader. */
function liveResults({ inputs, instrs, outputs }: ScalarProgram): number {
  const first = inputs.length;
  const last = new Int32Array(first + instrs.length).fill(-1);
  instrs.forEach(({ args }, i) => {
    for (const arg of args) last[arg] = i;
  });
  for (const id of outputs) last[id] = instrs.length;
  let live = instrs.filter(({ op }) => op === 'const').length;
  let most = live;
  instrs.forEach(({ op, args }, i) => {
    if (op !== 'const') most = Math.max(most, ++live);
    for (const arg of new Set(args)) {
      if (arg >= first && last[arg] === i && instrs[arg - first].op !== 'const') live--;
    }
  });
  return most;
}
