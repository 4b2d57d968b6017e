/** `tf.summary.experimental`: the step of summaries that do not say theirs, and what kinds of one's own are made of. */
export { type RawOptions, writeRawPb } from './raw.ts';
export { getStep, setStep } from './state.ts';
export { type ScopedTag, type SummaryScopeOptions, summaryScope } from './summary-scope.ts';
