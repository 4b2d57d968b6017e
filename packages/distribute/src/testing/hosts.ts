/** For tests: hosts of a network of their own, whose cables can be pulled. */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { type Running, start } from './processes.ts';

/** A host: a network namespace. */
export interface Host {
  readonly ip: string;
  /** From now on what it sends, and what is sent to it, is lost; nobody is told. */
  cut(): void;
  mend(): void;
  /** Drops what it sends to another one, which hears nothing of it. */
  dropTo(other: Host): void;
  /** Until a connection that it opened to a port has brought so many bytes; for 0, until there is none. */
  hears(port: number, bytes: number): Promise<void>;
  run(program: string, env?: Readonly<Record<string, string>>): Running;
  /** Ends its processes as a power cut does: the cable is pulled first, so that no connection ends. */
  powerCut(): Promise<void>;
}

/** Hosts that reach each other. */
export interface Network {
  readonly hosts: readonly Host[];
  close(): void;
}

const ip = (...args: readonly string[]): void => {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
};

let made = 0;

/** Makes hosts. @throws Error where the system makes no network namespaces */
export function network(size: number): Network {
  const prefix = `eagre-${process.pid}-${made++}`;
  const hub = `${prefix}-hub`;
  const spaces: string[] = [];
  const add = (name: string): void => {
    ip('netns', 'add', name);
    spaces.push(name);
  };
  const running = new Set<Running>();
  const close = (): void => {
    for (const { child } of running) child.kill('SIGKILL');
    for (const name of spaces.splice(0)) ip('netns', 'del', name);
  };
  try {
    add(hub);
    ip('-n', hub, 'link', 'add', 'bridge', 'type', 'bridge');
    ip('-n', hub, 'link', 'set', 'bridge', 'up');
    const hosts = Array.from({ length: size }, (_, i): Host => {
      const name = `${prefix}-${i}`;
      const port = `port${i}`;
      const address = `10.77.0.${i + 1}`;
      add(name);
      ip('link', 'add', 'eth0', 'netns', name, 'type', 'veth', 'peer', 'name', port, 'netns', hub);
      ip('-n', name, 'address', 'add', `${address}/24`, 'dev', 'eth0');
      for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up');
      ip('-n', hub, 'link', 'set', port, 'up');
      const command = ['netns', 'exec', name];
      const own = new Set<Running>();
      const host: Host = {
        ip: address,
        // The cable stays in at this end: no carrier is lost.
        cut: () => ip('-n', hub, 'link', 'set', port, 'nomaster'),
        mend: () => ip('-n', hub, 'link', 'set', port, 'master', 'bridge'),
        dropTo: (other) => ip('-n', name, 'route', 'add', 'blackhole', `${other.ip}/32`),
        hears: async (to, bytes) => {
          const list = ['ss', '-Htin', 'state', 'established', `dport = :${to}`];
          for (;;) {
            const { stdout } = await promisify(execFile)('ip', [...command, ...list]);
            const most = Math.max(
              -1,
              ...stdout.split('\n').map((text) => Number(/bytes_received:(\d+)/.exec(text)?.[1] ?? -1)),
            );
            if (bytes === 0 ? stdout.trim() === '' : most >= bytes) return;
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        },
        run: (program, env) => {
          const one = start(program, env, ['ip', ...command]);
          running.add(one);
          own.add(one);
          return one;
        },
        powerCut: async () => {
          host.cut();
          const all = [...own];
          for (const { child } of all) child.kill('SIGKILL');
          await Promise.all(all.map(({ ended }) => ended));
        },
      };
      host.mend();
      return host;
    });
    return { hosts, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Why tests in network namespaces are skipped; undefined where they are not. */
export const withoutNamespaces: string | undefined = (() => {
  try {
    network(1).close();
    return undefined;
  } catch (error) {
    const { stderr, message } = error as { readonly stderr?: Buffer; readonly message: string };
    const reason = stderr?.toString().trim() || message;
    console.warn(`Tests in network namespaces are skipped, which take Linux, root and iproute2: ${reason}`);
    return reason;
  }
})();
