/** Summaries for TensorBoard. */
export { type TraceExportOptions, type TraceOptions, traceExport, traceOff, traceOn } from '@eagre/graph';
