// Messages on sockets: a line of JSON each.
import type { Socket } from 'node:net';

/** The longest line that is read: a table of addresses of some thousand processes. */
const longest = 4 << 20;

/** Sends a message. */
export function sendLine(socket: Socket, message: object): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

/**
 * The next message. The socket gets no listeners that stay.
 * @throws Error where something else comes, or the connection ends, or nothing has come at `deadline` (of `Date.now()`).
 */
export function nextLine(
  socket: Socket,
  deadline: number,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (error?: Error, message?: Record<string, unknown>): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose).off('error', onError);
      signal?.removeEventListener('abort', onAbort);
      if (error !== undefined) reject(error);
      else resolve(message as Record<string, unknown>);
    };
    const onData = (bytes: Buffer): void => {
      text += bytes.toString('utf8');
      const at = text.indexOf('\n');
      if (at < 0) {
        if (text.length > longest) end(new Error('a message is too long'));
        return;
      }
      socket.pause();
      const message = parsed(text.slice(0, at));
      if (message === undefined) end(new Error('what came is no message of Eagre'));
      else end(undefined, message);
    };
    const onClose = (): void => end(new Error('the connection was closed'));
    const onError = (error: Error): void => end(error);
    const onAbort = (): void => end(new Error('ended'));
    const timer = setTimeout(() => end(new Error('nothing came')), Math.max(0, deadline - Date.now()));
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
