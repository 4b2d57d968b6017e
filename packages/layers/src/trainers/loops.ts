// What goes over batches.
export { evaluate, predict } from './evaluation.ts';
export { fit } from './training.ts';
