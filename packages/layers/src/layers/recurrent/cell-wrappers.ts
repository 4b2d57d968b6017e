// Cells around a cell, as TensorFlow's `tf.nn` has them: dropout, a way around, a device.
import { device, type PartialShape, random, type Shape, type Tensor, type TensorLike } from '@eagre/core';
import {
  argumentsOf,
  type Dim,
  defineMethods,
  dims,
  inInitScope,
  isPlain,
  type Option,
  outsideScopes,
  type Schema,
  StreamGenerator,
  sameShape,
  showShape,
  takesOptions,
  toShape,
} from '@eagre/core/internal';
import {
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerOptions,
  ownsTemporaries,
} from '../../layer/layer.ts';
import { takesCall } from '../../layer/own-call.ts';
import { show } from '../../layer/show.ts';
import { functionConfig, functionOf } from '../../saving/keras-object.ts';
import { deserializeLayer, serializeLayer } from '../../saving/serialization.ts';
import { fail, floats, type Size } from '../common.ts';
import { flag, integer, option, seed } from '../options.ts';
import { layerOptions } from '../weights.ts';
import {
  cellCall,
  checkStates,
  initialStates,
  outputSize,
  presentStep,
  type RecurrentCell,
  runCell,
  stateShapes,
  stateSizes,
  zeroStates,
} from './cell.ts';
import { LSTMCell } from './recurrent-cells.ts';

/** A step of a cell: its output, then the new states. */
type Step = readonly [output: Tensor, ...states: Tensor[]];

/** All arguments of a wrapper of cells, by name. */
export interface CellWrapperArguments extends LayerOptions {
  /** What is wrapped: a cell of `tf.layers`, or one of one's own. */
  readonly cell: RecurrentCell;
}

/** What the wrappers share: the cell's sizes, states and weights. */
export abstract class CellWrapper extends Layer {
  /** What is wrapped: a cell of `tf.layers`, or one of one's own. */
  declare readonly cell: RecurrentCell;

  get stateSize(): number | readonly number[] {
    return this.cell.stateSize;
  }
  get outputSize(): number {
    return outputSize(this.cell);
  }
  /** The states before the first step, zeros. @throws InvalidArgumentError for what is no batch size */
  getInitialState(
    batchSize:
      | number
      | {
          /** How many examples the states are for. */
          readonly batchSize: number;
        },
  ): Tensor[];
  getInitialState(batchSize: number): Tensor[] {
    return initialStates(this, this.cell, batchSize);
  }
  override build(inputShape: PartialShape): void {
    this.cell.ensureBuilt(inputShape);
  }
  override call(inputs: Tensor, options: CallOptions = {}): readonly Tensor[] {
    const x = floats(this, inputs);
    const [batch, ...step] = dims(x) as [Dim, ...Dim[]];
    const shapes = stateShapes(this.cell, batch, step);
    const given = options['states'] as Tensor | readonly Tensor[] | undefined;
    const states = given === undefined ? zeroStates(this, shapes) : [given].flat();
    checkStates(this, states, shapes);
    const { training = false, masks } = options;
    return this.around(
      x,
      (input) => runCell(this.cell, input, states, { training, masks }) as unknown as Step,
    );
  }
  /** What the wrapper does around a step of the cell. */
  protected abstract around(x: Tensor, step: (x: Tensor) => Step): Step;

  /** @internal */
  override present(result: Tensor, args: readonly unknown[]): unknown {
    return presentStep(result, args);
  }
  /** @internal */
  masks(batch: Dim, ...step: Dim[]): unknown {
    return this.cell.masks?.(batch, ...step);
  }
  /** @internal */
  resultSizes(batch: Size, step: readonly Size[]): readonly Size[] {
    return this.cell.resultSizes?.(batch, step) ?? [batch, outputSize(this.cell)];
  }
}
/** A call of a wrapper, as of a cell: [output, new states]. */
export interface CellWrapper {
  (inputs: TensorLike, states: Tensor, options?: CallOptions): [output: Tensor, state: Tensor];
  (
    inputs: TensorLike,
    states?: readonly Tensor[] | CallOptions,
    options?: CallOptions,
  ): [output: Tensor, states: Tensor[]];
}
defineMethods(CellWrapper.prototype, 'CellWrapper', { getInitialState: { positional: ['batchSize'] } });

const cell: Option<RecurrentCell> = {
  read: (given, _, layer) => {
    const inner = isPlain(given) ? deserializeLayer(given) : given;
    if (!(inner instanceof Layer) || (inner as RecurrentCell).stateSize === undefined)
      fail(layer as Layer, 'needs a cell, which is a layer with a stateSize');
    return inner as RecurrentCell;
  },
  write: serializeLayer,
};
/** A function of the user's, or null. */
const functionOrNull = <F extends (...args: never[]) => unknown>(): Option<F | null> => ({
  read: (given, name, layer) => {
    const fn = functionOf(given) ?? given ?? null;
    if (fn !== null && typeof fn !== 'function')
      fail(layer as Layer, `needs ${name} to be a function, got ${show(given)}`);
    return fn as F | null;
  },
  write: functionConfig,
});
/** A share that is kept. */
const keepProb: Option<number> = option((value, name, layer) => {
  if (typeof value !== 'number' || !(value > 0 && value <= 1))
    fail(layer, `needs ${name} to be above 0 and at most 1, got ${show(value)}`);
  return value;
}, 1);

/** Options of `RNNCellDropoutWrapper`. */
export interface RNNCellDropoutWrapperOptions extends LayerOptions {
  /** The share of the input that is kept; 1 by default. */
  readonly inputKeepProb?: number;
  /** The share of the output that is kept; 1 by default. */
  readonly outputKeepProb?: number;
  /** The share of the new states that is kept; 1 by default. */
  readonly stateKeepProb?: number;
  /** Whether what is dropped is the same in all steps and for all examples, drawn when the wrapper is made; false by default. */
  readonly variationalRecurrent?: boolean;
  /** Features of the input, which `variationalRecurrent` needs to drop some of it. */
  readonly inputSize?: number | null;
  /** Makes what is dropped the same in each run of the program; drawn anew unless given. */
  readonly seed?: number | null;
  /** Of the list of new states, which ones are dropped: a flag, or one for each; all by default. */
  readonly dropoutStateFilterVisitor?: ((states: readonly Tensor[]) => boolean | readonly boolean[]) | null;
}
/** All arguments of `RNNCellDropoutWrapper`, by name. */
export interface RNNCellDropoutWrapperArguments extends RNNCellDropoutWrapperOptions, CellWrapperArguments {}

/** Whether an element is kept, of uniform noise; what is kept is scaled, so that the expected sum stays. */
const kept = (x: Tensor, noise: Tensor, keep: number): Tensor => x.div(keep).mul(noise.add(keep).floor());

/**
 * A cell with dropout of its input, its output and its states. As in TensorFlow it drops in every call, not only in training: make the
 * model for use without it, or set the shares to 1. `tf.layers.LSTMCell` is refused, since its states would go together: it has options of
 * its own for that, as the other cells have.
 * @throws InvalidArgumentError for an LSTMCell, shares out of (0, 1], and variationalRecurrent without inputSize
 */
export class RNNCellDropoutWrapper extends CellWrapper {
  declare static readonly fromConfig: FromConfig<RNNCellDropoutWrapper>;
  /** The share of the input that is kept. */
  declare readonly inputKeepProb: number;
  /** The share of the output that is kept. */
  declare readonly outputKeepProb: number;
  /** The share of the new states that is kept. */
  declare readonly stateKeepProb: number;
  /** Whether what is dropped is the same in all steps and for all examples, drawn when the wrapper is made. */
  declare readonly variationalRecurrent: boolean;
  /** Features of the input, which `variationalRecurrent` needs to drop some of it. */
  declare readonly inputSize: number | null;
  /** Makes what is dropped the same in each run of the program. */
  declare readonly seed: number | null;
  /** Of the list of new states, which ones are dropped: a flag, or one for each. */
  declare readonly dropoutStateFilterVisitor:
    | ((states: readonly Tensor[]) => boolean | readonly boolean[])
    | null;
  readonly #generator: StreamGenerator | null;
  readonly #noise: {
    readonly input: Tensor | null;
    readonly states: Tensor[];
    readonly output: Tensor;
  } | null;

  constructor(
    ...args: [cell: RecurrentCell | RNNCellDropoutWrapperArguments, options?: RNNCellDropoutWrapperOptions]
  ) {
    super(argumentsOf<RNNCellDropoutWrapperArguments>(RNNCellDropoutWrapper, new.target, args));
    if (this.cell instanceof LSTMCell)
      fail(this, 'takes no LSTMCell: use new LSTMCell(units, { dropout, recurrentDropout })');
    this.#generator = this.seed === null ? null : new StreamGenerator(this.seed);
    this.#noise = this.variationalRecurrent ? inInitScope(() => outsideScopes(() => this.#drawOnce())) : null;
  }

  #drawOnce(): { readonly input: Tensor | null; readonly states: Tensor[]; readonly output: Tensor } {
    if (this.inputKeepProb < 1 && this.inputSize === null)
      fail(this, 'needs inputSize for variationalRecurrent with an inputKeepProb below 1');
    const noise = (n: number): Tensor => this.#uniform([1, n]);
    return {
      input: this.inputSize === null ? null : noise(this.inputSize),
      states: stateSizes(this.cell).map(noise),
      output: noise(outputSize(this.cell)),
    };
  }
  #uniform(shape: Shape): Tensor {
    const dtype = this.computeDtype;
    return this.#generator?.uniform(shape, { dtype }) ?? random.uniform(shape, { dtype });
  }
  #drop(x: Tensor, keep: number, noise: Tensor | null | undefined): Tensor {
    return keep === 1 ? x : kept(x, noise ?? this.#uniform(toShape(dims(x))), keep);
  }
  protected override around(x: Tensor, step: (x: Tensor) => Step): Step {
    const noise = this.#noise;
    const [y, ...states] = step(this.#drop(x, this.inputKeepProb, noise?.input));
    const chosen = this.dropoutStateFilterVisitor?.(states) ?? true;
    const next = states.map((state, i) =>
      (typeof chosen === 'boolean' ? chosen : chosen[i])
        ? this.#drop(state, this.stateKeepProb, noise?.states[i])
        : state,
    );
    return [this.#drop(y, this.outputKeepProb, noise?.output), ...next];
  }
}

/** Of the input and the output of a cell, what the wrapper gives. */
export type ResidualFunction = (inputs: Tensor, outputs: Tensor) => Tensor;

/** Options of `RNNCellResidualWrapper`. */
export interface RNNCellResidualWrapperOptions extends LayerOptions {
  /** What becomes of input and output; their sum by default. */
  readonly residualFn?: ResidualFunction | null;
}
/** All arguments of `RNNCellResidualWrapper`, by name. */
export interface RNNCellResidualWrapperArguments
  extends RNNCellResidualWrapperOptions,
    CellWrapperArguments {}

/** A cell whose input is added to its output; the states stay as they are. @throws InvalidArgumentError where the two differ in shape */
export class RNNCellResidualWrapper extends CellWrapper {
  declare static readonly fromConfig: FromConfig<RNNCellResidualWrapper>;
  /** What becomes of input and output. */
  declare readonly residualFn: ResidualFunction | null;

  constructor(
    ...args: [cell: RecurrentCell | RNNCellResidualWrapperArguments, options?: RNNCellResidualWrapperOptions]
  ) {
    super(argumentsOf<RNNCellResidualWrapperArguments>(RNNCellResidualWrapper, new.target, args));
  }
  protected override around(x: Tensor, step: (x: Tensor) => Step): Step {
    const [y, ...states] = step(x);
    if (this.residualFn !== null) return [this.residualFn(x, y), ...states];
    if (!sameShape(dims(x), dims(y)))
      fail(this, `cannot add the input ${showShape(x.shape)} to the output ${showShape(y.shape)}`);
    return [x.add(y), ...states];
  }
}

/** All arguments of `RNNCellDeviceWrapper`, by name. */
export interface RNNCellDeviceWrapperArguments extends CellWrapperArguments {
  /** The name of a device: `/gpu:0`. */
  readonly device: string;
}

/** A cell whose steps run on a device, as in `tf.device`. @throws NotFoundError by a call, where there is no such device */
export class RNNCellDeviceWrapper extends CellWrapper {
  declare static readonly fromConfig: FromConfig<RNNCellDeviceWrapper>;
  /** The name of a device: `/gpu:0`. */
  declare readonly device: string;

  constructor(
    ...args:
      | [RNNCellDeviceWrapperArguments]
      | [
          cell: RecurrentCell,
          device:
            | string
            | (LayerOptions & {
                /** The name of a device: `'/gpu:0'`. */
                readonly device: string;
              }),
          options?: LayerOptions,
        ]
  ) {
    super(argumentsOf<RNNCellDeviceWrapperArguments>(RNNCellDeviceWrapper, new.target, args));
  }
  protected override around(x: Tensor, step: (x: Tensor) => Step): Step {
    return device(this.device, () => step(x));
  }
}
ownsTemporaries(RNNCellDropoutWrapper, RNNCellResidualWrapper, RNNCellDeviceWrapper);
takesCall(cellCall, CellWrapper);

const common = { cell, ...layerOptions };
const dropoutOptions: Schema<RNNCellDropoutWrapperArguments, RNNCellDropoutWrapper>['options'] = {
  ...common,
  inputKeepProb: keepProb,
  outputKeepProb: keepProb,
  stateKeepProb: keepProb,
  variationalRecurrent: flag(false),
  inputSize: {
    read: (given, name, layer) => ((given ?? null) === null ? null : integer().read(given, name, layer)),
  },
  seed,
  dropoutStateFilterVisitor: functionOrNull(),
};
takesOptions<RNNCellDropoutWrapperArguments, RNNCellDropoutWrapper>(
  { positional: ['cell'], options: dropoutOptions },
  RNNCellDropoutWrapper,
);
takesOptions<RNNCellResidualWrapperArguments, RNNCellResidualWrapper>(
  { positional: ['cell'], options: { ...common, residualFn: functionOrNull() } },
  RNNCellResidualWrapper,
);
takesOptions<RNNCellDeviceWrapperArguments, RNNCellDeviceWrapper>(
  {
    positional: ['cell', 'device'],
    options: {
      ...common,
      device: option<string>((value, name, layer) => {
        if (typeof value !== 'string') fail(layer, `needs ${name} to be a name, got ${show(value)}`);
        return value;
      }),
    },
  },
  RNNCellDeviceWrapper,
);
