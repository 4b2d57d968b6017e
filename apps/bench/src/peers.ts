import { spawnSync } from 'node:child_process';
import { delimiter, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child } from './child.ts';
import type { Failed, Hello, Measured, Prepared, Request } from './protocol.ts';

/** One of the libraries that are compared. */
export interface Library {
  readonly id: string;
  readonly title: string;
  /** The module of Python that it is, where it is one. */
  readonly module?: string;
  /** Where its process runs, if not here. */
  readonly folder?: string;
  /** Where it can use no more threads than these. */
  readonly maxThreads?: number;
  /** Set for its process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it runs only where it is asked for. */
  readonly onlyNamed?: true;
  readonly command: (threads: number) => readonly [command: string, ...args: string[]];
}

const folder: string = fileURLToPath(new URL('..', import.meta.url));
export const benchFolder: string = folder;
/** Each library takes the first of these that has it: some cannot be installed beside each other. */
const pythons: readonly string[] = (process.env.EAGRE_BENCH_PYTHON || 'python3').split(delimiter);
const HAS = 'import importlib.util as u, sys; sys.exit(u.find_spec(sys.argv[1]) is None)';
const chosen = new Map<string, string>();

/** The Python that has a library; the first one where none does, which then says so. */
export function pythonOf(module: string): string {
  let python = chosen.get(module);
  if (python === undefined) {
    python = choosePython(pythons, (p) => spawnSync(p, ['-c', HAS, module]).status === 0);
    chosen.set(module, python);
  }
  return python;
}

/** The first that has it, else the first. A single one is not asked. */
export function choosePython(pythons: readonly string[], has: (python: string) => boolean): string {
  return (pythons.length > 1 && pythons.find(has)) || pythons[0]!;
}

// Children that run TypeScript get the flags that this process got for it.
const node = (...args: string[]): [string, ...string[]] => [process.execPath, ...process.execArgv, ...args];

export const eagre: Library = {
  id: 'eagre',
  title: 'Eagre',
  command: (threads) => node('src/eagre-peer.ts', '--threads', `${threads}`),
};

/** Another checkout of Eagre, whose own workloads run. */
export function before(checkout: string): Library {
  return { ...eagre, id: 'before', title: 'Eagre before', folder: resolve(checkout, 'apps/bench') };
}

function inPython(id: string, title: string, module: string, ...flags: string[]): Library {
  return {
    id,
    title,
    module,
    command: (threads) => [pythonOf(module), `peers/${module}_peer.py`, '--threads', `${threads}`, ...flags],
  };
}

function tfjs(backend: string): Library {
  return {
    id: `tfjs-${backend}`,
    title: `TensorFlow.js ${backend}`,
    maxThreads: 1,
    command: (threads) => node('peers/tfjs_peer.mjs', '--backend', backend, '--threads', `${threads}`),
  };
}

/** Eagre itself on another backend. */
function onBackend(backend: string, title: string, maxThreads?: number): Library {
  const env = { EAGRE_BACKEND: backend };
  const library = {
    ...eagre,
    id: `eagre-${backend}`,
    title: `Eagre on ${title}`,
    env,
    onlyNamed: true,
  } as const;
  return maxThreads === undefined ? library : { ...library, maxThreads };
}

/** A library's WebAssembly in a page of Chromium. */
function inPage(library: 'eagre' | 'tfjs', title: string): Library {
  return {
    id: `${library}-chromium`,
    title: `${title} in Chromium`,
    onlyNamed: true,
    command: (threads) => node('src/page-peer.ts', '--library', library, '--threads', `${threads}`),
  };
}

export const peers: readonly Library[] = [
  inPython('torch', 'PyTorch', 'torch'),
  inPython('torch-compile', 'torch.compile', 'torch', '--compiled'),
  inPython('tensorflow', 'TensorFlow', 'tensorflow'),
  inPython('tensorflow-function', 'TensorFlow function', 'tensorflow', '--compiled'),
  inPython('jax', 'JAX jit', 'jax', '--compiled'),
  inPython('numpy', 'NumPy and SciPy', 'scipy'),
  tfjs('wasm'),
  tfjs('cpu'),
  onBackend('wasm', 'WebAssembly'),
  onBackend('js', 'JavaScript', 1),
  inPage('eagre', 'Eagre'),
  inPage('tfjs', 'TensorFlow.js'),
];

/** What keeps each library from using more than AVX2. XLA's YNNPACK asks the processor itself, so it multiplies no matrices. */
const avx2Only: Readonly<Record<string, string>> = {
  EAGRE_ISA: 'avx2',
  ATEN_CPU_CAPABILITY: 'avx2',
  ONEDNN_MAX_CPU_ISA: 'AVX2',
  MKL_ENABLE_INSTRUCTIONS: 'AVX2',
  OPENBLAS_CORETYPE: 'Haswell',
  XLA_FLAGS:
    '--xla_cpu_max_isa=AVX2 --xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_ELTWISE,LIBRARY_FUSION_TYPE_REDUCE',
};

const START_SECONDS = 120;
// Beyond the time that is asked for; some peers take many seconds for what others do in one, or to compile it.
const PATIENCE_SECONDS = 120;

/** One library with one number of threads: a process, started again if it had to be killed. */
export class Contender {
  readonly library: Library;
  readonly threads: number;
  #child: Child | null = null;

  readonly #avx2: boolean;

  /** @param avx2 whether it may use no more than AVX2. */
  constructor(library: Library, threads: number, avx2 = false) {
    this.library = library;
    this.threads = threads;
    this.#avx2 = avx2;
  }

  get label(): string {
    return `${this.library.title}, ${this.threads} ${this.threads === 1 ? 'thread' : 'threads'}`;
  }

  async start(): Promise<Hello> {
    const [command, ...args] = this.library.command(this.threads);
    const n = `${this.threads}`;
    this.#child = new Child(command, args, {
      cwd: this.library.folder ?? folder,
      env: {
        ...process.env,
        ...this.library.env,
        ...(this.#avx2 ? avx2Only : {}),
        EAGRE_NUM_THREADS: n,
        OMP_NUM_THREADS: n,
        MKL_NUM_THREADS: n,
        OPENBLAS_NUM_THREADS: n,
        PYTHONDONTWRITEBYTECODE: '1',
      },
    });
    try {
      return await this.#child.next<Hello>(START_SECONDS);
    } catch (error) {
      return { absent: (error as Error).message };
    }
  }

  async ask<T extends Prepared | Measured>(request: Request): Promise<T | Failed> {
    try {
      if (this.#child?.alive !== true) await this.start();
      return await this.#child!.ask<T | Failed>(
        JSON.stringify(request),
        PATIENCE_SECONDS + 4 * request.seconds,
      );
    } catch (error) {
      return { error: (error as Error).message };
    }
  }

  /** Ends the process; another question starts a new one. */
  close(): void {
    this.#child?.close();
    this.#child = null;
  }
}
