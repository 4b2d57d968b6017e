// Kernels that move elements: each makes an element of the output from its place in an input, whatever the dtype.
import {
  list,
  type NumericDType,
  numericDTypes,
  product,
  storedElement,
  stridesOf,
  typedView,
} from '@eagre/backend';
import {
  type Axes,
  fields,
  launchElements,
  mergeAxes,
  perElement,
  placeOf,
  rawLoad,
  rawType,
  takeApart,
} from './elements.ts';
import {
  alwaysFits,
  bytesOf,
  type Call,
  type Dispatch,
  type GpuKernels,
  type GpuProgram,
  type Lowered,
  launch,
  lowered,
  perThread,
  type TensorInfo,
} from './kernel.ts';
import { floats, ofFloats } from './scalar-program.ts';

/** y[e] = x[base + Σ i k · s k], where i k are the places of e along the axes. */
function takeProgram(bytes: number, rank: number): GpuProgram {
  return perElement(
    bytes,
    { x: rawType(bytes) },
    { base: 'i32', ...fields('d', rank, 'u32'), ...fields('s', rank, 'i32') },
    `${takeApart('e', rank)} let from = u32(${placeOf(rank, 'i', 's', 'p.base')}); v = ${rawLoad('x', 'from', bytes)};`,
  );
}

/** A dispatch that takes elements from evenly spaced places. */
export function take(
  x: number,
  y: number,
  { dtype }: TensorInfo,
  sizes: readonly number[],
  steps: readonly number[],
  base = 0,
): Dispatch {
  const { sizes: d, steps: s }: Axes = mergeAxes(sizes, [steps]);
  const size = product(sizes);
  return launchElements(takeProgram(bytesOf(dtype), d.length), [x, y], [base, ...d, ...s[0]], {
    size,
    dtype,
  });
}

/** A copy of so many elements. */
export function copy(x: number, y: number, tensor: TensorInfo): Dispatch {
  return take(x, y, tensor, [tensor.size], [1]);
}

/** The words of an element of a dtype: what is stored, from its lowest bits on. */
export function wordsOf(value: number, dtype: NumericDType): [low: number, high: number] {
  const bytes = new ArrayBuffer(8);
  typedView(dtype, bytes, 0, 1)[0] = storedElement(value, dtype) as never;
  const [lowWord, highWord] = new Uint32Array(bytes);
  return [lowWord, highWord];
}

/** The value of the fields `name`0 and `name`1 of `p` as what `rawLoad` gives. */
export function rawParam(name: string, bytes: number): string {
  return bytes === 8 ? `vec2u(p.${name}0, p.${name}1)` : `p.${name}0`;
}

/** A dispatch that sets all elements of the operand `y`. */
export function fill(y: number, tensor: TensorInfo, value: number): Dispatch {
  const bytes = bytesOf(tensor.dtype);
  const program = perElement(bytes, {}, { value0: 'u32', value1: 'u32' }, `v = ${rawParam('value', bytes)};`);
  return launchElements(program, [y], wordsOf(value, tensor.dtype as NumericDType), tensor);
}

function pad({ inputs: [x], outputs: [y], attrs }: Call): Lowered | undefined {
  const before = list(attrs.before);
  const mode = attrs.mode as number;
  const bytes = bytesOf(y.dtype);
  const rank = y.shape.length;
  // Mirrors that are longer than the axis are an error, which the host tells.
  if (mode !== 0) {
    const after = list(attrs.after);
    const most = (n: number): number => (mode === 1 ? n - 1 : n);
    if (x.shape.some((n, axis) => Math.max(before[axis], after[axis]) > most(n))) return undefined;
  }
  const fold = (k: number): string => {
    if (mode === 0) return `inside = inside && q${k} >= 0 && q${k} < i32(p.n${k});`;
    const edge = mode === 1 ? 0 : 1;
    return `if (q${k} < 0) { q${k} = ${edge === 0 ? '' : '-1 '}-q${k}; } if (q${k} >= i32(p.n${k})) { q${k} = 2 * i32(p.n${k}) - ${2 - edge} - q${k}; }`;
  };
  const places = Array.from({ length: rank }, (_, k) => `var q${k} = i32(i${k}) - p.b${k}; ${fold(k)}`).join(
    '\n',
  );
  const program = perElement(
    bytes,
    { x: rawType(bytes) },
    {
      value0: 'u32',
      value1: 'u32',
      ...fields('d', rank, 'u32'),
      ...fields('n', rank, 'u32'),
      ...fields('b', rank, 'i32'),
      ...fields('s', rank, 'i32'),
    },
    `${takeApart('e', rank)} var inside = true; ${places}
    if (inside) { let from = u32(${placeOf(rank, 'q', 's')}); v = ${rawLoad('x', 'from', bytes)}; } else { v = ${rawParam('value', bytes)}; }`,
  );
  const value = wordsOf(attrs.value as number, y.dtype as NumericDType);
  const params = [...value, ...y.shape, ...x.shape, ...before, ...stridesOf(x.shape)];
  return lowered(launchElements(program, [0, 1], params, y));
}

/** Along each axis an element was copied to its own place, and perhaps to one on each side: it adds up what came from there. */
function mirrorPadGrad({ inputs: [dy], outputs: [dx], attrs }: Call): Lowered | undefined {
  const [before, after, mode] = [list(attrs.before), list(attrs.after), attrs.mode as number];
  const most = (n: number): number => (mode === 1 ? n - 1 : n);
  if (dx.shape.some((n, axis) => Math.max(before[axis], after[axis]) > most(n))) return undefined;
  const rank = dx.shape.length;
  const edge = mode === 1 ? 0 : 1;
  const axes = Array.from({ length: rank }, (_, k) => k);
  const loops = axes.map(
    (k) => `for (var c${k} = 0; c${k} < 3; c${k}++) {
      var q${k} = p.b${k} + i32(i${k}); var is${k} = true;
      if (c${k} == 1) { q${k} = p.b${k} - ${edge} - i32(i${k}); is${k} = q${k} >= 0 && q${k} < p.b${k}; }
      if (c${k} == 2) { let t${k} = i32(p.d${k}) - ${2 - edge} - i32(i${k}); q${k} = p.b${k} + i32(p.d${k}) + t${k}; is${k} = t${k} >= 0 && t${k} < p.a${k}; }
      if (is${k}) {`,
  );
  const type = dx.dtype === 'int32' ? 'i32' : 'f32';
  const program = perThread(
    ofFloats(dx.dtype, { dy: type, y: `mut ${type}` }),
    {
      ...fields('d', rank, 'u32'),
      ...fields('b', rank, 'i32'),
      ...fields('a', rank, 'i32'),
      ...fields('s', rank, 'i32'),
    },
    `${takeApart('thread', rank)} var sum = ${type === 'i32' ? '0' : '0.0'};
    ${loops.join('\n')} sum = sum + dy[u32(${placeOf(rank, 'q', 's')})]; ${'} }'.repeat(rank)} y[thread] = sum;`,
  );
  const params = [...dx.shape, ...before, ...after, ...stridesOf(dy.shape)];
  return lowered(launch(program, [0, 1], params, dx.size));
}

/** dx is zero but where Slice took: each element asks whether that is so. */
function sliceGrad({ inputs: [dy], outputs: [dx], attrs }: Call): Lowered {
  const begin = list(attrs.begin);
  const step = list(attrs.strides);
  const bytes = bytesOf(dx.dtype);
  const rank = dx.shape.length;
  const places = Array.from(
    { length: rank },
    (_, k) =>
      `let t${k} = (i32(i${k}) - p.b${k}) * p.g${k}; let q${k} = t${k} / p.m${k}; inside = inside && t${k} >= 0 && t${k} % p.m${k} == 0 && q${k} < i32(p.n${k});`,
  ).join('\n');
  const program = perElement(
    bytes,
    { x: rawType(bytes) },
    {
      ...fields('d', rank, 'u32'),
      ...fields('n', rank, 'u32'),
      ...fields('b', rank, 'i32'),
      ...fields('g', rank, 'i32'),
      ...fields('m', rank, 'i32'),
      ...fields('s', rank, 'i32'),
    },
    `${takeApart('e', rank)} var inside = true; ${places}
    if (inside) { let from = u32(${placeOf(rank, 'q', 's')}); v = ${rawLoad('x', 'from', bytes)}; }`,
  );
  const params = [
    ...dx.shape,
    ...dy.shape,
    ...begin,
    ...step.map(Math.sign),
    ...step.map(Math.abs),
    ...stridesOf(dy.shape),
  ];
  if (dy.size === 0) return lowered(fill(1, dx, 0));
  return lowered(launchElements(program, [0, 1], params, dx));
}

/** Each input is put into its part of y. */
function concat({ inputs, outputs: [y], attrs }: Call): Lowered {
  const axis = attrs.axis as number;
  const bytes = bytesOf(y.dtype);
  const inner = product(y.shape.slice(axis + 1));
  const program = perElement(
    bytes,
    { x: rawType(bytes) },
    { first: 'u32', count: 'u32', whole: 'u32' },
    `let row = e / p.whole; let at = e % p.whole;
    if (at >= p.first && at - p.first < p.count) { let from = row * p.count + at - p.first; v = ${rawLoad('x', 'from', bytes)}; } else { keep = true; }`,
    { keeps: true },
  );
  const dispatches: Dispatch[] = [];
  let first = 0;
  inputs.forEach((x, i) => {
    const count = x.shape[axis] * inner;
    if (x.size > 0)
      dispatches.push(launchElements(program, [i, inputs.length], [first, count, y.shape[axis] * inner], y));
    first += count;
  });
  return lowered(...dispatches);
}

const all = numericDTypes;

export const kernels: GpuKernels = {
  Fill: {
    dtypes: all,
    lower: alwaysFits(({ outputs: [y], attrs }) => lowered(fill(0, y, attrs.value as number))),
  },
  Iota: {
    dtypes: ['float32', 'int32'],
    lower: alwaysFits(({ outputs: [y], attrs }) => {
      const start = attrs.start as number;
      const delta = attrs.delta as number;
      const end = start + delta * y.size;
      // The contract computes in float64, which is as good as whole numbers that float32 holds.
      const most = y.dtype === 'int32' ? 2 ** 31 - 1 : 2 ** 24;
      const whole = Number.isInteger(start) && Number.isInteger(delta);
      if (!whole || Math.max(Math.abs(start), Math.abs(delta), Math.abs(end)) > most) return undefined;
      if (y.dtype !== 'int32' && y.dtype !== 'float32') return undefined;
      const value = 'p.start + i32(e) * p.delta';
      const program = perElement(
        4,
        {},
        { start: 'i32', delta: 'i32' },
        `v = bitcast<u32>(${y.dtype === 'int32' ? value : `f32(${value})`});`,
      );
      return lowered(launchElements(program, [0], [start, delta], y));
    }),
  },
  Copy: { dtypes: all, lower: alwaysFits(({ inputs: [x] }) => lowered(copy(0, 1, x))) },
  Bitcast: {
    dtypes: all,
    // As bytes, which need not be whole words.
    lower: alwaysFits(({ inputs: [x] }) => {
      const bytes = x.size * bytesOf(x.dtype);
      return lowered(copy(0, 1, { dtype: 'uint8', shape: [bytes], size: bytes }));
    }),
  },
  Transpose: {
    dtypes: all,
    lower: alwaysFits(({ inputs: [x], outputs: [y], attrs }) => {
      const strides = stridesOf(x.shape);
      const steps = list(attrs.perm).map((axis) => strides[axis]);
      return lowered(take(0, 1, y, y.shape, steps));
    }),
  },
  Reverse: {
    dtypes: all,
    lower: alwaysFits(({ inputs: [x], outputs: [y], attrs }) => {
      const axes = list(attrs.axes);
      const strides = stridesOf(x.shape);
      const steps = strides.map((step, axis) => (axes.includes(axis) ? -step : step));
      const base = axes.reduce((sum, axis) => sum + (x.shape[axis] - 1) * strides[axis], 0);
      return lowered(take(0, 1, y, y.shape, steps, base));
    }),
  },
  Slice: {
    dtypes: all,
    lower: alwaysFits(({ inputs: [x], outputs: [y], attrs }) => {
      const strides = stridesOf(x.shape);
      const begin = list(attrs.begin);
      const step = list(attrs.strides);
      const base = begin.reduce((sum, at, axis) => sum + at * strides[axis], 0);
      return lowered(
        take(
          0,
          1,
          y,
          y.shape,
          strides.map((s, axis) => s * step[axis]),
          base,
        ),
      );
    }),
  },
  SliceGrad: { dtypes: all, lower: alwaysFits(sliceGrad) },
  Tile: {
    dtypes: all,
    lower: alwaysFits(({ inputs: [x], outputs: [y] }) => {
      const strides = stridesOf(x.shape);
      // Each axis is the times that x is repeated, then x's own.
      const sizes = x.shape.flatMap((n, axis) => [y.shape[axis] / n, n]);
      return lowered(
        take(
          0,
          1,
          y,
          sizes,
          strides.flatMap((step) => [0, step]),
        ),
      );
    }),
  },
  Pad: { dtypes: all, lower: alwaysFits(pad) },
  MirrorPadGrad: { dtypes: [...floats, 'int32'], lower: alwaysFits(mirrorPadGrad) },
  Concat: { dtypes: all, lower: alwaysFits(concat) },
};
