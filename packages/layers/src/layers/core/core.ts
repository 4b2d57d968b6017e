// Small layers: inputs, scaling, functions.

import { type DType, type PartialShape, Tensor } from '@eagre/core';
import {
  argumentsOf,
  checkCount,
  checkDTypeName,
  checkFlag,
  checkFunction,
  differs,
  dims,
  isFloating,
  isPlain,
  type Option,
  optionsFrom,
  takesOptions,
  toTensor,
} from '@eagre/core/internal';
import { inputKind, isStored, takesKinds, takesValuesOf } from '../../layer/kinds.ts';
import {
  builtAtOnce,
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerInput,
  type LayerOptions,
  type LayerOutput,
  ownsTemporaries,
  passesMask,
  type TensorSpec,
} from '../../layer/layer.ts';
import type { Mask } from '../../layer/masks.ts';
import { show } from '../../layer/show.ts';
import { checkPartialShape } from '../../layer/specs.ts';
import type { KerasTensor } from '../../models/keras-tensor.ts';
import { functionConfig, functionOf, pythonFunctionOf } from '../../saving/keras-object.ts';
import { type Config, checkOne, fail, inPrecision, sizesOf, values } from '../common.ts';
import { layerOptions } from '../weights.ts';

/** Options of `InputLayer`. */
export interface InputLayerOptions extends LayerOptions {
  /** Without the batch; `null` is unknown. The same as `inputShape`. */
  readonly shape?: PartialShape;
  /** How many examples each batch has; any number by default. */
  readonly batchSize?: number | null;
  /** Instead of `shape` and `batchSize`: the shape with the batch. */
  readonly batchShape?: PartialShape;
  /** Whether the input is sparse tensors; false by default. */
  readonly sparse?: boolean | null;
  /** Whether the input is ragged tensors; false by default. */
  readonly ragged?: boolean | null;
  /** A symbolic tensor that is the input. */
  readonly inputTensor?: KerasTensor | null;
  /** Whether a model may be called without the input; false by default. */
  readonly optional?: boolean;
}

interface InputConfig extends Config {
  readonly batch_shape?: PartialShape;
  readonly dtype?: DType;
  readonly sparse?: boolean;
  readonly ragged?: boolean;
  readonly optional?: boolean;
}

/** Says the shape of a Sequential model's input: `new Sequential([new InputLayer({ shape: [28, 28] }), …])`. */
export class InputLayer extends Layer {
  /** Without the batch; `null` is unknown. The same as `inputShape`. */
  readonly shape: PartialShape;
  /** @internal Of the input that it stands for, batch first. */
  declare readonly _input: TensorSpec & { readonly optional?: boolean };

  constructor(...args: [shape: PartialShape | InputLayerOptions, options?: InputLayerOptions]) {
    const options = argumentsOf<InputLayerOptions>(InputLayer, new.target, args);
    const {
      batchShape,
      batchSize = null,
      inputShape,
      sparse,
      ragged,
      inputTensor,
      optional,
      ...rest
    } = options;
    const given = inputTensor ?? null;
    const isWhole = batchShape !== undefined && batchShape !== null;
    const whole = isWhole ? checkPartialShape(batchShape, 'batchShape', 'InputLayer') : given?.shape;
    const shape = whole?.slice(1) ?? rest.shape ?? inputShape ?? undefined;
    super(shape === undefined ? options : { ...rest, inputShape: shape });
    if (shape === undefined) fail(this, 'needs a shape');
    if (isWhole && (batchSize ?? rest.shape ?? inputShape ?? null) !== null)
      fail(this, 'needs either shape and batchSize, or batchShape');
    if (batchSize !== null) checkCount(batchSize, 'batchSize', this.name, 1);
    this.shape = [...shape];
    this.describes({
      shape: whole ?? [batchSize, ...shape],
      dtype: given?.dtype ?? this.computeDtype,
      kind: given?.kind ?? inputKind({ sparse, ragged }, this.name),
      optional: checkFlag(optional, 'optional', this.name),
    });
  }
  /** @internal */
  describes(input: InputLayer['_input']): void {
    Object.defineProperty(this, '_input', { value: input, configurable: true });
  }
  override call(inputs: Tensor): Tensor {
    if (Array.isArray(inputs)) fail(this, `takes one tensor, got a list of ${inputs.length}`);
    const shape = isStored(inputs) ? sizesOf(inputs.shape) : dims(inputs);
    const fits =
      shape.length === this.shape.length + 1 &&
      this.shape.every((d, i) => {
        const own = shape[i + 1];
        return d === null || own === null || own === undefined || !differs(d, own);
      });
    if (!fits) {
      const expected = [null, ...this.shape].map((d) => d ?? 'any').join(', ');
      fail(this, `expects input of shape [${expected}], got [${shape.join(', ')}]`);
    }
    return inputs;
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
  override getConfig(): Record<string, unknown> {
    const { shape, dtype, kind, optional = false } = this._input;
    const kinds = { sparse: kind === 'sparse', ragged: kind === 'ragged' };
    return { batch_shape: shape, dtype, ...kinds, name: this.name, optional };
  }
  static override fromConfig(config: Config): InputLayer {
    const { batch_shape, dtype, sparse, ragged, optional, ...options } = config as InputConfig;
    const shape = batch_shape === undefined ? {} : { shape: batch_shape.slice(1) };
    const layer = new InputLayer(optionsFrom({ ...options, ...shape }, InputLayer));
    const input = {
      shape: batch_shape ?? [null, ...layer.shape],
      dtype: dtype ?? layer.computeDtype,
      kind: inputKind({ sparse, ragged }, 'InputLayer'),
      optional: checkFlag(optional, 'optional', 'InputLayer'),
    };
    checkDTypeName(input.dtype, 'InputLayer');
    layer.describes(input);
    return layer;
  }
}

/** Passes its input on; floats become those of the layer's dtype, as in Keras. */
export class Identity extends Layer {
  declare static readonly fromConfig: FromConfig<Identity>;
  override call(inputs: Tensor): Tensor {
    return values(this, inputs);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}

/** Options of `Rescaling`. */
export interface RescalingOptions extends LayerOptions {
  /** Added after scaling; 0 by default. */
  readonly offset?: number | readonly number[];
}

/** All arguments of `Rescaling`, by name. */
export interface RescalingArguments extends RescalingOptions {
  /** One number, or one for each element of the last axis. */
  readonly scale: number | readonly number[];
}

/** x · scale + offset; integers become floats. `new Rescaling(1 / 255)` for the bytes of images. */
export class Rescaling extends Layer {
  declare static readonly fromConfig: FromConfig<Rescaling>;
  /** One number, or one for each element of the last axis. */
  declare readonly scale: number | readonly number[];
  /** Added after scaling. */
  declare readonly offset: number | readonly number[];

  /** @param scale one number, or one for each element of the last axis. */
  constructor(...args: [scale: number | readonly number[] | RescalingArguments, options?: RescalingOptions]) {
    super(argumentsOf<RescalingArguments>(Rescaling, new.target, args));
  }
  override call(inputs: Tensor): Tensor {
    const { computeDtype } = this;
    // Of integers the factors are integers, too.
    if (!isFloating(computeDtype)) {
      if (computeDtype === 'bool') fail(this, 'computes with numbers and cannot be of the dtype bool');
      const [scale, offset] = [this.scale, this.offset].map((v) => toTensor(copy(v)).cast(computeDtype));
      return values(this, inputs).cast(computeDtype).mul(scale).add(offset);
    }
    const scaled = inPrecision(this, inputs).mul(copy(this.scale));
    return this.offset === 0 ? scaled : scaled.add(copy(this.offset));
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    return checkOne(this, inputShape);
  }
}
ownsTemporaries(InputLayer, Identity, Rescaling);
takesKinds(['sparse', 'ragged'], InputLayer);
takesValuesOf(['sparse', 'ragged'], Identity);
takesValuesOf(['ragged'], Rescaling);
builtAtOnce(InputLayer, Identity);
passesMask(Identity, Rescaling);
takesOptions<LayerOptions, Identity>({ options: layerOptions }, Identity);
takesOptions<InputLayerOptions, InputLayer>(
  {
    positional: ['shape'],
    required: 0,
    options: {
      shape: true,
      batchSize: true,
      sparse: true,
      ragged: true,
      batchShape: true,
      inputTensor: true,
      optional: true,
      ...layerOptions,
    },
  },
  InputLayer,
);
const numbers = (otherwise?: number): Option<number | readonly number[]> => ({
  read: (given, _, layer) => {
    const value = given ?? otherwise;
    const ok = Array.isArray(value) ? value.every((v) => typeof v === 'number') : typeof value === 'number';
    if (!ok) fail(layer as Layer, `needs numbers as scale and offset, got ${show(value)}`);
    return value as number | readonly number[];
  },
});
takesOptions<RescalingArguments, Rescaling>(
  { positional: ['scale'], options: { scale: numbers(), offset: numbers(0), ...layerOptions } },
  Rescaling,
);

const copy = (value: number | readonly number[]): number | number[] =>
  typeof value === 'number' ? value : [...value];

/** A function of one input, which `Lambda` makes a layer of. */
export type LambdaFunction = (inputs: Tensor, options: CallOptions) => LayerOutput;
/** A function of several inputs. */
export type LambdaListFunction = (inputs: Tensor[], options: CallOptions) => LayerOutput;

type LambdaMask = (inputs: LayerInput, mask: Mask) => Mask;

/** Options of `Lambda`. */
export interface LambdaOptions extends LayerOptions {
  /** The shape of the result without the batch, or a function of the input's shape; found by a try by default. */
  readonly outputShape?: PartialShape | ((inputShape: PartialShape) => PartialShape);
  /** The mask of the result, or a function of the inputs and their mask; none by default. */
  readonly mask?: Mask | ((inputs: LayerInput, mask: Mask) => Mask);
  /** Further options of the function, `(x, { factor })`. */
  readonly arguments?: Readonly<Record<string, unknown>> | null;
}

/** All arguments of `Lambda`, by name. */
export interface LambdaArguments extends LambdaOptions {
  /** What the layer does with its input: a function of a tensor, or of a list of them. */
  readonly function: LambdaFunction;
}

/** A function of a tensor, or of a list of them, as a layer; it has no weights. `new Lambda((x) => x.square())` */
export class Lambda extends Layer {
  declare static readonly fromConfig: FromConfig<Lambda>;
  /** What the layer does with its input: a function of a tensor, or of a list of them. */
  declare readonly function: LambdaFunction | LambdaListFunction;
  /** @internal As given. */
  declare readonly outputShape: LambdaOptions['outputShape'];
  /** @internal */
  declare readonly mask: Exclude<LambdaOptions['mask'], undefined>;
  /** Further options of the function, `(x, { factor })`. */
  declare readonly arguments: Readonly<Record<string, unknown>>;

  constructor(fn: LambdaFunction | LambdaArguments, options?: LambdaOptions);
  constructor(fn: LambdaListFunction, options?: LambdaOptions);
  constructor(...args: readonly unknown[]) {
    super(argumentsOf<LambdaArguments>(Lambda, new.target, args));
  }
  override call(inputs: LayerInput, options: CallOptions = {}): LayerOutput {
    return (this.function as LambdaFunction)(inputs as Tensor, { ...this.arguments, ...options });
  }
  override computeMask(inputs: LayerInput, mask: Mask): Mask {
    return typeof this.mask === 'function' ? (this.mask as LambdaMask)(inputs, mask) : this.mask;
  }
  override computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): PartialShape {
    const given = this.outputShape;
    if (given === undefined) return super.computeOutputShape(inputShape);
    const first = (Array.isArray(inputShape[0]) ? inputShape[0] : inputShape) as PartialShape;
    return typeof given === 'function' ? given(inputShape as PartialShape) : [first[0], ...given];
  }
}

builtAtOnce(Lambda);
takesKinds(['sparse', 'ragged'], Lambda);
takesOptions<LambdaArguments, Lambda>(
  {
    positional: ['function'],
    options: {
      function: {
        read: (given, _, layer) => {
          const { name } = layer as Layer;
          const fn = pythonFunctionOf(given, name) ?? functionOf(given, name) ?? given;
          checkFunction(fn, 'function', name);
          return fn as LambdaFunction;
        },
        write: functionConfig,
      },
      outputShape: {
        // What Python computes the shape by is not needed: a try finds it.
        read: (given) =>
          (isPlain(given) && given['class_name'] === '__lambda__'
            ? undefined
            : (functionOf(given) ?? given ?? undefined)) as LambdaOptions['outputShape'],
        write: functionConfig,
      },
      mask: {
        read: (given, name, layer) => {
          const mask = functionOf(given) ?? given ?? null;
          if (typeof mask === 'function' && !(mask instanceof Tensor))
            checkFunction(mask, name, (layer as Layer).name);
          return mask as never;
        },
        write: (mask) => (typeof mask === 'function' ? functionConfig(mask) : undefined),
      },
      arguments: {
        read: (given, _, layer) => {
          if (given !== undefined && given !== null && !isPlain(given))
            fail(layer as Layer, `needs arguments to be options by name, got ${show(given)}`);
          return (given ?? {}) as Config;
        },
      },
      ...layerOptions,
    },
  },
  Lambda,
);
