import { parseArgs } from 'node:util';

export interface GpuOptions {
  /** All when empty. */
  readonly names: readonly string[];
  /** Of each workload in each library. */
  readonly seconds: number;
  /** Sizes at which kernels are slow and programs are quickly tested. */
  readonly isTiny: boolean;
  /** Where PyTorch runs, if at all. */
  readonly peers: 'gpu' | 'cpu' | null;
  readonly compiles: boolean;
  /** Tells which kernels take the time instead. */
  readonly profiles: boolean;
  /** A folder. */
  readonly out: string;
  readonly help: boolean;
}

export const gpuUsage = `pnpm bench --device gpu [names…] [options]
  names              workloads, or beginnings of their names; all unless given
  --seconds 1        for how long each is timed, behind as long a warm-up
  --peers gpu        whether PyTorch runs too: on the gpu, or none; cpu is for tests of this program
  --no-compile       PyTorch runs without torch.compile
  --profile          tells which kernels take the time: gpu-profile.txt has all of them
  --tiny             sizes for tests of this program
  --out FOLDER       for gpu-bench.json and gpu-bench.md; runs unless given
EAGRE_PYTHON names the python that has torch; python3 unless set.`;

/** @throws Error with a message for the user. */
export function parseGpuArguments(args: readonly string[], known: readonly string[]): GpuOptions {
  const { values, positionals } = parseArgs({
    args: args.filter((a) => a !== '--'),
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '1' },
      peers: { type: 'string', default: 'gpu' },
      'no-compile': { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
      tiny: { type: 'boolean', default: false },
      out: { type: 'string', default: 'runs' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const names = positionals.flatMap((name) => {
    const found = known.filter((each) => each.startsWith(name));
    if (found.length === 0)
      throw new Error(`no workload on GPUs is called '${name}'; there are ${known.join(', ')}`);
    return known.includes(name) ? [name] : found;
  });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error(`--seconds takes a number above 0, got '${values.seconds}'`);
  if (!['gpu', 'cpu', 'none'].includes(values.peers))
    throw new Error(`--peers takes gpu, cpu or none, got '${values.peers}'`);
  return {
    names: [...new Set(names)],
    seconds,
    isTiny: values.tiny,
    peers: values.peers === 'none' ? null : (values.peers as 'gpu' | 'cpu'),
    compiles: !values['no-compile'],
    profiles: values.profile,
    out: values.out,
    help: values.help,
  };
}
