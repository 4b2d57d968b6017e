// What functions of images share.
import type { Tensor, TensorLike } from '@eagre/core';
import { toTensor } from '@eagre/core/internal';
import { type DataFormat, formatOf, refuse } from '../define.ts';

export interface FormatOption {
  readonly dataFormat?: DataFormat | null;
}

/** Runs a function of batches [n, h, w, c] for what may be one image, whose channels may come first. */
export function ofImages(
  images: TensorLike,
  dataFormat: DataFormat | null | undefined,
  name: string,
  run: (x: Tensor) => Tensor,
): Tensor {
  const x = toTensor(images);
  if (x.rank !== 3 && x.rank !== 4) refuse(`images have shape [${x.shape}], expected rank 3 or 4`, name);
  const format = formatOf(dataFormat);
  if (format !== 'channels_last' && format !== 'channels_first')
    refuse(`dataFormat is ${String(format)}, expected 'channels_last' or 'channels_first'`, name);
  const first = format === 'channels_first';
  const last = first ? x.moveAxis(-3, -1) : x;
  const y = run(x.rank === 3 ? last.expandDims(0) : last);
  const own = x.rank === 3 && y.rank === 4 ? y.squeeze(0) : y;
  return first ? own.moveAxis(-1, -3) : own;
}
