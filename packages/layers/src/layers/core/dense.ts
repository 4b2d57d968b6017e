import {
  type Axis,
  type PartialShape,
  type SparseTensor,
  sparse,
  type Tensor,
  type Variable,
} from '@eagre/core';
import { argumentsOf, differs, fusedMatMul, isFloating, showShape, takesOptions } from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../../activations.ts';
import type { ConstraintFunction } from '../../constraints.ts';
import { isStored, kindOf, onValues, type Stored, takesKinds } from '../../layer/kinds.ts';
import {
  type CallOptions,
  type FromConfig,
  type LayerOptions,
  ownsTemporaries,
  passesMask,
} from '../../layer/layer.ts';
import type { RegularizerFunction, RegularizerLike } from '../../regularizers.ts';
import {
  applyActivation,
  checkOne,
  fail,
  knownSize,
  linear,
  numbers,
  oneExample,
  penalize,
  relu,
  sizesOf,
} from '../common.ts';
import { activation, activityRegularizer, flag, integer, recipe, weights } from '../options.ts';
import { type BiasOptions, type KernelOptions, penalizedOptions } from '../weights.ts';
import {
  AdaptedLayer,
  type AdaptedOptions,
  adaptedOptions,
  addEightBits,
  addQuantized,
  eightBits,
  noteInputs,
  productOfIntegers,
  shapeOfWeight,
  toIntegers,
} from './adapted.ts';
import { biasBesideEightBits, productOfEightBits } from './eight-bit-floats.ts';
import { loraOf } from './lora.ts';

/** Options of `Dense`. */
export interface DenseOptions extends LayerOptions, KernelOptions, BiasOptions, AdaptedOptions {
  /** Applied to the result; none by default. */
  readonly activation?: ActivationLike;
  /** A penalty on the output, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
}

/** All arguments of `Dense`, by name. */
export interface DenseArguments extends DenseOptions {
  /** Size of the result's last axis. */
  readonly units: number;
}

/** `activation(x · kernel + bias)` over the last axis: [..., n] becomes [..., units]. */
export class Dense extends AdaptedLayer {
  declare static readonly fromConfig: FromConfig<Dense>;
  /** Size of the result's last axis. */
  declare readonly units: number;
  /** Applied to the result. */
  declare readonly activation: Activation;
  /** Whether a bias is added to the result. */
  declare readonly useBias: boolean;
  /** @internal */
  declare readonly kernelRegularizer: RegularizerFunction | null;
  /** @internal */
  declare readonly kernelConstraint: ConstraintFunction | null;
  /** @internal */
  declare readonly activityRegularizer: RegularizerFunction | null;
  /** [n, units]; of int8 the integers, of int4 [n, ⌈units / 2⌉], two in a byte, of gptq and awq [units, n] or of 4 bits [⌈units / 2⌉, n]. After `enableLora` the sum of both, which cannot be assigned to. */
  kernel!: Variable;
  /** [units], or null without a bias. */
  bias: Variable | null = null;
  /** After `enableLora`: [n, rank] and [rank, units]. */
  declare readonly loraKernelA?: Variable;
  /** After `enableLora`: the other matrix, [rank, units]. */
  declare readonly loraKernelB?: Variable;
  /** [units], by which the integers are divided; of int4 with groups [groups, units], of gptq and awq [units, groups], by which they are multiplied. */
  declare readonly kernelScale?: Variable;
  /** Of int4 with groups, gptq and awq: of the scale's shape, which is taken off the integers before. */
  declare readonly kernelZero?: Variable;
  /** Of int4 with groups, gptq and awq: [n], the group of each row. */
  declare readonly gIdx?: Variable;
  /** Of awq: [n], by which each row is divided at last. */
  declare readonly awqScales?: Variable;
  /** Of float8: the scale of the inputs and their largest magnitudes in the last steps, the same of the kernel, and of the gradient of the outputs. */
  declare readonly inputsScale?: Variable;
  /** Of float8: the largest magnitudes of the inputs in the last steps. */
  declare readonly inputsAmaxHistory?: Variable;
  /** Of float8: the largest magnitudes of the kernel in the last steps. */
  declare readonly kernelAmaxHistory?: Variable;
  /** Of float8: the scale of the gradient of the outputs. */
  declare readonly outputsGradScale?: Variable;
  /** Of float8: the largest magnitudes of the gradient of the outputs in the last steps. */
  declare readonly outputsGradAmaxHistory?: Variable;

  constructor(...args: [units: number | DenseArguments, options?: DenseOptions]) {
    super(argumentsOf<DenseArguments>(Dense, new.target, args));
  }

  override build(inputShape: PartialShape): void {
    this.#check(inputShape);
    const shape = [knownSize(this, inputShape, -1), this.units];
    if (this.quantizationMode === 'float8') addEightBits(this);
    if (this.isOfIntegers) addQuantized(this, 'kernel', shape, [this.units]);
    else this.kernel = this.addWeight({ name: 'kernel', shape, ...recipe(this, 'kernel') });
    if (this.useBias)
      this.bias = this.addWeight({ name: 'bias', shape: [this.units], ...recipe(this, 'bias') });
    this.addOwnLora();
  }

  /** @internal */
  override get largeWeight(): 'kernel' {
    return 'kernel';
  }
  /** @internal */
  protected override scaleOfWeight(scale: Tensor): Tensor {
    return scale;
  }
  /** @internal */
  override toIntegers(mode: unknown, config: unknown): void {
    toIntegers(this, Dense, mode, config);
  }
  /** @internal */
  override get nameOfZero(): string {
    return 'kernel_zero';
  }
  /** @internal */
  override get axisOfScale(): Axis {
    return 0;
  }
  /** @internal */
  override keptScale(scale: Tensor): Tensor {
    return scale.squeeze([0]);
  }

  override call(inputs: Tensor, { training }: CallOptions = {}): Tensor {
    if (kindOf(inputs) === 'ragged') return onValues(inputs, (flat) => this.call(flat, { training }));
    const x = numbers(this, inputs);
    this.#check(x.shape);
    if (isStored(x)) return this.#ofSparse(x);
    noteInputs(this, x);
    if (this.isOfIntegers) return this.#ofInts(x);
    if (this.quantizationMode === 'float8') return this.#ofEightBits(x, training === true);
    const fused = this.activation === relu;
    let y =
      x.dtype === this.computeDtype && isFloating(x.dtype)
        ? fusedMatMul(x, this.kernel, this.bias, { activation: fused ? 1 : 0 })
        : this.#promoted(x, fused);
    if (!fused && this.activation !== linear) y = applyActivation(this.activation, y);
    return penalize(this, y);
  }

  /** Of floats in another precision than its own, which `autocast: false` lets in, in the wider one; of integers. */
  #promoted(x: Tensor, fused: boolean): Tensor {
    const product = x.matmul(this.kernel);
    const y = this.bias === null ? product : product.add(this.bias);
    return fused ? relu(y) : y;
  }

  /** Of a sparse tensor, whose product needs the rows of the kernel alone that have a value. */
  #ofSparse(x: Stored): Tensor {
    if (x.rank !== 2 || this.quantizationMode !== null)
      fail(
        this,
        `expects sparse input of rank 2 [batch, n] and weights of floats, got ${showShape(x.shape)}`,
      );
    const product = sparse.sparseDenseMatmul(x as SparseTensor, this.kernel);
    const y = this.bias === null ? product : product.add(this.bias);
    return penalize(this, this.activation === linear ? y : applyActivation(this.activation, y));
  }

  #ofInts(x: Tensor): Tensor {
    let y = productOfIntegers(this, x, {
      axis: -1,
      product: (a, b) => a.matmul(b),
      ofInputs: (scale) => scale,
      ofWeight: (scale) => scale,
      back: (dy, kernel) => dy.matmul(kernel, { transposeB: true }),
    });
    const lora = loraOf(this);
    if (lora !== null) y = y.add(x.matmul(lora.a).matmul(lora.b).mul(lora.scale)).cast(this.computeDtype);
    if (this.bias !== null) y = y.add(this.bias);
    return penalize(this, this.activation === linear ? y : applyActivation(this.activation, y));
  }

  #ofEightBits(x: Tensor, training: boolean): Tensor {
    let y = productOfEightBits(x, this.kernel.cast(x.dtype), eightBits(this), training, (a, b) =>
      a.matmul(b),
    );
    if (this.bias !== null) y = y.add(biasBesideEightBits(this.bias.cast(x.dtype)));
    return penalize(this, this.activation === linear ? y : applyActivation(this.activation, y));
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    this.#check(inputShape);
    return [...inputShape.slice(0, -1), this.units];
  }

  #check(shape: PartialShape): void {
    if (checkOne(this, shape).length < 2) {
      fail(
        this,
        `expects input of rank 2 or more [batch, ..., n], got ${showShape(shape)}${oneExample(shape, 2)}`,
      );
    }
    const last = sizesOf(shape).at(-1) ?? null;
    const n = shapeOfWeight(this)?.[0];
    if (n !== undefined && last !== null && differs(last, n)) {
      fail(this, `was built for a last axis of ${n}, got ${last} (input ${showShape(shape)})`);
    }
  }
}
ownsTemporaries(Dense);
takesKinds(['sparse', 'ragged'], Dense);
passesMask(Dense);
takesOptions<DenseArguments, Dense>(
  {
    positional: ['units'],
    options: {
      units: integer(),
      activation: activation('linear'),
      useBias: flag(true),
      ...weights({ kernel: 'glorotUniform', bias: 'zeros' }),
      activityRegularizer,
      ...adaptedOptions,
      ...penalizedOptions,
    },
  },
  Dense,
);
