import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { benchFolder } from './peers.ts';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly system: string;
  readonly node: string;
  /** Of this checkout; `+` when files have been changed since. */
  readonly commit: string;
}

export function describeMachine(): Machine {
  const git = (...args: string[]): string =>
    spawnSync('git', args, { cwd: benchFolder, encoding: 'utf8' }).stdout?.trim() ?? '';
  const commit = git('rev-parse', '--short', 'HEAD');
  const changed = git('status', '--porcelain') !== '';
  return {
    cpu: cpuModel(),
    cores: os.availableParallelism(),
    memoryGB: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    node: process.version,
    commit: commit === '' ? 'unknown' : `${commit}${changed ? '+' : ''}`,
  };
}

function cpuModel(): string {
  const model = os.cpus()[0]?.model.trim() || os.arch();
  try {
    // Virtual machines hide the name; family and model tell what it is.
    const info = readFileSync('/proc/cpuinfo', 'utf8');
    const field = (name: string): string | undefined =>
      new RegExp(`^${name}\\s*: (.*)$`, 'm').exec(info)?.[1];
    const family = field('cpu family');
    return family === undefined ? model : `${model} (family ${family}, model ${field('model')})`;
  } catch {
    return model;
  }
}

/** How many cores others keep busy at the moment, seen while this process sleeps. */
export async function busyCores(milliseconds: number): Promise<number> {
  const read = (): { busy: number; all: number } => {
    let busy = 0;
    let all = 0;
    for (const { times } of os.cpus()) {
      const sum = times.user + times.nice + times.sys + times.irq + times.idle;
      all += sum;
      busy += sum - times.idle;
    }
    return { busy, all };
  };
  const before = read();
  await sleep(milliseconds);
  const after = read();
  const all = after.all - before.all;
  return all === 0 ? 0 : ((after.busy - before.busy) / all) * os.cpus().length;
}
