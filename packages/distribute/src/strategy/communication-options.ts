import { InvalidArgumentError } from '@eagre/backend';
import { argumentsOf, checkOneOf, shown, takesArguments } from '@eagre/core/internal';
import type { CollectiveOptions, Compression } from './collectives.ts';

/**
 * Which library carries out what processes do together. `'AUTO'` is memory that the processes share where all are on one machine, else Gloo;
 * `'RING'` is Gloo's, over TCP, in any case. `'NCCL'` is NVIDIA's library between GPUs, one of each process. `'MPI'`, which TensorFlow does not have,
 * is for programs that `mpiexec` starts: an MPI with the standard ABI of MPI 5, such as MPICH 5.
 */
export const CommunicationImplementation = { AUTO: 'AUTO', RING: 'RING', NCCL: 'NCCL', MPI: 'MPI' } as const;
export type CommunicationImplementation = keyof typeof CommunicationImplementation;

/** Options of `CommunicationOptions`. */
export interface CommunicationArguments {
  /** About how many bytes go in one message; 0, the default, leaves it to the implementation. Only between processes. */
  readonly bytesPerPack?: number;
  /** After how many seconds an operation fails; it waits as long as it takes by default. Only between processes. */
  readonly timeoutSeconds?: number | null;
  /** Which library carries it out; `'AUTO'`, the default, chooses one. */
  readonly implementation?: CommunicationImplementation;
  /**
   * `'BFLOAT16'` rounds 32-bit gradients to 16 bits on their way, which halves the traffic: they are added in float32, and the sum is rounded once.
   * `'NONE'` by default. Only between processes; TensorFlow has no such option.
   */
  readonly compression?: Compression;
}

/** How collective operations are carried out. Between replicas of one process there is nothing to choose. */
export class CommunicationOptions {
  /** About how many bytes go in one message; 0 leaves it to the implementation. Only between processes. */
  readonly bytesPerPack: number;
  /** After how many seconds an operation fails. Only between processes. */
  readonly timeoutSeconds: number | null;
  /** Which library carries it out; `'AUTO'` chooses one. */
  readonly implementation: CommunicationImplementation;
  /**
   * `'BFLOAT16'` rounds 32-bit gradients to 16 bits on their way, which halves the traffic: they are added in float32, and the sum is
   * rounded once. Only between processes; TensorFlow has no such option.
   */
  readonly compression: Compression;

  /** @throws InvalidArgumentError for a negative number. Whether a library is there is seen when processes connect. */
  constructor(...args: [options?: CommunicationArguments | null]) {
    const name = 'CommunicationOptions';
    const options = argumentsOf<CommunicationArguments>(CommunicationOptions, new.target, args);
    const bytes = options.bytesPerPack ?? 0;
    const seconds = options.timeoutSeconds ?? null;
    const implementation = options.implementation ?? 'AUTO';
    if (!Number.isSafeInteger(bytes) || bytes < 0)
      throw new InvalidArgumentError(`bytesPerPack must be an integer from 0 on, got ${shown(bytes)}`, name);
    if (seconds !== null && !(typeof seconds === 'number' && seconds > 0))
      throw new InvalidArgumentError(`timeoutSeconds must be a number above 0, got ${shown(seconds)}`, name);
    checkOneOf(implementation, Object.keys(CommunicationImplementation), 'implementation', name);
    const compression = options.compression ?? 'NONE';
    checkOneOf(compression, ['NONE', 'BFLOAT16'], 'compression', name);
    this.bytesPerPack = bytes;
    this.timeoutSeconds = seconds;
    this.implementation = implementation;
    this.compression = compression;
  }
}
takesArguments<CommunicationArguments>(
  { names: { bytesPerPack: true, timeoutSeconds: true, implementation: true, compression: true } },
  CommunicationOptions,
);

/** Those for one operation. */
export function collectiveOptions(given: CommunicationOptions | null, name: string): CollectiveOptions {
  if (given === null) return { name };
  const { bytesPerPack, timeoutSeconds } = given;
  return { name, bytesPerPack, timeoutSeconds };
}

/** Those for gradients, which have buckets and may be compressed. */
export function gradientOptions(given: CommunicationOptions | null, name: string): CollectiveOptions {
  return { ...collectiveOptions(given, name), gradients: true, compression: given?.compression ?? 'NONE' };
}
