// What happens to variables of parameter servers while a function is traced that other processes will run.
import type { Tensor } from '@eagre/core';
import { ambient, type Tracer } from '@eagre/core/internal';
import type { Change } from './parameter-store.ts';

/** A change that a parameter server is to make when the function has run. */
export interface RecordedChange {
  readonly server: number;
  readonly kind: Change['kind'];
  readonly id: number;
  readonly tensors: readonly Tensor[];
}

/** The trace of a function that a worker will run. */
export interface Recording {
  /** Changes are made once, so they cannot stand in the trace of a branch or a loop. */
  readonly tracer: Tracer;
  readonly changes: RecordedChange[];
}

/** Which trace goes on, if any. */
export const recording: {
  /** Of a function for workers. */
  current: Recording | null;
  /** Whether the code is part of an update, which runs where the variables are. */
  inUpdate: boolean;
} = ambient({ current: null as Recording | null, inUpdate: false });
