// The factors of products on tensor cores: how their tiles come to shared memory, and how the sums are stored.
import type { DType } from '@eagre/backend';
import type { CudaProgram } from '../kernels/kernel.ts';
import {
  type Along,
  coordinatesOf,
  divided,
  type Factor,
  type Product,
  type ProductSizes,
  type Value,
} from '../kernels/product-factors.ts';
import { type CoreDType, type CoreKernel, elementOf, lanesOf } from './tensor-cores.ts';

/** A product that tensor cores make. */
export interface CoreProduct extends Required<Pick<Product, 'params'>>, Omit<Product, 'dtype' | 'params'> {
  readonly dtype: CoreDType;
  /** Whether it makes the sums of a part of the depth, in float32, without bias and activation. */
  readonly isPart: boolean;
  /** Whether the number of columns is even, so that two sums are stored at once. */
  readonly inPairs: boolean;
  /** Columns of a tile. */
  readonly width: Width;
}
export type Width = 64 | 128 | 256;

/** Rows that a workgroup makes. */
export const ROWS = 128;

/** Tensor cores as products use them. */
export interface ProductCores {
  /** How deep a step goes. */
  readonly depth: (dtype: DType) => number;
  /** Columns of a tile. */
  readonly width: (sizes: ProductSizes) => Width;
  /** How many tiles of this width a usual GPU makes at once. */
  readonly many: (width: Width) => number;
  /**
   * A product with sums in float32. Its parameters are rows, columns, depth, the steps of a part of the depth, the number of parts, the element of the
   * temporary where these begin, and those of the product; its workgroups the tiles, and the batches with their parts in the third dimension. A part makes a
   * matrix of its own.
   */
  readonly program: (product: CoreProduct) => CudaProgram;
}

/** What programs of products are known by. */
export function keyOf(product: CoreProduct): string {
  const { left, right, dtype } = product;
  const shapes = [left, right].map((factor) => isAligned(factor, dtype));
  const known = (factor: Factor): Factor => ({ ...factor, run: 0, matrix: undefined });
  return JSON.stringify({ ...product, left: known(left), right: known(right), shapes });
}

/** The parameters of a product's kernel, and its pointers. */
export function signatureOf({ dtype, isPart, params, buffers }: CoreProduct): {
  readonly fields: Readonly<Record<string, 'u32' | 'i32'>>;
  readonly pointers: readonly string[];
} {
  const element = elementOf(dtype);
  const read = isPart ? buffers.filter((name) => name !== 'bias') : buffers;
  return {
    fields: {
      rows: 'u32',
      columns: 'u32',
      depth: 'u32',
      steps: 'u32',
      parts: 'u32',
      fromParts: 'u32',
      ...params,
    },
    pointers: [...read.map((name) => `const ${element}* ${name}`), `${isPart ? 'f32' : element}* y`],
  };
}

export function isAligned({ run }: Factor, dtype: DType): boolean {
  return run % lanesOf(dtype) === 0;
}

/** What is known of a factor's tile in shared memory. */
export interface Tile {
  readonly name: 'a' | 'b';
  readonly factor: Factor;
  readonly aligned: boolean;
  readonly dtype: CoreDType;
  /** Threads that bring it. */
  readonly threads: number;
  /** Rows of a, columns of b. */
  readonly size: number;
  readonly depth: number;
  readonly lanes: number;
  /** Chunks of a line in memory, of which there is one for each of `size`, or of the depth. */
  readonly across: number;
  readonly chunks: number;
  /** The place of a chunk among those of the tile; 8 lines further on it is by so many times 8 more. */
  readonly at: (line: string, chunk: string) => string;
  readonly pitch: number;
  /** The variable of the kernel that its side is, where the tile begins, and how many there are. */
  readonly side: 'row' | 'column';
  readonly first: string;
  readonly sides: string;
}

/** What tells the tiles of one kind of cores from those of another. */
export interface TileLayout {
  readonly threads: number;
  readonly depth: number;
  readonly at: (across: number) => Tile['at'];
  readonly pitch: (across: number) => number;
}

export function tilesOf(
  { dtype, left, right, width }: CoreProduct,
  { threads, depth, at, pitch }: TileLayout,
): readonly [Tile, Tile] {
  const lanes = lanesOf(dtype);
  const of = (factor: Factor, size: number) => {
    const across = (factor.inner === 'deep' ? depth : size) / lanes;
    const chunks = (size * depth) / lanes;
    return {
      factor,
      aligned: isAligned(factor, dtype),
      dtype,
      threads,
      size,
      depth,
      lanes,
      across,
      chunks,
      at: at(across),
      pitch: pitch(across),
    };
  };
  return [
    { ...of(left, ROWS), name: 'a', side: 'row', first: 'top', sides: 'p.rows' },
    { ...of(right, width), name: 'b', side: 'column', first: 'left', sides: 'p.columns' },
  ];
}

export const declared = (values: readonly Value[]): string =>
  values.map(([name, type, expression]) => `const ${type} ${name} = ${expression};`).join(' ');
const struct = (name: string, fields: readonly string[], type = 'u32'): string =>
  `struct ${name} { ${fields.map((field) => `${type} ${field};`).join(' ')} };`;
const taken = (from: string, values: readonly Value[]): string =>
  values.map(([name, type]) => `const ${type} ${name} = ${from}.${name};`).join(' ');
const FUNCTION = '__device__ __forceinline__';
const GIVEN = 'const Batch& ofBatch, const Params& p';

/**
 * Functions that count along one side of a factor or its depth: the digits of a number; those that are so many further on, where one step carries at most one
 * from a digit to the next; and what the place of an element has of them.
 */
function counting(
  name: string,
  number: string,
  { digits = [], at, coordinates = [] }: Along,
  batch: readonly Value[],
): string {
  const count = `Count_${name}`;
  const ofBatch = taken('ofBatch', batch);
  const names = [number, ...digits.map(([digit]) => digit)];
  const next = digits.map(([digit, size]) =>
    size === undefined
      ? `of.${digit} += by.${digit} + carry;`
      : `of.${digit} += by.${digit} + carry; carry = of.${digit} >= (${size}) ? 1u : 0u; if (carry != 0u) of.${digit} -= ${size};`,
  );
  return `${struct(count, names)}
${struct(`Place_${name}`, ['at', ...coordinates.map((_, i) => `c${i}`)])}
${FUNCTION} ${count} count_${name}(u32 ${number}, ${GIVEN}) { ${ofBatch} ${declared(divided(number, digits))} return {${names.join(', ')}}; }
${FUNCTION} void advance_${name}(${count}& of, const ${count}& by, ${GIVEN}) { ${ofBatch} of.${number} += by.${number}; ${digits.length > 0 ? 'u32 carry = 0u;' : ''} ${next.join(' ')} }
${FUNCTION} Place_${name} place_${name}(const ${count}& of, ${GIVEN}) {
  ${ofBatch} ${names.map((digit) => `const u32 ${digit} = of.${digit};`).join(' ')}
  return {${[at, ...coordinates].map((part) => `u32(${part})`).join(', ')}};
}`;
}

/** Functions that tell where the elements of a factor lie. */
function places({ name, factor, side }: Tile, batch: readonly Value[]): string {
  return `${counting(`${name}_side`, side, factor.side, batch)}\n${counting(`${name}_deep`, 'deep', factor.deep, batch)}`;
}

/** Chunks of a tile that a thread brings. */
const perThread = ({ chunks, threads }: Tile): number => chunks / threads;

/**
 * Statements before the first step: a thread brings pieces whose places along the side stay the same, and counts along the depth. What is beyond the last row or
 * column is what the first one is, since its sums are not stored.
 */
export function prepare(tile: Tile): string {
  const { name, factor, side, across, first, sides, depth, lanes, aligned, threads } = tile;
  const isDeep = factor.inner === 'deep';
  const [sideOf, deepOf] = [`${name}_side`, `${name}_deep`];
  const [line, chunk, lines] = [`t / ${across}u`, `t % ${across}u * ${lanes}u`, threads / across];
  const [ofSide, bySide, held] = isDeep ? [line, lines, perThread(tile)] : [chunk, 1, aligned ? 1 : lanes];
  const [ofDeep, byDeep] = isDeep ? [chunk, depth] : [line, lines];
  const counted = (of: string, number: string): string => `count_${of}(${number}, ofBatch, p)`;
  const period = periodOf(tile);
  const own = Array.from({ length: period }, (_, i) =>
    tile.at(`(${line} + ${i * lines}u)`, `t % ${across}u`),
  );
  return `const u32 ${name}_own[${period}] = {${own.join(', ')}};
    Place_${sideOf} ${sideOf}[${held}];
    { Count_${sideOf} of = ${counted(sideOf, `${first} + ${ofSide}`)}; const Count_${sideOf} by = ${counted(sideOf, `${bySide}u`)}, none = {};
      TC_UNROLLED for (u32 i = 0; i < ${held}u; i++) { ${sideOf}[i] = place_${sideOf}(of.${side} < ${sides} ? of : none, ofBatch, p); advance_${sideOf}(of, by, ofBatch, p); } }
    Count_${deepOf} ${deepOf} = ${counted(deepOf, `firstStep * ${depth}u + ${ofDeep}`)}; const Count_${deepOf} ${deepOf}_by = ${counted(deepOf, `${byDeep}u`)}${isDeep && !aligned ? `, ${deepOf}_one = ${counted(deepOf, '1u')}` : ''};`;
}

/** After so many chunks of a thread their places repeat, further on. */
const periodOf = ({ threads, across }: Tile): number => Math.max(1, (8 * across) / threads);

/** Runs statements for each chunk of a tile that a thread brings: `to` there. */
function forChunks(tile: Tile, body: string): string {
  const { chunks, across, threads, pitch, name } = tile;
  const period = periodOf(tile);
  const begins = Array.from(
    { length: period },
    (_, i) => `tile_${name} + (stage * ${chunks}u + ${name}_own[${i}])`,
  );
  return `{ tc_chunk* const begins[${period}] = {${begins.join(', ')}};
      TC_UNROLLED for (u32 j = 0; j < ${chunks / threads}u; j++) {
        tc_chunk* const to = begins[j % ${period}u] + j / ${period}u * ${(period * pitch * threads) / across}u;
        ${body}
      } }`;
}

/** Statements that bring the next tile of a factor to shared memory. */
export function fetch(tile: Tile): string {
  const { name, factor, lanes, aligned } = tile;
  const deep = `${name}_deep`;
  const isDeep = factor.inner === 'deep';
  /** The place of an element, and whether there is one. */
  const element = (i: string, ofDeep: string, isThere: string): readonly [at: string, inside: string] => {
    const side = `${name}_side[${i}]`;
    const checks = coordinatesOf(factor, (of, k) => `${of === 'side' ? side : ofDeep}.c${k}`);
    return [
      `${factor.buffer} + (${side}.at + ${ofDeep}.at)`,
      [isThere, ...checks.map(([sum, size]) => `${sum} < ${size}`)].join(' && '),
    ];
  };
  const advance = `advance_${deep}(${deep}, ${deep}_by, ofBatch, p);`;
  const here = `const Place_${deep} ofDeep = place_${deep}(${deep}, ofBatch, p); const bool isThere = ${deep}.deep < depth;`;
  if (aligned) {
    const copy = `tc_copy16(to, ${element(isDeep ? 'j' : '0', 'ofDeep', 'isThere').join(', ')});`;
    return isDeep
      ? `{ ${here}
      ${forChunks(tile, copy)}
      ${advance} }`
      : forChunks(tile, `${here} ${copy} ${advance}`);
  }
  const [at, inside] = isDeep ? element('j', 'ofDeep[e]', 'isThere[e]') : element('e', 'ofDeep', 'isThere');
  const gather = `__align__(16) Element part[${lanes}];
        TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++) { part[e] = Element(0); if (${inside}) part[e] = *(${at}); }
        tc_store16(to, part);`;
  return isDeep
    ? `{ Place_${deep} ofDeep[${lanes}]; bool isThere[${lanes}]; Count_${deep} each = ${deep};
      TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++) { ofDeep[e] = place_${deep}(each, ofBatch, p); isThere[e] = each.deep < depth; advance_${deep}(each, ${deep}_one, ofBatch, p); }
      ${forChunks(tile, gather)}
      ${advance} }`
    : forChunks(tile, `${here} ${gather} ${advance}`);
}

/** Statements that round what a thread has brought to TensorFloat-32, where cores would cut the lower bits off. */
export function round(tile: Tile): string {
  return forChunks(
    tile,
    `tc_chunk part = *to;
        part.x = tc_tf32(wg_bitcast<f32>(part.x)); part.y = tc_tf32(wg_bitcast<f32>(part.y));
        part.z = tc_tf32(wg_bitcast<f32>(part.z)); part.w = tc_tf32(wg_bitcast<f32>(part.w));
        tc_store16(to, &part);`,
  );
}

/**
 * Statements that store the sums of a warp's 16 rows from `top` on and so many pairs of columns, 8 from one to the next, from `left` on: a thread has those of
 * two rows. @param sum of a row and a column of a pair, as an expression.
 */
export function storeSums(
  { isPart, inPairs, dtype, biasAt, activation, row, stores = 'true', at }: CoreProduct,
  { top, left, pairs }: { readonly top: string; readonly left: string; readonly pairs: number },
  sum: (pair: string, half: string, e: string) => string,
): string {
  const type = isPart ? 'float32' : dtype;
  const hasBias = biasAt !== undefined && !isPart;
  const of = isPart
    ? ['p.fromParts + (size_t(blockIdx.z) * p.rows + row) * p.columns', 'true']
    : [`u32(${at})`, stores];
  const stored = isPart ? 'two[e]' : 'narrowed(two[e])';
  const single = `TC_UNROLLED for (u32 e = 0; e < 2u; e++) if (isRow[half] && column + e < p.columns) ends[half][j * 8u + e] = ${stored};`;
  const pair = `if (isRow[half] && column < p.columns) tc_pair_${type}(ends[half] + j * 8u, two[0], two[1]);`;
  return `{
    const u32 firstColumn = ${left} + lane % 4u * 2u;
    ${elementOf(type)}* ends[2]; bool isRow[2];
    TC_UNROLLED for (u32 half = 0; half < 2u; half++) {
      const u32 row = ${top} + half * 8u + lane / 4u;
      ${isPart ? '' : declared(divided('row', row))}
      isRow[half] = row < p.rows && (${of[1]}); ends[half] = y + (${of[0]}) + firstColumn;
    }
    TC_UNROLLED for (u32 j = 0; j < ${pairs}u; j++) {
      const u32 column = firstColumn + j * 8u;
      ${hasBias ? 'f32 added[2] = {}; TC_UNROLLED for (u32 e = 0; e < 2u; e++) if (column + e < p.columns) added[e] = biasOf(bias, column + e, ofBatch, p);' : ''}
      TC_UNROLLED for (u32 half = 0; half < 2u; half++) {
        f32 two[2];
        TC_UNROLLED for (u32 e = 0; e < 2u; e++) {
          two[e] = ${sum('j', 'half', 'e')};
          ${hasBias ? 'two[e] = widened(narrowed(two[e])) + added[e];' : ''}
          ${activation === 1 && !isPart ? 'if (two[e] < 0.0f) two[e] = 0.0f;' : ''}
        }
        ${inPairs ? pair : single}
      }
    }
  }`;
}

/** What both kinds of kernels declare before their function. */
export function declarations({ batch = [], biasAt, isPart }: CoreProduct, tiles: readonly Tile[]): string {
  const bias =
    biasAt === undefined || isPart
      ? ''
      : `\n${FUNCTION} f32 biasOf(const Element* bias, u32 column, ${GIVEN}) { ${taken('ofBatch', [['batch', 'u32', ''], ...batch])} return widened(bias[${biasAt}]); }`;
  return `struct Batch { u32 batch; ${batch.map(([field, type]) => `${type} ${field};`).join(' ')} };
${tiles.map((tile) => places(tile, [['batch', 'u32', ''], ...batch])).join('\n')}${bias}`;
}

/** Statements that tell which batch a block makes, and which steps of the depth. */
export function partOf({ batch = [], depth = 'p.depth' }: CoreProduct, step: number): string {
  return `const u32 batch = blockIdx.z / p.parts, part = blockIdx.z % p.parts;
  ${declared(batch)} const Batch ofBatch = {${['batch', ...batch.map(([field]) => field)].join(', ')}};
  const u32 depth = ${depth}, all = (depth + ${step - 1}u) / ${step}u, firstStep = wg_min(part * p.steps, all);
  const u32 steps = wg_min(p.steps, all - firstStep);`;
}

/** The kernel of a product. @param text of a function of that name, given its parameters and its pointers */
export function kernelOf(
  product: CoreProduct,
  text: (name: string, product: CoreProduct, signature: ReturnType<typeof signatureOf>) => string,
): CoreKernel {
  const signature = signatureOf(product);
  return {
    print: (name) => text(name, product, signature),
    pointers: signature.pointers,
    params: Object.values(signature.fields),
    isTensorFloat32: product.dtype === 'float32',
  };
}
