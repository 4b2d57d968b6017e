import {
  callsHost,
  type NumericDType,
  type Plan,
  type PlanCall,
  type PlanTensor,
  type ScalarProgram,
  sameShape,
  Uses,
} from '@eagre/backend';
import { fitsTile, ProgramWriter } from './program.ts';
import { isNumeric, isScalarCall, reshaped } from './tensors.ts';

// How far apart calls may be that are joined to save a read only: what they make would be kept until it is used.
const NEAR = 64;
// How many earlier readers of a value each is tried with.
const NEIGHBOURS = 8;
// Tensors of at most this many elements cost less than the call that makes them.
const TINY = 16;
// The most instructions of a program that was joined for their sake.
const TINY_INSTRS = 64;
// How many groups a search may visit.
const MAX_VISITED = 4096;

/**
 * Makes one scalar program of those over equally many elements, where one reads what another wrote, or both read the same: values
 * between them never reach memory, and a Copy of a result to a state becomes an output of its program. Where the elements are few,
 * also of neighbours that have nothing in common, as starting a call takes longer than it works.
 *
 * What must stay in order are pairs of calls of which the first writes what the second reads (also the other way round, and where
 * both write), and calls of the host's code. Any order of calls that keeps those pairs computes the same.
 * A group of calls runs as one, so two groups may become one just where no path of pairs leads from one over a third to the
 * other: then, and only then, groups can still be put in an order that keeps all pairs. `Schedule` keeps such an order.
 *
 * Inside a group, member after member works on one element, so each sees what those before it made of that element. That is all
 * it may need: values that a member writes are read in full, element by element, never repeated.
 */
export function fuseScalarCalls(plan: Plan): Plan {
  const uses = new Uses(plan);
  const schedule = new Schedule(plan);
  const fusion = new Fusion(plan, uses, schedule);
  // First what makes values vanish, since a call can be in one group only: joined to a far producer that is kept anyway, it could not
  // join its own reader, which needs what lies between. A join may leave other values with readers in one group.
  while (fusion.mergeAlongValues((value, first, second) => fusion.vanishes(value, first, second))) {}
  fusion.mergeAlongValues((_, first, second) => Math.abs(second.place - first.place) <= NEAR);
  fusion.mergeReaders();
  fusion.mergeTiny();
  return { ...plan, calls: schedule.calls((group) => fusion.call(group)) };
}

/** Calls that run at one place. */
class Group {
  /** Ascending places in the plan. */
  members: readonly number[];
  place: number;
  readonly before = new Set<Group>();
  readonly after = new Set<Group>();

  constructor(member: number) {
    this.members = [member];
    this.place = member;
  }
}

/** The groups of a plan in an order that is right. */
class Schedule {
  /** By place; nothing at places that joined groups left. */
  readonly #order: (Group | undefined)[];
  readonly #groups: Group[];

  constructor(plan: Plan) {
    this.#groups = plan.calls.map((_, at) => new Group(at));
    this.#order = [...this.#groups];
    const writer = new Map<number, number>();
    const readers = new Map<number, number[]>();
    let host = -1;
    plan.calls.forEach((call, at) => {
      for (const { value } of call.inputs) {
        this.#edge(writer.get(value), at);
        const list = readers.get(value);
        if (list === undefined) readers.set(value, [at]);
        else list.push(at);
      }
      for (const { value } of call.outputs) {
        this.#edge(writer.get(value), at);
        for (const reader of readers.get(value) ?? []) this.#edge(reader, at);
        writer.set(value, at);
        readers.set(value, []);
      }
      if (callsHost(call)) {
        this.#edge(host, at);
        host = at;
      }
    });
  }

  groupOf(call: number): Group {
    return this.#groups[call];
  }

  /** A call for each group, in order. */
  calls(make: (group: Group) => PlanCall): PlanCall[] {
    return this.#order.filter((group) => group !== undefined).map(make);
  }

  #edge(from: number | undefined, to: number): void {
    if (from === undefined || from < 0 || from === to) return;
    this.#groups[from].after.add(this.#groups[to]);
    this.#groups[to].before.add(this.#groups[from]);
  }

  /**
   * What lies between two groups and must follow the first of them; undefined where it must also precede the second, so that the
   * two cannot be one, or where the search is too long. Groups outside of their places cannot be on a path, as paths lead to later
   * places only.
   */
  between(first: Group, second: Group): ReadonlySet<Group> | undefined {
    const found = new Set<Group>();
    const open = [first];
    for (let group = open.pop(); group !== undefined; group = open.pop()) {
      for (const next of group.after) {
        if (next === second) {
          if (group !== first) return undefined;
        } else if (next.place < second.place && !found.has(next)) {
          if (found.size === MAX_VISITED) return undefined;
          found.add(next);
          open.push(next);
        }
      }
    }
    return found;
  }

  /** Joins two groups at the place of the second; `following` is what `between` found, and goes behind it. */
  join(first: Group, second: Group, following: ReadonlySet<Group>): void {
    const start = first.place;
    const region = this.#order.slice(start + 1, second.place);
    const [before, behind]: [Group[], Group[]] = [[], []];
    for (const group of region) if (group !== undefined) (following.has(group) ? behind : before).push(group);
    const end = second.place;
    this.#order.fill(undefined, start, end + 1);
    [...before, second, ...behind].forEach((group, i) => {
      group.place = start + i;
      this.#order[start + i] = group;
    });

    second.members = [...first.members, ...second.members].sort((a, b) => a - b);
    for (const member of first.members) this.#groups[member] = second;
    for (const group of first.before) {
      group.after.delete(first);
      if (group === second) continue;
      group.after.add(second);
      second.before.add(group);
    }
    for (const group of first.after) {
      group.before.delete(first);
      if (group === second) continue;
      group.before.add(second);
      second.after.add(group);
    }
    second.before.delete(first);
    second.after.delete(first);
  }
}

/** What a call does to each element, if it is one that groups can hold. */
interface Elementwise {
  readonly program: ScalarProgram;
  readonly size: number;
  /** The shape, without axes of size 1, that inputs are repeated over; undefined where none is. */
  readonly shape: readonly number[] | undefined;
}

/** What a group of several calls is. */
interface Fused extends Elementwise {
  readonly call: PlanCall;
}

class Fusion {
  readonly #plan: Plan;
  readonly #uses: Uses;
  readonly #schedule: Schedule;
  readonly #elementwise: readonly (Elementwise | undefined)[];
  readonly #fused = new Map<Group, Fused>();
  /** Members of groups that cannot be one program, the first group's by the second's: each pair is asked for by many of its values. */
  readonly #refused = new Map<readonly number[], Set<readonly number[]>>();

  constructor(plan: Plan, uses: Uses, schedule: Schedule) {
    this.#plan = plan;
    this.#uses = uses;
    this.#schedule = schedule;
    this.#elementwise = plan.calls.map(elementwiseOf);
  }

  /** Merges calls that read in full with those that wrote what they read, where `wanted` says so; says whether any were. */
  mergeAlongValues(wanted: (value: number, first: Group, second: Group) => boolean): boolean {
    let merged = false;
    this.#plan.calls.forEach((call, at) => {
      if (this.#elementwise[at] === undefined) return;
      for (const { value } of call.inputs) {
        for (const writer of this.#uses.writers[value]) {
          if (writer >= at || this.#elementwise[writer] === undefined) continue;
          const [first, second] = [this.#schedule.groupOf(writer), this.#schedule.groupOf(at)];
          if (first !== second && wanted(value, first, second) && this.merge(writer, at)) merged = true;
        }
      }
    });
    return merged;
  }

  /** Merges neighbours that read the same value in full, so that it is read once. */
  mergeReaders(): void {
    for (const [value, all] of this.#uses.readers.entries()) {
      const readers = all.filter((at) => this.#readsInFull(at, value));
      for (let i = 1; i < readers.length; i++) {
        const { place } = this.#schedule.groupOf(readers[i]);
        for (let j = i - 1; j >= Math.max(0, i - NEIGHBOURS); j--) {
          const near = Math.abs(this.#schedule.groupOf(readers[j]).place - place) <= NEAR;
          if (near && this.merge(readers[j], readers[i])) break;
        }
      }
    }
  }

  /** Merges neighbours over tiny tensors that need nothing of each other: to start a call takes longer than it then works. */
  mergeTiny(): void {
    const earlier = new Map<number, number[]>();
    this.#plan.calls.forEach((_, at) => {
      const size = this.#elementwise[at]?.size ?? Number.POSITIVE_INFINITY;
      if (size > TINY) return;
      const others = earlier.get(size) ?? [];
      earlier.set(size, others);
      const { place } = this.#schedule.groupOf(at);
      const near = others.slice(-NEIGHBOURS).reverse();
      near.find(
        (other) =>
          Math.abs(this.#schedule.groupOf(other).place - place) <= NEAR && this.merge(other, at, TINY_INSTRS),
      );
      others.push(at);
    });
  }

  /** Whether nobody else would read a value if the two groups were one. */
  vanishes(value: number, first: Group, second: Group): boolean {
    if (!this.#uses.isTemporary(value)) return false;
    return this.#uses.readers[value].every((reader) => {
      const group = this.#schedule.groupOf(reader);
      return group === first || group === second;
    });
  }

  /**
   * Makes one group of those of two calls, if that is right and good; says whether it did.
   * @param limit how many instructions it may then have, where that is fewer than programs may.
   */
  merge(a: number, b: number, limit?: number): boolean {
    const x = this.#schedule.groupOf(a);
    const y = this.#schedule.groupOf(b);
    const size = this.#elementwise[a]?.size;
    if (x === y || size === undefined || size !== this.#elementwise[b]?.size) return false;
    const [first, second] = x.place < y.place ? [x, y] : [y, x];
    if (this.#refused.get(second.members)?.has(first.members)) return false;
    const members = [...first.members, ...second.members].sort((p, q) => p - q);
    // A copy moves faster than a program, so copies alone are left as they are.
    if (!members.some((member) => isScalarCall(this.#plan.calls[member]))) return false;
    const following = this.#schedule.between(first, second);
    if (following === undefined) return false;
    const call = this.#fuse(first, second, members);
    if (call === undefined || (limit !== undefined && call.program.instrs.length > limit)) {
      const refused = this.#refused.get(second.members);
      if (refused === undefined) this.#refused.set(second.members, new Set([first.members]));
      else refused.add(first.members);
      return false;
    }
    this.#schedule.join(first, second, following);
    this.#fused.set(second, call);
    return true;
  }

  /** Whether a call that groups can hold reads the value element by element. */
  #readsInFull(at: number, value: number): boolean {
    const size = this.#elementwise[at]?.size;
    return this.#plan.calls[at].inputs.some((input) => input.value === value && input.size === size);
  }

  /** The call that does what the group's calls do. */
  call(group: Group): PlanCall {
    return this.#fused.get(group)?.call ?? this.#plan.calls[group.members[0]];
  }

  /** What a group does to each element now. */
  #elementwiseOf(group: Group): Elementwise | undefined {
    return this.#fused.get(group) ?? this.#elementwise[group.members[0]];
  }

  /**
   * One call for two groups, of what they are now: what the first made for itself alone is gone from it. Whatever leads from one group
   * to the other leads from the first to the second, as the two could not be one otherwise.
   */
  #fuse(first: Group, second: Group, members: readonly number[]): Fused | undefined {
    const [x, y] = [this.#elementwiseOf(first), this.#elementwiseOf(second)];
    if (x === undefined || y === undefined) return undefined;
    const { size } = x;
    if (x.shape !== undefined && y.shape !== undefined && !sameShape(x.shape, y.shape)) return undefined;
    const shape = x.shape ?? y.shape;
    // A condition must stay a scalar.
    const common = shape ?? (size === 1 ? [] : [size]);

    const writer = new ProgramWriter();
    const tensors: PlanTensor[] = [];
    const inputs = new Map<string, number>();
    const made = new Map<number, { readonly node: number; readonly tensor: PlanTensor }>();
    const read = (tensor: PlanTensor, dtype: NumericDType, over: readonly number[]): number | undefined => {
      const result = made.get(tensor.value);
      if (result !== undefined) {
        return result.tensor.dtype === tensor.dtype && tensor.size === size ? result.node : undefined;
      }
      const seen = reshaped(tensor, tensor.size === size ? common : squeezed(tensor.shape, over));
      const key = `${seen.value} ${seen.dtype} ${seen.shape}`;
      let node = inputs.get(key);
      if (node === undefined) {
        node = writer.input(dtype);
        tensors.push(seen);
        inputs.set(key, node);
      }
      return node;
    };
    for (const [group, { program }] of [
      [first, x],
      [second, y],
    ] as const) {
      const call = this.call(group);
      const args: number[] = [];
      for (const [i, tensor] of call.inputs.entries()) {
        const node = read(tensor, program.inputs[i], call.outputs[0].shape);
        if (node === undefined) return undefined;
        args.push(node);
      }
      const nodes = writer.inline(program, args);
      for (const [i, tensor] of call.outputs.entries()) {
        if (made.has(tensor.value)) return undefined;
        made.set(tensor.value, { node: nodes[i], tensor });
      }
    }

    const inside = new Set(members);
    const results = [...made.values()].filter(({ tensor: { value } }) => {
      if (!this.#uses.isTemporary(value)) return true;
      return this.#uses.readers[value].some((reader) => !inside.has(reader));
    });
    // Should be gone by then, but a program needs one.
    if (results.length === 0) return undefined;
    const written = writer.finish(results.map(({ node }) => node));
    const kept = written.inputs.map((i) => tensors[i]);
    const outputs = results.map(({ tensor }) => reshaped(tensor, common));
    // An input that the group writes must be read as it is written.
    for (const input of kept) {
      const output = outputs.find(({ value }) => value === input.value);
      if (output !== undefined && (output.dtype !== input.dtype || input.size !== size)) return undefined;
    }
    const several = outputs.length > 1;
    const buffered = kept.map(
      ({ value, size: own }) => own !== size || (several && outputs.some((output) => output.value === value)),
    );
    if (!fitsTile(written.program, buffered)) return undefined;
    const call = {
      kernel: written.program,
      inputs: kept,
      outputs,
      attrs: {},
      name: this.#name(members),
    };
    return { call, program: written.program, size, shape };
  }

  #name(members: readonly number[]): string {
    const names = [...new Set(members.map((member) => this.#plan.calls[member].name))];
    return names.length <= 4 ? names.join('+') : `${names.slice(0, 3).join('+')}+…+${names.at(-1)}`;
  }
}

function elementwiseOf(call: PlanCall): Elementwise | undefined {
  const [output] = call.outputs;
  if (output === undefined || output.size === 0) return undefined;
  const { size } = output;
  if (isScalarCall(call)) {
    const repeats = call.inputs.some((input) => input.size !== size && input.size !== 1);
    return { program: call.kernel, size, shape: repeats ? squeezed(output.shape, output.shape) : undefined };
  }
  if (call.kernel !== 'Copy' || !isNumeric(output.dtype)) return undefined;
  const [input] = call.inputs;
  if (input.size !== size || input.dtype !== output.dtype) return undefined;
  return { program: { inputs: [output.dtype], instrs: [], outputs: [0] }, size, shape: undefined };
}

/** A shape that broadcasts to `over`, without those of its axes where `over` has size 1; leading ones go too. */
function squeezed(shape: readonly number[], over: readonly number[]): readonly number[] {
  const skipped = over.length - shape.length;
  const kept = shape.filter((_, axis) => over[skipped + axis] !== 1);
  const first = kept.findIndex((n) => n !== 1);
  return first < 0 ? [] : kept.slice(first);
}
