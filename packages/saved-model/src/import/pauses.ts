// Work that is done in pieces, so that the process does not stand still.
import { nextTurn, throwIfAborted } from '@eagre/backend';

/** What there is to wait for before the next piece; null for nothing. @throws CancelledError once somebody wants no more of it. */
export type Pause = () => Promise<void> | null;

// Longer, and others would notice; shorter, and the pauses would take more time than the work.
const TURN_MS = 5;

/** A pause after each few milliseconds of work. */
export function pauses(signal: AbortSignal | undefined): Pause {
  let since = performance.now();
  return () => {
    throwIfAborted(signal);
    if (performance.now() - since < TURN_MS) return null;
    return nextTurn().then(() => {
      since = performance.now();
      throwIfAborted(signal);
    });
  };
}
