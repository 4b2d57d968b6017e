// The graphs that run between traceOn and traceExport, for TensorBoard.

import { FailedPreconditionError, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import { checkFlag, context, defineFunction } from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import type { Graph } from '../ir/graph.ts';
import { graphDefs } from '../late.ts';
import { graphSink } from './graph-sink.ts';

/** Options of `traceOn`. */
export interface TraceOptions {
  /** Collect the graphs of functions that run; true by default. */
  readonly graph?: boolean;
  /** Not supported: `concrete.profile()` measures a function. */
  readonly profiler?: boolean;
}

/** Options of `traceExport`. */
export interface TraceExportOptions {
  /** That of the default writer unless given. */
  readonly step?: number;
}

// TensorBoard leaves out larger ones itself, after having read them.
const LARGEST_CONSTANT = 1024;

let collected: Set<Graph> | null = null;

/** Called with every graph that runs. */
export function graphRuns(graph: Graph): void {
  if (collected !== null) collected.add(graph);
}

/**
 * Starts to collect the graphs of functions that run, for `tf.summary.traceExport`.
 * @throws UnimplementedError for `profiler`; FailedPreconditionError in a traced function.
 */
export const traceOn: NamedFunction<[], [], TraceOptions, void> = defineFunction(
  'tf.summary.traceOn',
  {},
  { graph: true, profiler: true },
  (options) => {
    const { graph = true, profiler = false } = options;
    checkFlag(graph, 'graph', 'tf.summary.traceOn');
    if (profiler) {
      throw new UnimplementedError(
        'profiles are not collected: f.getConcreteFunction(…).profile(…) measures the kernels of a function',
        'tf.summary.traceOn',
      );
    }
    outsideOfTraces('tf.summary.traceOn');
    if (collected !== null) console.warn('tf.summary.traceOn: a trace is running already');
    else if (graph) collected = new Set();
  },
);

/** Ends a trace, and forgets what it has collected. */
export const traceOff: NamedFunction<[], [], unknown, void> = defineFunction(
  'tf.summary.traceOff',
  {},
  {},
  () => {
    collected = null;
  },
);

/**
 * Ends a trace, and writes the graphs of all functions that ran in it to the default summary writer. Constants of more than 1 KB are
 * left without their values.
 * @param name the tag in TensorBoard.
 * @throws FailedPreconditionError when no trace is running, or when there is no writer; the trace goes on then.
 */
export const traceExport: NamedFunction<[name: string], ['name'], TraceExportOptions, void> = defineFunction(
  'tf.summary.traceExport',
  { name: true },
  { step: true },
  (name, options) => {
    const what = 'tf.summary.traceExport';
    outsideOfTraces(what);
    if (typeof name !== 'string') throw new InvalidArgumentError(`expected a name, got ${typeof name}`, what);
    if (collected === null)
      throw new FailedPreconditionError('no trace is running: call tf.summary.traceOn() first', what);
    const sink = graphSink();
    if (sink === null) {
      throw new FailedPreconditionError(
        'there is no default summary writer to write to; concrete.graph.asGraphDef() returns the bytes of one graph',
        what,
      );
    }
    const step = options.step ?? sink.step;
    if (!Number.isSafeInteger(step))
      throw new InvalidArgumentError(`the step is ${step}, expected an integer: { step: 0 }`, what);
    const function_graphs = [...collected].map((graph) => ({
      pre_optimization_graph: graphDefs.graphDef(graph, { largestConstant: LARGEST_CONSTANT }),
    }));
    sink.writeGraphTrace({
      name,
      step: step as number,
      runMetadata: tensorflow.RunMetadata.encode({ function_graphs }),
    });
    traceOff();
  },
);

function outsideOfTraces(what: string): void {
  if (context.tracer !== null)
    throw new FailedPreconditionError('cannot be called while a function is traced', what);
}
