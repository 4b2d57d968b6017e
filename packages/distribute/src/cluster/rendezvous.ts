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
import { type Coordinator, coordinatorOf, isWildcard, type Table } from './coordinator.ts';
import { errorOfFields, fieldsOfError } from './errors.ts';
import { gpusOf } from './gpus.ts';
import { type Hello, introduce, newNonce, protocol } from './handshake.ts';
import { openSocket } from './sockets.ts';
import { WatchedSocket } from './watched-socket.ts';

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
  // Connections that are only watched do not keep the process alive.
  const hold = setInterval(() => {}, 60_000);
  try {
    const { engine, table, gpu } = await (options.rank === 0
      ? lead(options, deadline)
      : follow(options, deadline));
    const names = options.members.map(memberName);
    return {
      engine: new Engine(engine, options.rank, names, options.deterministic, gpu),
      generation: table.generation,
    };
  } finally {
    clearInterval(hold);
  }
}

/** A process that is connected to all others, and may begin as soon as they are. */
interface Connected {
  readonly gpu: number | null;
}

/** Connects to the others of a table. @throws EagreError */
async function connect(options: RendezvousOptions, own: Listening, table: Table): Promise<Connected> {
  const { members, rank } = options;
  const { hellos } = table;
  checkAlike(members, hellos);
  checkAble(members, hellos);
  const engine = engineOf(own);
  const gpu = options.implementation === 'NCCL' ? (gpusOf(members, hellos)[rank] as number) : null;
  try {
    for (const { host } of hellos.slice(0, rank)) await nodeBuiltin('node:dns').promises.lookup(host);
  } catch (cause) {
    const { hostname, code } = cause as { readonly hostname?: string; readonly code?: string };
    throw new UnavailableError(
      `the processes could not connect: ${memberName(members[rank] as Member)} finds no address of ${hostname} (${code})`,
      undefined,
      { cause },
    );
  }
  prepare(engine, isShared(hellos) ? `/eagre-${BigInt(table.key).toString(16)}` : '', gpu ?? 0);
  try {
    await engine.connect(
      hellos.map((hello) => Buffer.from(hello.addresses[rank] ?? '', 'base64')),
      hellos.map((hello) => hello.host),
      hellos.map((hello) => hello.port),
      BigInt(table.key),
    );
  } catch (cause) {
    if ((cause as { code?: unknown }).code === 'UNAVAILABLE') throw typedError(cause);
    const text = (cause as Error).message.replace(/rank (\d+)/, (_, other: string) =>
      memberName(members[Number(other)] as Member),
    );
    throw new UnavailableError(
      `the processes could not connect: ${memberName(members[rank] as Member)} says that ${text}`,
      undefined,
      { cause },
    );
  }
  return { gpu };
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

interface Prepared extends Connected {
  readonly engine: NativeEngine;
  readonly table: Table;
}

async function lead(options: RendezvousOptions, deadline: number): Promise<Prepared> {
  const { members, clusterKey, token } = options;
  const { host } = parseAddress((members[0] as Member).address);
  const coordinator = await coordinatorOf(members, clusterKey, token);
  coordinator.onReturn = undefined;
  coordinator.silence = silenceOf(options);
  const instance = newNonce();
  for (;;) {
    const own = listen(options, instance, host, deadline);
    try {
      const table = await coordinator.assemble(own.hello, deadline);
      const connecting = connect(options, own, table);
      const again = await coordinator.connect(
        connecting.then(() => {}),
        deadline,
      );
      const engine = engineOf(own);
      if (again !== undefined) {
        engine.closeNow(0);
        continue;
      }
      engine.begin();
      watchReturns(coordinator, engine, options);
      return { engine, table, ...(await connecting) };
    } catch (error) {
      if (error instanceof EagreError) coordinator.turnAway(error);
      throw ended(own, error);
    }
  }
}

/** MPI comes together on the thread of JavaScript, which then shows no sign of life; it needs no second meeting, as it allows none. */
const silenceOf = ({ implementation, heartbeatSeconds, timeoutSeconds }: RendezvousOptions): number =>
  1000 * (implementation === 'MPI' ? Math.max(heartbeatSeconds, timeoutSeconds) : heartbeatSeconds);

/** A process that comes again while its predecessor is thought alive ends the generation. */
function watchReturns(coordinator: Coordinator, engine: NativeEngine, { members }: RendezvousOptions): void {
  coordinator.onReturn = (rank) =>
    engine.fail(
      'UNAVAILABLE',
      `${memberName(members[rank] as Member)} was started again, or connects another strategy of its program`,
    );
}

async function follow(options: RendezvousOptions, deadline: number): Promise<Prepared> {
  const [first] = options.members as readonly [Member];
  const instance = newNonce();
  let reason = 'nobody listens there';
  while (Date.now() < deadline) {
    try {
      const outcome = await callOnce(options, instance, deadline);
      if (typeof outcome !== 'string') return outcome;
      reason = outcome;
    } catch (error) {
      if (error instanceof EagreError) throw error;
      reason = (error as Error).message;
    }
    await pause(100);
  }
  throw new DeadlineExceededError(
    `${memberName(first)} could not be reached within ${options.timeoutSeconds} s: ${reason}`,
  );
}

/** Calls rank 0, and connects to all as it says. @returns why all are to meet again, else @throws EagreError that ends the meeting, Error for another try */
async function callOnce(
  options: RendezvousOptions,
  instance: string,
  deadline: number,
): Promise<Prepared | string> {
  const { members, rank } = options;
  const [first] = members as readonly [Member];
  const { address } = members[rank] as Member;
  const socket = await openSocket(first.address, deadline);
  const called = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  let own: Listening | undefined;
  let link: WatchedSocket | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    const shown = (): object => {
      const host = address === '' ? (socket.localAddress as string) : parseAddress(address).host;
      own = listen(options, instance, host, deadline);
      return { ...own.hello, protocol };
    };
    const soon = (): number => Math.min(deadline, Date.now() + 5000);
    await introduce(socket, memberName(first), options, shown, { greeting: soon(), answer: soon });
    const listening = own as unknown as Listening;
    // Whoever knows the token is one of us.
    return await new Promise<Prepared | string>((resolve, reject) => {
      // Rank 0 knows who is missing, so it speaks first.
      timer = setTimeout(
        () =>
          reject(
            new DeadlineExceededError(
              `${memberName(first)} was reached, but not all have met within ${options.timeoutSeconds} s`,
            ),
          ),
        deadline - Date.now() + Math.min(silenceOf(options), 5000),
      );
      let table: Table | undefined;
      let connecting: Promise<Connected> | undefined;
      let failure: Error | undefined;
      const start = (given: Table): void => {
        const [zero, ...others] = given.hellos as readonly [Hello, ...Hello[]];
        // Where it listens everywhere, it is where it was called.
        const hellos = [isWildcard(zero.host) ? { ...zero, host: called } : zero, ...others];
        table = { ...given, hellos };
        connecting = Promise.resolve().then(() => connect(options, listening, table as Table));
        connecting.then(
          () => link?.send({ connected: true }),
          // Rank 0 decides what becomes of it.
          (error: Error) => {
            failure = error;
            link?.send({ error: fieldsOfError(error) });
          },
        );
      };
      const begin = async (): Promise<void> => {
        const engine = engineOf(listening);
        const connected = await (connecting as Promise<Connected>);
        engine.begin();
        resolve({ engine, table: table as Table, ...connected });
      };
      link = new WatchedSocket(socket, silenceOf(options), {
        onMessage: (message) => {
          const { error, again } = message;
          if (typeof error === 'object' && error !== null)
            reject(errorOfFields(error as Readonly<Record<string, unknown>>));
          else if (typeof again === 'string') resolve(again);
          else if (message['go'] === true) begin().catch(reject);
          else if (table === undefined && typeof message['table'] === 'object')
            start(message['table'] as Table);
        },
        onLost: (reason) => {
          // Rank 0 may have found out the same before, and be gone with the answer. No other try would end better.
          if (failure instanceof EagreError && !(failure instanceof UnavailableError)) reject(failure);
          else resolve(`its connection was lost: ${reason}`);
        },
      });
    }).then((outcome) => {
      if (typeof outcome === 'string' && !(listening.engine instanceof Error)) listening.engine.closeNow(0);
      return outcome;
    });
  } catch (error) {
    throw own === undefined ? error : ended(own, error);
  } finally {
    clearTimeout(timer);
    if (link === undefined) socket.destroy();
    else link.close();
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
function listen(options: RendezvousOptions, instance: string, host: string, deadline: number): Listening {
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
  const about = { rank, instance, generation, host, implementation, system: systemOf() };
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
