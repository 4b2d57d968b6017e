import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { program } from './program.ts';
import { type RunClusterOptions, runCluster, type Surroundings } from './run-cluster.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-run-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(code: string): string {
  const path = join(folder, 'program.mjs');
  writeFileSync(path, code);
  return path;
}

interface Ran {
  readonly code: number;
  readonly out: readonly string[];
  readonly err: readonly string[];
}

/** Runs a program; `signals` is called with what sends a signal, when text was printed. */
async function ran(
  code: string,
  options: Partial<RunClusterOptions> = {},
  args: readonly string[] = [],
  onText: (text: string, send: (signal: NodeJS.Signals) => void) => void = () => {},
): Promise<Ran> {
  let out = '';
  let err = '';
  let send: (signal: NodeJS.Signals) => void = () => {};
  const surroundings: Surroundings = {
    out: {
      write: (text) => {
        out += text;
        onText(out, send);
      },
    },
    err: { write: (text) => (err += text) },
    onSignal: (fn) => {
      send = fn;
      return () => {
        send = () => {};
      };
    },
    patience: 1000,
  };
  const exit = await runCluster(file(code), args, { processes: 2, maxRestarts: 0, ...options }, surroundings);
  const lines = (text: string): readonly string[] => text.split('\n').filter(Boolean).sort();
  return { code: exit, out: lines(out), err: lines(err) };
}

const task = 'const { cluster, task } = JSON.parse(process.env.TF_CONFIG);';

describe('eagre run', () => {
  it('tells each process who it is, and marks its lines', async () => {
    const { code, out, err } = await ran(
      `${task} console.log(JSON.stringify([cluster.worker.length, task, process.argv.slice(2)]));
      console.error('warned'); process.stdout.write('without an end');`,
      {},
      ['--epochs', '3'],
    );
    expect(code).toBe(0);
    expect(out).toEqual([
      '[worker 0] [2,{"type":"worker","index":0},["--epochs","3"]]',
      '[worker 0] without an end',
      '[worker 1] [2,{"type":"worker","index":1},["--epochs","3"]]',
      '[worker 1] without an end',
    ]);
    expect(err).toEqual(['[worker 0] warned', '[worker 1] warned']);
  });
  it('gives all the same addresses and token', async () => {
    const { out } = await ran(
      `${task} console.log(JSON.stringify([cluster.worker, process.env.EAGRE_CLUSTER_TOKEN]));`,
      { processes: 3 },
    );
    const [first, ...others] = out.map((line) => line.slice('[worker 0] '.length));
    expect(others).toEqual([first, first]);
    const [worker, token] = JSON.parse(first) as [string[], string];
    expect(new Set(worker).size).toBe(3);
    expect(token).toMatch(/^[0-9a-f]{32}$/);
  });
  it('starts parameter servers and a coordinator, with whose end all end', async () => {
    const { code, out } = await ran(
      `${task} console.log(JSON.stringify([task.type, task.index, cluster.worker.length, cluster.ps.length, cluster.chief.length]));
      if (task.type !== 'chief') setInterval(() => {}, 1000); else setTimeout(() => {}, 500);`,
      { processes: 2, ps: 1 },
    );
    expect(code).toBe(0);
    expect(out).toEqual([
      '[chief 0] ["chief",0,2,1,1]',
      '[ps 0] ["ps",0,2,1,1]',
      '[worker 0] ["worker",0,2,1,1]',
      '[worker 1] ["worker",1,2,1,1]',
    ]);
    await expect(ran('', { ps: 1, hosts: ['a', 'b'] })).rejects.toThrow(/--ps/);
  });
  it('ends the others when one fails, with its exit code', async () => {
    const { code, err } = await ran(
      `${task} if (task.index === 1) process.exit(7); setInterval(() => {}, 1000);`,
    );
    expect(code).toBe(7);
    expect(err).toEqual(['eagre run: worker 1 ended with exit code 7']);
  });
  it('ends those that do not want to', async () => {
    const { code } = await ran(
      `${task} process.on('SIGTERM', () => {}); if (task.index === 1) setTimeout(() => process.exit(3), 300); setInterval(() => {}, 1000);`,
    );
    expect(code).toBe(3);
  });
  it('starts one that was killed again, and no more often than it may', async () => {
    const path = JSON.stringify(join(folder, 'count'));
    const { code, err } = await ran(
      `${task} import { appendFileSync } from 'node:fs';
      if (task.index === 1) { appendFileSync(${path}, process.env.EAGRE_RESTARTS); if (process.env.EAGRE_RESTARTS < 2) process.kill(process.pid, 'SIGKILL'); }`,
      { maxRestarts: 2 },
    );
    expect(code).toBe(0);
    expect(readFileSync(join(folder, 'count'), 'utf8')).toBe('012');
    expect(err).toEqual([
      'eagre run: worker 1 ended with signal SIGKILL; started again (1 of 2)',
      'eagre run: worker 1 ended with signal SIGKILL; started again (2 of 2)',
    ]);
    const again = await ran(`${task} if (task.index === 1) process.kill(process.pid, 'SIGKILL');`, {
      maxRestarts: 1,
    });
    expect(again.code).toBe(137);
  });
  it('passes signals on', async () => {
    const { code, out } = await ran(
      `process.on('SIGINT', () => { console.log('interrupted'); process.exit(0); }); setInterval(() => {}, 1000); console.log('ready');`,
      {},
      [],
      (text, send) => {
        if (text.match(/ready/g)?.length === 2 && !text.includes('interrupted')) send('SIGINT');
      },
    );
    expect(code).toBe(130);
    expect(out.filter((line) => line.includes('interrupted'))).toHaveLength(2);
  });
  it('says that a program is not there', async () => {
    const err: string[] = [];
    const code = await runCluster(
      join(folder, 'none.mjs'),
      [],
      { processes: 1, maxRestarts: 0 },
      {
        out: { write: () => {} },
        err: { write: (text) => err.push(text) },
        onSignal: () => () => {},
      },
    );
    expect(code).toBe(1);
    expect(err.join('')).toContain('none.mjs');
  });
  it('finds this machine among several', async () => {
    process.env['EAGRE_CLUSTER_TOKEN'] = 'shared';
    try {
      const { out } = await ran(
        `${task} console.log(JSON.stringify([cluster.worker, task.index, process.env.EAGRE_CLUSTER_TOKEN]));`,
        { hosts: ['198.51.100.1', '127.0.0.1'], processes: 1, port: 4000 },
      );
      expect(out).toEqual(['[worker 1] [["198.51.100.1:4000","127.0.0.1:4000"],1,"shared"]']);
      await expect(ran('', { hosts: ['198.51.100.1', '198.51.100.2'] })).rejects.toThrow(
        /none of .*--host-index/,
      );
      const { out: named } = await ran(`${task} console.log(task.index);`, {
        hosts: ['198.51.100.1', '198.51.100.2'],
        hostIndex: 1,
        processes: 2,
      });
      expect(named).toEqual(['[worker 2] 2', '[worker 3] 3']);
    } finally {
      delete process.env['EAGRE_CLUSTER_TOKEN'];
    }
    await expect(ran('', { hosts: ['127.0.0.1', '198.51.100.2'] })).rejects.toThrow(/EAGRE_CLUSTER_TOKEN/);
  });
  it('does not start itself again', async () => {
    process.env['EAGRE_RESTARTS'] = '0';
    try {
      await expect(ran('')).rejects.toThrow(/cannot call it again/);
    } finally {
      delete process.env['EAGRE_RESTARTS'];
    }
  });
  it('is a command whose options end at the program', async () => {
    const codes: number[] = [];
    const path = file(`process.exit(process.argv.slice(2).join() === '-n,5,--port' ? 4 : 5);`);
    await program('1.0', { write: () => {} }, (code) => codes.push(code)).parseAsync(
      ['run', '-n', '1', path, '-n', '5', '--port'],
      { from: 'user' },
    );
    expect(codes).toEqual([4]);
  });
});
