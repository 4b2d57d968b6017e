// The control flow of TensorFlow 1 as branches and loops: Switch and Merge, and the frames of Enter, NextIteration and Exit.
import { Tensor, UnimplementedError } from '@eagre/core';
import type { tensorflow } from '@eagre/formats';
import { cond } from '@eagre/graph';
import type { Body, Macro, Ref } from './body.ts';
import { branch, loop, truth } from './branches.ts';
import type { OpCall } from './op-call.ts';
import type { Runtime } from './runtime.ts';
import type { Value } from './values.ts';

type NodeDef = tensorflow.NodeDef;

const without = (op: string): string => op.replace(/^Ref/, '');
const isOp = (def: NodeDef | undefined, op: string): boolean => without(def?.op ?? '') === op;
const dataOf = (def: NodeDef): readonly string[] =>
  (def.input ?? []).filter((input) => !input.startsWith('^'));

/** The body with branches and loops in the place of switches and frames. @throws UnimplementedError where they make no such form. */
export function functionalized(body: Body): Body {
  return body.defs.some((def) => isOp(def, 'Merge')) ? new Functionalizer(body).run() : body;
}

/** One variable of a loop. */
interface LoopVariable {
  readonly enter: number;
  readonly merge: number;
  /** What it is at the start. */
  readonly initial: string;
  /** What it becomes. */
  readonly next: Ref;
  readonly switches: number[];
}

interface Frame {
  readonly name: string;
  readonly variables: LoopVariable[];
  /** Values that are the same in each turn. */
  readonly constants: { readonly enter: number; readonly input: string }[];
  condition: Ref | undefined;
}

/** Which branches a node is in: the output of the switch by what decides it. */
type Branches = ReadonlyMap<string, 0 | 1>;
const OUTSIDE: Branches = new Map();

class Functionalizer {
  readonly #body: Body;
  readonly #defs: NodeDef[];
  readonly #frames = new Map<string, Frame>();
  /** The loop that a Merge is of. */
  readonly #loopMerges = new Map<number, Frame>();
  readonly #branches = new Map<number, Branches>();
  readonly #macros = new Map<string, Macro>();

  constructor(body: Body) {
    this.#body = body;
    this.#defs = [...body.defs];
  }

  run(): Body {
    this.#findFrames();
    for (const frame of this.#frames.values()) this.#replaceFrame(frame);
    this.#replaceBranches();
    return this.#body.with(this.#defs, this.#macros);
  }

  #fail(id: number, why: string): UnimplementedError {
    return new UnimplementedError(
      `node '${this.#body.defs[id]?.name}' (${this.#body.defs[id]?.op}): ${why}, so this control flow of TensorFlow 1 is not understood`,
    );
  }

  #def(id: number): NodeDef {
    return this.#body.defs[id] as NodeDef;
  }
  #inputs(id: number): readonly Ref[] {
    return this.#body.node(id).inputs;
  }

  // ---- loops

  #frame(name: string): Frame {
    let frame = this.#frames.get(name);
    if (frame === undefined)
      this.#frames.set(name, (frame = { name, variables: [], constants: [], condition: undefined }));
    return frame;
  }

  #findFrames(): void {
    const { defs } = this.#body;
    const nameOf = (def: NodeDef): string => new TextDecoder().decode(def.attr?.get('frame_name')?.s);
    for (const [id, def] of defs.entries()) {
      if (isOp(def, 'Enter') && def.attr?.get('is_constant')?.b === true)
        this.#frame(nameOf(def)).constants.push({ enter: id, input: dataOf(def)[0] ?? '' });
      if (!isOp(def, 'Merge')) continue;
      const inputs = this.#inputs(id);
      const next = inputs.find((ref) => isOp(defs[ref.node], 'NextIteration'));
      const enter = inputs.find((ref) => isOp(defs[ref.node], 'Enter'));
      if (next === undefined) continue;
      if (enter === undefined) throw this.#fail(id, 'it has no Enter');
      const frame = this.#frame(nameOf(this.#def(enter.node)));
      const becomes = this.#inputs(next.node)[0];
      if (becomes === undefined) throw this.#fail(next.node, 'it has no input');
      const initial = dataOf(this.#def(enter.node))[0] ?? '';
      frame.variables.push({ enter: enter.node, merge: id, initial, next: becomes, switches: [] });
      this.#loopMerges.set(id, frame);
    }
    for (const [id, def] of defs.entries()) {
      if (!isOp(def, 'Switch')) continue;
      const [data, decides] = this.#inputs(id);
      const frame = this.#loopMerges.get(data?.node ?? -1);
      if (frame === undefined || !isOp(defs[decides?.node ?? -1], 'LoopCond')) continue;
      frame.condition = decides;
      frame.variables.find((v) => v.merge === data?.node)?.switches.push(id);
    }
  }

  #replaceFrame(frame: Frame): void {
    const { name, variables, constants, condition } = frame;
    // An Enter that nothing goes around with.
    if (variables.length === 0) return;
    const [first] = variables as [LoopVariable];
    if (condition === undefined) throw this.#fail(first.merge, 'its loop has no condition');
    const macro = `${name}/_While`;
    this.#defs.push({
      name: macro,
      op: '_While',
      input: [...variables.map((v) => v.initial), ...constants.map((c) => c.input)],
    });
    const fed = (values: readonly Value[], constant: readonly Value[]): Map<number, readonly Value[]> => {
      const all = new Map<number, readonly Value[]>();
      variables.forEach(({ merge, switches }, i) => {
        const value = values[i] as Value;
        all.set(merge, [value]);
        for (const id of switches) all.set(id, [value, value]);
      });
      constants.forEach(({ enter }, i) => {
        all.set(enter, [constant[i] as Value]);
      });
      return all;
    };
    const nexts = variables.map((v) => v.next);
    const given = [...variables.flatMap((v) => [v.merge, ...v.switches]), ...constants.map((c) => c.enter)];
    this.#macros.set(macro, {
      parts: [
        { outputs: [condition], fed: given },
        { outputs: nexts, fed: given },
      ],
      run: (c: OpCall, runtime: Runtime, body: Body) => {
        const initial = c.inputs.slice(0, variables.length);
        const constant = c.inputs.slice(variables.length);
        return loop(
          c,
          initial,
          (values) => runtime.run(body, fed(values, constant), [condition])[0] as Tensor,
          (values) => runtime.run(body, fed(values, constant), nexts),
          initial.map((value) => (value instanceof Tensor ? value.shape.map(() => null) : null)),
        );
      },
    });
    for (const [id, def] of this.#body.defs.entries()) {
      if (!isOp(def, 'Exit')) continue;
      const from = this.#inputs(id)[0]?.node ?? -1;
      const place = variables.findIndex((v) => v.switches.includes(from));
      if (place >= 0) this.#defs[id] = { ...def, op: 'Identity', input: [this.#output(macro, place)] };
    }
  }

  #output(macro: string, place: number): string {
    return this.#body.isFunction ? `${macro}:output:${place}` : `${macro}:${place}`;
  }

  // ---- branches

  #replaceBranches(): void {
    const groups = new Map<string, number[]>();
    const deciding = new Map<string, ReadonlySet<string>>();
    for (const [id, def] of this.#body.defs.entries()) {
      if (!isOp(def, 'Merge') || this.#loopMerges.has(id)) continue;
      const keys = this.#decides(id);
      const group = [...keys].sort().join(' ');
      deciding.set(group, keys);
      const merges = groups.get(group);
      if (merges === undefined) groups.set(group, [id]);
      else merges.push(id);
    }
    for (const [group, merges] of groups)
      this.#replaceBranch(merges, deciding.get(group) as ReadonlySet<string>);
  }

  /** What decides between the inputs of a Merge. */
  #decides(id: number): ReadonlySet<string> {
    const inputs = this.#inputs(id);
    const [a, b] = inputs;
    if (inputs.length !== 2 || a === undefined || b === undefined)
      throw this.#fail(id, 'it has not two inputs');
    const [first, second] = [this.#branchesOf(a), this.#branchesOf(b)];
    const keys = [...first].flatMap(([key, side]) =>
      second.has(key) && second.get(key) !== side ? [key] : [],
    );
    if (keys.length === 0) throw this.#fail(id, 'nothing decides between its inputs');
    return new Set(keys);
  }

  /** The branches that a value is in: those of the node, and, of a switch, its own. */
  #branchesOf({ node, output }: Ref): Branches {
    const own = this.#branchesOfNode(node);
    const def = this.#def(node);
    if (!isOp(def, 'Switch') || this.#isOfLoop(node)) return own;
    return new Map([...own, [dataOf(def)[1] ?? '', output === 0 ? 0 : 1]]);
  }

  #isOfLoop(id: number): boolean {
    return this.#loopMerges.has(this.#inputs(id)[0]?.node ?? -1);
  }

  #branchesOfNode(wanted: number): Branches {
    const stack = [wanted];
    const open = new Set<number>();
    // A list and no recursion: graphs may be deeper than the stack.
    while (stack.length > 0) {
      const id = stack.at(-1) as number;
      if (this.#branches.has(id)) {
        stack.pop();
        continue;
      }
      const needs = this.#needs(id);
      const missing = needs.filter((ref) => !this.#branches.has(ref.node) && !open.has(ref.node));
      if (missing.length > 0 && !open.has(id)) {
        open.add(id);
        stack.push(...missing.map((ref) => ref.node));
        continue;
      }
      stack.pop();
      this.#branches.set(id, this.#joined(id, needs));
    }
    return this.#branches.get(wanted) as Branches;
  }

  /** What a node comes after, but for what comes around in a loop. */
  #needs(id: number): readonly Ref[] {
    const { inputs, control } = this.#body.node(id);
    const around = this.#loopMerges.has(id)
      ? inputs.filter((ref) => !isOp(this.#def(ref.node), 'NextIteration'))
      : inputs;
    return [...around, ...control.map((node) => ({ node, output: 0 }))];
  }

  #joined(id: number, needs: readonly Ref[]): Branches {
    if (isOp(this.#def(id), 'Merge') && !this.#loopMerges.has(id)) {
      const [first, second] = this.#inputs(id).map((ref) => this.#known(ref));
      // Behind a Merge the branches are one again.
      return new Map([...(first ?? OUTSIDE)].filter(([key, side]) => second?.get(key) === side));
    }
    const all = needs.map((ref) => this.#known(ref)).filter((branches) => branches.size > 0);
    const [only = OUTSIDE] = all;
    return all.every((branches) => branches === only)
      ? only
      : new Map(all.flatMap((branches) => [...branches]));
  }
  #known(ref: Ref): Branches {
    return this.#branches.has(ref.node) ? this.#branchesOf(ref) : OUTSIDE;
  }

  #replaceBranch(merges: readonly number[], keys: ReadonlySet<string>): void {
    const before = this.#valuesBefore(merges, keys);
    const [first] = merges as [number];
    const [key] = [...keys] as [string];
    const name = `${this.#def(first).name}/_If`;
    this.#defs.push({
      name,
      op: '_If',
      input: [
        key,
        ...before.values.map((v) => v.input),
        ...before.control.map((id) => `^${this.#def(id).name}`),
      ],
    });
    const given = [
      ...new Set([...before.values.flatMap((v) => v.to.map((ref) => ref.node)), ...before.control]),
    ];
    // The inputs for false and for true.
    const sides = ([0, 1] as const).map((side) =>
      merges.map((id) => {
        const found = this.#inputs(id).find((ref) => this.#branchesOf(ref).get(key) === side);
        if (found === undefined) throw this.#fail(id, 'one of its branches has no value');
        return found;
      }),
    );
    const [no, yes] = sides as [Ref[], Ref[]];
    this.#macros.set(name, {
      parts: sides.map((outputs) => ({ outputs, fed: given })),
      run: (c: OpCall, runtime: Runtime, body: Body) => {
        const fed = new Map<number, (Value | undefined)[]>(given.map((id) => [id, []]));
        before.values.forEach(({ to }, i) => {
          for (const { node, output } of to) (fed.get(node) as Value[])[output] = c.inputs[i + 1] as Value;
        });
        const run = (outputs: readonly Ref[]) => (): readonly Value[] => runtime.run(body, fed, outputs);
        return branch(c, [run(yes), run(no)], ([then, otherwise]) =>
          cond(truth(c.x(0)) as Tensor, then as never, otherwise as never),
        );
      },
    });
    merges.forEach((id, place) => {
      const def = this.#def(id);
      this.#defs[id] = { ...def, op: 'Identity', input: [this.#output(name, place)] };
    });
  }

  /** What the branches use from outside: through switches, and directly. */
  #valuesBefore(
    merges: readonly number[],
    keys: ReadonlySet<string>,
  ): {
    readonly values: readonly { readonly input: string; readonly to: readonly Ref[] }[];
    readonly control: readonly number[];
  } {
    const values = new Map<string, { readonly input: string; readonly to: readonly Ref[] }>();
    const control = new Set<number>();
    const seen = new Set<number>();
    const isInside = (id: number): boolean =>
      merges.includes(id) || [...this.#branchesOfNode(id).keys()].some((key) => keys.has(key));
    const waiting: number[] = [];
    const reach = (id: number, ref: Ref | null, input: string): void => {
      const def = this.#def(id);
      const switched = isOp(def, 'Switch') && !this.#isOfLoop(id);
      if (switched && !(isInside(id) && !keys.has(dataOf(def)[1] ?? ''))) {
        const both = [0, 1].map((output) => ({ node: id, output }));
        values.set(`switch ${id}`, { input: dataOf(def)[0] ?? '', to: both });
      } else if (isInside(id)) waiting.push(id);
      else if (ref === null) control.add(id);
      else values.set(`${id}:${ref.output}`, { input, to: [ref] });
    };
    waiting.push(...merges);
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      const node = this.#body.node(id);
      const frame = this.#loopMerges.get(id);
      // Whatever a loop uses comes in where it is entered.
      if (frame !== undefined)
        waiting.push(...frame.variables.map((v) => v.enter), ...frame.constants.map((c) => c.enter));
      const inputs = dataOf(node.def);
      for (const [i, ref] of node.inputs.entries())
        if (!isOp(this.#def(ref.node), 'NextIteration')) reach(ref.node, ref, inputs[i] as string);
      for (const other of node.control) reach(other, null, '');
    }
    return { values: [...values.values()], control: [...control] };
  }
}
