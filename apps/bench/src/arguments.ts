import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Names of workloads, or the beginnings of names; all when empty. */
  readonly names: readonly string[];
  readonly threads: readonly number[];
  readonly rounds: number;
  /** Of each round of each workload in each library. */
  readonly seconds: number;
  /** null: every one that is found. */
  readonly peers: readonly string[] | null;
  /** Another checkout of Eagre, with its packages built; null: none. */
  readonly before: string | null;
  /** Whether nobody uses more than AVX2. */
  readonly avx2: boolean;
  readonly profile: string | null;
  readonly list: boolean;
  readonly help: boolean;
}

export const usage = `pnpm bench [names…] [options]
  names              workloads, or beginnings of their names; all unless given
  --threads 1,2      numbers of threads
  --rounds 3         how often each library has its turn
  --seconds 1        how long a turn is
  --quick            --rounds 1 --seconds 0.2, for a first look
  --peers torch,…    which peers: torch, torch-compile, tensorflow, tensorflow-function, jax, numpy, tfjs-wasm,
                     tfjs-cpu, eagre-wasm, eagre-js (Eagre's own kernels as WebAssembly and in JavaScript), eagre-chromium,
                     tfjs-chromium (WebAssembly of both in pages); none; all that are found but for Eagre's own and pages
                     unless given
  --before FOLDER    another checkout of Eagre (pnpm install && pnpm build there) as one more peer
  --avx2             as on a processor without AVX-512; who uses it all the same is not compared
  --profile NAME     counts and times the ops of one workload instead, on the most of --threads
  --list             names the workloads
  --device gpu       times other workloads, on a GPU of NVIDIA, with other options (--help tells them)
  sweep              times every function, layer, loss, metric and optimizer instead (pnpm bench sweep --help)`;

/** @throws Error with a message for the user. */
export function parseArguments(
  args: readonly string[],
  known: { readonly workloads: readonly string[]; readonly peers: readonly string[] },
): BenchOptions {
  const { values, positionals } = parseArgs({
    args: args.filter((a) => a !== '--'),
    allowPositionals: true,
    options: {
      threads: { type: 'string', default: '1,2' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      peers: { type: 'string' },
      before: { type: 'string' },
      avx2: { type: 'boolean', default: false },
      profile: { type: 'string' },
      device: { type: 'string', default: 'cpu' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  // That of GPUs is another program.
  if (values.device !== 'cpu') throw new Error(`--device takes cpu or gpu, got '${values.device}'`);
  const names = positionals.map((name) => {
    const found = known.workloads.filter((w) => w.startsWith(name));
    if (found.length === 0) {
      throw new Error(`no workload is called '${name}'; there are ${known.workloads.join(', ')}`);
    }
    return known.workloads.includes(name) ? [name] : found;
  });
  const peers = values.peers === undefined ? null : values.peers.split(',').filter((p) => p !== 'none');
  for (const peer of peers ?? []) {
    if (!known.peers.includes(peer))
      throw new Error(`no peer is called '${peer}'; there are ${known.peers.join(', ')}`);
  }
  if (values.profile !== undefined && !known.workloads.includes(values.profile)) {
    throw new Error(`no workload is called '${values.profile}'; there are ${known.workloads.join(', ')}`);
  }
  const threads = [...new Set(values.threads.split(',').map((t) => count(t, '--threads')))].sort(
    (a, b) => a - b,
  );
  const seconds = Number(values.seconds ?? (values.quick ? 0.2 : 1));
  if (!(seconds > 0)) throw new Error(`--seconds takes a number above 0, got '${values.seconds}'`);
  return {
    names: [...new Set(names.flat())],
    threads,
    rounds: count(values.rounds ?? (values.quick ? '1' : '3'), '--rounds'),
    seconds,
    peers,
    before: values.before ?? null,
    avx2: values.avx2,
    profile: values.profile ?? null,
    list: values.list,
    help: values.help,
  };
}

function count(text: string, option: string): number {
  const n = Number(text);
  if (!Number.isInteger(n) || n < 1)
    throw new Error(`${option} takes whole numbers of at least 1, got '${text}'`);
  return n;
}
