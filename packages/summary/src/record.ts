// What all kinds of summaries have in common: when one is written, under which tag, and at which step.
import { InvalidArgumentError } from '@eagre/backend';
import { Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  atRunTime,
  checkText,
  context,
  hostValues,
  type OptionNames,
  symbolic,
  toTensor,
} from '@eagre/core/internal';
import { encodeTensorProto, type NDArray, type tensorflow } from '@eagre/formats';
import { answerNow, checkStep, noStep, type Step, state, stepNow, truth } from './state.ts';
import type { SummaryWriter } from './writer.ts';

/** What every summary may say about itself. */
export interface SummaryOptions {
  /** That of `tf.summary.experimental.setStep` or of the default scope unless given. */
  readonly step?: Step;
  /** Markdown that TensorBoard shows beside the summary. */
  readonly description?: string;
}

interface Plan {
  /** The function that was called, for messages. */
  readonly what: string;
  readonly step: Step | undefined;
}

/** A summary that may be written: one tensor under a tag. */
export interface Draft extends Plan {
  readonly tag: string;
  readonly metadata: tensorflow.SummaryMetadata | undefined;
  /** What is written; checked, as far as it is known while a function is traced. Only called where something may be written. */
  readonly data: () => Tensor;
  readonly encode: (data: Tensor) => tensorflow.TensorProto;
  /** What is written outside of traced functions, where that takes no tensor. */
  readonly direct?: () => tensorflow.TensorProto;
}

/** Whole summaries that may be written, the same at each run of a traced function. */
export interface RawDraft extends Plan {
  /** Only called where something may be written. */
  readonly raw: () => tensorflow.Summary;
}

/**
 * Writes a summary, or adds to the function that is being traced what writes one at each run.
 * @returns whether it was written; in a traced function, whether it may be.
 */
export function record(draft: Draft | RawDraft): boolean {
  const { what, step } = draft;
  if (step !== undefined) checkStep(step, what);
  const { writer } = state;
  if (writer === null) return false;
  if (context.tracer !== null) return recordAtRuns(draft);
  if (answerNow() !== true) return false;
  const at = step ?? state.step;
  if (at === null) throw noStep(what);
  const summary =
    'raw' in draft ? draft.raw() : oneValue(draft, draft.direct?.() ?? draft.encode(draft.data()));
  write(writer, stepNow(at), summary);
  return true;
}

function recordAtRuns(draft: Draft | RawDraft): true {
  const { what } = draft;
  const raw = 'raw' in draft ? draft.raw() : null;
  const data = 'raw' in draft ? null : draft.data();
  // Strings are not computed with in graphs, so they are the same at each run.
  const told = data?.dtype === 'string' ? data : null;
  const inputs = data === null || told !== null ? [] : [data];
  // The place of a tensor among the inputs; undefined if there is none.
  const input = (tensor: Tensor | Variable): number => inputs.push(toTensor(tensor)) - 1;

  const fixedWriter = state.tracedWriter ? state.writer : null;
  const answer = answerNow();
  const answerAt = answer instanceof Tensor ? input(answer) : undefined;
  const fixedAnswer = state.tracedCondition && typeof answer === 'boolean' ? answer : null;
  const step = draft.step ?? state.step;
  if (step === null) throw noStep(what);
  const ofTrace = step instanceof Variable || (step instanceof Tensor && step.backend === symbolic);
  const stepAt = ofTrace ? input(step) : undefined;
  const fixedStep = draft.step !== undefined || state.tracedStep ? step : null;

  atRunTime(
    'WriteSummary',
    (...now) => {
      const writer = fixedWriter ?? state.writer;
      if (writer === null) return;
      const recorded = answerAt === undefined ? (fixedAnswer ?? answerNow()) : truth(now[answerAt]);
      if (recorded !== true) return;
      const at = stepAt === undefined ? (fixedStep ?? state.step) : now[stepAt];
      if (at === null) throw noStep(what);
      const summary =
        'raw' in draft ? (raw as tensorflow.Summary) : oneValue(draft, draft.encode(told ?? now[0]));
      write(writer, stepNow(at), summary);
    },
    inputs,
    [],
  );
  return true;
}

function oneValue({ tag, metadata }: Draft, tensor: tensorflow.TensorProto): tensorflow.Summary {
  return { value: [metadata === undefined ? { tag, tensor } : { tag, tensor, metadata }] };
}

function write(writer: SummaryWriter, step: number | bigint, summary: tensorflow.Summary): void {
  writer.add({ wall_time: Date.now() / 1000, step, summary });
}

/** The tag of a name: below the current name scopes. @throws InvalidArgumentError for what is no text. */
export function tagOf(name: string, missing: string, what: string): string {
  if (typeof name !== 'string') throw new InvalidArgumentError(`expected a name, got ${typeof name}`, what);
  return (context.tracer === null ? context.nameScope : context.tracer.nameScope) + (name || missing);
}

/** The metadata that tells TensorBoard which plugin shows a summary. */
export function metadataOf(
  plugin_name: string,
  description?: string,
  content?: Uint8Array,
): tensorflow.SummaryMetadata {
  if (description !== undefined) checkText(description, 'description', `tf.summary, ${plugin_name}`);
  return {
    plugin_data: content === undefined ? { plugin_name } : { plugin_name, content },
    ...(description === undefined ? {} : { summary_description: description }),
  };
}

/** The options of every summary. */
export const summaryNames: OptionNames<SummaryOptions> = { step: true, description: true };

/** A tensor as TensorFlow's message. */
export function tensorProto(x: Tensor): tensorflow.TensorProto {
  const { dtype, shape } = x;
  if (dtype === 'string') return encodeTensorProto({ dtype, shape, data: x.strings() });
  return encodeTensorProto({ dtype, shape, data: hostValues(x) } as NDArray);
}

/** The tensor of a value. @param test what is wrong with it, or null. @throws InvalidArgumentError if something is. */
export function checked(value: TensorLike, what: string, test: (x: Tensor) => string | null): Tensor {
  const x = toTensor(value);
  const wrong = test(x);
  if (wrong !== null) throw new InvalidArgumentError(wrong, what);
  return x;
}
