import { callsHost, type KernelName, type Plan, type PlanCall, type PlanTensor, Uses } from '@eagre/backend';
import { shareCommonCalls } from './cse.ts';
import { removeDeadCalls } from './dce.ts';
import { type BodiesCall, type Draft, partsOf, type Surroundings } from './nested.ts';
import { cheapInstrs } from './program.ts';
import {
  readInputs,
  readingOnce,
  withConstants,
  withoutInputs,
  withoutOutputs,
  withReplaced,
} from './rewire.ts';
import { isScalarCall, numberAttr, substitute } from './tensors.ts';

// Each round may show more that stays the same; more than this is not worth the search.
const ROUNDS = 4;

/** A While. The first inputs of both plans are the carried values, as many as there are results. */
interface Loop {
  readonly condition: Plan;
  readonly body: Plan;
  readonly given: readonly PlanTensor[];
  readonly results: readonly PlanTensor[];
}

/**
 * Simplifies a While and adds it to the plan: values that nobody needs are not carried, those that never change become inputs that
 * stay the same, those that are always equal are carried once, and what is computed from such inputs alone is computed once, ahead of the loop, unless it might fail: a loop may run
 * no time. A loop whose condition does not hold at the start is left out.
 */
export function simplifyWhile(call: BodiesCall, around: Surroundings): void {
  const { given, results, bodies, name } = partsOf(call);
  let loop: Loop = { condition: bodies[0], body: bodies[1], given, results };
  for (let round = 0; round < ROUNDS; round++) {
    loop = simplified(withoutUnneeded(loop, around), around);
    const before = loop.results.length;
    loop = withInvariants(withoutUnneeded(loop, around), around, name);
    if (loop.results.length === before) break;
  }
  if (neverRuns(loop, around)) {
    loop.results.forEach((result, k) => {
      around.draft.calls.push(copy(loop.given[k], result, name));
    });
    return;
  }
  const [single, copies] = withoutTwins(loop, name);
  loop = hoisted(single, around.draft);
  const { condition, body } = loop;
  const read = [readInputs(condition), readInputs(body)];
  const unread = new Set<number>();
  for (let i = loop.results.length; i < loop.given.length; i++)
    if (!read.some((places) => places.has(i))) unread.add(i);
  around.draft.nested({
    kernel: 'While',
    name,
    selector: undefined,
    bodies: [withoutInputs(condition, unread), withoutInputs(body, unread)],
    given: loop.given.filter((_, i) => !unread.has(i)),
    results: loop.results,
  });
  around.draft.calls.push(...copies);
}

function copy(from: PlanTensor, to: PlanTensor, name: string): PlanCall {
  return { kernel: 'Copy', inputs: [from], outputs: [to], attrs: {}, name };
}

function simplified(loop: Loop, { constants, simplify }: Surroundings): Loop {
  const { given, results } = loop;
  const fixed = given.map((tensor, i) => (i < results.length ? undefined : tensor));
  const better = (plan: Plan): Plan =>
    simplify(withConstants(readingOnce(plan, given, results.length), fixed, constants));
  return { ...loop, condition: better(loop.condition), body: better(loop.body) };
}

/** Without the carried values that neither the condition, nor a reader of the loop, nor another carried value needs. */
function withoutUnneeded(loop: Loop, { needed }: Surroundings): Loop {
  const condition = removeDeadCalls(loop.condition);
  const dropped = new Set(loop.results.keys());
  const keep = (places: Iterable<number>): boolean => {
    const before = dropped.size;
    for (const place of places) dropped.delete(place);
    return dropped.size < before;
  };
  loop.results.forEach((result, k) => {
    if (needed(result)) dropped.delete(k);
  });
  keep(readInputs(condition));
  while (keep(readInputs(withoutOutputs(loop.body, dropped)))) {}
  if (dropped.size === 0) return loop;
  return {
    condition: withoutInputs(condition, dropped),
    body: withoutInputs(withoutOutputs(loop.body, dropped), dropped),
    given: loop.given.filter((_, i) => !dropped.has(i)),
    results: loop.results.filter((_, k) => !dropped.has(k)),
  };
}

/** Has carried values whose next one is a copy of themselves as inputs that stay the same. */
function withInvariants(loop: Loop, { draft, needed }: Surroundings, name: string): Loop {
  const { condition, body, given, results } = loop;
  const writers = new Map(body.calls.flatMap((call) => call.outputs.map(({ value }) => [value, call])));
  const same = new Set<number>();
  body.outputs.forEach((output, k) => {
    const writer = writers.get(output);
    if (writer?.kernel === 'Copy' && writer.inputs[0].value === body.inputs[k]) same.add(k);
  });
  if (same.size === 0) return loop;
  for (const k of same) if (needed(results[k])) draft.calls.push(copy(given[k], results[k], name));
  const moved = <T>(inputs: readonly T[]): T[] => [
    ...inputs.filter((_, i) => i < results.length && !same.has(i)),
    ...inputs.filter((_, i) => same.has(i)),
    ...inputs.slice(results.length),
  ];
  const next = withoutOutputs(body, same);
  return {
    condition: { ...condition, inputs: moved(condition.inputs) },
    body: { ...next, inputs: moved(next.inputs) },
    given: moved(given),
    results: results.filter((_, k) => !same.has(k)),
  };
}

/**
 * Carries once what several carried values are in every turn: those that start as the same value and are computed in the same way from
 * values of which that is true.
 * @returns the loop, and what copies the results that it no longer has from those that are the same.
 */
function withoutTwins(loop: Loop, name: string): [Loop, PlanCall[]] {
  const { condition, body, given, results } = loop;
  // By carried value: the first one that may be the same.
  let twins = firstOf(results.map((_, k) => `${given[k].value} ${body.bytes[body.inputs[k]]}`));
  for (;;) {
    const made = outputNumbers(body, twins);
    const finer = firstOf(twins.map((twin, k) => `${twin} ${made[k]}`));
    if (finer.every((twin, k) => twin === twins[k])) break;
    twins = finer;
  }
  const dropped = new Set(results.flatMap((_, k) => (twins[k] === k ? [] : [k])));
  if (dropped.size === 0) return [loop, []];
  const once = (plan: Plan): Plan => withReplaced(plan, twinInputs(plan, twins));
  return [
    {
      condition: withoutInputs(once(condition), dropped),
      body: withoutInputs(withoutOutputs(once(body), dropped), dropped),
      given: given.filter((_, i) => !dropped.has(i)),
      results: results.filter((_, k) => !dropped.has(k)),
    },
    [...dropped].map((k) => copy(results[twins[k]], results[k], name)),
  ];
}

/** For each key the place of the first that is the same. */
function firstOf(keys: readonly string[]): number[] {
  const places = new Map<string, number>();
  keys.forEach((key, i) => {
    if (!places.has(key)) places.set(key, i);
  });
  return keys.map((key) => places.get(key) ?? -1);
}

function twinInputs({ inputs }: Plan, twins: readonly number[]): Map<number, number> {
  return new Map(twins.flatMap((twin, k) => (twin === k ? [] : [[inputs[k], inputs[twin]]])));
}

/** Numbers for the outputs of a body, equal for those that are the same if twins among its inputs are. */
function outputNumbers(body: Plan, twins: readonly number[]): number[] {
  const tensors = new Map(
    body.calls.flatMap(({ outputs }) => outputs.map((tensor) => [tensor.value, tensor])),
  );
  // What reads all outputs then reads one of those that are the same.
  const reader: PlanCall = {
    kernel: 'Host',
    host: () => {},
    inputs: body.outputs.flatMap((value) => tensors.get(value) ?? []),
    outputs: [],
    attrs: {},
    name: 'outputs',
  };
  const { calls } = withReplaced(body, twinInputs(body, twins));
  const shared = shareCommonCalls({ ...body, calls: [...calls, reader], outputs: [] });
  return shared.calls[shared.calls.length - 1].inputs.map(({ value }) => value);
}

/** Whether the condition is known not to hold at the start, and does nothing else. */
function neverRuns({ condition, given }: Loop, { constants, simplify }: Surroundings): boolean {
  const read = readInputs(condition);
  if (!given.every(({ value }, i) => !read.has(i) || constants.has(value))) return false;
  const { calls } = simplify(withConstants(condition, given, constants));
  const [call] = calls;
  return calls.length === 1 && call.kernel === 'Fill' && numberAttr(call.attrs['value']) === 0;
}

/** Kernels that compute something of any values, without an error. */
const safe: ReadonlySet<unknown> = new Set<KernelName>([
  'Fill',
  'Iota',
  'Transpose',
  'Reverse',
  'Pad',
  'MirrorPadGrad',
  'Slice',
  'SliceGrad',
  'Concat',
  'Tile',
  'TopK',
  'CumSum',
  'CumProd',
  'Sum',
  'Mean',
  'Prod',
  'Max',
  'Min',
  'All',
  'Any',
  'ArgMax',
  'ArgMin',
  'MatMul',
  'Conv2D',
  'Conv2DBackpropInput',
  'Conv2DBackpropFilter',
  'MaxPool',
  'AvgPool',
  'AvgPoolGrad',
  'Softmax',
  'LogSoftmax',
  'SoftmaxCrossEntropyWithLogits',
  'Moments',
  'Svd',
  'LayerNorm',
  'RMSNorm',
  'ScaledDotProductAttention',
]);
const divisions: ReadonlySet<string> = new Set(['div', 'floorDiv', 'mod', 'pow']);

function isSafe(call: PlanCall): boolean {
  if (callsHost(call)) return false;
  if (!isScalarCall(call)) return safe.has(call.kernel);
  return call.kernel.instrs.every(
    ({ op, dtype }) => !divisions.has(op) || dtype === 'float32' || dtype === 'float64',
  );
}

/** Whether computing a call's result takes less than reading it would: a few operations on tensors that are smaller. */
function isCheap(call: PlanCall): boolean {
  if (!isScalarCall(call) || cheapInstrs(call.kernel) === Number.POSITIVE_INFINITY) return false;
  const [{ size }] = call.outputs;
  return call.inputs.every((input) => input.size < size);
}

interface Hoisted {
  /** The plan without the calls that moved; their results, where it reads them, are among its values but not yet inputs. */
  readonly rest: Plan;
  readonly read: readonly { readonly inside: number; readonly outside: PlanTensor }[];
}

/** The loop after what need not be in it has been added to the plan around. */
function hoisted(loop: Loop, draft: Draft): Loop {
  const { condition, body, given, results } = loop;
  const written = new Set([...writtenSources(condition), ...writtenSources(body)]);
  const first = hoist(condition, loop, written, draft);
  const second = hoist(body, loop, written, draft);
  const all = [...first.read, ...second.read];
  const withInputs = ({ rest, read }: Hoisted): Plan => {
    const bytes = [...rest.bytes];
    const inputs = all.map((made) =>
      read.includes(made) ? made.inside : bytes.push(draft.bytesOf(made.outside.value)) - 1,
    );
    return { ...rest, bytes, inputs: [...rest.inputs, ...inputs] };
  };
  return {
    condition: withInputs(first),
    body: withInputs(second),
    given: [...given, ...all.map(({ outside }) => outside)],
    results,
  };
}

function writtenSources({ states, calls }: Plan): object[] {
  const written = new Set(calls.flatMap(({ outputs }) => outputs.map(({ value }) => value)));
  return states.filter(({ value }) => written.has(value)).map(({ source }) => source);
}

function hoist(plan: Plan, { given, results }: Loop, written: ReadonlySet<object>, draft: Draft): Hoisted {
  const uses = new Uses(plan);
  // By value of the plan: the value around it that is the same in each turn.
  const outside = new Map<number, number>();
  plan.inputs.forEach((input, i) => {
    if (i >= results.length) outside.set(input, given[i].value);
  });
  for (const { value, source } of plan.states) {
    const place = draft.stateOf(source);
    if (place !== undefined && !written.has(source)) outside.set(value, place);
  }
  const moving = new Set<PlanCall>();
  const known = new Set(outside.keys());
  for (const call of plan.calls) {
    if (!isSafe(call) || !call.inputs.every(({ value }) => known.has(value))) continue;
    if (!call.outputs.every(({ value }) => uses.isTemporary(value))) continue;
    moving.add(call);
    for (const { value } of call.outputs) known.add(value);
  }
  for (const call of [...moving].reverse()) {
    const readers = uses.readers[call.outputs[0].value];
    if (isCheap(call) && !readers.some((at) => moving.has(plan.calls[at]))) moving.delete(call);
  }
  const made = new Map<number, PlanTensor>();
  for (const call of moving) {
    const outputs = call.outputs.map((tensor) => {
      const value = draft.value(plan.bytes[tensor.value]);
      outside.set(tensor.value, value);
      made.set(tensor.value, { ...tensor, value });
      return { ...tensor, value };
    });
    draft.calls.push({ ...substitute(call, outside), outputs });
  }
  const calls = plan.calls.filter((call) => !moving.has(call));
  const read = new Set(calls.flatMap(({ inputs }) => inputs.map(({ value }) => value)));
  return {
    rest: { ...plan, calls },
    read: [...made]
      .filter(([inside]) => read.has(inside))
      .map(([inside, tensor]) => ({ inside, outside: tensor })),
  };
}
