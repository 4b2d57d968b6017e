// The steps of models: one batch of training, evaluation or prediction, as graphs unless they run eagerly.
import { GradientTape } from '@eagre/autodiff';
import {
  addN,
  device,
  FailedPreconditionError,
  InvalidArgumentError,
  keep,
  scope,
  Tensor,
  UnimplementedError,
  type Variable,
} from '@eagre/core';
import {
  checkNoPromise,
  dims,
  isComposite,
  isFloating,
  isPlain,
  type StepScheduler,
  scaleLoss,
  shown,
  sizeValue,
  toTensor,
  tree,
  unscaleLoss,
  whileHolding,
  withoutTapes,
} from '@eagre/core/internal';
import type { Graph, TracedFunction } from '@eagre/graph';
import { hasDefaultWriter } from '@eagre/summary/internal';
import type { Logs } from '../callbacks/callback.ts';
import type { Tracer } from '../graphs.ts';
import { graphs } from '../late.ts';
import { flat, mapTensors, type Tensors } from '../layer/batch-tensors.ts';
import { keepAll } from '../layer/call.ts';
import { isDeep } from '../layer/forms.ts';
import { isAnyTensor, isStored, rowCount } from '../layer/kinds.ts';
import { trainableChanges } from '../layer/layer.ts';
import { checkValues, type Values } from '../layer/stateless.ts';
import type { Model } from '../models/model.ts';
import { readyFor } from '../ready.ts';
import {
  isCompiled,
  isObserved,
  metricLogs,
  metricResults,
  type StepLogs,
  strategyOf,
  type Training,
  trainingOf,
} from './compile.ts';
import type { Comparison } from './compiled-loss.ts';
import { numberOf } from './compiled-metrics.ts';
import { type Batch, tensorsOf } from './data-adapter.ts';
import { checkOneForEach, inForm, inOrder, type Outputs } from './per-output.ts';

/** What losses are computed of: the inputs, targets, predictions and weights of a batch. */
export interface LossArguments {
  /** The inputs. */
  readonly x?: Tensors | undefined;
  /** The targets; none of models that learn without. */
  readonly y?: Tensors | undefined;
  /** What the model made of the inputs. */
  readonly yPred: Tensors;
  /** How much each example counts; all alike unless given. */
  readonly sampleWeight?: Tensors | undefined;
  /** Whether this is a step of training; true unless given. */
  readonly training?: boolean;
}

/** A loss, and the values of the variables behind its computation. */
export type StatelessLoss = [
  loss: Tensor,
  variables: [trainable: Tensor[], nonTrainable: Tensor[], ofMetrics: Tensor[]],
];

type Step = (x: Tensors, y: Tensors | undefined, weight: Tensors | undefined) => unknown;
/** What the arguments of a step were. */
type Kinds = readonly unknown[];
export type Kind = 'train' | 'test' | 'predict';

/** A step as it was made for a model: what runs it, and what it was made for. */
interface Made {
  readonly run: Step | TracedFunction<Step>;
  /** The method; another one may take its place. */
  readonly method: unknown;
  /** `trainableChanges` when it was made: other variables would be trained now. */
  readonly changes: number;
  /** Whether there was a default writer of summaries then: without one, those of layers are not in the graph. */
  readonly recorded: boolean;
  /** Whether it runs as plain code because its batches hold strings: a trace of strings serves one batch only. */
  readonly strings: boolean;
  /** Whether what traces was loaded then: in a page the first steps may be plain code. */
  readonly tracer: boolean;
  /** Whether its batches are divided between replicas already. */
  readonly divided: boolean;
  /** The arguments of the first call. */
  kinds: Kinds | null;
}

const METHODS = { train: 'trainStep', test: 'testStep', predict: 'predictStep' } as const;

// The methods of `Model` itself, which keep nothing of a batch, and whose results are those of the metrics.
const own = new WeakSet<object>();
/** @internal */
export function markOwnSteps(...methods: readonly object[]): void {
  for (const method of methods) own.add(method);
}

// By what `compile` made, so that another `compile` makes other steps; before that by the model.
const made = new WeakMap<object, Partial<Record<Kind, Made>>>();

function stepOf(model: Model, kind: Kind, batch: Batch): Made {
  const training = isCompiled(model) ? trainingOf(model) : null;
  const owner = training ?? model;
  let steps = made.get(owner);
  if (steps === undefined) made.set(owner, (steps = {}));
  const known = steps[kind];
  const recorded = hasDefaultWriter();
  const method: unknown = model[METHODS[kind]];
  const strings = flat(batch.x).some(isString) || flat(batch.y).some(isString);
  const divided = batch.divided === true;
  const tracer = graphs.tracer();
  if (
    known !== undefined &&
    known.strings === strings &&
    known.divided === divided &&
    known.tracer === (tracer !== null) &&
    known.method === method &&
    known.changes === trainableChanges() &&
    (known.recorded || !recorded)
  )
    return known;
  const step = stepFor(model, kind);
  const distributed = distributedStep(model, kind, step, divided);
  const eager = strings || training?.runEagerly === true;
  const ours = [method, model.computeLoss, model.computeMetrics].every((part) => own.has(part as object));
  const run: Made['run'] =
    !eager && tracer !== null
      ? tracer.tfFunction(distributed, { name: METHODS[kind] })
      : ours
        ? (x, y, weight) => scope(() => distributed(x, y, weight))
        : distributed;
  return (steps[kind] = {
    run,
    method,
    changes: trainableChanges(),
    recorded,
    strings,
    tracer: tracer !== null,
    divided,
    kinds: null,
  });
}

/**
 * The step of a model that was made in the scope of a distribution strategy: each replica takes it on its part of the batch. What they
 * return is the mean.
 */
function distributedStep(model: Model, kind: Kind, step: Step, divided: boolean): Step {
  const strategy = strategyOf(model);
  if (strategy === null || kind === 'predict') return step;
  return (x, y, weight) => {
    const given = [x, y, weight];
    const parts = divided ? given : given.map((part) => strategy.splitBatch(part));
    const [first, ...others] = strategy.runReplicas(step, parts);
    if (first === undefined || others.length === 0) return first;
    const values = [first, ...others].map((result) => tree.leavesOf(result, METHODS[kind]));
    return tree.mapLeaves(first, METHODS[kind], (_, i) => meanOver(values.map((list) => list[i])));
  };
}

/** The mean of what replicas returned in one place; the first where these are no numbers. */
function meanOver(values: readonly unknown[]): unknown {
  const numbers = values.filter((value) => typeof value === 'number' || value instanceof Tensor);
  if (numbers.length < values.length) return values[0];
  return addN(numbers.map((value) => toTensor(value).cast('float32'))).div(values.length);
}

const isString = ({ dtype }: Tensor): boolean => dtype === 'string';

/** Waits for what pages load late: kernels, to which the model goes, and what traces the steps of a kind. */
export async function readyToRun(model: Model, kind: Kind): Promise<void> {
  await readyFor(() => variablesOf(model));
  const isPlainCode = isCompiled(model) && trainingOf(model).runEagerly;
  if (!isPlainCode && (kind !== 'predict' || !own.has(model.predictStep))) await graphs.loadTracer();
}

function variablesOf(model: Model): readonly Variable[] {
  const optimizer = isCompiled(model) ? trainingOf(model).optimizer.variables : [];
  return [...model.variables, ...model.metricsVariables, ...optimizer];
}

/** Has a step traced again. */
export function forgetSteps(model: Model, kind: Kind): void {
  const steps = made.get(isCompiled(model) ? trainingOf(model) : model);
  if (steps !== undefined) delete steps[kind];
}

/** What a step does. Where all of it is ours, metrics are read behind it: their results need not be part of the graph. */
function stepFor(model: Model, kind: Kind): Step {
  if (kind === 'predict') return (x) => model.predictStep(x);
  if (!own.has(model[METHODS[kind]]) || !own.has(model.computeMetrics))
    return (x, y, weight) => model[METHODS[kind]](x, y, weight);
  return (x, y, weight) => {
    const yPred = (kind === 'train' ? train : test)(model, x, y, weight);
    updateMetrics(model, y, yPred, weight);
  };
}

/** Runs a step of training or evaluation on a batch. @returns what reads what it gave as numbers, before the next step */
export function runStep(
  model: Model,
  kind: 'train' | 'test',
  batch: Batch,
  sampleWeight: Tensors | undefined,
): () => Logs {
  trainingOf(model);
  const step = stepOf(model, kind, batch);
  const { x, y } = batch;
  keepSeen(model, step, { x, y, sampleWeight });
  const tracer = graphs.tracer();
  if (tracer !== null) step.kinds ??= [x, y, sampleWeight].map((part) => kindOf(part, tracer));
  const run = (): unknown => onDevice(model, () => step.run(x, y, sampleWeight));
  if (own.has(step.method as object) && own.has(model.computeMetrics)) {
    run();
    return () => metricLogs(model);
  }
  const given = (): Logs => numbers(run(), model, METHODS[kind]);
  const logs = isTraced(step) ? scope(given) : given();
  return () => overProcesses(model, logs, batch);
}

/** What a step of the user's returned, as the mean over the examples of all processes: callbacks decide alike in all. */
function overProcesses(model: Model, logs: Logs, { x, divided }: Batch): Logs {
  const strategy = strategyOf(model);
  if (strategy === null || !strategy.spansProcesses) return logs;
  const first = flat(x)[0];
  const rows = first === undefined ? 1 : isStored(first) ? rowCount(first).item() : (first.shape[0] ?? 1);
  const own = divided === true ? rows : (strategy.ownRows(rows)?.size ?? rows);
  const all = strategy.numbersOfAll([own, ...Object.values(logs)]);
  // A process without rows has computed nothing.
  const counted = all.filter(([count]) => count !== 0);
  const sumOf = (value: (numbers: readonly number[]) => number): number =>
    counted.reduce((sum, numbers) => sum + value(numbers), 0);
  const total = sumOf(([count]) => count as number);
  const mean = (i: number): number =>
    sumOf((numbers) => (numbers[0] as number) * (numbers[i + 1] as number)) / total;
  return Object.fromEntries(Object.keys(logs).map((name, i) => [name, mean(i)]));
}

/** What no replica places runs where the variables of the strategy are. */
function onDevice<T>(model: Model, run: () => T): T {
  const where = strategyOf(model)?.device ?? null;
  return where === null ? run() : device(where, run);
}

/** How many steps other processes take before their metrics are read. @throws InvalidArgumentError where it is not known */
export function scheduledSteps(steps: number | undefined, what: string): number {
  if (steps !== undefined) return steps;
  throw new InvalidArgumentError(
    `workers of parameter servers do not take turns, so ${what === 'fit' ? 'stepsPerEpoch' : 'steps'} must say how many steps there are`,
    what,
  );
}

/**
 * Has another process take a step of training or evaluation; resolves when a further one can be given.
 * @returns what waits for all steps so far, and reads what they gave
 */
export async function scheduleStep(
  model: Model,
  kind: 'train' | 'test',
  batch: Batch,
  sampleWeight: Tensors | undefined,
  scheduler: StepScheduler,
): Promise<() => Promise<Logs>> {
  if (trainingOf(model).runEagerly)
    throw new UnimplementedError(
      'runEagerly: the steps run in other processes, which get them as graphs',
      METHODS[kind],
    );
  const step = stepOf(model, kind, batch);
  const result = await scheduler.schedule(step.run, [batch.x, batch.y, sampleWeight]);
  return async () => {
    await scheduler.join();
    if (own.has(step.method as object) && own.has(model.computeMetrics)) return metricLogs(model);
    return numbers(await result.fetch(), model, METHODS[kind]);
  };
}

function isTraced({ run }: Made): boolean {
  return 'getConcreteFunction' in run && graphs.tracer()?.functionsRunEagerly() === false;
}

/** The outputs for a batch. */
export function runPredictStep(model: Model, x: Tensors): Tensors {
  // One pass over each batch is less than what a trace costs, and what is traced elsewhere computes the same.
  if (own.has(model.predictStep)) return scope(() => model.predictStep(x));
  const batch = { x, y: undefined, sampleWeight: undefined };
  const step = stepOf(model, 'predict', batch);
  keepSeen(model, step, batch);
  const result = step.run(x, undefined, undefined);
  if (flat(result as Tensors).every(isAnyTensor)) return result as Tensors;
  throw new InvalidArgumentError(
    `predictStep must return a tensor, a list of tensors or tensors by name, got ${shown(result)}`,
    model.name,
  );
}

/** What plain code of the user's gets to see it may keep; what is traced sees no tensor of a batch. */
function keepSeen(model: Model, step: Made, batch: Batch): void {
  const ours = [step.method, model.computeLoss, model.computeMetrics].every((part) =>
    own.has(part as object),
  );
  if (ours || isTraced(step)) return;
  for (const t of tensorsOf(batch)) keepAll(t);
}

/** What a step returned, as numbers; what is nested becomes flat, as in Keras. */
function numbers(result: unknown, model: Model, method: string): Logs {
  const logs: Logs = {};
  checkNoPromise(result, `${method}()`, model.name);
  const add = (values: unknown): void => {
    if (!isPlain(values)) {
      throw new InvalidArgumentError(
        `${method} must return an object of numbers or scalar tensors by name, got ${shown(values)}`,
        model.name,
      );
    }
    for (const [name, value] of Object.entries(values)) {
      if (typeof value === 'number') logs[name] = value;
      else if (value instanceof Tensor) logs[name] = numberOf(value, name);
      else if (isPlain(value)) add(value);
      else {
        throw new InvalidArgumentError(
          `${method} returned ${shown(value)} as '${name}', expected a number or a scalar tensor`,
          model.name,
        );
      }
    }
  };
  add(result);
  return logs;
}

function kindOf(x: Tensors | undefined, { specOfComposite, TensorSpec }: Tracer): unknown {
  if (x === undefined) return undefined;
  // Composites are sparse and ragged tensors, and the values of replicas.
  const spec = (t: Tensor): unknown =>
    isComposite(t) ? specOfComposite(t) : new TensorSpec(t.shape, t.dtype);
  return mapTensors(x, spec);
}

/** The graph of a training step as the model trains now; null before the first one, and where none is traced. */
export function trainGraph(model: Model): Graph | null {
  const known = made.get(trainingOf(model))?.train;
  if (known === undefined || known.kinds === null || !('getConcreteFunction' in known.run)) return null;
  return known.run.getConcreteFunction(...(known.kinds as Parameters<Step>)).graph;
}

// The models of which was said that they have no trainable weights.
const told = new WeakSet<Model>();

/** Forward, loss, gradients, update. @returns the predictions */
export function train(
  model: Model,
  x: Tensors,
  y: Tensors | undefined,
  sampleWeight: Tensors | undefined,
): Tensors {
  const training = trainingOf(model);
  using tape = new GradientTape();
  const yPred: Tensors = model.invoke(x, { training: true });
  const loss = model.computeLoss({ x, y, yPred, sampleWeight, training: true });
  checkNoPromise(loss, 'computeLoss()', model.name);
  const variables = model.trainableVariables;
  if (variables.length > 0) {
    const { optimizer } = training;
    optimizer.applyGradients(tape.gradient(optimizer.scaleLoss(loss), variables), variables);
  } else if (!told.has(model)) {
    // As in Keras, whose step says so when it is traced.
    told.add(model);
    console.warn(`fit: the model '${model.name}' has no trainable weights, so nothing is trained`);
  }
  tape.dispose();
  training.mean.updateState(unscaleLoss(loss), { sampleWeight: examplesOf(x) });
  return yPred;
}

/** Forward, loss. @returns the predictions */
export function test(
  model: Model,
  x: Tensors,
  y: Tensors | undefined,
  sampleWeight: Tensors | undefined,
): Tensors {
  const training = trainingOf(model);
  const yPred: Tensors = model.invoke(x, { training: false });
  const loss = model.computeLoss({ x, y, yPred, sampleWeight, training: false });
  checkNoPromise(loss, 'computeLoss()', model.name);
  training.mean.updateState(unscaleLoss(loss), { sampleWeight: examplesOf(x) });
  return yPred;
}

/** The mean over the epoch is that over examples, so a short last batch counts for less. */
function examplesOf(x: Tensors | undefined): number | Tensor {
  const first = flat(x)[0];
  if (first === undefined) return 1;
  // Of these a trace knows the number where it runs.
  if (isStored(first)) return rowCount(first).cast('float32');
  return sizeValue(dims(first)[0] ?? 1, 'float32');
}

/** The loss of `compile` on a batch, and what layers added; the losses of several outputs are taken into account. */
export function computeLoss(model: Model, given: LossArguments): Tensor {
  const { x, y, yPred, sampleWeight } = given;
  const training = trainingOf(model);
  const { loss } = training;
  const penalties = model.losses.map((part) => {
    const sum = part.rank === 0 ? part : part.sum();
    return scaleLoss(isFloating(sum.dtype) ? sum : sum.cast('float32'));
  });
  if (loss === undefined) {
    if (penalties.length === 0) {
      throw new FailedPreconditionError(
        'the model has neither a loss nor regularization losses; give compile a loss',
        model.name,
      );
    }
    return penalties.reduce((a, b) => a.add(b));
  }
  if (y === undefined || y === null)
    throw new InvalidArgumentError('the loss needs targets: pass y', model.name);
  const compared = compare(model, training, yPred, y, sampleWeight);
  if (isObserved(training)) for (const t of [...compared.targets, ...compared.predictions]) if (t) keep(t);
  const parts = loss.compute(compared.outputs, compared);
  withoutTapes(() => loss.updateMetrics(parts.map(unscaleLoss), examplesOf(x ?? yPred)));
  return [loss.sum(parts), ...penalties].reduce((a, b) => a.add(b));
}

/** The loss with other values of the variables, which stay as they are. */
export function statelessComputeLoss(
  model: Model,
  trainable: Values,
  nonTrainable: Values,
  ofMetrics: Values,
  given: LossArguments,
): StatelessLoss {
  const what = `${model.name}.statelessComputeLoss`;
  const { trainableVariables, nonTrainableVariables, metricsVariables } = model;
  checkValues(trainable, trainableVariables, 'trainableVariables', what);
  checkValues(nonTrainable, nonTrainableVariables, 'nonTrainableVariables', what);
  checkValues(ofMetrics, metricsVariables, 'metricsVariables', what);
  const all = [...trainableVariables, ...nonTrainableVariables, ...metricsVariables];
  return whileHolding(all, [...trainable, ...nonTrainable, ...ofMetrics], what, () => {
    const loss = model.computeLoss(given);
    const now = (variables: readonly Variable[]): Tensor[] => variables.map((v) => v.read());
    return [loss, [now(trainableVariables), now(nonTrainableVariables), now(metricsVariables)]];
  });
}

/** Takes a batch into account in the metrics of `compile`. */
export function updateMetrics(
  model: Model,
  y: Tensors | undefined,
  yPred: Tensors,
  sampleWeight: Tensors | undefined,
): void {
  if (y === undefined || y === null) return;
  const training = trainingOf(model);
  const compared = compare(model, training, yPred, y, sampleWeight);
  if (isObserved(training)) for (const t of [...compared.targets, ...compared.predictions]) if (t) keep(t);
  training.metrics.update(compared.outputs, compared);
}

/** `updateMetrics`, and the results of all metrics. */
export function computeMetrics(
  model: Model,
  y: Tensors | undefined,
  yPred: Tensors,
  sampleWeight: Tensors | undefined,
): StepLogs {
  updateMetrics(model, y, yPred, sampleWeight);
  return metricResults(model);
}

/** Predictions with the targets and weights of each, and the model's outputs. */
interface Compared extends Comparison {
  readonly outputs: Outputs;
}

function compare(
  model: Model,
  training: Training,
  yPred: Tensors,
  y: Tensors,
  weight: Tensors | undefined,
): Compared {
  const predictions = flat(yPred);
  const count = predictions.length;
  const names = isByNames(yPred) && !isDeep(yPred) ? tree.sortKeys(Object.keys(yPred)) : model.outputNames;
  const outputs = { count, names: names?.length === count ? names : null, form: yPred };
  return {
    outputs,
    predictions,
    targets: targetsOf(outputs, training, y),
    weights: weightsOf(outputs, weight),
  };
}

function isByNames(given: Tensors): given is Readonly<Record<string, Tensor>> {
  return !isAnyTensor(given) && !Array.isArray(given);
}

type Maybe = readonly (Tensor | undefined)[];

/** The targets of each output. A list may leave out outputs that have no loss. */
function targetsOf(outputs: Outputs, { loss }: Training, y: Tensors): Maybe {
  if (isDeep(outputs.form) && !(y instanceof Tensor && outputs.count === 1))
    return tensorsFor(inForm(y, outputs, 'y', true), 'y');
  if (isByNames(y)) return tensorsFor(inOrder(y, outputs.names, 'y'), 'y');
  const given = Array.isArray(y) ? y.map((t: Tensor | null) => t ?? undefined) : flat(y);
  if (given.length === outputs.count) return tensorsFor(given, 'y');
  const losses = loss?.resolve(outputs) ?? [];
  if (given.length === losses.filter((one) => one !== null).length) {
    let next = 0;
    return losses.map((one) => (one === null ? undefined : (given[next++] as Tensor)));
  }
  const names = outputs.names === null ? '' : ` (${outputs.names.join(', ')})`;
  throw new InvalidArgumentError(
    `the model has ${outputs.count} outputs${names}, y ${y instanceof Tensor ? 'is one tensor' : `has ${given.length} tensors`}: give one for each, in a list or by name`,
    'fit',
  );
}

/** The weights of the examples for each output. */
function weightsOf(outputs: Outputs, weight: Tensors | undefined): Maybe {
  if (weight === undefined || weight === null) return [];
  if (weight instanceof Tensor) return new Array<Tensor>(outputs.count).fill(weight);
  const what = 'sampleWeight';
  if (isDeep(outputs.form)) return tensorsFor(inForm(weight, outputs, what, false), what);
  if (isByNames(weight)) return tensorsFor(inOrder(weight, outputs.names, what), what);
  const list = weight as readonly Tensors[];
  checkOneForEach(list, outputs, what);
  return tensorsFor(list, what);
}

/** @throws InvalidArgumentError for lists or objects where an output is one tensor */
function tensorsFor(given: readonly unknown[], what: string): Maybe {
  return given.map((t, i) => {
    if (t === undefined || t === null) return undefined;
    if (isAnyTensor(t)) return t as Tensor;
    throw new InvalidArgumentError(`${what} has several tensors for output ${i}: give one`);
  });
}
