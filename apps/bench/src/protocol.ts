// What the driver and its peers say to each other: lines of JSON. peers/serve.py has the same in Python.
import type { Summary } from './statistics.ts';

export interface Request {
  /** Build the inputs and warm up; time it; forget it. */
  readonly phase: 'prepare' | 'measure' | 'release';
  readonly workload: string;
  readonly seconds: number;
}

/** A peer's first line. */
export type Hello =
  | { readonly ready: true; readonly version: string; readonly notes?: readonly string[] }
  | { readonly ready?: undefined; readonly absent: string };

export interface Prepared {
  /** The way that was fastest in this library, where several were tried. */
  readonly variant: string;
  /** A number computed from the result, which all libraries must agree on. */
  readonly check: number | null;
}

export interface Measured extends Summary {
  /** Seconds per iteration. */
  readonly samples: readonly number[];
}

/** Instead of an answer. */
export interface Failed {
  /** The peer does not have this workload. */
  readonly unsupported?: true;
  readonly error?: string;
}

/** One way to do a workload. */
export interface Case {
  /** The work, `iterations` times. */
  run(): unknown;
  readonly iterations?: number;
  readonly variant?: string;
  check?(): number;
}
