import { type ClassNameOf, type CustomName, Tensor, Variable } from '@eagre/core';
import {
  argumentsOf,
  checkNumber,
  defineFunction,
  isPlain,
  kind,
  type NamedFunction,
  takesArguments,
  toTensor,
} from '@eagre/core/internal';
import { ClassNames, KerasObject, maker, type SerializedObject } from './keras-object.ts';
import { markOurs } from './ours.ts';

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

/** @throws InvalidArgumentError for what is no finite number of at least 0 */
function factor(value: number | null | undefined, otherwise: number, what: string, op: string): number {
  const given = value ?? otherwise;
  checkNumber(given, what, op, 0);
  return given;
}

export interface L1Options {
  /** 0.01 unless given. */
  readonly l1?: number | null;
}
/** `l1 · Σ|w|` */
export class L1 extends Regularizer {
  readonly l1: number;

  constructor(l1?: number | null | L1Options, options?: L1Options);
  constructor(...args: readonly unknown[]) {
    super();
    this.l1 = factor(argumentsOf<L1Options>(L1, new.target, args).l1, 0.01, 'l1', new.target.name);
  }
  override call(weight: Variable | Tensor): Tensor {
    return weight.abs().sum().mul(this.l1);
  }
  override getConfig(): Record<string, unknown> {
    return { l1: this.l1 };
  }
}

export interface L2Options {
  /** 0.01 unless given. */
  readonly l2?: number | null;
}
/** `l2 · Σw²` */
export class L2 extends Regularizer {
  readonly l2: number;

  constructor(l2?: number | null | L2Options, options?: L2Options);
  constructor(...args: readonly unknown[]) {
    super();
    this.l2 = factor(argumentsOf<L2Options>(L2, new.target, args).l2, 0.01, 'l2', new.target.name);
  }
  override call(weight: Variable | Tensor): Tensor {
    return weight.square().sum().mul(this.l2);
  }
  override getConfig(): Record<string, unknown> {
    return { l2: this.l2 };
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
  readonly l1: number;
  readonly l2: number;

  constructor(l1?: number | null | L1L2Options, options?: L1L2Options);
  constructor(...args: readonly unknown[]) {
    super();
    const given = argumentsOf<L1L2Options>(L1L2, new.target, args);
    this.l1 = factor(given.l1, 0, 'l1', new.target.name);
    this.l2 = factor(given.l2, 0, 'l2', new.target.name);
  }
  override call(weight: Variable | Tensor): Tensor {
    return weight.abs().sum().mul(this.l1).add(weight.square().sum().mul(this.l2));
  }
  override getConfig(): Record<string, unknown> {
    return { l1: this.l1, l2: this.l2 };
  }
}
markOurs(L1, L2, L1L2);
takesArguments<L1Options>({ positional: ['l1'], required: 0, names: { l1: true } }, L1);
takesArguments<L2Options>({ positional: ['l2'], required: 0, names: { l2: true } }, L2);
takesArguments<L1L2Options>({ positional: ['l1'], required: 0, names: { l1: true, l2: true } }, L1L2);

/** `new L1(…)` without `new`. */
export const l1: (...args: ConstructorParameters<typeof L1>) => L1 = maker(L1);
/** `new L2(…)` without `new`. */
export const l2: (...args: ConstructorParameters<typeof L2>) => L2 = maker(L2);
/** `new L1L2(…)` without `new`. */
export const l1l2: (...args: ConstructorParameters<typeof L1L2>) => L1L2 = maker(L1L2);

const known = new ClassNames<Regularizer>('regularizer', { L1, L2, L1L2 }, { l1l2: L1L2, l1_l2: L1L2 });

/** Names of regularizers; Keras's own (`l1_l2`, `L1L2`) are understood too. */
export type RegularizerName = ClassNameOf<'l1' | 'l2' | 'l1L2'> | 'l1l2' | CustomName<'regularizer'>;

/** A name, a function of a weight, such as a regularizer, or what a file holds. */
export type RegularizerLike = RegularizerName | RegularizerFunction | SerializedObject;

type MaybeRegularizer = NamedFunction<
  [identifier?: RegularizerLike | (string & {}) | null | undefined],
  ['identifier'],
  unknown,
  RegularizerFunction | null
>;
type GetRegularizer = NamedFunction<
  [identifier: RegularizerLike | (string & {})],
  ['identifier'],
  unknown,
  RegularizerFunction
> &
  MaybeRegularizer;

/** The regularizer of a name, or the function itself; null of null. @throws InvalidArgumentError for an unknown name. */
export const get: GetRegularizer = defineFunction<MaybeRegularizer>(
  'regularizers.get',
  { identifier: kind.structure },
  {},
  (identifier = null) =>
    identifier === null ? null : known.get<RegularizerFunction>(identifier, Regularizer),
) as GetRegularizer;
