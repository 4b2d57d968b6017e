// Complex tensors, whose memory holds real and imaginary parts by turns: kernels get the parts as tensors of their own.
import {
  type Backend,
  buildScalarProgram,
  type ComplexDType,
  complexKernels,
  type DType,
  isComplex,
  type Kernel,
  type KernelAttrs,
  type KernelName,
  MAX_RANK,
  type NumericDType,
  partsOf,
  placedKernel,
  type TensorRef,
  UnimplementedError,
} from '@eagre/backend';
import { hasUnknown, sizeOfDims } from '../shapes/dims.ts';
import { emptyTensor, type Tensor } from '../tensor/tensor.ts';
import { scalarKernel } from './scalar-kernels.ts';
import { symbolic } from './symbolic.ts';

type Complex = TensorRef & { readonly dtype: ComplexDType };
const hasParts = (t: TensorRef): t is Complex => isComplex(t.dtype);

/** The memory of a complex tensor as a real one with two columns: real parts, imaginary parts. */
const columns = ({ dtype, size, storage }: Complex): TensorRef => ({
  dtype: partsOf(dtype),
  shape: [size, 2],
  size: 2 * size,
  storage,
});

/** The same with the parts in one more axis. */
const pairs = (t: TensorRef): TensorRef => (hasParts(t) ? { ...columns(t), shape: [...t.shape, 2] } : t);

const column = ({ dtype, size, storage }: TensorRef): TensorRef => ({
  dtype,
  shape: [size, 1],
  size,
  storage,
});

function realKernel(backend: Backend, name: KernelName, ...dtypes: NumericDType[]): Kernel {
  return placedKernel(backend, name, dtypes) as Kernel;
}

/** The parts of complex tensors while a kernel runs. */
class Parts {
  readonly #backend: Backend;
  readonly #own: Tensor[] = [];

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Without values. */
  fresh({ dtype, shape }: Complex): Tensor {
    // Sizes that are not known must not be asked for.
    const part = emptyTensor(partsOf(dtype), shape, sizeOfDims(shape), this.#backend);
    this.#own.push(part);
    return part;
  }

  /** The part 0, real, or 1, imaginary. */
  take(t: Complex, which: number): Tensor {
    const part = this.fresh(t);
    realKernel(this.#backend, 'Slice', part.dtype as NumericDType)([columns(t)], [column(part)], {
      begin: [0, which],
      strides: [1, 1],
    });
    return part;
  }

  put(t: Complex, re: TensorRef, im: TensorRef): void {
    const dtype = partsOf(t.dtype);
    realKernel(this.#backend, 'Concat', dtype, dtype)([column(re), column(im)], [columns(t)], { axis: 1 });
  }

  dispose(): void {
    for (const part of this.#own) part.dispose();
  }
}

/** A kernel that runs with the parts of its tensors at hand; not at all where sizes are unknown, as only shapes are wanted then. */
function withParts(
  backend: Backend,
  run: (
    parts: Parts,
    inputs: readonly TensorRef[],
    outputs: readonly TensorRef[],
    attrs: KernelAttrs,
  ) => void,
): Kernel {
  return (inputs, outputs, attrs) => {
    if (backend === symbolic && [...inputs, ...outputs].some((t) => hasUnknown(t.shape))) return;
    const parts = new Parts(backend);
    try {
      run(parts, inputs, outputs, attrs);
    } finally {
      parts.dispose();
    }
  };
}

/** The kernel of a program that `buildNumberProgram` made: it takes the parts of complex inputs, and makes those of a complex result. */
export function onParts(backend: Backend, kernel: Kernel): Kernel {
  return withParts(backend, (parts, inputs, [y]) => {
    const given = inputs.flatMap((t) => (hasParts(t) ? [parts.take(t, 0), parts.take(t, 1)] : [t]));
    if (!hasParts(y)) {
      kernel(given, [y], {});
      return;
    }
    const [re, im] = [parts.fresh(y), parts.fresh(y)];
    kernel(given, [re, im], {});
    parts.put(y, re, im);
  });
}

/** The kernels that treat real and imaginary parts alike, each by itself: they move elements, or add them. */
const linear: ReadonlySet<KernelName> = new Set<KernelName>([
  'Fill',
  'Copy',
  'Transpose',
  'Reverse',
  'Pad',
  'MirrorPadGrad',
  'Slice',
  'SliceGrad',
  'Concat',
  'Tile',
  'Gather',
  'GatherGrad',
  'GatherNd',
  'ScatterNd',
  'SetRow',
  'OneHot',
  'CumSum',
  'Sum',
  'Mean',
]);
/** The attributes for imaginary parts: numbers to fill in are real. */
function withoutNumbers(attrs: KernelAttrs): KernelAttrs {
  const zeros = ['value', 'on', 'off'].filter((name) => name in attrs).map((name) => [name, 0] as const);
  return zeros.length === 0 ? attrs : { ...attrs, ...Object.fromEntries(zeros) };
}
// Of ScatterNd: those that keep the larger or smaller value.
const ORDERED = 3;

type Lists = Readonly<Record<string, readonly number[]>>;
/** Of kernels with lists that have an item for each axis, what stands for that of the parts. */
const itemsOfParts: { readonly [name in KernelName]?: (rank: number) => Readonly<Record<string, number>> } = {
  Transpose: (rank) => ({ perm: rank }),
  Pad: () => ({ before: 0, after: 0 }),
  MirrorPadGrad: () => ({ before: 0, after: 0 }),
  Slice: () => ({ begin: 0, strides: 1 }),
  SliceGrad: () => ({ begin: 0, strides: 1 }),
};

/** The attributes for tensors with the parts in one more axis, the last; null where there are none: where a number stands for all of a result. */
function attrsOfPairs(
  name: KernelName,
  attrs: KernelAttrs,
  inputs: readonly TensorRef[],
): KernelAttrs | null {
  if (name === 'Fill' || name === 'OneHot' || (name === 'Pad' && attrs['value'] !== 0)) return null;
  const items = itemsOfParts[name]?.(inputs[0].shape.length);
  if (items === undefined) return attrs;
  const lists = Object.entries(items).map(([key, item]) => [key, [...(attrs as Lists)[key], item]] as const);
  return { ...attrs, ...Object.fromEntries(lists) };
}

/** (a, b, c, d) → a − b and c + d. */
function differenceAndSum(backend: Backend, dtype: NumericDType): Kernel {
  return scalarKernel(backend, `a - b, c + d ${dtype}`, () =>
    buildScalarProgram([dtype, dtype, dtype, dtype], (s, a, b, c, d) => [s.sub(a, b), s.add(c, d)]),
  );
}

/** The product of complex matrices, of four real ones. */
function matMul(backend: Backend, kernel: Kernel): Kernel {
  return withParts(backend, (parts, inputs, outputs, attrs) => {
    const [a, b] = inputs.map((t) => [parts.take(t as Complex, 0), parts.take(t as Complex, 1)]);
    const y = outputs[0] as Complex;
    const product = (i: number, j: number): Tensor => {
      const result = parts.fresh(y);
      kernel([a[i], b[j]], [result], attrs);
      return result;
    };
    const products = [product(0, 0), product(1, 1), product(0, 1), product(1, 0)];
    const [re, im] = [parts.fresh(y), parts.fresh(y)];
    differenceAndSum(backend, partsOf(y.dtype))(products, [re, im], {});
    parts.put(y, re, im);
  });
}

/** A kernel for complex tensors, of those for their parts; undefined where there is none. */
export function complexKernel(
  backend: Backend,
  name: KernelName,
  dtypes: readonly DType[],
): Kernel | undefined {
  const real = dtypes.map((dtype) => (isComplex(dtype) ? partsOf(dtype) : dtype)) as NumericDType[];
  const kernel = placedKernel(backend, name, real);
  if (kernel === undefined) return undefined;
  if (name === 'Bitcast')
    return (inputs, outputs) => {
      const flat = (t: TensorRef): TensorRef => (hasParts(t) ? columns(t) : t);
      kernel(inputs.map(flat), outputs.map(flat), {});
    };
  if (name === 'MatMul') return matMul(backend, kernel);
  if (complexKernels.has(name))
    return (inputs, outputs, attrs) =>
      kernel(inputs.map(pairs), outputs.map(pairs), { ...attrs, complex: true });
  if (!linear.has(name)) return undefined;
  const byParts = withParts(backend, (parts, inputs, outputs, attrs) => {
    if (name === 'ScatterNd' && (attrs.mode as number) >= ORDERED)
      throw new UnimplementedError('complex numbers have no order, so none is the larger one');
    const made = outputs.map((t) => (hasParts(t) ? [parts.fresh(t), parts.fresh(t)] : [t, t]));
    for (const which of [0, 1]) {
      const own = which === 1 ? withoutNumbers(attrs) : attrs;
      kernel(
        inputs.map((t) => (hasParts(t) ? parts.take(t, which) : t)),
        made.map((pair) => pair[which]),
        own,
      );
    }
    outputs.forEach((t, i) => {
      if (hasParts(t)) parts.put(t, made[i][0], made[i][1]);
    });
  });
  return (inputs, outputs, attrs) => {
    const all = [...inputs, ...outputs];
    // Both parts at once, which copies nothing, where kernels take so many axes.
    const own =
      all.some((t) => t.shape.length >= MAX_RANK) ||
      (name === 'ScatterNd' && (attrs.mode as number) >= ORDERED)
        ? null
        : attrsOfPairs(name, attrs, inputs);
    if (own === null) byParts(inputs, outputs, attrs);
    else if (backend !== symbolic || !all.some((t) => hasUnknown(t.shape)))
      kernel(inputs.map(pairs), outputs.map(pairs), own);
  };
}
