import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Child } from './child.ts';
import { benchFolder } from './peers.ts';

export type LimitKind = 'fma' | 'copy' | 'add' | 'read';

/** FLOP/s or bytes/s. */
export interface Limit {
  readonly best: number;
  readonly median: number;
  /** The instructions that reached it. */
  readonly how: string;
}

/** What the machine can do at most, told by a C++ program that is compiled when needed. */
export class Limits {
  readonly #child: Child;

  private constructor(child: Child) {
    this.#child = child;
  }

  /**
   * @param avx2 whether nothing wider than AVX2 counts.
   * @returns the program, or why there is none.
   */
  static open(avx2: boolean): Limits | string {
    const source = join(benchFolder, 'limits', 'limits.cc');
    const program = join(benchFolder, 'runs', process.platform === 'win32' ? 'limits.exe' : 'limits');
    if (!existsSync(program) || statSync(program).mtimeMs < statSync(source).mtimeMs) {
      mkdirSync(join(benchFolder, 'runs'), { recursive: true });
      const compiler = process.env.CXX || 'c++';
      const args = ['-O2', '-std=c++17', '-pthread', source, '-o', program];
      const { status, error, stderr } = spawnSync(compiler, args, { encoding: 'utf8' });
      if (error !== undefined) return `no C++ compiler (${compiler}: ${error.message})`;
      if (status !== 0) return `${compiler} failed: ${stderr.trim().split('\n')[0]}`;
    }
    return new Limits(new Child(program, avx2 ? ['avx2'] : [], { cwd: benchFolder }));
  }

  async measure(kind: LimitKind, threads: number, seconds: number): Promise<Limit | null> {
    const answer = await this.#child.ask<Limit | { error: string }>(
      `${kind} ${threads} ${seconds}`,
      30 + 4 * seconds,
    );
    return 'error' in answer ? null : answer;
  }

  close(): void {
    this.#child.close();
  }
}
