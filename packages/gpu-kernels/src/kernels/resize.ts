import {
  alwaysFits,
  type Call,
  FAULT,
  type GpuKernels,
  type Lowered,
  launch,
  lowered,
  perThread,
  raise,
} from './kernel.ts';
import { floats, ofFloats } from './scalar-program.ts';

/** Each element mixes the four around it, first of rows, then of columns. */
function resizeBilinear({ inputs: [x], outputs: [y] }: Call): Lowered | undefined {
  if (x.size === 0) return undefined;
  const [, h, w, c] = x.shape;
  const [, height, width] = y.shape;
  /** The two places around the new one along an axis, and how much the second one counts. */
  const around = (axis: string, count: string): string =>
    `let at${axis} = (f32(i${axis}) + 0.5) * p.scale${axis} - 0.5; let first${axis} = floor(at${axis}); let share${axis} = at${axis} - first${axis};
    let low${axis} = u32(max(i32(first${axis}), 0)); let high${axis} = u32(max(min(i32(ceil(at${axis})), i32(${count}) - 1), 0));`;
  const program = perThread(
    ofFloats(x.dtype, { x: 'f32', y: 'mut f32' }),
    { h: 'u32', w: 'u32', c: 'u32', height: 'u32', width: 'u32', scaleY: 'f32', scaleX: 'f32' },
    `let k = thread % p.c; let iX = (thread / p.c) % p.width; let iY = (thread / (p.c * p.width)) % p.height; let image = thread / (p.c * p.width * p.height);
    ${around('Y', 'p.h')} ${around('X', 'p.w')}
    let above = (image * p.h + min(lowY, p.h - 1u)) * p.w; let below = (image * p.h + highY) * p.w;
    let left = min(lowX, p.w - 1u);
    let a = x[(above + left) * p.c + k]; let b = x[(below + left) * p.c + k];
    let d = x[(above + highX) * p.c + k]; let e = x[(below + highX) * p.c + k];
    let first = a + (b - a) * shareY; let second = d + (e - d) * shareY;
    y[thread] = first + (second - first) * shareX;`,
  );
  const params = [h, w, c, height, width, Math.fround(h / height), Math.fround(w / width)];
  return lowered(launch(program, [0, 1], params, y.size));
}

/** Sums of the elements along the middle axis, each of a span of it; transposed, each element goes to all the sums of whose spans it is. */
function resizeAxis({ inputs: [x, , weights], outputs: [y], attrs }: Call): Lowered | undefined {
  const [, size, c] = x.shape;
  const [, made] = y.shape;
  const [spans, most] = weights.shape;
  const transposed = Boolean(attrs.transposed);
  const span = (i: string): string => `let start = spans[2u * ${i}]; let end = spans[2u * ${i} + 1u];
    if (start < 0 || end < start || end > i32(p.length) || end - start > i32(p.most)) { ${raise(1)} } else {`;
  const body = transposed
    ? `for (var i = 0u; i < p.spans; i++) { ${span('i')}
        if (start <= i32(at) && i32(at) < end) { sum = sum + weights[i * p.most + at - u32(start)] * x[(image * p.size + i) * p.c + k]; } } }`
    : `${span('at')} for (var j = start; j < end; j++) { sum = sum + weights[at * p.most + u32(j - start)] * x[(image * p.size + u32(j)) * p.c + k]; } }`;
  const program = perThread(
    {
      ...ofFloats(x.dtype, { x: 'f32' }),
      spans: 'i32',
      ...ofFloats(weights.dtype, { weights: 'f32' }),
      ...ofFloats(y.dtype, { y: 'mut f32' }),
      fault: 'mut atomic<u32>',
    },
    { size: 'u32', made: 'u32', c: 'u32', spans: 'u32', most: 'u32', length: 'u32' },
    `let k = thread % p.c; let at = thread / p.c % p.made; let image = thread / p.c / p.made; var sum = 0.0;
    ${body}
    y[thread] = sum;`,
  );
  const params = [size, made, c, spans, most, transposed ? made : size];
  return lowered(launch(program, [0, 1, 2, 3, FAULT], params, y.size));
}

export const kernels: GpuKernels = {
  ResizeAxis: { dtypes: floats, lower: alwaysFits(resizeAxis) },
  ResizeBilinear: { dtypes: floats, lower: alwaysFits(resizeBilinear) },
};
