// One step of a recurrent network. A cell is called as `cell(x, { states: [h, c] })` and gives [output, ...new states].
import {
  concat,
  nn,
  type PartialShape,
  random,
  type Shape,
  type Tensor,
  type Variable,
  zeros,
} from '@eagre/core';
import { fusedMatMul } from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../activations.ts';
import type { ConstraintLike } from '../constraints.ts';
import { get as getInitializer, type Initializer, type InitializerLike } from '../initializers.ts';
import { builtin, type CallOptions, Layer, type LayerOptions, type Specs } from '../layer.ts';
import type { RegularizerLike } from '../regularizers.ts';
import {
  activationConfig,
  applyActivation,
  type Config,
  checkInteger,
  checkRank,
  checkRate,
  fail,
  floats,
  knownSize,
  resolveActivation,
} from './common.ts';

/** What `RNN` runs over time. A cell of one's own is a layer with `stateSize` whose `call` gives [output, ...new states]. */
export interface RecurrentCell extends Layer {
  /** The number of units of the state, or of each of several. */
  readonly stateSize: number | readonly number[];
  /** The number of units of the output; that of the first state unless said. */
  readonly outputSize?: number;
  /** @internal Dropout masks that hold for all steps of a call. */
  masks?(batch: number, features: number): unknown;
}

/** @internal */
export function stateSizes(cell: RecurrentCell): readonly number[] {
  return typeof cell.stateSize === 'number' ? [cell.stateSize] : cell.stateSize;
}
/** @internal */
export function outputSize(cell: RecurrentCell): number {
  return cell.outputSize ?? (stateSizes(cell)[0] as number);
}

export interface CellOptions extends LayerOptions {
  /** Of the candidate or the output; `tanh` unless said. */
  readonly activation?: ActivationLike;
  /** True unless said. */
  readonly useBias?: boolean;
  /** `glorotUniform` unless said. */
  readonly kernelInitializer?: InitializerLike;
  /** `orthogonal` unless said. */
  readonly recurrentInitializer?: InitializerLike;
  /** `zeros` unless said. */
  readonly biasInitializer?: InitializerLike;
  readonly kernelRegularizer?: RegularizerLike | null;
  readonly recurrentRegularizer?: RegularizerLike | null;
  readonly biasRegularizer?: RegularizerLike | null;
  readonly kernelConstraint?: ConstraintLike | null;
  readonly recurrentConstraint?: ConstraintLike | null;
  readonly biasConstraint?: ConstraintLike | null;
  /** In training, the share of the input that is dropped, the same in all steps; 0 unless said. */
  readonly dropout?: number;
  /** In training, the share of the state that the weights do not see; 0 unless said. Such a layer runs step by step. */
  readonly recurrentDropout?: number;
  readonly seed?: number | null;
}
export interface GatedCellOptions extends CellOptions {
  /** Of the gates; `sigmoid` unless said. */
  readonly recurrentActivation?: ActivationLike;
}

interface Masks {
  readonly input: Tensor | null;
  readonly recurrent: Tensor | null;
}

const tanh: Activation = resolveActivation('tanh');
const sigmoid: Activation = resolveActivation('sigmoid');

/** What the cells share: weights, dropout, options. */
export abstract class Cell extends Layer {
  readonly units: number;
  readonly activation: Activation;
  readonly useBias: boolean;
  readonly dropout: number;
  readonly recurrentDropout: number;
  readonly seed: number | null;
  /** [features, gates · units] */
  kernel!: Variable;
  /** [units, gates · units] */
  recurrentKernel!: Variable;
  bias: Variable | null = null;
  readonly #options;
  readonly #generator: random.Generator | null;

  constructor(units: number, options: CellOptions) {
    super(options);
    this.units = checkInteger(this, 'units', units);
    this.activation = resolveActivation(options.activation ?? 'tanh');
    this.useBias = options.useBias ?? true;
    this.dropout = checkRate(this, options.dropout ?? 0);
    this.recurrentDropout = checkRate(this, options.recurrentDropout ?? 0);
    if (this.dropout === 1 || this.recurrentDropout === 1) fail(this, 'needs dropout rates below 1');
    this.seed = options.seed ?? null;
    this.#generator = this.seed === null ? null : random.Generator.fromSeed(this.seed);
    this.#options = {
      kernelInitializer: options.kernelInitializer ?? 'glorotUniform',
      recurrentInitializer: options.recurrentInitializer ?? 'orthogonal',
      biasInitializer: options.biasInitializer ?? 'zeros',
      kernelRegularizer: options.kernelRegularizer ?? null,
      recurrentRegularizer: options.recurrentRegularizer ?? null,
      biasRegularizer: options.biasRegularizer ?? null,
      kernelConstraint: options.kernelConstraint ?? null,
      recurrentConstraint: options.recurrentConstraint ?? null,
      biasConstraint: options.biasConstraint ?? null,
    };
  }

  get stateSize(): number | readonly number[] {
    return this.units;
  }
  get outputSize(): number {
    return this.units;
  }
  /** How many matrices stand side by side in the weights. */
  protected abstract get gates(): number;
  protected get biasShape(): Shape {
    return [this.gates * this.units];
  }
  protected biasInitializer(given: InitializerLike): InitializerLike {
    return given;
  }
  protected abstract step(x: Tensor, states: readonly Tensor[], masks: Masks): readonly Tensor[];

  override build(inputShape: Shape): void {
    checkRank(this, inputShape, 2, '[batch, features]');
    const o = this.#options;
    const width = this.gates * this.units;
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [knownSize(this, inputShape, -1), width],
      initializer: o.kernelInitializer,
      regularizer: o.kernelRegularizer,
      constraint: o.kernelConstraint,
    });
    this.recurrentKernel = this.addWeight({
      name: 'recurrent_kernel',
      shape: [this.units, width],
      initializer: o.recurrentInitializer,
      regularizer: o.recurrentRegularizer,
      constraint: o.recurrentConstraint,
    });
    if (!this.useBias) return;
    this.bias = this.addWeight({
      name: 'bias',
      shape: this.biasShape,
      initializer: this.biasInitializer(o.biasInitializer),
      regularizer: o.biasRegularizer,
      constraint: o.biasConstraint,
    });
  }

  override call(inputs: Tensor, options: CallOptions): readonly Tensor[] {
    const x = floats(this, inputs);
    checkRank(this, x.shape, 2, '[batch, features]');
    this.checkFeatures(x.shape);
    const given = options['states'] as Tensor | readonly Tensor[] | undefined;
    const sizes = stateSizes(this);
    const states =
      given === undefined
        ? sizes.map((n) => zeros([x.shape[0], n], { dtype: this.dtype }))
        : ((Array.isArray(given) ? given : [given]) as readonly Tensor[]);
    checkStates(this, states, x.shape[0], sizes);
    const masks =
      options.training === true
        ? ((options['masks'] as Masks | undefined) ?? this.masks(x.shape[0], x.shape[1]))
        : { input: null, recurrent: null };
    return this.step(x, states, masks);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkRank(this, inputShape, 2, '[batch, features]');
    return [inputShape[0] as number | null, this.units];
  }
  /** @internal */
  override computeOutputSpec({ list: [x] }: Specs): Specs {
    const shapes = [this.units, ...stateSizes(this)].map((n) => [x?.shape[0] ?? null, n]);
    return { list: shapes.map((shape) => ({ shape, dtype: this.dtype })), many: true };
  }

  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      units: this.units,
      activation: activationConfig(this.activation),
      useBias: this.useBias,
      dropout: this.dropout,
      recurrentDropout: this.recurrentDropout,
      seed: this.seed,
      ...this.#options,
    };
  }

  /** @internal */
  masks(batch: number, features: number): Masks {
    const { dtype } = this;
    const mask = (rate: number, size: number): Tensor | null => {
      if (rate === 0) return null;
      const noise =
        this.#generator?.uniform([batch, size], { dtype }) ?? random.uniform([batch, size], { dtype });
      return noise
        .greaterEqual(rate)
        .cast(dtype)
        .mul(1 / (1 - rate));
    };
    return { input: mask(this.dropout, features), recurrent: mask(this.recurrentDropout, this.units) };
  }

  /** @internal @throws InvalidArgumentError for another number of features than the weights were made for. */
  checkFeatures(shape: PartialShape): void {
    const n = this.kernel?.shape[0];
    const last = shape.at(-1);
    if (n !== undefined && last !== null && last !== n) {
      fail(
        this,
        `was built for ${n} features, got ${last} (input [${shape.map((d) => d ?? 'null').join(', ')}])`,
      );
    }
  }
}

/** @internal @throws InvalidArgumentError unless there is a state of each size. */
export function checkStates(
  layer: Layer,
  states: readonly Tensor[],
  batch: number,
  sizes: readonly number[],
): void {
  const fits =
    states.length === sizes.length &&
    states.every((s, i) => s.rank === 2 && s.shape[0] === batch && s.shape[1] === sizes[i]);
  if (fits) return;
  const show = (shapes: readonly Shape[]): string => shapes.map((s) => `[${s.join(', ')}]`).join(', ');
  fail(
    layer,
    `expects states of shape ${show(sizes.map((n) => [batch, n]))}, got ${show(states.map((s) => s.shape))}`,
  );
}

const masked = (x: Tensor, mask: Tensor | null): Tensor => (mask === null ? x : x.mul(mask));

export type SimpleRNNCellOptions = CellOptions;

/** activation(x · kernel + h · recurrentKernel + bias), which is both output and state. */
export class SimpleRNNCell extends Cell {
  constructor(units: number, options: SimpleRNNCellOptions = {}) {
    super(units, options);
  }
  protected override get gates(): number {
    return 1;
  }
  protected override step(x: Tensor, [h]: readonly Tensor[], masks: Masks): readonly Tensor[] {
    const sum = fusedMatMul(masked(x, masks.input), this.kernel, this.bias).add(
      masked(h as Tensor, masks.recurrent).matmul(this.recurrentKernel),
    );
    const y = applyActivation(this.activation, sum);
    return [y, y];
  }
  static override fromConfig({ units, ...options }: Config): SimpleRNNCell {
    return new SimpleRNNCell(units as number, options);
  }
}

export interface LSTMCellOptions extends GatedCellOptions {
  /** Whether the forget gate's bias begins with 1; true unless said. */
  readonly unitForgetBias?: boolean;
}

/** A cell with a long memory c beside its state h; gates in the order i, f, c, o. */
export class LSTMCell extends Cell {
  readonly recurrentActivation: Activation;
  readonly unitForgetBias: boolean;

  constructor(units: number, options: LSTMCellOptions = {}) {
    super(units, options);
    this.recurrentActivation = resolveActivation(options.recurrentActivation ?? 'sigmoid');
    this.unitForgetBias = options.unitForgetBias ?? true;
  }
  override get stateSize(): readonly number[] {
    return [this.units, this.units];
  }
  protected override get gates(): number {
    return 4;
  }
  protected override biasInitializer(given: InitializerLike): InitializerLike {
    if (!this.unitForgetBias) return given;
    const rest: Initializer = getInitializer(given);
    const u = this.units;
    return (_, dtype) => concat([rest([u], dtype), getInitializer('ones')([u], dtype), rest([2 * u], dtype)]);
  }
  /** @internal Whether the fused kernel computes what this cell does. */
  get fusable(): boolean {
    return this.activation === tanh && this.recurrentActivation === sigmoid;
  }
  protected override step(x: Tensor, states: readonly Tensor[], masks: Masks): readonly Tensor[] {
    const input = masked(x, masks.input);
    const [before, cell] = states as readonly [Tensor, Tensor];
    if (this.fusable && masks.recurrent === null) {
      const { h, c } = nn.lstm(input.expandDims(1), this.kernel, this.recurrentKernel, this.bias, {
        initialState: [before, cell],
      });
      return [h, h, c];
    }
    const sum = fusedMatMul(input, this.kernel, this.bias).add(
      masked(before, masks.recurrent).matmul(this.recurrentKernel),
    );
    const [i, f, g, o] = sum.split(4, 1) as [Tensor, Tensor, Tensor, Tensor];
    const gate = (t: Tensor): Tensor => applyActivation(this.recurrentActivation, t);
    const c = gate(f)
      .mul(cell)
      .add(gate(i).mul(applyActivation(this.activation, g)));
    const h = gate(o).mul(applyActivation(this.activation, c));
    return [h, h, c];
  }
  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      recurrentActivation: activationConfig(this.recurrentActivation),
      unitForgetBias: this.unitForgetBias,
    };
  }
  static override fromConfig({ units, ...options }: Config): LSTMCell {
    return new LSTMCell(units as number, options);
  }
}

export interface GRUCellOptions extends GatedCellOptions {
  /** Whether the reset gate scales the state's product instead of the state; true unless said. */
  readonly resetAfter?: boolean;
}

/** A gated cell with one state; gates in the order z (update), r (reset), h. */
export class GRUCell extends Cell {
  readonly recurrentActivation: Activation;
  readonly resetAfter: boolean;

  constructor(units: number, options: GRUCellOptions = {}) {
    super(units, options);
    this.recurrentActivation = resolveActivation(options.recurrentActivation ?? 'sigmoid');
    this.resetAfter = options.resetAfter ?? true;
  }
  protected override get gates(): number {
    return 3;
  }
  protected override get biasShape(): Shape {
    return this.resetAfter ? [2, 3 * this.units] : [3 * this.units];
  }
  /** @internal */
  get fusable(): boolean {
    return this.resetAfter && this.activation === tanh && this.recurrentActivation === sigmoid;
  }
  protected override step(x: Tensor, states: readonly Tensor[], masks: Masks): readonly Tensor[] {
    const input = masked(x, masks.input);
    const before = states[0] as Tensor;
    if (this.fusable && masks.recurrent === null) {
      const { h } = nn.gru(input.expandDims(1), this.kernel, this.recurrentKernel, this.bias, {
        initialState: before,
      });
      return [h, h];
    }
    const u = this.units;
    const [ofX, ofH] =
      this.bias === null ? [null, null] : this.resetAfter ? this.bias.unstack(0) : [this.bias, null];
    const [zx, rx, gx] = fusedMatMul(input, this.kernel, ofX as Tensor | null).split(3, 1) as [
      Tensor,
      Tensor,
      Tensor,
    ];
    const seen = masked(before, masks.recurrent);
    const gate = (t: Tensor): Tensor => applyActivation(this.recurrentActivation, t);
    let z: Tensor;
    let candidate: Tensor;
    if (this.resetAfter) {
      const product = fusedMatMul(seen, this.recurrentKernel, (ofH ?? null) as Tensor | null);
      const [zh, rh, gh] = product.split(3, 1) as [Tensor, Tensor, Tensor];
      z = gate(zx.add(zh));
      candidate = gx.add(gate(rx.add(rh)).mul(gh));
    } else {
      const [gates, last] = this.recurrentKernel.split([2 * u, u], 1) as [Tensor, Tensor];
      const [zh, rh] = seen.matmul(gates).split(2, 1) as [Tensor, Tensor];
      z = gate(zx.add(zh));
      candidate = gx.add(gate(rx.add(rh)).mul(seen).matmul(last));
    }
    const g = applyActivation(this.activation, candidate);
    const h = z.mul(before).add(z.neg().add(1).mul(g));
    return [h, h];
  }
  override getConfig(): Record<string, unknown> {
    return {
      ...super.getConfig(),
      recurrentActivation: activationConfig(this.recurrentActivation),
      resetAfter: this.resetAfter,
    };
  }
  static override fromConfig({ units, ...options }: Config): GRUCell {
    return new GRUCell(units as number, options);
  }
}

/** How a configuration holds a layer inside. */
interface Inner {
  readonly class: { fromConfig(config: Config): Layer };
  readonly config: Config;
}
/** @internal */
export function innerConfig(layer: Layer): Inner {
  return { class: layer.constructor as unknown as Inner['class'], config: layer.getConfig() };
}
/** @internal */
export function fromInner(inner: unknown): Layer {
  const { class: Class, config } = inner as Inner;
  return Class.fromConfig(config);
}

/** Cells one after the other, each step through all of them. Its states are those of the first cell, then the second's, … */
export class StackedRNNCells extends Layer {
  readonly cells: readonly RecurrentCell[];

  constructor(cells: readonly RecurrentCell[], options: LayerOptions = {}) {
    super(options);
    if (!Array.isArray(cells) || cells.length === 0) fail(this, 'needs a list of cells');
    this.cells = [...(cells as readonly RecurrentCell[])];
  }
  get stateSize(): readonly number[] {
    return this.cells.flatMap(stateSizes);
  }
  get outputSize(): number {
    return outputSize(this.cells.at(-1) as RecurrentCell);
  }
  override build(inputShape: Shape): void {
    let shape: Shape = inputShape;
    for (const cell of this.cells) {
      cell.ensureBuilt(shape);
      shape = [shape[0] as number, outputSize(cell)];
    }
  }
  override call(inputs: Tensor, { training, states, masks }: CallOptions): readonly Tensor[] {
    let x = floats(this, inputs);
    const given =
      (states as readonly Tensor[] | undefined) ??
      this.stateSize.map((n) => zeros([x.shape[0], n], { dtype: this.dtype }));
    checkStates(this, given, x.shape[0], this.stateSize);
    const next: Tensor[] = [];
    this.cells.forEach((cell, i) => {
      const n = stateSizes(cell).length;
      const own = given.slice(next.length, next.length + n);
      const mask = (masks as readonly unknown[] | undefined)?.[i];
      const [y, ...after] = cell.invoke(x, {
        training: training ?? false,
        states: own,
        ...(mask === undefined ? {} : { masks: mask }),
      }) as unknown as Tensor[];
      x = y as Tensor;
      next.push(...after);
    });
    return [x, ...next];
  }
  /** @internal */
  masks(batch: number, features: number): unknown[] {
    let n = features;
    return this.cells.map((cell) => {
      const own = cell.masks?.(batch, n);
      n = outputSize(cell);
      return own;
    });
  }
  override getConfig(): Record<string, unknown> {
    return { ...super.getConfig(), cells: this.cells.map(innerConfig) };
  }
  static override fromConfig({ cells, ...options }: Config): StackedRNNCells {
    return new StackedRNNCells((cells as unknown[]).map(fromInner) as RecurrentCell[], options);
  }
}
builtin(Cell, StackedRNNCells);
