// What the processes of a strategy do together, by an engine.
import {
  type CudaMemory,
  dtypeTraits,
  FailedPreconditionError,
  InvalidArgumentError,
  type TypedArray,
} from '@eagre/backend';
import { device, identity, type Tensor } from '@eagre/core';
import {
  atRunTime,
  context,
  type Dim,
  dims,
  mulDims,
  sameShape,
  showShape,
  toShape,
} from '@eagre/core/internal';
import type { Engine, Memory, OperationOptions } from '../engine/engine.ts';
import type { GpuPart } from '../engine/native-engine.ts';
import type { CollectiveOptions, Collectives } from '../strategy/collectives.ts';
import { gpuNamed } from '../strategy/devices.ts';
import { bucketsOf } from './buckets.ts';
import {
  byteSize,
  bytesOf,
  fromBytes,
  type GpuElements,
  type Like,
  type Pack,
  packed,
  unpacked,
} from './memory.ts';

/** Gradients on their way. */
interface Bucket {
  readonly packs: readonly Pack[];
  readonly likes: readonly Like[];
}

type Operation = (values: readonly Tensor[], options: CollectiveOptions) => readonly Tensor[];

/** Collectives over tensors. In graphs they are steps of the host, in the order of the trace. */
export class ProcessCollectives implements Collectives {
  readonly size: number;
  readonly rank: number;
  /** The engine of the current generation; undefined until the processes have met. */
  engine: Engine | undefined;
  /** Whether there was one that the program closed. */
  isClosed = false;

  constructor(size: number, rank: number) {
    this.size = size;
    this.rank = rank;
  }

  nameOf(rank: number): string {
    return this.connected.names[rank] ?? `process ${rank}`;
  }

  /** @throws FailedPreconditionError before the processes have met, and when the program has closed the strategy */
  get connected(): Engine {
    if (this.engine === undefined)
      throw new FailedPreconditionError(
        this.isClosed
          ? 'the strategy was closed: call `await strategy.connect()` in all processes, so that they meet again'
          : 'the processes have not met yet: call `await strategy.connect()` after you make the strategy',
        'MultiWorkerMirroredStrategy',
      );
    return this.engine;
  }

  readonly allReduce: Operation = (values, options) =>
    options.gradients === true
      ? this.#reduceGradients(values, options)
      : atEachRun('CollectiveReduceV2', values, (now) => this.#allReduce(now, options));

  readonly broadcast: Operation = (values, options) =>
    atEachRun('CollectiveBcastSendV2', values, (now) => this.#broadcast(now, options));

  fromOwners(
    values: readonly Tensor[],
    owners: readonly number[],
    options: CollectiveOptions,
  ): readonly Tensor[] {
    return atEachRun('CollectiveGatherV2', values, (now) => this.#fromOwners(now, owners, options));
  }

  readonly allGather: Operation = (values, options) => {
    if (context.tracer === null) return this.#allGather(values, options);
    // The sizes of the others are not known, but all processes trace the same function.
    const shapes = values.map((x) => dims(x).map((d, i): Dim => (i === 0 ? mulDims(d, this.size) : d)));
    const gather = (...now: Tensor[]): readonly Tensor[] =>
      this.#allGather(now, options).map((all, i) => {
        const expected = [...now[i].shape];
        expected[0] *= this.size;
        if (!sameShape(all.shape, expected))
          throw new InvalidArgumentError(
            `in tf.function all processes must gather values of the same shape, but together they are ${showShape(all.shape)} where this one has ${showShape(now[i].shape)}`,
            options.name,
          );
        return all;
      });
    return atRunTime(
      'CollectiveGatherV2',
      gather,
      values,
      values.map(({ dtype }, i) => ({ dtype, shape: toShape(shapes[i]) })),
    );
  };

  /**
   * Sums in buckets. All but the last are only started where they stand in a graph, as soon as their gradients are there. The engine carries
   * operations out in their order, so that all have ended when the last has.
   */
  #reduceGradients(values: readonly Tensor[], options: CollectiveOptions): readonly Tensor[] {
    const buckets = bucketsOf(values, options.bytesPerPack ?? 0);
    if (buckets.length === 0) return values;
    const under: Bucket[] = [];
    // The memory of a run that has ended is used again by the next one, but not that of one that failed: the engine may still hold it.
    let free: readonly Bucket[] = [];
    let memory = free;
    const start = (k: number, now: readonly Tensor[]): void => {
      if (k === 0) {
        // What an earlier run left when it failed.
        under.length = 0;
        memory = free;
        free = [];
      }
      under[k] = this.#start(now, labelled[k], k === buckets.length - 1, memory[k]?.packs);
    };
    const ended = (): readonly Tensor[] => {
      const results: Tensor[] = [];
      under.forEach(({ likes, packs }, k) => {
        for (const [i, sum] of unpacked(likes, packs).entries()) results[buckets[k][i]] = sum;
      });
      free = under.splice(0);
      return results;
    };
    const all = buckets.map((at) => at.map((i) => values[i]));
    const labels = options.labels?.();
    const labelled = buckets.map((at): CollectiveOptions => {
      const own = labels && at.map((i) => labels[i]);
      return own === undefined ? options : { ...options, labels: () => own };
    });
    if (context.tracer === null) {
      all.forEach((now, k) => {
        start(k, now);
      });
      return ended();
    }
    all.slice(0, -1).forEach((given, k) => {
      atRunTime('CollectiveReduceStart', (...now) => start(k, now), given, [], true);
    });
    const finish = (...now: Tensor[]): readonly Tensor[] => {
      start(buckets.length - 1, now);
      return ended();
    };
    const outputs = values.map((x) => ({ dtype: x.dtype, shape: toShape(dims(x)) }));
    return atRunTime('CollectiveReduceV2', finish, all[all.length - 1], outputs);
  }

  /** Starts the sum of a bucket; of the last one, waits for its end. */
  #start(
    given: readonly Tensor[],
    options: CollectiveOptions,
    isLast: boolean,
    free: readonly Pack[] | undefined,
  ): Bucket {
    const engine = this.connected;
    const values = fromOtherGpus(given, engine);
    const packs = packed(values, options.name, { compression: options.compression, adder: engine, free });
    const operation = described(options, values, true);
    packs.forEach(({ dtype, data }, i) => {
      const { memory, end } = lent(data);
      if (isLast && i === packs.length - 1) {
        try {
          engine.allReduce(memory, { dtype, ...operation });
        } finally {
          end();
        }
      } else {
        // If it fails, the engine has ended, and the last one throws the error.
        void engine
          .allReduceAsync(memory, { dtype, ...operation })
          .catch(() => {})
          .finally(end);
      }
    });
    return {
      packs,
      likes: values.map(({ dtype, backend, shape, size }) => ({ dtype, backend, shape, size })),
    };
  }

  #allReduce(given: readonly Tensor[], options: CollectiveOptions): readonly Tensor[] {
    const engine = this.connected;
    const values = fromOtherGpus(given, engine);
    const packs = packed(values, options.name, { adder: engine });
    const operation = described(options, values, true);
    for (const { dtype, data } of packs) {
      const { memory, end } = lent(data);
      try {
        const parts = ArrayBuffer.isView(data) ? inParts(data, options.bytesPerPack ?? 0) : [memory];
        for (const part of parts) engine.allReduce(part, { dtype, ...operation });
      } finally {
        end();
      }
    }
    return unpacked(values, packs);
  }

  #broadcast(values: readonly Tensor[], options: CollectiveOptions): readonly Tensor[] {
    const bytes = bytesOf(values, options.name);
    this.connected.broadcast(bytes, 0, described(options, values, true));
    return fromAllBytes(values, bytes);
  }

  #fromOwners(
    values: readonly Tensor[],
    owners: readonly number[],
    options: CollectiveOptions,
  ): readonly Tensor[] {
    const places = Array.from({ length: this.size }, (_, rank) =>
      owners.flatMap((owner, i) => (owner === rank ? [i] : [])),
    );
    const valuesAt = (at: readonly number[]): readonly Tensor[] => at.map((i) => values[i]);
    const counts = places.map((at) => valuesAt(at).reduce((sum, x) => sum + byteSize(x), 0));
    const all = new Uint8Array(counts.reduce((a, b) => a + b, 0));
    const own = bytesOf(valuesAt(places[this.rank]), options.name);
    this.connected.allGather(own, all, counts, described(options, values, true));
    const order = places.flat();
    const results: Tensor[] = [];
    for (const [k, result] of fromAllBytes(valuesAt(order), all).entries()) results[order[k]] = result;
    return results;
  }

  #allGather(values: readonly Tensor[], options: CollectiveOptions): readonly Tensor[] {
    const engine = this.connected;
    const operation = described(options, values, false);
    const own = Float64Array.from(values, (x) => x.shape[0]);
    // How many rows each process has of each value.
    const rows = new Float64Array(own.length * this.size);
    engine.allGather(own, rows, Array(this.size).fill(own.byteLength), {
      ...operation,
      name: `sizes of ${operation.name}`,
    });
    return values.map((x, i) => {
      const bytes = bytesOf([x], options.name);
      const counts = Array.from({ length: this.size }, (_, rank) => rows[rank * own.length + i]);
      const rowBytes = rowSize(x);
      const all = new Uint8Array(counts.reduce((a, b) => a + b, 0) * rowBytes);
      engine.allGather(
        bytes,
        all,
        counts.map((count) => count * rowBytes),
        operation,
      );
      return fromBytes(x, [counts.reduce((a, b) => a + b, 0), ...x.shape.slice(1)], all);
    });
  }
}

/** Runs an operation whose results are like its inputs: now, or at each run of the function that is being traced. */
function atEachRun(
  type: string,
  values: readonly Tensor[],
  run: (now: readonly Tensor[]) => readonly Tensor[],
): readonly Tensor[] {
  if (context.tracer === null) return run(values);
  const outputs = values.map((x) => ({ dtype: x.dtype, shape: toShape(dims(x)) }));
  return atRunTime(type, (...now) => run(now), values, outputs);
}

/** Brings what lies on other GPUs to that of this process: what nobody placed is on the first one in all of them. */
function fromOtherGpus(values: readonly Tensor[], { gpu }: Engine): readonly Tensor[] {
  const own = gpu === null ? undefined : gpuNamed(gpu);
  if (own === undefined) return values;
  return values.map((x) => {
    const { cuda } = x.storage.allocator;
    return cuda === undefined || cuda.gpu === gpu ? x : device(own, () => identity(x));
  });
}

/** The operation's name says what all processes must agree on, so the engine notices where they do not. */
function described(
  { name, labels, timeoutSeconds = null }: CollectiveOptions,
  values: readonly Tensor[],
  alike: boolean,
): OperationOptions & { readonly name: string } {
  const kinds = values.map((x) => `${x.dtype}[${alike ? x.shape : x.shape.slice(1)}]`).join('; ');
  return { name: `${name}: ${kinds}`, labels: labels?.().join('; ') ?? '', timeoutSeconds };
}

/** Memory as an engine takes it, and what is to be done when it has ended. */
function lent(data: TypedArray | GpuElements): {
  readonly memory: Memory | GpuPart;
  readonly end: () => void;
} {
  if (ArrayBuffer.isView(data)) return { memory: data, end: () => {} };
  const { storage, bytes } = data;
  const { event, end } = (storage.allocator.cuda as CudaMemory).mark();
  return { memory: { address: storage.address, bytes, event }, end };
}

/** Memory in pieces of about so many bytes; 0 for one piece. */
function inParts(data: TypedArray, bytes: number): readonly TypedArray[] {
  const length = bytes === 0 ? data.length : Math.max(1, Math.floor(bytes / data.BYTES_PER_ELEMENT));
  if (length >= data.length) return [data];
  return Array.from({ length: Math.ceil(data.length / length) }, (_, i) =>
    data.subarray(i * length, Math.min(data.length, (i + 1) * length)),
  );
}

/** Tensors like those of a list, from their bytes one behind the other. */
function fromAllBytes(values: readonly Tensor[], bytes: Uint8Array): readonly Tensor[] {
  let next = 0;
  return values.map((x) => {
    const size = byteSize(x);
    next += size;
    return fromBytes(x, x.shape, bytes.subarray(next - size, next));
  });
}

/** The bytes of a tensor behind its first axis. */
const rowSize = (x: Tensor): number =>
  x.shape.slice(1).reduce((a, b) => a * b, 1) * dtypeTraits[x.dtype].bytes;
