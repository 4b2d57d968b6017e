/** Summaries for TensorBoard: written with `tf.summary`, and read. */
export { type TraceExportOptions, type TraceOptions, traceExport, traceOff, traceOn } from '@eagre/graph';
export type { EventFileOptions } from './event-file.ts';
export * as experimental from './experimental.ts';
export { graph } from './graph.ts';
export {
  Discrete,
  HParam,
  type HParamValue,
  IntInterval,
  Metric,
  type MetricOptions,
  RealInterval,
} from './hparam.ts';
export {
  type HParamsConfigOptions,
  type HParamsEndOptions,
  type HParamsOptions,
  type HParamValues,
  hparams,
  hparamsConfig,
  hparamsEnd,
} from './hparams.ts';
export { type AudioOptions, audio, type ImageOptions, image } from './media.ts';
export type {
  AudioEvent,
  Bucket,
  GraphEvent,
  HistogramEvent,
  HParamsConfigEvent,
  HParamsEndEvent,
  HParamsEvent,
  ImageEvent,
  KerasModelEvent,
  OtherEvent,
  ScalarEvent,
  SummaryEvent,
  TensorEvent,
  TextEvent,
  TraceEvent,
} from './read-events.ts';
export { type ReadEventsOptions, readEvents, summaryIterator } from './reader.ts';
export type { SummaryOptions } from './record.ts';
export { type RecordCondition, recordIf, type Step, shouldRecordSummaries } from './state.ts';
export { type HistogramOptions, histogram, scalar, text, type WriteOptions, write } from './summaries.ts';
export {
  createFileWriter,
  createNoopWriter,
  type FileWriterOptions,
  flush,
  SummaryWriter,
} from './writer.ts';
