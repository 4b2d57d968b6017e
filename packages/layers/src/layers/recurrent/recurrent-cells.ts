// One step of a recurrent network.

import { concat, type DType, type Shape, type Tensor } from '@eagre/core';
import {
  argumentsOf,
  fusedMatMul,
  type Option,
  runGru,
  runLstm,
  type Schema,
  takesOptions,
} from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../../activations.ts';
import { type InitializerFunction, ones } from '../../initializers/initializers.ts';
import type { FromConfig } from '../../layer/layer.ts';
import { applyActivation, resolveActivation } from '../common.ts';
import { activation, flag, integer, rate, seed, weights } from '../options.ts';
import { layerOptions } from '../weights.ts';
import { Cell, type CellArguments, type CellOptions, type Masks } from './cell.ts';

/** What recurrent cells with gates take. */
export interface GatedCellOptions extends CellOptions {
  /** Of the gates; `sigmoid` by default. */
  readonly recurrentActivation?: ActivationLike;
}

const tanh: Activation = resolveActivation('tanh');
const sigmoid: Activation = resolveActivation('sigmoid');

const masked = (x: Tensor, mask: Tensor | null): Tensor => (mask === null ? x : x.mul(mask));

/** Options of `SimpleRNNCell`. */
export type SimpleRNNCellOptions = CellOptions;
/** All arguments of `SimpleRNNCell`, by name. */
export type SimpleRNNCellArguments = CellArguments;

/** activation(x · kernel + h · recurrentKernel + bias), which is both output and state. */
export class SimpleRNNCell extends Cell {
  declare static readonly fromConfig: FromConfig<SimpleRNNCell>;
  constructor(...args: [units: number | SimpleRNNCellArguments, options?: SimpleRNNCellOptions]) {
    super(argumentsOf<SimpleRNNCellArguments>(SimpleRNNCell, new.target, args));
  }
  protected override get gates(): number {
    return 1;
  }
  protected override step(x: Tensor, [h]: readonly Tensor[], masks: Masks): readonly Tensor[] {
    const sum = fusedMatMul(masked(x, masks.input), this.kernel, this.bias).add(
      masked(h, masks.recurrent).matmul(this.recurrentKernel),
    );
    const y = applyActivation(this.activation, sum);
    return [y, y];
  }
}

/** @internal Where the forget gate's bias, of four, begins with 1. */
export function openForget(given: InitializerFunction, n: number): InitializerFunction {
  return (_: Shape, dtype: DType) => concat([given([n], dtype), ones()([n], dtype), given([2 * n], dtype)]);
}

/** Options of `LSTMCell`. */
export interface LSTMCellOptions extends GatedCellOptions {
  /** Whether the forget gate's bias begins with 1; true by default. */
  readonly unitForgetBias?: boolean;
}

/** All arguments of `LSTMCell`, by name. */
export type LSTMCellArguments = LSTMCellOptions & CellArguments;

/** A cell with a long memory c beside its state h; gates in the order i, f, c, o. */
export class LSTMCell extends Cell {
  declare static readonly fromConfig: FromConfig<LSTMCell>;
  /** Of the gates. */
  declare readonly recurrentActivation: Activation;
  /** Whether the forget gate's bias begins with 1. */
  declare readonly unitForgetBias: boolean;

  constructor(...args: [units: number | LSTMCellArguments, options?: LSTMCellOptions]) {
    super(argumentsOf<LSTMCellArguments>(LSTMCell, new.target, args));
  }
  override get stateSize(): readonly number[] {
    return [this.units, this.units];
  }
  protected override get gates(): number {
    return 4;
  }
  protected override firstBias(given: InitializerFunction): InitializerFunction {
    return this.unitForgetBias ? openForget(given, this.units) : given;
  }
  /** @internal Whether the fused kernel computes what this cell does. */
  get fusable(): boolean {
    return this.activation === tanh && this.recurrentActivation === sigmoid;
  }
  protected override step(x: Tensor, states: readonly Tensor[], masks: Masks): readonly Tensor[] {
    const input = masked(x, masks.input);
    const [before, cell] = states as readonly [Tensor, Tensor];
    if (this.fusable && masks.recurrent === null) {
      const weights = [this.kernel, this.recurrentKernel, this.bias] as const;
      const [, h, c] = runLstm(input.expandDims(1), weights, before, cell);
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
}

/** Options of `GRUCell`. */
export interface GRUCellOptions extends GatedCellOptions {
  /** Whether the reset gate scales the state's product instead of the state; true by default. */
  readonly resetAfter?: boolean;
}

/** All arguments of `GRUCell`, by name. */
export type GRUCellArguments = GRUCellOptions & CellArguments;

/** A gated cell with one state; gates in the order z (update), r (reset), h. */
export class GRUCell extends Cell {
  declare static readonly fromConfig: FromConfig<GRUCell>;
  /** Of the gates. */
  declare readonly recurrentActivation: Activation;
  /** Whether the reset gate scales the state's product instead of the state. */
  declare readonly resetAfter: boolean;

  constructor(...args: [units: number | GRUCellArguments, options?: GRUCellOptions]) {
    super(argumentsOf<GRUCellArguments>(GRUCell, new.target, args));
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
    const before = states[0];
    if (this.fusable && masks.recurrent === null) {
      const weights = [this.kernel, this.recurrentKernel, this.bias] as const;
      const [, h] = runGru(input.expandDims(1), weights, before);
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
      const product = fusedMatMul(seen, this.recurrentKernel, ofH ?? null);
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
}

const first = { units: integer(), activation: activation('tanh') } as const;
/** @internal */
export const gates: { readonly recurrentActivation: Option<Activation> } = {
  recurrentActivation: activation('sigmoid'),
};
/** @internal */
export const weighted: { readonly useBias: Option<boolean> } & ReturnType<
  typeof weights<'kernel' | 'recurrent' | 'bias'>
> = {
  useBias: flag(true),
  ...weights({ kernel: 'glorotUniform', recurrent: 'orthogonal', bias: 'zeros' }),
};
/** @internal */
export const drops: {
  readonly dropout: Option<number>;
  readonly recurrentDropout: Option<number>;
  readonly seed: Option<number | null>;
} = { dropout: rate(0), recurrentDropout: rate(0), seed };
/** @internal The options of a class of cells, and of the layer that runs them. */
export type CellSchema<O extends object, C> = Schema<O, C>['options'];
export const simpleRNNOptions: CellSchema<SimpleRNNCellArguments, SimpleRNNCell> = {
  ...first,
  ...weighted,
  ...drops,
  ...layerOptions,
};
export const lstmOptions: CellSchema<LSTMCellArguments, LSTMCell> = {
  ...first,
  ...gates,
  ...weighted,
  unitForgetBias: flag(true),
  ...drops,
  ...layerOptions,
};
export const gruOptions: CellSchema<GRUCellArguments, GRUCell> = {
  ...first,
  ...gates,
  ...weighted,
  ...drops,
  resetAfter: flag(true),
  ...layerOptions,
};
takesOptions<SimpleRNNCellArguments, SimpleRNNCell>(
  { positional: ['units'], options: simpleRNNOptions },
  SimpleRNNCell,
);
takesOptions<LSTMCellArguments, LSTMCell>({ positional: ['units'], options: lstmOptions }, LSTMCell);
takesOptions<GRUCellArguments, GRUCell>({ positional: ['units'], options: gruOptions }, GRUCell);
