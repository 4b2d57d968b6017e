import type { Kernel, KernelName, NumericDType, TensorRef } from '@eagre/backend';
import { castNumber, saturateBig } from './numeric.ts';
import { bigints, numbers, view } from './view.ts';

function fill(y: TensorRef, value: number): void {
  if (y.dtype === 'int64') bigints(y).fill(saturateBig(value));
  else numbers(y).fill(castNumber(value, y.dtype as Exclude<NumericDType, 'int64'>));
}

function iota(y: TensorRef, start: number, delta: number): void {
  if (y.dtype === 'int64') {
    const out = bigints(y);
    for (let i = 0; i < out.length; i++) out[i] = saturateBig(start + i * delta);
  } else {
    const dtype = y.dtype as Exclude<NumericDType, 'int64'>;
    const out = numbers(y);
    for (let i = 0; i < out.length; i++) out[i] = castNumber(start + i * delta, dtype);
  }
}

export const kernels: Partial<Record<KernelName, Kernel>> = {
  Fill: (_inputs, [y], attrs) => fill(y, attrs.value as number),
  Iota: (_inputs, [y], attrs) => iota(y, attrs.start as number, attrs.delta as number),
  Copy: ([x], [y]) => {
    if (y.dtype === 'int64') bigints(y).set(bigints(x));
    else numbers(y).set(view(x) as ArrayLike<number>);
  },
};
