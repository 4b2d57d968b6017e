/** `tf.summary.experimental`: the step of summaries that do not say theirs. */
export { getStep, setStep } from './state.ts';
