import type * as Eagre from 'eagre';
import type { Case } from './protocol.ts';

/** What a figure has to reach. */
export type Target =
  /** Of the machine's peak, by number of threads. */
  | { readonly kind: 'limit'; readonly fractions: Readonly<Record<number, number>> }
  /** Times as fast as a peer, both at their better number of threads. */
  | { readonly kind: 'ratio'; readonly peer: string; readonly atLeast: number }
  /** Times as fast as another workload of the same run, both at their better number of threads. */
  | { readonly kind: 'against'; readonly workload: string; readonly atLeast: number }
  /** Times as fast with the most threads as with one. */
  | { readonly kind: 'scaling'; readonly atLeast: number }
  | { readonly kind: 'atMost'; readonly value: number };

interface Common {
  readonly name: string;
  /** What is measured, for people. */
  readonly title: string;
  readonly targets: readonly Target[];
}

/** Something that is done again and again, in every library that has it. */
export interface TimedWorkload extends Common {
  readonly kind: 'timed';
  /** Of one iteration. */
  readonly flops?: number;
  readonly bytes?: number;
  /** The limit of the machine that it is held against. */
  readonly limit?: 'fma' | 'add' | 'read' | 'copy';
  /** Makes the inputs, and says how to do the work, perhaps in several ways; the peers implement the workload under the same name. */
  eagre(tf: typeof Eagre): Case | readonly Case[];
}

/**
 * Something that takes a fresh process each time: probes/<probe>.mjs prints a line of JSON with `value` and, where it has measured what the machine
 * can do at most, `limit` in bytes per second.
 */
export interface ProbeWorkload extends Common {
  readonly kind: 'probe';
  readonly unit: 's' | 'MB' | '×';
  readonly probe: string;
  readonly args?: readonly string[];
  readonly runs: number;
  /** What is moved in the seconds that are told. */
  readonly bytes?: number;
  /** The programs of peers that print the same: arguments of Python, by peer. */
  readonly python?: Readonly<Record<string, readonly string[]>>;
}

export type Workload = TimedWorkload | ProbeWorkload;

/** At least that many times as fast as the peer. */
export function ratio(peer: string, atLeast: number): Target {
  return { kind: 'ratio', peer, atLeast };
}

/** At least that many times as fast as another workload. */
export function against(workload: string, atLeast: number): Target {
  return { kind: 'against', workload, atLeast };
}

/**
 * What every timed workload has to reach besides: times as fast as PyTorch, and as the WebAssembly of TensorFlow.js; and more
 * threads must not make it slower.
 */
export function usualTargets(torch: number, wasm = 3): readonly Target[] {
  return [ratio('torch', torch), ratio('tfjs-wasm', wasm), { kind: 'scaling', atLeast: 0.95 }];
}

/** What titles say of those whose peers run as graphs too, where they can. */
export function inFunction(traced: boolean): string {
  return traced ? ' in tf.function' : '';
}

/** Those of a training step. */
export function stepTargets(torch: number): readonly Target[] {
  return [...usualTargets(torch), ratio('tensorflow', 8)];
}
