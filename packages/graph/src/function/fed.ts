// Random draws that a run is given: the host makes them before it starts.
import {
  type Backend,
  type Executable,
  type Plan,
  placement,
  type Storage,
  throwIfAborted,
  useInterpreter,
} from '@eagre/backend';
import { deviceName, drawWords, writeDraw } from '@eagre/core/internal';
import type { Feed } from '../lowering/lower-ops.ts';

/** Makes a plan ready whose last inputs are `feeds`; runs are given the others. */
export function prepareFed(backend: Backend, plan: Plan, feeds: readonly Feed[]): Executable {
  if (placement.logs) logPlacement(backend, plan);
  useInterpreter();
  const executable = backend.prepare(plan);
  return feeds.length === 0 ? executable : new FedExecutable(backend, executable, feeds);
}

/** Tells on which device the calls of a plan run, and those of its branches and loops. */
function logPlacement(backend: Backend, { calls }: Plan): void {
  for (const { name, kernel, own, bodies = [] } of calls) {
    const what = own?.title ?? (typeof kernel === 'string' ? kernel : 'an elementwise function');
    console.info(`${name}: (${what}): ${deviceName(backend)}`);
    for (const body of bodies) logPlacement(backend, body);
  }
}

class FedExecutable implements Executable {
  readonly arenaBytes: number;
  readonly #executable: Executable;
  readonly #feeds: readonly Feed[];
  /** For each feed; a run has the executable for itself. */
  readonly #memory: readonly Storage[];
  readonly #words: readonly Uint32Array<ArrayBuffer>[];

  constructor({ allocator }: Backend, executable: Executable, feeds: readonly Feed[]) {
    this.arenaBytes = executable.arenaBytes;
    this.#executable = executable;
    this.#feeds = feeds;
    this.#memory = feeds.map(() => allocator.allocateAlone(16));
    this.#words = this.#memory.map(drawWords);
  }

  run(inputs: readonly Storage[], outputs: readonly Storage[], times?: Float64Array): void {
    this.#executable.run(this.#fed(inputs), outputs, times);
  }

  async runAsync(
    inputs: readonly Storage[],
    outputs: readonly Storage[],
    signal?: AbortSignal,
  ): Promise<void> {
    // A run that never starts draws nothing.
    throwIfAborted(signal);
    await this.#executable.runAsync(this.#fed(inputs), outputs, signal);
  }

  dispose(): void {
    this.#executable.dispose();
    for (const memory of this.#memory) memory.release();
  }

  #fed(inputs: readonly Storage[]): readonly Storage[] {
    const feeds = this.#feeds;
    for (let i = 0; i < feeds.length; i++) {
      const { source, draws } = feeds[i];
      writeDraw(source.take(draws), this.#memory[i], this.#words[i]);
    }
    return inputs.concat(this.#memory);
  }
}
