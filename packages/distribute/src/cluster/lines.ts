// Messages on sockets: a line of JSON each.
import type { Socket } from 'node:net';

/** The longest line that is read: a table of addresses of some thousand processes. */
const longest = 4 << 20;

/** Sends a message. */
export function sendLine(socket: Socket, message: object): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/**
 * The next message. The socket gets no listeners that stay, and keeps what comes behind the message. Its timer does not keep the process alive.
 * @throws Error where something else comes, or the connection ends, or nothing has come at `deadline` (of `Date.now()`; null for none).
 */
export function nextLine(
  socket: Socket,
  deadline: number | null,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (error?: Error, message?: Record<string, unknown>): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose).off('error', onError);
      signal?.removeEventListener('abort', onAbort);
      if (error !== undefined) reject(error);
      else resolve(message as Record<string, unknown>);
    };
    const onData = (bytes: Buffer): void => {
      const at = bytes.indexOf(10);
      chunks.push(at < 0 ? bytes : bytes.subarray(0, at));
      size += bytes.length;
      if (at < 0) {
        if (size > longest) end(new Error('a message is too long'));
        return;
      }
      socket.pause();
      if (at + 1 < bytes.length) socket.unshift(bytes.subarray(at + 1));
      const message = parsed(Buffer.concat(chunks).toString('utf8'));
      if (message === undefined) end(new Error('what came is no message of Eagre'));
      else end(undefined, message);
    };
    const onClose = (): void => end(new Error('the connection was closed'));
    const onError = (error: Error): void => end(error);
    const onAbort = (): void => end(new Error('ended'));
    const timer =
      deadline === null
        ? undefined
        : setTimeout(() => end(new Error('nothing came')), Math.max(0, deadline - Date.now()));
    timer?.unref();
    socket.on('data', onData).on('close', onClose).on('error', onError);
    signal?.addEventListener('abort', onAbort);
    if (socket.destroyed) return onClose();
    socket.resume();
  });
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null && !Array.isArray(message)
      ? (message as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
