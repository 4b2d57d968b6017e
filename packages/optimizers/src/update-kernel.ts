import type { AttrValue, Backend, KernelName } from '@eagre/backend';
import { constant, IndexedSlices, type Tensor, type Variable } from '@eagre/core';
import { context, copyTensor, copyTo, kernelFor, type Tracer } from '@eagre/core/internal';
import type { Scalar } from './scalars.ts';

export type UpdateAttrs = Readonly<Record<string, AttrValue>>;

/** What a kernel writes into by a gradient: a variable, then its slots. */
export interface SlottedUpdate {
  readonly gradient: Tensor;
  readonly written: readonly Variable[];
}

/**
 * One call of a kernel for the variables of each backend and dtype: its inputs are variable, slots and gradient of each, then the
 * numbers of this step.
 */
export function runUpdateKernel(
  name: KernelName,
  updates: readonly SlottedUpdate[],
  attrs: UpdateAttrs,
  scalars: readonly Scalar[],
): void {
  const numbers = scalars.map(ofKernel);
  const ofCopies = updates.every(({ written }) => isAlone(written[0])) ? updates : updates.flatMap(eachCopy);
  if (context.tracer !== null) {
    trace(context.tracer, name, ofCopies, attrs, numbers);
    return;
  }
  let rest: readonly SlottedUpdate[] = ofCopies;
  while (rest.length > 0) {
    const { backend, dtype } = rest[0].written[0].writable();
    const inputs: Tensor[] = [];
    const outputs: Tensor[] = [];
    const elsewhere: SlottedUpdate[] = [];
    const gradientAt: number[] = [];
    for (const update of rest) {
      const target = update.written[0].writable();
      if (target.backend !== backend || target.dtype !== dtype) {
        elsewhere.push(update);
        continue;
      }
      for (let i = 0; i < update.written.length; i++) {
        const written = i === 0 ? target : update.written[i].writable();
        inputs.push(written);
        outputs.push(written);
      }
      gradientAt.push(inputs.length);
      inputs.push(update.gradient);
    }
    const written = new Set(outputs.map((t) => t.storage));
    for (const at of gradientAt) {
      const gradient = on(backend, inputs[at]);
      // A gradient can be a variable's value itself (that of a product with it): it must not change while it is used.
      inputs[at] = written.has(gradient.storage) ? copyTensor(gradient) : gradient;
    }
    for (const number of numbers) inputs.push(on(backend, number));
    kernelFor(backend, name, inputs)(inputs, outputs, { ...attrs, count: gradientAt.length });
    rest = elsewhere;
  }
}

/** The same for some rows of one variable and its slots, each once: on copies, which are written back. Not while a function is traced. */
export function runUpdateKernelOnRows(
  name: KernelName,
  { gradient, written }: SlottedUpdate,
  rows: Tensor,
  attrs: UpdateAttrs,
  scalars: readonly Scalar[],
): void {
  const copies = written.map((variable) => variable.gather(rows, 0));
  const { backend } = copies[0];
  const inputs = [...copies, ...[gradient, ...scalars.map(ofKernel)].map((x) => on(backend, x))];
  kernelFor(backend, name, inputs)(inputs, copies, { ...attrs, count: 1 });
  for (const [i, variable] of written.entries()) variable.scatterUpdate(new IndexedSlices(copies[i], rows));
}

/** As kernels take it. */
const ofKernel = (x: Scalar): Tensor => (typeof x === 'number' ? constant(x, 'float64') : x.cast('float64'));

const isAlone = (variable: Variable): boolean =>
  variable.copies.length === 1 && variable.copies[0] === variable;

/** The updates of a variable's copies under a distribution strategy; the update itself otherwise. */
function eachCopy(update: SlottedUpdate): readonly SlottedUpdate[] {
  const { gradient, written } = update;
  const { copies } = written[0];
  if (isAlone(written[0])) return [update];
  return copies.map((_, i) => ({ gradient, written: written.map((variable) => variable.copies[i]) }));
}

function on(backend: Backend, x: Tensor): Tensor {
  return x.backend === backend ? x : copyTo(x, backend);
}

function trace(
  tracer: Tracer,
  name: KernelName,
  updates: readonly SlottedUpdate[],
  attrs: UpdateAttrs,
  numbers: readonly Tensor[],
): void {
  const dtypeOf = (update: SlottedUpdate): string => update.written[0].dtype;
  for (const dtype of new Set(updates.map(dtypeOf))) {
    const some = updates.filter((u) => dtypeOf(u) === dtype);
    const inputs: Tensor[] = [];
    const written: Variable[] = [];
    const at: number[] = [];
    for (const update of some) {
      for (const target of update.written) {
        at.push(inputs.length);
        written.push(target);
        inputs.push(tracer.read(target));
      }
      inputs.push(update.gradient);
    }
    inputs.push(...numbers);
    tracer.update(name, inputs, written, at, { ...attrs, count: some.length });
  }
}
