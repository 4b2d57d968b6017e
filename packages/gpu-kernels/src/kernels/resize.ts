import {
  alwaysFits,
  type Call,
  type GpuKernels,
  type Lowered,
  launch,
  lowered,
  perThread,
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

export const kernels: GpuKernels = {
  ResizeBilinear: { dtypes: floats, lower: alwaysFits(resizeBilinear) },
};
