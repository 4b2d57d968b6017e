import { identity, onesLike, type Tensor, Variable, zerosLike } from '@eagre/core';
import { context, GradContext, hasGradient, isKept, type TensorTracker } from '@eagre/core/internal';
import type { Source } from './nest.ts';
import { type Entry, Recorder } from './recorder.ts';

/** Collects what one gradient function makes, so that all but its results can be given back at once. */
class Collector implements TensorTracker {
  list: Tensor[] = [];
  track(tensor: Tensor): void {
    this.list.push(tensor);
  }
}

/**
 * Reverse-mode accumulation over a recorder's entries.
 * @param seeds the gradient of each target; null means ones.
 * @param consume lets go of each entry once it is used: the tape cannot be asked again.
 * @returns a gradient for each source, null where no path leads to it.
 */
export function backward(
  recorder: Recorder,
  targets: readonly Tensor[],
  seeds: readonly (Tensor | null)[],
  sources: readonly Source[],
  consume: boolean,
): (Tensor | null)[] {
  const ids = sourceIds(recorder, sources);
  const slots = reachable(recorder.entries, ids);
  const grads = new Gradients();
  const outer = context.tracker;
  const collector = new Collector();
  context.tracker = collector;
  try {
    targets.forEach((target, i) => {
      const slot = slots.get(target.id);
      if (slot !== undefined) grads.add(slot, seeds[i] ?? onesLike(target));
    });
    grads.own(collector);
    const { entries } = recorder;
    for (let e = entries.length - 1; e >= 0; e--) {
      const entry = entries[e];
      step(entry, grads, slots, collector);
      if (consume) {
        entries.length = e;
        Recorder.letGo(entry);
      }
    }
  } finally {
    context.tracker = outer;
  }
  const returned = new Set<Tensor>();
  const results = sources.map((source) => {
    const parts = idsOf(recorder, source).map((id) => slots.get(id)?.grad ?? null);
    const found = parts.filter((g) => g !== null);
    if (found.length === 0) return null;
    const sum = found.reduce((a, b) => a.add(b));
    // Two sources may share one gradient (a + b), or it is what the user gave for the target; each gets a tensor of its own, so
    // that disposing one leaves the other.
    const own = (found.length > 1 || grads.owns(sum)) && !returned.has(sum);
    // By an op, so that an outer tape goes on from it.
    const result = own ? sum : identity(sum);
    returned.add(result);
    return result;
  });
  grads.finish(returned);
  if (outer !== null) for (const t of returned) outer.track(t);
  return results;
}

function idsOf(recorder: Recorder, source: Source): number[] {
  if (!(source instanceof Variable)) return [source.id];
  const ids: number[] = [];
  for (const [id, variable] of recorder.reads) if (variable === source) ids.push(id);
  return ids;
}

function sourceIds(recorder: Recorder, sources: readonly Source[]): Set<number> {
  const wanted = new Set<Source>(sources);
  const ids = new Set<number>();
  for (const source of sources) if (!(source instanceof Variable)) ids.add(source.id);
  for (const [id, variable] of recorder.reads) if (wanted.has(variable)) ids.add(id);
  return ids;
}

/** What is known of the gradient of one tensor; without one, no change of a source reaches it. */
interface Slot {
  grad: Tensor | null;
  /** Whether it is that of a source, which is kept. */
  readonly isSource: boolean;
}

/** By the ids of tensors: those through which a change of a source reaches anything. */
function reachable(entries: readonly Entry[], ids: ReadonlySet<number>): Map<number, Slot> {
  const slots = new Map<number, Slot>();
  for (const id of ids) slots.set(id, { grad: null, isSource: true });
  for (const { inputs, outputs } of entries) {
    for (let i = 0; i < inputs.length; i++) {
      if (!slots.has(inputs[i].id)) continue;
      for (let o = 0; o < outputs.length; o++) {
        const { id, dtype } = outputs[o];
        if (hasGradient(dtype) && !ids.has(id)) slots.set(id, { grad: null, isSource: false });
      }
      break;
    }
  }
  return slots;
}

/** Passes the gradients of an entry's outputs on to its inputs, and lets go of them. */
function step(entry: Entry, grads: Gradients, slots: ReadonlyMap<number, Slot>, collector: Collector): void {
  const { op, inputs, outputs, attrs } = entry;
  const above: (Slot | undefined)[] = [];
  let any = false;
  for (let i = 0; i < outputs.length; i++) {
    const slot = slots.get(outputs[i].id);
    above.push(slot);
    if (slot !== undefined && slot.grad !== null) any = true;
  }
  if (!any || op.grad === undefined) return;
  const below: (Slot | undefined)[] = [];
  for (let i = 0; i < inputs.length; i++) below.push(slots.get(inputs[i].id));
  const [first, ...more] = above.map((slot) => slot?.grad ?? null) as [Tensor | null, ...(Tensor | null)[]];
  const leave = context.tracer?.enterScope(`gradient_tape/${entry.scope}`);
  let result: ReturnType<typeof op.grad>;
  try {
    result = op.grad(
      new GradContext(inputs, outputs, attrs, (i) => below[i] !== undefined),
      first ?? zerosLike(outputs[0]),
      ...more,
    );
  } finally {
    leave?.();
  }
  if (Array.isArray(result)) {
    const list = result as readonly (Tensor | null | undefined)[];
    for (let i = 0; i < inputs.length; i++) grads.add(below[i], list[i]);
  } else grads.add(below[0], result as Tensor | null);
  grads.own(collector);
  for (const slot of above) if (slot !== undefined && !slot.isSource) grads.drop(slot);
}

/** Who refers to the gradients in slots, to give the memory of each back when the last one is done. */
class Gradients {
  readonly #uses = new Map<Tensor, number>();
  readonly #owned = new Set<Tensor>();

  /** Whether it was made here, and nobody else holds it. */
  owns(grad: Tensor): boolean {
    return this.#owned.has(grad);
  }

  /** Adds to the gradient of a tensor, if both are there. */
  add(slot: Slot | undefined, grad: Tensor | null | undefined): void {
    if (slot === undefined || grad === null || grad === undefined) return;
    const before = slot.grad;
    const sum = before === null ? grad : before.add(grad);
    slot.grad = sum;
    this.#uses.set(sum, (this.#uses.get(sum) ?? 0) + 1);
    if (before !== null) this.#unuse(before);
  }

  drop(slot: Slot): void {
    const { grad } = slot;
    if (grad === null) return;
    slot.grad = null;
    this.#unuse(grad);
  }

  /** Takes over what was just made: gradients stay, everything else is given back. */
  own(collector: Collector): void {
    for (const tensor of collector.list) {
      if (this.#uses.has(tensor)) this.#owned.add(tensor);
      else if (!isKept(tensor)) tensor.dispose();
    }
    collector.list.length = 0;
  }

  finish(returned: ReadonlySet<Tensor>): void {
    for (const tensor of this.#owned) if (!returned.has(tensor) && !isKept(tensor)) tensor.dispose();
  }

  #unuse(grad: Tensor): void {
    const uses = (this.#uses.get(grad) ?? 1) - 1;
    if (uses > 0) {
      this.#uses.set(grad, uses);
      return;
    }
    this.#uses.delete(grad);
    if (this.#owned.delete(grad) && !isKept(grad)) grad.dispose();
  }
}
