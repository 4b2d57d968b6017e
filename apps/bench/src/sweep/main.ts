// `pnpm bench sweep`: every public function, layer, loss, metric and optimizer on its declared inputs, small, middling and large, against
// TensorFlow's best way.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { SampleInput } from '@eagre/core/internal';
import * as tf from 'eagre';
import { Child } from '../child.ts';
import { busyCores, describeMachine } from '../machine.ts';
import { benchFolder, pythonOf } from '../peers.ts';
import { median } from '../statistics.ts';
import { allCalls, type Call, type Input, type Sizes, type Theirs } from './calls.ts';
import { type Row, report, type SweepResult, type Times } from './report.ts';
import { asIntegers, largerShapes, textsOf } from './sizes.ts';

export const usage = `pnpm bench sweep [names…] [options]
  names           areas or functions, or beginnings of these: strings, linalg, math.seg; all unless given
  --seconds 0.06  how long each way is timed
  --quick         --seconds 0.02, the middling size and no integers
  --out NAME      writes docs/benchmarks/NAME.md too
  --list          names the calls`;

const SIZES: readonly (readonly [name: string, elements: number])[] = [
  ['small', 0],
  ['middling', 1e4],
  ['large', 1e6],
];
/** A call that takes longer has no larger size; nor has one that takes longer for this many elements, of which it is tried first. */
const LONGEST_SECONDS = 0.3;
const FIRST = 500;
const PYTHON_SECONDS = 120;

type Tensors = readonly tf.Tensor[];
/** How ours are made of what is declared. */
type Make = (inputs: readonly SampleInput[], shapes: readonly Sizes[]) => tf.Tensor[];

/** Seconds of a call: the median of those within the time, at least two. */
function timeOf(run: () => unknown, seconds: number): number {
  run();
  const samples: number[] = [];
  const end = performance.now() + seconds * 1000;
  let times = 1;
  do {
    const start = performance.now();
    for (let i = 0; i < times; i++) run();
    const took = (performance.now() - start) / 1000;
    samples.push(took / times);
    // Clocks are too coarse for a single short call.
    if (took < 50e-6) times *= 2;
  } while (performance.now() < end || samples.length < 2);
  return median(samples);
}

const isFloat = (x: unknown): x is tf.Tensor => x instanceof tf.Tensor && x.dtype === 'float32';
function tensorsOf(result: unknown): tf.Tensor[] {
  if (result instanceof tf.Tensor) return [result];
  return typeof result === 'object' && result !== null ? Object.values(result).flatMap(tensorsOf) : [];
}
/** The shapes of what comes out, as TensorFlow's side tells them; null for what is not all tensors. */
const shapesOf = (result: unknown): string | null => {
  const flat = tensorsOf(result);
  return flat.length === 0 ? null : JSON.stringify(flat.map((t) => t.shape));
};

function withGradients(call: Call, xs: Tensors): tf.Tensor[] {
  const tape = new tf.GradientTape();
  const floats = xs.filter(isFloat);
  tape.watch(floats);
  const targets = tensorsOf(call.run(...xs)).filter(isFloat);
  if (targets.length === 0 || floats.length === 0) return [];
  return (tape.gradient(targets, floats) as (tf.Tensor | null)[]).filter((g) => g !== null);
}

/** Without throwing: what a function gives, or null. */
function attempt<T>(run: () => T): T | null {
  try {
    return run();
  } catch {
    return null;
  }
}

/** The inputs of a size that the call takes; null where it takes none. */
function inputsFor(
  call: Call,
  inputs: readonly Input[],
  elements: number,
  make: Make,
): { call: Call; xs: Tensors } | null {
  if (call.sized !== undefined) {
    const sized = call.sized(Math.max(1, Math.round(elements / 10)));
    return attempt(() => sized.run()) === null ? null : { call: sized, xs: [] };
  }
  const shapes = inputs.map((input) => input.shape);
  const all = elements === 0 ? [shapes] : largerShapes(shapes, elements);
  for (const larger of all) {
    const xs = attempt(() =>
      inputs.map((input, i) =>
        input.kind === 'text'
          ? tf.constant(textsOf(input, larger[i]!), 'string', { shape: larger[i]! })
          : make([input], [larger[i]!])[0]!,
      ),
    );
    if (xs !== null && attempt(() => call.run(...xs) ?? true) !== null) return { call, xs };
  }
  return null;
}

/** TensorFlow in a process of its own. */
class TensorFlow {
  readonly #child: Child;
  readonly #folder = mkdtempSync(join(tmpdir(), 'eagre-sweep-'));
  constructor() {
    this.#child = new Child(pythonOf('tensorflow'), ['peers/sweep.py'], { cwd: benchFolder });
  }
  async start(): Promise<string> {
    return (await this.#child.next<{ version: string }>(PYTHON_SECONDS)).version;
  }
  /** @returns times forward, and with gradients where they were asked for. */
  async time(
    theirs: Theirs,
    xs: Tensors,
    shapes: string | null,
    gradients: boolean,
    seconds: number,
  ): Promise<{ forward: Times; backward: Times | null } | { why: string }> {
    const file = join(this.#folder, 'inputs');
    const parts = xs.map((x) =>
      x.dtype === 'string' ? Buffer.alloc(0) : Buffer.from(new Uint8Array((x.data() as Uint8Array).buffer)),
    );
    writeFileSync(file, Buffer.concat(parts));
    const inputs = xs.map((x, i) => ({
      dtype: x.dtype,
      shape: x.shape,
      bytes: parts[i]!.length,
      ...(x.dtype === 'string' ? { values: x.strings() } : {}),
    }));
    const line = JSON.stringify({ theirs, inputs, file, shapes, gradients, seconds });
    return this.#child.ask(line, PYTHON_SECONDS);
  }
  get alive(): boolean {
    return this.#child.alive;
  }
  close(): void {
    this.#child.kill();
    rmSync(this.#folder, { recursive: true });
  }
}

export async function sweep(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      out: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const chosen = (await allCalls()).filter(
    ({ area, name }) =>
      positionals.length === 0 ||
      positionals.some((p) => [area, name, `${area}.${name}`].some((text) => text.startsWith(p))),
  );
  if (values.list) {
    for (const { area, name } of chosen) console.log(`${area}: ${name}`);
    return 0;
  }
  if (chosen.length === 0) {
    console.error(`nothing is called ${positionals.join(' or ')}\n\n${usage}`);
    return 2;
  }
  const seconds = Number(values.seconds ?? (values.quick ? 0.02 : 0.06));
  const { inputsOf: make } = (await import(
    pathToFileURL(join(benchFolder, '../../packages/eagre/tests/testing/subjects.ts')).href
  )) as { inputsOf: Make };
  const result = await measure(
    chosen,
    make,
    seconds,
    SIZES.filter(([name]) => !values.quick || name === 'middling'),
  );
  const folder = join(benchFolder, 'runs');
  const name = join(folder, `sweep-${result.started.replace(/[:.]/g, '-')}`);
  const text = report(result);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${name}.json`, `${JSON.stringify(result)}\n`);
  writeFileSync(`${name}.md`, text);
  if (values.out !== undefined)
    writeFileSync(join(benchFolder, '../../docs/benchmarks', `${values.out}.md`), text);
  console.log(`Written: ${name}.md, .json`);
  return 0;
}

async function measure(
  calls: readonly Call[],
  make: Make,
  seconds: number,
  sizes: typeof SIZES,
): Promise<SweepResult> {
  // A trace warns where it is made anew for each size.
  console.warn = () => undefined;
  const started = new Date().toISOString();
  const busy = await busyCores(1000);
  let tensorflow = new TensorFlow();
  const version = await tensorflow.start().catch((error: Error) => {
    throw new Error(`EAGRE_BENCH_PYTHON names no Python that has TensorFlow: ${error.message}`);
  });
  const rows: Row[] = [];
  const failed: { name: string; why: string }[] = [];
  for (const [index, call] of calls.entries()) {
    const { area, name } = call;
    process.stderr.write(`\r${`${index + 1} of ${calls.length}: ${area}: ${name}`.padEnd(100)}`);
    const whole = asIntegers(call.inputs);
    const variants: [dtype: string | null, inputs: readonly Input[]][] = [[null, call.inputs]];
    if (whole !== null && area !== 'optimizers') variants.push(['int32', whole]);
    for (const [dtype, inputs] of variants)
      for (const [size, elements] of sizes) {
        // Integers once are enough.
        if (dtype !== null && (size !== 'middling' || sizes.length === 1)) continue;
        if (elements > FIRST) {
          const few = inputsFor(call, inputs, FIRST, make);
          if (few !== null && timeOnce(() => few.call.run(...few.xs)) > LONGEST_SECONDS) {
            failed.push({ name, why: `takes more than ${LONGEST_SECONDS} s for ${FIRST} elements` });
            break;
          }
        }
        const found = inputsFor(call, inputs, elements, make);
        if (found === null) {
          if (dtype === null && size === 'small')
            failed.push({ name, why: 'its declared inputs alone are no call' });
          continue;
        }
        const { xs } = found;
        const run = (): unknown => found.call.run(...xs);
        const first = timeOnce(run);
        // Texts are constants of a trace: what is made of them is made once.
        const traced = xs.some((x) => x.dtype === 'string')
          ? null
          : attempt(() => {
              const fn = tf.function(found.call.run as never) as (...xs: Tensors) => unknown;
              fn(...xs);
              return fn;
            });
        const isDifferentiable =
          dtype === null && attempt(() => withGradients(found.call, xs).length > 0) === true;
        const ours = {
          eager: timeOf(run, seconds),
          traced: traced === null ? null : timeOf(() => traced(...xs), seconds),
        };
        const ownGradients = isDifferentiable
          ? { eager: timeOf(() => withGradients(found.call, xs), seconds), traced: null }
          : null;
        const theirs = found.call.theirs();
        const asked =
          'not' in theirs
            ? { why: theirs.not }
            : await tensorflow
                .time(theirs, xs, shapesOf(run()), isDifferentiable, seconds)
                .catch((error: Error) => ({ why: `the process ended: ${error.message.slice(0, 80)}` }));
        if (!tensorflow.alive) {
          tensorflow = new TensorFlow();
          await tensorflow.start();
        }
        const common = {
          area,
          name,
          size,
          elements: xs.reduce((n, x) => n + x.size, 0),
          dtype: dtype ?? xs[0]?.dtype ?? 'float32',
        };
        if ('why' in asked) rows.push({ ...common, gradients: false, ours, theirs: null, why: asked.why });
        else {
          // Again, behind TensorFlow's turn: what disturbed one of both disturbs less.
          const again = timeOf(run, seconds);
          rows.push({
            ...common,
            gradients: false,
            ours: { ...ours, eager: Math.min(ours.eager, again) },
            theirs: asked.forward,
          });
          if (ownGradients !== null && asked.backward !== null)
            rows.push({ ...common, gradients: true, ours: ownGradients, theirs: asked.backward });
        }
        if (first > LONGEST_SECONDS) break;
      }
  }
  tensorflow.close();
  process.stderr.write('\n');
  return {
    started,
    machine: describeMachine(),
    tensorflow: version,
    busyCores: busy,
    seconds,
    rows,
    failed,
  };
}

function timeOnce(run: () => unknown): number {
  const start = performance.now();
  run();
  return (performance.now() - start) / 1000;
}
