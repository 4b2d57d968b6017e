import { einsum, type PartialShape, type Shape, type Tensor, type Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  differs,
  type Option,
  orNull,
  showShape,
  takesOptions,
} from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../../activations.ts';
import type { ConstraintFunction } from '../../constraints.ts';
import { withAxes } from '../../initializers/initializer-axes.ts';
import {
  type CallOptions,
  type FromConfig,
  type Layer,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import type { RegularizerFunction, RegularizerLike } from '../../regularizers.ts';
import {
  applyActivation,
  checkOne,
  fail,
  linear,
  numbers,
  penalize,
  type Size,
  shapeOf,
  sizesOf,
} from '../common.ts';
import { activation, integer, recipe, regularizer, weights } from '../options.ts';
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
import type { MatrixForm } from './four-bits.ts';
import { baseOf, loraOf } from './lora.ts';

/** Options of `EinsumDense`. */
export interface EinsumDenseOptions
  extends LayerOptions,
    KernelOptions,
    Omit<BiasOptions, 'useBias'>,
    AdaptedOptions {
  /** Applied to the result; none by default. */
  readonly activation?: ActivationLike | null;
  /** The letters of the result along which a bias is added; no bias by default. */
  readonly biasAxes?: string | null;
  /** A penalty on the output, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
  /** Written of a layer of gptq, which finds it by itself. */
  readonly gptqUnpackedColumnSize?: number | null;
}

/** All arguments of `EinsumDense`, by name. */
export interface EinsumDenseArguments extends EinsumDenseOptions {
  /** Of the input and the kernel: `'abc,cd->abd'`; dots stand for any axes at the front or the end: `'...x,xy->...y'`. */
  readonly equation: string;
  /** Of the result without the batch and without what dots stand for; null for a size of the input's. */
  readonly outputShape: number | PartialShape;
}

/** What an equation says of a shape. */
interface Analysis {
  readonly kernel: Shape;
  readonly bias: Shape | null;
  readonly output: readonly Size[];
  /** The axes of the kernel that are summed, and those that come into the result. */
  readonly from: readonly number[];
  readonly to: readonly number[];
}

/** Of an equation; what the dots in it stand before or behind. */
interface Letters {
  readonly input: string;
  readonly kernel: string;
  readonly output: string;
  readonly dots: 'front' | 'end' | null;
}
const FORMS = /^(\.\.\.)?([a-z]+)(\.\.\.)?,([a-z]+)->(\.\.\.)?([a-z]+)(\.\.\.)?$/i;

/** The letters of input, kernel and result, and where dots stand; null for another form. */
function lettersOf(equation: string): Letters | null {
  const found = FORMS.exec(equation.replaceAll(' ', ''));
  if (found === null) return null;
  const [, front, input, end, kernel, front2, output, end2] = found as unknown as string[];
  if (front !== front2 || end !== end2 || (front !== undefined && end !== undefined)) return null;
  const dots = front !== undefined ? 'front' : end !== undefined ? 'end' : null;
  return { input: input as string, kernel: kernel as string, output: output as string, dots };
}

/** A dense layer of any axes: `activation(einsum(equation, x, kernel) + bias)`. */
export class EinsumDense extends AdaptedLayer {
  declare static readonly fromConfig: FromConfig<EinsumDense>;
  /** Of the input and the kernel: `'abc,cd->abd'`; dots stand for any axes at the front or the end: `'...x,xy->...y'`. */
  declare readonly equation: string;
  /** Without the batch and without what dots stand for. */
  declare readonly outputShape: PartialShape;
  /** The letters of the result along which a bias is added. */
  declare readonly biasAxes: string | null;
  /** Of gptq: the size of the outputs; null of others. */
  declare readonly gptqUnpackedColumnSize: number | null;
  /** Applied to the result. */
  declare readonly activation: Activation;
  /** @internal */
  declare readonly activityRegularizer: RegularizerFunction | null;
  /** @internal */
  declare readonly kernelRegularizer: RegularizerFunction | null;
  /** @internal */
  declare readonly kernelConstraint: ConstraintFunction | null;
  /** After `enableLora`: the kernel's shape with rank as the last size, and [rank, last]. */
  declare readonly loraKernelA?: Variable;
  /** After `enableLora`: the other of both matrices. */
  declare readonly loraKernelB?: Variable;
  /**
   * By which the integers are divided: of the result's rank, with sizes of 1 where it does not differ; of int4 [columns], or with groups [groups,
   * columns], of gptq and awq [columns, groups], by which they are multiplied.
   */
  declare readonly kernelScale?: Variable;
  /** Of int4 with groups, gptq and awq: of the scale's shape, which is taken off the integers before. */
  declare readonly kernelZero?: Variable;
  /** Of int4 with groups, gptq and awq: the group of each row. */
  declare readonly gIdx?: Variable;
  /** Of awq: by which each row is divided at last. */
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
  /** Of int8 the integers, of int4, gptq and awq a matrix of them. After `enableLora` the sum of both, which cannot be assigned to. */
  kernel!: Variable;
  /** Along `biasAxes`, or null without one. */
  bias: Variable | null = null;
  readonly #letters: Letters;

  constructor(
    ...args: Arguments<
      [equation: string, outputShape: number | PartialShape],
      ['equation', 'outputShape'],
      EinsumDenseOptions
    >
  ) {
    super(argumentsOf<EinsumDenseArguments>(EinsumDense, new.target, args));
    const letters = lettersOf(this.equation);
    if (letters === null)
      fail(
        this,
        `needs an equation 'x,y->z', '...x,y->...z' or 'x...,y->z...' of letters, got ${show(this.equation)}`,
      );
    this.#letters = letters;
  }

  override build(inputShape: PartialShape): void {
    const { kernel, bias, from, to } = this.#analyse(inputShape);
    const { initializer, ...rest } = recipe(this, 'kernel');
    if (this.quantizationMode === 'float8') addEightBits(this);
    if (this.isOfIntegers) addQuantized(this, 'kernel', kernel, this.#scaleShape(inputShape.length, kernel));
    else
      this.kernel = this.addWeight({
        name: 'kernel',
        shape: kernel,
        initializer: withAxes(initializer, from, to),
        ...rest,
      });
    if (bias !== null) this.bias = this.addWeight({ name: 'bias', shape: bias, ...recipe(this, 'bias') });
    this.addOwnLora();
  }

  /** @internal */
  override get largeWeight(): 'kernel' {
    return 'kernel';
  }
  /** @internal */
  override toIntegers(mode: unknown, config: unknown): void {
    toIntegers(this, EinsumDense, mode, config);
  }
  /** @internal As Keras cuts the numbers as they lie, whatever the order of the axes. */
  override matrixForm(shape: Shape): MatrixForm {
    const summed = new Set(this.axisOfScale);
    const size = (of: boolean): number => shape.reduce((n, d, i) => (summed.has(i) === of ? n * d : n), 1);
    return { rows: size(true), columns: size(false), axis: 0 };
  }
  /** @internal */
  override get axisOfScale(): readonly number[] {
    const { kernel, output } = this.#letters;
    return [...kernel].flatMap((letter, i) => (output.includes(letter) ? [] : [i]));
  }
  /** @internal */
  override keptScale(scale: Tensor): Tensor {
    const shape = (baseOf(this, 'kernel') as Variable).shape;
    const built = this._layer.shape as PartialShape;
    const kept = scale.squeeze(this.axisOfScale).transpose(this.#orderOfKernel());
    return kept.reshape(this.#scaleShape(built.length, shape));
  }
  /** The letters that kernel and result share, as the kernel has them: their places in the order of the result. */
  #orderOfKernel(): number[] {
    const { kernel, output } = this.#letters;
    const shared = [...kernel].filter((letter) => output.includes(letter));
    return [...output].filter((letter) => shared.includes(letter)).map((letter) => shared.indexOf(letter));
  }
  /** Of the kernel's scale, so that it meets the result. @param rank of the inputs */
  #scaleShape(rank: number, kernelShape: Shape): number[] {
    const { input, kernel, output, dots } = this.#letters;
    const own = [...output].map((letter) =>
      kernel.includes(letter) ? (kernelShape[kernel.indexOf(letter)] as number) : 1,
    );
    const elided = new Array<number>(rank - input.length).fill(1);
    return dots === 'front' ? [...elided, ...own] : [...own, ...elided];
  }
  /** @internal The scale with the axes of the kernel. */
  protected override scaleOfWeight(scale: Tensor): Tensor {
    const { kernel, output } = this.#letters;
    const shape = (baseOf(this, 'kernel') as Variable).shape;
    const shared = [...output].filter((letter) => kernel.includes(letter));
    const sizes = shared.map((letter) => shape[kernel.indexOf(letter)] as number);
    const own = [...kernel].filter((letter) => output.includes(letter));
    return scale
      .reshape(sizes)
      .transpose(own.map((letter) => shared.indexOf(letter)))
      .reshape([...kernel].map((letter, i) => (output.includes(letter) ? (shape[i] as number) : 1)));
  }
  #ofInts(x: Tensor): Tensor {
    const { input, kernel, output, dots } = this.#letters;
    const elided = x.rank - input.length;
    // Letters for what dots stand for.
    const free = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'].filter(
      (letter) => !(input + kernel + output).includes(letter),
    );
    const more = free.slice(0, elided).join('');
    const from = dots === 'front' ? more + input : input + more;
    const to = dots === 'front' ? more + output : output + more;
    const axis = [...from].flatMap((letter, i) => (to.includes(letter) ? [] : [i]));
    const shared = [...from].filter((letter) => to.includes(letter));
    const order = [...to].filter((letter) => shared.includes(letter)).map((letter) => shared.indexOf(letter));
    return productOfIntegers(this, x, {
      axis,
      product: (a, b) => einsum(`${from},${kernel}->${to}`, a, b),
      ofInputs: (scale) => {
        let aligned = scale.squeeze(axis).transpose(order);
        [...to].forEach((letter, i) => {
          if (!shared.includes(letter)) aligned = aligned.expandDims(i);
        });
        return aligned;
      },
      ofWeight: (scale) => this.scaleOfWeight(scale),
      back: (dy, weight) => einsum(`${to},${kernel}->${from}`, dy, weight),
    });
  }

  override call(inputs: Tensor, { training }: CallOptions = {}): Tensor {
    const x = numbers(this, inputs);
    this.#analyse(x.shape);
    noteInputs(this, x);
    if (this.quantizationMode === 'float8') return this.#ofEightBits(x, training === true);
    let y = this.quantizationMode === null ? einsum(this.equation, x, this.kernel) : this.#ofInts(x);
    const lora = this.quantizationMode === null ? null : loraOf(this);
    if (lora !== null)
      y = y.add(einsum(this.equation, x, lora.a).matmul(lora.b).mul(lora.scale)).cast(this.computeDtype);
    if (this.bias !== null) y = y.add(this.bias);
    return penalize(this, this.activation === linear ? y : applyActivation(this.activation, y));
  }

  #ofEightBits(x: Tensor, training: boolean): Tensor {
    const product = (a: Tensor, b: Tensor): Tensor => einsum(this.equation, a, b);
    let y = productOfEightBits(x, this.kernel.cast(x.dtype), eightBits(this), training, product);
    if (this.bias !== null) y = y.add(biasBesideEightBits(this.bias.cast(x.dtype)));
    return penalize(this, this.activation === linear ? y : applyActivation(this.activation, y));
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return shapeOf(this.#analyse(inputShape).output);
  }

  #analyse(inputShape: PartialShape): Analysis {
    const { input, kernel, output, dots } = this.#letters;
    const shape = sizesOf(checkOne(this, inputShape));
    const elided = shape.length - input.length;
    if (elided < 0 || (dots === null && elided > 0))
      fail(
        this,
        `takes input of rank ${input.length} by its equation '${this.equation}', got ${showShape(inputShape)}`,
      );
    const first = dots === 'front' ? elided : 0;
    const covered = shape.slice(...(dots === 'front' ? [0, elided] : [shape.length - elided]));
    const own = new Map([...input].map((letter, i) => [letter, shape[first + i]]));
    // The batch is the first axis, whether dots stand for it or a letter.
    const named = dots === 'front' && elided > 0 ? this.outputShape : [shape[0], ...this.outputShape];
    if (named.length !== output.length)
      fail(this, `needs an outputShape for '${output}' without the batch, got ${show(this.outputShape)}`);
    const sizes = new Map(
      [...output].map((letter, i): [string, Size] => {
        const size = named[i] ?? own.get(letter) ?? null;
        const before = own.get(letter) ?? null;
        if (size !== null && before !== null && differs(size, before))
          fail(
            this,
            `has size ${before} of '${letter}' in input ${showShape(inputShape)}, and ${size} in its outputShape`,
          );
        return [letter, size];
      }),
    );
    const known = (letter: string): number => {
      const size = sizes.get(letter) ?? own.get(letter) ?? null;
      if (typeof size !== 'number') fail(this, `needs to know the size of '${letter}' in '${this.equation}'`);
      return size;
    };
    for (const letter of output)
      if (!own.has(letter) && !kernel.includes(letter))
        fail(this, `has '${letter}' in its result, but in neither input nor kernel: '${this.equation}'`);
    for (const letter of kernel)
      if (!own.has(letter) && !output.includes(letter))
        fail(this, `has '${letter}' in its kernel, but in neither input nor result: '${this.equation}'`);
    const axes = [...kernel].map((_, axis) => axis);
    const isOutput = (axis: number): boolean => output.includes(kernel[axis] as string);
    const result = [...output].map((letter) => sizes.get(letter) ?? null);
    return {
      kernel: shapeOfWeight(this) ?? [...kernel].map(known),
      bias: this.#bias(output, known, dots === 'end' ? elided : 0),
      output: dots === 'front' ? [...covered, ...result] : [...result, ...covered],
      from: axes.filter((axis) => !isOutput(axis)),
      to: axes.filter(isOutput),
    };
  }

  /** The bias has sizes of 1 where it is the same, from its first axis on. */
  #bias(output: string, size: (letter: string) => number, behind: number): Shape | null {
    const { biasAxes } = this;
    if (biasAxes === null) return null;
    for (const letter of biasAxes)
      if (!output.includes(letter))
        fail(this, `has a bias along '${letter}', which its result '${output}' does not have`);
    const first = Math.min(...[...biasAxes].map((letter) => output.indexOf(letter)));
    const own = [...output.slice(first)].map((letter) => (biasAxes.includes(letter) ? size(letter) : 1));
    return [...own, ...new Array<number>(behind).fill(1)];
  }
}
ownsTemporaries(EinsumDense);

const text: Option<string> = {
  read: (given, name, layer) => {
    if (typeof given !== 'string') fail(layer as Layer, `needs ${name} as text, got ${show(given)}`);
    return given;
  },
};
const outputShape: Option<PartialShape> = {
  read: (given, name, layer) => {
    const list = typeof given === 'number' ? [given] : given;
    if (!Array.isArray(list) || !list.every((d) => d === null || (Number.isSafeInteger(d) && d >= 1)))
      fail(layer as Layer, `needs ${name} of integers of at least 1 or null, got ${show(given)}`);
    return list as PartialShape;
  },
};
takesOptions<EinsumDenseArguments, EinsumDense>(
  {
    positional: ['equation', 'outputShape'],
    options: {
      outputShape,
      equation: text,
      activation: activation('linear'),
      biasAxes: orNull(text),
      ...weights({ kernel: 'glorotUniform', bias: 'zeros' }),
      activityRegularizer: regularizer,
      ...adaptedOptions,
      gptqUnpackedColumnSize: { ...orNull(integer()), write: (value) => value ?? undefined },
      ...penalizedOptions,
    },
  },
  EinsumDense,
);
