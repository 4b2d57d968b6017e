import { GradientTape } from '@eagre/autodiff';
import {
  FailedPreconditionError,
  InvalidArgumentError,
  keep,
  scope,
  Tensor,
  UnimplementedError,
} from '@eagre/core';
import { isFloating, outsideScopes } from '@eagre/core/internal';
import { type Graph, TensorSpec, type TracedFunction, tfFunction } from '@eagre/graph';
import { hasDefaultWriter } from '@eagre/summary/internal';
import type { Logs } from './callbacks/callback.ts';
import { isObserved, isOurLoss, metricLogs, type Training, trainingOf, updateMetrics } from './compile.ts';
import { trainableChanges } from './layer.ts';
import type { Model } from './model.ts';

type Step = (x: Tensor, y: Tensor | undefined, weight: Tensor | undefined) => void;
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
export function trainStep(model: Model, x: Tensor, y: Tensor | undefined, weight: Tensor | undefined): Logs {
  const known = stepsOf(model, trainingOf(model));
  known.kinds ??= [x, y, weight].map(kindOf);
  known.train(x, y, weight);
  return metricLogs(model);
}

function kindOf(x: Tensor | readonly Tensor[] | undefined): Kinds[number] {
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
export function testStep(model: Model, x: Tensor, y: Tensor | undefined, weight: Tensor | undefined): Logs {
  stepsOf(model, trainingOf(model)).test(x, y, weight);
  return metricLogs(model);
}

function train(
  model: Model,
  training: Training,
  x: Tensor,
  y: Tensor | undefined,
  weight: Tensor | undefined,
): void {
  using tape = new GradientTape();
  const yPred = forward(model, x, true);
  const loss = totalLoss(model, training, y, yPred, weight);
  const variables = model.trainableVariables;
  if (variables.length > 0) training.optimizer.applyGradients(tape.gradient(loss, variables), variables);
  tape.dispose();
  account(training, loss, x, y, yPred, weight);
}

function test(
  model: Model,
  training: Training,
  x: Tensor,
  y: Tensor | undefined,
  weight: Tensor | undefined,
): void {
  const yPred = forward(model, x, false);
  account(training, totalLoss(model, training, y, yPred, weight), x, y, yPred, weight);
}

function forward(model: Model, x: Tensor, training: boolean): Tensor {
  const yPred: Tensor | readonly Tensor[] = model.invoke(x, { training });
  if (yPred instanceof Tensor) return yPred;
  throw new UnimplementedError(
    'the model gives several outputs; override trainStep and testStep, or write a loop with GradientTape',
    model.name,
  );
}

function totalLoss(
  model: Model,
  training: Training,
  y: Tensor | undefined,
  yPred: Tensor,
  sampleWeight: Tensor | undefined,
): Tensor {
  const { loss } = training;
  const parts = model.losses.map((part) => {
    const sum = part.rank === 0 ? part : part.sum();
    return isFloating(sum.dtype) ? sum : sum.cast('float32');
  });
  if (loss === undefined && parts.length === 0) {
    throw new FailedPreconditionError(
      'the model has neither a loss nor penalties; give compile a loss',
      model.name,
    );
  }
  if (loss !== undefined) {
    if (y === undefined) throw new InvalidArgumentError('the loss needs targets: pass y', model.name);
    if (isObserved(training)) for (const t of [y, yPred]) keep(t);
    const compute = (): Tensor => loss(y, yPred, sampleWeight === undefined ? {} : { sampleWeight });
    const own = isOurLoss(loss) ? compute() : outsideScopes(compute);
    // A loss without a reduction gives one number for each example.
    parts.unshift(own.rank === 0 ? own : own.mean());
  }
  return parts.reduce((a, b) => a.add(b));
}

function account(
  training: Training,
  loss: Tensor,
  x: Tensor | readonly Tensor[],
  y: Tensor | undefined,
  yPred: Tensor,
  weight: Tensor | undefined,
): void {
  // The mean over the epoch is that over examples, so a short last batch counts for less.
  const first = (Array.isArray(x) ? x[0] : x) as Tensor;
  training.mean.updateState(loss, { sampleWeight: first.shape[0] ?? 1 });
  if (y !== undefined) updateMetrics(training, y, yPred, weight);
}
