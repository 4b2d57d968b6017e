// The gradient of max pooling whose windows are known: each pixel of the image looks at those in which it lies, so that it is written once, and in 16 bits.
import { list } from '@eagre/backend';
import { columnLanes, columnStore, columnType, columnValue } from '../kernels/columns.ts';
import {
  type Call,
  fits,
  type GpuProgram,
  groups,
  head,
  type Lowered,
  lowered,
  programOf,
  type TensorInfo,
} from '../kernels/kernel.ts';
import { rounded } from '../kernels/scalar-program.ts';

const GROUP = 256;
/** Words of a thread, if a row of pixels has so many. */
const EACH = 8;

/**
 * dy, argmax → dx: MaxPoolGrad of what `MaxPool` with these attributes gave. It adds in float32, in the order of the windows, and rounds the sum. A third input
 * is added to dy, rounded.
 * @returns undefined where it is too large, or empty.
 */
export function windowedMaxPoolGrad(
  [dy, argmax, more]: readonly TensorInfo[],
  dx: TensorInfo,
  attrs: Call['attrs'],
): Lowered | undefined {
  if (!fits(dy, argmax, dx) || dy.size === 0 || dx.size === 0) return undefined;
  const [n, h, w, c] = dx.shape;
  const [, oh, ow] = dy.shape;
  const lanes = columnLanes(dx.dtype, c);
  const words = (w * c) / lanes;
  const pieces = Math.ceil(words / (GROUP * EACH));
  const piece = Math.ceil(words / pieces);
  const [padTop, , padLeft] = list(attrs.padding);
  const program = programFor(dx, lanes, more !== undefined, list(attrs.window), list(attrs.strides));
  const blocks = n * h * pieces;
  return lowered({
    program,
    operands: more === undefined ? [0, 1, 2] : [0, 1, 2, 3],
    params: [blocks, pieces, piece, words, h, c / lanes, oh, ow, padTop, padLeft],
    workgroups: groups(blocks),
  });
}

/** Windows and strides are numbers of the text, by which compilers divide without a division. */
function programFor(
  { dtype }: TensorInfo,
  lanes: 1 | 2,
  isSum: boolean,
  [kh, kw]: readonly number[],
  [strideY, strideX]: readonly number[],
): GpuProgram {
  const stored = columnType(dtype, lanes);
  const all = Array.from({ length: lanes }, (_, lane) => lane);
  /** Which windows a pixel lies in: the first, and the one behind the last. */
  const windows = (axis: 'Y' | 'X', size: number, stride: number, count: string): string =>
    `let first${axis} = u32(max(in${axis} + ${stride - size}, 0)) / ${stride}u; let end${axis} = min(u32(in${axis}) / ${stride}u + 1u, ${count});`;
  const slope = (lane: number): string => {
    const own = columnValue('slope', lane, dtype, lanes);
    return isSum ? rounded(`${own} + ${columnValue('other', lane, dtype, lanes)}`, dtype) : own;
  };
  const place = (lane: number): string => (lanes === 1 ? 'places' : lane === 0 ? 'places.x' : 'places.y');
  return programOf(`${head(
    {
      dy: stored,
      argmax: lanes === 2 ? 'vec2u' : 'u32',
      ...(isSum && { more: stored }),
      dx: `mut ${stored}`,
    },
    {
      blocks: 'u32',
      pieces: 'u32',
      piece: 'u32',
      words: 'u32',
      h: 'u32',
      c: 'u32',
      oh: 'u32',
      ow: 'u32',
      padTop: 'u32',
      padLeft: 'u32',
    },
  )}
@compute @workgroup_size(${GROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) t: u32) {
  let block = group.y * all.x + group.x;
  if (block < p.blocks) {
    let row = block / p.pieces; let first = block % p.pieces * p.piece; let last = min(first + p.piece, p.words);
    let image = row / p.h; let y = row % p.h; let inY = i32(y + p.padTop);
    ${windows('Y', kh, strideY, 'p.oh')}
    for (var i = first + t; i < last; i += ${GROUP}u) {
      let x = i / p.c; let channel = i % p.c; let inX = i32(x + p.padLeft);
      ${windows('X', kw, strideX, 'p.ow')}
      ${all.map((lane) => `let own${lane} = (y * p.words + i) * ${lanes}u + ${lane}u; var sum${lane} = 0.0;`).join(' ')}
      for (var oy = firstY; oy < endY; oy++) {
        for (var ox = firstX; ox < endX; ox++) {
          let at = ((image * p.oh + oy) * p.ow + ox) * p.c + channel;
          let places = argmax[at]; let slope = dy[at]; ${isSum ? 'let other = more[at];' : ''}
          ${all.map((lane) => `if (${place(lane)} == own${lane}) { sum${lane} = sum${lane} + ${slope(lane)}; }`).join(' ')}
        }
      }
      dx[row * p.words + i] = ${columnStore(
        all.map((lane) => `sum${lane}`),
        dtype,
      )};
    }
  }
}`);
}
