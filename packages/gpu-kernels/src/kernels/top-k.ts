// Sorted order along the last axis. Workgroups sort tiles in their memory; passes then merge runs of them, each by twice as many elements.
import { isHalf, type NumericDType, numericDTypes } from '@eagre/backend';
import { launchElements, perElement, rawLoad, rawType } from './elements.ts';
import {
  alwaysFits,
  bytesOf,
  type Call,
  type Dispatch,
  fits,
  type GpuKernels,
  type GpuProgram,
  groups,
  head,
  type Lowered,
  launch,
  perThread,
  programOf,
} from './kernel.ts';

/** Elements that a workgroup sorts, and its threads. With keys of 8 bytes they take 12 of the 16 KB that every GPU has. */
const TILE = 1024;
const THREADS = 256;

/** What is sorted instead of elements: words whose order, as unsigned numbers, is that of the contract. Two for 8 bytes, the low one first. */
interface Key {
  readonly type: 'u32' | 'vec2u';
  /** A function from stored elements to keys. */
  readonly text: string;
  readonly less: (a: string, b: string) => string;
  readonly equal: (a: string, b: string) => string;
}

const SIGN = '0x80000000u';

/** NaN counts as the largest, and −0 as 0. */
function wordKey(dtype: NumericDType): string {
  switch (dtype) {
    case 'float32':
      return `let size = x & 0x7fffffffu; if (size > 0x7f800000u) { key = 0xffffffffu; } else if (size == 0u) { key = ${SIGN}; }
      else if (x >= ${SIGN}) { key = ~x; } else { key = x | ${SIGN}; }`;
    case 'int32':
      return `key = x ^ ${SIGN};`;
    case 'int16':
      return 'key = x ^ 0x8000u;';
    case 'int8':
      return 'key = x ^ 0x80u;';
    default:
      return 'key = x;';
  }
}

function pairKey(dtype: NumericDType): string {
  if (dtype === 'uint64') return 'key = x;';
  if (dtype === 'int64') return `key = vec2u(x.x, x.y ^ ${SIGN});`;
  return `let size = x.y & 0x7fffffffu; if (size > 0x7ff00000u || (size == 0x7ff00000u && x.x != 0u)) { key = vec2u(0xffffffffu, 0xffffffffu); }
  else if (size == 0u && x.x == 0u) { key = vec2u(0u, ${SIGN}); } else if (x.y >= ${SIGN}) { key = vec2u(~x.x, ~x.y); } else { key = vec2u(x.x, x.y | ${SIGN}); }`;
}

function keyOf(dtype: NumericDType, descending: boolean): Key {
  const type = rawType(bytesOf(dtype));
  const isPair = type === 'vec2u';
  const turned = isPair ? 'vec2u(~key.x, ~key.y)' : '~key';
  return {
    type,
    text: `fn keyOf(x: ${type}) -> ${type} { var key: ${type}; ${(isPair ? pairKey : wordKey)(dtype)} return ${descending ? turned : 'key'}; }`,
    less: (a, b) => (isPair ? `(${a}.y < ${b}.y || (${a}.y == ${b}.y && ${a}.x < ${b}.x))` : `(${a} < ${b})`),
    equal: (a, b) => (isPair ? `(${a}.y == ${b}.y && ${a}.x == ${b}.x)` : `(${a} == ${b})`),
  };
}

/**
 * Sorts segments of `m` elements, a power of 2: rows are `runs` segments, and `kept` elements of each are stored. A bitonic sort whose first steps
 * are mirrored, so that every pair goes the same way. The places that break ties make it stable, and put what is behind a row's end last.
 */
function tileProgram(dtype: NumericDType, key: Key, storesKeys: boolean): GpuProgram {
  const buffers = {
    x: rawType(bytesOf(dtype)),
    places: 'mut u32',
    ...(storesKeys ? { keys: `mut ${key.type}` } : {}),
  };
  const params = { rows: 'u32', n: 'u32', m: 'u32', runs: 'u32', kept: 'u32' } as const;
  const exchange = `let a = order[low]; let b = order[high]; let ka = tile[low]; let kb = tile[high];
      if (${key.less('kb', 'ka')} || (${key.equal('ka', 'kb')} && b < a)) { order[low] = b; order[high] = a; tile[low] = kb; tile[high] = ka; }`;
  const pairs = (body: string): string =>
    `for (var q = t; q < ${TILE / 2}u; q += ${THREADS}u) { ${body} ${exchange} } workgroupBarrier();`;
  const place = `let segment = number * (${TILE}u / p.m) + i / p.m; let row = segment / p.runs; let run = segment % p.runs; let at = run * p.m + i % p.m;`;
  return programOf(`${head(buffers, params)}
var<workgroup> tile: array<${key.type}, ${TILE}>;
var<workgroup> order: array<u32, ${TILE}>;
${key.text}
@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) t: u32) {
  let number = group.y * all.x + group.x;
  for (var i = t; i < ${TILE}u; i += ${THREADS}u) { ${place}
    var key = ${key.type === 'vec2u' ? 'vec2u(0xffffffffu, 0xffffffffu)' : '0xffffffffu'};
    if (row < p.rows && at < p.n) { let from = row * p.n + at; key = keyOf(${rawLoad('x', 'from', bytesOf(dtype))}); }
    tile[i] = key; order[i] = at;
  }
  workgroupBarrier();
  for (var size = 2u; size <= p.m; size = size * 2u) {
    let half = size / 2u;
    ${pairs('let low = (q / half) * size + q % half; let high = (q / half) * size + size - 1u - q % half;')}
    for (var step = half / 2u; step > 0u; step = step / 2u) {
      ${pairs('let low = (q / step) * step * 2u + q % step; let high = low + step;')}
    }
  }
  for (var i = t; i < ${TILE}u; i += ${THREADS}u) { ${place}
    if (row < p.rows && i % p.m < p.kept && at < p.n) {
      let to = segment * p.kept + i % p.m;
      places[to] = order[i]; ${storesKeys ? 'keys[to] = tile[i];' : ''}
    }
  }
}`);
}

/** A thread for each element of a run finds its place in the run that it makes with its neighbor: by how many of the neighbor's come before it. */
function mergeProgram(key: Key, storesKeys: boolean): GpuProgram {
  const stored: Record<string, string> = storesKeys ? { newKeys: `mut ${key.type}` } : {};
  return perThread(
    { places: 'u32', keys: key.type, newPlaces: 'mut u32', ...stored },
    { n: 'u32', length: 'u32', runs: 'u32', kept: 'u32', next: 'u32' },
    `let segment = thread / p.kept; let slot = thread % p.kept; let row = segment / p.runs; let run = segment % p.runs;
    if (slot < p.n - run * p.length) {
      let key = keys[thread]; let other = run ^ 1u; let isRight = (run & 1u) == 1u; let base = (row * p.runs + other) * p.kept;
      var low = 0u; var high = 0u;
      if (other < p.runs) { high = min(p.kept, p.n - other * p.length); }
      for (; low < high; ) {
        let middle = (low + high) / 2u; let now = keys[base + middle];
        if (${key.less('now', 'key')} || (isRight && ${key.equal('now', 'key')})) { low = middle + 1u; } else { high = middle; }
      }
      let rank = slot + low;
      if (rank < p.next) { let to = (row * ((p.runs + 1u) / 2u) + run / 2u) * p.next + rank; newPlaces[to] = places[thread]; ${storesKeys ? 'newKeys[to] = key;' : ''} }
    }`,
  );
}

/**
 * The dispatches after which `places` has, for each row of `n` elements, the places of the first `k` in order, equal ones in their order.
 * @param extra makes a temporary of so many bytes.
 * @returns undefined where temporaries are too large.
 */
export function sorted(
  x: number,
  places: number,
  dtype: NumericDType,
  { rows, n, k }: { readonly rows: number; readonly n: number; readonly k: number },
  descending: boolean,
  extra: (bytes: number) => number,
): Dispatch[] | undefined {
  const key = keyOf(dtype, descending);
  const m = Math.min(TILE, 2 ** Math.ceil(Math.log2(n)));
  let length = m;
  let runs = Math.ceil(n / m);
  let kept = Math.min(m, k);
  const keyBytes = key.type === 'vec2u' ? 8 : 4;
  const most = rows * runs * kept;
  if (!fits({ dtype: 'int64', shape: [most], size: most })) return undefined;
  let [from, keys] = runs === 1 ? [places, -1] : [extra(4 * most), extra(keyBytes * most)];
  const dispatches: Dispatch[] = [
    {
      program: tileProgram(dtype, key, runs > 1),
      operands: runs > 1 ? [x, from, keys] : [x, from],
      params: [rows, n, m, runs, kept],
      workgroups: groups(Math.ceil((rows * runs) / (TILE / m))),
    },
  ];
  // What a pass has read, the next but one writes to.
  let spare: readonly [number, number] | undefined;
  while (runs > 1) {
    const next = Math.min(2 * kept, k);
    const isLast = runs === 2;
    const target: readonly number[] = isLast
      ? [places]
      : (spare ?? [extra(4 * most), extra(keyBytes * most)]);
    dispatches.push(
      launch(
        mergeProgram(key, !isLast),
        [from, keys, ...target],
        [n, length, runs, kept, next],
        rows * runs * kept,
      ),
    );
    spare = [from, keys];
    [from, keys] = target;
    length *= 2;
    runs = Math.ceil(runs / 2);
    kept = next;
  }
  return dispatches;
}

const X = 0;
const VALUES = 1;
const INDICES = 2;
const FIRST_SCRATCH = 3;

/** Of every run, only as many elements are kept as are asked for. */
function topK({ inputs: [x], outputs: [values], attrs }: Call): Lowered | undefined {
  const dtype = x.dtype as NumericDType;
  const n = x.shape[x.shape.length - 1];
  const k = values.shape[values.shape.length - 1];
  const scratch: number[] = [];
  const extra = (bytes: number): number => FIRST_SCRATCH + scratch.push(bytes) - 1;
  const rows = x.size / n;
  const dispatches = sorted(X, INDICES, dtype, { rows, n, k }, Boolean(attrs.descending), extra);
  if (dispatches === undefined) return undefined;
  const bytes = bytesOf(dtype);
  const gather = perElement(
    bytes,
    { x: rawType(bytes), indices: 'u32' },
    { n: 'u32', k: 'u32' },
    `let from = (e / p.k) * p.n + indices[e]; v = ${rawLoad('x', 'from', bytes)};`,
  );
  dispatches.push(launchElements(gather, [X, INDICES, VALUES], [n, k], values));
  return { dispatches, scratch };
}

export const kernels: GpuKernels = {
  TopK: { dtypes: numericDTypes.filter((dtype) => !isHalf(dtype)), lower: alwaysFits(topK) },
};
