// The factors of products on tensor cores: how their tiles come to shared memory, and how the sums are stored.
import type { DType } from '@eagre/backend';
import type { CudaProgram } from '../kernels/kernel.ts';
import type { Factor, Product, ProductSizes, Value } from '../kernels/product-factors.ts';
import { type CoreDType, type CoreKernel, elementOf, lanesOf } from './tensor-cores.ts';

/** A product that tensor cores make. */
export interface CoreProduct extends Required<Pick<Product, 'params'>>, Omit<Product, 'dtype' | 'params'> {
  readonly dtype: CoreDType;
  /** Whether it makes the sums of a part of the depth, in float32, without bias and activation. */
  readonly isPart: boolean;
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
  /**
   * A product with sums in float32. Its parameters are rows, columns, depth, the steps of a part of the depth, the number of parts, and those of the
   * product; its workgroups the tiles, and the batches with their parts in the third dimension. A part makes a matrix of its own.
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
    fields: { rows: 'u32', columns: 'u32', depth: 'u32', steps: 'u32', parts: 'u32', ...params },
    pointers: [...read.map((name) => `const ${element}* ${name}`), `${isPart ? 'f32' : element}* y`],
  };
}

function isAligned({ run }: Factor, dtype: DType): boolean {
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
  /** The place of a chunk among those of the tile. */
  readonly at: (line: string, chunk: string) => string;
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
}

export function tilesOf(
  { dtype, left, right, width }: CoreProduct,
  { threads, depth, at }: TileLayout,
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
    };
  };
  return [
    { ...of(left, ROWS), name: 'a', side: 'row', first: 'top', sides: 'p.rows' },
    { ...of(right, width), name: 'b', side: 'column', first: 'left', sides: 'p.columns' },
  ];
}

export const declared = (values: readonly Value[]): string =>
  values.map(([name, type, expression]) => `const ${type} ${name} = ${expression};`).join(' ');
const struct = (name: string, values: readonly Value[]): string =>
  `struct ${name} { ${values.map(([field, type]) => `${type} ${field};`).join(' ')} };`;
const taken = (from: string, values: readonly Value[]): string =>
  values.map(([name, type]) => `const ${type} ${name} = ${from}.${name};`).join(' ');

/** Functions that tell where the elements of a factor lie: values of its side and of the depth are computed apart, as one of them stays the same in all steps. */
function places({ name, factor, side }: Tile, batch: readonly Value[]): string {
  const { side: ofSide = [], deep: ofDeep = [], inside = 'true', at } = factor;
  const made = (values: readonly Value[]): string =>
    `${declared(values)} return {${values.map(([field]) => field).join(', ')}};`;
  return `${struct(`Side_${name}`, ofSide)}
${struct(`Deep_${name}`, ofDeep)}
__device__ __forceinline__ Side_${name} side_${name}(u32 ${side}, const Params& p) { ${made(ofSide)} }
__device__ __forceinline__ Deep_${name} deep_${name}(u32 deep, const Params& p) { ${made(ofDeep)} }
__device__ __forceinline__ bool place_${name}(u32& at, u32 batch, const Batch& ofBatch, u32 ${side}, const Side_${name}& ofSide, u32 deep, const Deep_${name}& ofDeep, const Params& p) {
  ${taken('ofBatch', batch)} ${taken('ofSide', ofSide)} ${taken('ofDeep', ofDeep)}
  const bool inside = ${side} < ${side === 'row' ? 'p.rows' : 'p.columns'} && deep < p.depth && (${inside});
  at = inside ? u32(${at}) : 0u;
  return inside;
}`;
}

/** Chunks of a tile that a thread brings. */
const perThread = ({ chunks, threads }: Tile): number => chunks / threads;

/** Statements before the first step. The values of the side are the same in all of them. */
export function prepare(tile: Tile): string {
  const { name, factor, side, across, first, lanes, aligned, threads } = tile;
  if (!aligned) return '';
  if (factor.inner === 'side')
    return `const u32 ${side} = ${first} + t % ${across}u * ${lanes}u; const Side_${name} ofSide_${name} = side_${name}(${side}, p);`;
  return `Side_${name} ofSide_${name}[${perThread(tile)}];
  TC_UNROLLED for (u32 j = 0; j < ${perThread(tile)}u; j++) ofSide_${name}[j] = side_${name}(${first} + t / ${across}u + j * ${threads / across}u, p);`;
}

/** Runs statements for each chunk of a tile that a thread brings: at `line` and `chunk`, to `to`. */
function forChunks(tile: Tile, before: string, body: string): string {
  const { name, chunks, across, threads, at } = tile;
  return `{ const u32 chunk = t % ${across}u${before}
      TC_UNROLLED for (u32 j = 0; j < ${perThread(tile)}u; j++) {
        const u32 line = t / ${across}u + j * ${threads / across}u; tc_chunk* to = &tile_${name}[stage * ${chunks}u + ${at('line', 'chunk')}];
        ${body}
      } }`;
}

/** Statements that bring the tile of a factor that begins at `begin` to shared memory. */
export function fetch(tile: Tile): string {
  const { name, factor, side, first, lanes, aligned } = tile;
  const isDeep = factor.inner === 'deep';
  const place = (ofSide: string, ofDeep: string): string =>
    `place_${name}(at, batch, ofBatch, ${side}, ${ofSide}, k, ${ofDeep}, p)`;
  if (!aligned)
    return forChunks(
      tile,
      ';',
      `__align__(16) Element part[${lanes}];
        TC_UNROLLED for (u32 e = 0; e < ${lanes}u; e++) {
          const u32 ${side} = ${first} + ${isDeep ? 'line' : `chunk * ${lanes}u + e`}, k = begin + ${isDeep ? `chunk * ${lanes}u + e` : 'line'};
          u32 at; part[e] = Element(0);
          if (${place(`side_${name}(${side}, p)`, `deep_${name}(k, p)`)}) part[e] = ${factor.buffer}[at];
        }
        tc_store16(to, part);`,
    );
  if (isDeep)
    return forChunks(
      tile,
      `, k = begin + chunk * ${lanes}u; const Deep_${name} ofDeep = deep_${name}(k, p);`,
      `const u32 ${side} = ${first} + line; u32 at;
        const bool inside = ${place(`ofSide_${name}[j]`, 'ofDeep')};
        tc_copy16(to, ${factor.buffer} + at, inside);`,
    );
  return forChunks(
    tile,
    ';',
    `const u32 k = begin + line; u32 at;
        const bool inside = ${place(`ofSide_${name}`, `deep_${name}(k, p)`)};
        tc_copy16(to, ${factor.buffer} + at, inside);`,
  );
}

/** Statements that round what a thread has brought to TensorFloat-32, where cores would cut the lower bits off. */
export function round(tile: Tile): string {
  return forChunks(
    tile,
    ';',
    `tc_chunk part = *to;
        part.x = tc_tf32(wg_bitcast<f32>(part.x)); part.y = tc_tf32(wg_bitcast<f32>(part.y));
        part.z = tc_tf32(wg_bitcast<f32>(part.z)); part.w = tc_tf32(wg_bitcast<f32>(part.w));
        tc_store16(to, &part);`,
  );
}

/** Statements that store `sum`, the element at `row` and `column`. */
export function storeSum({ isPart, biasAt, activation, at }: CoreProduct): string {
  if (isPart) return 'y[(size_t(blockIdx.z) * p.rows + row) * p.columns + column] = sum;';
  return `${biasAt === undefined ? '' : `sum = widened(narrowed(sum)) + widened(bias[${biasAt}]);`}
          ${activation === 1 ? 'if (sum < 0.0f) sum = 0.0f;' : ''}
          y[${at}] = narrowed(sum);`;
}

/** What both kinds of kernels declare before their function. */
export function declarations({ batch = [] }: CoreProduct, tiles: readonly Tile[]): string {
  return `${struct('Batch', batch)}\n${tiles.map((tile) => places(tile, batch)).join('\n')}`;
}

/** Statements that tell which batch a block makes, and which steps of the depth. */
export function partOf({ batch = [] }: CoreProduct, depth: number): string {
  return `const u32 batch = blockIdx.z / p.parts, part = blockIdx.z % p.parts;
  ${declared(batch)} const Batch ofBatch = {${batch.map(([field]) => field).join(', ')}};
  const u32 all = (p.depth + ${depth - 1}u) / ${depth}u, firstStep = part * p.steps;
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
