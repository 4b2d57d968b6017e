// Traces that other processes run: functions of a GraphDef, with what they capture given from outside.
import { InvalidArgumentError, Tensor, UnimplementedError, Variable } from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { type ConcreteFunction, tfFunction } from '@eagre/graph';
import { type Capture, compositionOf, Library } from '@eagre/graph/interchange';
import { translatedOps } from './import/ops/index.ts';
import { nothingAround, Runtime } from './import/runtime.ts';
import { VariableHandle } from './import/values.ts';

const NAME = 'function';

/** A trace that another process can run. */
export interface PortableFunction {
  /** A GraphDef with the function in its library. */
  readonly graph: Uint8Array;
  /** What it takes behind its arguments. */
  readonly captures: readonly Capture[];
}

/** @throws UnimplementedError for a node that no GraphDef can hold: code of the host */
export function writePortable(concrete: ConcreteFunction): PortableFunction {
  const library = new Library({}, { compose: compositionOf, customGradients: false });
  const captures = library.add(NAME, concrete.saved.graph, {});
  return {
    graph: tensorflow.GraphDef.encode({ library: { function: [...library.functions()] } }),
    captures,
  };
}

/**
 * The function in the bytes of `writePortable`.
 * @param captured the variables and tensors in the places of its captures
 * @throws InvalidArgumentError for another number of captures, DataLossError for other bytes
 */
export function readPortable(
  graph: Uint8Array,
  captured: readonly (Tensor | Variable)[],
): (inputs: readonly Tensor[]) => Tensor[] {
  const runtime = new Runtime(tensorflow.GraphDef.decode(graph), translatedOps(), nothingAround());
  const { body } = runtime.function(NAME);
  const handles = captured.map((value) => (value instanceof Variable ? new VariableHandle(value) : value));
  const count = body.arguments.length - handles.length;
  if (count < 0)
    throw new InvalidArgumentError(
      `the function captures ${body.arguments.length} values at most, got ${handles.length}`,
    );
  const run = (...inputs: Tensor[]): Tensor[] => {
    const results = runtime.call(NAME, [...inputs, ...handles]);
    const wrong = results.find((result) => !(result instanceof Tensor));
    if (wrong !== undefined) throw new UnimplementedError('it gives a list or a resource, which is no value');
    return results as Tensor[];
  };
  const traced = tfFunction(run as (...args: never[]) => Tensor[], { name: NAME });
  return (inputs) => {
    if (inputs.length !== count)
      throw new InvalidArgumentError(`the function takes ${count} tensors, got ${inputs.length}`);
    // Strings are on the host: there is no trace of them.
    const onHost = inputs.some(({ dtype }) => dtype === 'string');
    return onHost ? run(...inputs) : traced(...(inputs as never[]));
  };
}
