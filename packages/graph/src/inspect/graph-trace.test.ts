import '@eagre/backend-js';
import { constant, type Tensor } from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { tfFunction } from '../function/function.ts';
import { type GraphTrace, setGraphSink } from './graph-sink.ts';
import { traceExport, traceOff, traceOn } from './graph-trace.ts';

afterEach(() => {
  traceOff();
  setGraphSink(null);
});

function sinkOf(step: number | null = null): { readonly traces: GraphTrace[] } {
  const traces: GraphTrace[] = [];
  setGraphSink({ step, writeGraphTrace: (trace) => traces.push(trace) });
  return { traces };
}

describe('traceExport', () => {
  it('writes the graphs that ran since traceOn, each once, without large constants', () => {
    const { traces } = sinkOf();
    const table = constant(new Float32Array(1000));
    const before = tfFunction(function before(x: Tensor) {
      return x.neg();
    });
    const double = tfFunction(function double(x: Tensor) {
      return x.add(x);
    });
    const look = tfFunction(function look(x: Tensor) {
      return x.mul(table);
    });
    before(constant(1));
    double(constant(1));
    traceOn();
    double(constant(2));
    double(constant(3));
    look(constant(4));
    traceExport('functions', { step: 3 });
    look(constant(5));
    expect(traces.map(({ name, step }) => [name, step])).toEqual([['functions', 3]]);
    const { runMetadata } = traces[0] as GraphTrace;
    expect(runMetadata.length).toBeLessThan(2000);
    const { function_graphs } = tensorflow.RunMetadata.decode(runMetadata);
    expect(function_graphs?.map((g) => g.pre_optimization_graph?.node?.map((n) => n.op))).toEqual([
      ['Placeholder', 'AddV2', 'Identity'],
      ['Placeholder', 'Const', 'Mul', 'Identity'],
    ]);
    expect(() => traceExport('again', { step: 4 })).toThrow('no trace is running');
  });

  it('takes the step of the writer, and needs one', () => {
    const { traces } = sinkOf(7);
    traceOn({ graph: true, profiler: false });
    traceExport('a');
    expect(traces[0]?.step).toBe(7);
    sinkOf();
    traceOn();
    expect(() => traceExport('a')).toThrow('the step is null');
    expect(() => traceExport('a', { step: 0.5 })).toThrow('expected an integer');
  });

  it('says that there is no writer, and lets the trace go on', () => {
    traceOn();
    tfFunction((x: Tensor) => x.add(1))(constant(1));
    expect(() => traceExport('a', { step: 0 })).toThrow(/no default summary writer/);
    const { traces } = sinkOf();
    traceExport('a', { step: 0 });
    expect(tensorflow.RunMetadata.decode((traces[0] as GraphTrace).runMetadata).function_graphs).toHaveLength(
      1,
    );
  });

  it('refuses profiles, a second trace, and calls in a traced function', () => {
    expect(() => traceOn({ profiler: true })).toThrow('profile');
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    traceOn();
    traceOn();
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('running already'));
    warn.mockRestore();
    const f = tfFunction((x: Tensor) => {
      traceOn();
      return x;
    });
    expect(() => f(constant(1))).toThrow('while a function is traced');
  });
});
