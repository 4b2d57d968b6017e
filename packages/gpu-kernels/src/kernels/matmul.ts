// Matrix products in tiles, of which a workgroup makes one: convolutions are products too, whose factors are read elsewhere.
import { type DType, isHalf, product } from '@eagre/backend';
import {
  TILE as CORE_TILE,
  isAligned,
  type TensorCoreProduct,
  tensorCoreProduct,
} from '../cuda/tensor-cores.ts';
import { broadcastSteps, fields, mergeAxes, placeOf, takeApart } from './elements.ts';
import {
  alwaysFits,
  type Call,
  type Dispatch,
  type GpuKernels,
  head,
  type Lowered,
  lowered,
  programOf,
  type TensorInfo,
} from './kernel.ts';
import { binary, floats, ofFloats, rounded } from './scalar-program.ts';

/** A tile is so wide and high, and goes so deep at once; a thread makes 4 by 4 of its elements. */
const TILE = 64;
const DEPTH = 16;
const SIDE = 16;
const MOST_BATCHES = 65535;
const zeros = { f32: '0.0', i32: '0' } as const;

export interface ProductText {
  readonly type: 'f32' | 'i32';
  readonly buffers: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, 'u32' | 'i32' | 'f32'>>;
  /** Statements before everything, which see the number of the product, `batch`. */
  readonly setUp: string;
  /** Statements that set `value` to an element of a factor: at `row` and `deep`, or `deep` and `column`, all in range. */
  readonly left: string;
  readonly right: string;
  /** Statements that store `sum`, the element at `row` and `column`. */
  readonly store: string;
}

/** A product of `batches` matrices [rows, depth] and [depth, columns]. */
export function productDispatch(
  { type, buffers, params, setUp, left, right, store }: ProductText,
  operands: readonly number[],
  values: readonly number[],
  [batches, rows, columns, depth]: readonly [number, number, number, number],
): Dispatch | undefined {
  const tilesDown = Math.ceil(rows / TILE);
  const tilesAcross = Math.ceil(columns / TILE);
  if (batches > MOST_BATCHES || tilesDown > 65535 || tilesAcross > 65535) return undefined;
  const zero = zeros[type];
  const sum = 'sums[i * 4u + j]';
  const fma = type === 'f32' ? `fma(l, r, ${sum})` : binary('add', type)(sum, binary('mul', type)('l', 'r'));
  const program = programOf(`${head(buffers, { rows: 'u32', columns: 'u32', depth: 'u32', ...params })}
var<workgroup> lefts: array<${type}, ${TILE * (DEPTH + 1)}>;
var<workgroup> rights: array<${type}, ${TILE * DEPTH}>;
@compute @workgroup_size(${SIDE * SIDE})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) t: u32) {
  let batch = group.z;
  ${setUp}
  let tx = t % ${SIDE}u; let ty = t / ${SIDE}u;
  let top = group.y * ${TILE}u; let side = group.x * ${TILE}u;
  var sums: array<${type}, 16>;
  for (var start = 0u; start < p.depth; start += ${DEPTH}u) {
    for (var k = t; k < ${TILE * DEPTH}u; k += ${SIDE * SIDE}u) {
      let row = top + k / ${DEPTH}u; let deep = start + k % ${DEPTH}u;
      var value: ${type} = ${zero};
      if (row < p.rows && deep < p.depth) { ${left} }
      lefts[(k / ${DEPTH}u) * ${DEPTH + 1}u + k % ${DEPTH}u] = value;
    }
    for (var k = t; k < ${TILE * DEPTH}u; k += ${SIDE * SIDE}u) {
      let deep = start + k / ${TILE}u; let column = side + k % ${TILE}u;
      var value: ${type} = ${zero};
      if (deep < p.depth && column < p.columns) { ${right} }
      rights[k] = value;
    }
    workgroupBarrier();
    for (var d = 0u; d < ${DEPTH}u; d++) {
      for (var i = 0u; i < 4u; i++) {
        let l = lefts[(ty * 4u + i) * ${DEPTH + 1}u + d];
        for (var j = 0u; j < 4u; j++) { let r = rights[d * ${TILE}u + tx + j * ${SIDE}u]; ${sum} = ${fma}; }
      }
    }
    workgroupBarrier();
  }
  for (var i = 0u; i < 4u; i++) {
    for (var j = 0u; j < 4u; j++) {
      let row = top + ty * 4u + i; let column = side + tx + j * ${SIDE}u;
      if (row < p.rows && column < p.columns) { var sum = sums[i * 4u + j]; ${store} }
    }
  }
}`);
  return {
    program,
    operands,
    params: [rows, columns, depth, ...values],
    workgroups: [tilesAcross, tilesDown, batches],
  };
}

/**
 * Statements that add a bias to `sum` and apply the activation of the contract.
 * @param bias an expression, where there is one.
 */
export function epilogue(dtype: DType, bias: string | undefined, activation: number): string {
  const type = dtype === 'int32' ? 'i32' : 'f32';
  const add = bias === undefined ? '' : `sum = ${binary('add', type)(rounded('sum', dtype), bias)};`;
  const relu = activation === 1 ? `sum = ${binary('max', type)('sum', zeros[type])};` : '';
  return `${add} ${relu}`;
}

function matmul({ inputs: [a, b, bias], outputs: [y], attrs }: Call): Lowered | undefined {
  const rank = y.shape.length;
  const [m, n] = y.shape.slice(-2);
  const transposeA = Boolean(attrs.transposeA);
  const transposeB = Boolean(attrs.transposeB);
  const k = a.shape[a.shape.length - (transposeA ? 2 : 1)];
  const batch = y.shape.slice(0, rank - 2);
  const steps = [a, b].map((x) => broadcastSteps(x.shape.slice(0, -2), batch));
  const axes = mergeAxes(batch, steps);
  const r = axes.sizes.length;
  const type = y.dtype === 'int32' ? 'i32' : 'f32';
  const dispatch = productDispatch(
    {
      type,
      buffers: ofFloats(y.dtype, {
        a: type,
        b: type,
        ...(bias === undefined ? {} : { bias: type }),
        y: `mut ${type}`,
      }),
      params: { ...fields('d', r, 'u32'), ...fields('s', r, 'i32'), ...fields('q', r, 'i32') },
      setUp: `${takeApart('batch', r)} let ofA = u32(${placeOf(r, 'i', 's')}) * p.rows * p.depth; let ofB = u32(${placeOf(r, 'i', 'q')}) * p.depth * p.columns;`,
      left: transposeA ? 'value = a[ofA + deep * p.rows + row];' : 'value = a[ofA + row * p.depth + deep];',
      right: transposeB
        ? 'value = b[ofB + column * p.depth + deep];'
        : 'value = b[ofB + deep * p.columns + column];',
      store: `${epilogue(y.dtype, bias && 'bias[column]', attrs.activation as number)} y[(batch * p.rows + row) * p.columns + column] = sum;`,
    },
    bias === undefined ? [0, 1, 2] : [0, 1, 2, 3],
    [...axes.sizes, ...axes.steps.flat()],
    [product(batch), m, n, k],
  );
  const cuda = onTensorCores(
    y,
    { transposeA, transposeB, hasBias: bias !== undefined, relu: attrs.activation === 1, rank: r },
    [m, n, k],
    [...axes.sizes, ...axes.steps.flat()],
  );
  return dispatch && lowered(cuda === undefined ? dispatch : { ...dispatch, cuda });
}

/** Fewer rows, columns or depth fill no tile of tensor cores. */
const FEW = 16;

function onTensorCores(
  y: TensorInfo,
  product: Omit<TensorCoreProduct, 'dtype' | 'alignedA' | 'alignedB'>,
  sizes: readonly [rows: number, columns: number, depth: number],
  axes: readonly number[],
): Dispatch['cuda'] {
  const { dtype } = y;
  const [rows, columns, depth] = sizes;
  if ((dtype !== 'float32' && !isHalf(dtype)) || Math.min(...sizes) < FEW) return undefined;
  const program = tensorCoreProduct({
    ...product,
    dtype,
    alignedA: isAligned(product.transposeA ? rows : depth, dtype),
    alignedB: isAligned(product.transposeB ? depth : columns, dtype),
  });
  const tiles = [columns, rows].map((size) => Math.ceil(size / CORE_TILE));
  return {
    program,
    params: [...sizes, ...axes],
    workgroups: [tiles[0], tiles[1], y.size / (rows * columns)],
  };
}

export const kernels: GpuKernels = { MatMul: { dtypes: [...floats, 'int32'], lower: alwaysFits(matmul) } };
