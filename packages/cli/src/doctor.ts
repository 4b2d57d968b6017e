import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadCodecs, nativeUnavailable } from '@eagre/backend-native';
import { zeros } from '@eagre/core';
import { bytesText, plain, table } from './table.ts';

/** What a project computes with. */
export interface Diagnosis {
  /** What is in use, each with its name. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** What is wrong, and how it is mended. */
  readonly problems: readonly string[];
  /** What would be better. */
  readonly advice: readonly string[];
}

/** The settings of install.md, and those of the guides on distribution and GPUs. */
const SETTINGS = [
  ...['ADDON', 'BACKEND', 'CACHE', 'CLUSTER_TOKEN', 'COORDINATOR', 'CUBLASLT', 'CUDA_CACHE', 'CUDA_DRIVER'],
  ...['CUDA_GRAPHS', 'CUDA_KERNELS', 'DATASETS', 'DEBUG', 'GRAPH_DUMP', 'HOPPER', 'ISA', 'KEEP_PAGES'],
  ...['MPI_LIBRARY', 'NCCL_LIBRARY', 'NUM_THREADS', 'NVRTC', 'RESTARTS', 'STACK', 'TENSOR_CORES', 'TMA'],
].map((name) => `EAGRE_${name}`);
/** Their values are not for terminals. */
const SECRET = 'EAGRE_CLUSTER_TOKEN';

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Looks at what a project computes with. @param folder the project's @param env settings */
export async function diagnose(
  folder: string,
  version: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Diagnosis> {
  const facts: [string, string][] = [];
  const problems: string[] = [];
  const advice: string[] = [];

  const { backend } = zeros([1]);
  const cores = availableParallelism();
  facts.push(
    ['Eagre', version],
    ['Node', `${process.version}, ${process.platform} ${process.arch}${libc()}`],
    ['processor', `${cpus()[0]?.model.trim() || 'not known'}, ${cores} threads, ${bytesText(totalmem())}`],
    ['kernels', `${backend.name}: ${backend.description ?? 'in JavaScript'}`],
  );
  if (backend.name === 'js' || backend.name === 'wasm') {
    const chosen = env['EAGRE_BACKEND'] === backend.name;
    const slow = `${backend.name === 'wasm' ? 'Kernels of WebAssembly' : 'Kernels in JavaScript, 10 to 100 times slower,'} run`;
    if (nativeUnavailable !== undefined)
      (chosen ? advice : problems).push(
        `${nativeUnavailable.replace(/\s*\n\s*/g, ' ').replace(/[^.]$/, '$&.')} ${slow} instead.`,
      );
    else if (chosen)
      advice.push(`${slow}, since EAGRE_BACKEND is ${backend.name}: native kernels are here too.`);
  }
  const threads = backend.threads?.() ?? 1;
  if (backend.threads !== undefined && threads < cores)
    advice.push(
      `Ops use ${threads} of ${cores} threads${env['EAGRE_NUM_THREADS'] ? ', since EAGRE_NUM_THREADS says so' : ''}.`,
    );
  facts.push(['pictures', loadCodecs() === undefined ? 'codecs of WebAssembly' : 'native codecs']);
  facts.push(['GPU', await gpu(folder, advice)]);

  const given = Object.keys(env).filter((name) => name.startsWith('EAGRE_') && env[name] !== '');
  if (given.length > 0)
    facts.push([
      'settings',
      given
        .sort()
        .map((name) => (name === SECRET ? `${name} (set)` : `${name}=${env[name]}`))
        .join(' '),
    ]);
  for (const name of given) if (!SETTINGS.includes(name)) advice.push(`${name} is no setting of Eagre.`);

  const copies = copiesIn(folder);
  for (const [name, places] of copies) {
    if (places.size < 2) continue;
    const list = [...places].map(([place, one]) => `${one} in ${place}`).join(', ');
    problems.push(
      `There are ${places.size} copies of ${name} (${list}): tensors of one are none of the other. Have all packages ask for one version, and install again.`,
    );
  }
  const versions = new Set([...copies.values()].flatMap((places) => [...places.values()]));
  if (versions.size > 1)
    problems.push(
      `Packages of Eagre are of different versions (${[...versions].sort().join(', ')}): all share one version number.`,
    );
  facts.push([
    'packages',
    copies.size === 0
      ? `none is installed in ${folder}`
      : `${copies.size} of Eagre, ${[...versions].join(', ')}`,
  ]);
  if (Number(process.versions.node.split('.')[0]) >= 22 && !env['NODE_COMPILE_CACHE'])
    advice.push(
      'NODE_COMPILE_CACHE=<folder> has programs start in half of the time from the second start on.',
    );
  return { facts, problems, advice };
}

/** A diagnosis for a terminal. */
export function diagnosisText({ facts, problems, advice }: Diagnosis): string {
  const lists = [
    ['wrong', problems],
    ['better', advice],
  ] as const;
  const said = lists.flatMap(([kind, lines]) => lines.map((line) => `${kind}: ${plain(line)}`));
  // A table has a head, which says nothing here.
  const rows = table(['', ''], facts).split('\n').slice(1);
  return [...rows, '', ...(said.length === 0 ? ['Nothing is wrong.'] : said)].join('\n');
}

/** The C library, where there is a choice. */
function libc(): string {
  if (process.platform !== 'linux' || typeof process.report?.getReport !== 'function') return '';
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime ? `, glibc ${header.glibcVersionRuntime}` : ', musl';
}

/** The GPUs that a program of the project can use. */
async function gpu(folder: string, advice: string[]): Promise<string> {
  const name = '@eagre/backend-cuda';
  const hasDriver = existsSync('/dev/nvidiactl') || existsSync('/proc/driver/nvidia/version');
  let file: string;
  try {
    file = createRequire(join(folder, 'package.json')).resolve(name);
  } catch {
    if (hasDriver) advice.push(`There is a GPU of NVIDIA: install ${name} to compute on it.`);
    return `none (${name} is not installed)`;
  }
  try {
    const { openCuda } = (await import(pathToFileURL(file).href)) as {
      openCuda(): readonly { readonly description: string; close(): void }[];
    };
    const opened = openCuda();
    const text = opened.map(({ description }) => description).join('; ');
    for (const one of opened) one.close();
    return text;
  } catch (error) {
    return `none (${(error as Error).message})`;
  }
}

/**
 * The packages of Eagre that a project's programs find, and those that its packages find: by name, where each copy is and of which version. Packages are
 * found as Node does it.
 */
export function copiesIn(folder: string): Map<string, Map<string, string>> {
  const copies = new Map<string, Map<string, string>>();
  const seen = new Set<string>();
  const visit = (place: string, isRoot: boolean): void => {
    if (seen.has(place)) return;
    seen.add(place);
    const manifest = manifestIn(place);
    if (manifest === undefined) return;
    const { name = '', version = '', dependencies, optionalDependencies, peerDependencies } = manifest;
    if (!isRoot && isOurs(name))
      copies.set(name, (copies.get(name) ?? new Map<string, string>()).set(place, version));
    const needs = { ...peerDependencies, ...optionalDependencies, ...dependencies };
    for (const need of Object.keys(isRoot ? { ...needs, ...manifest.devDependencies } : needs)) {
      const found = find(place, need);
      if (found !== undefined) visit(found, false);
    }
  };
  if (existsSync(folder)) visit(realpathSync(folder), true);
  return new Map([...copies].sort(([a], [b]) => (a < b ? -1 : 1)));
}

// Packages with binaries hold no code.
const isOurs = (name: string): boolean =>
  name === 'eagre' || (name.startsWith('@eagre/') && !name.startsWith('@eagre/native-'));

function manifestIn(place: string): Manifest | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
    return typeof read === 'object' && read !== null ? read : undefined;
  } catch {
    return undefined;
  }
}

/** Where a package finds another. */
function find(place: string, name: string): string | undefined {
  for (let at = place; ; at = dirname(at)) {
    const found = join(at, 'node_modules', name);
    if (existsSync(found)) return realpathSync(found);
    if (dirname(at) === at) return undefined;
  }
}
