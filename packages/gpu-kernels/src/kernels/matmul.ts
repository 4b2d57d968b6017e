// Matrix products, with batches that broadcast.
import { type NumericDType, product } from '@eagre/backend';
import { cudaForms } from './cuda-forms.ts';
import { type Axes, broadcastSteps, fields, mergeAxes, placeOf } from './elements.ts';
import { alwaysFits, type Call, type GpuKernels, type Lowered, lowered, type TensorInfo } from './kernel.ts';
import { type LibraryProduct, libraryProduct } from './library-product.ts';
import { productDispatch } from './product.ts';
import type { PlainMatrix, Product, ProductSizes, Value } from './product-factors.ts';
import { floats } from './scalar-program.ts';

/** The places along the axes of the batches, i0, i1, …, and where the factors begin. */
function batchValues(rank: number): readonly Value[] {
  const values: Value[] = [];
  let rest = 'batch';
  for (let axis = rank - 1; axis >= 0; axis--) {
    values.push([`i${axis}`, 'u32', axis === 0 ? rest : `${rest} % p.d${axis}`]);
    if (axis > 0) values.push([`rest${axis}`, 'u32', `${rest} / p.d${axis}`]);
    rest = `rest${axis}`;
  }
  values.push(['ofA', 'u32', `u32(${placeOf(rank, 'i', 's')}) * p.rows * p.depth`]);
  values.push(['ofB', 'u32', `u32(${placeOf(rank, 'i', 'q')}) * p.depth * p.columns`]);
  return values;
}

interface Sizes {
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  /** Of the batches, with the steps of a and b in matrices. */
  readonly axes: Axes;
}

function sizesOf({ inputs: [a, b], outputs: [y], attrs }: Pick<Call, 'inputs' | 'outputs' | 'attrs'>): Sizes {
  const [rows, columns] = y.shape.slice(-2);
  const depth = a.shape[a.shape.length - (attrs.transposeA ? 2 : 1)];
  const batch = y.shape.slice(0, -2);
  const steps = [a, b].map((x) => broadcastSteps(x.shape.slice(0, -2), batch));
  return { rows, columns, depth, axes: mergeAxes(batch, steps) };
}

/** A call of `MatMul` for libraries of products. @returns undefined where a kernel does better. */
export function libraryMatmul(call: Pick<Call, 'inputs' | 'outputs' | 'attrs'>): LibraryProduct | undefined {
  const { outputs, inputs, attrs } = call;
  const operands = [...inputs, ...outputs].map((_, i) => i);
  const { axes, ...sizes } = sizesOf(call);
  return libraryProduct(
    {
      ...sizes,
      operands,
      dtype: outputs[0].dtype as NumericDType,
      transposeA: attrs.transposeA as boolean,
      transposeB: attrs.transposeB as boolean,
      hasBias: inputs.length > 2,
      hasRelu: attrs.activation === 1,
    },
    axes.sizes,
    axes.steps,
  );
}

/** A call of `MatMul` as the arguments of `productDispatch`, and how many axes the batches have. */
export function matmulProduct(call: Pick<Call, 'inputs' | 'outputs' | 'attrs'>): {
  readonly made: Product;
  readonly operands: readonly number[];
  readonly values: readonly number[];
  readonly sizes: ProductSizes;
  readonly rank: number;
} {
  const {
    inputs: [a, b, bias],
    outputs: [y],
    attrs,
  } = call;
  const { rows: m, columns: n, depth: k, axes } = sizesOf(call);
  const { transposeA, transposeB } = attrs;
  const r = axes.sizes.length;
  const matrices = (x: TensorInfo, step: string, pitch: number): PlainMatrix => ({
    from: 0,
    pitch,
    count: product(x.shape.slice(0, -2)),
    number: `u32(${placeOf(r, 'i', step)})`,
  });
  const made: Product = {
    dtype: y.dtype as NumericDType,
    buffers: bias === undefined ? ['a', 'b'] : ['a', 'b', 'bias'],
    params: { ...fields('d', r, 'u32'), ...fields('s', r, 'i32'), ...fields('q', r, 'i32') },
    batch: batchValues(r),
    left: {
      buffer: 'a',
      matrix: matrices(a, 's', transposeA ? m : k),
      ...(transposeA
        ? { side: { at: 'ofA + row' }, deep: { at: 'deep * p.rows' }, inner: 'side', run: m }
        : { side: { at: 'ofA + row * p.depth' }, deep: { at: 'deep' }, inner: 'deep', run: k }),
    },
    right: {
      buffer: 'b',
      matrix: matrices(b, 'q', transposeB ? k : n),
      ...(transposeB
        ? { side: { at: 'ofB + column * p.depth' }, deep: { at: 'deep' }, inner: 'deep', run: k }
        : { side: { at: 'ofB + column' }, deep: { at: 'deep * p.columns' }, inner: 'side', run: n }),
    },
    at: '(batch * p.rows + row) * p.columns',
    biasAt: bias && 'column',
    activation: attrs.activation as number,
  };
  const operands = bias === undefined ? [0, 1, 2] : [0, 1, 2, 3];
  const sizes = [product(axes.sizes), m, n, k] as const;
  return { made, operands, values: [...axes.sizes, ...axes.steps.flat()], sizes, rank: r };
}

function matmul(call: Call): Lowered | undefined {
  const { made, operands, values, sizes, rank } = matmulProduct(call);
  const dispatch = productDispatch(made, operands, values, sizes);
  if (dispatch === undefined || made.dtype === 'int32') return dispatch && lowered(dispatch);
  const library = libraryMatmul(call);
  const padded = rank === 0 ? cudaForms()?.paddedProduct(made, operands, sizes) : undefined;
  if (padded !== undefined) return lowered({ ...dispatch, library, cuda: padded, prefersCuda: true });
  return lowered(library === undefined ? dispatch : { ...dispatch, library });
}

export const kernels: GpuKernels = { MatMul: { dtypes: [...floats, 'int32'], lower: alwaysFits(matmul) } };
