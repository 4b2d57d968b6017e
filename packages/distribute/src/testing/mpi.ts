/** For tests: programs under `mpiexec`, where there is one, with a library of MPI's standard ABI. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { testPorts } from './ports.ts';
import type { Outcome } from './processes.ts';

interface Mpi {
  readonly mpiexec: string;
  readonly library: string;
}

/** The `mpiexec` of `EAGRE_MPIEXEC`, or that of the path, with the library beside it. */
function find(): Mpi | undefined {
  try {
    const mpiexec =
      process.env['EAGRE_MPIEXEC'] ??
      execFileSync('sh', ['-c', 'command -v mpiexec'], { encoding: 'utf8' }).trim();
    const library = join(dirname(dirname(mpiexec)), 'lib', 'libmpi_abi.so.1');
    return existsSync(mpiexec) && existsSync(library) ? { mpiexec, library } : undefined;
  } catch {
    return undefined;
  }
}

export const mpi: Mpi | undefined = find();

/** Why tests of MPI are skipped; undefined where they are not. */
export const withoutMpi: string | undefined =
  mpi === undefined
    ? 'Tests of MPI are skipped: there is no mpiexec of an MPI 5 (pip install mpich; EAGRE_MPIEXEC names it)'
    : undefined;
if (withoutMpi !== undefined) console.warn(withoutMpi);

/** Runs a program in `size` processes under mpiexec. `out` has what all printed, in any order. */
export async function mpirun(
  size: number,
  program: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const { mpiexec, library } = mpi as Mpi;
  const [port] = await testPorts(1);
  return new Promise((resolve) => {
    const child = execFile(
      mpiexec,
      ['-n', String(size), process.execPath, '--input-type=module', '-e', program],
      {
        env: {
          ...process.env,
          NODE_OPTIONS: '',
          EAGRE_NUM_THREADS: '1',
          EAGRE_MPI_LIBRARY: library,
          EAGRE_COORDINATOR: `127.0.0.1:${port}`,
          ...env,
        },
        timeout: 900_000,
      },
      (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
        resolve({ code, signal: child.signalCode, out: out.trim(), err });
      },
    );
  });
}
