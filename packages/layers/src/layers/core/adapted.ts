// What becomes of the weights of dense layers and tables afterwards: integers with a scale, or frozen ones beside two small matrices (LoRA).

import { customGradient } from '@eagre/autodiff';
import {
  type Axis,
  FailedPreconditionError,
  InvalidArgumentError,
  type Shape,
  type Tensor,
  type TensorLike,
  UnimplementedError,
  type Variable,
} from '@eagre/core';
import { defineMethods, inScope, isFloating, type Option } from '@eagre/core/internal';
import type { CalibratedConfig } from '../../calibrated-quantizers.ts';
import {
  DTypePolicyMap,
  Int4DTypePolicy,
  policyAt,
  policyOfMode,
  QuantizedFloat8DTypePolicy,
} from '../../layer/dtype-policy.ts';
import { checkBuilt, Layer, noteChange } from '../../layer/layer.ts';
import { show } from '../../layer/show.ts';
import {
  AbsMaxQuantizer,
  Float8QuantizationConfig,
  Int4QuantizationConfig,
  Int8QuantizationConfig,
  QuantizationConfig,
  type Quantizer,
} from '../../quantizers.ts';
import { serializedConfig } from '../../saving/quantization-config.ts';
import type { EightBits, Scaled } from './eight-bit-floats.ts';
import {
  type Calibration,
  type FewBits,
  type FewBitsForm,
  fewBitsShapes,
  floatsOfFewBits,
  matrixOf,
} from './few-bits.ts';
import {
  type FourBits,
  floatsOf,
  fourBitsOf,
  groupsOf,
  type MatrixForm,
  productOfFourBits,
  shapesOf,
} from './four-bits.ts';
import {
  addLora,
  baseOf,
  checkLora,
  type Fields,
  forgetLora,
  hide,
  type LargeWeight,
  type LoraOptions,
  loraOf,
  loraOptionNames,
  type OwnLoraOptions,
  ownLoraOptions,
  withLora,
} from './lora.ts';

export interface AdaptedOptions extends OwnLoraOptions {
  /** How a layer of the policy `int8_from_float32` or `int4/128_from_float32` quantizes. */
  readonly quantizationConfig?: QuantizationConfig | null;
}

/** The options of `AdaptedOptions`. */
export const adaptedOptions: {
  readonly loraRank: Option<number | null>;
  readonly loraAlpha: Option<number | null>;
  readonly quantizationConfig: Option<QuantizationConfig | null>;
} = {
  ...ownLoraOptions,
  quantizationConfig: serializedConfig,
};

/** A layer whose large weight can be quantized, and have LoRA beside it. */
export abstract class AdaptedLayer extends Layer {
  /** Trains two matrices of this rank instead of the large one, as `enableLora` does. */
  declare readonly loraRank: number | null;
  declare readonly loraAlpha: number | null;
  /** How a layer of the policy `int8_from_float32` or `int4/128_from_float32` quantizes. */
  declare readonly quantizationConfig: QuantizationConfig | null;

  /** @internal */
  abstract get largeWeight(): LargeWeight;
  /** @internal Along which axes elements of the weight have one scale. */
  abstract get axisOfScale(): Axis;
  /** @internal A scale with sizes of 1 in the shape in which it is kept. */
  abstract keptScale(scale: Tensor): Tensor;
  /** @internal The weight as a matrix, of which integers of 4 bits are made. */
  matrixForm([rows, columns]: Shape): MatrixForm {
    return { rows: rows as number, columns: columns as number, axis: 0 };
  }
  /** @internal The floats that a weight of few bits stands for. */
  floatsOfBits(): Tensor {
    const dtype = this.computeDtype as 'float32';
    if (isCalibrated(this)) {
      const { kept, form, shape } = fewBits(this);
      return floatsOfFewBits(kept, form, dtype).reshape(shape);
    }
    const { form, shape, kept } = fourBits(this);
    return floatsOf(kept, form, dtype).reshape(shape);
  }
  /** @internal The name of zero points in what `model.quantize` calibrated. */
  get nameOfZero(): string {
    return 'zero_point';
  }
  /** @internal The scale of a weight of integers, so that it meets the weight. */
  protected abstract scaleOfWeight(scale: Tensor): Tensor;

  /** @internal Whether it can multiply floats of 8 bits. */
  get takesFloat8(): boolean {
    return true;
  }
  /** @internal Whether the large weight is kept as integers. */
  protected get isOfIntegers(): boolean {
    const { quantizationMode: mode } = this;
    return mode === 'int8' || mode === 'int4' || isCalibrated(this);
  }
  /** Whether two small matrices are trained instead of the large weight. */
  get loraEnabled(): boolean {
    return loraOf(this) !== null;
  }
  /**
   * Freezes the large weight, and trains two matrices whose product, times `loraAlpha / rank`, is added to it (Hu and others, "LoRA", 2021).
   * Compile a model anew behind it.
   * @throws FailedPreconditionError before the layer is built and a second time, InvalidArgumentError for a weight with a constraint.
   */
  enableLora(rank: number, options?: LoraOptions | null): void;
  enableLora(
    options: {
      /** How many columns the small matrices have, from 1 on. */
      readonly rank: number;
    } & LoraOptions,
  ): void;
  enableLora(rank: unknown, options?: LoraOptions | null): void {
    const checked = checkLora(this, rank);
    if (this.quantizationMode === 'float8')
      throw new UnimplementedError('LoRA beside floats of 8 bits', this.name);
    if (isCalibrated(this))
      throw new UnimplementedError(`LoRA beside weights of ${this.quantizationMode}`, this.name);
    this.#addLora(checked, options ?? {});
  }
  /** @internal Makes the small matrices that the options asked for; at the end of `build`. */
  protected addOwnLora(): void {
    if (this.loraRank !== null) this.#addLora(this.loraRank, { loraAlpha: this.loraAlpha });
  }

  #addLora(rank: number, options: LoraOptions): void {
    const name = this.largeWeight;
    // Of 4 bits two share a place.
    const { shape } =
      this.quantizationMode === 'int4' ? fourBits(this) : ((this as unknown as Fields)[name] as Variable);
    addLora(this, rank, options, { name, shape, floats: (base) => this.#floats(base) });
  }
  /** @internal As Keras's files have them: the large weight, its scale and what else it needs at the end, and not what LoRA adds. */
  override get fileVariables(): Variable[] {
    const own = super.fileVariables;
    const first = baseOf(this, this.largeWeight);
    if (first === undefined || (this.quantizationMode === null && loraOf(this) === null)) return own;
    const { a, b } = loraOf(this) ?? {};
    const more = besides(this);
    const rest = own.filter((v) => v !== first && v !== a && v !== b && !more.includes(v));
    return isCalibrated(this) ? [...rest, first, ...more] : [first, ...rest, ...more];
  }
  /** What LoRA adds becomes part of the large weight, as in Keras. */
  override saveOwnVariables(
    store:
      | Record<string, TensorLike>
      | {
          /** Where the copies are put: an object, mostly an empty one. */
          readonly store: Record<string, TensorLike>;
        },
  ): void {
    super.saveOwnVariables(store);
    const lora = loraOf(this);
    const base = baseOf(this, this.largeWeight);
    if (lora === null || base === undefined) return;
    const merged = withLora(this.#floats(base), lora);
    const into = store as Record<string, TensorLike>;
    if (this.quantizationMode === null || this.quantizationMode === 'float8')
      into['0'] = merged.cast(base.dtype);
    else if (this.quantizationMode === 'int4') {
      const { form, block } = fourBits(this);
      const own = fourBitsOf(merged.reshape([form.rows, form.columns]), form, block, null);
      const { scale, zero } = fourBits(this).kept;
      into['0'] = own.packed;
      into[`${this.fileVariables.indexOf(scale)}`] = own.scale;
      if (zero !== null && own.zero !== null) into[`${this.fileVariables.indexOf(zero)}`] = own.zero;
    } else {
      const [ints, scales] = standard()(merged, { axis: this.axisOfScale }) as [Tensor, Tensor];
      into['0'] = ints;
      const { scale } = quantizedOf(this, this.largeWeight);
      into[`${this.fileVariables.indexOf(scale)}`] = this.keptScale(scales);
    }
  }
  /** @internal What was loaded has what LoRA had added before. */
  override finishLoading(): void {
    forgetLora(this);
  }
  /** The large weight as floats. */
  #floats(base: Variable): Tensor {
    if (!this.isOfIntegers) return base.read();
    if (this.quantizationMode === 'int4') return this.floatsOfBits();
    const { scale } = quantizedOf(this, this.largeWeight);
    return base.cast(this.computeDtype).div(this.scaleOfWeight(scale.cast(this.computeDtype)));
  }
}
defineMethods(AdaptedLayer.prototype, 'AdaptedLayer', {
  enableLora: { positional: ['rank'], options: loraOptionNames, called: 'enableLora' },
});

// ---- integers

/** The integers of a weight and what they are divided by. */
export interface Quantized {
  readonly ints: Variable;
  readonly scale: Variable;
}

/** The integers behind a weight. */
export function quantizedOf(layer: Layer, name: LargeWeight): Quantized {
  const scale = (layer as unknown as Fields)[`${name}Scale`] as Variable;
  return { ints: baseOf(layer, name) as Variable, scale };
}

/** The variables beside the integers, in the order of files. */
function besides(layer: AdaptedLayer): Variable[] {
  if (layer.quantizationMode === null) return [];
  if (layer.quantizationMode === 'int8') return [quantizedOf(layer, layer.largeWeight).scale];
  if (layer.quantizationMode === 'float8')
    return Object.values(eightBits(layer)).flatMap(({ scale, history }: Scaled) => [scale, history]);
  if (isCalibrated(layer)) {
    const { scale, zero, channels, group } = fewBits(layer).kept;
    return [scale, zero, channels, group].filter((v) => v !== null);
  }
  const { scale, zero, group } = fourBits(layer).kept;
  return [scale, zero, group].filter((v) => v !== null);
}

/** What a layer of 4 bits keeps, and of which matrix. */
interface OfFourBits {
  readonly kept: FourBits;
  readonly form: MatrixForm;
  /** Of the floats. */
  readonly shape: Shape;
  readonly block: number | null;
}
/** @internal */
export function fourBits(layer: AdaptedLayer): OfFourBits {
  return (layer as unknown as Fields)['_fourBits'] as OfFourBits;
}

/** Whether weights are of `gptq` or `awq`. */
const isCalibrated = ({ quantizationMode: mode }: Layer): boolean => mode === 'gptq' || mode === 'awq';

/** What a layer of `gptq` or `awq` keeps, and of which matrix. */
interface OfFewBits {
  readonly kept: FewBits;
  readonly form: FewBitsForm;
  /** Of the floats. */
  readonly shape: Shape;
}
function fewBits(layer: AdaptedLayer): OfFewBits {
  return (layer as unknown as Fields)['_fewBits'] as OfFewBits;
}
/** The shape of the floats of the large weight; undefined before it is built. */
export function shapeOfWeight(layer: AdaptedLayer): Shape | undefined {
  if (isCalibrated(layer)) return (fewBits(layer) as OfFewBits | undefined)?.shape;
  return baseOf(layer, layer.largeWeight)?.shape;
}

/** Makes the weights of a layer that is of `gptq` or `awq` from the beginning, or becomes it. */
function addFewBits(layer: AdaptedLayer, shape: Shape): FewBits {
  const {
    mode,
    weightBits: bits,
    groupSize,
  } = policyAt(layer.dtypePolicy, layer._layer.path) as never as {
    readonly mode: 'gptq' | 'awq';
    readonly weightBits: number;
    readonly groupSize: number;
  };
  const [rows, columns] = matrixFor(layer, shape, mode);
  const form: FewBitsForm = { rows, columns, bits, groupSize, mode };
  const shapes = fewBitsShapes(form);
  const make = (
    name: string,
    of: Shape,
    initializer: 'ones' | 'zeros',
    dtype?: 'uint8' | 'float32',
  ): Variable =>
    layer.addWeight({
      name,
      shape: of,
      initializer,
      trainable: false,
      ...(dtype === undefined ? {} : { dtype, autocast: false }),
    });
  const codes = make('kernel', shapes.codes, 'zeros', 'uint8');
  const scale = make('kernel_scale', shapes.scale, 'ones');
  const zero = make(layer.nameOfZero, shapes.zero, 'zeros', 'uint8');
  const channels = shapes.channels === null ? null : make('awq_scales', shapes.channels, 'ones');
  const group = make('g_idx', shapes.group, 'zeros', 'float32');
  const fields = layer as unknown as Fields;
  Object.assign(fields, { kernel: codes, kernelScale: scale, kernelZero: zero, gIdx: group });
  if (channels !== null) fields['awqScales'] = channels;
  if (mode === 'gptq' && 'gptqUnpackedColumnSize' in layer) fields['gptqUnpackedColumnSize'] = columns;
  const kept = { codes, scale, zero, channels, group };
  hide(layer, '_fewBits', { kept, form, shape } satisfies OfFewBits);
  return kept;
}
/** @throws UnimplementedError for a table, and for a kernel of another rank than 2 and 3 */
function matrixFor(
  layer: AdaptedLayer,
  shape: Shape,
  mode: string,
): readonly [rows: number, columns: number] {
  const found = layer.largeWeight === 'kernel' ? matrixOf(shape) : null;
  if (found !== null) return found;
  throw new UnimplementedError(
    `${mode} is of kernels of rank 2 and 3, not of the ${layer.largeWeight} [${shape.join(', ')}]`,
    layer.name,
  );
}

/**
 * The rows of the kernel as `gptq` and `awq` cut it.
 * @throws FailedPreconditionError unless the layer is built and of floats, UnimplementedError with LoRA and for what cannot be calibrated
 */
export function rowsToCalibrate(layer: AdaptedLayer, mode: 'gptq' | 'awq'): number {
  checkUnquantized(layer);
  if (loraOf(layer) !== null) throw new UnimplementedError(`${mode} of a layer with LoRA`, layer.name);
  return matrixFor(layer, (baseOf(layer, layer.largeWeight) as Variable).shape, mode)[0];
}
/** The kernel becomes the integers that a calibration finds. */
export function toFewBits(layer: AdaptedLayer, config: CalibratedConfig, calibration: Calibration): void {
  const before = layer as unknown as { readonly kernel: Variable };
  const { shape } = before.kernel;
  const matrix = before.kernel
    .read()
    .cast('float32')
    .reshape([...matrixFor(layer, shape, config.mode)]);
  const found = calibration.find(matrix);
  forget(layer, before.kernel);
  (layer as unknown as Fields)['quantizationConfig'] = config;
  becomeQuantized(layer, config.dtypePolicyString());
  const kept = addFewBits(layer, shape);
  kept.codes.assign(found.codes);
  kept.scale.assign(found.scale.cast(kept.scale.dtype));
  kept.zero.assign(found.zero.cast('uint8'));
  kept.group.assign(found.group);
  if (found.channels !== null) kept.channels?.assign(found.channels.cast(kept.channels.dtype));
  noteChange();
}

let seen: ReadonlyMap<Layer, Calibration> | null = null;
/** Shows the inputs of layers to their calibrations while a function runs. */
export function whileSeen(calibrations: ReadonlyMap<Layer, Calibration>, run: () => void): void {
  seen = calibrations;
  try {
    run();
  } finally {
    seen = null;
  }
}
/** A layer's inputs, which a calibration may want to see. */
export function noteInputs(layer: AdaptedLayer, x: Tensor): void {
  if (seen !== null) seen.get(layer)?.see(x);
}

/** @internal The scales of a layer that multiplies floats of 8 bits. */
export function eightBits(layer: AdaptedLayer): EightBits {
  return (layer as unknown as Fields)['_eightBits'] as EightBits;
}

/** @internal Makes the scales of a layer that multiplies floats of 8 bits from the beginning, or becomes it. */
export function addEightBits(layer: AdaptedLayer): void {
  const policy = policyAt(layer.dtypePolicy, layer._layer.path);
  const length = policy instanceof QuantizedFloat8DTypePolicy ? policy.amaxHistoryLength : 1024;
  const make = (name: string, shape: Shape, initializer: 'ones' | 'zeros'): Variable => {
    const made = layer.addWeight({ name, shape, initializer, dtype: 'float32', autocast: false });
    made.overwriteWithGradient = true;
    return made;
  };
  const fields = layer as unknown as Fields;
  const pair = (name: string, own: string): Scaled => {
    const scale = make(`${name}_scale`, [], 'ones');
    const history = make(`${name}_amax_history`, [length], 'zeros');
    fields[`${own}Scale`] = scale;
    fields[`${own}AmaxHistory`] = history;
    return { scale, history };
  };
  const inputs = pair('inputs', 'inputs');
  const kernel = pair('kernel', 'kernel');
  const made: EightBits = { inputs, kernel, outputsGrad: pair('outputs_grad', 'outputsGrad') };
  hide(layer, '_eightBits', made);
}

/** How many elements in a row have a scale together, as the configuration of a layer says, or its policy; null for all. */
function blockOf(layer: AdaptedLayer): number | null {
  const { quantizationConfig: config } = layer;
  if (config instanceof Int4QuantizationConfig) return config.blockSize === -1 ? null : config.blockSize;
  const policy = policyAt(layer.dtypePolicy, layer._layer.path);
  return policy instanceof Int4DTypePolicy ? policy.blockSize : null;
}

/** Makes the weights of a layer that is of 4 bits from the beginning, or becomes it. */
function addFourBits(layer: AdaptedLayer, shape: Shape, form: MatrixForm, block: number | null): OfFourBits {
  const name = layer.largeWeight;
  const shapes = shapesOf(form, block);
  const make = (own: string, of: Shape, dtype?: 'int8' | 'float32'): Variable =>
    layer.addWeight({
      name: own,
      shape: of,
      initializer: own.endsWith('scale') ? 'ones' : 'zeros',
      trainable: false,
      ...(dtype === undefined ? {} : { dtype, autocast: false }),
    });
  const packed = make(name, shapes.packed, 'int8');
  const scale = make(`${name}_scale`, shapes.scale);
  const zero = shapes.zero === null ? null : make(`${name}_zero`, shapes.zero, 'int8');
  const group = shapes.group === null ? null : make('g_idx', shapes.group, 'float32');
  if (group !== null) group.assign(groupsOf(group.size, block as number));
  const fields = layer as unknown as Fields;
  // With LoRA the name is that of the sum.
  if (loraOf(layer) === null) fields[name] = packed;
  else hide(layer, `_${name}`, packed);
  fields[`${name}Scale`] = scale;
  if (zero !== null) fields[`${name}Zero`] = zero;
  if (group !== null) fields['gIdx'] = group;
  const made: OfFourBits = { kept: { packed, scale, zero, group }, form, shape, block };
  hide(layer, '_fourBits', made);
  return made;
}

/** Makes the weights of a layer that is of integers from the beginning, or becomes it. */
export function addQuantized(
  layer: AdaptedLayer,
  name: LargeWeight,
  shape: Shape,
  scaleShape: Shape,
): Quantized {
  if (isCalibrated(layer)) {
    const { codes, scale } = addFewBits(layer, shape);
    return { ints: codes, scale };
  }
  if (layer.quantizationMode === 'int4') {
    const { packed, scale } = addFourBits(layer, shape, layer.matrixForm(shape), blockOf(layer)).kept;
    return { ints: packed, scale };
  }
  const ints = layer.addWeight({
    name,
    shape,
    initializer: 'zeros',
    dtype: 'int8',
    trainable: false,
    autocast: false,
  });
  const scale = layer.addWeight({
    name: `${name}_scale`,
    shape: scaleShape,
    initializer: 'ones',
    trainable: false,
  });
  const fields = layer as unknown as Fields;
  // With LoRA the name is that of the sum.
  if (loraOf(layer) === null) fields[name] = ints;
  else hide(layer, `_${name}`, ints);
  fields[`${name}Scale`] = scale;
  return { ints, scale };
}

/** What quantizes the inputs of a layer; null where they stay floats. */
export function inputsQuantizer(layer: AdaptedLayer): Quantizer | null {
  const { quantizationConfig: config } = layer;
  if (config !== null) return config.activationQuantizer;
  return layer.quantizationMode === 'int8' ? standard() : null;
}
/** @internal The quantizer of inputs where a configuration says nothing else. */
export const standard = (): AbsMaxQuantizer => (last ??= new AbsMaxQuantizer());
let last: AbsMaxQuantizer | undefined;

/**
 * Makes the weight of a layer one of integers.
 * @param own the class that can be quantized, of which extensions may compute something else
 * @throws UnimplementedError for other modes and for classes that extend the layer's, FailedPreconditionError unless it is built and of floats
 */
export function toIntegers(layer: AdaptedLayer, own: object, mode: unknown, given: unknown): void {
  const config = configFor(layer, mode, given);
  if (isCalibratedMode(config.mode))
    throw new UnimplementedError(
      `one layer alone cannot be of ${config.mode}; model.quantize calibrates it among others`,
      layer.name,
    );
  if (layer.constructor !== own)
    throw new UnimplementedError(
      `${layer.constructor.name} extends a layer that can be quantized, and may compute something else; quantize the layers that it consists of`,
      layer.name,
    );
  checkUnquantized(layer);
  if (layer.computeDtype === 'float16' && config.mode === 'int8')
    throw new InvalidArgumentError(
      `float16 is too narrow for the sums of ${config.mode}; use mixed_bfloat16 or float32`,
      layer.name,
    );
  const become =
    config instanceof Float8QuantizationConfig
      ? toEightBits(layer)
      : config instanceof Int4QuantizationConfig
        ? toFourBits(layer, config)
        : toInt8(layer, config.weightQuantizer);
  (layer as unknown as Fields)['quantizationConfig'] = config;
  becomeQuantized(layer, become);
  noteChange();
}

const isCalibratedMode = (mode: string): mode is 'gptq' | 'awq' => mode === 'gptq' || mode === 'awq';
/** @throws FailedPreconditionError unless the layer is built and not quantized, InvalidArgumentError unless it is of floats */
function checkUnquantized(layer: AdaptedLayer): void {
  checkBuilt(layer);
  if (layer.quantizationMode !== null)
    throw new FailedPreconditionError(`the layer is already of ${layer.quantizationMode}`, layer.name);
  if (!isFloating(layer.computeDtype))
    throw new InvalidArgumentError(`the layer is of ${layer.computeDtype}, not of floats`, layer.name);
}

/** The mode of a layer, with the groups of 4 bits. */
type QuantizedTo = 'int8' | `int4/${number}` | 'float8';

function toEightBits(layer: AdaptedLayer): QuantizedTo {
  if (!layer.takesFloat8)
    throw new UnimplementedError(
      `${layer.constructor.name} does not multiply, and cannot be of float8`,
      layer.name,
    );
  if (loraOf(layer) !== null) throw new UnimplementedError('LoRA beside floats of 8 bits', layer.name);
  addEightBits(layer);
  return 'float8';
}

function toFourBits(
  layer: AdaptedLayer,
  { blockSize, weightQuantizer }: Int4QuantizationConfig,
): QuantizedTo {
  const before = baseOf(layer, layer.largeWeight) as Variable;
  const { shape } = before;
  const form = layer.matrixForm(shape);
  const block = blockSize === -1 ? null : blockSize;
  const own = fourBitsOf(before.reshape([form.rows, form.columns]), form, block, weightQuantizer);
  forget(layer, before);
  const { kept } = addFourBits(layer, shape, form, block);
  kept.packed.assign(own.packed);
  kept.scale.assign(own.scale.cast(kept.scale.dtype));
  if (own.zero !== null) kept.zero?.assign(own.zero);
  return `int4/${block ?? -1}`;
}

function toInt8(layer: AdaptedLayer, quantizer: Quantizer | null): QuantizedTo {
  const { largeWeight: name, axisOfScale: axis } = layer;
  const before = baseOf(layer, name) as Variable;
  const floats = before.read();
  const [ints, scale] = int8Of(floats, quantizer, axis);
  const kept = layer.keptScale(scale);
  forget(layer, before);
  const made = addQuantized(layer, name, before.shape, kept.shape);
  made.ints.assign(ints);
  made.scale.assign(kept.cast(made.scale.dtype));
  return 'int8';
}

/** @internal A variable is no weight of a layer any more. */
export function forget({ _layer: { weights } }: Layer, variable: Variable): void {
  weights.splice(
    weights.findIndex((w) => w.variable === variable),
    1,
  );
}

/** Gives a layer the policy of its integers. In a map that is the policy of its path. */
function becomeQuantized(layer: Layer, mode: string): void {
  const { dtypePolicy: policy } = layer;
  const { path } = layer._layer;
  const value = policyOfMode(mode, policyAt(policy, path).name as never);
  if (!(policy instanceof DTypePolicyMap) || path === null) {
    Object.defineProperty(layer, 'dtypePolicy', { value, configurable: true });
    return;
  }
  policy.delete(path);
  policy.set(path, value);
}

/** The configuration of a mode. @throws InvalidArgumentError for arguments that contradict each other or say nothing */
export function configFor(layer: Layer, mode: unknown, given: unknown): QuantizationConfig {
  if (given !== undefined && given !== null && !(given instanceof QuantizationConfig))
    throw new InvalidArgumentError(
      `config must be a QuantizationConfig of ${MODES}, got ${show(given)}`,
      layer.name,
    );
  const known = ['int8', 'int4', 'float8', 'gptq', 'awq'];
  if (mode !== undefined && mode !== null && !known.includes(mode as string))
    throw new InvalidArgumentError(`the mode must be ${MODES}, got ${show(mode)}`, layer.name);
  const own = (given as QuantizationConfig | null | undefined)?.mode;
  const named = mode ?? own;
  if (named === undefined)
    throw new InvalidArgumentError(`give quantize a mode, ${MODES}, or a config`, layer.name);
  if (own !== undefined && own !== named)
    throw new InvalidArgumentError(`the mode is ${show(named)}, that of the config '${own}'`, layer.name);
  if (given instanceof QuantizationConfig) return given;
  if (named === 'gptq' || named === 'awq')
    throw new InvalidArgumentError(
      `${named} needs a config, ${named === 'gptq' ? 'a GPTQConfig' : 'an AWQConfig'} with the data of its calibration`,
      layer.name,
    );
  if (named === 'float8') return new Float8QuantizationConfig();
  return named === 'int8' ? new Int8QuantizationConfig() : new Int4QuantizationConfig();
}

const MODES = "'int8', 'int4', 'float8', 'gptq' or 'awq'";

/** @internal A matrix as int8 with a scale for each place beside `axis`, by the quantizer of a configuration or the usual one. */
export function int8Of(matrix: Tensor, quantizer: Quantizer | null, axis: Axis): readonly [Tensor, Tensor] {
  return (
    quantizer instanceof AbsMaxQuantizer && quantizer.axis !== null
      ? quantizer(matrix)
      : (quantizer ?? standard())(matrix, { axis })
  ) as [Tensor, Tensor];
}

/** The product of inputs and integers, whose gradient is that of the weights which the integers stand for. */
export function productOfIntegers(layer: AdaptedLayer, x: Tensor, parts: ProductParts): Tensor {
  const quantizer = inputsQuantizer(layer);
  return layer.quantizationMode === 'int8'
    ? productOfInts(x, quantizedOf(layer, layer.largeWeight), quantizer, parts)
    : productOfFourBits(x, () => layer.floatsOfBits(), quantizer, parts);
}

/** What a layer knows of its product. */
export interface ProductParts {
  /** Of the inputs, that has one scale. */
  readonly axis: Axis;
  /** Of two tensors, both int32 or both floats. */
  readonly product: (x: Tensor, weight: Tensor) => Tensor;
  /** Brings the scale of the inputs to the axes of the result. */
  readonly ofInputs: (scale: Tensor) => Tensor;
  /** Brings the scale of the weight to the axes of the weight. */
  readonly ofWeight: (scale: Tensor) => Tensor;
  /** The gradient of the inputs, from that of the result and the weight as floats. */
  readonly back: (dy: Tensor, weight: Tensor) => Tensor;
}

/** @internal */
export function productOfInts(
  x: Tensor,
  { ints, scale }: Quantized,
  quantizer: Quantizer | null,
  parts: ProductParts,
): Tensor {
  const { dtype } = x;
  const run = customGradient((inputs: Tensor) => {
    const value = inScope(() => {
      const scales = scale.read().cast(dtype);
      if (quantizer === null) return parts.product(inputs, ints.cast(dtype)).div(scales);
      const [values, own] = quantizer(inputs, { axis: parts.axis }) as [Tensor, Tensor];
      const sums = parts.product(values.cast('int32'), ints.cast('int32'));
      return sums.cast(dtype).div(parts.ofInputs(own).mul(scales));
    });
    const gradient = (dy: Tensor): Tensor =>
      parts.back(dy, ints.cast(dtype).div(parts.ofWeight(scale.read().cast(dtype))));
    return [value, gradient];
  });
  return run(x);
}
