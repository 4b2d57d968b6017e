import { dtypeOfValue, type NumericDType, type ScalarProgram } from '@eagre/backend';
import {
  broadcastSteps,
  fields,
  hasLane,
  lanesOf,
  launchWords,
  mergeAxes,
  perWord,
  placeOf,
  strideOf,
  type WordProgram,
  walkFields,
  walkNext,
  walkParams,
  walkStart,
  walkStep,
} from './elements.ts';
import { bytesOf, type Dispatch, FAULT, fits, type TensorInfo } from './kernel.ts';
import { bufferType, decode, encode, isWide, type ScalarText, scalarText, words } from './scalar-program.ts';

/** A scalar program that GPUs can map over tensors. */
export interface ElementwiseKernel {
  /** Undefined where a call is too large for 32 bits. */
  readonly lower: (inputs: readonly TensorInfo[], outputs: readonly TensorInfo[]) => Dispatch | undefined;
}

/**
 * Where an input's elements are: `s` one for all, `e` in the order of the results, `r` along the last axis as the results' are, `c` one for the
 * last axis, `x` anywhere.
 */
type Kind = 's' | 'e' | 'r' | 'c' | 'x';

/** The kernel of a scalar program; undefined where GPUs lack a dtype or a function of it. */
export function elementwiseKernel(program: ScalarProgram): ElementwiseKernel | undefined {
  const results = program.outputs.map((id) => dtypeOfValue(program, id));
  const text = scalarText(program, 'computed');
  if (text === undefined) return undefined;
  const variants = new Map<string, WordProgram>();
  const lanes = Math.max(...results.map((dtype) => lanesOf(bytesOf(dtype))));
  return {
    lower(inputs, outputs) {
      if (!fits(...inputs, ...outputs)) return undefined;
      const [{ shape, size }] = outputs;
      // What has one element, or all of them, needs no places.
      const even = inputs.every((x) => x.size === 1 || x.size === size);
      const { sizes, steps } = even
        ? { sizes: [], steps: [] }
        : mergeAxes(
            shape,
            inputs.map((x) => broadcastSteps(x.shape, shape)),
          );
      const rank = sizes.length;
      const kindOf = ({ size: own }: TensorInfo, i: number): Kind =>
        own === 1 ? 's' : own === size ? 'e' : lanes > 1 && steps[i][rank - 1] === 0 ? 'c' : 'r';
      let kinds = inputs.map(kindOf);
      // Words of results that reach over the end of a row, or of inputs that begin within one, are put together element by element.
      const isWhole = kinds.every((kind, i) => {
        const least = Math.min(lanes, lanesOf(bytesOf(inputs[i].dtype)));
        return kind !== 'r' || steps[i].every((step, axis) => axis === rank - 1 || step % least === 0);
      });
      const byRows = rank === 0 || (isWhole && sizes[rank - 1] % lanes === 0);
      if (!byRows) kinds = kinds.map((kind) => (kind === 'r' || kind === 'c' ? 'x' : kind));
      const key = `${rank}${kinds.join('')}`;
      let made = variants.get(key);
      if (made === undefined) variants.set(key, (made = variant(program, text, results, lanes, kinds, rank)));
      const operands = [...inputs, ...outputs].map((_, i) => i);
      if (text.mayFail) operands.push(FAULT);
      const words = Math.ceil(size / lanes);
      const params = lanes === 1 ? [] : [size];
      if (rank > 0) {
        // By rows, the last axis is one of words.
        const last = (values: readonly number[], by: number): number[] =>
          values.map((value, axis) => (byRows && axis === rank - 1 ? value * by : value));
        const distance = byRows ? strideOf(words) : strideOf(words) * lanes - (lanes - 1);
        params.push(...walkParams(last(sizes, 1 / lanes), distance));
        kinds.forEach((kind, i) => {
          if (isPlaced(kind)) params.push(...last(steps[i], lanes));
        });
      }
      return launchWords(made, operands, params, words);
    },
  };
}

function isPlaced(kind: Kind): boolean {
  return kind !== 's' && kind !== 'e';
}

/** How many words a thread reads before it writes: the more, the less it waits; long programs need the registers themselves. */
function wordsEach(instructions: number, reads: number): number {
  for (const each of [4, 2]) if (instructions * each <= 96 && reads * each <= 16) return each;
  return 1;
}

/** What a thread knows of an input for one of its words: the words that it reads, and the elements' places. */
interface Source {
  readonly declare: string;
  readonly load: string;
  readonly more: string;
  /** The word of the element `lane`, or a part of it; and the place of that in the input, or a number that is even with it. */
  readonly raw: (part: '' | '.x' | '.y') => string;
  readonly at: string;
}

/** The element type of a buffer of a dtype. */
function elementType(dtype: NumericDType): 'f32' | 'i32' | 'u32' | 'vec2u' {
  return isWide(dtype) ? 'vec2u' : bufferType(dtype);
}

/** One of several variables, of which each is for so many lanes. */
function pick(names: readonly string[], each: number): string {
  if (names.length === 1) return names[0];
  const half = names.length / 2;
  const [low, high] = [names.slice(0, half), names.slice(half)].map((part) => pick(part, each));
  return names.length === 2
    ? `select(${low}, ${high}, (lane & ${each}u) != 0u)`
    : `select(${low}, ${high}, lane >= ${half * each}u)`;
}

function variant(
  program: ScalarProgram,
  { text, mayFail }: ScalarText,
  results: readonly NumericDType[],
  lanes: number,
  kinds: readonly Kind[],
  rank: number,
): WordProgram {
  const { inputs, outputs } = program;
  const buffers: Record<string, string> = {};
  inputs.forEach((dtype, i) => (buffers[`x${i}`] = elementType(dtype)));
  results.forEach((dtype, i) => (buffers[`y${i}`] = `mut ${elementType(dtype)}`));
  if (mayFail) buffers.fault = 'mut atomic<u32>';
  const params: Record<string, 'u32' | 'i32'> = {
    ...(lanes === 1 ? {} : { size: 'u32' }),
    ...walkFields(rank),
  };
  kinds.forEach((kind, i) => {
    if (isPlaced(kind)) Object.assign(params, fields(`s${i}_`, rank, 'i32'));
  });
  const zeros = { f32: '0.0', i32: '0', u32: '0u', vec2u: 'vec2u(0u, 0u)' } as const;
  const source = (i: number, k: number): Source => {
    const kind = kinds[i];
    const type = elementType(inputs[i]);
    const own = lanesOf(bytesOf(inputs[i]));
    const shift = Math.log2(own);
    const variables = (count: number): string[] => Array.from({ length: count }, (_, m) => `r${i}_${k}_${m}`);
    const declared = (names: readonly string[]): string =>
      names.map((name) => `var ${name}: ${type} = ${zeros[type]};`).join(' ');
    const word = (place: string): string => (shift === 0 ? place : `(${place}) >> ${shift}u`);
    const place = `u32(${placeOf(rank, 'c', `s${i}_`)})`;
    const ofLane =
      (names: readonly string[], each: number): Source['raw'] =>
      (part) =>
        pick(
          names.map((name) => `${name}${part}`),
          each,
        );
    const guarded = (reads: readonly string[], lanesOfRead: number): { load: string; more: string } => ({
      load: reads[0],
      more: reads
        .slice(1)
        .map((read, m) => `if (${hasLane(k, lanes, (m + 1) * lanesOfRead)}) { ${read} }`)
        .join(' '),
    });
    if (kind === 's') return { declare: '', load: '', more: '', raw: (part) => `r${i}${part}`, at: '0u' };
    if (kind === 'x') {
      const names = variables(lanes);
      const places = names.map((name) => `o${name}`);
      // Those of all inputs are declared between the lanes' steps.
      const read = names.map((name, m) => `${name} = x${i}[${word(places[m])}];`);
      return { declare: declared(names), ...guarded(read, 1), raw: ofLane(names, 1), at: pick(places, 1) };
    }
    const count = kind === 'c' ? 1 : Math.max(1, lanes / own);
    const names = variables(count);
    const raw = ofLane(names, own);
    if (kind === 'e') {
      const places =
        count > 1
          ? names.map((_, m) => `w${k} * ${count}u + ${m}u`)
          : [own === lanes ? `w${k}` : `w${k} >> ${Math.log2(own / lanes)}u`];
      const read = names.map((name, m) => `${name} = x${i}[${places[m]}];`);
      return { declare: declared(names), ...guarded(read, own), raw, at: 'e' };
    }
    const at = `o${i}_${k}`;
    const load = names.map((name, m) => `${name} = x${i}[(${word(at)}) + ${m}u];`).join(' ');
    return {
      declare: `let ${at} = ${place}; ${declared(names)}`,
      load,
      more: '',
      raw,
      at: kind === 'c' || lanes === 1 ? at : `(${at} + lane)`,
    };
  };
  const isLoose = kinds.includes('x');
  const reads = kinds.reduce((sum, kind, i) => {
    if (kind === 's') return sum;
    return sum + (kind === 'x' ? lanes : Math.max(1, lanes / lanesOf(bytesOf(inputs[i]))));
  }, 0);
  const each = wordsEach(program.instrs.length, reads);
  const sources = Array.from({ length: each }, (_, k) => inputs.map((_, i) => source(i, k)));
  const small = (i: number): boolean => bytesOf(results[i]) < 4;
  // Where nothing but the word is written, what no element is there for is computed too, and left out of the word.
  const isPlain = !mayFail && results.every((dtype) => lanes > 1 && lanesOf(bytesOf(dtype)) === lanes);
  const element = (k: number): string => {
    const loads = inputs.map((dtype, i) => {
      const { raw, at } = sources[k][i];
      if (isWide(dtype)) return words(i, [raw('.x'), raw('.y')]);
      const bits = 8 * bytesOf(dtype);
      const own = lanesOf(bytesOf(dtype));
      const value =
        bits >= 32
          ? raw('')
          : `((${raw('')} >> ((${at} & ${own - 1}u) * ${bits}u)) & ${bits === 8 ? '0xffu' : '0xffffu'})`;
      return `let v${i} = ${decode(value, dtype)};`;
    });
    const stores = outputs.map((id, i) => {
      if (isWide(results[i])) return `y${i}[e] = vec2u(v${id}, h${id});`;
      const value = encode(`v${id}`, results[i]);
      if (!small(i)) return `y${i}[e] = ${value};`;
      const bits = 8 * bytesOf(results[i]);
      // A thread may have several words of elements of two bytes beside those of one byte.
      const own = lanesOf(bytesOf(results[i]));
      const flush =
        own === lanes
          ? ''
          : `if (lane % ${own}u == ${own - 1}u || e + 1u == p.size) { y${i}[e / ${own}u] = t${i}; t${i} = 0u; }`;
      const mask = bits === 8 ? '255u' : '65535u';
      const kept = isPlain ? `select(0u, ${value} & ${mask}, e < p.size)` : `(${value} & ${mask})`;
      return `t${i} = t${i} | (${kept} << ((lane % ${own}u) * ${bits}u)); ${flush}`;
    });
    return [...loads, text, ...stores].join('\n');
  };
  const work = (k: number): string => {
    if (lanes === 1) return `let e = w${k};\n${element(k)}`;
    const words = outputs.map((_, i) => (small(i) ? `var t${i} = 0u;` : '')).join(' ');
    const last = outputs
      .map((_, i) => (small(i) && lanesOf(bytesOf(results[i])) === lanes ? `y${i}[w${k}] = t${i};` : ''))
      .join(' ');
    return `${words}
    for (var lane = 0u; lane < ${lanes}u; lane++) {
      let e = w${k} * ${lanes}u + lane;
      ${isPlain ? element(k) : `if (e < p.size) { ${element(k)} }`}
    }
    ${last}`;
  };
  const ones = inputs.map((_, i) => (kinds[i] === 's' ? `let r${i} = x${i}[0u];` : '')).join(' ');
  const loosePlaces = (k: number): string =>
    Array.from({ length: lanes }, (_, m) => {
      const move = k === 0 && m === 0 ? '' : m === 0 ? walkNext(rank) : walkStep(rank);
      const places = kinds.map((kind, i) =>
        kind === 'x' ? `let or${i}_${k}_${m} = u32(${placeOf(rank, 'c', `s${i}_`)});` : '',
      );
      return `${move} ${places.join(' ')}`;
    }).join(' ');
  return perWord(buffers, params, each, {
    start: `${ones} ${walkStart(rank, isLoose ? `first * ${lanes}u` : 'first')}`,
    declare: (k) =>
      [
        isLoose ? loosePlaces(k) : k === 0 || rank === 0 ? '' : walkNext(rank),
        ...sources[k].map(({ declare }) => declare),
      ].join(' '),
    load: (k) => sources[k].map(({ load }) => load).join(' '),
    more: (k) => sources[k].map(({ more }) => more).join(' '),
    work,
  });
}
