/** For tests: ports that no other process of tests takes. */
import { createServer } from 'node:net';

// Below those that systems choose by themselves.
const [first, last, block] = [10_000, 32_000, 200];

/** Listens. @returns false where somebody else does */
function held(port: number, forGood: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => {
      if (forGood) resolve(server.unref() !== undefined);
      else server.close(() => resolve(true));
    });
  });
}

let own: Promise<number> | undefined;
let used = 0;

/** The first port of a block that is this process's as long as it lives, since it listens there. */
async function ownBlock(): Promise<number> {
  const blocks = (last - first) / block;
  for (let i = 0; i < blocks; i++) {
    const port = first + ((process.pid + i) % blocks) * block;
    if (await held(port, true)) return port;
  }
  throw new Error(`all ports from ${first} to ${last} are taken`);
}

/** Ports on which nobody listens, and which this process gives once. */
export async function testPorts(count: number): Promise<number[]> {
  own ??= ownBlock();
  const begin = await own;
  const ports: number[] = [];
  while (ports.length < count) {
    if (++used >= block) throw new Error(`a file of tests has ${block - 1} ports at most`);
    // Others ask meanwhile.
    const port = begin + used;
    if (await held(port, false)) ports.push(port);
  }
  return ports;
}
