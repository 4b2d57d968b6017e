// A connection between two processes of a parameter server cluster: questions and their answers.
import type { Socket } from 'node:net';
import {
  EagreError,
  type ErrorCode,
  errorFromCode,
  FailedPreconditionError,
  PermissionDeniedError,
  UnavailableError,
} from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { nodeBuiltin } from '@eagre/formats/internal';
import { parseAddress } from '../cluster/cluster-spec.ts';
import { clusterHash, isProof, proofOf } from '../cluster/handshake.ts';
import { nextLine, sendLine } from '../cluster/lines.ts';
import { decodeMessage, encodeMessage, longestMessage, type Message } from './messages.ts';

/** Changes with the messages. */
export const parameterProtocol = 'parameters 1';

/** How long a caller may take to introduce itself. */
const introductionMs = 10_000;

/** What a process knows of the cluster that it calls or is called in. */
export interface Credentials {
  readonly token: string;
  /** A text that is equal on all processes. */
  readonly clusterKey: string;
}

/** What is sent without its number. */
export interface Request {
  readonly kind: string;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly tensors?: readonly Tensor[];
  readonly blobs?: readonly Uint8Array[];
}

/** What is answered. */
export type Answer = Omit<Request, 'kind'>;

/** Bytes that come, cut into messages. */
export class MessageReader {
  #chunks: Uint8Array[] = [];
  #size = 0;

  /** Adds what has come. @returns the messages that are complete, without their lengths @throws DataLossError for a length that cannot be */
  push(chunk: Uint8Array): Uint8Array[] {
    this.#chunks.push(chunk);
    this.#size += chunk.byteLength;
    const complete: Uint8Array[] = [];
    for (;;) {
      if (this.#size < 4) return complete;
      const length = Buffer.from(this.#peek(4)).readUInt32LE(0);
      if (length > longestMessage) throw new Error('a message is too long');
      if (this.#size < 4 + length) return complete;
      complete.push(this.#take(4 + length).subarray(4));
    }
  }

  #peek(count: number): Uint8Array {
    const [first] = this.#chunks;
    if (first !== undefined && first.byteLength >= count) return first.subarray(0, count);
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all.subarray(0, count);
  }

  #take(count: number): Uint8Array {
    const [first] = this.#chunks;
    const all = first !== undefined && first.byteLength >= count ? first : Buffer.concat(this.#chunks);
    if (all !== first) this.#chunks = [all];
    this.#chunks[0] = all.subarray(count);
    if (all.byteLength === count) this.#chunks.shift();
    this.#size -= count;
    return all.subarray(0, count);
  }
}

interface Pending {
  readonly resolve: (message: Message) => void;
  readonly reject: (error: Error) => void;
}

/** One end of a connection that both have agreed on. */
export class Connection {
  /** How errors name the other end: `ps 0 (host:port)`. */
  readonly name: string;
  readonly #socket: Socket;
  readonly #pending = new Map<number, Pending>();
  readonly #reader = new MessageReader();
  #next = 1;
  #failure: Error | undefined;
  /** Answers questions of the other end. */
  onRequest: ((message: Message) => Answer | Promise<Answer>) | undefined;
  /** Called once, when the other end is gone. */
  onClose: ((error: Error) => void) | undefined;
  /** Whether the process lives on while nothing is asked. */
  readonly #lasts: boolean;

  constructor(socket: Socket, name: string, lasts = true) {
    this.#lasts = lasts;
    if (!lasts) socket.unref();
    this.#socket = socket;
    this.name = name;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 5000);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('close', () => this.fail(new UnavailableError(`${name} is lost: the connection was closed`)));
    socket.resume();
  }

  get isOpen(): boolean {
    return this.#failure === undefined;
  }

  /** Asks the other end. @throws what that threw; UnavailableError where it is lost */
  ask(request: Request): Promise<Message> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#socket.ref();
      try {
        this.#send(id, request);
      } catch (error) {
        this.#pending.delete(id);
        reject(error);
      }
    });
  }

  #send(id: number, { kind, fields = {}, tensors = [], blobs = [] }: Request): void {
    this.#socket.write(encodeMessage({ kind, id, fields, tensors, blobs }));
  }

  /** Ends the connection; who waits for an answer gets the error. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#socket.destroy();
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.onClose?.(error);
  }

  close(): void {
    this.onClose = undefined;
    this.fail(new UnavailableError(`the connection to ${this.name} was closed`));
  }

  #receive(chunk: Buffer): void {
    try {
      for (const body of this.#reader.push(chunk)) this.#handle(decodeMessage(body));
    } catch (error) {
      this.fail(error as Error);
    }
  }

  #handle(message: Message): void {
    if (message.kind !== 'ok' && message.kind !== 'error') {
      void this.#answer(message);
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0 && !this.#lasts) this.#socket.unref();
    if (message.kind === 'ok') pending?.resolve(message);
    else pending?.reject(errorOfFields(message.fields));
  }

  async #answer(message: Message): Promise<void> {
    let answer: Request;
    try {
      if (this.onRequest === undefined) throw new FailedPreconditionError('nobody answers here');
      const given = this.onRequest(message);
      answer = { ...(given instanceof Promise ? await given : given), kind: 'ok' };
    } catch (error) {
      answer = { kind: 'error', fields: fieldsOfError(error) };
    }
    if (this.#failure === undefined) this.#send(message.id, answer);
  }
}

/** An error as it travels. */
export function fieldsOfError(error: unknown): Readonly<Record<string, unknown>> {
  const { message = String(error), name = 'Error', op } = (error ?? {}) as Partial<EagreError>;
  return { code: error instanceof EagreError ? error.code : null, name, message, op: op ?? null };
}

/** The error that has travelled. */
export function errorOfFields(fields: Readonly<Record<string, unknown>>): Error {
  const { code, name, message } = fields;
  if (typeof code === 'string') return errorFromCode(code as ErrorCode, String(message));
  const error = new Error(String(message));
  error.name = String(name);
  return error;
}

/** What a caller says of itself. */
export interface Caller {
  readonly role: 'coordinator' | 'worker';
  /** Which coordinator's cluster it belongs to: another number for each. */
  readonly session: string;
}

/**
 * Introduces this process to a server.
 * @throws UnavailableError where nobody answers; PermissionDeniedError for a wrong token; FailedPreconditionError for another version or cluster
 */
export async function callServer(
  name: string,
  address: string,
  caller: Caller,
  { token, clusterKey }: Credentials,
  deadline: number,
): Promise<{ readonly connection: Connection; readonly answer: Readonly<Record<string, unknown>> }> {
  const socket = await opened(name, address, deadline);
  try {
    const greeting = await nextLine(socket, Math.min(deadline, Date.now() + introductionMs));
    const { nonce } = greeting;
    if (typeof nonce !== 'string') throw new Error('what came is no message of Eagre');
    const own = nodeBuiltin('node:crypto').randomBytes(16).toString('hex');
    const proof = proofOf(token, 'member', [nonce, own]);
    const cluster = clusterHash(clusterKey);
    sendLine(socket, { ...caller, protocol: parameterProtocol, nonce: own, proof, cluster });
    const answer = await nextLine(socket, Math.min(deadline, Date.now() + introductionMs));
    const refusal = answer['error'] as Readonly<Record<string, unknown>> | undefined;
    if (typeof refusal === 'object' && refusal !== null) throw errorOfFields(refusal);
    if (!isProof(answer['proof'], proofOf(token, 'coordinator', [nonce, own])))
      throw new PermissionDeniedError(`${name} does not know the token of the cluster (EAGRE_CLUSTER_TOKEN)`);
    return { connection: new Connection(socket, name, false), answer };
  } catch (error) {
    socket.destroy();
    if (error instanceof EagreError) throw error;
    throw new UnavailableError(`${name} does not answer: ${(error as Error).message}`, undefined, {
      cause: error,
    });
  }
}

/** Checks a caller, as the server that it has called. @throws as `callServer`, which is told the error */
export async function receiveCaller(
  socket: Socket,
  { token, clusterKey }: Credentials,
  more: Readonly<Record<string, unknown>>,
): Promise<Caller> {
  const nonce = nodeBuiltin('node:crypto').randomBytes(16).toString('hex');
  sendLine(socket, { eagre: parameterProtocol, nonce });
  const message = await nextLine(socket, Date.now() + introductionMs);
  const own = String(message['nonce']);
  try {
    if (message['protocol'] !== parameterProtocol)
      throw new FailedPreconditionError(
        `the processes run different versions of Eagre, or different strategies: ${JSON.stringify(message['protocol'] ?? null)} and '${parameterProtocol}'`,
      );
    if (!isProof(message['proof'], proofOf(token, 'member', [nonce, own])))
      throw new PermissionDeniedError('the token of the cluster is wrong (EAGRE_CLUSTER_TOKEN)');
    if (message['cluster'] !== clusterHash(clusterKey))
      throw new FailedPreconditionError('the processes were given different clusters (TF_CONFIG)');
    const { role, session } = message;
    if ((role !== 'coordinator' && role !== 'worker') || typeof session !== 'string' || session.length > 100)
      throw new FailedPreconditionError('a process introduced itself by something else');
    sendLine(socket, { ...more, proof: proofOf(token, 'coordinator', [nonce, own]) });
    return { role, session };
  } catch (error) {
    sendLine(socket, { error: fieldsOfError(error) });
    socket.end();
    throw error;
  }
}

function opened(name: string, address: string, deadline: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = nodeBuiltin('node:net').connect({ ...parseAddress(address) });
    const fail = (why: string): void => {
      socket.destroy();
      reject(new UnavailableError(`${name} cannot be reached: ${why}`));
    };
    const timer = setTimeout(
      () => fail('there is no answer'),
      Math.max(1, Math.min(5000, deadline - Date.now())),
    );
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error').on('error', () => {});
      resolve(socket.pause());
    });
    socket.once('error', (error) => {
      clearTimeout(timer);
      fail(error.message);
    });
  });
}
