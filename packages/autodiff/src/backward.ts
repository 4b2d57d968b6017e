import { identity, onesLike, type Tensor, Variable, zerosLike } from '@eagre/core';
import { context, GradContext, isFloating, isKept, type TensorTracker } from '@eagre/core/internal';
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
  const needed = reachable(recorder.entries, ids);
  const grads = new Gradients(needed);
  const outer = context.tracker;
  const collector = new Collector();
  context.tracker = collector;
  try {
    targets.forEach((target, i) => {
      if (needed.has(target.id)) grads.add(target.id, seeds[i] ?? onesLike(target));
    });
    grads.own(collector);
    const { entries } = recorder;
    for (let e = entries.length - 1; e >= 0; e--) {
      const entry = entries[e];
      if (step(entry, grads, needed, collector))
        for (const y of entry.outputs) if (!ids.has(y.id)) grads.drop(y.id);
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
    const parts = idsOf(recorder, source).map((id) => grads.get(id));
    const found = parts.filter((g): g is Tensor => g !== undefined);
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

/** The ids through which a change of a source reaches anything. */
function reachable(entries: readonly Entry[], ids: ReadonlySet<number>): Set<number> {
  const found = new Set(ids);
  for (const { inputs, outputs } of entries) {
    for (let i = 0; i < inputs.length; i++) {
      if (found.has(inputs[i].id)) {
        for (const y of outputs) if (isFloating(y.dtype)) found.add(y.id);
        break;
      }
    }
  }
  return found;
}

/** Passes the gradients of an entry's outputs on to its inputs. @returns whether there were any. */
function step(entry: Entry, grads: Gradients, needed: ReadonlySet<number>, collector: Collector): boolean {
  const { op, inputs, outputs, attrs } = entry;
  let any = false;
  const dys = new Array<Tensor | null>(outputs.length);
  for (let i = 0; i < outputs.length; i++) {
    const dy = grads.get(outputs[i].id) ?? null;
    dys[i] = dy;
    if (dy !== null) any = true;
  }
  if (!any || op.grad === undefined) return false;
  const wants = (i: number): boolean => needed.has(inputs[i].id);
  const [first, ...more] = dys as [Tensor | null, ...(Tensor | null)[]];
  const leave = context.tracer?.enterScope(`gradient_tape/${entry.scope}`);
  let result: ReturnType<typeof op.grad>;
  try {
    result = op.grad(new GradContext(inputs, outputs, attrs, wants), first ?? zerosLike(outputs[0]), ...more);
  } finally {
    leave?.();
  }
  const list = Array.isArray(result) ? (result as readonly (Tensor | null)[]) : [result as Tensor | null];
  for (let i = 0; i < inputs.length; i++) {
    const dx = list[i];
    if (dx !== null && dx !== undefined && wants(i)) grads.add(inputs[i].id, dx);
  }
  grads.own(collector);
  return true;
}

/** Gradients by tensor id, counting who refers to each tensor, to give its memory back when the last one is done. */
class Gradients {
  readonly #byId = new Map<number, Tensor>();
  readonly #uses = new Map<Tensor, number>();
  readonly #owned = new Set<Tensor>();
  readonly #needed: ReadonlySet<number>;

  constructor(needed: ReadonlySet<number>) {
    this.#needed = needed;
  }

  get(id: number): Tensor | undefined {
    return this.#byId.get(id);
  }

  /** Whether it was made here, and nobody else holds it. */
  owns(grad: Tensor): boolean {
    return this.#owned.has(grad);
  }

  add(id: number, grad: Tensor): void {
    if (!this.#needed.has(id)) return;
    const before = this.#byId.get(id);
    if (before === undefined) this.#set(id, grad);
    else {
      this.#set(id, before.add(grad));
      this.#unuse(before);
    }
  }

  drop(id: number): void {
    const grad = this.#byId.get(id);
    if (grad === undefined) return;
    this.#byId.delete(id);
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

  #set(id: number, grad: Tensor): void {
    this.#byId.set(id, grad);
    this.#uses.set(grad, (this.#uses.get(grad) ?? 0) + 1);
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
