import type { PlanCall, PlanState, PlanTensor } from './plan.ts';

/** One step of a flat plan. Steps are meant by their places in `FlatPlan.steps`; a place behind the last one ends the run. */
export type FlatStep =
  /** A kernel, a scalar program or code of the host. `owner` is the place in `Plan.calls` of the call that it is, or lies in. */
  | { readonly kind: 'call'; readonly call: PlanCall; readonly owner: number }
  | { readonly kind: 'jump'; readonly to: number; readonly owner: number }
  /** Goes on at `to[0]` if a bool scalar is true and at `to[1]` if not; at `to[i]` for an int32 scalar i, the last if it is out of range. */
  | {
      readonly kind: 'switch';
      readonly selector: PlanTensor;
      readonly to: readonly number[];
      readonly owner: number;
    }
  | { readonly kind: 'push'; readonly tensor: PlanTensor; readonly stack: number; readonly owner: number }
  | { readonly kind: 'pop'; readonly tensor: PlanTensor; readonly stack: number; readonly owner: number };

/** A plan without bodies, as backends run it: one numbering of values, and steps that may jump. */
export interface FlatPlan {
  /** The size of each value in bytes. */
  readonly bytes: readonly number[];
  readonly inputs: readonly number[];
  /** Those with memory; states of one source are one. */
  readonly states: readonly PlanState[];
  /** How many stacks there are. */
  readonly stacks: number;
  readonly outputs: readonly number[];
  readonly steps: readonly FlatStep[];
}

/** The values that some step writes, if there is code of the host among the steps; else undefined. */
export function writtenAroundHost({ steps }: FlatPlan): ReadonlySet<number> | undefined {
  if (!steps.some((step) => step.kind === 'call' && step.call.kernel === 'Host')) return undefined;
  const written = new Set<number>();
  for (const step of steps) {
    if (step.kind === 'call') for (const { value } of step.call.outputs) written.add(value);
    else if (step.kind === 'pop') written.add(step.tensor.value);
  }
  return written;
}
