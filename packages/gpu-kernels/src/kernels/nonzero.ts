// Where elements are not 0: threads count those of a piece each, one workgroup adds the counts up, and threads write the places.
import { type DType, numericDTypes } from '@eagre/backend';
import { fields, rawLoad, rawType, takeApart } from './elements.ts';
import {
  alwaysFits,
  bytesOf,
  type Call,
  type GpuKernels,
  head,
  type Lowered,
  launch,
  perThread,
  programOf,
} from './kernel.ts';
import { isFloat } from './scalar-program.ts';

/** Elements of a piece, and threads that add up. */
const PIECE = 64;
const ADDERS = 256;

/** Whether element `at` is not 0, as an expression. The sign of a float does not count. */
function isSet(dtype: DType): string {
  const bytes = bytesOf(dtype);
  const float = isFloat(dtype) || dtype === 'float64';
  const mask = float ? (bytes === 2 ? '0x7fffu' : '0x7fffffffu') : '0xffffffffu';
  if (bytes === 8) return `(x[at].x | (x[at].y & ${mask})) != 0u`;
  return `(${rawLoad('x', 'at', bytes)} & ${mask}) != 0u`;
}

/** Counts become the sums of those before them. */
const ADD = `${head({ counts: 'mut u32' }, { pieces: 'u32', each: 'u32' })}
var<workgroup> part: array<u32, ${ADDERS}>;
@compute @workgroup_size(${ADDERS})
fn main(@builtin(local_invocation_index) t: u32) {
  let first = t * p.each; let last = min(first + p.each, p.pieces);
  var sum = 0u;
  for (var i = first; i < last; i++) { sum = sum + counts[i]; }
  part[t] = sum;
  workgroupBarrier();
  var before = 0u;
  for (var i = 0u; i < t; i++) { before = before + part[i]; }
  for (var i = first; i < last; i++) { let own = counts[i]; counts[i] = before; before = before + own; }
}`;

function nonzero({ inputs: [x], outputs: [y] }: Call): Lowered {
  const rank = x.shape.length;
  const pieces = Math.ceil(x.size / PIECE);
  const type = rawType(bytesOf(x.dtype));
  const loop = (body: string): string => `let last = min(thread * ${PIECE}u + ${PIECE}u, p.size);
    for (var at = thread * ${PIECE}u; at < last; at++) { if (${isSet(x.dtype)}) { ${body} } }`;
  const count = perThread(
    { x: type, counts: 'mut u32' },
    { size: 'u32' },
    `var count = 0u; ${loop('count = count + 1u;')} counts[thread] = count;`,
  );
  const places = Array.from({ length: rank }, (_, axis) => `y[to + ${axis}u] = vec2u(i${axis}, 0u);`);
  const write = perThread(
    { x: type, starts: 'u32', y: 'mut vec2u' },
    { ...fields('d', rank, 'u32'), found: 'u32', size: 'u32' },
    `var number = starts[thread];
    ${loop(`if (number < p.found) { ${takeApart('at', rank)} let to = number * ${rank}u; ${places.join(' ')} } number = number + 1u;`)}`,
  );
  return {
    dispatches: [
      launch(count, [0, 2], [x.size], pieces),
      {
        program: programOf(ADD),
        operands: [2],
        params: [pieces, Math.ceil(pieces / ADDERS)],
        workgroups: [1, 1, 1],
      },
      launch(write, [0, 2, 1], [...x.shape, y.shape[0], x.size], pieces),
    ],
    scratch: [4 * pieces],
  };
}

export const kernels: GpuKernels = { Nonzero: { dtypes: numericDTypes, lower: alwaysFits(nonzero) } };
