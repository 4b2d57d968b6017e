// Recurrent layers over sequences [batch, time, features].
import { nn, type Tensor } from '@eagre/core';
import { type OptionNames, takesOptions } from '@eagre/core/internal';
import type { LayerOptions } from '../layer.ts';
import type { Config } from './common.ts';
import {
  GRUCell,
  type GRUCellOptions,
  gruOptions,
  LSTMCell,
  type LSTMCellOptions,
  lstmOptions,
  SimpleRNNCell,
  type SimpleRNNCellOptions,
  simpleRNNOptions,
} from './recurrent-cells.ts';
import { RNN, type RNNOptions, rnnOptions, type Sequence } from './rnn.ts';

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
    const mask = training ? cell.masks(x.shape[0] as number, x.shape[2] as number).input : null;
    return this.fused(mask === null ? x : x.mul(mask.expandDims(1)), initial);
  }
}

/** The options of a cell among those of its layer. */
function ofCell<T extends LayerOptions>(options: T, names: OptionNames<T>): T {
  const own = ([name]: [string, unknown]): boolean =>
    Object.hasOwn(names, name) && name !== 'name' && name !== 'inputShape';
  return Object.fromEntries(Object.entries(options ?? {}).filter(own)) as T;
}

export type SimpleRNNOptions = RNNOptions & SimpleRNNCellOptions;

/** A recurrent network whose state is its output: activation(x · kernel + h · recurrentKernel + bias). */
export class SimpleRNN extends CellLayer {
  declare readonly cell: SimpleRNNCell;

  constructor(units: number, options: SimpleRNNOptions = {}) {
    super(new SimpleRNNCell(units, ofCell<SimpleRNNCellOptions>(options, simpleRNNOptions)), options);
  }
  static override fromConfig({ units, ...options }: Config): SimpleRNN {
    return new SimpleRNN(units as number, options);
  }
}

export type LSTMOptions = RNNOptions & LSTMCellOptions;

/** Long short-term memory (Hochreiter and Schmidhuber, 1997), in one kernel unless activations or recurrentDropout are set. */
export class LSTM extends FusedLayer {
  declare readonly cell: LSTMCell;

  constructor(units: number, options: LSTMOptions = {}) {
    super(new LSTMCell(units, ofCell<LSTMCellOptions>(options, lstmOptions)), options);
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

/** Gated recurrent units (Cho et al., 2014), in one kernel unless activations, recurrentDropout or resetAfter are set. */
export class GRU extends FusedLayer {
  declare readonly cell: GRUCell;

  constructor(units: number, options: GRUOptions = {}) {
    super(new GRUCell(units, ofCell<GRUCellOptions>(options, gruOptions)), options);
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

takesOptions<SimpleRNNOptions>({ ...rnnOptions, ...simpleRNNOptions }, SimpleRNN);
takesOptions<LSTMOptions>({ ...rnnOptions, ...lstmOptions }, LSTM);
takesOptions<GRUOptions>({ ...rnnOptions, ...gruOptions }, GRU);
