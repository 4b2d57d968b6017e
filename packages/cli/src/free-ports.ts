import { createServer } from 'node:net';

const given = new Set<number>();

/** Ports of this machine that are free now: none of those that systems choose by themselves, which another process may get before this one listens. */
export const freePorts = (count: number): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, freePort));

async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    if (given.has(port)) continue;
    given.add(port);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}
