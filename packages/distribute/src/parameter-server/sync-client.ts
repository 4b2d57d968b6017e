// Questions to parameter servers that JavaScript waits for: a thread has the connections, and this thread sleeps until the answer is there.
import type { MessagePort, Worker } from 'node:worker_threads';
import { DeadlineExceededError, PermissionDeniedError, UnavailableError } from '@eagre/backend';
import { nodeBuiltin } from '@eagre/formats/internal';
import { parseAddress } from '../cluster/cluster-spec.ts';
import type { Credentials } from '../cluster/connect-options.ts';
import { errorOfFields } from '../cluster/errors.ts';
import { clusterHash } from '../cluster/handshake.ts';
import { parameterProtocol, type Request } from './connection.ts';
import { decodeMessage, encodeMessage, type Message } from './messages.ts';

// A module of its own in text: it works wherever this package is bundled to. It speaks as `introduce` does, passes messages on as bytes,
// and watches the signs of life of other processes.
const MAIN = `
import { createHmac, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
const { flag, port } = workerData;
const servers = new Map();
let waiting = null;
const answer = (message, transfer = []) => {
  waiting = null;
  port.postMessage(message, transfer);
  Atomics.add(flag, 0, 1);
  Atomics.notify(flag, 0);
};
const proofOf = (token, role, nonces) => createHmac('sha256', token).update(JSON.stringify([role, ...nonces])).digest('hex');
const open = ({ index, host, port, token, session, cluster, protocol }) => {
  const socket = connect({ host, port });
  const nonce = randomBytes(16).toString('hex');
  const server = { socket, chunks: [], size: 0, lost: null };
  servers.set(index, server);
  let text = '';
  let theirs = null;
  const fail = (why, more = {}) => {
    if (server.lost) return;
    server.lost = { lost: why, ...more };
    socket.destroy();
    if (waiting === index) answer(server.lost);
  };
  server.fail = fail;
  socket.setNoDelay(true);
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('the connection was closed'));
  const onLine = (data) => {
    text += data.toString('utf8');
    const at = text.indexOf('\\n');
    if (at < 0) return text.length > 65536 ? fail('what came is no message of Eagre') : undefined;
    let line;
    try { line = JSON.parse(text.slice(0, at)); } catch { return fail('what came is no message of Eagre'); }
    text = text.slice(at + 1);
    if (theirs === null) {
      theirs = String(line.nonce);
      const proof = proofOf(token, 'member', [theirs, nonce]);
      socket.write(JSON.stringify({ role: 'coordinator', session, protocol, nonce, proof, cluster }) + '\\n');
      return;
    }
    if (line.error) return fail('it refused', { refusal: line.error });
    if (line.proof !== proofOf(token, 'coordinator', [theirs, nonce])) return fail('token', { stranger: true });
    socket.off('data', onLine);
    socket.on('data', onBytes);
    answer({ open: true });
  };
  const onBytes = (data) => {
    server.chunks.push(data);
    server.size += data.length;
    if (server.size < 4) return;
    if (server.chunks[0].length < 4) server.chunks = [Buffer.concat(server.chunks)];
    const length = server.chunks[0].readUInt32LE(0);
    if (server.size < 4 + length) return;
    const body = new Uint8Array(length);
    let next = -4;
    for (const chunk of server.chunks) {
      const from = next < 0 ? chunk.subarray(-next) : chunk;
      body.set(from, Math.max(next, 0));
      next += chunk.length;
    }
    server.chunks = [];
    server.size = 0;
    answer({ body }, [body.buffer]);
  };
  socket.on('data', onLine);
};
const watch = ({ index, name, host, port, key, silence }) => {
  const socket = connect({ host, port }, () => socket.write(key));
  let last = Date.now();
  let tick = last;
  const timer = setInterval(() => {
    const now = Date.now();
    // This process stood still itself: it has heard nothing.
    if (now - tick > 1000) last = now;
    tick = now;
    if (now - last < silence) return;
    parentPort.postMessage({ silent: name });
    socket.destroy();
    servers.get(index)?.fail('it is silent');
  }, 200);
  socket.on('data', () => { last = Date.now(); });
  socket.on('error', () => {});
  socket.on('close', () => clearInterval(timer));
};
port.on('message', (message) => {
  if (message.watch) return watch(message.watch);
  const { index, open: how, bytes } = message;
  waiting = index;
  if (how) {
    servers.get(index)?.socket.destroy();
    return open({ index, ...how });
  }
  const server = servers.get(index);
  if (server.lost) return answer(server.lost);
  server.socket.write(bytes);
});
`;

interface Reply {
  readonly open?: true;
  readonly body?: Uint8Array;
  /** Why the server is lost. */
  readonly lost?: string;
  /** What the server said instead of letting this process in. */
  readonly refusal?: Readonly<Record<string, unknown>>;
  /** It does not know the token. */
  readonly stranger?: true;
}

/** Connections to parameter servers whose answers are waited for. */
export class SyncClient {
  readonly #names: readonly string[];
  readonly #timeoutMs: number;
  readonly #flag = new Int32Array(new SharedArrayBuffer(4));
  readonly #port: MessagePort;
  readonly #thread: Worker;
  #next = 1;
  #isClosed = false;

  /**
   * @param names how errors name the servers
   * @param onSilent is told of a process that shows no sign of life any more
   */
  constructor(names: readonly string[], timeoutSeconds: number, onSilent: (name: string) => void) {
    this.#names = names;
    this.#timeoutMs = timeoutSeconds * 1000;
    const { Worker: Thread, MessageChannel } = nodeBuiltin('node:worker_threads');
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#thread = new Thread(new URL(`data:text/javascript,${encodeURIComponent(MAIN)}`), {
      workerData: { flag: this.#flag, port: port2 },
      transferList: [port2],
      execArgv: [],
    });
    this.#thread.on('message', ({ silent }: { readonly silent: string }) => onSilent(silent));
    this.#thread.unref();
    port1.unref();
  }

  /** Opens the connection to a server. @throws as `ask`, PermissionDeniedError for a wrong token */
  open(index: number, address: string, session: string, { token, clusterKey }: Credentials): void {
    const { host, port } = parseAddress(address);
    const how = { host, port, token, session, cluster: clusterHash(clusterKey), protocol: parameterProtocol };
    this.#call(index, { open: how });
  }

  /** Has the thread say when a process shows no sign of life for so long. */
  watch(
    name: string,
    host: string,
    beat: { readonly port: number; readonly key: string },
    seconds: number,
  ): void {
    const index = this.#names.indexOf(name);
    this.#port.postMessage({ watch: { index, name, host, ...beat, silence: seconds * 1000 } });
  }

  /** Asks a server, and waits for the answer. @throws what the server threw; UnavailableError where it is lost */
  ask(index: number, { kind, fields = {}, tensors = [], blobs = [] }: Request): Message {
    const bytes = encodeMessage({ kind, id: this.#next++, fields, tensors, blobs });
    const { body } = this.#call(index, { bytes }, [bytes.buffer as ArrayBuffer]);
    const message = decodeMessage(body as Uint8Array);
    if (message.kind === 'error') throw errorOfFields(message.fields);
    return message;
  }

  #call(index: number, message: object, transfer: readonly ArrayBuffer[] = []): Reply {
    const name = this.#names[index] as string;
    if (this.#isClosed) throw new UnavailableError(`the connection to ${name} was closed`);
    const before = Atomics.load(this.#flag, 0);
    this.#port.postMessage({ index, ...message }, [...transfer]);
    if (Atomics.wait(this.#flag, 0, before, this.#timeoutMs) === 'timed-out') {
      // A late answer would be taken for that of another question.
      this.close();
      throw new DeadlineExceededError(`${name} has not answered for ${this.#timeoutMs / 1000} s`);
    }
    const received = nodeBuiltin('node:worker_threads').receiveMessageOnPort(this.#port);
    const reply = received?.message as Reply;
    if (reply.refusal !== undefined) throw errorOfFields(reply.refusal);
    if (reply.stranger === true)
      throw new PermissionDeniedError(`${name} does not know the token of the cluster (EAGRE_CLUSTER_TOKEN)`);
    if (reply.lost !== undefined) throw new UnavailableError(`${name} is lost: ${reply.lost}`);
    return reply;
  }

  close(): void {
    this.#isClosed = true;
    void this.#thread.terminate();
    this.#port.close();
  }
}
