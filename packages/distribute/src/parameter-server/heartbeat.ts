// Signs of life from a thread of its own, which a long computation does not stop.
import type { Worker } from 'node:worker_threads';
import { nodeBuiltin } from '@eagre/formats/internal';
import { newNonce } from '../cluster/handshake.ts';

/** How often a process says that it lives, in milliseconds. */
const EVERY_MS = 500;

// A module of its own in text: it works wherever this package is bundled to. Who shows the key gets a byte now and then.
const MAIN = `
import { createServer } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
const { host, key, every } = workerData;
const server = createServer((socket) => {
  let text = '';
  let timer = setTimeout(() => socket.destroy(), 10000);
  socket.on('error', () => {});
  socket.on('close', () => clearTimeout(timer));
  socket.on('data', (data) => {
    if (text === key) return;
    text += data.toString('latin1');
    if (text.length < key.length) return;
    if (text !== key) return socket.destroy();
    clearTimeout(timer);
    timer = setInterval(() => socket.write('.'), every);
  });
});
server.on('error', (error) => parentPort.postMessage({ error: error.message }));
server.listen({ host, port: 0 }, () => parentPort.postMessage({ port: server.address().port }));
`;

/** A thread that shows others that the process lives. */
export interface Heartbeat {
  readonly port: number;
  /** Who knows it is shown. */
  readonly key: string;
  stop(): void;
}

/** Starts the thread; it does not keep the process alive. */
export async function startHeartbeat(host: string): Promise<Heartbeat> {
  const { Worker: Thread } = nodeBuiltin('node:worker_threads');
  const key = newNonce();
  const thread: Worker = new Thread(new URL(`data:text/javascript,${encodeURIComponent(MAIN)}`), {
    workerData: { host, key, every: EVERY_MS },
    execArgv: [],
  });
  const port = await new Promise<number>((resolve, reject) => {
    thread.once('message', (answer: { readonly port?: number; readonly error?: string }) => {
      if (answer.port === undefined) reject(new Error(answer.error));
      else resolve(answer.port);
    });
    thread.once('error', reject);
  });
  thread.unref();
  return { port, key, stop: () => void thread.terminate() };
}
