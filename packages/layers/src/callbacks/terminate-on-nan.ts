import { argumentsOf, takesArguments } from '@eagre/core/internal';
import { printMessage } from '../utils/messages.ts';
import { Callback, type Logs } from './callback.ts';

/** Ends training when the loss is no longer a finite number. */
export class TerminateOnNaN extends Callback {
  constructor(...args: []) {
    super();
    argumentsOf<object>(TerminateOnNaN, new.target, args);
  }
  override onTrainBatchEnd(batch: number, logs: Logs): void {
    if (logs.loss === undefined || Number.isFinite(logs.loss)) return;
    printMessage(`Batch ${batch}: the loss is ${logs.loss}, training ends`);
    this.model.stopTraining = true;
  }
}
takesArguments<object>({ names: {} }, TerminateOnNaN);
