// Recurrent layers over sequences [batch, time, features].
import { nn, type Tensor } from '@eagre/core';
import { argumentsOf, type Dim, dims, type OptionNames, takesArguments } from '@eagre/core/internal';
import type { LayerOptions } from '../layer.ts';
import type { Config } from './common.ts';
import {
  GRUCell,
  type GRUCellArguments,
  type GRUCellOptions,
  gruNames,
  LSTMCell,
  type LSTMCellArguments,
  type LSTMCellOptions,
  lstmNames,
  SimpleRNNCell,
  type SimpleRNNCellArguments,
  type SimpleRNNCellOptions,
  simpleRNNNames,
} from './recurrent-cells.ts';
import { RNN, type RNNOptions, rnnNames, type Sequence } from './rnn.ts';

/** A layer of one of our cells, whose options it takes among its own. */
abstract class CellLayer extends RNN {
  declare readonly cell: SimpleRNNCell | LSTMCell | GRUCell;

  get units(): number {
    return this.cell.units;
  }
  override getConfig(): Record<string, unknown> {
    return { ...this.cell.getConfig(), ...this.sequenceConfig() };
  }
}

/** A layer whose cell has a kernel that runs all steps. */
abstract class FusedLayer extends CellLayer {
  declare readonly cell: LSTMCell | GRUCell;

  /** All steps in one kernel. */
  protected abstract fused(x: Tensor, initial: readonly Tensor[]): Sequence;

  protected override run(x: Tensor, initial: readonly Tensor[], training: boolean): Sequence {
    const { cell } = this;
    if (!cell.fusable || (training && cell.recurrentDropout > 0)) return super.run(x, initial, training);
    const [batch, , features] = dims(x) as [Dim, Dim, Dim];
    const mask = training ? cell.masks(batch, features).input : null;
    return this.fused(mask === null ? x : x.mul(mask.expandDims(1)), initial);
  }
}

/** The options of a cell among those of its layer. */
function ofCell<T extends LayerOptions>(options: T, names: OptionNames<T>): T {
  const own = ([name]: [string, unknown]): boolean =>
    Object.hasOwn(names, name) && name !== 'name' && name !== 'inputShape';
  return Object.fromEntries(Object.entries(options).filter(own)) as T;
}

export type SimpleRNNOptions = RNNOptions & SimpleRNNCellOptions;
/** All arguments of `SimpleRNN`, by name. */
export type SimpleRNNArguments = RNNOptions & SimpleRNNCellArguments;

/** A recurrent network whose state is its output: activation(x · kernel + h · recurrentKernel + bias). */
export class SimpleRNN extends CellLayer {
  declare readonly cell: SimpleRNNCell;

  constructor(units: number | SimpleRNNArguments, options?: SimpleRNNOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<SimpleRNNArguments>(SimpleRNN, new.target, args);
    super(new SimpleRNNCell(ofCell<SimpleRNNCellArguments>(options, simpleRNNNames)), options);
  }
  static override fromConfig({ units, ...options }: Config): SimpleRNN {
    return new SimpleRNN(units as number, options);
  }
}

export type LSTMOptions = RNNOptions & LSTMCellOptions;
/** All arguments of `LSTM`, by name. */
export type LSTMArguments = RNNOptions & LSTMCellArguments;

/** Long short-term memory (Hochreiter and Schmidhuber, 1997), in one kernel unless activations or recurrentDropout are set. */
export class LSTM extends FusedLayer {
  declare readonly cell: LSTMCell;

  constructor(units: number | LSTMArguments, options?: LSTMOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<LSTMArguments>(LSTM, new.target, args);
    super(new LSTMCell(ofCell<LSTMCellArguments>(options, lstmNames)), options);
  }
  protected override fused(x: Tensor, initial: readonly Tensor[]): Sequence {
    const { kernel, recurrentKernel, bias } = this.cell;
    const { output, h, c } = nn.lstm(x, kernel, recurrentKernel, bias, {
      initialState: initial as readonly [Tensor, Tensor],
    });
    return { output: () => output, last: h, after: [h, c] };
  }
  static override fromConfig({ units, ...options }: Config): LSTM {
    return new LSTM(units as number, options);
  }
}

export type GRUOptions = RNNOptions & GRUCellOptions;
/** All arguments of `GRU`, by name. */
export type GRUArguments = RNNOptions & GRUCellArguments;

/** Gated recurrent units (Cho et al., 2014), in one kernel unless activations, recurrentDropout or resetAfter are set. */
export class GRU extends FusedLayer {
  declare readonly cell: GRUCell;

  constructor(units: number | GRUArguments, options?: GRUOptions);
  constructor(...args: readonly unknown[]) {
    const options = argumentsOf<GRUArguments>(GRU, new.target, args);
    super(new GRUCell(ofCell<GRUCellArguments>(options, gruNames)), options);
  }
  protected override fused(x: Tensor, initial: readonly Tensor[]): Sequence {
    const { kernel, recurrentKernel, bias } = this.cell;
    const { output, h } = nn.gru(x, kernel, recurrentKernel, bias, { initialState: initial[0] as Tensor });
    return { output: () => output, last: h, after: [h] };
  }
  static override fromConfig({ units, ...options }: Config): GRU {
    return new GRU(units as number, options);
  }
}

takesArguments<SimpleRNNArguments>(
  { positional: ['units'], names: { ...simpleRNNNames, ...rnnNames } },
  SimpleRNN,
);
takesArguments<LSTMArguments>({ positional: ['units'], names: { ...lstmNames, ...rnnNames } }, LSTM);
takesArguments<GRUArguments>({ positional: ['units'], names: { ...gruNames, ...rnnNames } }, GRU);
