/** Optimizers and learning rate schedules. */
export { Adadelta, type AdadeltaOptions } from './adadelta.ts';
export { Adafactor, type AdafactorOptions } from './adafactor.ts';
export { Adagrad, type AdagradOptions } from './adagrad.ts';
export { Adam, type AdamOptions, AdamW } from './adam.ts';
export { Adamax, type AdamaxOptions } from './adamax.ts';
export { Ftrl, type FtrlOptions } from './ftrl.ts';
export {
  deserialize,
  get,
  type OptimizerLike,
  type OptimizerName,
  type SerializedOptimizer,
  serialize,
} from './get.ts';
export type { GradientAndVariable } from './gradients.ts';
export { Lamb, type LambOptions } from './lamb.ts';
export { LazyAdam } from './lazy-adam.ts';
export { Lion, type LionOptions } from './lion.ts';
export {
  LossScaleOptimizer,
  type LossScaleOptimizerArguments,
  type LossScaleOptimizerOptions,
} from './loss-scale-optimizer.ts';
export { MultiOptimizer, type MultiOptimizerOptions, type OptimizerOf } from './multi-optimizer.ts';
export { Muon, type MuonOptions } from './muon.ts';
export { Nadam, type NadamOptions } from './nadam.ts';
export { Optimizer } from './optimizer.ts';
export { OptimizerMap, type OptimizerMapOptions } from './optimizer-map.ts';
export type { OptimizerOptions } from './options.ts';
export type { LearningRate } from './rate.ts';
export { RMSprop, type RMSpropOptions } from './rmsprop.ts';
export { ScheduleFreeAdamW, type ScheduleFreeAdamWOptions } from './schedule-free-adamw.ts';
export * as schedules from './schedules.ts';
export { SGD, type SGDOptions } from './sgd.ts';
