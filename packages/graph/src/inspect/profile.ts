import {
  dtypeTraits,
  type Executable,
  FailedPreconditionError,
  InvalidArgumentError,
  type Plan,
  type PlanTensor,
  type ScalarProgram,
} from '@eagre/backend';
import { Tensor } from '@eagre/core';
import { checkOptionNames, context, sameShape, shown, showShape, withoutTapes } from '@eagre/core/internal';
import type { Graph } from '../ir/graph.ts';

/** How `ConcreteFunction.profile` measures. */
export interface ProfileOptions {
  /** How often the function is run, after one run that does not count; 10 by default. */
  readonly runs?: number;
}

/** The calls of one kernel for one node of the graph, or for several that were fused. */
export interface ProfileRow {
  /** The names of the nodes, joined by `+`. */
  readonly name: string;
  /** The kernel; `Elementwise (3 steps)` for a scalar program of several instructions. */
  readonly kernel: string;
  /** How often it is called in one run. */
  readonly calls: number;
  /** What its calls take in one run, on average. */
  readonly seconds: number;
  /** The sizes of the tensors that its calls read and write in one run. */
  readonly bytes: number;
}

/** Where the time of a function goes. */
export class Profile {
  /** The costly ones first. */
  readonly rows: readonly ProfileRow[];
  /** How many runs were measured. */
  readonly runs: number;
  /** What all calls take in one run, on average. */
  readonly seconds: number;
  /** Memory that the plan keeps for values that are neither arguments, results nor variables. */
  readonly arenaBytes: number;

  constructor(rows: readonly ProfileRow[], runs: number, arenaBytes: number) {
    this.rows = rows;
    this.runs = runs;
    this.seconds = rows.reduce((sum, row) => sum + row.seconds, 0);
    this.arenaBytes = arenaBytes;
  }

  /** A table: microseconds and share of a run, calls, gigabytes read and written per second, kernel, name. */
  toString(): string {
    const table = [
      ['µs', '%', 'calls', 'GB/s', 'kernel', 'name'],
      ...this.rows.map(({ name, kernel, calls, seconds, bytes }) => [
        (seconds * 1e6).toFixed(2),
        ((seconds / (this.seconds || 1)) * 100).toFixed(1),
        String(calls),
        seconds > 0 ? (bytes / seconds / 1e9).toFixed(2) : '-',
        kernel,
        name,
      ]),
    ];
    const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
    const lines = table.map((row) =>
      row
        .map((cell, column) => (column < 4 ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
        .join('  ')
        .trimEnd(),
    );
    const total = (this.seconds * 1e6).toFixed(2);
    const calls = this.rows.reduce((sum, row) => sum + row.calls, 0);
    return [
      ...lines,
      `${total} µs in ${calls} calls, mean of ${this.runs} runs; arena of ${this.arenaBytes} bytes`,
    ].join('\n');
  }
}

/** A plan and what runs it. */
export interface Runnable {
  readonly plan: Plan;
  readonly executable: Pick<Executable, 'arenaBytes'>;
}

/**
 * Runs a function with a clock. Variables are afterwards what they were before; random numbers have been drawn.
 * @param args the options, if given, then a tensor for each argument of the graph.
 * @param prepare asked once it is certain that the arguments fit.
 * @param run one run, which fills in the seconds of each of the plan's calls.
 * @throws InvalidArgumentError for tensors or options that do not fit; FailedPreconditionError while a function is traced.
 */
export function profileGraph(
  graph: Graph,
  args: readonly (Tensor | ProfileOptions | undefined)[],
  prepare: () => Runnable,
  run: (inputs: readonly Tensor[], times: Float64Array) => readonly Tensor[],
): Profile {
  const [first] = args;
  const options = first === undefined || first instanceof Tensor ? {} : first;
  const inputs = checkInputs(graph, options === first ? args.slice(1) : args);
  const runs = checkRuns(options);
  const { plan, executable } = prepare();
  const times = new Float64Array(plan.calls.length);
  const sums = new Float64Array(plan.calls.length);
  const once = (): void => {
    for (const result of new Set(run(inputs, times))) result.dispose();
  };
  keepingVariables(graph, () => {
    // Caches and memory are warm from then on.
    once();
    for (let i = 0; i < runs; i++) {
      once();
      for (let at = 0; at < sums.length; at++) sums[at] += times[at];
    }
  });
  return new Profile(
    rowsOf(
      plan,
      sums.map((sum) => sum / runs),
    ),
    runs,
    executable.arenaBytes,
  );
}

function rowsOf(plan: Plan, seconds: Float64Array): ProfileRow[] {
  const rows = new Map<string, { -readonly [K in keyof ProfileRow]: ProfileRow[K] }>();
  plan.calls.forEach(({ name, kernel: called, inputs, outputs }, at) => {
    const kernel = typeof called === 'string' ? called : showProgram(called);
    const key = `${kernel} ${name}`;
    let row = rows.get(key);
    if (row === undefined) rows.set(key, (row = { name, kernel, calls: 0, seconds: 0, bytes: 0 }));
    row.calls++;
    row.seconds += seconds[at];
    row.bytes += bytesOf(inputs) + bytesOf(outputs);
  });
  return [...rows.values()].sort((a, b) => b.seconds - a.seconds);
}

function showProgram({ instrs }: ScalarProgram): string {
  const steps = instrs.filter(({ op }) => op !== 'const').length;
  return steps < 2 ? 'Elementwise' : `Elementwise (${steps} steps)`;
}

function bytesOf(tensors: readonly PlanTensor[]): number {
  return tensors.reduce((sum, { dtype, size }) => sum + size * dtypeTraits[dtype].bytes, 0);
}

function checkRuns(options: ProfileOptions): number {
  checkOptionNames(options, { runs: true }, 'profile');
  const { runs = 10 } = options;
  if (!Number.isInteger(runs) || runs < 1)
    throw new InvalidArgumentError(`runs is ${shown(runs)}, expected an integer of at least 1`, 'profile');
  return runs;
}

function checkInputs(
  graph: Graph,
  inputs: readonly (Tensor | ProfileOptions | undefined)[],
): readonly Tensor[] {
  if (context.tracer !== null)
    throw new FailedPreconditionError('there are no values to run on while tf.function traces', 'profile');
  if (inputs.length !== graph.arguments.length) {
    throw new InvalidArgumentError(
      `got ${inputs.length} tensors, expected ${graph.arguments.length} for the arguments of '${graph.name}'`,
      'profile',
    );
  }
  return graph.arguments.map(({ dtype, shape, node }, i) => {
    const given = inputs[i];
    if (!(given instanceof Tensor))
      throw new InvalidArgumentError(`${node.name} is not a tensor; options come first`, 'profile');
    if (given.dtype !== dtype || !sameShape(given.shape, shape)) {
      throw new InvalidArgumentError(
        `${node.name} is ${given.dtype} ${showShape(given.shape)}, expected ${dtype} ${showShape(shape)}`,
        'profile',
      );
    }
    return given;
  });
}

/** Runs `fn`, then puts back what the variables that a graph writes were before. */
function keepingVariables(graph: Graph, fn: () => void): void {
  const variables = graph.assignments.map(({ variable }) => variable);
  const before = withoutTapes(() => variables.map((variable) => variable.read()));
  try {
    fn();
  } finally {
    variables.forEach((variable, i) => {
      variable.assign(before[i]);
      before[i].dispose();
    });
  }
}
