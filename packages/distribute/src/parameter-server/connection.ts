// A connection between two processes of a parameter server cluster: questions and their answers.
import { DataLossError, FailedPreconditionError, UnavailableError } from '@eagre/backend';
import type { Tensor } from '@eagre/core';
import { errorOfFields, fieldsOfError } from '../cluster/errors.ts';
import { decodeMessage, encodeMessage, longestMessage, type Message } from './messages.ts';

/** Changes with the messages. */
export const parameterProtocol = 'parameters 1';

/** Where a process shows that it lives. */
export interface Beat {
  readonly port: number;
  readonly key: string;
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
      if (length > longestMessage) throw new DataLossError('a message is too long');
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

/** What is used of a socket of Node, whose types not every project has. */
export interface Wire {
  ref(): unknown;
  unref(): unknown;
  setNoDelay(on: boolean): unknown;
  setKeepAlive(on: boolean, milliseconds: number): unknown;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  resume(): unknown;
  write(bytes: Uint8Array): unknown;
  destroy(): unknown;
}

/** One end of a connection that both have agreed on. */
export class Connection {
  /** How errors name the other end: `ps 0 (host:port)`. */
  readonly name: string;
  readonly #socket: Wire;
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

  constructor(socket: Wire, name: string, lasts = true) {
    this.#lasts = lasts;
    if (!lasts) socket.unref();
    this.#socket = socket;
    this.name = name;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 5000);
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('close', () => this.fail(new UnavailableError(`${name} is lost: the connection was closed`)));
    socket.resume();
  }

  /** Why it has ended, if it has. */
  get failure(): Error | undefined {
    return this.#failure;
  }
  get isOpen(): boolean {
    return this.#failure === undefined;
  }

  /** Asks the other end. @throws what that threw; UnavailableError where it is lost */
  ask(request: Request): Promise<Message> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#send(id, request);
      this.#pending.set(id, { resolve, reject });
      this.#socket.ref();
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

  #receive(chunk: Uint8Array): void {
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
    try {
      if (this.onRequest === undefined) throw new FailedPreconditionError('nobody answers here');
      const given = this.onRequest(message);
      const answer = given instanceof Promise ? await given : given;
      // It may be too long.
      if (this.#failure === undefined) this.#send(message.id, { ...answer, kind: 'ok' });
    } catch (error) {
      if (this.#failure === undefined)
        this.#send(message.id, { kind: 'error', fields: fieldsOfError(error) });
    }
  }
}
