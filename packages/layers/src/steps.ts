import { GradientTape } from '@eagre/autodiff';
import { FailedPreconditionError, InvalidArgumentError, keep, scope, Tensor } from '@eagre/core';
import { isFloating } from '@eagre/core/internal';
import { type Graph, TensorSpec, type TracedFunction, tfFunction } from '@eagre/graph';
import { hasDefaultWriter } from '@eagre/summary/internal';
import type { Logs } from './callbacks/callback.ts';
import { isObserved, metricLogs, type Training, trainingOf } from './compile.ts';
import type { Comparison } from './compiled-loss.ts';
import { flat } from './data-adapter.ts';
import { trainableChanges } from './layer.ts';
import type { Model } from './model.ts';
import { checkOneForEach, type Outputs } from './per-output.ts';

/** Of a model of several inputs or outputs, a list. */
export type Tensors = Tensor | readonly Tensor[];
type Step = (x: Tensors, y: Tensors | undefined, weight: Tensors | undefined) => void;
/** What the arguments of a step were. */
type Kinds = readonly (TensorSpec | readonly TensorSpec[] | undefined)[];

/** The steps of a model as they were compiled. */
interface Steps {
  readonly train: Step | TracedFunction<Step>;
  readonly test: Step;
  /** The arguments of the first training step. */
  kinds: Kinds | null;
  /** `trainableChanges` when they were made: other variables would be trained now. */
  readonly changes: number;
  /** Whether there was a default writer of summaries then: without one, those of layers are not in the graph. */
  readonly recorded: boolean;
}

const steps = new WeakMap<Training, Steps>();

function stepsOf(model: Model, training: Training): Steps {
  let known = steps.get(training);
  const recorded = hasDefaultWriter();
  if (known === undefined || known.changes !== trainableChanges() || (recorded && !known.recorded)) {
    const wrap = (
      name: string,
      step: (model: Model, training: Training, ...args: Parameters<Step>) => void,
    ): Step | TracedFunction<Step> => {
      const bound: Step = (x, y, weight) => step(model, training, x, y, weight);
      return training.runEagerly
        ? (x, y, weight) => scope(() => bound(x, y, weight))
        : tfFunction(bound, { name });
    };
    known = {
      train: wrap('trainStep', train),
      test: wrap('testStep', test),
      kinds: null,
      changes: trainableChanges(),
      recorded,
    };
    steps.set(training, known);
  }
  return known;
}

/** Forward, loss, gradients, update, metrics. */
export function trainStep(model: Model, ...[x, y, weight]: Parameters<Step>): Logs {
  const known = stepsOf(model, trainingOf(model));
  known.kinds ??= [x, y, weight].map(kindOf);
  known.train(x, y, weight);
  return metricLogs(model);
}

function kindOf(x: Tensors | undefined): Kinds[number] {
  if (x === undefined) return undefined;
  const spec = ({ shape, dtype }: Tensor): TensorSpec => new TensorSpec(shape, dtype);
  return x instanceof Tensor ? spec(x) : x.map(spec);
}

/** The graph of a training step as the model trains now; null before the first one, and where none is traced. */
export function trainGraph(model: Model): Graph | null {
  const known = steps.get(trainingOf(model));
  if (known === undefined || known.kinds === null || !('getConcreteFunction' in known.train)) return null;
  return known.train.getConcreteFunction(...known.kinds).graph;
}

/** Forward, loss, metrics. */
export function testStep(model: Model, ...[x, y, weight]: Parameters<Step>): Logs {
  stepsOf(model, trainingOf(model)).test(x, y, weight);
  return metricLogs(model);
}

function train(model: Model, training: Training, ...[x, y, weight]: Parameters<Step>): void {
  using tape = new GradientTape();
  const compared = compare(model, training, forward(model, x, true), y, weight);
  const { total, parts } = totalLoss(model, training, compared);
  const variables = model.trainableVariables;
  if (variables.length > 0) training.optimizer.applyGradients(tape.gradient(total, variables), variables);
  tape.dispose();
  account(training, compared, total, parts, x);
}

function test(model: Model, training: Training, ...[x, y, weight]: Parameters<Step>): void {
  const compared = compare(model, training, forward(model, x, false), y, weight);
  const { total, parts } = totalLoss(model, training, compared);
  account(training, compared, total, parts, x);
}

function forward(model: Model, x: Tensors, training: boolean): readonly Tensor[] {
  return flat(model.invoke(x, { training }));
}

/** Predictions with the targets and weights of each, and the model's outputs. */
interface Compared extends Comparison {
  readonly outputs: Outputs;
  readonly hasTargets: boolean;
}

function compare(
  model: Model,
  training: Training,
  predictions: readonly Tensor[],
  y: Tensors | undefined,
  weight: Tensors | undefined,
): Compared {
  const names = model.outputNames;
  const count = predictions.length;
  const outputs = { count, names: names?.length === count ? names : null };
  return {
    outputs,
    predictions,
    targets: targetsOf(outputs, training, y),
    weights: weightsOf(outputs, weight),
    hasTargets: y !== undefined,
  };
}

/** The targets of each output. A list may leave out outputs that have no loss. */
function targetsOf(
  outputs: Outputs,
  { loss }: Training,
  y: Tensors | undefined,
): readonly (Tensor | undefined)[] {
  if (y === undefined) return [];
  const given = flat(y);
  if (given.length === outputs.count) return given;
  const losses = loss?.resolve(outputs) ?? [];
  if (given.length === losses.filter((one) => one !== null).length) {
    let next = 0;
    return losses.map((one) => (one === null ? undefined : given[next++]));
  }
  const names = outputs.names === null ? '' : ` (${outputs.names.join(', ')})`;
  throw new InvalidArgumentError(
    `the model has ${outputs.count} outputs${names}, y ${y instanceof Tensor ? 'is one tensor' : `has ${y.length} tensors`}: give one for each, in a list or by name`,
    'fit',
  );
}

/** The weights of the examples for each output. */
function weightsOf(outputs: Outputs, weight: Tensors | undefined): readonly (Tensor | undefined)[] {
  if (weight === undefined) return [];
  if (weight instanceof Tensor) return new Array<Tensor>(outputs.count).fill(weight);
  checkOneForEach(weight, outputs, 'sampleWeight');
  return weight;
}

/** The whole loss, and those of the outputs. */
function totalLoss(
  model: Model,
  training: Training,
  compared: Compared,
): { readonly total: Tensor; readonly parts: readonly Tensor[] } {
  const { loss } = training;
  const penalties = model.losses.map((part) => {
    const sum = part.rank === 0 ? part : part.sum();
    return isFloating(sum.dtype) ? sum : sum.cast('float32');
  });
  if (loss === undefined) {
    if (penalties.length === 0) {
      throw new FailedPreconditionError(
        'the model has neither a loss nor penalties; give compile a loss',
        model.name,
      );
    }
    return { total: penalties.reduce((a, b) => a.add(b)), parts: [] };
  }
  if (!compared.hasTargets) throw new InvalidArgumentError('the loss needs targets: pass y', model.name);
  if (isObserved(training)) for (const t of [...compared.targets, ...compared.predictions]) if (t) keep(t);
  const parts = loss.compute(compared.outputs, compared);
  return { total: [loss.sum(parts), ...penalties].reduce((a, b) => a.add(b)), parts };
}

function account(
  training: Training,
  compared: Compared,
  total: Tensor,
  parts: readonly Tensor[],
  x: Tensors,
): void {
  // The mean over the epoch is that over examples, so a short last batch counts for less.
  const examples = flat(x)[0]?.shape[0] ?? 1;
  training.mean.updateState(total, { sampleWeight: examples });
  training.loss?.account(parts, examples);
  if (compared.hasTargets) training.metrics.update(compared.outputs, compared);
}
