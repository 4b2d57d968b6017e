import type { Plan, PlanCall, PlanTensor } from './plan.ts';
import { sameTensor } from './plan-check.ts';

/** Where the values of a plan lie that are neither given nor states. */
export interface PlanMemory {
  /** For each value its offset in the arena in bytes, a multiple of 64; -1 where it lies elsewhere. */
  readonly offsets: Float64Array;
  /** The arena's size. */
  readonly bytes: number;
}

const ALIGN = 64;

/**
 * Packs values into one arena so that those whose lives overlap share no byte. A life lasts from the call that writes a value to
 * the last that reads it, both included; but a scalar program may write over an input of the output's shape and dtype that
 * dies there. Largest first, each into the smallest gap that holds it between those placed before.
 *
 * For n values that is O(n²) comparisons of two lives, about a nanosecond each, and at least as many lives do overlap in a
 * training step, where what forward computed waits for backward.
 *
 * @param plan one that `checkPlan` accepts.
 */
export function planMemory(plan: Plan): PlanMemory {
  const { blockOf, first, last, sizes } = findBlocks(plan);
  const placed = new Int32Array(sizes.length);
  const starts = new Float64Array(sizes.length);
  let bytes = 0;
  const order = sizes.map((_, block) => block).sort((a, b) => sizes[b] - sizes[a] || first[a] - first[b]);
  order.forEach((block, count) => {
    const size = sizes[block];
    const from = first[block];
    const to = last[block];
    let start = -1;
    let smallest = Number.POSITIVE_INFINITY;
    let edge = 0;
    for (let i = 0; i < count; i++) {
      const other = placed[i];
      if (first[other] > to || last[other] < from) continue;
      const gap = starts[other] - edge;
      if (gap >= size && gap < smallest) {
        smallest = gap;
        start = edge;
        if (gap === size) break;
      }
      edge = Math.max(edge, starts[other] + sizes[other]);
    }
    if (start < 0) start = edge;
    starts[block] = start;
    bytes = Math.max(bytes, start + size);
    // Kept in the order of their places.
    let low = 0;
    for (let high = count; low < high; ) {
      const middle = (low + high) >> 1;
      if (starts[placed[middle]] <= start) low = middle + 1;
      else high = middle;
    }
    placed.copyWithin(low + 1, low, count);
    placed[low] = block;
  });
  const offsets = Float64Array.from(blockOf, (block) => (block < 0 ? -1 : starts[block]));
  return { offsets, bytes };
}

interface Blocks {
  /** By value: the block that it lies in, or -1. Values that follow one another in place share one. */
  readonly blockOf: Int32Array;
  /** By block: the first and the last call that use it, and its bytes rounded up. */
  readonly first: number[];
  readonly last: number[];
  readonly sizes: number[];
}

function findBlocks(plan: Plan): Blocks {
  const lastRead = new Int32Array(plan.bytes.length).fill(-1);
  plan.calls.forEach((call, i) => {
    for (const { value } of call.inputs) lastRead[value] = i;
  });
  const elsewhere = new Uint8Array(plan.bytes.length);
  for (const value of plan.inputs) elsewhere[value] = 1;
  for (const value of plan.outputs) elsewhere[value] = 1;
  for (const { value } of plan.states) elsewhere[value] = 1;

  const blockOf = new Int32Array(plan.bytes.length).fill(-1);
  const first: number[] = [];
  const last: number[] = [];
  const sizes: number[] = [];
  plan.calls.forEach((call, i) => {
    const taken = new Set<number>();
    for (const output of call.outputs) {
      const { value } = output;
      if (elsewhere[value] !== 0) continue;
      const end = Math.max(i, lastRead[value]);
      // What a call reads and lies in a block with no later reader: its last life ends here.
      const dying = call.inputs.find(
        (input) =>
          blockOf[input.value] >= 0 &&
          lastRead[input.value] === i &&
          plan.bytes[input.value] === plan.bytes[value] &&
          !taken.has(input.value) &&
          mayOverwrite(call, input.value, output),
      );
      if (dying !== undefined) {
        taken.add(dying.value);
        const block = blockOf[dying.value];
        blockOf[value] = block;
        last[block] = end;
      } else {
        blockOf[value] = sizes.length;
        first.push(i);
        last.push(end);
        sizes.push(Math.ceil(plan.bytes[value] / ALIGN) * ALIGN);
      }
    }
  });
  return { blockOf, first, last, sizes };
}

/** Scalar programs read each element before they write it, if every look at the value is the same as at the output. */
function mayOverwrite({ kernel, inputs }: PlanCall, value: number, output: PlanTensor): boolean {
  return (
    typeof kernel !== 'string' && inputs.every((input) => input.value !== value || sameTensor(input, output))
  );
}
