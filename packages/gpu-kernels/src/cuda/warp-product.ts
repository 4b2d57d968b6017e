// Matrix products by warps, with mma.sync: from compute capability 8.0 on.
import type { DType } from '@eagre/backend';
import {
  type CoreProduct,
  declarations,
  fetch,
  kernelOf,
  keyOf,
  type ProductCores,
  partOf,
  prepare,
  ROWS,
  type signatureOf,
  storeSums,
  type Tile,
  tilesOf,
  type Width,
} from './factor-tiles.ts';
import { coreProgram, kernelText } from './tensor-cores.ts';

const THREADS = 256;
/** Tiles that are in shared memory at once: one is used while two are on their way. */
const STAGES = 3;

/** Bytes of a tile of one factor: 64 deep, counted in bytes, so that three of both fill the 48 KB that a kernel may declare. */
const DEEP_BYTES = 64;

const depthOf = (dtype: DType): number => DEEP_BYTES / (dtype === 'float32' ? 4 : 2);

/** Products by warps. */
export const warpCores: ProductCores = {
  depth: depthOf,
  width: ([, , columns]) => (columns <= 64 ? 64 : 128),
  many: () => 128,
  program: (product) => coreProgram(keyOf(product), THREADS, () => kernelOf(product, text)),
};

/** By how much the chunks of a line are turned around, so that those of a column of 8 lie in different banks. */
function swizzle(line: string, across: number): string {
  if (across >= 8) return `(${line} & 7u)`;
  return `((${line} >> 1) & 3u)`;
}

const placeOf =
  (across: number): Tile['at'] =>
  (line, chunk) =>
    `${line} * ${across}u + ((${chunk}) ^ ${swizzle(line, across)})`;

/** The place of an element in the shared memory of a factor, as an expression; `k` and `side` are inside of the tile. */
function shared({ name, factor, lanes, chunks, at }: Tile, side: string, k: string): string {
  const [line, inner] = factor.inner === 'deep' ? [side, k] : [k, side];
  return `((const Element*)&tile_${name}[stage * ${chunks}u + ${at(`(${line})`, `(${inner}) / ${lanes}u`)}])[(${inner}) % ${lanes}u]`;
}

/** Rows of 16 that a warp makes; it makes 32 columns. */
function rowsOfWarp(width: Width): number {
  return width === 128 ? 4 : 2;
}

/** Statements that load the factors of a step of the depth from shared memory, and multiply. */
function multiply([a, b]: readonly [Tile, Tile], rows: number): string {
  const mma = `tc_mma_${a.dtype}`;
  if (a.dtype === 'float32') {
    const bits = (of: Tile, side: string, k: string): string => `tc_tf32(${shared(of, side, k)})`;
    return `TC_UNROLLED for (u32 k = 0; k < 16u; k += 8u) {
      u32 fa[${rows}][4], fb[4][2];
      TC_UNROLLED for (u32 i = 0; i < ${rows}; i++) {
        const u32 r = warpRow + i * 16u + lane / 4u;
        fa[i][0] = ${bits(a, 'r', 'k + lane % 4u')}; fa[i][1] = ${bits(a, 'r + 8u', 'k + lane % 4u')};
        fa[i][2] = ${bits(a, 'r', 'k + lane % 4u + 4u')}; fa[i][3] = ${bits(a, 'r + 8u', 'k + lane % 4u + 4u')};
      }
      TC_UNROLLED for (u32 j = 0; j < 4; j++) {
        const u32 c = warpColumn + j * 8u + lane / 4u;
        fb[j][0] = ${bits(b, 'c', 'k + lane % 4u')}; fb[j][1] = ${bits(b, 'c', 'k + lane % 4u + 4u')};
      }
      TC_UNROLLED for (u32 i = 0; i < ${rows}; i++) TC_UNROLLED for (u32 j = 0; j < 4; j++) ${mma}(sums[i][j], fa[i], fb[j][0], fb[j][1]);
    }`;
  }
  const [transposedA, transposedB] = [a, b].map(({ factor }) => factor.inner === 'side');
  const loadA = transposedA ? 'tc_load4_transposed' : 'tc_load4';
  const loadB = transposedB ? 'tc_load4_transposed' : 'tc_load4';
  // The matrices of A are: rows, then rows + 8, then those of the depth + 8; of B the depth, then the depth + 8, then columns + 8.
  const atA = transposedA
    ? shared(a, 'warpRow + i * 16u + (lane / 8u % 2u) * 8u', 'k + lane / 16u * 8u + lane % 8u')
    : shared(a, 'warpRow + i * 16u + (lane / 8u % 2u) * 8u + lane % 8u', 'k + lane / 16u * 8u');
  const atB = transposedB
    ? shared(b, 'warpColumn + j * 16u + lane / 16u * 8u', 'k + (lane / 8u % 2u) * 8u + lane % 8u')
    : shared(b, 'warpColumn + j * 16u + lane / 16u * 8u + lane % 8u', 'k + (lane / 8u % 2u) * 8u');
  return `TC_UNROLLED for (u32 k = 0; k < 32u; k += 16u) {
      u32 fa[${rows}][4], fb[2][4];
      TC_UNROLLED for (u32 i = 0; i < ${rows}; i++) ${loadA}(fa[i], &${atA});
      TC_UNROLLED for (u32 j = 0; j < 2; j++) ${loadB}(fb[j], &${atB});
      TC_UNROLLED for (u32 i = 0; i < ${rows}; i++) TC_UNROLLED for (u32 j = 0; j < 4; j++) ${mma}(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }`;
}

function text(
  name: string,
  product: CoreProduct,
  { fields, pointers }: ReturnType<typeof signatureOf>,
): string {
  const { dtype, width } = product;
  const depth = depthOf(dtype);
  const tiles = tilesOf(product, { threads: THREADS, depth, at: placeOf, pitch: (across) => across });
  const rows = rowsOfWarp(width);
  const warpsAcross = width / 32;
  return kernelText(
    name,
    dtype,
    fields,
    declarations(product, tiles),
    `__launch_bounds__(${THREADS}, 2) ${name}(${pointers.join(', ')}, const Params p)`,
    `  __shared__ tc_chunk tile_a[${STAGES * tiles[0].chunks}];
  __shared__ tc_chunk tile_b[${STAGES * tiles[1].chunks}];
  const u32 t = threadIdx.x, lane = t % 32u, warp = t / 32u;
  const u32 tilesAcross = (p.columns + ${width - 1}u) / ${width}u;
  const u32 top = blockIdx.x / tilesAcross * ${ROWS}u, left = blockIdx.x % tilesAcross * ${width}u;
  const u32 warpRow = warp / ${warpsAcross}u * ${rows * 16}u, warpColumn = warp % ${warpsAcross}u * 32u;
  ${partOf(product, depth)}
  ${tiles.map(prepare).join('\n  ')}
  f32 sums[${rows}][4][4] = {};
  for (u32 step = 0; step < steps + ${STAGES - 1}u; step++) {
    if (step < steps) {
      const u32 stage = step % ${STAGES}u;
      ${tiles.map(fetch).join('\n      ')}
    }
    tc_commit();
    if (step < ${STAGES - 1}u) continue;
    tc_wait<${STAGES - 1}>();
    __syncthreads();
    {
      const u32 stage = (step - ${STAGES - 1}u) % ${STAGES}u;
      ${multiply(tiles, rows)}
    }
    __syncthreads();
  }
  TC_UNROLLED for (u32 i = 0; i < ${rows}; i++)
    ${storeSums(product, { top: 'top + warpRow + i * 16u', left: 'left + warpColumn', pairs: 4 }, (j, half, e) => `sums[i][${j}][${half} * 2u + ${e}]`)}`,
  );
}
