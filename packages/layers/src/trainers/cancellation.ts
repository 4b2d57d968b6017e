// How fit, evaluate and predict end early.
import { CancelledError, InvalidArgumentError } from '@eagre/core';
import { shown } from '@eagre/core/internal';

/**
 * Ends a run, once its signal is aborted, by a CancelledError.
 * @param steps that are behind, of fit in this epoch
 * @param epochs that are behind
 */
export type CheckSignal = (steps: number, epochs?: number) => void;

/** @throws InvalidArgumentError for what is no signal */
export function signalChecker(signal: AbortSignal | null | undefined, what: string): CheckSignal {
  if (signal === undefined || signal === null) return () => undefined;
  if (!(signal instanceof AbortSignal))
    throw new InvalidArgumentError(
      `signal must be an AbortSignal, such as the signal of an AbortController, got ${shown(signal)}`,
      what,
    );
  return (steps, epochs) => {
    if (signal.aborted) throw new CancelledError(`the run was cancelled ${reached(steps, epochs)}`, what);
  };
}

function reached(steps: number, epochs = 0): string {
  const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
  if (epochs === 0) return steps === 0 ? 'before its first step' : `after ${count(steps, 'step')}`;
  return `after ${count(epochs, 'epoch')}${steps === 0 ? '' : ` and ${count(steps, 'step')} of the next`}`;
}
