import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { benchFolder } from './peers.ts';

/** What a program in probes/ prints. */
export interface ProbeAnswer {
  readonly value: number;
  /** Bytes per second. */
  readonly limit?: number;
  readonly detail?: string;
}

/** Runs a fresh Node, without loaders, on a probe. @throws Error when it fails. */
export function probeEagre(name: string, args: readonly string[] = []): Promise<ProbeAnswer> {
  return answerOf(process.execPath, [join(benchFolder, 'probes', `${name}.mjs`), ...args]);
}

/** Runs a peer's program. @throws Error when it fails. */
export function probePython(python: string, args: readonly string[]): Promise<ProbeAnswer> {
  return answerOf(python, args);
}

function answerOf(command: string, args: readonly string[]): Promise<ProbeAnswer> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: benchFolder, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (text) => (out += text));
    child.stderr.on('data', (text) => (err = (err + text).slice(-2000)));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(out.trim().split('\n').at(-1)!) as ProbeAnswer);
      else reject(new Error(err.split('\n').find((l) => /Error/.test(l)) ?? `ended with code ${code}`));
    });
  });
}
