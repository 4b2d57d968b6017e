// What cells of recurrent networks share. A cell is called as `cell(x, [h, c])` and gives [output, new states].

import {
  type PartialShape,
  random,
  type Shape,
  Tensor,
  type TensorLike,
  type Variable,
  zeros,
} from '@eagre/core';
import {
  checkCount,
  type Dim,
  type Dims,
  defineMethods,
  differs,
  dims,
  isPlain,
  StreamGenerator,
  sameShape,
  shown,
  showShape,
  toShape,
} from '@eagre/core/internal';
import type { Activation, ActivationLike } from '../../activations.ts';
import type { ConstraintLike } from '../../constraints.ts';
import type { InitializerFunction, InitializerLike } from '../../initializers/initializers.ts';
import {
  type CallOptions,
  isBuiltin,
  Layer,
  type LayerOptions,
  ownsTemporaries,
  type Specs,
} from '../../layer/layer.ts';
import { type CallParameters, takesCall } from '../../layer/own-call.ts';
import type { RegularizerLike } from '../../regularizers.ts';
import { checkRank, fail, floats, knownSize, type Size, shapeOf, sizesOf } from '../common.ts';
import { recipe } from '../options.ts';
import type { BiasOptions, KernelOptions } from '../weights.ts';

/**
 * What `RNN` runs over time. A cell of one's own is a layer with `stateSize` whose `call(x, states, options)` gives [output, newStates];
 * the states are a list, also of one.
 */
export interface RecurrentCell extends Layer {
  /** The number of units of the state, or of each of several. */
  readonly stateSize: number | readonly number[];
  /** The number of units of the output; that of the first state by default. */
  readonly outputSize?: number;
  /** @internal Dropout masks that hold for all steps of a call, for the sizes of a step. */
  masks?(batch: Dim, ...step: Dim[]): unknown;
  /** @internal The sizes of a step's output, and of each of its states, where these are no vectors. */
  resultSizes?(batch: Size, step: readonly Size[]): readonly Size[];
}

/** @internal */
export function stateSizes(cell: RecurrentCell): readonly number[] {
  return typeof cell.stateSize === 'number' ? [cell.stateSize] : cell.stateSize;
}
/** @internal */
export function outputSize(cell: RecurrentCell): number {
  return cell.outputSize ?? stateSizes(cell)[0];
}

/** @internal The sizes of each state: [batch, units], unless the cell says others for a step [batch, ...step]. */
export function stateShapes(cell: RecurrentCell, batch: Size, step: readonly Size[] = []): Dims[] {
  const own = cell.resultSizes?.(batch, step);
  return stateSizes(cell).map((n) => (own ?? [batch, n]) as Dims);
}

/** @internal States of zeros. */
export function zeroStates(layer: Layer, shapes: readonly Dims[]): Tensor[] {
  return shapes.map((shape) => zeros(toShape(shape), { dtype: layer.computeDtype }));
}
/** @internal As `getInitialState` gives them. @throws InvalidArgumentError for what is no batch size */
export function initialStates(layer: Layer, cell: RecurrentCell, batchSize: number): Tensor[] {
  checkCount(batchSize, 'batchSize', layer.name);
  return zeroStates(layer, stateShapes(cell, batchSize));
}

/** What all recurrent cells take. */
export interface CellOptions extends LayerOptions, KernelOptions, BiasOptions {
  /** Of the candidate or the output; `tanh` by default. */
  readonly activation?: ActivationLike;
  /** Makes the weights of the state at first; `orthogonal` by default. */
  readonly recurrentInitializer?: InitializerLike;
  /** A penalty on the weights of the state, which training adds to the loss; none by default. */
  readonly recurrentRegularizer?: RegularizerLike | null;
  /** A function that is applied to the weights of the state after each update; none by default. */
  readonly recurrentConstraint?: ConstraintLike | null;
  /** In training, the share of the input that is dropped, the same in all steps; 0 by default. */
  readonly dropout?: number;
  /** In training, the share of the state that the weights do not see; 0 by default. Such a layer runs step by step. */
  readonly recurrentDropout?: number;
  /** Makes what is dropped the same in each run of the program; drawn anew unless given. */
  readonly seed?: number | null;
}
/** All arguments of a cell, by name. */
export interface CellArguments extends CellOptions {
  /** Size of the state and of the output. */
  readonly units: number;
}
/** @internal Factors of the input and of the state, the same in all steps; null for none. */
export interface Masks {
  readonly input: Tensor | null;
  readonly recurrent: Tensor | null;
}

/** @internal A factor that leaves out a share, and scales the rest; null for none. */
export function dropoutMask(
  { dtype }: Layer,
  generator: StreamGenerator | null,
  rate: number,
  sizes: Dims,
): Tensor | null {
  if (rate === 0) return null;
  const shape = toShape(sizes);
  const noise = generator?.uniform(shape, { dtype }) ?? random.uniform(shape, { dtype });
  return noise
    .greaterEqual(rate)
    .cast(dtype)
    .mul(1 / (1 - rate));
}
/** @internal The generator of a cell's dropout. @throws InvalidArgumentError for rates that leave nothing */
export function dropoutGenerator(
  cell: Layer & { readonly dropout: number; readonly recurrentDropout: number; readonly seed: number | null },
): StreamGenerator | null {
  if (cell.dropout === 1 || cell.recurrentDropout === 1) fail(cell, 'needs dropout rates below 1');
  return cell.seed === null ? null : new StreamGenerator(cell.seed);
}

/** What the cells share: weights, dropout, options. */
export abstract class Cell extends Layer {
  /** Size of the state and of the output. */
  declare readonly units: number;
  /** Of the candidate or the output. */
  declare readonly activation: Activation;
  /** Whether a bias is added to the result. */
  declare readonly useBias: boolean;
  /** In training, the share of the input that is dropped, the same in all steps. */
  declare readonly dropout: number;
  /** In training, the share of the state that the weights do not see. Such a layer runs step by step. */
  declare readonly recurrentDropout: number;
  /** Makes what is dropped the same in each run of the program. */
  declare readonly seed: number | null;
  /** [features, gates · units] */
  kernel!: Variable;
  /** [units, gates · units] */
  recurrentKernel!: Variable;
  bias: Variable | null = null;
  readonly #generator: StreamGenerator | null;

  constructor(options: CellArguments) {
    super(options);
    this.#generator = dropoutGenerator(this);
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
  protected firstBias(given: InitializerFunction): InitializerFunction {
    return given;
  }
  protected abstract step(x: Tensor, states: readonly Tensor[], masks: Masks): readonly Tensor[];

  override build(inputShape: PartialShape): void {
    checkRank(this, inputShape, 2, '[batch, features]');
    const width = this.gates * this.units;
    this.kernel = this.addWeight({
      name: 'kernel',
      shape: [knownSize(this, inputShape, -1), width],
      ...recipe(this, 'kernel'),
    });
    this.recurrentKernel = this.addWeight({
      name: 'recurrent_kernel',
      shape: [this.units, width],
      ...recipe(this, 'recurrent'),
    });
    if (!this.useBias) return;
    const bias = recipe(this, 'bias');
    this.bias = this.addWeight({
      name: 'bias',
      shape: this.biasShape,
      ...bias,
      initializer: this.firstBias(bias.initializer),
    });
  }

  /** The states before the first step: zeros [batchSize, units]. @throws InvalidArgumentError for what is no batch size */
  getInitialState(
    batchSize:
      | number
      | {
          /** How many examples the states are for. */
          readonly batchSize: number;
        },
  ): Tensor[];
  getInitialState(batchSize: number): Tensor[] {
    return initialStates(this, this, batchSize);
  }

  override call(inputs: Tensor, options: CallOptions = {}): readonly Tensor[] {
    const x = floats(this, inputs);
    checkRank(this, x.shape, 2, '[batch, features]');
    this.checkFeatures(x.shape);
    const given = options['states'] as Tensor | readonly Tensor[] | undefined;
    const [batch, features] = dims(x) as [Dim, Dim];
    const shapes = stateShapes(this, batch);
    const states =
      given === undefined
        ? zeroStates(this, shapes)
        : ((Array.isArray(given) ? given : [given]) as readonly Tensor[]);
    checkStates(this, states, shapes);
    const masks =
      options.training === true
        ? ((options['masks'] as Masks | undefined) ?? this.masks(batch, features))
        : { input: null, recurrent: null };
    return this.step(x, states, masks);
  }

  /** @internal */
  override present(result: Tensor, args: readonly unknown[]): unknown {
    return presentStep(result, args);
  }

  override computeOutputShape(inputShape: PartialShape): PartialShape {
    checkRank(this, inputShape, 2, '[batch, features]');
    return shapeOf([sizesOf(inputShape)[0], this.units]);
  }
  /** @internal */
  override computeOutputSpec({ list: [x] }: Specs): Specs {
    const shapes = [this.units, ...stateSizes(this)].map((n) => [x?.shape[0] ?? null, n]);
    return { list: shapes.map((shape) => ({ shape, dtype: this.computeDtype })), many: true };
  }

  /** @internal */
  masks(batch: Dim, features: Dim): Masks {
    const mask = (rate: number, size: Dim): Tensor | null =>
      dropoutMask(this, this.#generator, rate, [batch, size]);
    return { input: mask(this.dropout, features), recurrent: mask(this.recurrentDropout, this.units) };
  }

  /** @internal @throws InvalidArgumentError for another number of features than the weights were made for. */
  checkFeatures(shape: PartialShape): void {
    const n = this.kernel?.shape[0];
    const last = sizesOf(shape).at(-1) ?? null;
    if (n !== undefined && last !== null && differs(last, n))
      fail(this, `was built for ${n} features, got ${last} (input ${showShape(shape)})`);
  }
}

/** A call of a cell: [output, new states]. */
export interface Cell {
  (inputs: TensorLike, states: Tensor, options?: CallOptions): [output: Tensor, state: Tensor];
  (
    inputs: TensorLike,
    states?: readonly Tensor[] | CallOptions,
    options?: CallOptions,
  ): [output: Tensor, states: Tensor[]];
}

/** @internal @throws InvalidArgumentError unless there is a state of each shape. */
export function checkStates(layer: Layer, states: readonly Tensor[], shapes: readonly Dims[]): void {
  const isList = Array.isArray(states) && states.every((s) => s instanceof Tensor);
  if (!isList) fail(layer, `expects states in a list of tensors, got ${shown(states)}`);
  if (states.length === shapes.length && states.every((s, i) => sameShape(dims(s), shapes[i]))) return;
  const show = (all: readonly Dims[]): string => all.map(showShape).join(', ');
  fail(layer, `expects states of shape ${show(shapes)}, got ${show(states.map((s) => s.shape))}`);
}
ownsTemporaries(Cell);
defineMethods(Cell.prototype, 'Cell', { getInitialState: { positional: ['batchSize'] } });
/** @internal How cells are called, by which masks of dropout come from the layer that runs them. */
export const cellCall: CallParameters = {
  second: 'states',
  options: { states: true, training: true, masks: true },
};
takesCall(cellCall, Cell);

/** @internal One step of a cell: its output, then the new states. The library's cells give them in one list. */
export function runCell(
  cell: RecurrentCell,
  x: Tensor,
  states: readonly Tensor[],
  { training, masks }: { readonly training: boolean; readonly masks?: unknown },
): readonly Tensor[] {
  if (isBuiltin(cell)) {
    const given = masks === undefined ? { states, training } : { states, training, masks };
    return cell.invoke(x, given) as unknown as readonly Tensor[];
  }
  const result: unknown = cell.invoke(x, states, { training });
  const [y, after] = (Array.isArray(result) ? result : []) as [unknown?, unknown?];
  const next: readonly unknown[] = Array.isArray(after) ? after : [after];
  if (!(y instanceof Tensor) || !next.every((s) => s instanceof Tensor))
    fail(cell, 'must give [output, newStates], the states being a tensor or a list of them');
  return [y, ...next];
}

/** @internal What users get of a cell: [output, new states], those as they were given, one or a list. */
export function presentStep(result: unknown, args: readonly unknown[]): unknown {
  const [y, ...after] = result as readonly unknown[];
  const second = args[1];
  const given = isPlain(second) && 'states' in second ? second['states'] : second;
  return [y, given instanceof Tensor && after.length === 1 ? after[0] : after];
}
