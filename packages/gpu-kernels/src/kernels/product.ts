// Products of matrices in tiles, of which a workgroup makes one. Convolutions are products too, whose factors are read from images as they are needed.
import { cudaForms } from './cuda-forms.ts';
import { type Dispatch, groups, head, programOf } from './kernel.ts';
import { type LibraryProduct, libraryMatrices } from './library-product.ts';
import {
  type Along,
  coordinatesOf,
  divided,
  type Factor,
  type Product,
  type ProductSizes,
  type Value,
} from './product-factors.ts';
import { binary, ofFloats, rounded } from './scalar-program.ts';

/** A tile is so wide and high, and goes so deep at once; a thread makes 4 by 4 of its elements. */
const TILE = 64;
const DEPTH = 16;
const SIDE = 16;
export const MOST_BATCHES = 65535;
const zeros = { f32: '0.0', i32: '0' } as const;

export const lets = (values: readonly Value[] = []): string =>
  values.map(([name, , expression]) => `let ${name} = ${expression};`).join(' ');

/** Statements that set `value` to an element of a factor: at `number` along its side. */
function read(factor: Factor, number: 'row' | 'column'): string {
  const { buffer, side, deep } = factor;
  const digits = (of: string, { digits: list }: Along): string => lets(divided(of, list));
  const set = `value = ${buffer}[${side.at} + ${deep.at}];`;
  const inside = coordinatesOf(factor).map(([sum, size]) => `${sum} < ${size}`);
  return `${digits(number, side)} ${digits('deep', deep)} ${inside.length === 0 ? set : `if (${inside.join(' && ')}) { ${set} }`}`;
}

function typeOf({ dtype }: Product): 'f32' | 'i32' {
  return dtype === 'int32' ? 'i32' : 'f32';
}

/** Statements that store `sum`, with the bias and the activation. */
export function store(product: Product): string {
  const { dtype, row, stores, at, biasAt, activation } = product;
  const type = typeOf(product);
  const add =
    biasAt === undefined ? '' : `sum = ${binary('add', type)(rounded('sum', dtype), `bias[${biasAt}]`)};`;
  const relu = activation === 1 ? `sum = ${binary('max', type)('sum', zeros[type])};` : '';
  const set = `${add} ${relu} y[${at} + column] = sum;`;
  return `${lets(divided('row', row))} ${stores === undefined ? set : `if (${stores}) { ${set} }`}`;
}

/**
 * A dispatch of a product, which tensor cores make instead where there are some that are of use.
 * @param operands of the buffers, then of y.
 * @param values of the params. @param kept bytes at the beginning of the temporary that tensor cores leave alone.
 * @returns undefined where it is too large.
 */
export function productDispatch(
  product: Product,
  operands: readonly number[],
  values: readonly number[],
  sizes: ProductSizes,
  kept = 0,
): Dispatch | undefined {
  const type = typeOf(product);
  const buffers = Object.fromEntries([
    ...product.buffers.map((name) => [name, type]),
    ['y', `mut ${type}`],
  ]) as Record<string, string>;
  const dispatch = productByThreads(
    {
      type,
      buffers: ofFloats(product.dtype, buffers),
      params: product.params ?? {},
      setUp: lets(product.batch),
      depth: product.depth ?? 'p.depth',
      left: read(product.left, 'row'),
      right: read(product.right, 'column'),
      store: store(product),
    },
    operands,
    values,
    sizes,
  );
  const cuda = cudaForms()?.product(product, operands, values, sizes, kept);
  return dispatch && cuda ? { ...dispatch, cuda } : dispatch;
}

/**
 * The same of two matrices in rows, with a result in rows, which libraries make too.
 * @returns undefined where it is too large.
 */
export function matrixDispatch(
  product: Product,
  operands: readonly number[],
  values: readonly number[],
  [rows, columns, depth]: readonly [rows: number, columns: number, depth: number],
): Dispatch | undefined {
  const dispatch = productDispatch(product, operands, values, [1, rows, columns, depth]);
  const { dtype, buffers, left, right, biasAt, activation } = product;
  const hasBias = biasAt !== undefined;
  const names = [left.buffer, right.buffer, ...(hasBias ? ['bias'] : [])];
  const library: LibraryProduct | undefined = libraryMatrices({
    operands: [...names.map((name) => operands[buffers.indexOf(name)]), operands[buffers.length]],
    dtype,
    rows,
    columns,
    depth,
    transposeA: left.inner === 'side',
    transposeB: right.inner === 'deep',
    hasBias,
    hasRelu: activation === 1,
  });
  return dispatch && (library === undefined ? dispatch : { ...dispatch, library });
}

/** The text of a product whose factors are statements. */
export interface ProductText {
  readonly type: 'f32' | 'i32';
  readonly buffers: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, 'u32' | 'i32' | 'f32'>>;
  /** Statements before everything, which see the number of the product, `batch`. */
  readonly setUp: string;
  /** The depth of this product, no more than that of all. */
  readonly depth: string;
  /** Statements that set `value` to an element of a factor: at `row` and `deep`, or `deep` and `column`, all in range. */
  readonly left: string;
  readonly right: string;
  /** Statements that store `sum`, the element at `row` and `column`. */
  readonly store: string;
}

/** A product that no tensor cores make. */
export function productByThreads(
  { type, buffers, params, setUp, depth: ofBatch, left, right, store }: ProductText,
  operands: readonly number[],
  values: readonly number[],
  [batches, rows, columns, depth]: ProductSizes,
): Dispatch | undefined {
  const tiles = Math.ceil(rows / TILE) * Math.ceil(columns / TILE);
  const [across, down] = groups(tiles);
  if (batches > MOST_BATCHES || down > 65535) return undefined;
  const zero = zeros[type];
  const sum = 'sums[i * 4u + j]';
  const fma = type === 'f32' ? `fma(l, r, ${sum})` : binary('add', type)(sum, binary('mul', type)('l', 'r'));
  const program = programOf(`${head(buffers, { rows: 'u32', columns: 'u32', depth: 'u32', ...params })}
var<workgroup> lefts: array<${type}, ${TILE * (DEPTH + 1)}>;
var<workgroup> rights: array<${type}, ${TILE * DEPTH}>;
@compute @workgroup_size(${SIDE * SIDE})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) t: u32) {
  let batch = group.z;
  ${setUp}
  let depth = ${ofBatch};
  let tx = t % ${SIDE}u; let ty = t / ${SIDE}u;
  let number = group.y * all.x + group.x; let tilesAcross = (p.columns + ${TILE - 1}u) / ${TILE}u;
  let top = number / tilesAcross * ${TILE}u; let side = number % tilesAcross * ${TILE}u;
  var sums: array<${type}, 16>;
  for (var start = 0u; start < depth; start += ${DEPTH}u) {
    for (var k = t; k < ${TILE * DEPTH}u; k += ${SIDE * SIDE}u) {
      let row = top + k / ${DEPTH}u; let deep = start + k % ${DEPTH}u;
      var value: ${type} = ${zero};
      if (row < p.rows && deep < depth) { ${left} }
      lefts[(k / ${DEPTH}u) * ${DEPTH + 1}u + k % ${DEPTH}u] = value;
    }
    for (var k = t; k < ${TILE * DEPTH}u; k += ${SIDE * SIDE}u) {
      let deep = start + k / ${TILE}u; let column = side + k % ${TILE}u;
      var value: ${type} = ${zero};
      if (deep < depth && column < p.columns) { ${right} }
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
    workgroups: [across, down, batches],
  };
}
