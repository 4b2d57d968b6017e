// Ops on the elements of tensors as they stand: methods of tensors, and functions.
export * from './gather.ts';
export * from './order.ts';
export * from './shaping.ts';
export * from './slicing.ts';
