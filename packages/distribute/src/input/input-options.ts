import { InvalidArgumentError } from '@eagre/backend';
import { argumentsOf, checkOneOf, shown, takesArguments } from '@eagre/core/internal';
import { checkFrom } from './input-context.ts';

/** How often the function of `distributeDatasetsFromFunction` is called: once in each process, or once for each replica. */
export const InputReplicationMode = { PER_WORKER: 'PER_WORKER', PER_REPLICA: 'PER_REPLICA' } as const;
export type InputReplicationMode = keyof typeof InputReplicationMode;

/** Options of `InputOptions`. */
export interface InputArguments {
  /** Whether elements are copied to the device of the replica that gets them; true by default. */
  readonly experimentalFetchToDevice?: boolean | null;
  /** Whom a dataset is for: `'PER_WORKER'`, a process, by default; `'PER_REPLICA'` is for `distributeDatasetsFromFunction`. */
  readonly experimentalReplicationMode?: InputReplicationMode;
  /** Whether datasets run on the replicas' devices; only with `'PER_REPLICA'`, and without `experimentalFetchToDevice`. False by default. */
  readonly experimentalPlaceDatasetOnDevice?: boolean;
  /** How many elements are read ahead for each replica; 1 by default, which reads none ahead. */
  readonly experimentalPerReplicaBufferSize?: number;
}

/** How a strategy takes its elements from datasets. */
export class InputOptions {
  /** Whether elements are copied to the device of the replica that gets them. */
  readonly experimentalFetchToDevice: boolean;
  /** Whom a dataset is for: `'PER_WORKER'`, a process,; `'PER_REPLICA'` is for `distributeDatasetsFromFunction`. */
  readonly experimentalReplicationMode: InputReplicationMode;
  /** Whether datasets run on the replicas' devices; only with `'PER_REPLICA'`, and without `experimentalFetchToDevice`. */
  readonly experimentalPlaceDatasetOnDevice: boolean;
  /** How many elements are read ahead for each replica. */
  readonly experimentalPerReplicaBufferSize: number;

  /** @throws InvalidArgumentError for other values, and for combinations that exclude each other */
  constructor(...args: [options?: InputArguments | null]) {
    const op = 'InputOptions';
    const given = argumentsOf<InputArguments>(InputOptions, new.target, args);
    const mode = given.experimentalReplicationMode ?? 'PER_WORKER';
    const placed = given.experimentalPlaceDatasetOnDevice ?? false;
    const fetched = given.experimentalFetchToDevice ?? true;
    const size = given.experimentalPerReplicaBufferSize ?? 1;
    checkOneOf(mode, Object.keys(InputReplicationMode), 'experimentalReplicationMode', op);
    for (const [name, value] of Object.entries({
      experimentalPlaceDatasetOnDevice: placed,
      experimentalFetchToDevice: fetched,
    }))
      if (typeof value !== 'boolean')
        throw new InvalidArgumentError(`${name} must be true or false, got ${shown(value)}`, op);
    checkFrom(size, 1, 'experimentalPerReplicaBufferSize', op);
    if (placed && mode !== 'PER_REPLICA')
      throw new InvalidArgumentError(
        "experimentalPlaceDatasetOnDevice needs experimentalReplicationMode: 'PER_REPLICA'",
        op,
      );
    if (placed && fetched)
      throw new InvalidArgumentError(
        'experimentalPlaceDatasetOnDevice and experimentalFetchToDevice exclude each other: set experimentalFetchToDevice to false',
        op,
      );
    this.experimentalFetchToDevice = fetched;
    this.experimentalReplicationMode = mode;
    this.experimentalPlaceDatasetOnDevice = placed;
    this.experimentalPerReplicaBufferSize = size;
  }
}
takesArguments<InputArguments>(
  {
    names: {
      experimentalFetchToDevice: true,
      experimentalReplicationMode: true,
      experimentalPlaceDatasetOnDevice: true,
      experimentalPerReplicaBufferSize: true,
    },
  },
  InputOptions,
);

/** What a strategy was given, or the defaults. @throws InvalidArgumentError for anything but `InputOptions` */
export function inputOptionsOf(given: unknown, op: string): InputOptions {
  if (given === undefined || given === null) return new InputOptions();
  if (given instanceof InputOptions) return given;
  throw new InvalidArgumentError(`options must be a tf.distribute.InputOptions, got ${shown(given)}`, op);
}
