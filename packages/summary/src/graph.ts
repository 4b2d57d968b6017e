// Graphs in event files: one by itself, and those that `traceExport` collected.

import { InvalidArgumentError } from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import { defineFunction } from '@eagre/core/internal';
import { encodeTensorProto } from '@eagre/formats';
import { compat, Graph } from '@eagre/graph';
import { metadataOf, tagOf } from './record.ts';
import { answerNow, eagerOnly, state, stepNow, useGraphSink } from './state.ts';

// TensorBoard leaves out larger ones itself, after having read them.
const LARGEST_CONSTANT = 1024;
const VERSION_1 = Uint8Array.of(0x31);

/**
 * Writes a graph for TensorBoard's graph dashboard: `tf.summary.graph(f.getConcreteFunction(x).graph)`. A run shows one, the last. Constants
 * of more than 1 KB are left without their values, except in bytes that are given.
 * @param data the graph of a traced function or for sessions, or the bytes of a `GraphDef`.
 * @returns whether it was written: false without a default writer and where `recordIf` says no.
 * @throws InvalidArgumentError for something else; FailedPreconditionError while a function is traced.
 */
export const graph: NamedFunction<
  [data: Graph | compat.v1.Graph | Uint8Array],
  ['data|graphData'],
  unknown,
  boolean
> = defineFunction('tf.summary.graph', { 'data|graphData': true }, {}, (data) => {
  const what = 'tf.summary.graph';
  eagerOnly(what);
  const { writer } = state;
  if (writer === null || answerNow() !== true) return false;
  writer.add({ wall_time: Date.now() / 1000, graph_def: bytesOf(data, what) });
  return true;
});

function bytesOf(data: Graph | compat.v1.Graph | Uint8Array, what: string): Uint8Array {
  const options = { largestConstant: LARGEST_CONSTANT };
  if (data instanceof Uint8Array) return data;
  if (data instanceof Graph) return data.asGraphDef(options);
  if (data instanceof compat.v1.Graph) return data.asGraphDef(options);
  throw new InvalidArgumentError(
    'expected a graph, such as f.getConcreteFunction(x).graph, or the bytes of one',
    what,
  );
}

useGraphSink({
  get step() {
    return state.step === null ? null : Number(stepNow(state.step));
  },
  writeGraphTrace({ name, step, runMetadata }) {
    if (answerNow() !== true) return;
    const tag = tagOf(name, 'graph_run_metadata_graph_summary', 'tf.summary.traceExport');
    const tensor = encodeTensorProto({ dtype: 'string', shape: [], data: [runMetadata] });
    const metadata = metadataOf('graph_run_metadata_graph', undefined, VERSION_1);
    state.writer?.add({
      wall_time: Date.now() / 1000,
      step,
      summary: { value: [{ tag, tensor, metadata }] },
    });
  },
});
