// Convolutions of sequences, images and volumes.
import {
  type IntegersLike,
  type NamedFunction,
  nn,
  type Shape,
  type Tensor,
  type TensorLike,
} from '@eagre/core';
import {
  addDims,
  type Dim,
  defineFunction,
  dims,
  kind,
  mulDims,
  pair,
  showShape,
  toShape,
} from '@eagre/core/internal';
import { channelsLast, type DataFormat, named, refuse } from '../define.ts';
import { each, type Padding, paddingOf, type Sizes } from './windows.ts';

interface ConvOptions {
  /** 1 by default. */
  readonly strides?: Sizes;
  /** `valid` by default. */
  readonly padding?: Padding;
  readonly dataFormat?: DataFormat | null;
  /** The distance of the kernel's taps; 1 by default. */
  readonly dilationRate?: Sizes;
}
const convOptions = {
  strides: kind.asIs,
  padding: kind.asIs,
  dataFormat: kind.asIs,
  dilationRate: kind.asIs,
};

function convolved(inputs: TensorLike, kernel: TensorLike, options: ConvOptions, name: string): Tensor {
  const [x, filters] = pair(inputs, kernel, named(name));
  const { strides, padding, dataFormat, dilationRate } = options;
  const rank = x.rank - 2;
  return channelsLast(x, dataFormat, name, (images) =>
    nn.convolution(images, filters, {
      strides: each(strides, rank, 1) as [number],
      padding: paddingOf(padding, name),
      dilations: each(dilationRate, rank, 1) as [number],
    }),
  );
}

type Conv = NamedFunction<[inputs: TensorLike, kernel: TensorLike], ['inputs', 'kernel'], ConvOptions>;

/** The convolution of [batch, ...sizes, channels] with a kernel [...windows, channels / groups, filters]. */
export const conv: Conv = defineFunction(
  named('conv'),
  { inputs: kind.tensor, kernel: kind.tensor },
  convOptions,
  (inputs, kernel, options) => convolved(inputs, kernel, options, 'conv'),
);

/** The kernel [...windows, channels, multiplier] of a convolution of each channel alone, as one in groups. */
function inGroups(kernel: TensorLike, x: TensorLike, name: string): Tensor {
  const [filters] = pair(kernel, x, named(name));
  const own = dims(filters);
  if (own.length < 2)
    refuse(`kernel must be [...windows, channels, multiplier], got ${showShape(filters.shape)}`, name);
  return filters.reshape(
    toShape([...own.slice(0, -2), 1, mulDims(own[own.length - 2], own[own.length - 1])]),
  );
}

/** The convolution of each channel with `multiplier` kernels of its own: [...windows, channels, multiplier]. */
export const depthwiseConv: Conv = defineFunction(
  named('depthwiseConv'),
  { inputs: kind.tensor, kernel: kind.tensor },
  convOptions,
  (inputs, kernel, options) =>
    convolved(inputs, inGroups(kernel, inputs, 'depthwiseConv'), options, 'depthwiseConv'),
);

/** A convolution of each channel alone, and then one of all channels by a kernel [1, …, channels · multiplier, filters]. */
export const separableConv: NamedFunction<
  [inputs: TensorLike, depthwiseKernel: TensorLike, pointwiseKernel: TensorLike],
  ['inputs', 'depthwiseKernel', 'pointwiseKernel'],
  ConvOptions
> = defineFunction(
  named('separableConv'),
  { inputs: kind.tensor, depthwiseKernel: kind.tensor, pointwiseKernel: kind.tensor },
  convOptions,
  (inputs, depthwiseKernel, pointwiseKernel, options) => {
    const depthwise = convolved(
      inputs,
      inGroups(depthwiseKernel, inputs, 'separableConv'),
      options,
      'separableConv',
    );
    return convolved(depthwise, pointwiseKernel, { dataFormat: options.dataFormat }, 'separableConv');
  },
);

/** The transposed convolution with a kernel [...windows, filters, channels]: larger sizes from smaller ones. */
export const convTranspose: NamedFunction<
  [inputs: TensorLike, kernel: TensorLike],
  ['inputs', 'kernel'],
  ConvOptions & { readonly outputPadding?: Sizes | null }
> = defineFunction(
  named('convTranspose'),
  { inputs: kind.tensor, kernel: kind.tensor },
  { ...convOptions, outputPadding: kind.asIs },
  (inputs, kernel, { strides, padding, dataFormat, dilationRate, outputPadding }) => {
    const [x, filters] = pair(inputs, kernel, named('convTranspose'));
    const rank = x.rank - 2;
    const [steps, dilations] = [each(strides, rank, 1), each(dilationRate, rank, 1)];
    const extra = outputPadding === undefined || outputPadding === null ? null : each(outputPadding, rank, 0);
    const same = paddingOf(padding, 'convTranspose') === 'SAME';
    return channelsLast(x, dataFormat, 'convTranspose', (images) => {
      const own = dims(images);
      const sizes = own.slice(1, -1).map((size, i): Dim => {
        const reach = (filters.shape[i] - 1) * dilations[i] + 1;
        const grown = mulDims(size, steps[i]);
        if (!same)
          return addDims(grown, reach - steps[i] + (extra?.[i] ?? Math.max(reach, steps[i]) - reach));
        return extra === null ? grown : addDims(grown, (reach % 2) - steps[i] + extra[i]);
      });
      const shape: Shape = toShape([own[0], ...sizes, dims(filters)[rank]]);
      return nn.convTranspose(images, filters, shape as IntegersLike as Shape, {
        strides: steps as [number],
        padding: same ? 'SAME' : 'VALID',
        dilations: dilations as [number],
      });
    });
  },
);
