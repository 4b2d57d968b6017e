import { GradientTape } from '@eagre/autodiff';
import { type Backend, type KernelName, registerBackend, unregisterBackend } from '@eagre/backend';
import { jsBackend } from '@eagre/backend-js';
import { type Tensor, withBackend } from '@eagre/core';
import { execute, isFloating, listOps } from '@eagre/core/internal';
import { materialize } from './values.ts';

/** The kernels that each op asks for: on its samples in float32, for its gradients, and for the gradients of these. */
export function kernelsOfOps(): ReadonlyMap<string, ReadonlySet<KernelName>> {
  let asked = new Set<KernelName>();
  // A backend of its own: what asks for kernels remembers those that it has found.
  const recorder: Backend = {
    name: 'recorder',
    deviceType: 'RECORDER',
    deviceIndex: 0,
    description: 'notes the kernels of another that run',
    allocator: jsBackend.allocator,
    kernel(name, dtypes) {
      const found = jsBackend.kernel(name, dtypes);
      return (
        found &&
        ((inputs, outputs, attrs) => {
          asked.add(name);
          found(inputs, outputs, attrs);
        })
      );
    },
    elementwise: (program) => jsBackend.elementwise(program),
    prepare: (plan, allocator) => jsBackend.prepare(plan, allocator),
    threads: () => 1,
  };
  const found = new Map<string, ReadonlySet<KernelName>>();
  registerBackend(recorder, -1);
  try {
    for (const op of listOps().values()) {
      asked = new Set();
      withBackend(recorder.name, () => {
        for (const sample of op.samples()) {
          const inputs = materialize(sample, 'float32');
          const run = (): readonly Tensor[] => execute(op, inputs, sample.attrs ?? {});
          const watched = inputs.filter(({ dtype }) => isFloating(dtype));
          if (op.notDifferentiable !== undefined || watched.length === 0) {
            run();
            continue;
          }
          const slopes = (of: () => readonly Tensor[]): Tensor[] => {
            const tape = new GradientTape();
            tape.watch(watched);
            const outputs = tape.record(of).filter(({ dtype }) => isFloating(dtype));
            return outputs.length === 0
              ? []
              : tape.gradient(outputs, watched, { unconnectedGradients: 'zero' });
          };
          slopes(() => slopes(run));
        }
      });
      found.set(op.name, asked);
    }
  } finally {
    unregisterBackend(recorder);
  }
  return found;
}
