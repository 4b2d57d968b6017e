import {
  castElement,
  halfBits,
  halfValue,
  isBigArray,
  isHalf,
  type Kernel,
  type NumericDType,
  type ScalarProgram,
  type TensorRef,
  type TypedArray,
} from '@eagre/backend';
import { instruction, type Step, type Tile } from './instructions.ts';
import { type NumberArray, view } from './view.ts';

/** Values per tile: a program's tiles should fit into a first-level cache, and an instruction's dispatch be paid seldom. */
const TILE = 512;

// Value number → tile. All programs share them, since no two ever run at the same time.
const numberTiles: Float64Array[] = [];
const bigTiles: BigInt64Array[] = [];
const unsignedTiles: BigUint64Array[] = [];

function tileOf(id: number, dtype: NumericDType): Tile {
  if (dtype === 'int64') return (bigTiles[id] ??= new BigInt64Array(TILE));
  if (dtype === 'uint64') return (unsignedTiles[id] ??= new BigUint64Array(TILE));
  return (numberTiles[id] ??= new Float64Array(TILE));
}

/** Puts `n` values of an input, from flat position `start` of the output's shape on, into its tile. */
type Load = (start: number, n: number) => void;

function copyIn(
  tile: Tile,
  at: number,
  data: TypedArray,
  dtype: NumericDType,
  from: number,
  n: number,
): void {
  if (isBigArray(tile)) {
    tile.set(data.subarray(from, from + n) as BigInt64Array, at);
  } else if (isHalf(dtype)) {
    for (let i = 0; i < n; i++) tile[at + i] = halfValue(data[from + i] as number, dtype);
  } else {
    const source = data as NumberArray;
    for (let i = 0; i < n; i++) tile[at + i] = source[from + i];
  }
}

function copyOut(tile: Tile, data: TypedArray, dtype: NumericDType, to: number, n: number): void {
  if (isBigArray(tile)) {
    (data as BigInt64Array).set(tile.subarray(0, n), to);
  } else if (isHalf(dtype)) {
    for (let i = 0; i < n; i++) data[to + i] = halfBits(tile[i], dtype);
  } else {
    const target = data as NumberArray;
    for (let i = 0; i < n; i++) target[to + i] = tile[i];
  }
}

/**
 * The output's axes as seen from an input that broadcasts to it, innermost first: adjacent axes that the input has are
 * merged, and so are those over which it repeats (stride 0).
 */
function broadcastAxes(
  from: readonly number[],
  to: readonly number[],
): { sizes: number[]; strides: number[] } {
  const sizes: number[] = [];
  const strides: number[] = [];
  let stride = 1;
  for (let axis = to.length - 1, own = from.length - 1; axis >= 0; axis--, own--) {
    const size = to[axis];
    if (size === 1) continue;
    const repeated = own < 0 || from[own] === 1;
    const last = sizes.length - 1;
    if (last >= 0 && (strides[last] === 0) === repeated) {
      sizes[last] *= size;
    } else {
      sizes.push(size);
      strides.push(repeated ? 0 : stride);
    }
    if (!repeated) stride *= size;
  }
  return { sizes, strides };
}

function broadcastLoad(
  tile: Tile,
  data: TypedArray,
  dtype: NumericDType,
  from: readonly number[],
  to: readonly number[],
): Load {
  const { sizes, strides } = broadcastAxes(from, to);
  const inner = sizes[0];
  return (start, n) => {
    for (let done = 0; done < n; ) {
      const offset = (start + done) % inner;
      let rest = (start + done - offset) / inner;
      let position = offset * strides[0];
      for (let axis = 1; axis < sizes.length; axis++) {
        const index = rest % sizes[axis];
        position += index * strides[axis];
        rest = (rest - index) / sizes[axis];
      }
      const run = Math.min(inner - offset, n - done);
      if (strides[0] === 0) {
        copyIn(tile, done, data, dtype, position, 1);
        tile.fill(tile[done] as never, done, done + run);
      } else copyIn(tile, done, data, dtype, position, run);
      done += run;
    }
  };
}

/** How to load an input; nothing where its one value has been put into the tile for good. */
function loader(tile: Tile, input: TensorRef, output: TensorRef): Load | undefined {
  const data = view(input);
  const dtype = input.dtype as NumericDType;
  if (input.size === 1) {
    copyIn(tile, 0, data, dtype, 0, 1);
    tile.fill(tile[0] as never, 0, Math.min(TILE, output.size));
    return undefined;
  }
  if (input.size === output.size) return (start, n) => copyIn(tile, 0, data, dtype, start, n);
  return broadcastLoad(tile, data, dtype, input.shape, output.shape);
}

/**
 * An interpreter for a scalar program: instruction by instruction over a tile of values, each result rounded to its dtype.
 * No code is generated, so it also runs where a content security policy forbids that.
 */
export function compileScalar(program: ScalarProgram): Kernel {
  const dtypes = [...program.inputs, ...program.instrs.map((instr) => instr.dtype)];
  const tiles = dtypes.map((dtype, id) => tileOf(id, dtype));
  const first = program.inputs.length;
  const constants: Step[] = [];
  const steps: Step[] = [];
  program.instrs.forEach(({ op, dtype, args, value }, i) => {
    const tile = tiles[first + i];
    if (op === 'const') {
      const element = castElement(value, dtype);
      constants.push((n) => tile.fill(element as never, 0, n));
    } else {
      const operands = args.map((id) => tiles[id]);
      steps.push(instruction(op, dtypes[args[0]], dtype, tile, operands));
    }
  });
  const results = program.outputs.map((id) => tiles[id]);

  return (inputs, outputs) => {
    const size = outputs[0].size;
    if (size === 0) return;
    const loads = inputs.map((input, i) => loader(tiles[i], input, outputs[0]));
    const targets = outputs.map(view);
    for (const fill of constants) fill(Math.min(TILE, size));
    for (let start = 0; start < size; start += TILE) {
      const n = Math.min(TILE, size - start);
      for (const load of loads) load?.(start, n);
      for (const step of steps) step(n);
      for (let i = 0; i < results.length; i++)
        copyOut(results[i], targets[i], outputs[i].dtype as NumericDType, start, n);
    }
  };
}
