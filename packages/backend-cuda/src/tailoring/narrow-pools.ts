// The gradient of max pooling that knows the windows, and reads and writes 16 bits where casts stand around the one of float32.
import { type NumericDType, type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { windowedMaxPoolGrad } from '@eagre/gpu-kernels';
import {
  type MakeOwn,
  narrowed,
  narrowOf,
  readerOf,
  summandsOf,
  withNarrow,
  withoutDead,
  writerOf,
} from './plans.ts';

export function narrowPools(given: Plan, make: MakeOwn): Plan {
  const plan = withNarrow(given, ({ kernel }) => kernel === 'MaxPoolGrad');
  const uses = new Uses(plan);
  const bytes = [...plan.bytes];
  const readers = new Map<number, readonly PlanCall[]>();
  const forwards = new Map<PlanCall, PlanCall['attrs']>();
  const calls = plan.calls.map((call, at): PlanCall => {
    if (call.kernel !== 'MaxPoolGrad') return call;
    const [dy, argmax] = call.inputs;
    const [dx] = call.outputs;
    const forward = writerOf(plan, uses, argmax.value)?.call;
    if (forward?.kernel !== 'MaxPool' || !isOf(forward, argmax, dx)) return call;
    const narrow = inNarrow(plan, uses, dy, dx, at);
    const [slope, output] = narrow === undefined ? [dy, dx] : [narrow.dy, narrow.output];
    const made = windowedMaxPoolGrad([slope, argmax], output, forward.attrs);
    if (made === undefined) return call;
    if (narrow !== undefined) {
      readers.set(narrow.at, narrow.calls);
      bytes[output.value] = 2 * output.size;
    }
    const own = make({ inputs: [slope, argmax], outputs: [output], name: call.name }, 'MaxPoolGrad', made);
    forwards.set(own, forward.attrs);
    return own;
  });
  const pooled = { ...plan, bytes, calls: calls.flatMap((call, at) => readers.get(at) ?? call) };
  return withSums(withoutDead(pooled), forwards, make);
}

/** Gradients that add what nothing else reads the sum of. */
function withSums(plan: Plan, forwards: ReadonlyMap<PlanCall, PlanCall['attrs']>, make: MakeOwn): Plan {
  const uses = new Uses(plan);
  const gone = new Set<number>();
  const calls = plan.calls.map((call, at) => {
    const attrs = forwards.get(call);
    if (attrs === undefined) return call;
    const [dy, argmax] = call.inputs;
    const { outputs, name } = call;
    const sum = summandsOf(plan, uses, dy, at);
    if (sum === undefined || readerOf(plan, uses, dy.value) === undefined) return call;
    const [first, second] = sum.summands.map((summand) => ({ ...summand, shape: dy.shape }));
    const inputs = [first, argmax, second];
    const made = windowedMaxPoolGrad(inputs, outputs[0], attrs);
    if (made === undefined) return call;
    gone.add(sum.at);
    return make({ inputs, outputs, name }, 'MaxPoolGrad', made);
  });
  return { ...plan, calls: calls.filter((_, at) => !gone.has(at)) };
}

/** Both gradients in 16 bits, and the calls instead of the one that reads the second; undefined where one of them has more. */
function inNarrow(
  plan: Plan,
  uses: Uses,
  wide: PlanTensor,
  result: PlanTensor,
  at: number,
): { dy: PlanTensor; output: PlanTensor; calls: readonly PlanCall[]; at: number } | undefined {
  const dy = narrowOf(plan, uses, wide, at);
  const read = readerOf(plan, uses, result.value);
  if (dy === undefined || read === undefined) return undefined;
  const made = narrowed(uses, read.call, result, dy.dtype as NumericDType);
  return made && { dy, ...made, at: read.at };
}

/** Whether the places are those that a call found in images like `dx`. */
function isOf({ inputs: [x], outputs: [, places] }: PlanCall, argmax: PlanTensor, dx: PlanTensor): boolean {
  return (
    places.value === argmax.value &&
    x.shape.length === 4 &&
    x.shape.join() === dx.shape.join() &&
    places.shape.join() === argmax.shape.join()
  );
}
