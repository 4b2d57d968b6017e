/** Branches and loops of functions that are being traced. */
export { tracedCase } from './case.ts';
export { tracedWhile } from './while.ts';
