// Recurrent networks over sequences of sequences, of images and of volumes.
import { type PartialShape, type Tensor, tile, type Variable } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  type Dim,
  dims,
  fusedConvolution,
  type Option,
  partialShape,
  type StreamGenerator,
  takesOptions,
} from '@eagre/core/internal';
import type { Activation } from '../../activations.ts';
import { type CallOptions, type FromConfig, ownsTemporaries } from '../../layer/layer.ts';
import { takesCall } from '../../layer/own-call.ts';
import {
  applyActivation,
  checkRank,
  fail,
  floats,
  type Padding,
  type Size,
  shapeOf,
  sizesOf,
} from '../common.ts';
import { activation, flag, integer, option, padding, readSizes, recipe } from '../options.ts';
import {
  axesText,
  type DataFormat,
  dataFormat,
  type Rank,
  type Size1D,
  type Size2D,
  type Size3D,
  type Sizes,
  SpatialLayer,
} from '../spatial.ts';
import { layerOptions } from '../weights.ts';
import {
  cellCall,
  checkStates,
  dropoutGenerator,
  dropoutMask,
  type Masks,
  type RecurrentCell,
  stateShapes,
  zeroStates,
} from './cell.ts';
import { CellLayer, ofCell, ofLayer, tellsOfCell } from './recurrent.ts';
import {
  type CellSchema,
  drops,
  type GatedCellOptions,
  gates,
  openForget,
  weighted,
} from './recurrent-cells.ts';
import type { RNNOptions } from './rnn.ts';

interface ConvCellOptions<S extends Sizes = Sizes> extends GatedCellOptions {
  /** Of the convolution of the input; 1 by default. */
  readonly strides?: S;
  /** Of the convolution of the input: `valid` (no padding) by default, or `same`. */
  readonly padding?: Padding;
  /** `channelsLast` by default. */
  readonly dataFormat?: DataFormat | null;
  /** Distance of the taps of the input's kernel; 1 by default. Not together with strides. */
  readonly dilationRate?: S;
  /** Whether the forget gate's bias begins with 1; true by default. */
  readonly unitForgetBias?: boolean;
}
interface ConvCellArguments<S extends Sizes = Sizes> extends ConvCellOptions<S> {
  /** Channels of the state and of the output. */
  readonly filters: number;
  readonly kernelSize: S;
}
interface RankedArguments extends ConvCellArguments {
  readonly rank: Rank;
}

/** A cell as that of LSTM, with convolutions in the place of products. Its states are as large as what a convolution makes of the input. */
export class ConvLSTMCell extends SpatialLayer implements RecurrentCell {
  /** Channels of the state and of the output. */
  declare readonly filters: number;
  declare readonly kernelSize: readonly number[];
  /** Of the convolution of the input. */
  declare readonly strides: readonly number[];
  /** Of the convolution of the input: `valid` (no padding) or `same`. */
  declare readonly padding: Padding;
  /** Distance of the taps of the input's kernel. Not together with strides. */
  declare readonly dilationRate: readonly number[];
  /** Of the candidate or the output. */
  declare readonly activation: Activation;
  /** Of the gates. */
  declare readonly recurrentActivation: Activation;
  /** Whether a bias is added to the result. */
  declare readonly useBias: boolean;
  /** Whether the forget gate's bias begins with 1. */
  declare readonly unitForgetBias: boolean;
  /** In training, the share of the input that is dropped, the same in all steps. */
  declare readonly dropout: number;
  /** In training, the share of the state that the weights do not see. Such a layer runs step by step. */
  declare readonly recurrentDropout: number;
  /** Makes what is dropped the same in each run of the program. */
  declare readonly seed: number | null;
  /** [directions…, channels, 4 · filters] */
  kernel!: Variable;
  /** [directions…, filters, 4 · filters] */
  recurrentKernel!: Variable;
  bias: Variable | null = null;
  readonly #generator: StreamGenerator | null;
  /** Sizes of the step that it was built for. */
  #step: readonly Size[] | undefined;

  constructor(options: RankedArguments) {
    super(options.rank, argumentsOf<RankedArguments>(ConvLSTMCell, new.target, [options]));
    this.#generator = dropoutGenerator(this);
  }

  get stateSize(): readonly number[] {
    return [this.filters, this.filters];
  }

  override build(inputShape: PartialShape): void {
    this.checkStep(inputShape);
    const width = 4 * this.filters;
    const weight = (name: string, channels: number, kind: string): Variable =>
      this.addWeight({ name, shape: [...this.kernelSize, channels, width], ...recipe(this, kind) });
    this.kernel = weight('kernel', this.knownChannels(inputShape), 'kernel');
    this.recurrentKernel = weight('recurrent_kernel', this.filters, 'recurrent');
    this.#step = partialShape(inputShape).slice(1);
    if (!this.useBias) return;
    const { initializer, ...bias } = recipe(this, 'bias');
    this.bias = this.addWeight({
      name: 'bias',
      shape: [width],
      ...bias,
      initializer: this.unitForgetBias ? openForget(initializer, this.filters) : initializer,
    });
  }

  /** @internal @throws InvalidArgumentError for another rank, or other channels than the weights were made for. */
  checkStep(shape: PartialShape): void {
    this.check(shape, this.kernel?.shape.at(-2));
  }

  /** @internal */
  resultSizes(batch: Size, given: readonly Size[]): readonly Size[] {
    const step = given.length > 0 ? given : this.#step;
    if (step === undefined || (given.length === 0 && step.includes(null)))
      return fail(this, 'knows the sizes of its states only behind a call, or behind build with known sizes');
    const [, ...own] = this.sizes(shapeOf([batch, ...step]));
    const results = this.kernelSize.map((window, i) =>
      this.windowed(own[i], window, this.strides[i], this.padding, this.dilationRate[i]),
    );
    return sizesOf(this.ofSizes([batch, ...results, this.filters]));
  }

  /** @internal Each gate sees another part of the input and of the state. */
  masks(batch: Dim, ...step: Dim[]): Masks {
    const mask = (rate: number, sizes: readonly Size[]): Tensor | null => {
      const all = this.sizes(shapeOf(sizes)) as readonly Dim[];
      const channels = all.at(-1) as number;
      return dropoutMask(this, this.#generator, rate, [...all.slice(0, -1), 4 * channels]);
    };
    return {
      input: mask(this.dropout, [batch, ...step]),
      recurrent: mask(this.recurrentDropout, this.resultSizes(batch, step)),
    };
  }

  override call(inputs: Tensor, options: CallOptions = {}): readonly Tensor[] {
    const x = floats(this, inputs);
    this.checkStep(x.shape);
    const [batch, ...step] = dims(x) as [Dim, ...Dim[]];
    const shapes = stateShapes(this, batch, step);
    const given = (options['states'] as readonly Tensor[] | undefined) ?? zeroStates(this, shapes);
    checkStates(this, given, shapes);
    const [before, cell] = given.map((s) => this.channelsLast(s)) as [Tensor, Tensor];
    const masks =
      options.training === true
        ? ((options['masks'] as Masks | undefined) ?? this.masks(batch, ...step))
        : { input: null, recurrent: null };
    const ofInput = this.#gates(this.channelsLast(x), this.kernel, this.bias, masks.input, {
      strides: this.strides,
      padding: this.padding === 'same' ? 'SAME' : 'VALID',
      dilations: this.dilationRate,
    });
    const ofState = this.#gates(before, this.recurrentKernel, null, masks.recurrent, { padding: 'SAME' });
    const [i, f, g, o] = ofInput.add(ofState).split(4, -1) as [Tensor, Tensor, Tensor, Tensor];
    const gate = (t: Tensor): Tensor => applyActivation(this.recurrentActivation, t);
    const act = (t: Tensor): Tensor => applyActivation(this.activation, t);
    const c = gate(f)
      .mul(cell)
      .add(gate(i).mul(act(g)));
    const h = this.inFormat(gate(o).mul(act(c)));
    return [h, h, this.inFormat(c)];
  }

  /** The four gates' convolutions side by side: one, or where each has a mask of its own, one of four groups. */
  #gates(
    x: Tensor,
    kernel: Variable,
    bias: Variable | null,
    mask: Tensor | null,
    window: Parameters<typeof fusedConvolution>[3],
  ): Tensor {
    if (mask === null) return fusedConvolution(x, kernel, bias, window);
    const four = tile(x, [...new Array<number>(x.rank - 1).fill(1), 4]).mul(mask);
    return fusedConvolution(four, kernel, bias, { ...window, groups: 4 });
  }
}
ownsTemporaries(ConvLSTMCell);
takesCall(cellCall, ConvLSTMCell);

/** What the ranks share. */
abstract class ConvLSTM extends CellLayer {
  declare readonly cell: ConvLSTMCell;

  constructor(rank: Rank, options: RNNOptions & ConvCellArguments) {
    super(
      new ConvLSTMCell({ ...ofCell<ConvCellArguments>('conv_lstm_cell', options, cellOptions), rank }),
      options,
    );
  }
  /** Channels of the state and of the output. */
  declare readonly filters: number;
  declare readonly kernelSize: readonly number[];
  /** Of the convolution of the input. */
  declare readonly strides: readonly number[];
  /** Of the convolution of the input: `valid` (no padding) or `same`. */
  declare readonly padding: Padding;
  /** Distance of the taps of the input's kernel. Not together with strides. */
  declare readonly dilationRate: readonly number[];
  /** Where the channels are: `channelsLast` or `channelsFirst`. */
  declare readonly dataFormat: string;
  /** Of the candidate or the output. */
  declare readonly activation: Activation;
  /** Of the gates. */
  declare readonly recurrentActivation: Activation;
  /** Whether a bias is added to the result. */
  declare readonly useBias: boolean;
  /** Whether the forget gate's bias begins with 1. */
  declare readonly unitForgetBias: boolean;
  /** In training, the share of the input that is dropped, the same in all steps. */
  declare readonly dropout: number;
  /** In training, the share of the state that the weights do not see. Such a layer runs step by step. */
  declare readonly recurrentDropout: number;
  /** @internal */
  protected override checkSequence(shape: PartialShape): void {
    const { cell } = this;
    const axes = axesText(cell.rank, cell.dataFormat).replace('batch', 'batch, time');
    checkRank(this, shape, cell.rank + 3, axes);
    const [batch, , ...step] = sizesOf(shape);
    cell.checkStep(shapeOf([batch, ...step]));
  }
}

/** Options of `ConvLSTM1D`. */
export type ConvLSTM1DOptions = RNNOptions & ConvCellOptions<Size1D>;
/** Options of `ConvLSTM2D`. */
export type ConvLSTM2DOptions = RNNOptions & ConvCellOptions<Size2D>;
/** Options of `ConvLSTM3D`. */
export type ConvLSTM3DOptions = RNNOptions & ConvCellOptions<Size3D>;
/** All arguments of `ConvLSTM1D`, by name. */
export type ConvLSTM1DArguments = RNNOptions & ConvCellArguments<Size1D>;
/** All arguments of `ConvLSTM2D`, by name. */
export type ConvLSTM2DArguments = RNNOptions & ConvCellArguments<Size2D>;
/** All arguments of `ConvLSTM3D`, by name. */
export type ConvLSTM3DArguments = RNNOptions & ConvCellArguments<Size3D>;

/** `LSTM` with convolutions over sequences of sequences: [batch, time, steps, features] becomes [batch, steps', filters]. */
export class ConvLSTM1D extends ConvLSTM {
  declare static readonly fromConfig: FromConfig<ConvLSTM1D>;
  constructor(
    ...args: Arguments<[filters: number, kernelSize: Size1D], ['filters', 'kernelSize'], ConvLSTM1DOptions>
  ) {
    super(1, argumentsOf<ConvLSTM1DArguments>(ConvLSTM1D, new.target, args));
  }
}

/**
 * `LSTM` with convolutions over sequences of images (Shi and others, 2015): [batch, time, h, w, channels] becomes [batch, h', w', filters], the
 * output of the last step, or with `returnSequences` [batch, time, h', w', filters].
 */
export class ConvLSTM2D extends ConvLSTM {
  declare static readonly fromConfig: FromConfig<ConvLSTM2D>;
  constructor(
    ...args: Arguments<[filters: number, kernelSize: Size2D], ['filters', 'kernelSize'], ConvLSTM2DOptions>
  ) {
    super(2, argumentsOf<ConvLSTM2DArguments>(ConvLSTM2D, new.target, args));
  }
}

/** `LSTM` with convolutions over sequences of volumes: [batch, time, d, h, w, channels] becomes [batch, d', h', w', filters]. */
export class ConvLSTM3D extends ConvLSTM {
  declare static readonly fromConfig: FromConfig<ConvLSTM3D>;
  constructor(
    ...args: Arguments<[filters: number, kernelSize: Size3D], ['filters', 'kernelSize'], ConvLSTM3DOptions>
  ) {
    super(3, argumentsOf<ConvLSTM3DArguments>(ConvLSTM3D, new.target, args));
  }
}

/** One integer for all directions, or one for each, of a cell that knows how many there are. */
const ranked = (otherwise?: number): Option<readonly number[]> =>
  option<readonly number[], Sizes>(
    (value, name, layer) => readSizes(value, (layer as ConvLSTMCell).rank, name, layer, 1),
    otherwise,
  );
const cellOptions: CellSchema<ConvCellArguments, ConvLSTMCell> = {
  filters: integer(),
  kernelSize: ranked(),
  strides: ranked(1),
  padding,
  dataFormat,
  dilationRate: ranked(1),
  activation: activation('tanh'),
  ...gates,
  ...weighted,
  unitForgetBias: flag(true),
  ...drops,
  ...layerOptions,
};
const rank: Option<Rank> = { read: (given) => given as Rank, write: () => undefined };
takesOptions<RankedArguments, ConvLSTMCell>({ options: { rank, ...cellOptions } }, ConvLSTMCell);
const ofLayers = {
  positional: ['filters', 'kernelSize'],
  options: ofLayer<ConvCellArguments>(cellOptions),
} as const;
takesOptions<ConvLSTM1DArguments, ConvLSTM1D>(ofLayers, ConvLSTM1D);
takesOptions<ConvLSTM2DArguments, ConvLSTM2D>(ofLayers, ConvLSTM2D);
takesOptions<ConvLSTM3DArguments, ConvLSTM3D>(ofLayers, ConvLSTM3D);
tellsOfCell(ConvLSTM, cellOptions);
