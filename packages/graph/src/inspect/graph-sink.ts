// Where `traceExport` writes: what sets it needs nothing of graphs.

/** What `traceExport` hands to a writer of summaries. */
export interface GraphTrace {
  /** The tag of the summary. */
  readonly name: string;
  readonly step: number;
  /** TensorFlow's `RunMetadata` with a graph of each function: the content of a summary of the plugin `graph_run_metadata_graph`. */
  readonly runMetadata: Uint8Array;
}

/** A writer of summaries, as far as graphs are concerned. */
export interface GraphSink {
  /** The step of summaries that do not say theirs; null if none was set. */
  readonly step: number | null;
  writeGraphTrace(trace: GraphTrace): void;
}

let sink: GraphSink | null = null;

/** The writer that `traceExport` writes to. */
export function graphSink(): GraphSink | null {
  return sink;
}

/** Sets the writer that `traceExport` writes to, or none. @returns the one before. */
export function setGraphSink(next: GraphSink | null): GraphSink | null {
  const before = sink;
  sink = next;
  return before;
}
