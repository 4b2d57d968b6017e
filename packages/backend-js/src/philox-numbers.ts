import {
  binomialNumber,
  fillNormal,
  fillTruncated,
  fillUniform,
  forEachLong,
  forEachSample,
  forEachWord,
  gammaNumber,
  InternalError,
  type Kernel,
  type KernelName,
  type Philox,
  philoxKinds,
  poissonNumber,
  streamOf,
  type TensorRef,
  type TypedArray,
} from '@eagre/backend';
import { bigints, numbers, view } from './view.ts';

type Kind = (typeof philoxKinds)[number];
type Fill = (stream: Philox, y: TensorRef, parameters: TensorRef) => void;
/** Arrays whose elements are set by numbers, or by bigints. */
type Integers = { length: number; [i: number]: number | bigint };

const isLong = ({ dtype }: TensorRef): boolean => dtype === 'int64' || dtype === 'uint64';

function fillBits(stream: Philox, y: TensorRef): void {
  const out = view(y) as Integers;
  // Arrays of integers take the lower bits.
  if (isLong(y)) forEachLong(stream, y.size, (bits, i) => void (out[i] = bits));
  else forEachWord(stream, y.size, (word, i) => void (out[i] = word));
}

function fillIntegers(stream: Philox, y: TensorRef, bounds: TensorRef): void {
  const out = view(y) as Integers;
  const [low, high] = bigints(bounds);
  const range = BigInt.asUintN(64, high - low);
  if (isLong(y)) {
    forEachLong(stream, y.size, (bits, i) => void (out[i] = low + (bits % range)));
    return;
  }
  const [from, count] = [Number(low), Number(range)];
  forEachWord(stream, y.size, (word, i) => void (out[i] = from + (word % count)));
}

/** Counts, or NaN: what integers take of them. */
function counts(y: TensorRef): (at: number, value: number) => void {
  const out = view(y) as TypedArray & Integers;
  if (!isLong(y)) return (at, value) => void (out[at] = value);
  return (at, value) => void (out[at] = BigInt(Math.trunc(value || 0)));
}

const fills: Readonly<Record<Kind, Fill>> = {
  uniform: (stream, y) => fillUniform(stream, numbers(y) as Float32Array, y.dtype),
  normal: (stream, y) => fillNormal(stream, numbers(y) as Float32Array, y.dtype),
  truncatedNormal: (stream, y) => fillTruncated(stream, numbers(y) as Float32Array, y.dtype),
  bits: fillBits,
  integers: fillIntegers,
  gamma: (stream, y, alphas) => {
    const [out, all] = [numbers(y), numbers(alphas)];
    forEachSample(y.size, alphas.size, (b, place, at) => {
      out[at] = gammaNumber(stream, place, all[b]);
    });
  },
  poisson: (stream, y, rates) => {
    const [put, all] = [counts(y), numbers(rates)];
    forEachSample(y.size, rates.size, (b, place, at) => put(at, poissonNumber(stream, place, all[b])));
  },
  binomial: (stream, y, parameters) => {
    const [put, all] = [counts(y), numbers(parameters)];
    const n = parameters.size / 2;
    forEachSample(y.size, n, (b, place, at) => put(at, binomialNumber(stream, place, all[b], all[n + b])));
  },
};

/** The kernels of random numbers out of counters. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  PhiloxNumbers: ([source, parameters], [y], { kind }) => {
    const name = philoxKinds[kind as number];
    if (name === undefined) throw new InternalError(`numbers of the distribution ${kind}`, 'PhiloxNumbers');
    const [key, low, high] = bigints(source) as BigUint64Array;
    fills[name](streamOf(key, [low, high]), y, parameters ?? source);
  },
};
