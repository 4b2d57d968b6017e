/** Optimizers and learning rate schedules. */
export { Adam, type AdamOptions, AdamW } from './adam.ts';
export { deserialize, get, type OptimizerLike, type SerializedOptimizer, serialize } from './get.ts';
export { type GradientAndVariable, Optimizer, type OptimizerOptions } from './optimizer.ts';
export type { LearningRate } from './rate.ts';
export { RMSprop, type RMSpropOptions } from './rmsprop.ts';
export * as schedules from './schedules.ts';
export { SGD, type SGDOptions } from './sgd.ts';
