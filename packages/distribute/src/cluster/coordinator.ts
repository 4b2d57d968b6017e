// Rank 0's part of a rendezvous: it listens at its address of the cluster as long as the process lives, and lets each generation begin.

import type { Server, Socket } from 'node:net';
import {
  DeadlineExceededError,
  EagreError,
  FailedPreconditionError,
  InternalError,
  UnavailableError,
} from '@eagre/backend';
import { nodeBuiltin } from '@eagre/formats/internal';
import { type Member, memberName } from './cluster-spec.ts';
import { errorOfFields, fieldsOfError } from './errors.ts';
import {
  checkHello,
  clusterHash,
  type Hello,
  introductionMs,
  isProof,
  newNonce,
  proofOf,
  protocol,
} from './handshake.ts';
import { nextLine, sendLine } from './lines.ts';
import { listenAt } from './sockets.ts';
import { WatchedSocket } from './watched-socket.ts';

/** One that has come, and is watched. */
interface Guest {
  readonly hello: Hello;
  readonly link: WatchedSocket;
}

/** What all processes of a generation know. */
export interface Table {
  readonly generation: number;
  /** A number of 64 bits that strangers do not know. */
  readonly key: string;
  readonly hellos: readonly Hello[];
}

/** What the processes of a table do: they connect to each other. How it ends first counts. */
interface Attempt {
  readonly guests: ReadonlyMap<number, Guest>;
  /** Those that have not connected yet; rank 0 as well. */
  readonly missing: Set<number>;
  /** Ends it: by an error for all, or by the reason why all are to meet again; undefined where all are connected. */
  readonly end: (how?: EagreError | string) => void;
  readonly ended: Promise<EagreError | string | undefined>;
}

const coordinators = new Map<string, Promise<Coordinator>>();

/** The one that listens at the address of rank 0. @throws UnavailableError where somebody else does */
export async function coordinatorOf(
  members: readonly Member[],
  clusterKey: string,
  token: string,
): Promise<Coordinator> {
  const { address } = members[0] as Member;
  for (;;) {
    const before = coordinators.get(address);
    if (before === undefined) {
      const listening = Coordinator.listen(members, clusterKey, token);
      coordinators.set(address, listening);
      listening.catch(() => coordinators.delete(address));
      return listening;
    }
    const known = await before.catch(() => undefined);
    if (known?.clusterKey === clusterKey && known.token === token) return known;
    await known?.close();
  }
}

/** Lets the others in, one generation after the other. Neither it nor who calls it keeps the process alive. */
export class Coordinator {
  readonly clusterKey: string;
  readonly token: string;
  /** Called where a process comes that was thought to take part: it was started again. */
  onReturn: ((rank: number) => void) | undefined;
  /** How many milliseconds without a sign of life mean that a process is lost. */
  silence = 10_000;
  readonly #members: readonly Member[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #guests = new Map<number, Guest>();
  #attempt: Attempt | undefined;
  #changed: () => void = () => {};
  #failure: EagreError | undefined;
  #refused = '';
  /** Why those that came are not there any more. */
  readonly #lost = new Map<number, string>();

  private constructor(members: readonly Member[], clusterKey: string, token: string, server: Server) {
    this.#members = members;
    this.clusterKey = clusterKey;
    this.token = token;
    this.#server = server;
    server.on('connection', (socket) => {
      socket.unref();
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      void this.#receive(socket);
    });
  }

  /** @throws UnavailableError where the address is taken, or none of this machine */
  static async listen(members: readonly Member[], clusterKey: string, token: string): Promise<Coordinator> {
    const [first] = members as readonly [Member];
    const server = nodeBuiltin('node:net').createServer();
    await listenAt(server, first.address, memberName(first));
    // The process may end.
    server.unref();
    return new Coordinator(members, clusterKey, token, server);
  }

  /**
   * Waits until all others are there at one time, and tells each of them `own` and what the others showed.
   * @throws DeadlineExceededError that names who did not come; FailedPreconditionError where one runs something else
   */
  async assemble(own: Hello, deadline: number): Promise<Table> {
    await this.#complete(deadline);
    const guests = new Map(this.#guests);
    this.#guests.clear();
    const hellos: Hello[] = [own];
    for (const { hello } of guests.values()) hellos[hello.rank] = hello;
    const generation = Math.max(...hellos.map((hello) => hello.generation)) + 1;
    const table = {
      generation,
      key: nodeBuiltin('node:crypto').randomBytes(8).readBigUInt64LE().toString(),
      hellos,
    };
    let end: Attempt['end'] = () => {};
    const ended = new Promise<EagreError | string | undefined>((resolve) => {
      end = resolve;
    });
    this.#attempt = { guests, missing: new Set(hellos.keys()), end, ended };
    for (const { hello, link } of guests.values()) {
      link.send({ table });
      // It was lost in this very moment.
      if (!link.isOpen) end(`${this.#name(hello.rank)} was lost`);
    }
    return table;
  }

  /**
   * Waits until all are connected, this process by `own`, and lets them begin.
   * @returns undefined, or why all are to meet again: one was lost on the way
   * @throws the error of one that cannot connect, though all are alive; DeadlineExceededError
   */
  async connect(own: Promise<void>, deadline: number): Promise<string | undefined> {
    const attempt = this.#attempt as Attempt;
    own.then(
      () => this.#connected(0, attempt),
      (error: Error) => this.#failed(0, attempt, error),
    );
    const timer = setTimeout(
      () => {
        const names = [...attempt.missing].map((rank) => this.#name(rank)).join(', ');
        attempt.end(
          new DeadlineExceededError(`the processes could not connect in time: ${names} could not reach all`),
        );
      },
      Math.max(0, deadline - Date.now()),
    );
    const how = await attempt.ended;
    clearTimeout(timer);
    this.#attempt = undefined;
    const message =
      how === undefined
        ? { go: true }
        : typeof how === 'string'
          ? { again: how }
          : { error: fieldsOfError(how) };
    for (const { link } of attempt.guests.values()) {
      link.send(message);
      link.close();
    }
    if (how instanceof EagreError) throw how;
    return how;
  }

  /** Ends the wait of all who came. */
  turnAway(error: EagreError): void {
    const all = [...this.#guests.values(), ...(this.#attempt?.guests.values() ?? [])];
    this.#attempt = undefined;
    this.#guests.clear();
    for (const { link } of all) {
      link.send({ error: fieldsOfError(error) });
      link.close();
    }
  }

  /** Listens no more. */
  close(): Promise<void> {
    coordinators.delete((this.#members[0] as Member).address);
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #name(rank: number): string {
    return memberName(this.#members[rank] as Member);
  }

  async #complete(deadline: number): Promise<void> {
    this.#failure = undefined;
    for (;;) {
      const there = [...this.#guests.values()];
      const missing = [...this.#members.keys()].filter((rank) => rank > 0 && !this.#guests.has(rank));
      // Who was lost without a word does not answer.
      if (missing.length === 0 && this.#failure === undefined) {
        const alive = await Promise.all(there.map(({ link }) => link.probe()));
        const same = there.every((guest) => this.#guests.get(guest.hello.rank) === guest);
        if (alive.every(Boolean) && same && this.#failure === undefined) return;
      }
      if (this.#failure !== undefined) {
        this.turnAway(this.#failure);
        throw this.#failure;
      }
      if (missing.length === 0) continue;
      if (Date.now() >= deadline) {
        const names = missing
          .map((rank) => {
            const reason = this.#lost.get(rank);
            return `${this.#name(rank)}${reason === undefined ? '' : `, which was there and is lost again: ${reason},`}`;
          })
          .join(', ');
        const error = new DeadlineExceededError(`${names} did not come in time${this.#refused}`);
        this.turnAway(error);
        throw error;
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(1, deadline - Date.now()));
        this.#changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async #receive(socket: Socket): Promise<void> {
    socket.on('error', () => {});
    const nonce = newNonce();
    let trusted = false;
    let link: WatchedSocket | undefined;
    try {
      sendLine(socket, { eagre: protocol, nonce });
      const message = await nextLine(socket, Date.now() + introductionMs);
      const nonces = [nonce, String(message['nonce'])];
      const proof = proofOf(this.token, 'member', nonces);
      trusted = isProof(message['proof'], proof);
      const hello = checkHello(message, {
        proof,
        cluster: clusterHash(this.clusterKey),
        size: this.#members.length,
      });
      sendLine(socket, { proof: proofOf(this.token, 'coordinator', nonces) });
      let guest: Guest | undefined;
      link = new WatchedSocket(socket, this.silence, {
        onMessage: (sent) => this.#hear(guest as Guest, sent),
        onLost: (reason) => this.#lose(guest as Guest, reason),
      });
      guest = { hello: reachable(hello, link.remoteAddress), link };
      await this.#enter(guest);
    } catch (error) {
      // Strangers are told nothing more; only those who know the token can end a rendezvous.
      this.#refused = ` (a caller was refused: ${(error as Error).message})`;
      if (!(error instanceof EagreError)) socket.destroy();
      else if (link === undefined) refuse(socket, error);
      else {
        link.send({ error: fieldsOfError(error) });
        link.close();
      }
      if (trusted && error instanceof EagreError) {
        if (this.#attempt === undefined) this.#failure ??= error;
        else this.#attempt.end(error);
      }
      this.#changed();
    }
  }

  /** @throws FailedPreconditionError where another process has this rank, and is alive */
  async #enter(guest: Guest): Promise<void> {
    const { rank, instance } = guest.hello;
    for (;;) {
      const before = this.#guests.get(rank) ?? this.#attempt?.guests.get(rank);
      if (before === undefined || !before.link.isOpen) break;
      // A process that calls anew has given up its last call. Another one takes the place of one that is lost.
      if (before.hello.instance !== instance && (await before.link.probe()))
        throw new FailedPreconditionError(`${this.#name(rank)} was started twice`);
      before.link.close();
      this.#lose(before, 'it came again');
    }
    if (!guest.link.isOpen) return;
    this.#guests.set(rank, guest);
    if (this.#attempt === undefined) this.onReturn?.(rank);
    this.#changed();
  }

  #lose(guest: Guest, reason: string): void {
    const { rank } = guest.hello;
    if (this.#guests.get(rank) === guest) {
      this.#guests.delete(rank);
      this.#lost.set(rank, reason);
    }
    if (this.#attempt?.guests.get(rank) === guest)
      this.#attempt.end(`${this.#name(rank)} was lost: ${reason}`);
    this.#changed();
  }

  #hear({ hello: { rank }, link }: Guest, message: Readonly<Record<string, unknown>>): void {
    const attempt = this.#attempt;
    if (attempt?.guests.get(rank)?.link !== link) return;
    const error = message['error'] as Readonly<Record<string, unknown>> | undefined;
    if (message['connected'] === true) this.#connected(rank, attempt);
    else if (typeof error === 'object' && error !== null)
      void this.#failed(rank, attempt, errorOfFields(error));
  }

  #connected(rank: number, { missing, end }: Attempt): void {
    missing.delete(rank);
    if (missing.size === 0) end();
  }

  /** One could not connect: because another one is lost, or because it is out of its reach. */
  async #failed(rank: number, attempt: Attempt, error: Error): Promise<void> {
    // An error of its own says more.
    if (error instanceof EagreError && !(error instanceof UnavailableError)) return attempt.end(error);
    const alive = await Promise.all([...attempt.guests.values()].map(({ link }) => link.probe()));
    if (!alive.every(Boolean)) return;
    attempt.end(
      error instanceof EagreError
        ? error
        : new InternalError(`${this.#name(rank)}: ${error.message}`, undefined, { cause: error }),
    );
  }
}

/** A process that listens everywhere is called where it comes from. */
function reachable(hello: Hello, address: string): Hello {
  return isWildcard(hello.host) ? { ...hello, host: address } : hello;
}

/** Whether a host stands for all addresses of its machine. */
export const isWildcard = (host: string): boolean => /^(?:0(?:\.0){0,3}|[0:]*::[0:]*)$/.test(host);

function refuse(socket: Socket, error: EagreError): void {
  sendLine(socket, { error: fieldsOfError(error) });
  socket.end();
  socket.unref();
}
