// Weights of few bits that were chosen by what a layer sees (GPTQ, AWQ): the kernel as a matrix, and how its integers are found.
import {
  clipByValue,
  concat,
  linalg,
  maximum,
  minimum,
  range,
  type Shape,
  type Tensor,
  Variable,
  where,
  zeros,
} from '@eagre/core';
import { inScope } from '@eagre/core/internal';
import type { AWQConfig, GPTQConfig } from '../../calibrated-quantizers.ts';
import { packInt4, unpackInt4 } from '../../quantizers.ts';

/** What is kept of a kernel [rows, columns]. */
export interface FewBits<T = Variable> {
  /** [columns, rows], uint8; of 4 bits [⌈columns / 2⌉, rows], two in a byte. */
  readonly codes: T;
  /** [columns, groups] */
  readonly scale: T;
  /** [columns, groups], uint8. */
  readonly zero: T;
  /** [rows], by which AWQ made the weights larger; null of GPTQ. */
  readonly channels: T | null;
  /** [rows], the group of each, float32, of which the part behind the point does not count. */
  readonly group: T;
}

/** A kernel as a matrix. */
export interface FewBitsForm {
  readonly rows: number;
  readonly columns: number;
  readonly bits: number;
  /** -1 for one of all. */
  readonly groupSize: number;
  readonly mode: 'gptq' | 'awq';
}

/**
 * The rows and columns of a kernel of rank 2 or 3 as Keras cuts it: the largest size is that of the inputs if it comes first, else that of the outputs. Null
 * for other ranks.
 */
export function matrixOf(shape: Shape): readonly [rows: number, columns: number] | null {
  const [a, b, c] = shape as readonly [number, number, number];
  if (shape.length === 2) return [a, b];
  if (shape.length !== 3) return null;
  return a >= b && a >= c ? [a, b * c] : [a * b, c];
}

const groupsIn = (rows: number, groupSize: number): number =>
  groupSize === -1 ? 1 : Math.ceil(rows / groupSize);

/** The shapes of what is kept. */
export function fewBitsShapes({ rows, columns, bits, groupSize, mode }: FewBitsForm): FewBits<Shape> {
  const scale = [columns, groupsIn(rows, groupSize)];
  return {
    codes: [bits === 4 ? Math.ceil(columns / 2) : columns, rows],
    scale,
    zero: scale,
    channels: mode === 'awq' ? [rows] : null,
    group: [rows],
  };
}

/** The kernel [rows, columns] as floats. */
export function floatsOfFewBits(kept: FewBits, { columns, bits }: FewBitsForm, dtype: 'float32'): Tensor {
  const codes = kept.codes.read();
  const ints = (bits === 4 ? unpackInt4(codes, columns, 0, { dtype: 'uint8' }) : codes).cast(dtype);
  const group = kept.group.read().cast('int32');
  const each = (of: Variable): Tensor => of.read().cast(dtype).gather(group, { axis: 1 });
  const floats = ints.sub(each(kept.zero)).mul(each(kept.scale)).transpose();
  return kept.channels === null ? floats : floats.div(kept.channels.read().cast(dtype).expandDims(-1));
}

interface Found {
  /** uint8. */
  readonly codes: Tensor;
  readonly scale: Tensor;
  readonly zero: Tensor;
  readonly channels: Tensor | null;
  readonly group: Tensor;
}
/** What a layer sees, and the integers that follow from it. */
export interface Calibration {
  /** @param x inputs in any shape that rows of as many numbers as the kernel has can be made of */
  see(x: Tensor): void;
  /** @param kernel [rows, columns], float32 */
  find(kernel: Tensor): Found;
}

interface Scales {
  readonly scale: Tensor;
  readonly zero: Tensor;
}
/**
 * Scales and zero points of weights [columns, rows] of as many bits: one for each column, or for all of them.
 * A range above 0 begins at 0, where Keras makes a zero point below 0 and keeps another one in a byte.
 */
function scalesOf(weights: Tensor, bits: number, perChannel: boolean, symmetric: boolean): Scales {
  const axis = perChannel ? 1 : null;
  let low: Tensor = minimum(weights.min(axis, { keepdims: true }), 0);
  let high = weights.max(axis, { keepdims: true });
  if (symmetric) {
    const largest = maximum(low.abs(), high);
    low = where(low.less(0), largest.neg(), low);
    high = largest;
  }
  const flat = low.equal(high);
  low = where(flat, low.sub(1), low);
  high = where(flat, high.add(1), high);
  const most = 2 ** bits - 1;
  const scale = high.sub(low).div(most);
  const safe = where(scale.lessEqual(0), 1e-8, scale);
  const zero = symmetric ? safe.mul(0).add((most + 1) / 2) : low.neg().div(safe).round();
  const columns = weights.shape[0] as number;
  const all = (x: Tensor): Tensor => (perChannel ? x : x.tile([columns, 1]));
  return { scale: all(safe), zero: all(zero) };
}
const quantized = (x: Tensor, { scale, zero }: Scales, bits: number): Tensor =>
  clipByValue(x.div(scale).add(zero).round(), 0, 2 ** bits - 1);
const restored = (ints: Tensor, { scale, zero }: Scales): Tensor => ints.sub(zero).mul(scale);

/** Columns of a matrix from one to before another. */
const between = (x: Tensor, from: number, to: number): Tensor =>
  x.slice([0, from], [x.shape[0] as number, to - from]);
const packed = (codes: Tensor, bits: number): Tensor => {
  const bytes = codes.cast('uint8');
  return bits === 4 ? packInt4(bytes, 0, { dtype: 'uint8' })[0] : bytes;
};

/** How many columns take over errors at once. */
const BLOCK = 128;

/** GPTQ of a kernel with so many rows, as in Keras's `gptq.py`; its Hessian is the mean of the products of inputs. */
export function gptq(config: GPTQConfig, rows: number): Calibration {
  const hessian = new Variable(zeros([rows, rows]), { trainable: false });
  let count = 0;
  return {
    see(given) {
      inScope(() => {
        const x = given.reshape([-1, rows]).cast('float32');
        const before = count;
        count += x.shape[0] as number;
        const products = x.matmul(x, { transposeA: true });
        const gram = products.add(products.transpose()).div(2);
        hessian.assign(hessian.mul(before / count).add(gram.mul(2 / count)));
      });
    },
    find: (kernel) => {
      const { weightBits: bits, groupSize, perChannel, symmetric, hessianDamping } = config;
      const diagonal = linalg.diagPart(hessian.read());
      const dead = diagonal.equal(0);
      const alive = where(dead, 1, diagonal);
      const damped = alive.add(alive.mean().mul(hessianDamping));
      const whole = linalg.setDiag(hessian.read(), damped);
      let inverse = linalg.inv(whole);
      let weights = kernel.transpose();
      // Stable, so that Keras's tiny difference between equal ones is not needed.
      const order = config.activationOrder ? damped.neg().argSort() : null;
      if (order !== null) {
        inverse = inverse.gather(order, { axis: 0 }).gather(order, { axis: 1 });
        weights = weights.gather(order, { axis: 1 });
      }
      const size = groupSize === -1 ? rows : groupSize;
      const codes: Tensor[] = [];
      const groups: Scales[] = [];
      for (let start = 0; start < rows; start += BLOCK) {
        const end = Math.min(start + BLOCK, rows);
        let rest = between(weights, start, end);
        const errors: Tensor[] = [];
        for (let at = start; at < end; at++) {
          const group = Math.floor(at / size);
          // Before the errors of this block are in them.
          groups[group] ??= scalesOf(
            between(weights, group * size, Math.min((group + 1) * size, rows)),
            bits,
            perChannel,
            symmetric,
          );
          const own = groups[group] as Scales;
          const column = between(rest, 0, 1);
          const ints = quantized(column, own, bits);
          codes.push(ints);
          const row = inverse.slice([at, at], [1, end - at]);
          const error = column.sub(restored(ints, own)).div(between(row, 0, 1));
          errors.push(error);
          const left = end - at;
          rest = between(rest, 1, left).sub(error.mul(between(row, 1, left)));
        }
        if (end === rows) break;
        const change = concat(errors, 1).matmul(inverse.slice([start, end], [end - start, rows - end]));
        weights = concat([between(weights, 0, end), between(weights, end, rows).sub(change)], 1);
      }
      const back = order === null ? null : order.argSort();
      const there = (x: Tensor, axis: number): Tensor => (back === null ? x : x.gather(back, { axis }));
      return {
        codes: packed(there(concat(codes, 1), 1), bits),
        scale: concat(
          groups.map((g) => g.scale),
          1,
        ),
        zero: concat(
          groups.map((g) => g.zero),
          1,
        ),
        channels: null,
        group: there(range(0, rows).cast('float32').div(size), 0),
      };
    },
  };
}

/** AWQ of a kernel with so many rows, as in Keras's `awq.py`. */
export function awq(config: AWQConfig, rows: number): Calibration {
  const largest = new Variable(zeros([rows]), { trainable: false });
  const { groupSize, numGridPoints } = config;
  const size = groupSize === -1 ? rows : groupSize;
  /** The integers of weights [columns, rows], and what they stand for. */
  const choose = (weights: Tensor): Scales & { readonly ints: Tensor; readonly floats: Tensor } => {
    const parts = Array.from({ length: groupsIn(rows, groupSize) }, (_, group) => {
      const own = between(weights, group * size, Math.min((group + 1) * size, rows));
      // Zeros fill the last group up, and count.
      const full =
        own.shape[1] === size ? own : concat([own, own.slice([0, 0], [own.shape[0] as number, 1]).mul(0)], 1);
      const scales = scalesOf(full, 4, true, false);
      const ints = quantized(own, scales, 4);
      return { ...scales, ints, floats: restored(ints, scales) };
    });
    const all = (name: 'scale' | 'zero' | 'ints' | 'floats'): Tensor =>
      concat(
        parts.map((p) => p[name]),
        1,
      );
    return { scale: all('scale'), zero: all('zero'), ints: all('ints'), floats: all('floats') };
  };
  return {
    see(given) {
      inScope(() => {
        const x = given.reshape([-1, rows]).cast('float32');
        largest.assign(maximum(largest.read(), x.abs().max(0)));
      });
    },
    find: (kernel) => {
      const weights = kernel.transpose();
      const seen = where(largest.less(1e-8), 1, largest);
      let channels = seen.mul(0).add(1);
      let least = Number.POSITIVE_INFINITY;
      for (let i = 0; i <= numGridPoints; i++) {
        const [loss, own] = inScope(() => {
          const power = maximum(seen.pow(i / numGridPoints), 1e-4);
          const middle = maximum(power.max().mul(power.min()).sqrt(), 1e-8);
          const scales = power.div(middle);
          const error = weights.sub(choose(weights.mul(scales)).floats.div(scales));
          return [error.square().mul(seen.square()).mean(), scales] as const;
        }) as readonly [Tensor, Tensor];
        const value = loss.item() as number;
        // The first is taken whatever it is.
        if (i > 0 && !(value < least)) continue;
        least = value;
        channels = own;
      }
      const { ints, scale, zero } = choose(weights.mul(channels));
      const group = range(0, rows).cast('float32').div(size).floor();
      return { codes: packed(ints, 4), scale, zero, channels, group };
    },
  };
}
