import { FailedPreconditionError } from '@eagre/core';
import { argumentsOf, checkFlag, takesArguments } from '@eagre/core/internal';
import { printMessage } from '../utils/messages.ts';
import { Callback, type Logs } from './callback.ts';

export interface TerminateOnNaNOptions {
  /** Whether `fit` fails, without `onTrainEnd` of callbacks, instead of ending early; false by default. */
  readonly raiseError?: boolean;
}

/** Ends training when the loss is no longer a finite number. */
export class TerminateOnNaN extends Callback {
  /** Whether `fit` fails, without `onTrainEnd` of callbacks, instead of ending early. */
  readonly raiseError: boolean;

  constructor(...args: [raiseError?: boolean | TerminateOnNaNOptions]) {
    super();
    const { raiseError } = argumentsOf<TerminateOnNaNOptions>(TerminateOnNaN, new.target, args);
    this.raiseError = checkFlag(raiseError, 'raiseError', 'TerminateOnNaN');
  }
  override onTrainBatchEnd(batch: number, logs: Logs): void {
    if (logs.loss === undefined || Number.isFinite(logs.loss)) return;
    if (this.raiseError)
      throw new FailedPreconditionError(`the loss of batch ${batch} is ${logs.loss}`, 'TerminateOnNaN');
    printMessage(`Batch ${batch}: the loss is ${logs.loss}, training ends`);
    this.model.stopTraining = true;
  }
}
takesArguments<TerminateOnNaNOptions>(
  { positional: ['raiseError'], required: 0, names: { raiseError: true } },
  TerminateOnNaN,
);
