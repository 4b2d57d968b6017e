// Images that are sampled at places, cut to a size, and windows of signals.
import { concat, constant, gather, type Tensor, transpose, where } from '@eagre/core';
import { type Dim, dims, toShape } from '@eagre/core/internal';
import { dtypeOf } from '../../tensors.ts';
import type { NodeCall, OpTable, Run } from '../node.ts';
import { channelsFirst, channelsLast, product, range, scalar, shaped } from './helpers.ts';

/** What a sum of cosines weighs. */
const windowOf =
  (weights: readonly number[]): Run =>
  (node) => {
    const size = node.int(0);
    const steps = node.attrs.int('periodic', 1) === 1 ? size : size - 1;
    const [a, b, c = 0] = weights as [number, number, number?];
    const data = Float64Array.from(
      range(0, size).map(
        (i) => a - b * Math.cos((2 * Math.PI * i) / steps) + c * Math.cos((4 * Math.PI * i) / steps),
      ),
    );
    return constant({ data, shape: [size] }).cast(dtypeOf(node.attrs.int('output_datatype', 1)));
  };

// ---- grids

/** Places from -1 to 1 as pixels. */
function pixelsOf(places: Tensor, size: number, corners: boolean): Tensor {
  return corners
    ? places.add(1).mul((size - 1) / 2)
    : places
        .add(1)
        .mul(size / 2)
        .sub(0.5);
}

/** Pixels outside brought inside, by the padding mode. */
function reflected(x: Tensor, size: number, corners: boolean): Tensor {
  const [low, high] = corners ? [0, size - 1] : [-0.5, size - 0.5];
  const span = high - low;
  if (span <= 0) return x.mul(0);
  const turned = x.sub(low).mod(2 * span);
  return where(turned.greater(span), turned.neg().add(2 * span), turned).add(low);
}

interface Grid {
  /** [n, size…, c]. */
  readonly x: Tensor;
  readonly sizes: readonly number[];
  readonly mode: string;
  readonly corners: boolean;
}

/** The values at integer places of each direction; [n, places, c]. */
function valuesAt({ x, sizes, mode, corners }: Grid, places: readonly Tensor[]): Tensor {
  let inside: Tensor | null = null;
  const fixed = places.map((p, i) => {
    const size = sizes[i] as number;
    if (mode === 'reflection')
      return reflected(p, size, corners)
        .round()
        .maximum(0)
        .minimum(size - 1);
    if (mode === 'zeros') {
      const test = p.greaterEqual(0).logicalAnd(p.less(size));
      inside = inside === null ? test : inside.logicalAnd(test);
    }
    return p.maximum(0).minimum(size - 1);
  });
  let index = (fixed[0] as Tensor).cast('int32');
  fixed.slice(1).forEach((p, i) => {
    index = index.mul(scalar(sizes[i + 1] as number, 'int32')).add(p.cast('int32'));
  });
  const [n] = dims(x) as readonly [Dim];
  const flat = shaped(x, [n, product(sizes), dims(x).at(-1) as Dim]);
  const found = gather(flat, index, 1, { batchDims: 1 });
  return inside === null ? found : where((inside as Tensor).expandDims(-1), found, 0);
}

/** The weights of the taps of a direction, by their distance from the one at or before the place. */
function tapsOf(mode: string, share: Tensor): readonly (readonly [offset: number, weight: Tensor])[] {
  if (mode === 'linear')
    return [
      [0, share.neg().add(1)],
      [1, share],
    ];
  const a = -0.75;
  const near = (d: Tensor): Tensor =>
    d
      .mul(a + 2)
      .sub(a + 3)
      .mul(d)
      .mul(d)
      .add(1);
  const far = (d: Tensor): Tensor =>
    d
      .mul(a)
      .sub(5 * a)
      .mul(d)
      .add(8 * a)
      .mul(d)
      .sub(4 * a);
  return [
    [-1, far(share.add(1))],
    [0, near(share)],
    [1, near(share.neg().add(1))],
    [2, far(share.neg().add(2))],
  ];
}

const gridSample: Run = (node) => {
  const [x, grid] = [node.x(0), node.x(1)];
  const rank = x.rank - 2;
  const mode = node.attrs.text('mode', 'linear').replace('bilinear', 'linear').replace('bicubic', 'cubic');
  const corners = node.attrs.int('align_corners', 0) === 1;
  const sizes = x.shape.slice(2);
  const info: Grid = { x: channelsLast(x), sizes, mode: node.attrs.text('padding_mode', 'zeros'), corners };
  if (!['zeros', 'border', 'reflection'].includes(info.mode))
    node.fail(`the padding_mode '${info.mode}' is unknown`);
  const [n, ...out] = dims(grid).slice(0, -1) as [Dim, ...Dim[]];
  const flat = shaped(grid, [n, product(out), rank]);
  // The last number is that of the first direction.
  const places = range(0, rank).map((i) => {
    const p = pixelsOf(
      flat.slice([0, 0, rank - 1 - i], toShape([n, product(out), 1])).squeeze(-1),
      sizes[i] as number,
      corners,
    );
    if (mode === 'cubic' || info.mode === 'zeros') return p;
    if (info.mode === 'reflection')
      return reflected(p, sizes[i] as number, corners)
        .maximum(0)
        .minimum((sizes[i] as number) - 1);
    return p.maximum(0).minimum((sizes[i] as number) - 1);
  });
  let result: Tensor;
  if (mode === 'nearest')
    result = valuesAt(
      info,
      places.map((p) => p.round()),
    );
  else if (mode === 'linear' || mode === 'cubic') {
    const low = places.map((p) => p.floor());
    const taps = places.map((p, i) => tapsOf(mode, p.sub(low[i] as Tensor)));
    const sum = (direction: number, chosen: readonly Tensor[], weight: Tensor | null): Tensor => {
      if (direction === rank) return valuesAt(info, chosen).mul((weight as Tensor).expandDims(-1));
      return (taps[direction] as (typeof taps)[number])
        .map(([offset, w]) =>
          sum(
            direction + 1,
            [...chosen, (low[direction] as Tensor).add(offset)],
            weight === null ? w : weight.mul(w),
          ),
        )
        .reduce((a, b) => a.add(b));
    };
    result = sum(0, [], null);
  } else return node.unsupported(`the mode '${mode}' is not translated`);
  return channelsFirst(shaped(result, [n, ...out, dims(x)[1] as Dim])).cast(x.dtype);
};

const affineGrid: Run = (node) => {
  const theta = node.x(0);
  const [, , ...sizes] = node.ints(1);
  const corners = node.attrs.int('align_corners', 0) === 1;
  const along = sizes.map((size) =>
    range(0, size).map((i) =>
      corners ? (size === 1 ? 0 : -1 + (2 * i) / (size - 1)) : -1 + (2 * i + 1) / size,
    ),
  );
  // Every place, the last direction first, with a 1 behind it.
  const count = sizes.reduce((a, b) => a * b, 1);
  const rank = sizes.length;
  const data = new Float64Array(count * (rank + 1));
  for (let i = 0; i < count; i++) {
    let rest = i;
    for (let d = rank - 1; d >= 0; d--) {
      const size = sizes[d] as number;
      data[i * (rank + 1) + (rank - 1 - d)] = (along[d] as number[])[rest % size] as number;
      rest = Math.floor(rest / size);
    }
    data[i * (rank + 1) + rank] = 1;
  }
  const places = constant({ data, shape: [count, rank + 1] }).cast(theta.dtype);
  const y = places.expandDims(0).matmul(transpose(theta, [0, 2, 1]));
  return shaped(y, [dims(theta)[0] as Dim, ...sizes, rank]);
};

const cutOrPadded: Run = (node) => {
  const x = node.x();
  const wanted = node.ints(1);
  const axes = node.attrs.ints('axes', range(0, x.rank)).map((a) => node.axis(a, x.rank));
  const begin = x.shape.map(() => 0);
  const size = [...x.shape];
  const sides = x.shape.map((): [number, number] => [0, 0]);
  axes.forEach((axis, i) => {
    const [n, to] = [x.shape[axis] as number, wanted[i] as number];
    const half = Math.floor(Math.abs(n - to) / 2);
    if (n > to) {
      begin[axis] = half;
      size[axis] = to;
    } else sides[axis] = [half, to - n - half];
  });
  return x.slice(begin, size).pad(sides);
};

/** Pairs of a head's numbers turned by an angle that grows with the place. */
const rotary = (node: NodeCall): Tensor => {
  const { attrs } = node;
  const given = node.x(0);
  const flat = given.rank === 3;
  const heads = attrs.int('num_heads', 0);
  const [n, t] = flat
    ? [dims(given)[0] as Dim, dims(given)[1] as Dim]
    : [dims(given)[0] as Dim, dims(given)[2] as Dim];
  if (flat && heads === 0) node.fail('num_heads is missing');
  // [n, t, heads, d]
  const x = flat ? shaped(given, [n, t, heads, -1]) : transpose(given, [0, 2, 1, 3]);
  const width = x.shape[3] as number;
  const turned = attrs.int('rotary_embedding_dim', 0) || width;
  const ids = node.maybe(3);
  const angles = (i: number): Tensor => {
    const cache = ids === null ? node.x(i) : gather(node.x(i), ids, 0);
    return cache.expandDims(2);
  };
  const [cos, sin] = [angles(1), angles(2)];
  const half = turned / 2;
  const part = (from: number, to: number): Tensor => x.at('...', `${from}:${to}`);
  let [a, b] = [part(0, half), part(half, turned)];
  const pairs = attrs.int('interleaved', 0) === 1;
  if (pairs) [a, b] = [x.at('...', `0:${turned}:2`), x.at('...', `1:${turned}:2`)];
  const [real, imaginary] = [a.mul(cos).sub(b.mul(sin)), b.mul(cos).add(a.mul(sin))];
  const done = pairs
    ? shaped(concat([real.expandDims(-1), imaginary.expandDims(-1)], -1), [
        ...dims(real).slice(0, -1),
        turned,
      ])
    : concat([real, imaginary], -1);
  const y = turned === width ? done : concat([done, part(turned, width)], -1);
  return flat ? shaped(y, dims(given)) : transpose(y, [0, 2, 1, 3]);
};

export const sampling: OpTable = {
  AffineGrid: { hosts: [1], run: affineGrid },
  BlackmanWindow: { hosts: [0], run: windowOf([0.42, 0.5, 0.08]) },
  CenterCropPad: { hosts: [1], run: cutOrPadded },
  GridSample: gridSample,
  HammingWindow: { hosts: [0], run: windowOf([25 / 46, 21 / 46]) },
  HannWindow: { hosts: [0], run: windowOf([0.5, 0.5]) },
  RotaryEmbedding: rotary,
};
