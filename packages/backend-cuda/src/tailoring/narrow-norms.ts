// Layer normalization that reads and writes 16 bits, where casts stand around the one of float32, and that makes the sum which it normalizes.
import { type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { joinedSums, rowNorm, rowNormGrad, summedLayerNorm } from '@eagre/gpu-kernels';
import {
  isMadeBefore,
  type MakeOwn,
  mayComeEarlier,
  narrowOf,
  programOfCall,
  readerOf,
  scaledCast,
  summandsOf,
  textOf,
  withNarrow,
  withoutDead,
} from './plans.ts';

/** A call that stands for one and for the call that reads its first result. */
interface Joined {
  readonly call: PlanCall;
  readonly takes: number;
}

export function narrowNorms(given: Plan, make: MakeOwn): Plan {
  const plan = withNarrow(given, ({ kernel }) => kernel === 'LayerNorm' || kernel === 'LayerNormGrad');
  const uses = new Uses(plan);
  const gone = new Set<number>();
  const forwards = new Map<PlanCall, PlanCall['attrs']>();
  const calls = plan.calls.map((call, at) => {
    const isForward = call.kernel === 'LayerNorm';
    const joined = isForward
      ? forward(plan, uses, call, at, make)
      : call.kernel === 'LayerNormGrad'
        ? backward(plan, uses, call, at, make)
        : undefined;
    if (joined === undefined) return call;
    gone.add(joined.takes);
    if (isForward) forwards.set(joined.call, call.attrs);
    return joined.call;
  });
  return withSums(withoutDead({ ...plan, calls: calls.filter((_, at) => !gone.has(at)) }), forwards, make);
}

/** Normalizations that make the sum which they normalize, where they are the first who read it. */
function withSums(plan: Plan, forwards: ReadonlyMap<PlanCall, PlanCall['attrs']>, make: MakeOwn): Plan {
  const uses = new Uses(plan);
  const gone = new Set<number>();
  const calls = plan.calls.map((call, at) => {
    const attrs = forwards.get(call);
    if (attrs === undefined) return call;
    const [x, ...vectors] = call.inputs;
    const sum = summandsOf(plan, uses, x, at);
    if (sum === undefined || uses.readers[x.value][0] !== at) return call;
    const parts = { inputs: [...sum.summands, ...vectors], outputs: [x, ...call.outputs] };
    const made = summedLayerNorm({ ...parts, attrs });
    if (made === undefined) return call;
    gone.add(sum.at);
    return make({ ...parts, name: call.name }, 'LayerNorm', made);
  });
  return { ...plan, calls: calls.filter((_, at) => !gone.has(at)) };
}

function forward(plan: Plan, uses: Uses, call: PlanCall, at: number, make: MakeOwn): Joined | undefined {
  const { attrs, name } = call;
  const [x, ...vectors] = call.inputs;
  const [y, ...statistics] = call.outputs;
  const narrow = narrowOf(plan, uses, x, at);
  const rounded = narrow && roundedIn(plan, uses, y, narrow.dtype);
  if (narrow === undefined || rounded === undefined || rounded.summand !== undefined) return undefined;
  const inputs = [narrow, ...vectors];
  const outputs = [rounded.output, ...statistics];
  const made = rowNorm(true)({ inputs, outputs, attrs });
  return made && { call: make({ inputs, outputs, name }, 'LayerNorm', made), takes: rounded.at };
}

function backward(plan: Plan, uses: Uses, call: PlanCall, at: number, make: MakeOwn): Joined | undefined {
  const [dy, x, ...rest] = call.inputs;
  const [dx, ...sums] = call.outputs;
  const narrow = [dy, x]
    .map((wide) => narrowOf(plan, uses, wide, at))
    .filter((tensor) => tensor !== undefined);
  const [first, second] = narrow;
  if (second === undefined || first?.dtype !== second.dtype) return undefined;
  const rounded = roundedIn(plan, uses, dx, first.dtype);
  if (rounded === undefined) return undefined;
  const { summand, output } = rounded;
  if (summand !== undefined && !isMadeBefore(uses, summand.value, at)) return undefined;
  const inputs = [...narrow, ...rest, ...(summand === undefined ? [] : [summand])];
  const outputs = [output, ...sums];
  const made = rowNormGrad(true, summand && 'more', joinedSums)({ inputs, outputs });
  return (
    made && { call: make({ inputs, outputs, name: call.name }, 'LayerNormGrad', made), takes: rounded.at }
  );
}

/** The call that rounds a result and does nothing else with it, or adds what has 16 bits too. */
function roundedIn(
  plan: Plan,
  uses: Uses,
  wide: PlanTensor,
  dtype: PlanTensor['dtype'],
): { at: number; output: PlanTensor; summand: PlanTensor | undefined } | undefined {
  const reader = readerOf(plan, uses, wide.value);
  if (reader === undefined || reader.call.outputs.length !== 1) return undefined;
  const { call, at } = reader;
  const [made] = call.outputs;
  if (made.dtype !== dtype || !mayComeEarlier(uses, made.value)) return undefined;
  const output = { ...made, shape: wide.shape };
  const cast = scaledCast(call);
  if (cast !== undefined) return cast.factor === undefined ? { at, output, summand: undefined } : undefined;
  const summand = summandOf(call, wide, dtype);
  return summand && { at, output, summand };
}

/** What a call adds to a rounded input, as separate calls of 16 bits do. */
function summandOf(call: PlanCall, wide: PlanTensor, dtype: PlanTensor['dtype']): PlanTensor | undefined {
  const program = programOfCall(call);
  if (program?.inputs.length !== 2) return undefined;
  const own = call.inputs.findIndex(({ value }) => value === wide.value);
  const summand = call.inputs[1 - own];
  const isSum =
    textOf(program) === `${dtype}(add(float32(x${1 - own}),float32(${dtype}(x${own}))))` &&
    summand.dtype === dtype &&
    summand.size === wide.size;
  return isSum ? { ...summand, shape: wide.shape } : undefined;
}
