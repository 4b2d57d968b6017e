// What the tests of this package share; not part of its exports.

import type { Storage } from '../buffer/storage.ts';
import { type DType, dtypeTraits } from '../dtype.ts';
import type { KernelName } from '../kernels.ts';
import type { FlatPlan, FlatStep } from '../plan/flat-plan.ts';
import {
  type HostCode,
  isKernelName,
  type Plan,
  type PlanCall,
  type PlanState,
  type PlanTensor,
} from '../plan/plan.ts';
import type { ScalarProgram } from '../program/scalar.ts';

/** Writes a plan, or a body, call by call. */
export class PlanWriter {
  readonly #bytes: number[] = [];
  readonly #inputs: number[] = [];
  readonly #states: (PlanState & { readonly tensor: PlanTensor })[] = [];
  readonly #calls: PlanCall[] = [];

  value(shape: readonly number[] = [], dtype: DType = 'float32'): PlanTensor {
    const size = shape.reduce((a, b) => a * b, 1);
    const value = this.#bytes.push(size * dtypeTraits[dtype].bytes) - 1;
    return { value, dtype, shape, size };
  }

  input(shape: readonly number[] = [], dtype: DType = 'float32'): PlanTensor {
    const tensor = this.value(shape, dtype);
    this.#inputs.push(tensor.value);
    return tensor;
  }

  state(
    source: object,
    memory: () => Storage,
    shape: readonly number[] = [],
    dtype: DType = 'float32',
  ): PlanTensor {
    return this.#state(source, memory, shape, dtype);
  }

  stack(source: object): PlanTensor {
    return this.#state(source, null, [0], 'float32');
  }

  call(
    kernel: KernelName | ScalarProgram,
    inputs: readonly PlanTensor[],
    outputs: readonly PlanTensor[],
    attrs: PlanCall['attrs'] = {},
    name: string = typeof kernel === 'string' ? kernel : 'map',
  ): void {
    this.#calls.push({ kernel, inputs, outputs, attrs, name });
  }

  /** A call with one new output, like the first input by default. */
  make(
    kernel: KernelName | ScalarProgram,
    inputs: readonly PlanTensor[],
    { shape = inputs[0].shape, dtype = inputs[0].dtype }: Partial<Pick<PlanTensor, 'shape' | 'dtype'>> = {},
    attrs: PlanCall['attrs'] = {},
    name?: string,
  ): PlanTensor {
    const output = this.value(shape, dtype);
    this.call(kernel, inputs, [output], attrs, name);
    return output;
  }

  fill(value: number, shape: readonly number[] = [], dtype: DType = 'float32'): PlanTensor {
    const output = this.value(shape, dtype);
    this.call('Fill', [], [output], { value });
    return output;
  }

  host(host: HostCode, inputs: readonly PlanTensor[], outputs: readonly PlanTensor[] = []): void {
    this.#calls.push({ kernel: 'Host', host, inputs, outputs, attrs: {}, name: 'Host' });
  }

  push(x: PlanTensor, stack: PlanTensor): void {
    this.#calls.push({ kernel: 'Push', inputs: [x, stack], outputs: [stack], attrs: {}, name: 'Push' });
  }

  pop(stack: PlanTensor, shape: readonly number[] = [], dtype: DType = 'float32'): PlanTensor {
    const output = this.value(shape, dtype);
    this.#calls.push({ kernel: 'Pop', inputs: [stack], outputs: [output, stack], attrs: {}, name: 'Pop' });
    return output;
  }

  /** Runs one of the bodies; its outputs are like `results`. */
  branch(
    selector: PlanTensor,
    inputs: readonly PlanTensor[],
    bodies: readonly Plan[],
    results: readonly PlanTensor[],
    name = 'Case',
  ): PlanTensor[] {
    return this.#control('Case', [selector, ...inputs], bodies, results, name);
  }

  /** Carries values through a loop. */
  loop(
    carried: readonly PlanTensor[],
    constant: readonly PlanTensor[],
    condition: Plan,
    body: Plan,
    name = 'While',
  ): PlanTensor[] {
    return this.#control('While', [...carried, ...constant], [condition, body], carried, name);
  }

  plan(outputs: readonly PlanTensor[] = []): Plan {
    return {
      bytes: [...this.#bytes],
      inputs: [...this.#inputs],
      states: this.#states.map(({ value, source, memory }) => ({ value, source, memory })),
      calls: [...this.#calls],
      outputs: outputs.map(({ value }) => value),
    };
  }

  #state(source: object, memory: PlanState['memory'], shape: readonly number[], dtype: DType): PlanTensor {
    const known = this.#states.find((state) => state.source === source);
    if (known !== undefined) return known.tensor;
    const tensor = this.value(shape, dtype);
    this.#states.push({ value: tensor.value, source, memory, tensor });
    return tensor;
  }

  #control(
    kernel: 'Case' | 'While',
    inputs: readonly PlanTensor[],
    bodies: readonly Plan[],
    results: readonly PlanTensor[],
    name: string,
  ): PlanTensor[] {
    const touched = new Set(bodies.flatMap((body) => [...touchedBy(body, false)]));
    const written = new Set(bodies.flatMap((body) => [...touchedBy(body, true)]));
    const listed = (sources: ReadonlySet<object>): PlanTensor[] =>
      this.#states.filter(({ source }) => sources.has(source)).map(({ tensor }) => tensor);
    const outputs = results.map(({ shape, dtype }) => this.value(shape, dtype));
    this.#calls.push({
      kernel,
      bodies,
      inputs: [...inputs, ...listed(touched)],
      outputs: [...outputs, ...listed(written)],
      attrs: {},
      name,
    });
    return outputs;
  }
}

/** The sources of states that a plan's calls use or write, at any depth. */
function touchedBy({ states, calls }: Plan, writtenOnly: boolean): Set<object> {
  const found = new Set<object>();
  for (const { inputs, outputs, bodies = [] } of calls) {
    for (const { value } of writtenOnly ? outputs : [...inputs, ...outputs])
      for (const state of states) if (state.value === value) found.add(state.source);
    for (const body of bodies) for (const source of touchedBy(body, writtenOnly)) found.add(source);
  }
  return found;
}

/** One line for each step: what it reads and writes, or where it goes. */
export function showSteps({ steps }: FlatPlan): string[] {
  return steps.map(showStep);
}

function showStep(step: FlatStep): string {
  const list = (tensors: readonly PlanTensor[]): string => tensors.map(({ value }) => value).join(' ');
  switch (step.kind) {
    case 'call': {
      const { kernel, inputs, outputs } = step.call;
      const name = isKernelName(kernel) || typeof kernel === 'string' ? kernel : 'map';
      return `${name} ${list(inputs)} -> ${list(outputs)}`.replace('  ', ' ');
    }
    case 'jump':
      return `jump ${step.to}`;
    case 'switch':
      return `switch ${step.selector.value}: ${step.to.join(' ')}`;
    case 'push':
      return `push ${step.tensor.value} on ${step.stack}`;
    case 'pop':
      return `pop ${step.tensor.value} off ${step.stack}`;
  }
}
