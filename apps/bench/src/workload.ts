import type * as Eagre from 'eagre';
import type { Case } from './protocol.ts';

/** What a figure has to reach. */
export type Target =
  /** Of the machine's peak, by number of threads. */
  | { readonly kind: 'limit'; readonly fractions: Readonly<Record<number, number>> }
  /** Times as fast as a peer, both at their better number of threads. */
  | { readonly kind: 'ratio'; readonly peer: string; readonly atLeast: number }
  | { readonly kind: 'atMost'; readonly value: number };

interface Common {
  readonly name: string;
  /** What is measured, for people. */
  readonly title: string;
  readonly target?: Target;
}

/** Something that is done again and again, in every library that has it. */
export interface TimedWorkload extends Common {
  readonly kind: 'timed';
  /** Of one iteration. */
  readonly flops?: number;
  readonly bytes?: number;
  /** The limit of the machine that it is held against. */
  readonly limit?: 'fma' | 'add' | 'read' | 'copy';
  /** Makes the inputs; the peers implement the workload under the same name. */
  eagre(tf: typeof Eagre): Case;
}

/** Something that takes a fresh process each time: probes/<probe>.mjs prints a line of JSON with `value`. */
export interface ProbeWorkload extends Common {
  readonly kind: 'probe';
  readonly unit: 's' | 'MB' | '×';
  readonly probe: string;
  readonly runs: number;
  /** Python modules to import instead, by peer. */
  readonly pythonImports?: Readonly<Record<string, string>>;
}

export type Workload = TimedWorkload | ProbeWorkload;
