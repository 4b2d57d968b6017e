// What conversion costs functions whose conditions are values of the host: `pnpm build && node apps/bench/probes/converted-cost.mjs`. The time
// of each program converted, as part of its time as it is written: medians of rounds that take turns. Each program runs in a process of its own.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as tf from 'eagre';

const numbers = Float64Array.from({ length: 1000 }, (_, i) => Math.sin(i) + 1);
const list = Array.from(numbers);
const words = Array.from({ length: 300 }, (_, i) => `w${i % 37}`);

/** Bodies of functions of `x`, and what they are called with; `marked` false for functions that converted code may call. */
const programs = {
  'dot product': ['let s = 0; for (let i = 0; i < x.length; i++) s += x[i] * x[i]; return s;', numbers],
  'dot product of an array': ['let s = 0; for (const v of x) s += v * v; return s;', list],
  'while, branches': [
    'let n = x, c = 0; while (n !== 1) { n = n % 2 === 0 ? n / 2 : n * 3 + 1; c++; if (c > 1000) break; } return c;',
    837799,
  ],
  'early returns': [
    'let c = 0; for (let i = 0; i < 1000; i++) c += sign(x[i] - 1); return c; function sign(v) { if (v > 0) return 1; if (v < 0) return -1; return 0; }',
    numbers,
  ],
  'words in a map': [
    'const m = new Map(); for (const w of x) { const n = m.get(w); m.set(w, n === undefined ? 1 : n + 1); } return m.size;',
    words,
  ],
  'matrix product': [
    'const c = new Float64Array(900); for (let i = 0; i < 30; i++) for (let j = 0; j < 30; j++) { let s = 0; for (let k = 0; k < 30; k++) s += x[i * 30 + k] * x[k * 30 + j]; c[i * 30 + j] = s; } return c[7];',
    numbers,
  ],
  'object state': [
    'const o = { n: 0, sum: 0 }; for (let i = 0; i < 1000; i++) { o.n++; if (x[i] > 0.5 && x[i] < 1.5) o.sum += x[i]; } return o.sum / o.n;',
    numbers,
  ],
  'eager tensors': [
    'let y = x; for (let i = 0; i < 20; i++) { y = i % 2 === 0 ? y.mul(0.9) : y.add(0.1); if (i > 100) break; } return y;',
    tf.random.normal([10]),
  ],
};

const only = process.argv[2];
if (only === undefined) {
  console.log(`${'program'.padEnd(28)}marked  not marked`);
  for (const name of Object.keys(programs))
    process.stdout.write(
      execFileSync(process.execPath, [fileURLToPath(import.meta.url), name], { encoding: 'utf8' }),
    );
} else {
  const [body, argument] = programs[only];
  const marked = await make(`(x) => { 'use autograph'; ${body} }`);
  const called = await make(`(x) => { ${body} }`);
  const original = await make(`(x) => { 'no autograph'; ${body} }`);
  const runs = [original, marked, called];
  for (const run of runs) time(run, 3000, argument);
  const calls = Math.max(1, Math.round(2e6 / time(original, 1000, argument)));
  const times = runs.map(() => []);
  for (let round = 0; round < 60; round++)
    for (const [i, run] of runs.entries()) times[i].push(time(run, calls, argument));
  const [before, ...after] = times.map((t) => t.sort((a, b) => a - b)[t.length >> 1]);
  console.log(`${only.padEnd(28)}${after.map((t) => (t / before).toFixed(2).padStart(6)).join('      ')}`);
}

/** Nanoseconds of a call. */
function time(run, calls, argument) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) run(argument);
  return Number(process.hrtime.bigint() - start) / calls;
}

async function make(text) {
  const source = `import * as tf from ${JSON.stringify(import.meta.resolve('eagre'))}; import 'eagre'; export const f = ${text};`;
  const runtime = import.meta.resolve('eagre/internal');
  const { code } = tf.autograph.convert(source, { filename: 'program.js', runtime });
  const module = code.replace("import 'eagre';", '');
  return (await import(`data:text/javascript,${encodeURIComponent(module)}`)).f;
}
