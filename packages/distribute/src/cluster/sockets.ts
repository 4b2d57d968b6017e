// Connections between the processes of a cluster.
import type { Server, Socket } from 'node:net';
import { UnavailableError } from '@eagre/backend';
import { nodeBuiltin } from '@eagre/formats/internal';
import { parseAddress } from './cluster-spec.ts';

/** Connects to an address. @throws Error where nobody answers within 5 seconds, or at `deadline` (of `Date.now()`) */
export function openSocket(address: string, deadline: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = nodeBuiltin('node:net').connect({ ...parseAddress(address) });
    const timer = setTimeout(
      () => socket.destroy(new Error('there is no answer')),
      Math.max(1, Math.min(5000, deadline - Date.now())),
    );
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.on('error', () => {});
      resolve(socket.pause());
    });
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

/** Begins to listen. @throws UnavailableError where the address is taken, or none of this machine */
export function listenAt(server: Server, address: string, name: string, op?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why =
        cause.code === 'EADDRINUSE'
          ? 'another program listens there'
          : cause.code === 'EADDRNOTAVAIL'
            ? 'that is no address of this machine'
            : cause.message;
      reject(new UnavailableError(`${name} cannot listen at ${address}: ${why}`, op, { cause }));
    });
    server.listen({ ...parseAddress(address) }, () => resolve());
  });
}
