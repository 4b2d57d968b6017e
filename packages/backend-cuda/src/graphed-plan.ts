import type { Executable, Plan, Storage } from '@eagre/backend';
import { PlanGraphs } from './plan-graphs.ts';
import type { Stream } from './stream.ts';

/** Whether a run of the plan is the same calls each time: no branch, no loop and no code of the host is in it. */
export function isStraight({ calls }: Plan): boolean {
  return calls.every(
    ({ kernel, bodies }) =>
      bodies === undefined && kernel !== 'Host' && kernel !== 'Push' && kernel !== 'Pop',
  );
}

/** A straight plan whose launches are replayed as graphs. */
export class GraphedPlan implements Executable {
  readonly arenaBytes: number;
  readonly #plan: Executable;
  readonly #stream: Stream;
  readonly #graphs: PlanGraphs;

  constructor(plan: Executable, stream: Stream) {
    this.arenaBytes = plan.arenaBytes;
    this.#plan = plan;
    this.#stream = stream;
    this.#graphs = new PlanGraphs(stream.device);
    stream.graphsOf(this, this.#graphs.numbers);
  }

  run(inputs: readonly Storage[], outputs: readonly Storage[], times?: Float64Array): void {
    // Who asks for times wants those of the calls.
    if (times !== undefined) this.#plan.run(inputs, outputs, times);
    else this.#stream.collect(this.#graphs, () => this.#plan.run(inputs, outputs));
  }

  runAsync(inputs: readonly Storage[], outputs: readonly Storage[], signal?: AbortSignal): Promise<void> {
    // Other launches come between its own.
    return this.#plan.runAsync(inputs, outputs, signal);
  }

  dispose(): void {
    this.#plan.dispose();
    this.#stream.dropGraphs(this, this.#graphs.numbers);
  }
}
