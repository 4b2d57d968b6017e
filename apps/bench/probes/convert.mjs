// How long tf.autograph takes to convert a module of 1,000 lines: `pnpm build && node apps/bench/probes/convert.mjs`. The first time in a
// process, when the parser is loaded and nothing is compiled by the engine yet, and later times. Milliseconds by the clock, of all threads on
// processors, and on Linux of the converting thread, which other programs disturb least.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import * as tf from 'eagre';

const unit = (i) => `
export class Cell${i} extends tf.Module {
  #units: number;
  readonly kernel: tf.Variable;
  steps = 0;

  constructor(units: number) {
    super();
    this.#units = units;
    this.kernel = new tf.Variable(tf.random.normal([units, units]), { name: 'kernel' });
  }

  /** One step, and whether it was the last one. */
  step(state: tf.Tensor, input: tf.Tensor): [tf.Tensor, tf.Tensor] {
    const next = state.matmul(this.kernel).add(input);
    this.steps += 1;
    return [next.tanh(), next.abs().max().greater(${i})];
  }

  run(inputs: tf.Tensor, most = 10): tf.Tensor {
    let state = tf.zeros([1, this.#units]);
    for (const input of inputs) {
      const [next, last] = this.step(state, input.expandDims(0));
      if (last) break;
      state = next;
      if (state.sum().less(-most)) return state.neg();
    }
    return state;
  }
}

export const loss${i} = tf.function((x: tf.Tensor, y: tf.Tensor) => {
  let total = tf.constant(0);
  for (let i = 0; i < x.length; i++) {
    const error = x.sub(y).square().mean();
    if (error.greater(total)) total = error;
    else if (i % 2 === 0) total = total.mul(0.5);
    else continue;
    while (total.greater(${i + 1})) total = total.div(2);
  }
  return total.greater(0) && x.size > 3 ? total : total.neg();
});

export function summary${i}(rows: readonly { name: string; value: number }[], digits = 3): string {
  const width = rows.reduce((most, row) => Math.max(most, row.name.length), 0);
  let sum = 0;
  const out: string[] = [];
  for (const row of rows) {
    sum += row.value;
    out.push(row.name.padEnd(width) + ' ' + row.value.toFixed(digits));
  }
  if (rows.length > 1) out.push('mean'.padEnd(width) + ' ' + (sum / rows.length).toFixed(digits));
  return out.join('\\n');
}
`;

const units = [];
for (let lines = 1; lines < 1000; lines += unit(0).split('\n').length - 1) units.push(unit(units.length));
const source = `import * as tf from 'eagre';\n${units.join('')}`;

/** What this thread has had of a processor; not a number where the system does not tell. */
function threadTime() {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

const times = [];
let code = '';
for (let round = 0; round < 30; round++) {
  const cpu = process.cpuUsage();
  const before = threadTime();
  const start = performance.now();
  ({ code } = tf.autograph.convert(source, { filename: 'model.ts' }));
  const wall = performance.now() - start;
  const thread = threadTime() - before;
  const { user, system } = process.cpuUsage(cpu);
  times.push({ wall, cpu: (user + system) / 1000, thread });
}
const show = (name, { wall, cpu, thread }) =>
  console.log(
    `${name.padEnd(8)}${wall.toFixed(1).padStart(7)} ms${cpu.toFixed(1).padStart(9)} ms of processors${thread.toFixed(1).padStart(9)} ms of the thread`,
  );
console.log(
  `${source.split('\n').length} lines, ${source.length} characters; converted ${code.length} characters`,
);
show('cold', times[0]);
show('second', times[1]);
show('tenth', times[9]);
show('30th', times[29]);
