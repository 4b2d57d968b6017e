// Convolutions of images whose channels are no whole chunks, as those of photographs, on tensor cores: zeros fill the channels up first.
import { isHalf } from '@eagre/backend';
import {
  type Convolution,
  type Geometry,
  type Make,
  ofFilterGradient,
  ofForward,
} from '../kernels/conv2d.ts';
import {
  type Call,
  type Dispatch,
  fits,
  perCapability,
  TEMPORARY,
  type TensorInfo,
} from '../kernels/kernel.ts';
import { padLines, pitchOf } from './pad-lines.ts';
import { CHUNK_BYTES, type CoreDType, lanesOf } from './tensor-cores.ts';

/** Elements that are copied one by one: fewer take less time than to fill the channels up first, and so do those of a filter whose taps fill no tile. */
const LEAST_FILLED = 2 ** 16;
const LEAST_FILLED_DEPTH = 128;

/** Of an image of more channels, of which the filter has `filterIn`; undefined where they are not worth a copy. */
function filledGeometry({ dtype, size }: TensorInfo, g: Geometry): Geometry | undefined {
  const { groups, inputs, taps: count, pixels: rows } = g;
  if (groups > 1 || (dtype !== 'float32' && !isHalf(dtype))) return undefined;
  const depth = count * inputs;
  if (depth < LEAST_FILLED_DEPTH || rows * depth < LEAST_FILLED) return undefined;
  const channels = pitchOf(dtype, inputs);
  if (channels === inputs || filledBytes(dtype, size / inputs, channels) >= 2 ** 31) return undefined;
  const params = { ...g.params, c: channels, groupIn: channels, filterIn: inputs };
  return { ...g, params, inputs: channels, isProduct: false };
}

const filledBytes = (dtype: CoreDType, lines: number, channels: number): number =>
  (CHUNK_BYTES * lines * channels) / lanesOf(dtype);

/** What copies the image, which is the first operand, and reads the copy. */
export function filledUp(image: TensorInfo, g: Geometry, make: Make): Dispatch['cuda'] {
  const filled = filledGeometry(image, g);
  if (filled === undefined) return undefined;
  const dtype = image.dtype as CoreDType;
  const lines = image.size / g.inputs;
  const cuda = make(filled, TEMPORARY, filledBytes(dtype, lines, filled.inputs))?.cuda;
  const copy = padLines(dtype, [0, TEMPORARY], { from: 0, lines, run: g.inputs });
  return (
    cuda &&
    perCapability((capability) => {
      const made = cuda(capability);
      return made && { ...made, dispatches: [copy, ...made.dispatches] };
    })
  );
}

/** A call of `Conv2D`, or of `Conv2DBackpropFilter`, whose image is filled up already: how many channels it has then. Undefined where that is not worth it. */
export function filledConvolution(
  isGradient: boolean,
  call: Pick<Call, 'inputs' | 'outputs' | 'attrs'>,
): { readonly channels: number; readonly cuda: Dispatch['cuda'] } | undefined {
  const tensors = [...call.inputs, ...call.outputs];
  if (!fits(...tensors) || tensors.some(({ size }) => size === 0)) return undefined;
  const { geometry, make }: Convolution = (isGradient ? ofFilterGradient : ofForward)(call);
  const filled = filledGeometry(call.inputs[0], geometry);
  return filled && { channels: filled.inputs, cuda: make(filled, 0)?.cuda };
}
