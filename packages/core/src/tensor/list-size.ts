import { ResourceExhaustedError } from '@eagre/backend';

/**
 * The most elements of a JavaScript array that is made by its size. V8 keeps longer ones as dictionaries, of a hundred bytes an
 * element, and ends the process when those grow too large: nobody could catch that.
 */
export const MAX_LIST: number = 2 ** 25;

/** The most tensors that one is cut into at once; a few times as many would fill the heap. */
export const MAX_PIECES: number = 2 ** 20;

/** @throws ResourceExhaustedError for more than a JavaScript array should hold. */
export function checkListSize(size: number, what: string, advice: string, op?: string): void {
  if (size > MAX_LIST) {
    throw new ResourceExhaustedError(
      `${size} ${what} are too many for JavaScript arrays, which hold at most ${MAX_LIST}; ${advice}`,
      op,
    );
  }
}
