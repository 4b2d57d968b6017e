// How variables are divided between parameter servers.
import { type DType, dtypeTraits, InvalidArgumentError } from '@eagre/backend';
import type { Shape } from '@eagre/core';
import { argumentsOf, checkCount, shown, takesArguments } from '@eagre/core/internal';

/** Says into how many parts a variable is divided, along each of its axes. Only the first one can be divided. */
export type VariablePartitioner = (shape: Shape, dtype: DType) => readonly number[];

/** Base of the partitioners of `tf.distribute.experimental.partitioners`. */
export abstract class Partitioner {
  /** How many parts there are along each axis. */
  call(shape: Shape, dtype: DType): number[] {
    if (shape.length === 0) return [];
    return [Math.min(this.partsOf(shape, dtype), shape[0] as number) || 1, ...shape.slice(1).map(() => 1)];
  }
  /** @internal The number of parts that is wanted. */
  protected abstract partsOf(shape: Shape, dtype: DType): number;
}

interface FixedOptions {
  /** How many parts, from 1 on. */
  readonly numShards: number;
}

/** Divides each variable into as many parts, or as many as it has rows. */
export class FixedShardsPartitioner extends Partitioner {
  /** How many parts, from 1 on. */
  readonly numShards: number;
  constructor(...args: [numShards: number | FixedOptions]) {
    super();
    const { numShards } = argumentsOf<FixedOptions>(FixedShardsPartitioner, new.target, args);
    checkCount(numShards, 'numShards', 'FixedShardsPartitioner', 1);
    this.numShards = numShards;
  }
  protected override partsOf(): number {
    return this.numShards;
  }
}
takesArguments<FixedOptions>(
  { positional: ['numShards'], names: { numShards: true } },
  FixedShardsPartitioner,
);

const bytesOf = (shape: Shape, dtype: DType, bytesPerString: number): number =>
  shape.reduce((product, n) => product * n, 1) *
  (dtype === 'string' ? bytesPerString : dtypeTraits[dtype].bytes);

interface MinSizeOptions {
  /** The least bytes of a part; 262,144 (256 KiB) by default. */
  readonly minShardBytes?: number | null;
  /** How many parts there are at most; 1 by default, which divides nothing. */
  readonly maxShards?: number | null;
  /** What each element of a variable of strings counts for; 16 by default. */
  readonly bytesPerString?: number | null;
}

/** Divides variables into parts of about so many bytes (256 KiB by default; rounded up, as in TensorFlow), and at most `maxShards` of them (1 by default). */
export class MinSizePartitioner extends Partitioner {
  /** The least bytes of a part. */
  readonly minShardBytes: number;
  /** How many parts there are at most. */
  readonly maxShards: number;
  /** What each element of a variable of strings counts for. */
  readonly bytesPerString: number;
  constructor(...args: [minShardBytes?: number | null | MinSizeOptions, options?: MinSizeOptions]) {
    super();
    const given = argumentsOf<MinSizeOptions>(MinSizePartitioner, new.target, args);
    this.minShardBytes = given.minShardBytes ?? 256 << 10;
    this.maxShards = given.maxShards ?? 1;
    this.bytesPerString = given.bytesPerString ?? 16;
    checkAll(this, ['minShardBytes', 'maxShards', 'bytesPerString'], 'MinSizePartitioner');
  }
  protected override partsOf(shape: Shape, dtype: DType): number {
    const bytes = bytesOf(shape, dtype, this.bytesPerString);
    return Math.max(1, Math.min(this.maxShards, Math.ceil(bytes / this.minShardBytes)));
  }
}
takesArguments<MinSizeOptions>(
  {
    positional: ['minShardBytes', 'maxShards', 'bytesPerString'],
    required: 0,
    names: { minShardBytes: true, maxShards: true, bytesPerString: true },
  },
  MinSizePartitioner,
);

interface MaxSizeOptions {
  /** The most bytes of a part. */
  readonly maxShardBytes: number;
  /** How many parts there are at most, though they are then larger; as many as needed by default. */
  readonly maxShards?: number | null;
  /** What each element of a variable of strings counts for; 16 by default. */
  readonly bytesPerString?: number | null;
}

/** Divides variables into parts of at most so many bytes, unless these were more than `maxShards`. A row is never divided. */
export class MaxSizePartitioner extends Partitioner {
  /** The most bytes of a part. */
  readonly maxShardBytes: number;
  /** How many parts there are at most, though they are then larger. */
  readonly maxShards: number | null;
  /** What each element of a variable of strings counts for. */
  readonly bytesPerString: number;
  constructor(
    ...args: [maxShardBytes: number | MaxSizeOptions, options?: Omit<MaxSizeOptions, 'maxShardBytes'>]
  ) {
    super();
    const given = argumentsOf<MaxSizeOptions>(MaxSizePartitioner, new.target, args);
    this.maxShardBytes = given.maxShardBytes;
    this.maxShards = given.maxShards ?? null;
    this.bytesPerString = given.bytesPerString ?? 16;
    checkAll(this, ['maxShardBytes', 'bytesPerString'], 'MaxSizePartitioner');
    if (this.maxShards !== null) checkCount(this.maxShards, 'maxShards', 'MaxSizePartitioner', 1);
  }
  protected override partsOf(shape: Shape, dtype: DType): number {
    const rows = shape[0] as number;
    const row = rows === 0 ? 0 : bytesOf(shape, dtype, this.bytesPerString) / rows;
    // Whole rows are counted, as in TensorFlow.
    const rowsOfPart = Math.max(1, row === 0 ? rows : Math.floor(this.maxShardBytes / row));
    return Math.min(Math.max(1, Math.ceil(rows / rowsOfPart)), this.maxShards ?? rows);
  }
}
takesArguments<MaxSizeOptions>(
  {
    positional: ['maxShardBytes', 'maxShards', 'bytesPerString'],
    required: 1,
    names: { maxShardBytes: true, maxShards: true, bytesPerString: true },
  },
  MaxSizePartitioner,
);

function checkAll<T>(of: T, names: readonly (keyof T & string)[], op: string): void {
  for (const name of names) checkCount(of[name] as number, name, op, 1);
}

/** The parts of a variable along its first axis. @throws InvalidArgumentError for a partitioner that says something else */
export function partsBy(
  partitioner: Partitioner | VariablePartitioner | null,
  shape: Shape,
  dtype: DType,
): readonly number[] {
  const op = 'variablePartitioner';
  const [rows] = shape;
  if (partitioner === null || rows === undefined) return [rows ?? 1];
  const parts =
    partitioner instanceof Partitioner ? partitioner.call(shape, dtype) : partitioner(shape, dtype);
  if (
    !Array.isArray(parts) ||
    parts.length !== shape.length ||
    parts.some((n: unknown) => !Number.isInteger(n) || (n as number) < 1)
  )
    throw new InvalidArgumentError(
      `it must give a number of parts for each of ${shape.length} axes, got ${shown(parts)}`,
      op,
    );
  if (parts.slice(1).some((n) => n !== 1))
    throw new InvalidArgumentError(`only the first axis can be divided, got ${shown(parts)}`, op);
  const count = parts[0] as number;
  if (count > Math.max(rows, 1))
    throw new InvalidArgumentError(`${rows} rows cannot be divided into ${count} parts`, op);
  // The first parts have a row more, as in TensorFlow.
  return Array.from({ length: count }, (_, i) => Math.floor(rows / count) + (i < rows % count ? 1 : 0));
}
