// What probes of several processes start them with.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

/** Runs a program with more variables in its environment; gives what it printed. */
export function run(program, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (data) => (out += data));
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`a process ended with ${code}\n${out}`)),
    );
  });
}

/** The environments of the workers of a cluster, which listen at these addresses. */
export async function workers(hosts) {
  const worker = [];
  for (const host of hosts) worker.push(`${host}:${await freePort()}`);
  return hosts.map((_, index) => ({
    TF_CONFIG: JSON.stringify({ cluster: { worker }, task: { type: 'worker', index } }),
  }));
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
