// Random numbers of the words of the other backends. Uniform ones have their bits; normal ones differ in the last, as those are computed in float64.
import {
  alwaysFits,
  type Call,
  fits,
  type GpuKernels,
  type Lowered,
  launch,
  lowered,
  nothing,
  perThread,
} from './kernel.ts';

/** Statements after which `a`, `b`, `c`, `d` are the words of the block `thread`. `draw` has a counter and a key, of 64 bits each. */
function block(given: boolean): string {
  const word = (i: number): string => `p.w${i}`;
  const sum = (i: number): string =>
    given
      ? `let low${i} = draw[${i}] + ${word(i)}; let high${i} = draw[${i + 1}] + ${word(i + 1)} + select(0u, 1u, low${i} < ${word(i)});`
      : `let low${i} = ${word(i)}; let high${i} = ${word(i + 1)};`;
  return `${sum(0)} ${sum(2)}
    var a = thread; var b = 0u; var c = low0; var d = high0; var k0 = low2; var k1 = high2;
    for (var round = 0u; round < 10u; round++) {
      let h0 = mulHigh(a, 0xd2511f53u); let l0 = a * 0xd2511f53u; let h1 = mulHigh(c, 0xcd9e8d57u); let l1 = c * 0xcd9e8d57u;
      a = h1 ^ b ^ k0; b = l1; c = h0 ^ d ^ k1; d = l0; k0 = k0 + 0x9e3779b9u; k1 = k1 + 0xbb67ae85u;
    }`;
}

const words = { w0: 'u32', w1: 'u32', w2: 'u32', w3: 'u32' } as const;
const wordsOf = (attrs: Call['attrs']): number[] =>
  [attrs.counter0, attrs.counter1, attrs.k0, attrs.k1].map((word) => (word as number) >>> 0);

function uniform({ inputs, outputs: [y], attrs }: Call): Lowered | undefined {
  if (y.dtype !== 'float32') return undefined;
  const given = inputs.length > 0;
  const low = Math.fround(attrs.low as number);
  const high = Math.fround(attrs.high as number);
  if (!Number.isFinite(low) || !Number.isFinite(high)) return undefined;
  // Every draw is stored before it is scaled, lest a device add with the product unrounded.
  const put = (name: string, i: number): string =>
    `if (thread * 4u + ${i}u < p.size) { var s = f32(${name} >> 8u) * 5.9604644775390625e-8 * p.range; var v = s + p.low; if (v == p.high) { v = p.low; } y[thread * 4u + ${i}u] = v; }`;
  const program = perThread(
    { ...(given ? { draw: 'u32' } : {}), y: 'mut f32' },
    { ...words, size: 'u32', low: 'f32', high: 'f32', range: 'f32' },
    `${block(given)} ${['a', 'b', 'c', 'd'].map(put).join('\n')}`,
  );
  const params = [...wordsOf(attrs), y.size, low, high, Math.fround(high - low)];
  return lowered(launch(program, given ? [0, 1] : [0], params, Math.ceil(y.size / 4)));
}

/** A word as a share of a turn and as that of the whole: 2π / 2^32 and 2^-32. */
const TURN = '1.4629180792671596e-9';
const PART = '2.3283064365386963e-10';

/** Two normal numbers of two words, by Box and Muller, added to `y` at `thread` · 4 + i. */
function pair(a: string, b: string, i: number): string {
  // The logarithm of a number near 1 needs what is missing to 1; the angle counts from the nearest quarter of a turn.
  return `let log${i} = select(fLog1p(-f32(4294967295u - ${a}) * ${PART}), fLog((f32(${a}) + 1.0) * ${PART}), ${a} < 0x80000000u);
    let r${i} = fSqrt(-2.0 * log${i}) * p.stddev; let quarter${i} = (${b} + 0x20000000u) >> 30u;
    let angle${i} = f32(bitcast<i32>(${b} - (quarter${i} << 30u))) * ${TURN};
    let sine${i} = fSinPart(angle${i}); let cosine${i} = fCosPart(angle${i}); let odd${i} = (quarter${i} & 1u) != 0u;
    var x${i} = select(cosine${i}, -sine${i}, odd${i}); var z${i} = select(sine${i}, cosine${i}, odd${i});
    if (quarter${i} >= 2u) { x${i} = -x${i}; z${i} = -z${i}; }
    ${put(i, `r${i} * x${i} + p.mean`)} ${put(i + 1, `r${i} * z${i} + p.mean`)}`;
}

function put(i: number, value: string): string {
  return `if (thread * 4u + ${i}u < p.size) { y[thread * 4u + ${i}u] = ${value}; }`;
}

function normal(text: string): (call: Call) => Lowered | undefined {
  return ({ inputs, outputs: [y], attrs }) => {
    if (y.dtype !== 'float32') return undefined;
    const given = inputs.length > 0;
    const [mean, stddev] = [attrs.mean as number, attrs.stddev as number].map(Math.fround);
    if (!Number.isFinite(mean) || !Number.isFinite(stddev)) return undefined;
    const program = perThread(
      { ...(given ? { draw: 'u32' } : {}), y: 'mut f32' },
      { ...words, size: 'u32', mean: 'f32', stddev: 'f32' },
      `${block(given)} ${text}`,
    );
    const params = [...wordsOf(attrs), y.size, mean, stddev];
    return lowered(launch(program, given ? [0, 1] : [0], params, Math.ceil(y.size / 4)));
  };
}
const pairs = `${pair('a', 'b', 0)} ${pair('c', 'd', 2)}`;
const truncated = ['a', 'b', 'c', 'd']
  .map((word, i) => put(i, `fTruncated(${word}) * p.stddev + p.mean`))
  .join('\n');

function uniformInt({ inputs, outputs: [y], attrs }: Call): Lowered | undefined {
  const low = attrs.low as number;
  const range = (attrs.high as number) - low;
  // An empty range is an error, which the host tells.
  if (y.dtype !== 'int32' || !fits(y) || !(range > 0 && range <= 2 ** 31)) return undefined;
  if (y.size === 0) return nothing;
  const given = inputs.length > 0;
  // Long division of two words by the range, bit by bit.
  const put = (high: string, lowWord: string, i: number): string =>
    `if (thread * 2u + ${i}u < p.size) { var rest = ${high} % p.range;
      for (var bit = 0u; bit < 32u; bit++) { rest = rest * 2u + ((${lowWord} >> (31u - bit)) & 1u); if (rest >= p.range) { rest = rest - p.range; } }
      y[thread * 2u + ${i}u] = bitcast<i32>(rest + bitcast<u32>(p.low)); }`;
  const program = perThread(
    { ...(given ? { draw: 'u32' } : {}), y: 'mut i32' },
    { ...words, size: 'u32', low: 'i32', range: 'u32' },
    `${block(given)} ${put('a', 'b', 0)} ${put('c', 'd', 1)}`,
  );
  const params = [...wordsOf(attrs), y.size, low, range];
  return lowered(launch(program, given ? [0, 1] : [0], params, Math.ceil(y.size / 2)));
}

function nextDraw(_: Call): Lowered {
  // The state is the second output too, where it lies.
  const program = perThread(
    { state: 'mut u32', draw: 'mut u32' },
    {},
    `for (var i = 0u; i < 4u; i++) { draw[i] = state[i]; }
    state[0] = state[0] + 1u; if (state[0] == 0u) { state[1] = state[1] + 1u; }`,
  );
  return lowered(launch(program, [0, 1], [], 1));
}

export const kernels: GpuKernels = {
  RandomUniform: { dtypes: ['float32', 'uint64'], lower: alwaysFits(uniform) },
  RandomNormal: { dtypes: ['float32', 'uint64'], lower: alwaysFits(normal(pairs)) },
  TruncatedNormal: { dtypes: ['float32', 'uint64'], lower: alwaysFits(normal(truncated)) },
  RandomUniformInt: { dtypes: ['int32', 'uint64'], lower: uniformInt },
  NextDraw: { dtypes: ['uint64'], lower: nextDraw },
};
