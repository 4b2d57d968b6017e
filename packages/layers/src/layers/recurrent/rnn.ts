// Runs cells over sequences [batch, time, features].

import {
  constant,
  InvalidArgumentError,
  type PartialShape,
  stack,
  Tensor,
  type TensorLike,
  Variable,
  where,
  zeros,
  zerosLike,
} from '@eagre/core';
import {
  argumentsOf,
  checkList,
  context,
  type Dim,
  type Dims,
  defineMethods,
  dims,
  inInitScope,
  isPlain,
  isUnknown,
  knownDim,
  lessThan,
  outsideScopes,
  partialShape,
  type Schema,
  sameShape,
  shown,
  showShape,
  sizeValue,
  takesOptions,
  toShape,
  toTensor,
} from '@eagre/core/internal';
import { TensorArray, whileLoop } from '@eagre/graph';
import {
  type CallOptions,
  type FromConfig,
  Layer,
  type LayerInput,
  type LayerOptions,
  type LayerOutput,
  ownsTemporaries,
  type Specs,
  specsOf,
} from '../../layer/layer.ts';
import type { Mask } from '../../layer/masks.ts';
import { takesCall } from '../../layer/own-call.ts';
import { isShapes, shapesOfSpecs } from '../../layer/specs.ts';
import type { RegularizerFunction, RegularizerLike } from '../../regularizers.ts';
import { deserializeLayer, serializeLayer } from '../../saving/serialization.ts';
import { checkRank, fail, floats, penalize, type Size, shapeOf, sizesOf } from '../common.ts';
import { activityRegularizer, flag } from '../options.ts';
import { penalizedOptions } from '../weights.ts';
import {
  Cell,
  checkStates,
  initialStates,
  outputSize,
  type RecurrentCell,
  runCell,
  stateShapes,
  zeroStates,
} from './cell.ts';
import { nestedStates, StackedRNNCells } from './stacked-cells.ts';

/** What all recurrent layers take. */
export interface RNNOptions extends LayerOptions {
  /** Whether all steps' outputs are given, [batch, time, units], instead of the last; false by default. */
  readonly returnSequences?: boolean;
  /** Whether the result is a list [output, ...states after the last step], of stacked cells those of each; false by default. */
  readonly returnState?: boolean;
  /** Whether the sequence is run from its end, and the outputs come in that order; false by default. */
  readonly goBackwards?: boolean;
  /** Whether a call begins with the states that the last one ended with; false by default. See `resetStates`. */
  readonly stateful?: boolean;
  /** Whether the output of a masked step is zeros instead of that of the step before; false by default. */
  readonly zeroOutputForMask?: boolean;
  /** Of Keras, with the same numbers: whether the loop is written out. Here graphs are compiled either way, so it has no effect. */
  readonly unroll?: boolean;
  /** A penalty on the output, and on the states where they are returned, per example. */
  readonly activityRegularizer?: RegularizerLike | null;
}

/** All arguments of `RNN`, by name. */
export interface RNNArguments extends RNNOptions {
  /** A cell, or several that are stacked. */
  readonly cell: RecurrentCell | readonly RecurrentCell[];
}

/**
 * Runs a cell, or several stacked, over a sequence [batch, time, features]. The states before the first step are zeros, or come
 * as `layer(x, [h, c])`, `layer(x, { initialState: [h, c] })` or `layer([x, h, c])`. With `layer(x, { mask })`, bool [batch, time], an example passes over
 * the steps where the mask is false: states stay, and the output is that of the step before (zeros at the begin), or zeros with
 * `zeroOutputForMask`.
 */
export class RNN extends Layer {
  declare static readonly fromConfig: FromConfig<RNN>;
  /** A cell, or several that are stacked. */
  readonly cell: RecurrentCell;
  /** Whether all steps' outputs are given, [batch, time, units], instead of the last. */
  declare readonly returnSequences: boolean;
  /** Whether the result is a list [output, ...states after the last step], of stacked cells those of each. */
  declare readonly returnState: boolean;
  /** Whether the sequence is run from its end, and the outputs come in that order. */
  declare readonly goBackwards: boolean;
  /** Whether a call begins with the states that the last one ended with. See `resetStates`. */
  declare readonly stateful: boolean;
  /** Whether the output of a masked step is zeros instead of that of the step before. */
  declare readonly zeroOutputForMask: boolean;
  /** Of Keras, with the same numbers: whether the loop is written out. Here graphs are compiled either way, so it has no effect. */
  declare readonly unroll: boolean;
  /** @internal */
  declare readonly activityRegularizer: RegularizerFunction | null;
  #states: readonly Variable[] | null = null;
  // Whether the next call may be of another batch size.
  #forgotten = false;

  constructor(
    ...args: [cell: RecurrentCell | readonly RecurrentCell[] | RNNArguments, options?: RNNOptions]
  ) {
    const { cell, ...options } = argumentsOf<RNNArguments>(RNN, new.target, args);
    super(options);
    const made = isPlain(cell) ? deserializeLayer(cell) : cell;
    this.cell = Array.isArray(made) ? new StackedRNNCells(made) : (made as RecurrentCell);
    if (!(this.cell instanceof Layer) || this.cell.stateSize === undefined) {
      fail(this, 'needs a cell, which is a layer with a stateSize, or a list of them');
    }
  }

  /** @internal */
  override get isNotedWithoutTraining(): 'masked' {
    return 'masked';
  }

  override build(inputShape: PartialShape | readonly PartialShape[]): void {
    const [batch = null, , ...step] = partialShape(this.#sequence(inputShape));
    this.cell.ensureBuilt([batch, ...step]);
  }

  override call(inputs: LayerInput, options: CallOptions = {}): LayerOutput {
    const list = (Array.isArray(inputs) ? inputs : [inputs]) as readonly Tensor[];
    const x = floats(this, list[0]);
    this.#sequence(x.shape);
    if (lessThan(dims(x)[1], 1))
      fail(this, `expects a sequence of at least one step, got ${showShape(x.shape)}`);
    const states = this.#initial(x, list.slice(1), options);
    const training = options.training ?? false;
    const mask = this.#mask(x, options);
    const back = (t: Tensor): Tensor => (this.goBackwards ? t.reverse(1) : t);
    const { output, last, after } =
      mask === null ? this.run(back(x), states, training) : this.steps(back(x), states, training, back(mask));
    const y = penalize(this, this.returnSequences ? output() : last);
    // States that are outputs too count among them, as in Keras.
    if (this.returnState) for (const state of after) penalize(this, state);
    if (this.stateful)
      this.#held(after.map(dims)).forEach((held, i) => {
        held.assign(after[i]);
      });
    return this.returnState ? [y, ...after] : y;
  }

  /** @internal The states of stacked cells as Keras gives them: of each cell a list, or its only one. */
  override present(result: Tensor, _args: readonly unknown[]): unknown {
    if (!this.returnState || !(this.cell instanceof StackedRNNCells)) return result;
    const [y, ...states] = result as unknown as readonly Tensor[];
    return [y, ...nestedStates(this.cell, states)];
  }

  /** Where there is an output for each step, the mask goes on; states have none. */
  override computeMask(_: LayerInput, mask: Mask): Mask {
    return this.returnSequences ? (Array.isArray(mask) ? (mask[0] ?? null) : mask) : null;
  }

  /** @internal The steps in order: all outputs (made when asked for), the last one, and the states after it. */
  protected run(x: Tensor, initial: readonly Tensor[], training: boolean): Sequence {
    return this.steps(x, initial, training, null);
  }

  /** @internal The same, step by step. @param mask bool [batch, time]. */
  protected steps(x: Tensor, initial: readonly Tensor[], training: boolean, mask: Tensor | null): Sequence {
    const { cell } = this;
    const [batch, time, ...own] = dims(x) as [Dim, Dim, ...Dim[]];
    const masks = training ? cell.masks?.(batch, ...own) : undefined;
    /** One step behind another. */
    const next = ({ output, states }: Step, input: Tensor, seen: Tensor | undefined): StepDone => {
      const [y, ...after] = runCell(cell, input, states, { training, masks }) as [Tensor, ...Tensor[]];
      if (seen === undefined) return { output: y, states: after };
      const here = seen.reshape(toShape([batch, ...new Array<number>(y.rank - 1).fill(1)]));
      const before = this.zeroOutputForMask ? null : output;
      return {
        output: where(here, y, before ?? zerosLike(y)),
        states: after.map((s, k) => where(here, s, states[k])),
      };
    };
    const start: Step = { output: null, states: initial };
    if (isUnknown(time) && context.tracer !== null) return loopOver(x, mask, start, next);
    const seen = mask?.unstack(1);
    const outputs: Tensor[] = [];
    let step = start;
    for (const [i, input] of x.unstack(1).entries()) {
      const done = next(step, input, seen?.[i]);
      outputs.push(done.output);
      step = done;
    }
    return { output: () => stack(outputs, 1), last: step.output as Tensor, after: step.states };
  }

  /** With `returnState` a list: the shape of the output, then those of the states. */
  // biome-ignore lint/suspicious/noExplicitAny: the options say which
  override computeOutputShape(inputShape: PartialShape | readonly PartialShape[]): any {
    return shapesOfSpecs(this.computeOutputSpec(specsOf(inputShape, this.computeDtype)));
  }
  /** @internal */
  override computeOutputSpec(inputs: Specs): Specs {
    const first = inputs.list[0].shape;
    const [batch, time, ...step] = sizesOf(this.#sequence(first)) as readonly [Size, Size, ...Size[]];
    const [, ...own] = this.cell.resultSizes?.(batch, step) ?? [batch, outputSize(this.cell)];
    const shapes = [shapeOf(this.returnSequences ? [batch, time, ...own] : [batch, ...own])];
    if (this.returnState) shapes.push(...stateShapes(this.cell, batch, step).map(shapeOf));
    return { list: shapes.map((shape) => ({ shape, dtype: this.computeDtype })), many: this.returnState };
  }

  /** The states before the first step, zeros [batchSize, units] of each. @throws InvalidArgumentError for what is no batch size */
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

  /** Forgets the states of a stateful layer, or sets them. Traced functions go on from there. */
  resetStates(
    states?:
      | readonly Tensor[]
      | null
      | {
          /** The new states, one tensor [batch, units] for each; zeros by default. */
          readonly states?: readonly Tensor[] | null;
        },
  ): void;
  resetStates(states: readonly Tensor[] | null = null): void {
    if (states !== null) {
      if (checkList(states, 'states', this.name).some((s) => !(s instanceof Tensor)))
        throw new InvalidArgumentError(`states must be a list of tensors, got ${shown(states)}`, this.name);
      const shapes = stateShapes(this.cell, states[0]?.shape[0] ?? 0);
      checkStates(this, states, shapes);
      this.#forgotten = true;
      this.#held(shapes).forEach((held, i) => {
        held.assign(states[i]);
      });
    } else for (const held of this.#states ?? []) held.assign(zeros(held.shape, { dtype: held.dtype }));
    this.#forgotten = states === null;
  }

  /** What a stateful layer holds from call to call; null before its first call, and of a layer that is not stateful. */
  get states(): readonly Variable[] | null {
    return this.#states;
  }
  /** The same as `resetStates()`, which forgets them. */
  resetState(): void {
    this.resetStates();
  }

  /** @internal What the layer's options are without those of the cell. */
  protected sequenceConfig(): Record<string, unknown> {
    return super.getConfig();
  }
  override getConfig(): Record<string, unknown> {
    return { ...this.sequenceConfig(), cell: serializeLayer(this.cell) };
  }

  #sequence(inputShape: PartialShape | readonly PartialShape[]): PartialShape {
    const shape = isShapes(inputShape) ? inputShape[0] : inputShape;
    this.checkSequence(shape);
    return shape;
  }
  /** @internal @throws InvalidArgumentError for what is no sequence for the cell. */
  protected checkSequence(shape: PartialShape): void {
    checkRank(this, shape, 3, '[batch, time, features]');
    const { cell } = this;
    if (cell instanceof Cell) cell.checkFeatures(shape);
  }

  #initial(x: Tensor, inputs: readonly Tensor[], options: CallOptions): readonly Tensor[] {
    const [batch, , ...step] = dims(x) as [Dim, Dim, ...Dim[]];
    const shapes = stateShapes(this.cell, batch, step);
    const option = options['initialState'] as Tensor | readonly Tensor[] | null | undefined;
    const given: readonly Tensor[] | null =
      inputs.length > 0
        ? (inputs.flat(Number.POSITIVE_INFINITY) as readonly Tensor[])
        : option !== undefined && option !== null
          ? ([option].flat(Number.POSITIVE_INFINITY) as readonly Tensor[])
          : this.stateful
            ? this.#held(shapes).map((held) => held.read())
            : null;
    if (given === null) return zeroStates(this, shapes);
    checkStates(this, given, shapes);
    return given.map((s) => floats(this, s));
  }

  #mask(x: Tensor, { mask }: CallOptions): Tensor | null {
    if (mask === undefined || mask === null) return null;
    const { dtype, shape } = toTensor(mask as TensorLike);
    if (dtype !== 'bool' || !sameShape(shape, dims(x).slice(0, 2)))
      fail(
        this,
        `expects a mask of bool ${showShape(dims(x).slice(0, 2))}, got ${dtype} ${showShape(shape)}`,
      );
    return toTensor(mask as TensorLike);
  }

  /** What holds the states of a stateful layer from call to call. Variables, so that traced functions read and write them at each run. */
  #held(shapes: readonly Dims[]): readonly Variable[] {
    const fits = (held: Variable): boolean => sameShape(held.shape, shapes[0]);
    if (this.#states === null || (this.#forgotten && !fits(this.#states[0]))) {
      const known = shapes.map((shape) => shape.map(knownDim));
      this.#states = inInitScope(() =>
        outsideScopes(() =>
          known.map(
            (shape) =>
              new Variable(zeros(shape, { dtype: this.computeDtype }), {
                trainable: false,
                name: 'rnn_state',
                // The sequences of each replica of a distribution strategy are its own.
                synchronization: 'ON_READ',
              }),
          ),
        ),
      );
    }
    this.#forgotten = false;
    return this.#states;
  }
}

/** What a step of a sequence leaves to the next one; before the first there is no output. */
interface Step {
  readonly output: Tensor | null;
  readonly states: readonly Tensor[];
}
interface StepDone extends Step {
  readonly output: Tensor;
}

/** The steps of a sequence of any length, as a loop of the graph. The first one is in front of it, and shows what steps give. */
function loopOver(
  x: Tensor,
  mask: Tensor | null,
  start: Step,
  next: (before: Step, input: Tensor, seen: Tensor | undefined) => StepDone,
): Sequence {
  const limit = sizeValue(dims(x)[1], 'int32');
  const at = (before: Step, i: Tensor): StepDone => next(before, x.gather(i, 1), mask?.gather(i, 1));
  const zero = constant(0, 'int32');
  const first = at(start, zero);
  const { dtype, shape, rank } = first.output;
  const list = new TensorArray(dtype, { size: limit, elementShape: shape }).write(zero, first.output);
  const [, last, after, outputs] = whileLoop(
    (i) => i.less(limit),
    (i, output, states, written) => {
      const done = at({ output, states }, i);
      return [i.add(1), done.output, [...done.states], written.write(i, done.output)];
    },
    [constant(1, 'int32'), first.output, [...first.states], list] as [Tensor, Tensor, Tensor[], TensorArray],
  );
  const perm = [1, 0, ...Array.from({ length: rank - 1 }, (_, i) => i + 2)];
  return { output: () => outputs.stack().transpose(perm), last, after };
}

/** @internal What comes of running a cell over a sequence. */
export interface Sequence {
  readonly output: () => Tensor;
  readonly last: Tensor;
  readonly after: readonly Tensor[];
}
ownsTemporaries(RNN);
defineMethods(RNN.prototype, 'RNN', {
  getInitialState: { positional: ['batchSize'] },
  resetStates: { positional: ['states'], required: 0 },
  resetState: {},
});
takesCall({ second: 'initialState', options: { initialState: true, mask: true, training: true } }, RNN);

/** @internal */
export const rnnOptions: Schema<RNNOptions, RNN>['options'] = {
  returnSequences: flag(false),
  returnState: flag(false),
  goBackwards: flag(false),
  stateful: flag(false),
  zeroOutputForMask: flag(false),
  unroll: flag(false),
  activityRegularizer,
  ...penalizedOptions,
};
takesOptions<RNNArguments, RNN>({ positional: ['cell'], options: { cell: true, ...rnnOptions } }, RNN);
