// Rank 0's part of a rendezvous: it listens at its address of the cluster as long as the process lives, and lets each generation begin.

import type { Server, Socket } from 'node:net';
import { DeadlineExceededError, EagreError, FailedPreconditionError } from '@eagre/backend';
import { nodeBuiltin } from '@eagre/formats/internal';
import { type Member, memberName } from './cluster-spec.ts';
import { fieldsOfError } from './errors.ts';
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

interface Guest {
  readonly hello: Hello;
  readonly socket: Socket;
  readonly nonce: string;
  readonly ownNonce: string;
}

/** What all processes of a generation know. */
export interface Table {
  readonly generation: number;
  /** A number of 64 bits that strangers do not know. */
  readonly key: string;
  readonly hellos: readonly Hello[];
}

const coordinators = new Map<string, Promise<Coordinator>>();

/** The one that listens at the address of rank 0. @throws UnavailableError where somebody else does */
export async function coordinatorOf(
  members: readonly Member[],
  clusterKey: string,
  token: string,
): Promise<Coordinator> {
  const { address } = members[0] as Member;
  const known = await coordinators.get(address)?.catch(() => undefined);
  if (known !== undefined) {
    if (known.clusterKey === clusterKey && known.token === token) return known;
    await known.close();
  }
  const listening = Coordinator.listen(members, clusterKey, token);
  coordinators.set(address, listening);
  listening.catch(() => coordinators.delete(address));
  return listening;
}

/** Lets the others in, one generation after the other. */
export class Coordinator {
  readonly clusterKey: string;
  readonly token: string;
  /** Called where a process comes that was thought to take part: it was started again. */
  onReturn: ((rank: number) => void) | undefined;
  readonly #members: readonly Member[];
  readonly #server: Server;
  readonly #guests = new Map<number, Guest>();
  /** Those that have been told to begin. */
  readonly #began = new Set<Socket>();
  #changed: () => void = () => {};
  #failure: EagreError | undefined;
  #refused = '';

  private constructor(members: readonly Member[], clusterKey: string, token: string, server: Server) {
    this.#members = members;
    this.clusterKey = clusterKey;
    this.token = token;
    this.#server = server;
    server.on('connection', (socket) => void this.#receive(socket));
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
   * Waits for all others, and tells each of them `own` and what the others showed.
   * @throws DeadlineExceededError that names who did not come; FailedPreconditionError where one runs something else
   */
  async begin(own: Hello, deadline: number): Promise<Table> {
    await this.#complete(deadline);
    const guests = [...this.#guests.values()];
    this.#guests.clear();
    const hellos: Hello[] = [own];
    for (const { hello } of guests) hellos[hello.rank] = hello;
    const generation = Math.max(...hellos.map((hello) => hello.generation)) + 1;
    const table = {
      generation,
      key: nodeBuiltin('node:crypto').randomBytes(8).readBigUInt64LE().toString(),
      hellos,
    };
    for (const { socket, nonce, ownNonce } of guests) {
      this.#began.add(socket);
      sendLine(socket, { ...table, proof: proofOf(this.token, 'coordinator', [nonce, ownNonce]) });
      socket.end();
      socket.unref();
    }
    return table;
  }

  /** Ends the wait of all who came. */
  turnAway(error: EagreError): void {
    for (const { socket } of this.#guests.values()) refuse(socket, error);
    this.#guests.clear();
  }

  /** Listens no more. */
  close(): Promise<void> {
    coordinators.delete((this.#members[0] as Member).address);
    for (const { socket } of this.#guests.values()) socket.destroy();
    for (const socket of this.#began) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #complete(deadline: number): Promise<void> {
    this.#failure = undefined;
    for (;;) {
      if (this.#failure !== undefined) {
        this.turnAway(this.#failure);
        throw this.#failure;
      }
      const missing = this.#members.filter((_, rank) => rank > 0 && !this.#guests.has(rank));
      if (missing.length === 0) return;
      if (Date.now() >= deadline) {
        const names = missing.map(memberName).join(', ');
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
    try {
      sendLine(socket, { eagre: protocol, nonce });
      const message = await nextLine(socket, Date.now() + introductionMs);
      const ownNonce = String(message['nonce']);
      const proof = proofOf(this.token, 'member', [nonce, ownNonce]);
      trusted = isProof(message['proof'], proof);
      const hello = checkHello(message, {
        proof,
        cluster: clusterHash(this.clusterKey),
        size: this.#members.length,
      });
      this.#enter({ hello, socket, nonce, ownNonce });
    } catch (error) {
      // Strangers are told nothing more; only those who know the token can end a rendezvous.
      this.#refused = ` (a caller was refused: ${(error as Error).message})`;
      if (error instanceof EagreError) refuse(socket, error);
      else socket.destroy();
      if (trusted && error instanceof EagreError) this.#failure ??= error;
      this.#changed();
    }
  }

  #enter(guest: Guest): void {
    const { hello, socket } = guest;
    const before = this.#guests.get(hello.rank);
    if (before !== undefined && !before.socket.destroyed)
      throw new FailedPreconditionError(
        `${memberName(this.#members[hello.rank] as Member)} was started twice`,
      );
    this.#guests.set(hello.rank, guest);
    socket.on('close', () => {
      if (this.#guests.get(hello.rank) === guest) this.#guests.delete(hello.rank);
      this.#began.delete(socket);
      this.#changed();
    });
    socket.resume();
    this.onReturn?.(hello.rank);
    this.#changed();
  }
}

function refuse(socket: Socket, error: EagreError): void {
  sendLine(socket, { error: fieldsOfError(error) });
  socket.end();
  socket.unref();
}
