import { dtypeTraits, InvalidArgumentError } from '@eagre/backend';
import { Tensor } from '@eagre/core';
import { checkOneOf, determinism, shown } from '@eagre/core/internal';
import { AutoShardPolicy } from './auto-shard-policy.ts';
import { Options, plainOptions } from './dataset-options.ts';

/** Number of elements of a dataset that never ends. */
export const INFINITE_CARDINALITY = -1;
/** Number of elements of a dataset that does not know it before it was gone through. */
export const UNKNOWN_CARDINALITY = -2;
/** For counts (of calls at once, of elements ahead) that the library chooses. */
export const AUTOTUNE = -1;

/** What holds for a whole pipeline; set by `withOptions`. */
export interface DatasetOptions {
  /** Whether elements come in the same order in every run where parallel calls could change it; true unless set. */
  readonly deterministic?: boolean;
  /** Whether traced functions that compute element by element may run on whole batches; true unless set. Results are the same. */
  readonly vectorization?: boolean;
  /** How distribution strategies divide it: `'AUTO'` by default. */
  readonly experimentalDistribute?: { readonly autoShardPolicy?: AutoShardPolicy };
}

const known: Readonly<Record<keyof DatasetOptions, 'boolean' | 'object'>> = {
  deterministic: 'boolean',
  vectorization: 'boolean',
  experimentalDistribute: 'object',
};

/** @throws InvalidArgumentError for names and values that are no options; UnimplementedError for those that nothing here can do. */
export function checkOptions(given: DatasetOptions | Options): DatasetOptions {
  const options: DatasetOptions = given instanceof Options ? set(plainOptions(given)) : given;
  if (typeof options !== 'object' || options === null)
    throw new InvalidArgumentError(`expected options, got ${shown(options)}`, 'Dataset.withOptions');
  for (const [name, value] of Object.entries(options)) {
    const type = known[name as keyof DatasetOptions];
    if (type === undefined)
      throw new InvalidArgumentError(
        `'${name}' is not an option; the options are ${Object.keys(known).join(', ')}`,
        'Dataset.withOptions',
      );
    if (value !== undefined && typeof value !== type)
      throw new InvalidArgumentError(`${name} must be a ${type}, got ${shown(value)}`, 'Dataset.withOptions');
  }
  checkDistribute(options.experimentalDistribute);
  return options;
}

function checkDistribute(options: DatasetOptions['experimentalDistribute'] | null): void {
  if (options === undefined || options === null) return;
  const op = 'Dataset.withOptions';
  for (const name of Object.keys(options))
    if (name !== 'autoShardPolicy')
      throw new InvalidArgumentError(
        `experimentalDistribute has no option '${name}', but autoShardPolicy`,
        op,
      );
  const { autoShardPolicy } = options;
  if (autoShardPolicy !== undefined)
    checkOneOf(autoShardPolicy, Object.keys(AutoShardPolicy), 'autoShardPolicy', op);
}

/** Those that have values. */
function set(options: Readonly<Record<string, unknown>>): DatasetOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** A number, also as a scalar tensor: elements of datasets are. */
export type Count = number | Tensor;

/** The number that a scalar tensor of numbers holds; anything else as it is, for those that check it. */
export function plainNumber(value: Count): number {
  if (!(value instanceof Tensor) || value.rank !== 0) return value as number;
  const { integer, floating } = dtypeTraits[value.dtype];
  if (!integer && !floating) return value as unknown as number;
  return Number(value.item());
}

/** An integer of at least `least`. @throws InvalidArgumentError otherwise. */
export function checkCount(given: Count, name: string, what: string, least = 1): number {
  const value = plainNumber(given);
  if (!Number.isSafeInteger(value) || value < least)
    throw new InvalidArgumentError(
      `${name} must be an integer of at least ${least}, got ${shown(value)}`,
      what,
    );
  return value;
}

// A list has a place for each.
const MOST_AT_ONCE = 2 ** 20;

/** `value` or AUTOTUNE, as a number of calls, files or datasets at once. @throws InvalidArgumentError for more than a million. */
export function checkParallel(given: Count, name: string, what: string, chosen: number): number {
  const value = plainNumber(given);
  if (value === AUTOTUNE) return chosen;
  if (checkCount(value, name, what) > MOST_AT_ONCE)
    throw new InvalidArgumentError(`${name} must be at most ${MOST_AT_ONCE}, got ${value}`, what);
  return value;
}

/** Whether elements come in the same order in every run: as a step of the pipeline says, else as its options do; always under op determinism. */
export function inOrder(own: boolean | undefined, options: DatasetOptions): boolean {
  return determinism.enabled || (own ?? options.deterministic ?? true);
}
