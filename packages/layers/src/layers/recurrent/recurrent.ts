// Recurrent layers over sequences [batch, time, features].

import type { Tensor } from '@eagre/core';
import { argumentsOf, type Dim, dims, runGru, runLstm, takesOptions } from '@eagre/core/internal';
import type { Activation } from '../../activations.ts';
import type { FromConfig, LayerOptions } from '../../layer/layer.ts';
import { regularizer } from '../options.ts';
import {
  GRUCell,
  type GRUCellArguments,
  type GRUCellOptions,
  gruOptions,
  LSTMCell,
  type LSTMCellArguments,
  type LSTMCellOptions,
  lstmOptions,
  SimpleRNNCell,
  type SimpleRNNCellArguments,
  type SimpleRNNCellOptions,
  simpleRNNOptions,
} from './recurrent-cells.ts';
import { RNN, type RNNOptions, rnnOptions, type Sequence } from './rnn.ts';

/** @internal A layer of one of our cells, whose options it takes among its own. */
export abstract class CellLayer extends RNN {
  override getConfig(): Record<string, unknown> {
    return { ...this.cell.getConfig(), ...this.sequenceConfig() };
  }
}

/** A layer whose states are vectors. */
abstract class UnitsLayer extends CellLayer {
  /** A cell, or several that are stacked. */
  declare readonly cell: SimpleRNNCell | LSTMCell | GRUCell;
  /** Of the candidate or the output. */
  declare readonly activation: Activation;
  /** Whether a bias is added to the result. */
  declare readonly useBias: boolean;
  /** In training, the share of the input that is dropped, the same in all steps. */
  declare readonly dropout: number;
  /** In training, the share of the state that the weights do not see. Such a layer runs step by step. */
  declare readonly recurrentDropout: number;

  get units(): number {
    return this.cell.units;
  }
}

/** A layer whose cell has a kernel that runs all steps. */
abstract class FusedLayer extends UnitsLayer {
  /** A cell, or several that are stacked. */
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

/** @internal The options of a cell among those of its layer. @param name of the cell, which is not numbered, as in Keras */
export function ofCell<T extends LayerOptions>(
  name: string,
  options: T,
  names: Readonly<Record<keyof Required<T>, unknown>>,
): T {
  const own = ([option]: [string, unknown]): boolean =>
    Object.hasOwn(names, option) && option !== 'name' && option !== 'inputShape';
  return { ...Object.fromEntries(Object.entries(options).filter(own)), name } as T;
}

/** Options of `SimpleRNN`. */
export type SimpleRNNOptions = RNNOptions & SimpleRNNCellOptions;
/** All arguments of `SimpleRNN`, by name. */
export type SimpleRNNArguments = RNNOptions & SimpleRNNCellArguments;

/** A recurrent network whose state is its output: activation(x · kernel + h · recurrentKernel + bias). */
export class SimpleRNN extends UnitsLayer {
  declare static readonly fromConfig: FromConfig<SimpleRNN>;
  declare readonly cell: SimpleRNNCell;

  constructor(...args: [units: number | SimpleRNNArguments, options?: SimpleRNNOptions]) {
    const options = argumentsOf<SimpleRNNArguments>(SimpleRNN, new.target, args);
    super(
      new SimpleRNNCell(ofCell<SimpleRNNCellArguments>('simple_rnn_cell', options, simpleRNNOptions)),
      options,
    );
  }
}

/** Options of `LSTM`. */
export type LSTMOptions = RNNOptions & LSTMCellOptions;
/** All arguments of `LSTM`, by name. */
export type LSTMArguments = RNNOptions & LSTMCellArguments;

/** Long short-term memory (Hochreiter and Schmidhuber, 1997), in one kernel unless activations or recurrentDropout are set. */
export class LSTM extends FusedLayer {
  declare static readonly fromConfig: FromConfig<LSTM>;
  declare readonly cell: LSTMCell;
  /** Of the gates. */
  declare readonly recurrentActivation: Activation;
  /** Whether the forget gate's bias begins with 1. */
  declare readonly unitForgetBias: boolean;

  constructor(...args: [units: number | LSTMArguments, options?: LSTMOptions]) {
    const options = argumentsOf<LSTMArguments>(LSTM, new.target, args);
    super(new LSTMCell(ofCell<LSTMCellArguments>('lstm_cell', options, lstmOptions)), options);
  }
  protected override fused(x: Tensor, initial: readonly Tensor[]): Sequence {
    const { kernel, recurrentKernel, bias } = this.cell;
    const [output, h, c] = runLstm(x, [kernel, recurrentKernel, bias], initial[0], initial[1]);
    return { output: () => output, last: h, after: [h, c] };
  }
}

/** Options of `GRU`. */
export type GRUOptions = RNNOptions & GRUCellOptions;
/** All arguments of `GRU`, by name. */
export type GRUArguments = RNNOptions & GRUCellArguments;

/** Gated recurrent units (Cho et al., 2014), in one kernel unless activations, recurrentDropout or resetAfter are set. */
export class GRU extends FusedLayer {
  declare static readonly fromConfig: FromConfig<GRU>;
  declare readonly cell: GRUCell;
  /** Of the gates. */
  declare readonly recurrentActivation: Activation;
  /** Whether the reset gate scales the state's product instead of the state. */
  declare readonly resetAfter: boolean;

  constructor(...args: [units: number | GRUArguments, options?: GRUOptions]) {
    const options = argumentsOf<GRUArguments>(GRU, new.target, args);
    super(new GRUCell(ofCell<GRUCellArguments>('gru_cell', options, gruOptions)), options);
  }
  protected override fused(x: Tensor, initial: readonly Tensor[]): Sequence {
    const { kernel, recurrentKernel, bias } = this.cell;
    const [output, h] = runGru(x, [kernel, recurrentKernel, bias], initial[0]);
    return { output: () => output, last: h, after: [h] };
  }
}

/** @internal Has layers tell the options of their cell as their own, as in Keras: `lstm.dropout`. */
export function tellsOfCell(of: abstract new (...args: never) => CellLayer, options: object): void {
  for (const name of Object.keys(options))
    if (!(name in of.prototype) && !Object.hasOwn(rnnOptions, name) && name !== 'name')
      Object.defineProperty(of.prototype, name, {
        configurable: true,
        get(this: CellLayer) {
          return (this.cell as unknown as Readonly<Record<string, unknown>>)[name];
        },
      });
}

/** @internal What such a layer takes: the options of its cell, which reads and writes them, and those of the layer. */
export function ofLayer<C extends object>(
  cell: Readonly<Record<keyof Required<C>, unknown>>,
): Readonly<Record<keyof Required<C>, true>> & typeof rnnOptions {
  const names = Object.keys(cell).map((name) => [name, true]);
  return { ...Object.fromEntries(names), ...rnnOptions, activityRegularizer: regularizer } as never;
}
takesOptions<SimpleRNNArguments, SimpleRNN>(
  { positional: ['units'], options: ofLayer<SimpleRNNCellArguments>(simpleRNNOptions) },
  SimpleRNN,
);
takesOptions<LSTMArguments, LSTM>(
  { positional: ['units'], options: ofLayer<LSTMCellArguments>(lstmOptions) },
  LSTM,
);
takesOptions<GRUArguments, GRU>(
  { positional: ['units'], options: ofLayer<GRUCellArguments>(gruOptions) },
  GRU,
);
tellsOfCell(SimpleRNN, simpleRNNOptions);
tellsOfCell(LSTM, lstmOptions);
tellsOfCell(GRU, gruOptions);
