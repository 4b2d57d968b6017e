// Calls of one scalar program over several small tensors, such as casts of all weights, as one launch.
import { type Plan, type PlanCall, type ScalarProgram, Uses } from '@eagre/backend';
import {
  type Dispatch,
  type ElementwiseKernel,
  elementwiseKernel,
  type GpuProgram,
  LEAST_SIDE_BY_SIDE,
  MOST_SIDE_BY_SIDE,
  sideBySide,
} from '@eagre/gpu-kernels';
import { type MakeOwn, programOfCall } from './plans.ts';

/** Larger outputs take long enough by themselves, and would be kept for longer than they are needed. */
const MOST_ELEMENTS = 2 ** 23;

interface Candidate {
  readonly at: number;
  readonly call: PlanCall;
  readonly dispatch: Dispatch;
  /** The first and the last place, each before a call, where it may run instead. */
  readonly first: number;
  readonly last: number;
}

export function groupAlike(plan: Plan, make: MakeOwn): Plan {
  const kernels = new Map<ScalarProgram, ElementwiseKernel | undefined>();
  let calls = plan.calls;
  // Calls of a group must not wait for each other; those of different ones may, so each program is looked at anew.
  const done = new Set<GpuProgram>();
  for (;;) {
    const alike = nextAlike({ ...plan, calls }, kernels, done);
    if (alike === undefined) return { ...plan, calls };
    calls = regrouped(calls, alike, make);
  }
}

/** The candidates of the first program that has several and was not looked at. */
function nextAlike(
  plan: Plan,
  kernels: Map<ScalarProgram, ElementwiseKernel | undefined>,
  done: Set<GpuProgram>,
): readonly Candidate[] | undefined {
  const uses = new Uses(plan);
  const barriers = plan.calls.flatMap(({ kernel, bodies }, at) =>
    kernel === 'Host' || bodies !== undefined ? [at] : [],
  );
  const byProgram = new Map<GpuProgram, Candidate[]>();
  plan.calls.forEach((call, at) => {
    const program = programOfCall(call);
    const [output] = call.outputs;
    if (program === undefined || output.size < 2 || output.size > MOST_ELEMENTS) return;
    if (call.inputs.some(({ size }) => size !== output.size)) return;
    if (!kernels.has(program)) kernels.set(program, elementwiseKernel(program));
    const dispatch = kernels.get(program)?.lower(call.inputs, call.outputs);
    if (dispatch === undefined || done.has(dispatch.program)) return;
    const list = byProgram.get(dispatch.program) ?? [];
    byProgram.set(dispatch.program, list);
    list.push({ at, call, dispatch, ...placesOf(call, at, plan.calls.length, uses, barriers) });
  });
  for (const [program, list] of byProgram) {
    done.add(program);
    if (list.length >= LEAST_SIDE_BY_SIDE) return list;
  }
  return undefined;
}

function placesOf(
  { inputs, outputs }: PlanCall,
  at: number,
  end: number,
  uses: Uses,
  barriers: readonly number[],
): Pick<Candidate, 'first' | 'last'> {
  const others = [
    ...barriers,
    ...inputs.flatMap(({ value }) => uses.writers[value]),
    ...outputs.flatMap(({ value }) => [...uses.writers[value], ...uses.readers[value]]),
  ];
  const first = Math.max(0, ...others.filter((other) => other < at).map((other) => other + 1));
  const last = Math.min(end, ...others.filter((other) => other > at));
  return { first, last };
}

/** The calls with groups of some candidates of one program in their places. */
function regrouped(calls: readonly PlanCall[], alike: readonly Candidate[], make: MakeOwn): PlanCall[] {
  const gone = new Set<number>();
  const before = new Map<number, PlanCall[]>();
  const rest = [...alike];
  while (rest.length >= LEAST_SIDE_BY_SIDE) {
    const group: Candidate[] = [];
    let [first, last] = [0, calls.length];
    for (const each of rest) {
      if (group.length === MOST_SIDE_BY_SIDE) break;
      if (Math.max(first, each.first) > Math.min(last, each.last)) continue;
      // They may read what another one writes only where they run before or behind it.
      if (group.some((other) => areBound(other.call, each.call))) continue;
      group.push(each);
      first = Math.max(first, each.first);
      last = Math.min(last, each.last);
    }
    const joined = group.length < LEAST_SIDE_BY_SIDE ? undefined : together(group, make);
    if (joined === undefined) {
      rest.shift();
      continue;
    }
    const place = Math.max(first, Math.min(last, group[0].at));
    before.set(place, [...(before.get(place) ?? []), joined]);
    for (const each of group) {
      gone.add(each.at);
      rest.splice(rest.indexOf(each), 1);
    }
  }
  const kept: PlanCall[] = [];
  for (let at = 0; at <= calls.length; at++) {
    kept.push(...(before.get(at) ?? []));
    if (at < calls.length && !gone.has(at)) kept.push(calls[at]);
  }
  return kept;
}

/** Whether one of two calls writes what the other reads or writes. */
function areBound(a: PlanCall, b: PlanCall): boolean {
  const writes = (x: PlanCall, y: PlanCall): boolean =>
    x.outputs.some(({ value }) => [...y.inputs, ...y.outputs].some((other) => other.value === value));
  return writes(a, b) || writes(b, a);
}

function together(group: readonly Candidate[], make: MakeOwn): PlanCall | undefined {
  const inputs = group.flatMap(({ call }) => call.inputs);
  const outputs = group.flatMap(({ call }) => call.outputs);
  let [input, output] = [0, inputs.length];
  const moved = group.map(({ call, dispatch }): Dispatch => {
    const [from, to] = [input, output];
    input += call.inputs.length;
    output += call.outputs.length;
    const operands = dispatch.operands.map((k) =>
      k < 0 ? k : k < call.inputs.length ? from + k : to + k - call.inputs.length,
    );
    return { ...dispatch, operands };
  });
  const [dispatch, ...more] = sideBySide(moved);
  if (more.length > 0) return undefined;
  const names = [...new Set(group.map(({ call }) => call.name))];
  const name = names.length <= 2 ? names.join('+') : `${names[0]}+…+${names.at(-1)}`;
  return make({ inputs, outputs, name }, 'an elementwise function', { dispatches: [dispatch], scratch: [] });
}
