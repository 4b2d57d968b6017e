// What each dispatch costs: bytes that it reads and writes, floating-point operations, and how evenly it fills a GPU.
import { dtypeTraits } from '@eagre/backend';
import type { CudaDispatch, Dispatch, LibraryCall, Operand } from '@eagre/gpu-kernels';
import { GAP, type Gpu, REACHED } from './gpus.ts';

type Made = Dispatch | CudaDispatch | LibraryCall;

/** A kernel that was launched. */
export interface Launch {
  readonly group: string;
  readonly read: number;
  readonly written: number;
  readonly flops: number;
  /** What its products multiply; null where it multiplies nothing. */
  readonly precision: 'narrow' | 'tensorFloat' | 'float' | null;
  /** Pieces of work of one size, each of which one multiprocessor does. */
  readonly pieces: number;
}

const FAULT = -1;
const TEMPORARY = -2;
/** Kernels with more operands serve several tensors, and have places for more. */
const MANY = 16;

interface Seen {
  readonly bytes: number;
  readonly elements: number | null;
  readonly dtype: string | null;
  readonly written: boolean;
}

const bytesOf = (operand: Operand): number =>
  'dtype' in operand ? operand.size * dtypeTraits[operand.dtype].bytes : operand.bytes;

function operandOf(number: number, given: readonly Operand[]): Operand | undefined {
  if (number === FAULT) return undefined;
  return number === TEMPORARY ? given.at(-1) : given[number];
}

/** The operands of a dispatch, and which it writes to. */
function seen(made: Exclude<Made, LibraryCall>, given: readonly Operand[]): readonly Seen[] {
  const { program } = made;
  const writes = (i: number): boolean =>
    'print' in program
      ? !program.pointers[i]?.startsWith('const')
      : program.module.bindings.filter(({ space }) => space === 'storage')[i]?.written === true;
  const ofPointers = made.operands.flatMap((number, i) => {
    const operand = operandOf(number, given);
    // What a kernel has no use for repeats another operand.
    if (operand === undefined || (made.operands.length > MANY && made.operands.indexOf(number) < i))
      return [];
    const isTensor = 'dtype' in operand;
    return {
      bytes: bytesOf(operand),
      elements: isTensor ? operand.size : null,
      dtype: isTensor ? operand.dtype : null,
      written: writes(i),
    };
  });
  const ofMaps = ('maps' in made ? (made.maps ?? []) : []).map(({ dtype, sizes }) => {
    const elements = sizes.reduce((a, b) => a * b, 1);
    return { bytes: elements * dtypeTraits[dtype].bytes, elements, dtype, written: false };
  });
  return [...ofMaps, ...ofPointers];
}

/** Kernels that read no more of their inputs than they write. */
const MOVES =
  /^(Slice|StridedSlice|Gather|GatherNd|Concat|Pack|Split|Tile|BroadcastTo|ScatterNd|GatherGrad)$/;
/** Kernels that read what they write. */
const UPDATES = /^(Resource)?Apply/;

const PRODUCTS = /^(MatMul|BatchMatMul|Conv\dD|Einsum)/;
/** Products bring at least rows, columns, depth, steps, parts and where parts begin; what copies their factors to padded lines brings fewer. */
const isCopy = (params: readonly number[]): boolean => params.length < 6;

/** Floating-point operations of a product, a convolution or attention, and with what they are made. */
function multiplied(
  name: string,
  made: Exclude<Made, LibraryCall>,
  operands: readonly Seen[],
): Pick<Launch, 'flops' | 'precision'> {
  const { program, params, workgroups } = made;
  const onCores = 'print' in program;
  const narrow = operands.some(({ dtype, written }) => !written && dtype !== 'float32' && dtype !== null);
  const precision = !onCores ? 'float' : narrow ? 'narrow' : 'tensorFloat';
  if (name.startsWith('ScaledDotProductAttention')) {
    const [batch, heads, queries, keys, width, values] = params as number[];
    const one = 2 * batch! * heads! * queries! * keys! * ((width! + values!) / 2);
    const outputs = operands.filter(({ written }) => written).length;
    // Forward: scores and sums. Back: gradients of queries from three products, of keys and values from four. Half of all is hidden by a causal mask.
    const products = !name.endsWith('Grad') ? 2 : outputs > 1 ? 4 : 3;
    return onCores ? { flops: (one * products) / 2, precision } : { flops: 0, precision: null };
  }
  if (!onCores || !PRODUCTS.test(name) || isCopy(params)) return { flops: 0, precision: null };
  const [rows, columns, depth, , parts] = params as number[];
  const output = operands.findLast(({ written }) => written)?.elements ?? null;
  const batches =
    output !== null
      ? Math.max(1, Math.round(output / (rows! * columns!)))
      : workgroups[2] / Math.max(1, parts!);
  return { flops: 2 * rows! * columns! * depth! * batches, precision };
}

/** What a dispatch costs. @param name of the kernel that was called */
export function launchOf(name: string, made: Made, given: readonly Operand[]): Launch {
  if ('product' in made) {
    const all = made.operands.flatMap((number) => operandOf(number, given) ?? []);
    const total = all.reduce((sum, operand) => sum + bytesOf(operand), 0);
    return { group: `${name} (library)`, read: total, written: 0, flops: 0, precision: null, pieces: 1 };
  }
  const operands = seen(made, given);
  const sum = (list: readonly Seen[]): number => list.reduce((total, { bytes }) => total + bytes, 0);
  const outputs = operands.filter(({ written }) => written);
  const inputs = operands.filter(({ written }) => !written);
  let [read, written] = [sum(inputs), sum(outputs)];
  if (MOVES.test(name)) read = written = Math.min(read, written);
  if (UPDATES.test(name)) read += written;
  // A pass for the largest value and the sum, and one that writes the gradient.
  if (/CrossEntropy/.test(name)) read += Math.max(0, ...inputs.map(({ bytes }) => bytes));
  const { program, params, workgroups } = made;
  const isPersistent = 'print' in program && program.isPersistent;
  const pieces = isPersistent ? (params.at(-1) as number) : workgroups[0] * workgroups[1] * workgroups[2];
  const isCast = inputs.length === 1 && outputs.length === 1 && inputs[0]!.dtype !== outputs[0]!.dtype;
  const isPad = 'print' in program && PRODUCTS.test(name) && isCopy(params);
  const adds = !('print' in program) && PRODUCTS.test(name);
  const group =
    name === 'an elementwise function'
      ? isCast
        ? 'casts'
        : 'elementwise'
      : isPad
        ? `${name}: padded copies`
        : adds
          ? `${name}: sums of parts`
          : name;
  return { group, read, written, ...multiplied(name, made, operands), pieces };
}

/** How much of a GPU's time is work, when its last round of pieces leaves multiprocessors idle. */
export const filled = (pieces: number, { processors }: Gpu): number =>
  pieces / (processors * Math.ceil(pieces / processors));

/** Seconds that a launch takes at least, with what kernels reach of a GPU's speed. */
export function secondsOf({ read, written, flops, precision, pieces }: Launch, gpu: Gpu): number {
  const moved = (read + written) / gpu.bandwidth / REACHED;
  const computed = precision === null ? 0 : flops / gpu[precision] / REACHED / filled(pieces, gpu);
  return Math.max(moved, computed) + GAP;
}

/** Launches of one group. */
export interface Row {
  readonly group: string;
  readonly launches: number;
  readonly read: number;
  readonly written: number;
  readonly flops: number;
  readonly seconds: number;
  /** The least share of a round of multiprocessors that a product of it fills; null where it multiplies nothing. */
  readonly filled: number | null;
}

/** The groups, longest first, and all together. */
export function rowsOf(
  launches: readonly Launch[],
  gpu: Gpu,
): { readonly rows: readonly Row[]; readonly all: Row } {
  const row = (group: string, list: readonly Launch[]): Row => {
    const sum = (of: (launch: Launch) => number): number => list.reduce((total, one) => total + of(one), 0);
    const products = list.filter(({ precision, flops }) => precision !== null && flops > 0);
    return {
      group,
      launches: list.length,
      read: sum(({ read }) => read),
      written: sum(({ written }) => written),
      flops: sum(({ flops }) => flops),
      seconds: sum((launch) => secondsOf(launch, gpu)),
      filled: products.length === 0 ? null : Math.min(...products.map(({ pieces }) => filled(pieces, gpu))),
    };
  };
  const groups = new Map<string, Launch[]>();
  for (const launch of launches) groups.set(launch.group, [...(groups.get(launch.group) ?? []), launch]);
  const rows = [...groups].map(([group, list]) => row(group, list)).sort((a, b) => b.seconds - a.seconds);
  return { rows, all: row('all', launches) };
}

/** A table of the groups. */
export function launchTable(title: string, launches: readonly Launch[], gpu: Gpu): string {
  const { rows, all } = rowsOf(launches, gpu);
  const line = ({ group, launches, read, written, flops, seconds, filled }: Row): string =>
    `| ${group} | ${launches} | ${(read / 1e9).toFixed(2)} | ${(written / 1e9).toFixed(2)} | ${flops === 0 ? '' : (flops / 1e12).toFixed(2)} | ${filled === null ? '' : `${Math.round(100 * filled)} %`} | ${(1e3 * seconds).toFixed(2)} |`;
  return [
    `${title} on ${gpu.title}`,
    '',
    '| kernels | launches | GB read | GB written | TFLOP | least full round | ms, estimated |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map(line),
    line(all),
    '',
  ].join('\n');
}
