import { list } from '@eagre/backend';
import {
  alwaysFits,
  type Call,
  FAULT,
  fits,
  type GpuKernels,
  type GpuProgram,
  groups,
  head,
  type Lowered,
  launch,
  lowered,
  nothing,
  perThread,
  programOf,
  raise,
  type TensorInfo,
} from './kernel.ts';
import { fill } from './moves.ts';
import { floats, ofFloats } from './scalar-program.ts';

const sizes = {
  h: 'u32',
  w: 'u32',
  c: 'u32',
  oh: 'u32',
  ow: 'u32',
  kh: 'i32',
  kw: 'i32',
  strideY: 'i32',
  strideX: 'i32',
  padTop: 'i32',
  padLeft: 'i32',
} as const;

function values(x: TensorInfo, y: TensorInfo, attrs: Call['attrs']): number[] {
  const [, h, w, c] = x.shape;
  const [, oh, ow] = y.shape;
  const [top, , left] = list(attrs.padding);
  return [h, w, c, oh, ow, ...list(attrs.window), ...list(attrs.strides), top, left];
}

/** Statements about the window of the output element `thread`: its channel `k`, image, and the rows and columns inside of the image. */
const window = `let k = thread % p.c; let ox = (thread / p.c) % p.ow; let oy = (thread / (p.c * p.ow)) % p.oh; let image = thread / (p.c * p.ow * p.oh);
  let startY = i32(oy) * p.strideY - p.padTop; let startX = i32(ox) * p.strideX - p.padLeft;
  let y0 = max(startY, 0); let y1 = min(startY + p.kh, i32(p.h)); let x0 = max(startX, 0); let x1 = min(startX + p.kw, i32(p.w));`;
const inWindow = (body: string): string =>
  `for (var iy = y0; iy < y1; iy++) { for (var ix = x0; ix < x1; ix++) { let at = (u32(iy) * p.w + u32(ix)) * p.c + k; let from = image * p.h * p.w * p.c + at; ${body} } }`;

function maxPool({ inputs: [x], outputs: [y], attrs }: Call): Lowered {
  const program = perThread(
    ofFloats(x.dtype, { x: 'f32', y: 'mut f32', argmax: 'mut i32' }),
    sizes,
    `${window} var best = fNeg(fInf()); var place = -1;
    ${inWindow('let now = x[from]; if (place < 0 || (!isNaN(best) && (isNaN(now) || now > best))) { best = now; place = i32(at); }')}
    y[thread] = best; argmax[thread] = place;`,
  );
  return lowered(launch(program, [0, 1, 2], values(x, y, attrs), y.size));
}

const GROUP = 256;

/** Which pixels of the image the argmax of each row of pooled pixels points to, the first and the last; checks them all. */
function rangeProgram(): GpuProgram {
  return programOf(`${head(
    { argmax: 'i32', ranges: 'mut u32', fault: 'mut atomic<u32>' },
    { rows: 'u32', n: 'u32', c: 'u32', image: 'u32' },
  )}
var<workgroup> least: array<u32, ${GROUP}>;
var<workgroup> most: array<u32, ${GROUP}>;
@compute @workgroup_size(${GROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) t: u32) {
  let row = group.y * all.x + group.x;
  if (row < p.rows) {
    var low = 0xffffffffu; var high = 0u;
    for (var i = t; i < p.n; i += ${GROUP}u) {
      let place = argmax[row * p.n + i];
      if (place < -1 || place >= i32(p.image)) { ${raise(1)} }
      else if (place >= 0) {
        if (u32(place) % p.c != i % p.c) { ${raise(5)} } else { low = min(low, u32(place)); high = max(high, u32(place)); }
      }
    }
    least[t] = low; most[t] = high; workgroupBarrier();
    for (var half = ${GROUP / 2}u; half > 0u; half = half / 2u) {
      if (t < half) { least[t] = min(least[t], least[t + half]); most[t] = max(most[t], most[t + half]); }
      workgroupBarrier();
    }
    if (t == 0u) { ranges[2u * row] = least[0]; ranges[2u * row + 1u] = most[0]; }
  }
}`);
}

/**
 * A thread for each channel of a strip of an image's rows adds what went to it, pixel by pixel. It looks at those rows of pooled pixels only that point
 * to the strip.
 */
function maxPoolGrad({ inputs: [dy, argmax], outputs: [dx] }: Call): Lowered | undefined {
  if (!fits(dy, dx) || dx.shape.length !== 4 || argmax.dtype !== 'int32') return undefined;
  if (dx.size === 0) return nothing;
  const [n, h, w, c] = dx.shape;
  if (dy.shape.length !== 4 || dy.shape[0] !== n || dy.shape[3] !== c) return undefined;
  if (dy.size === 0) return lowered(fill(2, dx, 0));
  const [, oh, ow] = dy.shape;
  const strip = Math.ceil(h / oh);
  const strips = Math.ceil(h / strip);
  const many = [0, 1, 2, 3];
  const load = (k: number): string =>
    `let at${k} = at${k === 0 ? '' : ` + ${k}u * p.c`}; let place${k} = argmax[at${k}]; let dy${k} = dy[at${k}];`;
  const use = (k: number): string =>
    `if (place${k} >= i32(first) && place${k} < i32(last)) { let to${k} = u32(place${k});
      if (to${k} % p.c == k) { y[base + to${k}] = y[base + to${k}] + dy${k}; } }`;
  const program = perThread(
    { dy: 'f32', argmax: 'i32', ranges: 'u32', y: 'mut f32' },
    { c: 'u32', strips: 'u32', strip: 'u32', image: 'u32', rows: 'u32', row: 'u32' },
    `let k = thread % p.c; let number = thread / p.c; let image = number / p.strips; let base = image * p.image;
    let first = (number % p.strips) * p.strip; let last = min(first + p.strip, p.image);
    for (var to = first + k; to < last; to += p.c) { y[base + to] = 0.0; }
    for (var r = 0u; r < p.rows; r++) {
      let row = image * p.rows + r;
      if (ranges[2u * row] < last && ranges[2u * row + 1u] >= first) {
        let end = (row + 1u) * p.row;
        for (var at = row * p.row + k; at < end; ) {
          if (at + 3u * p.c < end) { ${many.map(load).join(' ')} ${many.map(use).join(' ')} at += 4u * p.c; }
          else { ${load(0)} ${use(0)} at += p.c; }
        }
      }
    }`,
  );
  const ranges = 3;
  return {
    dispatches: [
      {
        program: rangeProgram(),
        operands: [1, ranges, FAULT],
        params: [n * oh, ow * c, c, h * w * c],
        workgroups: groups(n * oh),
      },
      launch(program, [0, 1, ranges, 2], [c, strips, strip * w * c, h * w * c, oh, ow * c], n * strips * c),
    ],
    scratch: [8 * n * oh],
  };
}

function maxPoolGather({ inputs: [x, argmax], outputs: [y] }: Call): Lowered | undefined {
  if (argmax.dtype !== 'int32') return undefined;
  const images = x.shape[0];
  const program = perThread(
    ofFloats(x.dtype, { x: 'f32', argmax: 'i32', y: 'mut f32', fault: 'mut atomic<u32>' }),
    { pooled: 'u32', image: 'u32' },
    `let place = argmax[thread]; var v = 0.0;
    if (place < -1 || place >= i32(p.image)) { ${raise(1)} } else if (place >= 0) { v = x[(thread / p.pooled) * p.image + u32(place)]; }
    y[thread] = v;`,
  );
  return lowered(launch(program, [0, 1, 2, FAULT], [y.size / images, x.size / images], y.size));
}

function avgPool({ inputs: [x], outputs: [y], attrs }: Call): Lowered {
  const program = perThread(
    ofFloats(x.dtype, { x: 'f32', y: 'mut f32' }),
    sizes,
    `${window} var sum = 0.0; ${inWindow('sum = sum + x[from];')}
    let pixels = max(y1 - y0, 0) * max(x1 - x0, 0); y[thread] = fDiv(sum, f32(pixels));`,
  );
  return lowered(launch(program, [0, 1], values(x, y, attrs), y.size));
}

/** Each pixel of the image adds its share of the windows in which it lies. */
function avgPoolGrad({ inputs: [dy], outputs: [dx], attrs }: Call): Lowered {
  if (dy.size === 0) return lowered(fill(1, dx, 0));
  const program = perThread(
    ofFloats(dy.dtype, { dy: 'f32', y: 'mut f32' }),
    sizes,
    `let k = thread % p.c; let ix = i32((thread / p.c) % p.w); let iy = i32((thread / (p.c * p.w)) % p.h); let image = thread / (p.c * p.w * p.h);
    var sum = 0.0;
    for (var oy = max(0, (iy + p.padTop - p.kh) / p.strideY); oy < i32(p.oh) && oy * p.strideY - p.padTop <= iy; oy++) {
      let startY = oy * p.strideY - p.padTop;
      if (startY + p.kh > iy) {
        let rows = min(startY + p.kh, i32(p.h)) - max(startY, 0);
        for (var ox = max(0, (ix + p.padLeft - p.kw) / p.strideX); ox < i32(p.ow) && ox * p.strideX - p.padLeft <= ix; ox++) {
          let startX = ox * p.strideX - p.padLeft;
          if (startX + p.kw > ix) {
            let columns = min(startX + p.kw, i32(p.w)) - max(startX, 0);
            sum = sum + dy[((image * p.oh + u32(oy)) * p.ow + u32(ox)) * p.c + k] / f32(rows * columns);
          }
        }
      }
    }
    y[thread] = sum;`,
  );
  return lowered(launch(program, [0, 1], values(dx, dy, attrs), dx.size));
}

// MaxPoolGrad adds up in its output, which 16 bits would round at each step.
export const kernels: GpuKernels = {
  MaxPool: { dtypes: floats, lower: alwaysFits(maxPool) },
  MaxPoolGrad: { dtypes: ['float32'], lower: maxPoolGrad },
  MaxPoolGather: { dtypes: floats, lower: alwaysFits(maxPoolGather) },
  AvgPool: { dtypes: floats, lower: alwaysFits(avgPool) },
  AvgPoolGrad: { dtypes: floats, lower: alwaysFits(avgPoolGrad) },
};
