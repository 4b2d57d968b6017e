import {
  type ClassNameOf,
  type CustomName,
  diag,
  diagPart,
  InvalidArgumentError,
  matmul,
  shapeOf,
  Tensor,
  Variable,
} from '@eagre/core';
import {
  type Deserialize,
  isPlain,
  kerasDefaults,
  type NamedFunction,
  nameOption,
  numberOption,
  type Option,
  showShape,
  takesOptions,
  toTensor,
} from '@eagre/core/internal';
import { markOurs } from './ours.ts';
import {
  ClassNames,
  defineGet,
  defineObjectDeserialize,
  defineObjectSerialize,
  type GetOf,
  KerasObject,
  type MakerOf,
  maker,
  type SerializedFunction,
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

// As Keras: of rows shorter than this the lengths stay below 1.

const factor = (otherwise: number): Option<number> => numberOption(otherwise, 0);

/** Options of `L1`. */
export interface L1Options {
  /** By which the sum of magnitudes is multiplied; 0.01 unless given. */
  readonly l1?: number | null;
}
/** `l1 · Σ|w|` */
export class L1 extends Regularizer {
  /** By which the sum of magnitudes is multiplied. */
  declare readonly l1: number;

  constructor(...args: [l1?: number | null | L1Options, options?: L1Options]) {
    super(...args);
  }
  override call(weight: Variable | Tensor): Tensor {
    return weight.abs().sum().mul(this.l1);
  }
}

/** Options of `L2`. */
export interface L2Options {
  /** By which the sum of squares is multiplied; 0.01 unless given. */
  readonly l2?: number | null;
}
/** `l2 · Σw²` */
export class L2 extends Regularizer {
  /** By which the sum of squares is multiplied. */
  declare readonly l2: number;

  constructor(...args: [l2?: number | null | L2Options, options?: L2Options]) {
    super(...args);
  }
  override call(weight: Variable | Tensor): Tensor {
    return weight.square().sum().mul(this.l2);
  }
}

/** Options of `L1L2`. */
export interface L1L2Options {
  /** By which the sum of magnitudes is multiplied; 0 unless given. */
  readonly l1?: number | null;
  /** By which the sum of squares is multiplied; 0 unless given. */
  readonly l2?: number | null;
}
/** `l1 · Σ|w| + l2 · Σw²` */
export class L1L2 extends Regularizer {
  /** By which the sum of magnitudes is multiplied. */
  declare readonly l1: number;
  /** By which the sum of squares is multiplied. */
  declare readonly l2: number;

  constructor(...args: [l1?: number | null | L1L2Options, options?: L1L2Options]) {
    super(...args);
  }
  override call(weight: Variable | Tensor): Tensor {
    return weight.abs().sum().mul(this.l1).add(weight.square().sum().mul(this.l2));
  }
}

/** Options of `OrthogonalRegularizer`. */
export interface OrthogonalRegularizerOptions {
  /** By which the penalty is multiplied; 0.01 unless given. */
  readonly factor?: number | null;
  /** Whether the rows or the columns are to be orthogonal; `rows` unless given. */
  readonly mode?: 'rows' | 'columns';
}
/**
 * `factor` times the mean size of the dot products of pairs of rows, or columns, of length 1; 0 where there is only one. Of matrices.
 */
export class OrthogonalRegularizer extends Regularizer {
  /** By which the penalty is multiplied. */
  declare readonly factor: number;
  /** Whether the rows or the columns are to be orthogonal. */
  declare readonly mode: 'rows' | 'columns';

  constructor(
    ...args: [factor?: number | null | OrthogonalRegularizerOptions, options?: OrthogonalRegularizerOptions]
  ) {
    super(...args);
  }
  /** @throws InvalidArgumentError for a weight that is no matrix */
  override call(weight: Variable | Tensor): Tensor {
    if (weight.rank !== 2)
      throw new InvalidArgumentError(
        `needs a matrix, got shape ${showShape(weight.shape)}`,
        'OrthogonalRegularizer',
      );
    const rows = this.mode === 'rows' ? toTensor(weight) : weight.transpose();
    const directions = rows.mul(
      rows
        .square()
        .sum(1, { keepdims: true })
        .rsqrt()
        .minimum(1 / kerasDefaults.epsilon),
    );
    const products = matmul(directions, directions, { transposeB: true });
    const others = products.sub(diag(diagPart(products)));
    const count = shapeOf(rows).at(0).cast(rows.dtype);
    // Each pair is there twice.
    const pairs = count.mul(count.sub(1)).maximum(1);
    return others.abs().sum().mul(this.factor).div(pairs);
  }
}
markOurs(L1, L2, L1L2, OrthogonalRegularizer);
takesOptions<L1Options, L1>({ positional: ['l1'], required: 0, options: { l1: factor(0.01) } }, L1);
takesOptions<L2Options, L2>({ positional: ['l2'], required: 0, options: { l2: factor(0.01) } }, L2);
takesOptions<L1L2Options, L1L2>(
  { positional: ['l1'], required: 0, options: { l1: factor(0), l2: factor(0) } },
  L1L2,
);
takesOptions<OrthogonalRegularizerOptions, OrthogonalRegularizer>(
  {
    positional: ['factor'],
    required: 0,
    options: { factor: factor(0.01), mode: nameOption(['rows', 'columns'], 'rows') },
  },
  OrthogonalRegularizer,
);

/** `new L1(…)` without `new`. */
export const l1: MakerOf<typeof L1> = maker(L1);
/** `new L2(…)` without `new`. */
export const l2: MakerOf<typeof L2> = maker(L2);
/** `new L1L2(…)` without `new`. */
export const l1l2: MakerOf<typeof L1L2> = maker(L1L2);
export { l1l2 as l1L2 };
/** `new OrthogonalRegularizer(…)` without `new`. */
export const orthogonalRegularizer: MakerOf<typeof OrthogonalRegularizer> = maker(OrthogonalRegularizer);

const known = new ClassNames<Regularizer>(
  'regularizer',
  { L1, L2, L1L2, OrthogonalRegularizer },
  { l1l2: L1L2, l1_l2: L1L2 },
);

/** Names of regularizers; Keras's own (`l1_l2`, `L1L2`) are understood too. */
export type RegularizerName =
  | ClassNameOf<'l1' | 'l2' | 'l1L2' | 'orthogonalRegularizer'>
  | 'l1l2'
  | CustomName<'regularizer'>;

/** A name, a function of a weight, such as a regularizer, or what a file holds. */
export type RegularizerLike = RegularizerName | RegularizerFunction | SerializedObject;

/** The regularizer of a name, or the function itself; null of null. @throws InvalidArgumentError for an unknown name. */
export const get: GetOf<RegularizerLike, RegularizerFunction> = defineGet(
  'regularizers.get',
  known,
  Regularizer,
);

/** A regularizer, or a registered function, as plain JSON, in Keras's form. */
export const serialize: NamedFunction<
  [regularizer: RegularizerFunction],
  ['regularizer'],
  unknown,
  SerializedObject | SerializedFunction
> = defineObjectSerialize('regularizers.serialize', 'regularizer');

/** The regularizer that `serialize`, or Keras, wrote. `customObjects` are classes and functions of your own by name. */
export const deserialize: Deserialize<SerializedObject | SerializedFunction, RegularizerFunction> =
  defineObjectDeserialize('regularizers.deserialize', known, Regularizer);
