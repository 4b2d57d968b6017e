import { isHalf, type KernelName, type NumericDType, type PlanCall, type PlanTensor } from '@eagre/backend';
import type { Constant } from './constants.ts';
import { isValueOf, ProgramWriter } from './program.ts';
import { isNumeric, listAttr, numberAttr, type ScalarCall } from './tensors.ts';

/** What is known ahead of a call. */
export interface Known {
  /** The number that all elements of a tensor are, or undefined. */
  constant(tensor: PlanTensor): Constant | undefined;
  /** The call that made a tensor, as it is read here, of inputs that still are what they were; or undefined. */
  maker(tensor: PlanTensor): PlanCall | undefined;
}

type Rule = readonly [
  kernels: readonly KernelName[],
  says: string,
  rewrite: (call: PlanCall, known: Known) => PlanCall | undefined,
];

/** Rewrites of calls that move, repeat or reduce nothing, or constants; the first that fits is taken. Results keep every bit. */
export const kernelRules: readonly Rule[] = [
  [
    ['Copy', 'Tile', 'Transpose', 'Reverse', 'Slice'],
    'of a constant',
    (call, known) => sameFill(call, known),
  ],
  [['Slice', 'SliceGrad'], 'of everything', (call) => (isWhole(call) ? copy(call) : undefined)],
  [['Slice'], 'of a slice', sliceOfSlice],
  [['SliceGrad'], 'of zeros', (call, known) => sameFill(call, known, 0)],
  [['Reverse'], 'of axes of size 1', (call) => (turned(call).length === 0 ? copy(call) : undefined)],
  [['Reverse'], 'of what was turned around', reverseTwice],
  [['Pad'], 'by nothing', (call) => (sameSize(call) ? copy(call) : undefined)],
  [['Pad'], 'with what all elements are', (call, known) => padConstant(call, known)],
  [['Concat'], 'of one', (call) => (call.inputs.length === 1 ? copy(call) : undefined)],
  [['Concat'], 'with nothing', concatEmpty],
  [['Concat'], 'of equal constants', concatConstants],
  [['Tile'], 'once', (call) => (sameSize(call) ? copy(call) : undefined)],
  [['Tile'], 'of a tile', tileTwice],
  [
    ['Prod', 'Max', 'Min', 'All', 'Any', 'CumProd'],
    'of one',
    (call) => (isSingle(call) ? copy(call) : undefined),
  ],
  [['Sum', 'Mean', 'CumSum'], 'of one', (call) => (isSingle(call) ? added(call) : undefined)],
  [['Max', 'Min', 'All', 'Any'], 'of a constant', (call, known) => sameFill(call, known)],
  [['Sum', 'Mean'], 'of a constant', sumOfConstant],
  [['LSTMGrad'], 'without a gradient of all states', (call, known) => withoutZeros(call, known, 7, 10)],
  [['GRUGrad'], 'without a gradient of all states', (call, known) => withoutZeros(call, known, 6, 8)],
  [['ArgMax', 'ArgMin'], 'of one', (call) => (isSingle(call) ? fill(call, 0) : undefined)],
];

const byKernel = new Map<PlanCall['kernel'], Rule[]>();
for (const rule of kernelRules) {
  for (const kernel of rule[0]) {
    const list = byKernel.get(kernel);
    if (list === undefined) byKernel.set(kernel, [rule]);
    else list.push(rule);
  }
}

/** The call that a rule makes of a call, or the same one. */
export function simplerCall(call: PlanCall, known: Known): PlanCall {
  // Nothing can be said of the elements of what has none.
  if (call.outputs.some(({ size }) => size === 0)) return call;
  for (const [, , rewrite] of byKernel.get(call.kernel) ?? []) {
    const simpler = rewrite(call, known);
    if (simpler !== undefined) return simpler;
  }
  return call;
}

/** Whether rules look at what such a call was made of. */
export function isKnownMaker({ kernel }: PlanCall): boolean {
  return kernel === 'Slice' || kernel === 'Reverse' || kernel === 'Tile';
}

function copy(call: PlanCall, input = call.inputs[0]): PlanCall {
  return { ...call, kernel: 'Copy', inputs: [input], attrs: {} };
}

function fill(call: PlanCall, value: number): PlanCall {
  return { ...call, kernel: 'Fill', inputs: [], attrs: { value } };
}

function list(call: PlanCall, name: string): readonly number[] {
  return listAttr(call.attrs[name]) ?? [];
}

function sameSize({ inputs, outputs }: PlanCall): boolean {
  return inputs[0].size === outputs[0].size;
}

function isWhole(call: PlanCall): boolean {
  return sameSize(call) && list(call, 'strides').every((stride) => stride === 1);
}

function sliceOfSlice(call: PlanCall, known: Known): PlanCall | undefined {
  const before = known.maker(call.inputs[0]);
  if (before?.kernel !== 'Slice') return undefined;
  const [first, steps] = [list(before, 'begin'), list(before, 'strides')];
  const begin = list(call, 'begin').map((start, axis) => first[axis] + start * steps[axis]);
  const strides = list(call, 'strides').map((stride, axis) => stride * steps[axis]);
  return { ...call, inputs: before.inputs, attrs: { begin, strides } };
}

/** The axes that a Reverse turns around, without those where that changes nothing. */
function turned(call: PlanCall): readonly number[] {
  return list(call, 'axes').filter((axis) => call.outputs[0].shape[axis] > 1);
}

function reverseTwice(call: PlanCall, known: Known): PlanCall | undefined {
  const before = known.maker(call.inputs[0]);
  if (before?.kernel !== 'Reverse') return undefined;
  const [now, then] = [turned(call), turned(before)];
  const axes = [...now.filter((axis) => !then.includes(axis)), ...then.filter((axis) => !now.includes(axis))];
  if (axes.length === 0) return copy(call, before.inputs[0]);
  return { ...call, inputs: before.inputs, attrs: { axes: axes.sort((a, b) => a - b) } };
}

/** All that a call makes is the constant that it is given; if `only` is given, just for that one. */
function sameFill(call: PlanCall, known: Known, only?: number): PlanCall | undefined {
  const value = known.constant(call.inputs[0])?.value;
  if (value === undefined || (only !== undefined && !Object.is(value, only))) return undefined;
  return fill(call, value);
}

/** Leaves an input out, where there are `count` of them, that is zeros. */
function withoutZeros(call: PlanCall, known: Known, at: number, count: number): PlanCall | undefined {
  const { inputs } = call;
  if (inputs.length !== count || !Object.is(known.constant(inputs[at])?.value, 0)) return undefined;
  return { ...call, inputs: inputs.filter((_, i) => i !== at) };
}

function padConstant(call: PlanCall, known: Known): PlanCall | undefined {
  if (numberAttr(call.attrs['mode']) !== 0) return sameFill(call, known);
  return sameFill(call, known, numberAttr(call.attrs['value']) ?? Number.NaN);
}

function concatEmpty(call: PlanCall): PlanCall | undefined {
  const inputs = call.inputs.filter(({ size }) => size > 0);
  if (inputs.length === call.inputs.length) return undefined;
  return inputs.length === 1 ? copy(call, inputs[0]) : { ...call, inputs };
}

function concatConstants(call: PlanCall, known: Known): PlanCall | undefined {
  const values = call.inputs.map((input) => known.constant(input)?.value);
  const [first] = values;
  return first !== undefined && values.every((value) => Object.is(value, first))
    ? fill(call, first)
    : undefined;
}

function tileTwice(call: PlanCall, known: Known): PlanCall | undefined {
  const before = known.maker(call.inputs[0]);
  return before?.kernel === 'Tile' ? { ...call, inputs: before.inputs } : undefined;
}

/** Whether each result is made of one element. */
function isSingle(call: PlanCall): boolean {
  if (call.kernel === 'CumSum' || call.kernel === 'CumProd') {
    const axis = numberAttr(call.attrs['axis']);
    return (
      numberAttr(call.attrs['exclusive']) === 0 && axis !== undefined && call.inputs[0].shape[axis] === 1
    );
  }
  if (call.kernel === 'ArgMax' || call.kernel === 'ArgMin') {
    const axis = numberAttr(call.attrs['axis']);
    return axis !== undefined && call.inputs[0].shape[axis] === 1;
  }
  return sameSize(call);
}

/** Kernels add to 0, which makes 0 of −0. */
function added(call: PlanCall): PlanCall | undefined {
  const [input] = call.inputs;
  const [output] = call.outputs;
  if (!isNumeric(input.dtype) || input.dtype !== output.dtype) return undefined;
  const writer = new ProgramWriter();
  const x = writer.input(input.dtype);
  // Programs compute with floats of 16 bits in float32.
  const wide = isHalf(input.dtype) ? 'float32' : input.dtype;
  const sum = writer.apply('add', wide, [writer.apply('cast', wide, [x]), writer.constant(wide, 0)]);
  const result = writer.apply('cast', input.dtype, [sum]);
  if (result === x) return copy(call);
  const { program } = writer.finish([result]);
  return { ...call, kernel: program, inputs: [{ ...input, shape: output.shape }], attrs: {} };
}

const EXACT: Readonly<Partial<Record<NumericDType, number>>> = {
  float32: 24,
  float64: 53,
  int32: 31,
  int64: 53,
};

function sumOfConstant(call: PlanCall, known: Known): PlanCall | undefined {
  const [input] = call.inputs;
  const [output] = call.outputs;
  const value = known.constant(input)?.value;
  const count = input.size / output.size;
  const bits = isNumeric(input.dtype) ? EXACT[input.dtype] : undefined;
  if (value === undefined || bits === undefined || Object.is(value, -0)) return undefined;
  // Only where every partial sum is exact can backends not differ in their order of adding.
  if (significantBits(value) + Math.ceil(Math.log2(count + 1)) > bits) return undefined;
  const sum = value * count;
  const result = call.kernel === 'Mean' ? value : sum;
  return isNumeric(output.dtype) && isValueOf(output.dtype, sum) ? fill(call, result) : undefined;
}

/** How many binary digits a number has from the first to the last that is 1; infinite for what is no number. */
function significantBits(value: number): number {
  if (!Number.isFinite(value)) return Number.POSITIVE_INFINITY;
  if (value === 0) return 0;
  let odd = Math.abs(value);
  // Far from both ends of the range, where a sum could overflow or a part of it be lost.
  if (odd > 2 ** 64 || odd < 2 ** -64) return Number.POSITIVE_INFINITY;
  while (!Number.isInteger(odd)) odd *= 2;
  while (odd % 2 === 0) odd /= 2;
  return Math.floor(Math.log2(odd)) + 1;
}

/** The program that reads, instead of a Tile along axes of size 1, what the Tile reads. */
export function readingUntiled(call: ScalarCall, known: Known): ScalarCall {
  const inputs = call.inputs.map((input) => {
    const maker = known.maker(input);
    if (maker?.kernel !== 'Tile') return input;
    const [from] = maker.inputs;
    const repeats = from.shape.every((dim, axis) => dim === 1 || dim === input.shape[axis]);
    const inPlace = call.outputs.some(({ value }) => value === from.value);
    return repeats && !inPlace ? from : input;
  });
  return inputs.every((input, i) => input === call.inputs[i]) ? call : { ...call, inputs };
}
