import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { bundled } from '../../testing/src/bundled.ts';

// What only shows in a process of its own: how it starts, how it ends, and how much memory it takes.

const root = fileURLToPath(new URL('../../..', import.meta.url));
const umbrella = await bundled('eagre/src/index.ts');

interface Outcome {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
}

const withTf = `import * as tf from ${JSON.stringify(umbrella)};`;

/** Runs the body of a module that has `tf` on the sources, in a process of its own. */
function run(program: string, env: Record<string, string> = {}, head: string = withTf): Promise<Outcome> {
  const code = `${head}\n${program}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
  return new Promise((resolve, reject) => {
    let out = '';
    let err = '';
    child.stdout.on('data', (d) => (out += d));
    child.stderr.on('data', (d) => (err += d));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, out: out.trim(), err }));
  });
}

async function printed(program: string, env?: Record<string, string>, head?: string): Promise<string> {
  const { code, signal, out, err } = await run(program, env, head);
  if (code !== 0) throw new Error(`ended with ${code ?? signal}\n${out}\n${err}`);
  return out;
}

describe('without native kernels', () => {
  const missing = { EAGRE_ADDON: '/nowhere/eagre.node', EAGRE_BACKEND: '' };
  const program = 'console.log(tf.zeros([2]).backend.name, tf.matmul([[1, 2]], [[3], [4]]).item());';

  it('those of WebAssembly run where they are built, else those in JavaScript, and one warning says why', async () => {
    const { code, out, err } = await run(
      `${program} await import('node:timers/promises').then((t) => t.setTimeout(20));`,
      missing,
    );
    const instead = existsSync(`${root}packages/backend-wasm/eagre-threads.wasm`) ? 'wasm' : 'js';
    expect([code, out]).toEqual([0, `${instead} 11`]);
    expect(err.match(/native kernels could not be loaded/g)).toHaveLength(1);
    expect(err).toContain('EAGRE_ADDON names a file that cannot be loaded');
    expect(err).toContain('/nowhere/eagre.node');
  });
  it('no warning for who asked for them', async () => {
    expect(await run(program, { ...missing, EAGRE_BACKEND: 'js' })).toEqual({
      code: 0,
      signal: null,
      out: 'js 11',
      err: '',
    });
  });
  it('who asks for native kernels is told why there are none', async () => {
    const { code, err } = await run(program, { ...missing, EAGRE_BACKEND: 'native' });
    expect(code).toBe(1);
    expect(err).toMatch(/NotFoundError.*native kernels could not be loaded/);
  });
  it('an unknown backend is an error that lists the known ones', async () => {
    const { code, err } = await run(program, { EAGRE_BACKEND: 'abacus' });
    expect(code).toBe(1);
    expect(err).toMatch(/NotFoundError: no backend 'abacus' \(registered: /);
  });
});

// A sanitizer keeps what is freed, and shadows the rest: there memory says nothing.
const measured = process.env.EAGRE_SANITIZED === undefined;

describe('threads and ends', () => {
  const work = `
    const sum = () => tf.matmul(tf.ones([300, 300]), tf.ones([300, 300])).sum().item();
    const train = () => {
      const v = new tf.Variable(tf.ones([64, 64]));
      for (let i = 0; i < 20; i++) {
        const tape = new tf.GradientTape();
        v.assignSub(tape.gradient(tf.matmul(v, v).square().mean(), v).mul(1e-4));
      }
      return Math.round(v.sum().item());
    };
    const fit = () => {
      const random = tf.random.Generator.fromSeed(3);
      const model = new tf.Sequential([new tf.layers.Dense(32, { activation: 'relu', inputShape: [16] }), new tf.layers.Dense(1)]);
      model.trainableVariables.forEach((v) => v.assign(random.normal(v.shape, { stddev: 0.3 })));
      const x = random.normal([4096, 16]);
      const y = x.sum(1, { keepdims: true }).sin();
      const adam = new tf.optimizers.Adam(0.01);
      let loss;
      for (let i = 0; i < 20; i++) {
        const tape = new tf.GradientTape();
        loss = model(x).sub(y).square().mean();
        adam.applyGradients(tape.gradient(loss, model.trainableVariables), model.trainableVariables);
      }
      return loss.item();
    };`;
  /** Begins the module of a worker. */
  const begin = `
    const tf = await import(${JSON.stringify(umbrella)});
    ${work}`;
  const worker = `
    import { Worker } from 'node:worker_threads';
    ${work}
    const make = (rest) => new Worker(new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(begin)} + rest)));
    const start = () => new Promise((resolve, reject) => {
      const w = make('(await import("node:worker_threads")).parentPort.postMessage([sum(), train()]);');
      let got;
      w.on('message', (m) => { got = m; });
      w.on('error', reject);
      w.on('exit', () => resolve(JSON.stringify(got)));
    });`;

  it('workers one after another, and beside the main thread', async () => {
    const out = await printed(`${worker}
      const expected = JSON.stringify([sum(), train()]);
      const results = [await start(), await start()];
      const running = [start(), start()];
      for (let i = 0; i < 30; i++) results.push(JSON.stringify([sum(), train()]));
      results.push(...(await Promise.all(running)));
      for (let i = 0; i < 5; i++) results.push(JSON.stringify([sum(), train()]));
      console.log(results.length, results.every((r) => r === expected), expected);`);
    expect(out).toMatch(/^39 true \[27000000,/);
  });
  it('a worker that is terminated while it computes', async () => {
    const out = await printed(`${worker}
      for (let i = 0; i < 3; i++) {
        const w = make('(await import("node:worker_threads")).parentPort.postMessage(0); for (;;) sum();');
        await new Promise((resolve, reject) => w.on('error', reject).on('message', () => setTimeout(resolve, 50)));
        sum();
        await w.terminate();
      }
      console.log(sum());`);
    expect(out).toBe('27000000');
  });
  it('thirty workers that train, every third terminated, leave the main thread and its memory as they were', async () => {
    const [numbers, early, late] = JSON.parse(
      await printed(`${worker}
        const whole = () => new Promise((resolve, reject) => {
          const w = make('(await import("node:worker_threads")).parentPort.postMessage(fit());');
          let got;
          w.on('message', (m) => { got = m; }).on('error', reject).on('exit', () => resolve(got));
        });
        const terminated = () => new Promise((resolve, reject) => {
          const w = make('(await import("node:worker_threads")).parentPort.postMessage(0); for (;;) fit();');
          w.on('message', () => setTimeout(() => w.terminate(), 30)).on('error', reject).on('exit', resolve);
        });
        const numbers = new Set([fit()]);
        const memory = [];
        for (let round = 0; round < 10; round++) {
          numbers.add(await whole());
          const both = Promise.all([whole(), terminated()]);
          let ended = false;
          both.finally(() => { ended = true; }).catch(() => {});
          while (!ended) {
            numbers.add(fit());
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          numbers.add((await both)[0]);
          memory.push(process.memoryUsage.rss() / 2 ** 20);
        }
        console.log(JSON.stringify([[...numbers], memory[3], memory[9]]));`),
    ) as [number[], number, number];
    expect(numbers).toEqual([expect.any(Number)]);
    if (measured) expect(late).toBeLessThan(early * 1.3 + 50);
  });
  // The addon by itself.
  const alone = (body: string): string => `
    import { Worker } from 'node:worker_threads';
    const body = 'import { createRequire } from "node:module"; const addon = createRequire("/")(process.env.FILE).open();' + ${JSON.stringify(body)};
    const end = () => new Promise((resolve, reject) => {
      new Worker(body, { eval: true }).on('error', reject).on('exit', resolve);
    });`;
  const file = { FILE: realpathSync(process.env.EAGRE_ADDON || `${root}native/build/Release/eagre.node`) };

  it('workers alone load the addon, and the threads of its pool outlive them', async () => {
    const fill = `
      const block = new Float64Array(64);
      const buffer = new ArrayBuffer(2 ** 22);
      addon.setBlock(block);
      block.set([0, 1, addon.addressOf(buffer), 0, 1, 2 ** 20, 5]);
      addon.run(addon.kernels.indexOf('Fill'));
      if (new Float32Array(buffer)[77] !== 5) throw new Error('not filled');`;
    const out = await printed(
      `${alone(fill)}
      for (let i = 0; i < 5; i++) {
        await end();
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await Promise.all([end(), end()]);
      const { readFileSync } = await import('node:fs');
      const loaded = process.platform !== 'linux' || readFileSync('/proc/self/maps', 'utf8').includes(process.env.FILE);
      console.log(loaded);`,
      { ...file, EAGRE_NUM_THREADS: '4' },
      '',
    );
    // Without its code they would crash, but only if they had not parked yet: so look for it.
    expect(out).toBe('true');
  });
  it.runIf(measured)('what an ended worker watched is freed', async () => {
    const [early, late] = JSON.parse(
      await printed(
        `${alone('for (let i = 0; i < 100_000; i++) addon.watch({}, i);')}
        const memory = [];
        for (let i = 0; i < 40; i++) {
          await end();
          memory.push(process.memoryUsage.rss() / 2 ** 20);
        }
        console.log(JSON.stringify([memory[9], memory[39]]));`,
        file,
        '',
      ),
    ) as [number, number];
    // 100,000 references are 4.5 MB.
    expect(late - early).toBeLessThan(60);
  });
  // Loops that each fill 4 MB, more than there are threads for. The second number of a step is its owner.
  const background = `
    const buffers = (globalThis.kept = []);
    const started = [];
    const start = () => new Promise((resolve) => {
      const buffer = new ArrayBuffer(2 ** 22);
      buffers.push(buffer);
      const fill = [addon.kernels.indexOf('Fill'), 0, 7, 0, 1, addon.addressOf(buffer), 0, 1, 2 ** 20, 5];
      const plan = addon.preparePlan(globalThis, Float64Array.of(...fill, -1, 0, 1, 0));
      addon.startPlan(globalThis, plan, 0, (...told) => resolve(told));
      started.push(plan);
    });
    const running = Array.from({ length: 7 }, start);`;

  it('workers that end while plans run in the background', async () => {
    const out = await printed(
      `import { Worker } from 'node:worker_threads';
      const head = 'import { createRequire } from "node:module"; const addon = createRequire("/")(process.env.FILE).open();';
      const make = (rest) => new Worker(head + ${JSON.stringify(background)} + rest, { eval: true });
      const ended = (worker) => new Promise((resolve, reject) => worker.on('error', reject).on('exit', resolve));
      const codes = [];
      for (let i = 0; i < 6; i++) {
        const worker = make('(await import("node:worker_threads")).parentPort.postMessage(0);');
        worker.on('message', () => setTimeout(() => worker.terminate(), 10 * i));
        const other = make('setTimeout(() => process.exit(3), 20);');
        codes.push(...(await Promise.all([ended(worker), ended(other)])));
      }
      const cancelled = make('setTimeout(() => started.forEach((plan) => addon.cancelPlan(plan)), 20);');
      codes.push(await ended(cancelled));
      console.log(codes.join(' '));`,
      file,
      '',
    );
    expect(out).toBe(`${'1 3 '.repeat(6)}0`);
  });
  it('process.exit while plans run in the background', async () => {
    const head = `import { createRequire } from 'node:module'; const addon = createRequire('/')(process.env.FILE).open(); ${background}`;
    for (const end of ['process.exit(7);', 'setTimeout(() => process.exit(7), 30);']) {
      const { code, signal, err } = await run(end, file, head);
      expect([code, signal, err]).toEqual([7, null, '']);
    }
    const { code, err } = await run('setTimeout(() => { throw new Error("told so"); }, 30);', file, head);
    expect([code, err]).toEqual([1, expect.stringContaining('told so')]);
  });
  it('a process waits for plans in the background, and ends then', async () => {
    const head = `import { createRequire } from 'node:module'; const addon = createRequire('/')(process.env.FILE).open(); ${background}`;
    const program = `
      setTimeout(() => started.forEach((plan) => addon.cancelPlan(plan)), 100);
      const results = await Promise.all(running);
      console.log(new Set(results.map(([result]) => result)).size, results[0][0], new Float32Array(buffers[0])[77]);`;
    expect(await printed(program, file, head)).toBe('1 -2 5');
  });
  it('process.exit in the middle', async () => {
    for (const threads of ['1', '4']) {
      const { code, signal } = await run(
        `${work} sum(); train(); const tape = new tf.GradientTape(); sum(); process.exit(7);`,
        { EAGRE_NUM_THREADS: threads },
      );
      expect([code, signal]).toEqual([7, null]);
    }
  });
  it('an end while kernel threads are parked', async () => {
    expect(
      await printed(`${work} sum(); await new Promise((r) => setTimeout(r, 300)); console.log('done');`, {
        EAGRE_NUM_THREADS: '4',
      }),
    ).toBe('done');
  });
  it('another number of threads in between', async () => {
    expect(
      await printed(
        `${work} const all = [1, 4, 2, 8, 1, 300].map((n) => (tf.config.threading.setIntraOpParallelismThreads(n), sum())); console.log(new Set(all).size, tf.config.threading.getIntraOpParallelismThreads());`,
      ),
    ).toBe('1 256');
  });
});

describe.runIf(measured)('memory that nobody gives back', () => {
  it('a synchronous loop of 300,000 tensors of 4 KB stays small', async () => {
    // What the library itself takes, from its sources here, is not the loop's.
    const [before, after] = JSON.parse(
      await printed(`const peak = () => process.resourceUsage().maxRSS / 1024;
        const before = peak();
        for (let i = 0; i < 300_000; i++) tf.fill([1024], i);
        console.log(JSON.stringify([before, peak()]));`),
    ) as [number, number];
    expect(after - before).toBeLessThan(64);
  });
  it('one of a thousand small tensors that is kept does not keep all of them', async () => {
    const [before, after] = JSON.parse(
      await printed(`const peak = () => process.resourceUsage().maxRSS / 1024;
        const before = peak();
        const kept = [];
        for (let i = 0; i < 300_000; i++) { const t = tf.fill([1024], i); if (i % 1000 === 0) kept.push(t); }
        if (kept.some((t, i) => t.data()[1023] !== i * 1000)) throw new Error('changed');
        console.log(JSON.stringify([before, peak()]));`),
    ) as [number, number];
    // All of them would be 1.2 GB.
    expect(after - before).toBeLessThan(100);
  });
  it('500 training steps', async () => {
    const [early, late] = JSON.parse(
      await printed(`
        const model = new tf.Sequential([new tf.layers.Dense(64, { activation: 'relu', inputShape: [32] }), new tf.layers.Dense(10)]);
        const [x, y] = [tf.random.normal([32, 32]), tf.zeros([32], 'int32')];
        const loss = new tf.losses.SparseCategoricalCrossentropy({ fromLogits: true });
        const adam = new tf.optimizers.Adam();
        const steps = (n) => {
          for (let i = 0; i < n; i++) {
            const tape = new tf.GradientTape();
            adam.applyGradients(tape.gradient(loss(y, model(x)), model.trainableVariables), model.trainableVariables);
          }
          return process.memoryUsage.rss();
        };
        console.log(JSON.stringify([steps(50), steps(450)]));`),
    ) as [number, number];
    // What the library itself takes is not the steps'.
    expect((late - early) / 2 ** 20).toBeLessThan(60);
  });
});
