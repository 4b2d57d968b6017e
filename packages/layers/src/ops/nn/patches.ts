// Blocks of images as channels or columns, and back.
import { type IntegerLike, type NamedFunction, stack, type Tensor, type TensorLike } from '@eagre/core';
import { defineFunction, dims, kind, mulDims, toShape, toTensor } from '@eagre/core/internal';
import { channelsLast, type DataFormat, integer as integerKind, named, refuse } from '../define.ts';
import { each, type Sizes } from './windows.ts';

type Blocks = NamedFunction<
  [x: TensorLike, blockSize: IntegerLike],
  ['x', 'blockSize'],
  { readonly dataFormat?: DataFormat }
>;
const blocks = (name: string, run: (x: Tensor, size: number) => Tensor): Blocks =>
  defineFunction(
    named(name),
    { x: kind.tensor, blockSize: integerKind },
    { dataFormat: kind.asIs },
    (x, blockSize: number, { dataFormat }) =>
      channelsLast(toTensor(x), dataFormat, name, (images) => run(images, blockSize)),
  );
/** Blocks of pixels as channels: images become smaller. */
export const spaceToDepth: Blocks = blocks('spaceToDepth', (x, size) => x.spaceToDepth(size));
/** Channels as blocks of pixels: images become larger. */
export const depthToSpace: Blocks = blocks('depthToSpace', (x, size) => x.depthToSpace(size));

interface FoldOptions {
  /** The distance of a window's pixels; 1 by default. */
  readonly dilation?: Sizes;
  /** Zeros around the images; none by default. */
  readonly padding?: Sizes;
  /** The distance of windows; 1 by default. */
  readonly stride?: Sizes;
}
const foldOptions = { dilation: kind.asIs, padding: kind.asIs, stride: kind.asIs };

interface Geometry {
  readonly window: readonly number[];
  readonly dilation: readonly number[];
  readonly padding: readonly number[];
  readonly stride: readonly number[];
}
const geometry = (window: Sizes, { dilation, padding, stride }: FoldOptions): Geometry => ({
  window: each(window, 2, 1),
  dilation: each(dilation, 2, 1),
  padding: each(padding, 2, 0),
  stride: each(stride, 2, 1),
});
/** How many windows there are in each direction. */
const countsOf = (sizes: readonly number[], { window, dilation, padding, stride }: Geometry): number[] =>
  sizes.map((n, i) => Math.floor((n + 2 * padding[i] - (window[i] - 1) * dilation[i] - 1) / stride[i]) + 1);
const around = ({ padding }: Geometry): [number, number][] => [
  [0, 0],
  [0, 0],
  ...padding.map((p): [number, number] => [p, p]),
];
/** The places of a window's pixels. */
const taps = ({ window, dilation }: Geometry): [number, number][] =>
  Array.from({ length: window[0] * window[1] }, (_, i) => [
    Math.floor(i / window[1]) * dilation[0],
    (i % window[1]) * dilation[1],
  ]);

/** The windows of images [batch, channels, height, width] as columns: [batch, channels · window, count]. */
export const unfold: NamedFunction<[x: TensorLike, kernelSize: Sizes], ['x', 'kernelSize'], FoldOptions> =
  defineFunction(
    named('unfold'),
    { x: kind.tensor, kernelSize: kind.asIs },
    foldOptions,
    (x, kernelSize, options) => {
      const t = toTensor(x);
      if (t.rank !== 4)
        refuse(`x has shape [${t.shape}], expected [batch, channels, height, width]`, 'unfold');
      const form = geometry(kernelSize, options);
      const [rows, columns] = countsOf([t.shape[2], t.shape[3]], form);
      if (rows < 1 || columns < 1)
        refuse(
          `windows of ${form.window.join(' × ')} do not fit into images of ${t.shape[2]} × ${t.shape[3]}`,
          'unfold',
        );
      const wide = t.pad(around(form));
      const seen = taps(form).map(([i, j]) =>
        wide.at(
          ':',
          ':',
          `${i}:${i + (rows - 1) * form.stride[0] + 1}:${form.stride[0]}`,
          `${j}:${j + (columns - 1) * form.stride[1] + 1}:${form.stride[1]}`,
        ),
      );
      const [n, c] = dims(t);
      return stack(seen, 2).reshape(toShape([n, mulDims(c, seen.length), rows * columns]));
    },
  );

/** The sums of windows [batch, channels · window, count] in their places: images [batch, channels, ...outputSize]. */
export const fold: NamedFunction<
  [x: TensorLike, outputSize: Sizes, kernelSize: Sizes],
  ['x', 'outputSize', 'kernelSize'],
  FoldOptions
> = defineFunction(
  named('fold'),
  { x: kind.tensor, outputSize: kind.asIs, kernelSize: kind.asIs },
  foldOptions,
  (x, outputSize, kernelSize, options) => {
    const t = toTensor(x);
    const form = geometry(kernelSize, options);
    const size = each(outputSize, 2, 1);
    const counts = countsOf(size, form);
    if (t.rank !== 3 || t.shape[2] !== counts[0] * counts[1])
      refuse(`x has shape [${t.shape}], expected ${counts[0] * counts[1]} windows as columns`, 'fold');
    const pixels = form.window[0] * form.window[1];
    if (t.shape[1] % pixels !== 0)
      refuse(`x has shape [${t.shape}], expected channels times the ${pixels} pixels of a window`, 'fold');
    const places = taps(form);
    const n = dims(t)[0];
    const channels = t.shape[1] / places.length;
    const parts = t.reshape(toShape([n, channels, places.length, ...counts])).unstack(2);
    const { stride, padding } = form;
    const full = size.map((d, i) => d + 2 * padding[i]);
    const placed = parts.map((part, i) => inPlace(spread(part, stride), places[i], full));
    const sum = placed.reduce((a, b) => a.add(b));
    return sum.slice([0, 0, ...padding], [-1, -1, ...size]);
  },
);

/** Zeros between the pixels. */
function spread(x: Tensor, stride: readonly number[]): Tensor {
  const [n, c, h, w] = dims(x);
  const [down, across] = stride;
  const wide = x
    .reshape(toShape([n, c, h, 1, w, 1]))
    .pad([
      [0, 0],
      [0, 0],
      [0, 0],
      [0, down - 1],
      [0, 0],
      [0, across - 1],
    ])
    .reshape(toShape([n, c, mulDims(h, down), mulDims(w, across)]));
  return wide.at(':', ':', `:${x.shape[2] * down - down + 1}`, `:${x.shape[3] * across - across + 1}`);
}
const inPlace = (x: Tensor, [i, j]: readonly number[], [height, width]: readonly number[]): Tensor =>
  x.pad([
    [0, 0],
    [0, 0],
    [i, height - i - x.shape[2]],
    [j, width - j - x.shape[3]],
  ]);
