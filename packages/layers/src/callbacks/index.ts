export { Callback, type FitParams, type Logs } from './callback.ts';
export { CSVLogger, type CSVLoggerOptions } from './csv-logger.ts';
export { EarlyStopping, type EarlyStoppingOptions } from './early-stopping.ts';
export { History } from './history.ts';
export { ModelCheckpoint, type ModelCheckpointOptions } from './model-checkpoint.ts';
export type { MonitorOptions } from './monitor.ts';
export { ProgressBar } from './progress.ts';
export { TensorBoard, type TensorBoardOptions } from './tensorboard.ts';
