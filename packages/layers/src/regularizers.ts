import { type ClassNameOf, type CustomName, Tensor, Variable } from '@eagre/core';
import { isPlain, numberOption, type Option, takesOptions, toTensor } from '@eagre/core/internal';
import { markOurs } from './ours.ts';
import {
  ClassNames,
  defineGet,
  type GetOf,
  KerasObject,
  type MakerOf,
  maker,
  type SerializedObject,
} from './saving/keras-object.ts';

/** A penalty on a weight, as a scalar to add to the loss. */
export type RegularizerFunction = (weight: Variable | Tensor) => Tensor;

/** Base of regularizers, which are functions of a weight. To make your own, extend it and write `call`; or take any such function. */
export abstract class Regularizer extends KerasObject {
  /** The penalty on a weight, or on a layer's output: a scalar. */
  abstract override call(weight: Variable | Tensor): Tensor;
  protected override invoke(weight: Variable | Tensor): Tensor {
    const isTensor = !isPlain(weight) && (weight instanceof Tensor || weight instanceof Variable);
    return this.call(isTensor ? weight : toTensor(weight));
  }
  /** @internal */
  protected override get module(): string {
    return 'keras.regularizers';
  }
}
export interface Regularizer {
  (weight: Variable | Tensor): Tensor;
}

const factor = (otherwise: number): Option<number> => numberOption(otherwise, 0);

export interface L1Options {
  /** 0.01 unless given. */
  readonly l1?: number | null;
}
/** `l1 · Σ|w|` */
export class L1 extends Regularizer {
  declare readonly l1: number;

  constructor(...args: [l1?: number | null | L1Options, options?: L1Options]) {
    super(...args);
  }
  override call(weight: Variable | Tensor): Tensor {
    return weight.abs().sum().mul(this.l1);
  }
}

export interface L2Options {
  /** 0.01 unless given. */
  readonly l2?: number | null;
}
/** `l2 · Σw²` */
export class L2 extends Regularizer {
  declare readonly l2: number;

  constructor(...args: [l2?: number | null | L2Options, options?: L2Options]) {
    super(...args);
  }
  override call(weight: Variable | Tensor): Tensor {
    return weight.square().sum().mul(this.l2);
  }
}

export interface L1L2Options {
  /** 0 unless given. */
  readonly l1?: number | null;
  /** 0 unless given. */
  readonly l2?: number | null;
}
/** `l1 · Σ|w| + l2 · Σw²` */
export class L1L2 extends Regularizer {
  declare readonly l1: number;
  declare readonly l2: number;

  constructor(...args: [l1?: number | null | L1L2Options, options?: L1L2Options]) {
    super(...args);
  }
  override call(weight: Variable | Tensor): Tensor {
    return weight.abs().sum().mul(this.l1).add(weight.square().sum().mul(this.l2));
  }
}
markOurs(L1, L2, L1L2);
takesOptions<L1Options, L1>({ positional: ['l1'], required: 0, options: { l1: factor(0.01) } }, L1);
takesOptions<L2Options, L2>({ positional: ['l2'], required: 0, options: { l2: factor(0.01) } }, L2);
takesOptions<L1L2Options, L1L2>(
  { positional: ['l1'], required: 0, options: { l1: factor(0), l2: factor(0) } },
  L1L2,
);

/** `new L1(…)` without `new`. */
export const l1: MakerOf<typeof L1> = maker(L1);
/** `new L2(…)` without `new`. */
export const l2: MakerOf<typeof L2> = maker(L2);
/** `new L1L2(…)` without `new`. */
export const l1l2: MakerOf<typeof L1L2> = maker(L1L2);

const known = new ClassNames<Regularizer>('regularizer', { L1, L2, L1L2 }, { l1l2: L1L2, l1_l2: L1L2 });

/** Names of regularizers; Keras's own (`l1_l2`, `L1L2`) are understood too. */
export type RegularizerName = ClassNameOf<'l1' | 'l2' | 'l1L2'> | 'l1l2' | CustomName<'regularizer'>;

/** A name, a function of a weight, such as a regularizer, or what a file holds. */
export type RegularizerLike = RegularizerName | RegularizerFunction | SerializedObject;

/** The regularizer of a name, or the function itself; null of null. @throws InvalidArgumentError for an unknown name. */
export const get: GetOf<RegularizerLike, RegularizerFunction> = defineGet(
  'regularizers.get',
  known,
  Regularizer,
);
