// Runs cells over sequences [batch, time, features].
import { keep, type PartialShape, stack, type Tensor, zeros } from '@eagre/core';
import { type OptionNames, showShape, takesOptions } from '@eagre/core/internal';
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
import { Cell, checkStates, outputSize, type RecurrentCell, stateSizes } from './cell.ts';
import { type Config, checkRank, fail, floats, penalize, resolveActivityRegularizer } from './common.ts';
import { fromInner, innerConfig } from './inner.ts';
import { StackedRNNCells } from './stacked-cells.ts';
import { layerOptions } from './weights.ts';

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
    if (cell instanceof Cell) cell.checkFeatures(shape);
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

/** @internal What comes of running a cell over a sequence. */
export interface Sequence {
  readonly output: () => Tensor;
  readonly last: Tensor;
  readonly after: readonly Tensor[];
}
builtin(RNN);

export const rnnOptions: OptionNames<RNNOptions> = {
  ...layerOptions,
  returnSequences: true,
  returnState: true,
  goBackwards: true,
  stateful: true,
  activityRegularizer: true,
};
takesOptions<RNNOptions>(rnnOptions, RNN);
