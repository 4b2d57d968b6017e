// Layers over sequences [batch, time, features].
import { concat, keep, nn, type PartialShape, type Shape, stack, type Tensor, zeros } from '@eagre/core';
import { showShape } from '@eagre/core/internal';
import {
  builtin,
  type CallOptions,
  Layer,
  type LayerInput,
  type LayerOptions,
  type LayerOutput,
  type Specs,
} from '../layer.ts';
import type { Regularizer, RegularizerLike } from '../regularizers.ts';
import { type Config, checkRank, fail, floats, penalize, resolveActivityRegularizer } from './common.ts';
import {
  checkStates,
  fromInner,
  GRUCell,
  type GRUCellOptions,
  innerConfig,
  LSTMCell,
  type LSTMCellOptions,
  outputSize,
  type RecurrentCell,
  SimpleRNNCell,
  type SimpleRNNCellOptions,
  StackedRNNCells,
  stateSizes,
} from './recurrent-cells.ts';

export interface RNNOptions extends LayerOptions {
  /** Whether all steps' outputs are given, [batch, time, units], instead of the last; false unless said. */
  readonly returnSequences?: boolean;
  /** Whether the result is a list [output, ...states after the last step]; false unless said. */
  readonly returnState?: boolean;
  /** Whether the sequence is run from its end, and the outputs come in that order; false unless said. */
  readonly goBackwards?: boolean;
  /** Whether a call begins with the states that the last one ended with; false unless said. See `resetStates`. */
  readonly stateful?: boolean;
  /** A penalty on the output, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
}

/**
 * Runs a cell, or several stacked, over a sequence [batch, time, features]. The states before the first step are zeros, or come
 * as `layer(x, { initialState: [h, c] })` or `layer([x, h, c])`.
 */
export class RNN extends Layer {
  readonly cell: RecurrentCell;
  readonly returnSequences: boolean;
  readonly returnState: boolean;
  readonly goBackwards: boolean;
  readonly stateful: boolean;
  readonly #activityRegularizer: RegularizerLike | null;
  readonly #penalty: Regularizer | undefined;
  #states: readonly Tensor[] | null = null;

  constructor(cell: RecurrentCell | readonly RecurrentCell[], options: RNNOptions = {}) {
    super(options);
    this.cell = Array.isArray(cell) ? new StackedRNNCells(cell) : (cell as RecurrentCell);
    if (!(this.cell instanceof Layer) || this.cell.stateSize === undefined) {
      fail(this, 'needs a cell, which is a layer with a stateSize, or a list of them');
    }
    this.returnSequences = options.returnSequences ?? false;
    this.returnState = options.returnState ?? false;
    this.goBackwards = options.goBackwards ?? false;
    this.stateful = options.stateful ?? false;
    this.#activityRegularizer = options.activityRegularizer ?? null;
    this.#penalty = resolveActivityRegularizer(options.activityRegularizer);
  }

  override build(inputShape: PartialShape | readonly PartialShape[]): void {
    const shape = this.#sequence(inputShape);
    this.cell.ensureBuilt([shape[0] ?? null, shape[2] ?? null]);
  }

  override call(inputs: LayerInput, options: CallOptions): LayerOutput {
    const list = (Array.isArray(inputs) ? inputs : [inputs]) as readonly Tensor[];
    const x = floats(this, list[0] as Tensor);
    this.#sequence(x.shape);
    if ((x.shape[1] as number) < 1)
      fail(this, `expects a sequence of at least one step, got ${showShape(x.shape)}`);
    const states = this.#initial(x.shape[0] as number, list.slice(1), options);
    const training = options.training ?? false;
    const { output, last, after } = this.run(this.goBackwards ? x.reverse(1) : x, states, training);
    const y = penalize(this, this.#penalty, this.returnSequences ? output() : last);
    if (this.stateful) this.#remember(after);
    return this.returnState ? [y, ...after] : y;
  }

  /** @internal The steps in order: all outputs (made when asked for), the last one, and the states after it. */
  protected run(x: Tensor, initial: readonly Tensor[], training: boolean): Sequence {
    const { cell } = this;
    const masks = training ? cell.masks?.(x.shape[0] as number, x.shape[2] as number) : undefined;
    const outputs: Tensor[] = [];
    let states = initial;
    for (const step of x.unstack(1)) {
      const [y, ...after] = cell.invoke(step, {
        training,
        states,
        ...(masks === undefined ? {} : { masks }),
      }) as unknown as Tensor[];
      outputs.push(y as Tensor);
      states = after;
    }
    return { output: () => stack(outputs, 1), last: outputs.at(-1) as Tensor, after: states };
  }

  override computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): PartialShape {
    const [batch, time] = this.#sequence(inputShape) as readonly [number | null, number | null];
    const units = outputSize(this.cell);
    return this.returnSequences ? [batch, time, units] : [batch, units];
  }
  /** @internal */
  override computeOutputSpec(inputs: Specs): Specs {
    const first = (inputs.list[0] as Specs['list'][number]).shape;
    const shapes = [this.computeOutputShape(first)];
    if (this.returnState) for (const n of stateSizes(this.cell)) shapes.push([first[0] as number | null, n]);
    return { list: shapes.map((shape) => ({ shape, dtype: this.dtype })), many: this.returnState };
  }

  /** Forgets the states of a stateful layer, or sets them. */
  resetStates(states: readonly Tensor[] | null = null): void {
    if (states !== null) checkStates(this, states, states[0]?.shape[0] ?? 0, stateSizes(this.cell));
    this.#states = states === null ? null : states.map((s) => keep(s.stopGradient()));
  }

  /** @internal What the layer's options are without those of the cell. */
  protected sequenceConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      returnSequences: this.returnSequences,
      returnState: this.returnState,
      goBackwards: this.goBackwards,
      stateful: this.stateful,
      activityRegularizer: this.#activityRegularizer,
    };
  }
  override getConfig(): Record<string, unknown> {
    return { ...this.sequenceConfig(), cell: innerConfig(this.cell) };
  }
  static override fromConfig({ cell, ...options }: Config): Layer {
    return new RNN(fromInner(cell) as RecurrentCell, options);
  }

  #sequence(inputShape: PartialShape | readonly PartialShape[]): PartialShape {
    const shape = (Array.isArray(inputShape[0]) ? inputShape[0] : inputShape) as PartialShape;
    checkRank(this, shape, 3, '[batch, time, features]');
    const { cell } = this;
    if ('checkFeatures' in cell) (cell as LSTMCell).checkFeatures(shape);
    return shape;
  }

  #initial(batch: number, inputs: readonly Tensor[], options: CallOptions): readonly Tensor[] {
    const sizes = stateSizes(this.cell);
    const option = options['initialState'] as Tensor | readonly Tensor[] | null | undefined;
    const given: readonly Tensor[] | null =
      inputs.length > 0
        ? inputs
        : option !== undefined && option !== null
          ? ((Array.isArray(option) ? option : [option]) as readonly Tensor[])
          : this.stateful
            ? this.#states
            : null;
    if (given === null) return sizes.map((n) => zeros([batch, n], { dtype: this.dtype }));
    checkStates(this, given, batch, sizes);
    return given.map((s) => floats(this, s));
  }

  #remember(states: readonly Tensor[]): void {
    // Not part of the next call's gradient.
    this.#states = states.map((s) => keep(s.stopGradient()));
  }
}

interface Sequence {
  readonly output: () => Tensor;
  readonly last: Tensor;
  readonly after: readonly Tensor[];
}

/** The options of a cell among those of its layer. */
function ofCell<T extends LayerOptions>(options: T): T {
  const { name: _, inputShape: __, ...rest } = options;
  return rest as T;
}
/** Options of the layer, and those of the cell that it was made with. */
function both(layer: Record<string, unknown>, cell: Layer): Record<string, unknown> {
  return { ...cell.getConfig(), ...layer };
}
/** The sequence with a mask that is the same in all steps. */
const dropped = (x: Tensor, mask: Tensor | null): Tensor => (mask === null ? x : x.mul(mask.expandDims(1)));

export type SimpleRNNOptions = RNNOptions & SimpleRNNCellOptions;

/** A recurrent network whose state is its output: activation(x · kernel + h · recurrentKernel + bias). */
export class SimpleRNN extends RNN {
  declare readonly cell: SimpleRNNCell;

  constructor(units: number, options: SimpleRNNOptions = {}) {
    super(new SimpleRNNCell(units, ofCell(options)), options);
  }
  get units(): number {
    return this.cell.units;
  }
  override getConfig(): Record<string, unknown> {
    return both(this.sequenceConfig(), this.cell);
  }
  static override fromConfig({ units, ...options }: Config): SimpleRNN {
    return new SimpleRNN(units as number, options);
  }
}

export type LSTMOptions = RNNOptions & LSTMCellOptions;

/** Long short-term memory (Hochreiter and Schmidhuber, 1997), in one kernel unless activations or recurrentDropout are set. */
export class LSTM extends RNN {
  declare readonly cell: LSTMCell;

  constructor(units: number, options: LSTMOptions = {}) {
    super(new LSTMCell(units, ofCell(options)), options);
  }
  get units(): number {
    return this.cell.units;
  }
  protected override run(x: Tensor, initial: readonly Tensor[], training: boolean): Sequence {
    const { cell } = this;
    if (!cell.fusable || (training && cell.recurrentDropout > 0)) return super.run(x, initial, training);
    const mask = training ? cell.masks(x.shape[0] as number, x.shape[2] as number).input : null;
    const { output, h, c } = nn.lstm(dropped(x, mask), cell.kernel, cell.recurrentKernel, cell.bias, {
      initialState: initial as readonly [Tensor, Tensor],
    });
    return { output: () => output, last: h, after: [h, c] };
  }
  override getConfig(): Record<string, unknown> {
    return both(this.sequenceConfig(), this.cell);
  }
  static override fromConfig({ units, ...options }: Config): LSTM {
    return new LSTM(units as number, options);
  }
}

export type GRUOptions = RNNOptions & GRUCellOptions;

/** Gated recurrent units (Cho et al., 2014), in one kernel unless activations, recurrentDropout or resetAfter are set. */
export class GRU extends RNN {
  declare readonly cell: GRUCell;

  constructor(units: number, options: GRUOptions = {}) {
    super(new GRUCell(units, ofCell(options)), options);
  }
  get units(): number {
    return this.cell.units;
  }
  protected override run(x: Tensor, initial: readonly Tensor[], training: boolean): Sequence {
    const { cell } = this;
    if (!cell.fusable || (training && cell.recurrentDropout > 0)) return super.run(x, initial, training);
    const mask = training ? cell.masks(x.shape[0] as number, x.shape[2] as number).input : null;
    const { output, h } = nn.gru(dropped(x, mask), cell.kernel, cell.recurrentKernel, cell.bias, {
      initialState: initial[0] as Tensor,
    });
    return { output: () => output, last: h, after: [h] };
  }
  override getConfig(): Record<string, unknown> {
    return both(this.sequenceConfig(), this.cell);
  }
  static override fromConfig({ units, ...options }: Config): GRU {
    return new GRU(units as number, options);
  }
}

// ---- wrappers

export interface BidirectionalOptions extends LayerOptions {
  /** How the outputs of both directions are joined; `concat` unless said, `null` for a list of both. */
  readonly mergeMode?: 'concat' | 'sum' | 'mul' | 'ave' | null;
  /** Runs from the end; a copy of the layer unless said. */
  readonly backwardLayer?: RNN;
}

/** Runs copies of a recurrent layer from both ends of the sequence and joins their outputs, step by step. */
export class Bidirectional extends Layer {
  readonly mergeMode: 'concat' | 'sum' | 'mul' | 'ave' | null;
  readonly forwardLayer: RNN;
  readonly backwardLayer: RNN;

  constructor(layer: RNN, options: BidirectionalOptions = {}) {
    super(options);
    if (!(layer instanceof RNN)) fail(this, 'needs a recurrent layer');
    const { mergeMode = 'concat', backwardLayer } = options;
    if (mergeMode !== null && !['concat', 'sum', 'mul', 'ave'].includes(mergeMode)) {
      fail(this, `needs a mergeMode of concat, sum, mul, ave and null, got ${JSON.stringify(mergeMode)}`);
    }
    this.mergeMode = mergeMode;
    const base = layer.name.replace(/_\d+$/, '');
    const copy = (of: RNN, name: string, goBackwards: boolean): RNN =>
      fromInner({
        class: of.constructor,
        config: { ...of.getConfig(), name, goBackwards },
      }) as RNN;
    this.forwardLayer = copy(layer, `forward_${base}`, layer.goBackwards);
    this.backwardLayer = copy(backwardLayer ?? layer, `backward_${base}`, !layer.goBackwards);
    const [a, b] = [this.forwardLayer, this.backwardLayer];
    if (a.returnSequences !== b.returnSequences || a.returnState !== b.returnState) {
      fail(this, 'needs a backwardLayer with the same returnSequences and returnState');
    }
  }

  override build(inputShape: Shape): void {
    this.forwardLayer.ensureBuilt(inputShape);
    this.backwardLayer.ensureBuilt(inputShape);
  }

  override call(inputs: LayerInput, { training, initialState }: CallOptions): LayerOutput {
    const list = (Array.isArray(inputs) ? inputs : [inputs]) as readonly Tensor[];
    const x = list[0] as Tensor;
    const given = list.length > 1 ? list.slice(1) : (initialState as readonly Tensor[] | undefined);
    const n = stateSizes(this.forwardLayer.cell).length;
    const run = (layer: RNN, states: readonly Tensor[] | undefined): Tensor[] => {
      const y: Tensor | readonly Tensor[] = layer.invoke(x, {
        training: training ?? false,
        ...(states === undefined ? {} : { initialState: states }),
      });
      return Array.isArray(y) ? [...(y as readonly Tensor[])] : [y as Tensor];
    };
    const [forth, ...after] = run(this.forwardLayer, given?.slice(0, n)) as [Tensor, ...Tensor[]];
    const [back, ...afterBack] = run(this.backwardLayer, given?.slice(n)) as [Tensor, ...Tensor[]];
    const joined = this.#merge(forth, this.forwardLayer.returnSequences ? back.reverse(1) : back);
    const all = [...joined, ...after, ...afterBack];
    return all.length === 1 ? (all[0] as Tensor) : all;
  }

  override computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): PartialShape {
    const shape = this.forwardLayer.computeOutputShape(inputShape);
    if (this.mergeMode !== 'concat') return shape;
    const other = this.backwardLayer.computeOutputShape(inputShape);
    return [...shape.slice(0, -1), (shape.at(-1) as number) + (other.at(-1) as number)];
  }
  /** @internal */
  override computeOutputSpec(inputs: Specs): Specs {
    const first = (inputs.list[0] as Specs['list'][number]).shape;
    const one = { list: [inputs.list[0] as Specs['list'][number]], many: false };
    const states = [this.forwardLayer, this.backwardLayer].flatMap((layer) =>
      layer.computeOutputSpec(one).list.slice(1),
    );
    const shapes =
      this.mergeMode === null
        ? [this.forwardLayer.computeOutputShape(first), this.backwardLayer.computeOutputShape(first)]
        : [this.computeOutputShape(first)];
    const list = [...shapes.map((shape) => ({ shape, dtype: this.dtype })), ...states];
    return { list, many: list.length > 1 };
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      mergeMode: this.mergeMode,
      layer: innerConfig(this.forwardLayer),
      backwardLayer: innerConfig(this.backwardLayer),
    };
  }
  static override fromConfig({ layer, backwardLayer, ...options }: Config): Bidirectional {
    const plain = (inner: unknown): RNN => {
      const { class: Class, config } = inner as { class: unknown; config: Config };
      const name = (config['name'] as string).replace(/^(forward|backward)_/, '');
      return fromInner({ class: Class, config: { ...config, name } }) as RNN;
    };
    const more =
      backwardLayer === undefined || backwardLayer === null ? {} : { backwardLayer: plain(backwardLayer) };
    return new Bidirectional(plain(layer), { ...options, ...more });
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

/** Applies a layer to every step of a sequence [batch, time, …] alike. */
export class TimeDistributed extends Layer {
  readonly layer: Layer;

  constructor(layer: Layer, options: LayerOptions = {}) {
    super(options);
    if (!(layer instanceof Layer)) fail(this, 'needs a layer');
    this.layer = layer;
  }
  override build(inputShape: PartialShape): void {
    this.layer.ensureBuilt(this.#step(inputShape));
  }
  override call(inputs: Tensor, { training }: CallOptions): Tensor {
    this.#step(inputs.shape);
    const [batch, time, ...rest] = inputs.shape as [number, number, ...number[]];
    const y: Tensor = this.layer.invoke(inputs.reshape([batch * time, ...rest]), {
      training: training ?? false,
    });
    return y.reshape([batch, time, ...y.shape.slice(1)]);
  }
  override computeOutputShape(inputShape: PartialShape): PartialShape {
    const shape = this.layer.computeOutputShape(this.#step(inputShape));
    return [inputShape[0] as number | null, inputShape[1] as number | null, ...shape.slice(1)];
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), layer: innerConfig(this.layer) };
  }
  static override fromConfig({ layer, ...options }: Config): TimeDistributed {
    return new TimeDistributed(fromInner(layer), options);
  }
  /** The shape of one step of all examples. */
  #step(shape: PartialShape): PartialShape {
    if (shape.length < 3)
      fail(this, `expects input of rank 3 or more [batch, time, …], got ${showShape(shape)}`);
    const [batch, time] = shape as readonly [number | null, number | null];
    return [batch === null || time === null ? null : batch * time, ...shape.slice(2)];
  }
}
builtin(RNN, Bidirectional, TimeDistributed);
