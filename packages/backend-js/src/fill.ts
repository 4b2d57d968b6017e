import {
  type Kernel,
  type KernelName,
  type NumericDType,
  storedElement,
  type TensorRef,
} from '@eagre/backend';
import { bytesOf, view } from './view.ts';

function fill(y: TensorRef, value: number): void {
  view(y).fill(storedElement(value, y.dtype as NumericDType) as never);
}

function iota(y: TensorRef, start: number, delta: number): void {
  const dtype = y.dtype as NumericDType;
  const out = view(y);
  if (dtype === 'float32') floats(out as Float32Array, start, delta);
  else for (let i = 0; i < out.length; i++) out[i] = storedElement(start + i * delta, dtype) as never;
}

// The default of `range`, of which there may be very many: a loop that has seen one kind of array is fifty times as fast.
function floats(out: Float32Array, start: number, delta: number): void {
  for (let i = 0; i < out.length; i++) out[i] = start + i * delta;
}

/** The kernels of one value everywhere. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  Fill: (_inputs, [y], attrs) => fill(y, attrs.value as number),
  Iota: (_inputs, [y], attrs) => iota(y, attrs.start as number, attrs.delta as number),
  Copy: ([x], [y]) => view(y).set(view(x) as never),
  Bitcast: ([x], [y]) => bytesOf(y).set(bytesOf(x)),
};
