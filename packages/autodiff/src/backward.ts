import { concat, IndexedSlices, identity, onesLike, type Tensor, Variable, zerosLike } from '@eagre/core';
import {
  context,
  dims,
  GradContext,
  gatherOp,
  hasGradient,
  hasUnknown,
  isKept,
  sizeOfDims,
  type TensorTracker,
  toShape,
} from '@eagre/core/internal';
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
 * @param slices whether sources that were looked up row by row get the rows, instead of a tensor of all.
 * @param consume lets go of each entry once it is used: the tape cannot be asked again.
 * @returns a gradient for each source, null where no path leads to it.
 */
export function backward(
  recorder: Recorder,
  targets: readonly Tensor[],
  seeds: readonly (Tensor | null)[],
  sources: readonly Source[],
  consume: boolean,
  slices = false,
): (Gradient | null)[] {
  const ids = sourceIds(recorder, sources);
  const slots = reachable(recorder.entries, ids);
  const grads = new Gradients();
  const outer = context.tracker;
  const collector = new Collector();
  context.tracker = collector;
  try {
    targets.forEach((target, i) => {
      const slot = slots.get(target.id);
      if (slot === undefined) return;
      const leave = context.tracer?.enterPlace(target);
      try {
        grads.add(slot, seeds[i] ?? onesLike(target));
      } finally {
        leave?.();
      }
    });
    grads.own(collector);
    const { entries } = recorder;
    for (let e = entries.length - 1; e >= 0; e--) {
      const entry = entries[e];
      const leave = context.tracer?.enterPlace(entry.outputs[0]);
      try {
        step(entry, grads, slots, collector, slices);
      } finally {
        leave?.();
      }
      if (consume) {
        entries.length = e;
        Recorder.letGo(entry);
      }
    }
  } finally {
    context.tracker = outer;
  }
  const returned = new Set<Tensor>();
  const isReturned = (g: Gradient): boolean => partsOf(g).some((t) => returned.has(t));
  const results = sources.map((source) => {
    const parts = idsOf(recorder, source).map((id) => slots.get(id)?.grad ?? null);
    const found = parts.filter((g) => g !== null);
    if (found.length === 0) return null;
    const sum = found.reduce(added);
    // Two sources may share one gradient (a + b), or it is what the user gave for the target; each gets a tensor of its own, so
    // that disposing one leaves the other.
    const own = (found.length > 1 || grads.owns(sum)) && !isReturned(sum);
    // By an op, so that an outer tape goes on from it.
    const result = own ? sum : copied(sum);
    for (const part of partsOf(result)) returned.add(part);
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

/** A gradient: of rows that were looked up, only these rows. */
type Gradient = Tensor | IndexedSlices;

const isSlices = (grad: Gradient): grad is IndexedSlices => grad instanceof IndexedSlices;

/** The tensors that a gradient holds. */
function partsOf(grad: Gradient): readonly Tensor[] {
  return isSlices(grad) ? (grad.parts as readonly Tensor[]) : [grad];
}

function copied(grad: Gradient): Gradient {
  return isSlices(grad) ? grad.like(identity(grad.values), identity(grad.indices)) : identity(grad);
}

/** The sum of two gradients: rows stay rows, one behind the other. */
function added(a: Gradient, b: Gradient): Gradient {
  if (isSlices(a) && isSlices(b))
    return a.like(
      concat([a.values, b.values], 0),
      concat([a.indices.cast('int64'), b.indices.cast('int64')], 0),
    );
  return dense(a).add(dense(b));
}

const dense = (grad: Gradient): Tensor => (isSlices(grad) ? grad.toTensor() : grad);

/** The gradient of a lookup of rows in a source: the rows; null for other ops. */
function rowsOf(
  { op, inputs, attrs }: Entry,
  source: Slot | undefined,
  dy: Tensor | null,
): IndexedSlices | null {
  if (op !== gatherOp || source?.isSource !== true || dy === null) return null;
  if (attrs.axis !== 0 || attrs.batchDims !== 0) return null;
  const [params, indices] = inputs;
  // Of a tensor of a size that a trace does not know, the whole: reading the size would bind the trace to it.
  if (hasUnknown(params.shape)) return null;
  const rest = dims(params).slice(1);
  const count = sizeOfDims(indices.shape);
  return IndexedSlices.of(
    dy.reshape(toShape([count, ...rest])),
    indices.reshape(toShape([count])),
    params.shape,
  );
}

/** What is known of the gradient of one tensor; without one, no change of a source reaches it. */
interface Slot {
  grad: Gradient | null;
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

/** The gradient that an op's output has: a source that is one has rows where it was looked up. */
function tensorIn(slot: Slot | undefined): Tensor | null {
  const grad = slot?.grad ?? null;
  return grad === null ? null : dense(grad);
}

/** Passes the gradients of an entry's outputs on to its inputs, and lets go of them. */
function step(
  entry: Entry,
  grads: Gradients,
  slots: ReadonlyMap<number, Slot>,
  collector: Collector,
  slices: boolean,
): void {
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
  const first = tensorIn(above[0]);
  const leave = context.tracer?.enterScope(`gradient_tape/${entry.scope}`);
  let result: ReturnType<typeof op.grad> | IndexedSlices;
  try {
    const rows = slices ? rowsOf(entry, below[0], first) : null;
    if (rows !== null) result = rows;
    else {
      const ctx = new GradContext(inputs, outputs, attrs, (i) => below[i] !== undefined);
      const dy = first ?? zerosLike(outputs[0]);
      // Nearly all ops have one output, and to spread a list takes time.
      result = above.length === 1 ? op.grad(ctx, dy) : op.grad(ctx, dy, ...above.slice(1).map(tensorIn));
    }
  } finally {
    leave?.();
  }
  if (result instanceof IndexedSlices) grads.add(below[0], result);
  else if (Array.isArray(result)) {
    const list = result as readonly (Tensor | null | undefined)[];
    for (let i = 0; i < inputs.length; i++) grads.add(below[i], list[i]);
  } else grads.add(below[0], result as Tensor | null);
  grads.own(collector);
  for (const slot of above) if (slot !== undefined && !slot.isSource) grads.drop(slot);
}

/** Who refers to the gradients in slots, to give the memory of each back when the last one is done. */
class Gradients {
  // Of slices their parts.
  readonly #uses = new Map<Tensor, number>();
  readonly #owned = new Set<Tensor>();

  /** Whether it was made here, and nobody else holds it. */
  owns(grad: Gradient): boolean {
    return partsOf(grad).every((part) => this.#owned.has(part));
  }

  /** Adds to the gradient of a tensor, if both are there. */
  add(slot: Slot | undefined, grad: Gradient | null | undefined): void {
    if (slot === undefined || grad === null || grad === undefined) return;
    const before = slot.grad;
    const sum = before === null ? grad : added(before, grad);
    slot.grad = sum;
    for (const part of partsOf(sum)) this.#uses.set(part, (this.#uses.get(part) ?? 0) + 1);
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

  #unuse(grad: Gradient): void {
    for (const part of partsOf(grad)) this.#unusePart(part);
  }

  #unusePart(grad: Tensor): void {
    const uses = (this.#uses.get(grad) ?? 1) - 1;
    if (uses > 0) {
      this.#uses.set(grad, uses);
      return;
    }
    this.#uses.delete(grad);
    if (this.#owned.delete(grad) && !isKept(grad)) grad.dispose();
  }
}
