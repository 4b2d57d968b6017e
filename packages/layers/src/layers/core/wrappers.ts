// Layers around a layer.

import {
  concat,
  type PartialShape,
  stack,
  swapAxes,
  type Tensor,
  type TensorLike,
  type Variable,
} from '@eagre/core';
import {
  argumentsOf,
  context,
  type Dim,
  dims,
  isUnknown,
  mulDims,
  optionsFrom,
  sameShape,
  showShape,
  takesOptions,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { mapFn } from '@eagre/graph';
import { withInner } from '../../layer/inside.ts';
import {
  type CallOptions,
  type FromConfig,
  isBuiltin,
  Layer,
  type LayerInput,
  type LayerOptions,
  type LayerOutput,
  ownsTemporaries,
  passesMask,
  type Specs,
  specsOf,
  type TensorSpec,
} from '../../layer/layer.ts';
import type { Mask } from '../../layer/masks.ts';
import { takesCall, takesOption, trainingOption } from '../../layer/own-call.ts';
import { show } from '../../layer/show.ts';
import { shapesOfSpecs } from '../../layer/specs.ts';
import { copyLayer, deserializeLayer, serializeLayer } from '../../saving/serialization.ts';
import { type Config, checkOne, fail, plus, type Size, shapeOf, sizesOf, times } from '../common.ts';
import { BatchNormalization } from '../normalization/normalization.ts';
import { stateSizes } from '../recurrent/cell.ts';
import { RNN } from '../recurrent/rnn.ts';
import { nestedStates } from '../recurrent/stacked-cells.ts';
import { layerOptions } from '../weights.ts';
import { Wrapper, type WrapperArguments, wrapperOptions } from './wrapper.ts';

/** Options of `Bidirectional`. */
export interface BidirectionalOptions extends LayerOptions {
  /** How the outputs of both directions are joined; `concat` by default, `null` for a list of both. */
  readonly mergeMode?: 'concat' | 'sum' | 'mul' | 'ave' | null;
  /** Runs from the end: the layer itself, whose `goBackwards` is the opposite of the other's. A copy of that by default. */
  readonly backwardLayer?: RNN | null;
  /** First values of the weights, in the order of `weights`: those of the forward layer, then as many of the other. */
  readonly weights?: readonly TensorLike[] | null;
}

/** All arguments of `Bidirectional`, by name. */
export interface BidirectionalArguments extends BidirectionalOptions {
  /** The layer that goes forward; a copy of it goes backward, unless `backwardLayer` is given. */
  readonly layer: RNN;
}

/** Runs copies of a recurrent layer from both ends of the sequence and joins their outputs, step by step. */
export class Bidirectional extends Layer {
  /** How the outputs of both directions are joined. */
  declare readonly mergeMode: 'concat' | 'sum' | 'mul' | 'ave' | null;
  readonly forwardLayer: RNN;
  /** Runs from the end: the layer itself, whose `goBackwards` is the opposite of the other's. */
  readonly backwardLayer: RNN;
  readonly #initial: readonly TensorLike[] | null;

  constructor(...args: [layer: RNN | BidirectionalArguments, options?: BidirectionalOptions]) {
    const { weights, ...options } = argumentsOf<BidirectionalArguments>(Bidirectional, new.target, args);
    super(options);
    const { layer, backwardLayer = null } = options;
    if (weights !== undefined && weights !== null && !Array.isArray(weights))
      fail(this, `needs weights to be a list, got ${show(weights)}`);
    this.#initial = weights ?? null;
    if (!(layer instanceof RNN)) fail(this, 'needs a recurrent layer');
    if (backwardLayer !== null && !(backwardLayer instanceof RNN))
      fail(this, 'needs a recurrent backwardLayer');
    const copy = (prefix: string, goBackwards: boolean): RNN => {
      const name = layer.name.startsWith(prefix) ? layer.name : `${prefix}${layer.name}`;
      return copyLayer(layer, { name, go_backwards: goBackwards }) as RNN;
    };
    this.forwardLayer = copy('forward_', layer.goBackwards);
    // As in Keras: a layer that runs from its end itself has no other direction.
    this.backwardLayer = backwardLayer ?? copy('backward_', true);
    const [a, b] = [this.forwardLayer, this.backwardLayer];
    for (const option of ['returnSequences', 'returnState', 'stateful'] as const)
      if (a[option] !== b[option]) fail(this, `needs a backwardLayer with the same ${option}`);
    if (a.goBackwards === b.goBackwards)
      fail(this, 'needs layers whose goBackwards differ: a layer without it, and a backwardLayer with it');
    // As in Keras, masked steps give zeros in both directions, so that they do not meet other steps' outputs.
    for (const one of [a, b]) (one as { zeroOutputForMask: boolean }).zeroOutputForMask = one.returnSequences;
  }

  override build(inputShape: PartialShape | readonly PartialShape[]): void {
    this.forwardLayer.ensureBuilt(inputShape);
    this.backwardLayer.ensureBuilt(inputShape);
    if (this.#initial !== null) this.setWeights(this.#initial);
  }

  override call(inputs: LayerInput, { training, initialState, mask }: CallOptions = {}): LayerOutput {
    const list = (Array.isArray(inputs) ? inputs : [inputs]) as readonly Tensor[];
    const x = list[0];
    const states = list.length > 1 ? list.slice(1) : initialState;
    const given =
      states === undefined || states === null
        ? undefined
        : ([states].flat(Number.POSITIVE_INFINITY) as unknown as readonly Tensor[]);
    const n = stateSizes(this.forwardLayer.cell).length;
    const run = (layer: RNN, states: readonly Tensor[] | undefined): Tensor[] => {
      const y: Tensor | readonly Tensor[] = layer.invoke(x, {
        ...trainingOption(training),
        ...(states === undefined ? {} : { initialState: states }),
        ...(mask === undefined ? {} : { mask }),
      });
      return Array.isArray(y) ? [...(y as readonly Tensor[])] : [y];
    };
    const [forth, ...after] = run(this.forwardLayer, given?.slice(0, n)) as [Tensor, ...Tensor[]];
    const [back, ...afterBack] = run(this.backwardLayer, given?.slice(n)) as [Tensor, ...Tensor[]];
    const joined = this.#merge(forth, this.forwardLayer.returnSequences ? back.reverse(1) : back);
    const all = [...joined, ...after, ...afterBack];
    return all.length === 1 ? all[0] : all;
  }

  /** @internal The states of stacked cells as `RNN` gives them. */
  override present(result: Tensor, _args: readonly unknown[]): unknown {
    const { cell, returnState } = this.forwardLayer;
    if (!returnState) return result;
    const all = result as unknown as readonly Tensor[];
    const n = this.mergeMode === null ? 2 : 1;
    const each = stateSizes(cell).length;
    return [
      ...all.slice(0, n),
      ...nestedStates(cell, all.slice(n, n + each)),
      ...nestedStates(this.backwardLayer.cell, all.slice(n + each)),
    ];
  }

  /** Whether both layers give an output for each step. */
  get returnSequences(): boolean {
    return this.forwardLayer.returnSequences;
  }
  /** Whether both layers return their states, too. */
  get returnState(): boolean {
    return this.forwardLayer.returnState;
  }
  /** Whether both layers hold their states from call to call. */
  get stateful(): boolean {
    return this.forwardLayer.stateful;
  }
  /** What both layers hold from call to call, first those of the forward layer; null unless both do. */
  get states(): readonly Variable[] | null {
    const [forth, back] = [this.forwardLayer.states, this.backwardLayer.states];
    return forth === null || back === null ? null : [...forth, ...back];
  }

  /** Has both layers forget their states. */
  resetStates(): void {
    this.forwardLayer.resetStates();
    this.backwardLayer.resetStates();
  }
  /** The same as `resetStates`. */
  resetState(): void {
    this.resetStates();
  }

  /** As of the layer inside; of a list of both outputs the mask of each. */
  override computeMask(inputs: LayerInput, mask: Mask): Mask {
    const own = this.forwardLayer.computeMask(inputs, mask);
    return this.mergeMode === null ? [own as Tensor | null, own as Tensor | null] : own;
  }

  /** Of several outputs, as with `returnState` or without a `mergeMode`, a list of their shapes. */
  // biome-ignore lint/suspicious/noExplicitAny: the options say which
  override computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): any {
    return shapesOfSpecs(this.computeOutputSpec(specsOf(inputShape, this.computeDtype)));
  }
  /** @internal */
  override computeOutputSpec(inputs: Specs): Specs {
    const one = { list: [inputs.list[0]], many: false };
    const [[forth, ...states], [back, ...more]] = [this.forwardLayer, this.backwardLayer].map(
      (layer) => layer.computeOutputSpec(one).list,
    );
    const list = [...this.#mergeSpecs(forth, back), ...states, ...more];
    return { list, many: list.length > 1 };
  }
  #mergeSpecs(a: TensorSpec, b: TensorSpec): TensorSpec[] {
    if (this.mergeMode === null) return [a, b];
    if (this.mergeMode !== 'concat') return [a];
    const sizes = sizesOf(a.shape);
    const last = plus(sizes.at(-1) as Size, sizesOf(b.shape).at(-1) as Size);
    return [{ ...a, shape: shapeOf([...sizes.slice(0, -1), last]) }];
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      layer: serializeLayer(this.forwardLayer),
      backward_layer: serializeLayer(this.backwardLayer),
    };
  }
  static override fromConfig(config: Config): Bidirectional {
    const { layer, backwardLayer, ...options } = optionsFrom(config, Bidirectional);
    const more =
      backwardLayer === undefined || backwardLayer === null
        ? {}
        : { backwardLayer: deserializeLayer(backwardLayer) as RNN };
    return new Bidirectional(deserializeLayer(layer) as RNN, { ...options, ...more });
  }

  #merge(a: Tensor, b: Tensor): Tensor[] {
    switch (this.mergeMode) {
      case null:
        return [a, b];
      case 'sum':
        return [a.add(b)];
      case 'mul':
        return [a.mul(b)];
      case 'ave':
        return [a.add(b).mul(0.5)];
      default:
        return [concat([a, b], -1)];
    }
  }
}

/** All arguments of `TimeDistributed`, by name. */
export interface TimeDistributedArguments extends WrapperArguments {}

/** Applies a layer to every step of a sequence [batch, time, …] alike. In training, statistics of a batch are those of each step. */
export class TimeDistributed extends Wrapper {
  declare static readonly fromConfig: FromConfig<TimeDistributed>;

  constructor(...args: [layer: Layer | TimeDistributedArguments, options?: LayerOptions]) {
    super(argumentsOf<TimeDistributedArguments>(TimeDistributed, new.target, args));
  }
  override build(inputShape: PartialShape): void {
    this.layer.ensureBuilt(this.#step(inputShape));
  }
  /** The mask, [batch, time, …], goes to the layer step by step, if that takes one. */
  override call(
    inputs: Tensor,
    {
      training,
      mask,
    }: CallOptions & {
      /** Which steps count, bool [batch, time]. */
      mask?: TensorLike;
    } = {},
  ): Tensor {
    this.#step(inputs.shape);
    const given = mask === undefined || mask === null ? undefined : toTensor(mask);
    if (given !== undefined) {
      const fits = given.rank >= 2 && sameShape(dims(given).slice(0, 2), dims(inputs).slice(0, 2));
      if (!fits)
        fail(
          this,
          `the mask ${showShape(given.shape)} does not begin as the input ${showShape(inputs.shape)} does`,
        );
    }
    const masks = takesMask(this.layer) ? given : undefined;
    const options = trainingOption(training);
    const [batch, time, ...rest] = dims(inputs) as [Dim, Dim, ...Dim[]];
    const rows = mulDims(batch, time);
    // What looks at a whole batch must see the examples of one step only.
    const apart = (layer: Layer): boolean =>
      !isBuiltin(layer) || (training === true && layer instanceof BatchNormalization);
    if ([...withInner(this.layer)].some(apart)) {
      if (isUnknown(time) && context.tracer !== null) return this.#looped(inputs, masks, options);
      const steps = masks?.unstack(1);
      const each = inputs
        .unstack(1)
        .map((x, i) => this.layer.invoke(x, { ...options, ...(steps && { mask: steps[i] }) }));
      return stack(each, 1);
    }
    const flat = masks?.reshape(toShape([rows, ...dims(masks).slice(2)]));
    const y: Tensor = this.layer.invoke(inputs.reshape(toShape([rows, ...rest])), {
      ...options,
      ...(flat && { mask: flat }),
    });
    return y.reshape(toShape([batch, time, ...dims(y).slice(1)]));
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    const shape = this.layer.computeOutputShape(this.#step(inputShape));
    const [batch, time] = sizesOf(inputShape) as [Size, Size];
    return shapeOf([batch, time, ...sizesOf(shape).slice(1)]);
  }
  /** The steps of a sequence of any length, as a loop of the graph. */
  #looped(inputs: Tensor, masks: Tensor | undefined, options: CallOptions): Tensor {
    const each = mapFn(
      ([x, mask]: readonly Tensor[]): Tensor => this.layer.invoke(x, { ...options, ...(mask && { mask }) }),
      [inputs, ...(masks === undefined ? [] : [masks])].map((t) => swapAxes(t, 0, 1)),
    );
    return swapAxes(each, 0, 1);
  }
  /** The shape of one step of all examples. */
  #step(shape: PartialShape): PartialShape {
    if (checkOne(this, shape).length < 3)
      fail(this, `expects input of rank 3 or more [batch, time, …], got ${showShape(shape)}`);
    const [batch, time, ...rest] = sizesOf(shape) as [Size, Size, ...Size[]];
    return shapeOf([times(batch, time), ...rest]);
  }
}
const takesMask = (layer: Layer): boolean => !isBuiltin(layer) || takesOption(layer, 'mask');
ownsTemporaries(Bidirectional, TimeDistributed);
passesMask(TimeDistributed);
takesCall(
  {
    options: { training: true, mask: true },
    takesMask: (layer) => takesMask((layer as TimeDistributed).layer),
  },
  TimeDistributed,
);
takesCall(
  { second: 'initialState', options: { initialState: true, mask: true, training: true } },
  Bidirectional,
);
const mergeModes = ['concat', 'sum', 'mul', 'ave', null];
takesOptions<BidirectionalArguments, Bidirectional>(
  {
    positional: ['layer'],
    options: {
      layer: true,
      mergeMode: {
        read: (given = 'concat', _, layer) => {
          if (!mergeModes.includes(given as string))
            fail(layer as Layer, `needs a mergeMode of concat, sum, mul, ave and null, got ${show(given)}`);
          return given as Bidirectional['mergeMode'];
        },
      },
      backwardLayer: true,
      weights: true,
      ...layerOptions,
    },
  },
  Bidirectional,
);
takesOptions<TimeDistributedArguments, TimeDistributed>(
  { positional: ['layer'], options: wrapperOptions },
  TimeDistributed,
);
