// What holds for all summaries: the default writer, the default step, and whether summaries are recorded.
// Types in a circle: what is current for summaries is a writer.
import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { type NamedFunction, Tensor, Variable } from '@eagre/core';
import {
  checkNoPromise,
  context,
  defineFunction,
  kind,
  override,
  scoped,
  shown,
  showShape,
  symbolic,
} from '@eagre/core/internal';
import { type GraphSink, setGraphSink } from '@eagre/graph';
import type { SummaryWriter } from './writer.ts';

/** An integer, also as a tensor or a variable of one element. */
export type Step = number | bigint | Tensor | Variable;

/** Whether summaries are recorded; a function is asked each time. */
export type RecordCondition = Answer | (() => Answer);
type Answer = boolean | Tensor | Variable;

interface State {
  writer: SummaryWriter | null;
  step: Step | null;
  condition: RecordCondition;
  /** Which of these were set by a function while it was traced, and so belong to it. */
  tracedWriter: boolean;
  tracedStep: boolean;
  tracedCondition: boolean;
}

export const state: State = {
  writer: null,
  step: null,
  condition: true,
  tracedWriter: false,
  tracedStep: false,
  tracedCondition: false,
};

let graphSink: GraphSink | null = null;

/** What `traceExport` writes to while there is a default writer. */
export function useGraphSink(sink: GraphSink): void {
  graphSink = sink;
}

function defaults(writer: SummaryWriter, step: Step | undefined): Partial<State> {
  if (step !== undefined) checkStep(step, 'SummaryWriter.asDefault');
  const traced = context.tracer !== null;
  return { writer, tracedWriter: traced, ...(step === undefined ? {} : { step, tracedStep: traced }) };
}

/** Makes a writer the default one for good. */
export function becomeDefault(writer: SummaryWriter, step: Step | undefined): void {
  Object.assign(state, defaults(writer, step));
  setGraphSink(graphSink);
}

/** Makes a writer the default one. @returns what puts the one before back. */
export function enterWriter(writer: SummaryWriter, step: Step | undefined): () => boolean {
  const leave = override(state, defaults(writer, step));
  setGraphSink(graphSink);
  return () => {
    const overlaps = leave();
    if (state.writer === null) setGraphSink(null);
    return overlaps;
  };
}

/** Whether there is a default writer. */
export function hasDefaultWriter(): boolean {
  return state.writer !== null;
}

/** The step of summaries that do not say theirs; null if none was set. */
export const getStep: NamedFunction<[], [], unknown, Step | null> = defineFunction(
  'tf.summary.experimental.getStep',
  {},
  {},
  () => {
    return state.step;
  },
);

/**
 * Sets the step of summaries that do not say theirs; null takes it back. A number counts as of each run of a traced function, like a
 * variable, unless the function itself has set it.
 * @throws InvalidArgumentError for what is no integer.
 */
export const setStep: NamedFunction<[step: Step | null], ['step'], unknown, void> = defineFunction(
  'tf.summary.experimental.setStep',
  { step: true },
  {},
  (step) => {
    if (step !== null) checkStep(step, 'tf.summary.experimental.setStep');
    state.step = step;
    state.tracedStep = context.tracer !== null;
  },
);

/** @throws InvalidArgumentError for what is no step. */
export function checkStep(step: Step, what: string): void {
  if (typeof step === 'number' && Number.isSafeInteger(step)) return;
  if (typeof step === 'bigint' && BigInt.asIntN(64, step) === step) return;
  if (step instanceof Tensor || step instanceof Variable) {
    if (step.size !== 1)
      throw new InvalidArgumentError(
        `the step must be a scalar, got the shape ${showShape(step.shape)}`,
        what,
      );
    if (step.dtype === 'int64' || step.dtype === 'int32' || step.dtype === 'uint8') return;
    throw new InvalidArgumentError(
      `the step is a ${step.dtype} tensor, expected int64: use step.cast('int64')`,
      what,
    );
  }
  throw new InvalidArgumentError(`the step is ${shown(step)}, expected a 64-bit integer`, what);
}

/** The integer that a step is now. */
export function stepNow(step: Step): number | bigint {
  if (typeof step === 'number' || typeof step === 'bigint') return step;
  const value = step.item('bigint');
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** The step that is missing, in TensorFlow's words. */
export function noStep(what: string): InvalidArgumentError {
  return new InvalidArgumentError(
    'No step set. Please specify one either through the `step` option or through tf.summary.experimental.setStep()',
    what,
  );
}

/**
 * Records summaries only where a condition holds: `tf.summary.recordIf(() => step.mod(100).equal(0), fn)` runs `fn`, and
 * `using _ = tf.summary.recordIf(false)` holds until the block ends. A function is asked at each summary, a tensor or a variable is
 * looked at each time. In a traced function, what a function computes there is part of the graph.
 * @throws InvalidArgumentError for anything else than a boolean, a bool tensor of one element, or a function.
 */
export const recordIf: {
  <T>(condition: RecordCondition, fn: () => T): T;
  <T>(
    condition: RecordCondition,
    options: {
      /** What runs under the condition. */
      readonly fn: () => T;
    },
  ): T;
  <T>(options: {
    /** Whether summaries are written: a boolean, a bool scalar, or a function that gives one. */
    readonly condition: RecordCondition;
    /** What runs under the condition. */
    readonly fn: () => T;
  }): T;
  (
    condition:
      | RecordCondition
      | {
          /** Whether summaries are written: a boolean, a bool scalar, or a function that gives one. */
          readonly condition: RecordCondition;
        },
  ): Disposable;
} = defineFunction<
  NamedFunction<[condition: RecordCondition, fn?: () => unknown], ['condition', 'fn'], unknown, unknown>
>('tf.summary.recordIf', { condition: true, fn: kind.optional(true) }, {}, (condition, fn = undefined) => {
  if (typeof condition !== 'function') checkAnswer(condition);
  return scoped(
    () => override(state, { condition, tracedCondition: context.tracer !== null }),
    'tf.summary.recordIf',
    fn,
  );
}) as never;

function checkAnswer(answer: Answer): Answer {
  const isBool =
    answer instanceof Tensor || answer instanceof Variable
      ? answer.dtype === 'bool' && answer.size === 1
      : typeof answer === 'boolean';
  if (isBool) return answer;
  checkNoPromise(answer, 'the condition', 'tf.summary.recordIf');
  const got =
    answer instanceof Tensor || answer instanceof Variable
      ? `a ${answer.dtype} tensor of shape ${showShape(answer.shape)}`
      : shown(answer);
  throw new InvalidArgumentError(`the condition is ${got}, expected a boolean`, 'tf.summary.recordIf');
}

/** What the condition says at this place: a tensor if that is only known when a traced function runs. */
export function answerNow(): boolean | Tensor {
  const { condition } = state;
  if (condition === true) return true;
  const answer = checkAnswer(typeof condition === 'function' ? condition() : condition);
  if (typeof answer === 'boolean') return answer;
  const value = answer instanceof Variable ? answer.read() : answer;
  return value.backend === symbolic ? value : truth(value);
}

/** The boolean in a tensor. */
export function truth(value: Tensor): boolean {
  return value.data()[0] !== 0;
}

/**
 * Whether summaries are recorded here: there is a default writer, and the condition of `recordIf` holds. A bool tensor where that is
 * only known when a traced function runs.
 */
export const shouldRecordSummaries: NamedFunction<[], [], unknown, boolean | Tensor> = defineFunction(
  'tf.summary.shouldRecordSummaries',
  {},
  {},
  () => {
    return state.writer !== null && answerNow();
  },
);

/** @throws FailedPreconditionError while a function is traced. */
export function eagerOnly(what: string): void {
  if (context.tracer !== null)
    throw new FailedPreconditionError('cannot be called while a function is traced', what);
}
