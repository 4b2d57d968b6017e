// All processes of a cluster meet, and get an engine for collectives.

import {
  DeadlineExceededError,
  EagreError,
  FailedPreconditionError,
  UnavailableError,
  UnimplementedError,
} from '@eagre/backend';
import { nodeBuiltin } from '@eagre/formats/internal';
import { Engine, typedError } from '../engine/engine.ts';
import { loadEngine } from '../engine/load-engine.ts';
import { libraries, type NativeEngine } from '../engine/native-engine.ts';
import { type Member, memberName, parseAddress } from './cluster-spec.ts';
import { type Coordinator, coordinatorOf, type Table } from './coordinator.ts';
import { gpusOf } from './gpus.ts';
import { type Hello, introduce, protocol } from './handshake.ts';
import { openSocket } from './sockets.ts';

/** What ends so many milliseconds before the deadline, ends because of it. */
const soon = 50;

/** What a process brings. */
export interface RendezvousOptions {
  /** All processes in the order of ranks; rank 0 listens at its address. */
  readonly members: readonly Member[];
  readonly rank: number;
  /** A text that is equal on all processes. */
  readonly clusterKey: string;
  /** What strangers do not know. */
  readonly token: string;
  /** The last generation of this process; 0 for none. */
  readonly generation: number;
  /** How long the others may take to come. */
  readonly timeoutSeconds: number;
  /** How long a process may be silent. */
  readonly heartbeatSeconds: number;
  /** Whether sums are in the order of ranks. */
  readonly deterministic: boolean;
  /** What carries operations out. `'AUTO'` is memory that the processes share where all are on one machine, else Gloo. */
  readonly implementation: 'AUTO' | 'RING' | 'MPI' | 'NCCL';
}

/** A cluster that has met. */
export interface Meeting {
  readonly engine: Engine;
  /** Counts how often the cluster has met. */
  readonly generation: number;
}

/**
 * Meets the other processes.
 * @throws DeadlineExceededError where not all come in time, UnavailableError where rank 0's address is taken or one is gone again, PermissionDeniedError for a wrong token,
 *   FailedPreconditionError for another version, cluster or implementation, where MPI runs other processes or NCCL has too few GPUs,
 *   UnimplementedError without the library, here or on another process, UnavailableError where NCCL cannot begin
 */
export async function rendezvous(options: RendezvousOptions): Promise<Meeting> {
  const deadline = Date.now() + options.timeoutSeconds * 1000;
  const { engine, table } = await (options.rank === 0 ? lead(options, deadline) : follow(options, deadline));
  let gpu: number | null = null;
  try {
    checkAlike(options.members, table.hellos);
    checkAble(options.members, table.hellos);
    if (options.implementation === 'NCCL')
      gpu = gpusOf(options.members, table.hellos)[options.rank] as number;
    prepare(engine, isShared(table.hellos) ? `/eagre-${BigInt(table.key).toString(16)}` : '', gpu ?? 0);
    await engine.connect(
      table.hellos.map((hello) => Buffer.from(hello.addresses[options.rank] ?? '', 'base64')),
      table.hellos.map((hello) => hello.host),
      table.hellos.map((hello) => hello.port),
      BigInt(table.key),
    );
  } catch (cause) {
    engine.closeNow(0);
    if (cause instanceof EagreError) throw cause;
    if ((cause as { code?: unknown }).code === 'UNAVAILABLE') throw typedError(cause);
    const text = (cause as Error).message.replace(/rank (\d+)/, (_, rank: string) =>
      memberName(options.members[Number(rank)] as Member),
    );
    const isLate = Date.now() >= deadline - soon;
    throw new (isLate ? DeadlineExceededError : UnavailableError)(
      `the processes could not connect: ${text}`,
      undefined,
      { cause },
    );
  }
  const names = options.members.map(memberName);
  return {
    engine: new Engine(engine, options.rank, names, options.deterministic, gpu),
    generation: table.generation,
  };
}

/** @throws FailedPreconditionError where not all have the same */
function checkAlike(members: readonly Member[], hellos: readonly Hello[]): void {
  const [first] = hellos as readonly [Hello];
  const other = hellos.find(({ implementation }) => implementation !== first.implementation);
  if (other === undefined) return;
  const [one, two] = [first, other].map(
    ({ rank, implementation }) =>
      `${memberName(members[rank] as Member)} has the implementation '${implementation}'`,
  );
  throw new FailedPreconditionError(
    `${one}, but ${two}: all processes must be given the same communicationOptions`,
  );
}

/** @throws UnimplementedError where one of them cannot */
function checkAble(members: readonly Member[], hellos: readonly Hello[]): void {
  const other = hellos.find(({ missing }) => missing !== '');
  if (other === undefined) return;
  throw new UnimplementedError(
    `${memberName(members[other.rank] as Member)} cannot use ${other.implementation}: ${other.missing}`,
  );
}

/** Whether the processes have memory in common, and may use it. */
function isShared(hellos: readonly Hello[]): boolean {
  const [{ implementation, machine }] = hellos as readonly [Hello];
  return implementation === 'AUTO' && machine !== '' && hellos.every((hello) => hello.machine === machine);
}

/** What this start of Linux, this folder of shared memory and this user have for themselves; empty where the folder has no room. */
function machineOf(processes: number): string {
  const fs = nodeBuiltin('node:fs');
  try {
    fs.accessSync('/dev/shm', fs.constants.R_OK | fs.constants.W_OK);
    const { bavail, bsize } = fs.statfsSync('/dev/shm');
    // Twice what native/distribute/shared_mesh.cc takes.
    if (bavail * bsize < processes * 2 ** 20) return '';
    return `${systemOf()} ${fs.statSync('/dev/shm').dev} ${process.getuid?.()}`;
  } catch {
    return '';
  }
}

/** This start of Linux. */
function systemOf(): string {
  try {
    return nodeBuiltin('node:fs').readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return nodeBuiltin('node:os').hostname();
  }
}

function prepare(engine: NativeEngine, shared: string, gpu: number): void {
  try {
    engine.prepare(shared, gpu);
  } catch (error) {
    throw typedError(error);
  }
}

interface Prepared {
  readonly engine: NativeEngine;
  readonly table: Table;
}

async function lead(options: RendezvousOptions, deadline: number): Promise<Prepared> {
  const own = listen(options, parseAddress((options.members[0] as Member).address).host, deadline);
  try {
    const coordinator = await coordinatorOf(options.members, options.clusterKey, options.token);
    const table = await coordinator.begin(own.hello, deadline);
    const engine = engineOf(own);
    watchReturns(coordinator, engine, options);
    return { engine, table };
  } catch (error) {
    throw ended(own, error);
  }
}

/** A process that comes again while its predecessor is thought alive ends the generation. */
function watchReturns(coordinator: Coordinator, engine: NativeEngine, { members }: RendezvousOptions): void {
  coordinator.onReturn = (rank) =>
    engine.fail(
      'UNAVAILABLE',
      `${memberName(members[rank] as Member)} was started again, or connects another strategy of its program`,
    );
}

async function follow(options: RendezvousOptions, deadline: number): Promise<Prepared> {
  const { members, rank } = options;
  const [first] = members as readonly [Member];
  let own: Listening | undefined;
  let reason = 'nobody listens there';
  try {
    while (Date.now() < deadline) {
      const socket = await openSocket(first.address, deadline).catch((error: Error) => {
        reason = error.message;
        return undefined;
      });
      if (socket === undefined) {
        await pause(100);
        continue;
      }
      try {
        const { address } = members[rank] as Member;
        const shown = (): object => {
          const host = address === '' ? (socket.localAddress as string) : parseAddress(address).host;
          own ??= listen(options, host, deadline);
          return { ...own.hello, protocol };
        };
        const answer = await introduce(socket, memberName(first), options, shown, {
          greeting: Math.min(deadline, Date.now() + 5000),
          // Rank 0 knows who is missing, so it speaks first.
          answer: () => deadline + 1000,
        });
        // Whoever knows the token is one of us.
        return { engine: engineOf(own as unknown as Listening), table: answer as unknown as Table };
      } catch (error) {
        if (error instanceof EagreError) throw error;
        reason = (error as Error).message;
      } finally {
        socket.destroy();
      }
      await pause(100);
    }
    throw new DeadlineExceededError(
      `${memberName(first)} could not be reached within ${options.timeoutSeconds} s: ${reason}`,
    );
  } catch (error) {
    throw own === undefined ? error : ended(own, error);
  }
}

interface Listening {
  /** Or why there is none, which the others hear of before this process ends. */
  readonly engine: NativeEngine | Error;
  readonly hello: Hello;
}

/** @throws the reason why there is none */
function engineOf({ engine }: Listening): NativeEngine {
  if (engine instanceof Error) throw engine;
  return engine;
}

/** What to throw for an error of a rendezvous: where there is no engine, that comes first. */
function ended({ engine }: Listening, error: unknown): unknown {
  if (engine instanceof Error) return engine;
  engine.closeNow(0);
  return error;
}

/** An engine that listens at an address of this machine. @throws UnavailableError where it is none */
function listen(options: RendezvousOptions, host: string, deadline: number): Listening {
  const { members, rank, generation, implementation } = options;
  // MPI ends on the thread that began it, when the process does.
  if (implementation === 'MPI' && !nodeBuiltin('node:worker_threads').isMainThread)
    throw new UnimplementedError('MPI can be used on the main thread of a program only');
  const NativeClass = loadEngine();
  let engine: NativeEngine | Error;
  try {
    engine = new NativeClass({
      library: libraries[implementation === 'MPI' || implementation === 'NCCL' ? implementation : 'Gloo'],
      rank,
      size: members.length,
      host,
      names: members.map(memberName),
      heartbeat: Math.round(options.heartbeatSeconds * 1000),
      timeout: Math.max(1, deadline - Date.now()),
    });
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code !== 'UNIMPLEMENTED' && code !== 'FAILED_PRECONDITION')
      throw new UnavailableError(
        `${memberName(members[rank] as Member)} cannot listen at ${host}: ${(cause as Error).message}`,
        undefined,
        { cause },
      );
    engine = typedError(cause);
  }
  const about = { rank, generation, host, implementation, system: systemOf() };
  if (engine instanceof Error) {
    const nothing = { addresses: members.map(() => ''), port: 0, machine: '', gpus: [] };
    return { engine, hello: { ...about, ...nothing, missing: engine.message } };
  }
  const addresses = engine.addresses().map((bytes) => Buffer.from(bytes).toString('base64'));
  const gpus = engine.gpus().split(',').filter(Boolean);
  const machine = machineOf(members.length);
  return {
    engine,
    hello: { ...about, addresses, port: engine.port(), machine, gpus, missing: '' },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
