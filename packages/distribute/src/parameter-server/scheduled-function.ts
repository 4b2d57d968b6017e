// A function as workers run it: traced on the coordinator, with what it changes as further results.
import { Tensor, Variable } from '@eagre/core';
import { context, type Tracer, tree, within } from '@eagre/core/internal';
import {
  type ConcreteFunction,
  functionsRunEagerly,
  type Graph,
  isTracedFunction,
  runFunctionsEagerly,
  savedFunction,
  TensorSpec,
  type TracedFunction,
  tfFunction,
} from '@eagre/graph';
import type { ServerChanges, UsedVariable } from './function-runner.ts';
import type { CaptureSpec } from './functions.ts';
import type { ParameterServers } from './parameter-servers.ts';
import { PerWorkerIterator } from './per-worker.ts';
import { type RecordedChange, type Recording, recording } from './recording.ts';
import type { ServedVariable } from './served-variable.ts';

type AnyFunction = (...args: never[]) => unknown;

/** A trace that workers know by its number. */
export interface Definition {
  readonly id: number;
  readonly graph: Uint8Array;
  readonly captures: readonly CaptureSpec[];
  /** What comes with the function: tensors that it captures. */
  readonly tensors: readonly Tensor[];
  readonly variables: readonly UsedVariable[];
  readonly changes: readonly ServerChanges[];
  /** What it returns, with a spec in the place of each tensor. */
  readonly outputs: unknown;
  readonly results: number;
}

/** There were fewer elements than the function asks for. */
class NeedsElement extends Error {
  readonly iterator: number;
  constructor(iterator: number) {
    super('the function asks for a further element');
    this.iterator = iterator;
  }
}

/** An iterator in the arguments, by its place among all of them. */
class IteratorSlot {
  readonly index: number;
  constructor(index: number) {
    this.index = index;
  }
}

let nextDefinition = 1;

/** The traces of one function. */
export class ScheduledFunction {
  readonly #servers: ParameterServers;
  readonly #traced: TracedFunction<AnyFunction>;
  readonly #known = new WeakMap<Graph, Definition>();
  #changes: readonly RecordedChange[] = [];
  /** How many elements each iterator of the arguments gives in one call. */
  readonly elements: number[] = [];

  constructor(fn: AnyFunction, servers: ParameterServers) {
    this.#servers = servers;
    // Its own trace would hide what it changes.
    const host = isTracedFunction(fn) ? (savedFunction(fn)?.hostFunction ?? fn) : fn;
    const traced = (args: readonly unknown[], elements: readonly (readonly unknown[])[]): unknown => {
      const record: Recording = { tracer: context.tracer as Tracer, changes: [] };
      const places = elements.map(() => 0);
      const take = ({ index }: IteratorSlot): unknown => {
        const place = places[index] as number;
        places[index] = place + 1;
        const list = elements[index] as readonly unknown[];
        if (place >= list.length) throw new NeedsElement(index);
        return list[place];
      };
      const before = functionsRunEagerly();
      runFunctionsEagerly(true);
      try {
        const result = within(recording, { current: record }, () =>
          servers.inScope(() =>
            (host as (...given: unknown[]) => unknown)(...(withIterators(args, take) as unknown[])),
          ),
        );
        // In the order of servers; on each in the order of the program.
        this.#changes = record.changes.toSorted((a, b) => a.server - b.server);
        return [
          tree.mapLeaves(result, 'schedule', (leaf) => (leaf instanceof Variable ? leaf.read() : leaf)),
          this.#changes.flatMap(({ tensors }) => tensors),
        ];
      } finally {
        runFunctionsEagerly(before);
      }
    };
    this.#traced = tfFunction(traced as AnyFunction, { name: fn.name || 'scheduled' }) as never;
  }

  /**
   * The trace for arguments like these. Iterators of workers stand among them; `take` gives their elements, of which the function may need
   * several.
   */
  async definition(
    args: readonly unknown[],
    take: (iterator: PerWorkerIterator) => Promise<unknown>,
  ): Promise<{ readonly definition: Definition; readonly inputs: readonly unknown[] }> {
    const iterators: PerWorkerIterator[] = [];
    const slotted = tree.mapLeaves(args, 'schedule', (leaf) => {
      if (!(leaf instanceof PerWorkerIterator)) return leaf;
      iterators.push(leaf);
      return new IteratorSlot(iterators.length - 1);
    }) as readonly unknown[];
    const plain = tree.mapLeaves(slotted, 'schedule', (leaf) =>
      leaf instanceof IteratorSlot ? `iterator:${leaf.index}` : leaf,
    );
    const elements: unknown[][] = iterators.map(() => []);
    for (;;) {
      for (const [i, list] of elements.entries())
        while (list.length < (this.elements[i] ?? 1))
          list.push(await take(iterators[i] as PerWorkerIterator));
      try {
        const concrete = this.#traced.getConcreteFunction(...([plain, elements] as never[]));
        return { definition: this.#define(concrete), inputs: [plain, elements] };
      } catch (error) {
        if (!(error instanceof NeedsElement)) throw error;
        this.elements[error.iterator] = (this.elements[error.iterator] ?? 1) + 1;
      }
    }
  }

  #define(concrete: ConcreteFunction): Definition {
    const { graph, structuredOutputs } = concrete.saved;
    const known = this.#known.get(graph);
    if (known !== undefined) return known;
    const portable = this.#servers.link.portable.writePortable(concrete);
    const used: ServedVariable[] = [];
    const { specs, tensors } = this.#servers.captureSpecs(portable.captures, (variable) => {
      used.push(variable);
      return { variable: variable.served };
    });
    const [outputs] = structuredOutputs as readonly [unknown];
    const isSpec = (leaf: unknown): boolean => leaf instanceof TensorSpec;
    const definition: Definition = {
      id: nextDefinition++,
      graph: portable.graph,
      captures: specs,
      tensors,
      variables: used.map(({ served, server, dtype, shape }) => ({ id: served, server, dtype, shape })),
      changes: byServer(this.#changes),
      outputs,
      results: tree.leavesOf(outputs, 'schedule').filter(isSpec).length,
    };
    this.#known.set(graph, definition);
    return definition;
  }
}

/** Slots as what the function calls `next` of: `take` gives their elements. */
function withIterators(args: unknown, take: (slot: IteratorSlot) => unknown): unknown {
  return tree.mapLeaves(args, 'schedule', (leaf) => {
    const index = typeof leaf === 'string' ? /^iterator:(\d+)$/.exec(leaf)?.[1] : undefined;
    if (index === undefined) return leaf;
    const slot = new IteratorSlot(Number(index));
    const getNext = (): unknown => take(slot);
    return {
      getNext,
      next: () => ({ done: false, value: getNext() }),
      [Symbol.iterator]() {
        return this;
      },
    };
  });
}

function byServer(changes: readonly RecordedChange[]): readonly ServerChanges[] {
  const servers = [...new Set(changes.map(({ server }) => server))];
  return servers.map((server) => ({
    server,
    changes: changes
      .filter((change) => change.server === server)
      .map(({ kind, id, tensors }) => ({ kind, id, count: tensors.length })),
  }));
}

/** The tensors of arguments, in the order in which the function takes them. */
export function tensorsIn(inputs: readonly unknown[]): readonly Tensor[] {
  return tree.leavesOf(inputs, 'schedule').filter((leaf): leaf is Tensor => leaf instanceof Tensor);
}

/** What a function returned, from its tensors. */
export function resultOf({ outputs }: Definition, tensors: readonly Tensor[]): unknown {
  let next = 0;
  return tree.mapLeaves(outputs, 'schedule', (leaf) => (leaf instanceof TensorSpec ? tensors[next++] : leaf));
}
