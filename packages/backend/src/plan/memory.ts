import type { FlatPlan, FlatStep } from './flat-plan.ts';
import { mayOverwrite } from './overwrite.ts';
import type { PlanTensor } from './plan.ts';

/** Where the values of a flat plan lie that are neither given nor states. */
export interface PlanMemory {
  /** For each value its offset in the arena in bytes, a multiple of the alignment; -1 where it lies elsewhere. */
  readonly offsets: Float64Array;
  /** The arena's size. */
  readonly bytes: number;
}

const ALIGN = 64;

/**
 * Packs values into one arena so that those whose lives overlap share no byte. A life lasts from the first step that writes a value to
 * the last that uses it, both included, and to the end of each loop that it was written before and is used in; values of two
 * branches so may share. A kernel that allows it may write over an input that dies there. Largest first, each into the smallest gap
 * that holds it between those placed before.
 *
 * For n values that is O(n²) comparisons of two lives, about a nanosecond each, and at least as many lives do overlap in a
 * training step, where what forward computed waits for backward.
 *
 * @param plan what `flattenPlan` makes.
 * @param align of each value.
 */
export function planMemory(plan: FlatPlan, align: number = ALIGN): PlanMemory {
  const { blockOf, first, last, sizes } = findBlocks(plan, align);
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
  /** By block: the first and the last step that use it, and its bytes rounded up. */
  readonly first: number[];
  readonly last: number[];
  readonly sizes: number[];
}

function findBlocks(plan: FlatPlan, align: number): Blocks {
  const { firstWrite, lastUse } = findLives(plan);
  const elsewhere = new Uint8Array(plan.bytes.length);
  for (const value of plan.inputs) elsewhere[value] = 1;
  for (const value of plan.outputs) elsewhere[value] = 1;
  for (const { value } of plan.states) elsewhere[value] = 1;

  const blockOf = new Int32Array(plan.bytes.length).fill(-1);
  const first: number[] = [];
  const last: number[] = [];
  const sizes: number[] = [];
  plan.steps.forEach((step, i) => {
    const taken = new Set<number>();
    for (const output of writesOf(step)) {
      const { value } = output;
      if (elsewhere[value] !== 0 || firstWrite[value] !== i) continue;
      // What the step reads and lies in a block with no later use: the block's last life ends here.
      const dying = readsOf(step).find(
        (input) =>
          blockOf[input.value] >= 0 &&
          lastUse[input.value] === i &&
          plan.bytes[input.value] === plan.bytes[value] &&
          !taken.has(input.value) &&
          overwrites(step, input.value, output),
      );
      if (dying !== undefined) {
        taken.add(dying.value);
        const block = blockOf[dying.value];
        blockOf[value] = block;
        last[block] = lastUse[value];
      } else {
        blockOf[value] = sizes.length;
        first.push(i);
        last.push(lastUse[value]);
        sizes.push(Math.ceil(plan.bytes[value] / align) * align);
      }
    }
  });
  return { blockOf, first, last, sizes };
}

function overwrites(step: FlatStep, value: number, output: PlanTensor): boolean {
  if (step.kind !== 'call') return false;
  const places = step.call.inputs.flatMap((input, i) => (input.value === value ? [i] : []));
  return mayOverwrite(step.call, places, output);
}

interface Lives {
  /** By value: the first step that writes it, or -1. */
  readonly firstWrite: Int32Array;
  /** By value: the last step at which it is needed, or -1. */
  readonly lastUse: Int32Array;
}

function findLives({ bytes, steps }: FlatPlan): Lives {
  const { loopOf, loops } = findLoops(steps);
  const firstWrite = new Int32Array(bytes.length).fill(-1);
  const lastUse = new Int32Array(bytes.length).fill(-1);
  const use = (value: number, at: number): void => {
    let end = at;
    for (let l = loopOf[at]; l >= 0 && loops[l].first > firstWrite[value]; l = loops[l].parent)
      end = loops[l].last;
    lastUse[value] = Math.max(lastUse[value], end);
  };
  steps.forEach((step, i) => {
    for (const { value } of readsOf(step)) use(value, i);
    for (const { value } of writesOf(step)) {
      if (firstWrite[value] < 0) firstWrite[value] = i;
      use(value, i);
    }
  });
  return { firstWrite, lastUse };
}

/** The steps of a loop, from its first to the jump or switch back. */
interface Loop {
  readonly first: number;
  readonly last: number;
  /** The next loop around it, or -1. */
  parent: number;
}

/** @returns all loops, and by step the innermost that it lies in, or -1. */
function findLoops(steps: readonly FlatStep[]): { loopOf: Int32Array; loops: Loop[] } {
  const loopOf = new Int32Array(steps.length).fill(-1);
  const loops: Loop[] = [];
  // Inner loops end before those around them.
  steps.forEach((step, last) => {
    const first = targetOf(step, last);
    if (first > last) return;
    const number = loops.length;
    for (let at = first; at <= last; at++) {
      if (loopOf[at] < 0) {
        loopOf[at] = number;
        continue;
      }
      let inner = loops[loopOf[at]];
      while (inner.parent >= 0) inner = loops[inner.parent];
      inner.parent = number;
      at = inner.last;
    }
    loops.push({ first, last, parent: -1 });
  });
  return { loopOf, loops };
}

/** The first of the steps that the one at `at` may go on with. */
function targetOf(step: FlatStep, at: number): number {
  if (step.kind === 'jump') return step.to;
  return step.kind === 'switch' ? Math.min(...step.to) : at + 1;
}

const none: readonly PlanTensor[] = [];

function readsOf(step: FlatStep): readonly PlanTensor[] {
  switch (step.kind) {
    case 'call':
      return step.call.inputs;
    case 'push':
      return [step.tensor];
    case 'switch':
      return [step.selector];
    default:
      return none;
  }
}

function writesOf(step: FlatStep): readonly PlanTensor[] {
  if (step.kind === 'call') return step.call.outputs;
  return step.kind === 'pop' ? [step.tensor] : none;
}
