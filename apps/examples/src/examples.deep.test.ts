import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as tf from 'eagre';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundled } from '../../../packages/testing/src/bundled.ts';

// Every program runs as a user would run it; here its outcome is looked at.
beforeAll(() => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
});

it('runs on native kernels', () => {
  expect(tf.zeros([1]).backend.name).toBe(process.env.EAGRE_BACKEND ?? 'native');
});

it('npm start says how far its build is', async () => {
  const file = new URL('../../../tools/build-progress.mjs', import.meta.url).href;
  const { BuildProgress } = (await import(file)) as {
    BuildProgress: new () => { said: string; hear(text: string): void; line(milliseconds: number): string };
  };
  const progress = new BuildProgress();
  expect(progress.line(10_002)).toBe('  10 s: starting');
  progress.hear('• Running build in 3 packages\n@eagre/core:build: cache miss\n@eagre/nat');
  expect(progress.line(20_004)).toBe('  20 s: @eagre/core');
  progress.hear('ive:build: [ 19/128] Building CXX object\n@eagre/native:build: [ 2');
  expect(progress.line(29_996)).toBe('  30 s: @eagre/native, file 19 of 128');
  progress.hear('0/128] Linking\nand more');
  expect(progress.line(40_000)).toBe('  40 s: @eagre/native, file 20 of 128');
  expect(progress.said).toMatch(/^• Running build.*Linking\nand more$/s);
});

it('01: eager execution', async () => {
  const { eager, m, a, b, product } = await import('./01-eager-execution.ts');
  expect(eager).toBe(true);
  expect(`hello, ${m}`).toBe('hello, [[4.]]');
  expect(a.dtype).toBe('int32');
  expect(b.array()).toEqual([
    [2, 3],
    [4, 5],
  ]);
  expect(product.array()).toEqual([
    [2, 6],
    [12, 20],
  ]);
});

it('02: host arrays', async () => {
  const { sum, flat, fromNpy, fromNpz } = await import('./02-host-arrays.ts');
  expect(sum.array()).toEqual([
    [11, 22],
    [33, 44],
  ]);
  expect(flat).toEqual(Float32Array.of(11, 22, 33, 44));
  expect(fromNpy.data()).toEqual(Float32Array.of(22, 44, 66, 88));
  expect(fromNpz.data()).toEqual(Float32Array.of(5.5, 11, 16.5, 22));
});

it('03: dynamic control flow', async () => {
  const log = vi.mocked(console.log);
  const e = await import('./03-dynamic-control-flow.ts');
  const { fizzbuzz, collatz, search, gradientThroughLoop } = e;
  expect(fizzbuzz(15).join(' ')).toBe('1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz 15 numbers');
  expect(collatz(12)).toEqual([12, 6, 3, 10, 5, 16, 8, 4, 2, 1]);
  expect(search.value.item()).toBeLessThan(25);
  expect(search.tries).toBeGreaterThan(0);
  expect(gradientThroughLoop(3)).toBe(8 * 3 ** 7);

  log.mockClear();
  expect(e.fizzbuzzFunction(tf.constant(15, 'int32')).item()).toBe(15);
  expect(log.mock.calls.map((c) => c[0])).toEqual(fizzbuzz(15).slice(0, 15));
  const { length, seen } = e.collatzFunction(tf.constant(27, 'int32'));
  expect(Array.from(seen.data(), Number).slice(0, length.item())).toEqual(collatz(27));
  const found = e.lineSearchFunction(tf.constant([3, -4]), tf.constant(1));
  expect(found.tries.item()).toBe(search.tries);
  expect(found.x.array()).toEqual(search.x.array());
  expect(e.gradientThroughLoopFunction(tf.constant(3)).item()).toBe(8 * 3 ** 7);
  expect(e.collatzFunction.experimentalGetTracingCount()).toBe(1);
});

it('04: gradient tape', async () => {
  const e = await import('./04-gradient-tape.ts');
  expect(e.square?.array()).toEqual([[2]]);
  expect(e.polynomial?.array()).toEqual([[4]]);
  expect(e.refused).toMatch(/one gradient only/);
  expect(e.secondDerivative(2)).toBeCloseTo(12, 4);
  expect(e.jacobian?.array()).toEqual([
    [1, 1],
    [2, 1],
  ]);
  expect(e.batchJacobian.array()).toEqual([
    [
      [2, 0],
      [0, 4],
    ],
    [
      [6, 0],
      [0, 8],
    ],
  ]);
  expect(e.stopped?.array()).toEqual([[1]]);
  expect(e.unconnected).toBeNull();
  expect(e.zeros.item()).toBe(0);
});

it('05: custom gradients', async () => {
  const e = await import('./05-custom-gradients.ts');
  expect([e.gradPlain(0).item(), e.gradStable(0).item(), e.gradStable(100).item()]).toEqual([0.5, 0.5, 1]);
  expect(e.gradPlain(100).item()).toBeNaN();
  const clipped = tf.autodiff.grad((x) => e.clipGradientByNorm(x, 1).mul([30, 40]).sum())([1, 1]);
  expect(tf.norm(clipped).item()).toBeCloseTo(1, 5);
  expect(e.descend((x) => x.mul(x), 60)).toBeLessThan(1e-4);
  const noisy = e.descend(e.noisySquare, 60);
  expect(noisy).toBeGreaterThan(0);
  expect(noisy).toBeLessThan(0.5);
  // gradient: aᵀ·dy with rows divided by E[a²] and columns by E[dy²], plus 1e-3; dy = 2·a here.
  const expected = [
    [20 / (5 + 1e-3) / (20 + 1e-3), 28 / (5 + 1e-3) / (40 + 1e-3)],
    [28 / (10 + 1e-3) / (20 + 1e-3), 40 / (10 + 1e-3) / (40 + 1e-3)],
  ];
  expect(e.whitened?.array()).toEqual(expected.map((row) => row.map((v) => expect.closeTo(v, 5))));
});

it('06: functional gradients', async () => {
  const e = await import('./06-functional-gradients.ts');
  expect(e.orders).toEqual([6, 2, 0]);
  expect(e.branches).toEqual([1, -1]);
  expect(e.value.item()).toBe(10);
  expect(e.gradients.map((g) => g.item())).toEqual([5, 2]);
  expect(e.pairs.map(([g]) => g.item())).toEqual([48, 24]);
  expect(e.lossValue.item()).toBe(144);
  expect(e.after).toBeLessThan(144);
  expect(e.minimized).toBeLessThan(e.after);
});

describe('with MNIST', () => {
  it('07: a training loop of one’s own', async () => {
    const { untrained, lossHistory } = await import('./07-custom-training-loop.ts');
    expect(untrained.shape).toEqual([1, 10]);
    expect(lossHistory).toHaveLength(3 * 312);
    const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;
    expect(mean(lossHistory.slice(-30))).toBeLessThan(mean(lossHistory.slice(0, 30)) * 0.95);
    const lines = vi.mocked(console.log).mock.lastCall?.[0].split('\n') as string[];
    expect(lines.find((line) => /^ +0 /.test(line))?.trim()).toMatch(/^0 +200 +400 +600 +800$/);
  });

  it('24: L-BFGS on an autoencoder', async () => {
    const { short, long } = await import('./24-lbfgs-autoencoder.ts');
    for (const run of [short, long]) {
      expect(run.losses.at(-1)).toBeLessThan((run.losses[0] as number) * 0.5);
      for (let i = 1; i < run.losses.length; i++) {
        expect(run.losses[i]).toBeLessThanOrEqual(run.losses[i - 1] as number);
      }
    }
    // More history knows more of the curvature.
    expect(long.losses.at(-1)).toBeLessThan((short.losses.at(-1) as number) * 1.1);
  });

  it('26: K-FAC on a deep autoencoder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-26-'));
    for (const [name, value] of Object.entries({
      RUNS: folder,
      SIDE: 14,
      EXAMPLES: 1000,
      BATCH: 250,
      STEPS: 30,
      WIDTHS: '64,16,64',
    }))
      vi.stubEnv(name, String(value));
    const { kfac, sgd, files, picture } = await import('./26-kfac-autoencoder.ts');
    expect(kfac.losses[0]).toBeCloseTo(sgd.losses[0] as number, 3);
    // Gradient descent learns the mean of all digits first, and stays there for long.
    expect(sgd.error).toBeLessThan(15);
    expect(kfac.error).toBeLessThan(sgd.error * 0.95);
    expect(kfac.losses.at(-1)).toBeLessThan((sgd.losses.at(-1) as number) * 0.97);
    expect(picture.shape).toEqual([42, 168, 1]);
    expect(readFileSync(files[0]).subarray(1, 4).toString()).toBe('PNG');
    expect(readFileSync(files[1], 'utf8').match(/<polyline/g)).toHaveLength(2);
    rmSync(folder, { recursive: true });
  });
});

it('08: variables and optimizers', async () => {
  const { initial, final, W, B } = await import('./08-variables-and-optimizers.ts');
  expect(initial).toBeGreaterThan(60);
  expect(initial).toBeLessThan(76);
  expect(final).toBeGreaterThan(0.9);
  expect(final).toBeLessThan(1.1);
  expect(W).toBeCloseTo(3, 0);
  expect(B).toBeCloseTo(2, 0);
});

it('09: object-based saving', async () => {
  const e = await import('./09-object-based-saving.ts');
  expect(e.sameLogits.array()).toEqual(e.logits.array());
  expect(e.restored).toBe(2);
  expect(e.variablesBefore).toBe(0);
  expect(e.lossesThere).toEqual(e.lossesHere);
  expect(e.step).toBe(5);
  expect(e.unresolved).toMatch(
    /^Unresolved object in checkpoint \(root\)\.model\.layer_with_weights-0\.kernel/m,
  );
  expect(e.unmatched).toMatch(
    /Found 1 objects that were not bound to checkpointed values.*\(root\)\.unknown/,
  );
  expect(e.contents).toContain(
    'model/layer_with_weights-0/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE',
  );
  expect(e.kept).toEqual(['ckpt-4', 'ckpt-5', 'ckpt-6']);
  expect([e.latest, e.lastStep]).toEqual(['ckpt-6', 10]);
});

it('21: the Fashion-MNIST program', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'eagre-21-'));
  vi.stubEnv('RUNS', folder);
  vi.stubEnv('EXAMPLES', '1600');
  vi.stubEnv('EPOCHS', '2');
  const e = await import('./21-fashion-mnist.ts');
  expect([e.startedFrom, e.steps, e.kept]).toEqual([0, 100, 3]);
  const [first, second] = e.epochs;
  expect(second?.trainLoss).toBeLessThan(first?.trainLoss as number);
  // Metrics start anew: the second epoch's are not means over both.
  expect(second?.trainAccuracy).toBeGreaterThan(0.8);
  expect(second?.testAccuracy).toBeGreaterThan(0.8);
  expect(e.learningRate).toBeCloseTo(0.96e-3, 9);
  expect(e.testStep.experimentalGetTracingCount()).toBe(1);
  vi.stubEnv('EPOCHS', '0');
  // The program again, with the same library.
  const again = (await import(`${'./21-fashion-mnist.ts'}?again`)) as typeof e;
  expect(again.startedFrom).toBe(100);
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

it('10: metrics', async () => {
  const e = await import('./10-metrics.ts');
  expect([e.mean, e.meanOfAll]).toEqual([2.5, 5.5]);
  expect(e.accuracies.map((v) => v.toFixed(3))).toEqual(['0.750', '0.714', '0.667']);
  expect([e.positives, e.weighted]).toEqual([2, 2.5]);
});

it('11: summaries', async () => {
  vi.stubEnv('LOGDIR', mkdtempSync(join(tmpdir(), 'eagre-example-')));
  const { logdir, kerasLogdir } = await import('./11-summaries.ts');
  const files = readdirSync(logdir);
  expect(files).toHaveLength(1);
  expect(files[0]).toMatch(/^events\.out\.tfevents\.\d{10}\..+\.v2$/);
  const events = [...tf.summary.readEvents(logdir)];
  const losses = events.flatMap((e) => (e.kind === 'scalar' && e.tag === 'train/loss' ? [e] : []));
  expect(losses.map((e) => e.step)).toEqual([100, 200, 300]);
  expect(losses.at(-1)?.value).toBeLessThan(2);
  expect(losses[0]?.value).toBeGreaterThan(losses[1]?.value ?? NaN);
  const tags = events.flatMap((e) => ('tag' in e ? [`${e.kind} ${e.tag} ${e.step}`] : [e.kind]));
  expect(tags.filter((tag) => !tag.startsWith('scalar'))).toEqual([
    'other',
    'histogram residuals 300',
    'image gradient 300',
    'audio a4 300',
    'text note 300',
    'trace noisy 0',
    'graph',
    'hparamsConfig _hparams_/experiment 0',
    'hparams _hparams_/session_start_info 0',
  ]);
  const keras = [...tf.summary.readEvents(kerasLogdir)];
  expect(keras.flatMap((e) => (e.kind === 'scalar' && e.tag === 'epoch_loss' ? [e.step] : []))).toEqual([
    0, 1, 2,
  ]);
  expect(
    keras.filter((e) => e.kind === 'histogram' && e.tag === 'linear/line/kernel/histogram'),
  ).toHaveLength(3);
  rmSync(dirname(logdir), { recursive: true });
  vi.unstubAllEnvs();
});

it('12: devices', async () => {
  vi.stubEnv('STEPS', '5');
  const e = await import('./12-devices.ts');
  vi.unstubAllEnvs();
  expect(e.cpus).toHaveLength(1);
  expect(e.seconds).toBeGreaterThan(0);
  expect(e.placed).toBe('/device:CPU:0');
});

it('22: a strategy on several devices', async () => {
  vi.stubEnv('EPOCHS', '4');
  const { one, several, central, named } = await import('./22-mirrored-strategy.ts');
  vi.unstubAllEnvs();
  expect(several.losses.at(-1)).toBeLessThan((several.losses[0] as number) * 0.8);
  for (const { losses } of [several, central, named])
    for (const [i, loss] of losses.entries()) expect(loss).toBeCloseTo(one.losses[i] as number, 2);
});

const multiWorker = `await import(${JSON.stringify(await bundled('../apps/examples/src/23-multi-worker.ts'))});`;
it('23: several workers, in real processes', { timeout: 120_000 }, async (test) => {
  const { runWorkers, withoutGloo } = await import('../../../packages/distribute/src/testing/processes.ts');
  if (withoutGloo !== undefined) return test.skip(withoutGloo);
  interface Trained {
    readonly replicas: number;
    readonly losses: readonly number[];
    readonly weights: number;
  }
  const trained = async (count: number): Promise<Trained[]> => {
    const lines = await runWorkers(count, multiWorker, { EPOCHS: '3' });
    return lines.map((out) => JSON.parse(out.split('\n').at(-1) as string) as Trained);
  };
  const [[one], [first, second]] = await Promise.all([trained(1), trained(2)]);
  expect([one?.replicas, first?.replicas]).toEqual([1, 2]);
  expect(second).toEqual(first);
  expect(one?.losses[2]).toBeLessThan((one?.losses[0] as number) / 2);
  for (const [i, loss] of (first?.losses ?? []).entries())
    expect(loss).toBeCloseTo(one?.losses[i] as number, 4);
  expect(first?.weights).toBeCloseTo(one?.weights as number, 3);
});

const served = `await import(${JSON.stringify(await bundled('../apps/examples/src/23-parameter-server.ts'))});`;
it('23: parameter server, in real processes', async () => {
  const { startServed } = await import('../../../packages/distribute/src/testing/processes.ts');
  const env = { EPOCHS: '3', STEPS: '10' };
  const cluster = await startServed('', served, { ps: 2, env, server: served });
  try {
    const { code, out, err } = await cluster.coordinator.ended;
    expect([code, err]).toEqual([0, '']);
    const { losses, fit, updates } = JSON.parse(out.split('\n').at(-1) as string) as {
      readonly losses: readonly number[];
      readonly fit: readonly number[];
      readonly updates: number;
    };
    expect(losses.length).toBe(3);
    expect(fit[2]).toBeLessThan(fit[0] as number);
    expect(updates).toBe(30);
    for (const { ended } of Object.values(cluster.servers)) expect((await ended).code).toBe(0);
  } finally {
    await cluster.end();
  }
});

it('13: tf.function', async () => {
  const log = vi.mocked(console.log);
  log.mockClear();
  const e = await import('./13-function.ts');
  expect(e.traced).toEqual([
    'Tracing with int32, shape []',
    'Tracing with float32, shape []',
    'Tracing with int32, shape [2]',
  ]);
  expect(e.double.experimentalGetTracingCount()).toBe(3);
  expect(e.nextCollatz(tf.constant([1, 2, 3, 10], 'int32')).array()).toEqual([4, 1, 10, 5]);
  expect(e.nextCollatz.experimentalGetTracingCount()).toBe(1);
  expect(e.square(tf.constant([5])).array()).toEqual([25]);
  expect(String(e.square.graph)).toContain('%args_0: float32[?]');
  expect(e.means).toEqual([0.5, 1, 1.5, 2]);
  expect(e.mean.experimentalGetTracingCount()).toBe(2);
  const [shape, dtype] = e.refusals();
  expect(shape).toMatch(/shape \[1, 2\], expected \[null\]/);
  expect(dtype).toMatch(/is float32, expected int32/);
  expect([e.narrow?.w?.shape, e.wide?.w?.shape]).toEqual([
    [3, 2],
    [3, 5],
  ]);
  expect(e.narrow?.variables).toHaveLength(1);
  expect(e.madeAnew()).toMatch(/first call only/);
  const states = [1, 2, 3].reduce<number[]>((all) => [...all, Math.tanh(1 + (all.at(-1) ?? 0))], []);
  expect(e.rnn.outputs.array()).toEqual(states.map((s) => [expect.closeTo(s, 6), expect.closeTo(s, 6)]));
  expect(e.rnn.state.array()).toEqual([
    expect.closeTo(states[2] as number, 6),
    expect.closeTo(states[2] as number, 6),
  ]);
  expect([e.running.sums, e.running.squares, e.running.product].map((t) => t.array())).toEqual([
    [1, 3, 6, 10],
    [1, 4, 9, 16],
    24,
  ]);
  expect(log.mock.calls.slice(-5, -2).map((c) => c.join(' '))).toEqual([
    'traced',
    'running with 1',
    'running with 2',
  ]);
});

it('14: AutoGraph', async () => {
  const log = vi.mocked(console.log);
  const e = await import('./14-autograph.ts');
  expect(e.eager).toEqual([81, 0]);
  expect(e.inSession).toEqual([81, 0]);
  expect(e.code).toContain('ifStmt');
  expect(e.sumEvenOn(tf.constant([10, 12, 15, 20], 'int32')).item()).toBe(42);
  expect(e.sumEvenOn(tf.constant([1, 3, 5, 8], 'int32')).item()).toBe(8);
  expect(e.sumEvenOn.experimentalGetTracingCount()).toBe(1);
  expect(e.off).toMatch(/iterating over a tensor of a graph is not allowed/);
  expect(e.off).toMatch(/tf\.autograph/);
  expect(e.steps).toEqual([9, 111, 115]);
  expect(e.collatz.experimentalGetTracingCount()).toBe(1);
  expect(e.found).toEqual([
    [-1, 3],
    [2, 2],
  ]);
  expect(e.sumClipped(tf.constant([0.5, 4, 9])).item()).toBe(5.5);
  expect(e.slope).toBe(8 * 3 ** 7);
  const { x, value } = e.lineSearchStep(tf.constant([3, -4]), tf.constant(1));
  expect([x.array(), value.item()]).toEqual([[0, 0], 0]);
  log.mockClear();
  e.fizzbuzz(tf.constant(15, 'int32'));
  expect(log.mock.calls.map((c) => c[0]).join(' ')).toBe(
    '1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz',
  );
  expect(e.fizzbuzz.experimentalGetTracingCount()).toBe(1);
  expect(e.refused).toMatch(/:\d+:\d+: /);
});

it('16: modules', async () => {
  const e = await import('./16-module.ts');
  expect(e.result.item()).toBe(6);
  expect(e.demo.variables.map((v) => v.name)).toEqual(['demo_module/Variable']);
  expect(e.demo.trainableVariables).toHaveLength(1);
  expect(e.demo.submodules).toEqual([]);
  expect(String(e.addPrint.graph)).toContain('%demo_module/AddV2');
  expect(e.small.variables.map((v) => `${v.name} ${v.shape}`)).toEqual([
    'steps ',
    'mlp/first/b 4',
    'mlp/first/w 3,4',
    'mlp/second/b 2',
    'mlp/second/w 4,2',
  ]);
  expect(e.small.trainableVariables).toHaveLength(4);
  expect(e.small.submodules).toEqual(e.small.layers);
  expect([e.small.steps.item(), e.large.steps.item()]).toEqual([1, 2]);
  expect(e.large.layers[0]?.w?.shape).toEqual([30, 4]);
  expect(e.mine.x.item()).toBe(3);
  expect(e.mine.variables).toEqual([e.mine.x]);
  expect([e.model.variables.length, e.model.trainableVariables.length]).toEqual([6, 4]);
  expect(e.model.countParams()).toBe(57);
  expect(e.model.submodules).toEqual(e.model.layers);
});

it('15: graphs and sessions', async () => {
  const e = await import('./15-sessions.ts');
  expect(e.unfed).toMatch(
    /You must feed a value for placeholder tensor 'x' with dtype float and shape \[1024,1024\]/,
  );
  expect(e.product.shape).toEqual([1024, 1024]);
  expect(e.product.mean().item()).toBeCloseTo(256, -1);
  expect(e.eager).toBe('tf.placeholder() is not compatible with eager execution.');
  expect([e.z0.item(), e.z1.item()]).toEqual([6, 4]);
  expect(e.graphResults.map((t) => t.item())).toEqual([81, -9]);
  expect(e.uninitialized).toMatch(/Attempting to use uninitialized value w/);
  expect(e.lossBefore).toBeGreaterThan(50);
  expect(e.lossAfter).toBeLessThan(1.5);
  expect(e.w).toBeCloseTo(3, 0);
  expect(e.b).toBeCloseTo(2, 0);
  expect(e.definition.length).toBeGreaterThan(1000);
  expect(e.text).toContain('%inputs: float32[?]');
  expect(e.called.array()).toEqual([[3], [3], [3]]);
  expect(e.slopes.map(([g]) => g.array())).toEqual([[[3], [3]]]);
  expect(e.inEagerMode).toEqual([e.w, e.b]);
  expect(e.inSession).toEqual([3, 2]);
});

it('17: a layer of one’s own', async () => {
  const e = await import('./17-custom-layer.ts');
  expect(e.before).toBe(0);
  expect(e.y.shape).toEqual([8, 32]);
  expect(e.after).toEqual([[16, 32], [32]]);
  expect(e.losses).toHaveLength(1);
  expect(e.losses[0]).toBeCloseTo(e.penalty, 6);
});

it('18: models', async () => {
  // Names count on from the programs before.
  tf.keras.clearSession();
  const e = await import('./18-models.ts');
  const text = e.lines.join('\n');
  expect(text).toMatch(/dense \(Dense\)[\s│]+\[null, 4\][\s│]+44/);
  expect(text).toMatch(/dense_1 \(Dense\)[\s│]+\[null, 2\][\s│]+10/);
  expect(text).toMatch(/dense_2 \(Dense\)[\s│]+\[null, 1\][\s│]+3/);
  expect(text).toMatch(/Total params: 57/);
  expect(e.frozen).toBe(4);
  expect(e.submodules).toBe(3);
  expect(e.functional.countParams()).toBe(785 * 64 + 65 * 64 + 65 * 10);
  expect(e.probabilities.sum(1).array()).toEqual([expect.closeTo(1, 5), expect.closeTo(1, 5)]);
  expect(e.cnn.layers).toHaveLength(4);
  expect(e.logits.shape).toEqual([4, 10]);
  expect(e.history.history.val_loss?.length).toBeGreaterThan(0);
  expect(e.evaluated.accuracy).toBeGreaterThan(0.9);
  expect(e.predicted.shape).toEqual([3, 2]);
});

it('25: eager against graph', async () => {
  vi.spyOn(console, 'table').mockImplementation(() => undefined);
  const { comparisons, sums } = await import('./25-eager-against-graph.ts');
  expect(sums).toEqual([249_500, 249_500]);
  expect(comparisons).toHaveLength(5);
  for (const { eager, graph } of comparisons) expect(Math.min(eager, graph)).toBeGreaterThan(0);
});

it('19: losses', async () => {
  const e = await import('./19-losses.ts');
  expect(e.loss.item()).toBeCloseTo(12.000716, 5);
  expect(e.each.shape).toEqual([2]);
});

it('20: data pipeline', async () => {
  const e = await import('./20-data-pipeline.ts');
  expect(e.examples.cardinality()).toBe(4);
  expect(
    tf
      .constant(e.batches as number[][][])
      .mul(10)
      .round()
      .array(),
  ).toEqual([
    [
      [1, 2],
      [3, 4],
    ],
    [
      [5, 6],
      [7, 8],
    ],
  ]);
  expect(e.evens).toEqual([0, 2, 4, 6, 8]);
  expect(e.first).not.toEqual(e.second);
  expect([...(e.first as number[])].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(e.parts).toEqual([
    [2, 3, 4, 5],
    [6, 7],
  ]);
  expect(e.twice).toEqual([0, 1, 2, 0, 1, 2]);
  expect(e.sum).toBe(45);
  expect(e.zipped).toEqual([
    [0, 0],
    [1, 1],
    [2, 4],
  ]);
  expect(e.interleaved).toEqual([1, 1, 2, 2, 1, 2, 3, 3, 3]);
  expect(e.windows).toEqual([
    [0, 1, 2],
    [2, 3, 4],
    [4, 5, 6],
    [6, 7, 8],
  ]);
  expect(e.callsOfThreeEpochs).toBe(10);
  expect(e.times).toEqual([[0, 1], [2, 3], [4]]);
  expect(e.refusal).toContain('for await');
  expect(e.again).toEqual(e.rest);
  expect(e.history['loss']?.at(-1)).toBeLessThan(0.01);
});

it('20: data from files', async () => {
  const e = await import('./20-data-files.ts');
  const order = [0, 4, 1, 5, 2, 6, 3, 7];
  expect(e.names).toEqual(order.map((x) => `example ${x}`));
  expect(e.labels.flat()).toEqual(order.map((x) => BigInt(x % 2)));
  expect(e.words).toEqual([2, 4]);
  expect(e.boatNames).toEqual(['Ada, the first', 'Bore']);
  expect(e.fast).toEqual([1, 0]);
  expect(e.imageShape).toEqual([6, 6, 8, 3]);
  expect(e.imageLabels).toEqual([0, 0, 0, 1, 1, 1]);
  expect(e.classNames).toEqual(['dark', 'light']);
  expect([e.keptCount, e.keptFirst]).toEqual([8, 'example 0']);
});

describe('with Shakespeare', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('30: text generation', async () => {
    vi.stubEnv('CHARACTERS', '100000');
    vi.stubEnv('EPOCHS', '2');
    const e = await import('./30-text-generation.ts');
    const size = e.idsFromChars.vocabularySize();
    expect(e.textFromIds(e.idsFromChars(tf.constant([...'First'])))).toBe('First');
    const [inputs, targets] = e.dataset.iterator().getNext();
    expect(inputs.at(':', '1:').array()).toEqual(targets.at(':', ':-1').array());
    // Untrained, it is as good as a guess.
    expect(e.exponential).toBeGreaterThan(size * 0.9);
    expect(e.exponential).toBeLessThan(size * 1.1);
    const [first, last] = e.history.loss as [number, number];
    expect(last).toBeLessThan(2.5);
    expect(last).toBeLessThan(first * 0.85);
    expect([...e.written]).toHaveLength(301);
    expect(e.written).not.toContain('[UNK]');
    // States say what was before: all at once is the same as one after another.
    const whole = e.model(inputs.at('0:1'));
    const [start, states] = e.model<[tf.Tensor, tf.Tensor]>(inputs.at('0:1', ':20'), { returnState: true });
    const rest = e.model(inputs.at('0:1', '20:'), { states });
    expect(tf.concat([start, rest], 1).sub(whole).abs().max().item()).toBeLessThan(1e-4);
  });

  it('31: a miniature GPT', async () => {
    vi.stubEnv('CHARACTERS', '200000');
    vi.stubEnv('EPOCHS', '2');
    const e = await import('./31-mini-gpt.ts');
    const [first, last] = e.history.loss as [number, number];
    expect(last).toBeLessThan(2.5);
    expect(last).toBeLessThan(first * 0.93);
    expect(e.textGenCallback.samples.map((text) => text.slice(0, 6))).toEqual(['First ', 'First ']);
    expect(e.texts.map((text) => text.length)).toEqual([40, 40]);
    expect(e.texts.map((text) => text.slice(0, 6))).toEqual([0, 1].map(() => e.textGenCallback.startTokens));
    expect(e.texts[0]).not.toEqual(e.texts[1]);
    // Keys and values that are kept give the logits of the whole model.
    expect(e.difference).toBeLessThan(1e-4);
    // What comes later changes nothing before.
    const other = tf.constant([[...e.tokens.slice(0, 20), ...new Array<number>(20).fill(3)]], 'int32');
    const [logits] = e.model<tf.Tensor[]>(other);
    const gaps = (logits as tf.Tensor)
      .sub(e.logitsAtOnce as tf.Tensor)
      .abs()
      .max([0, 2]);
    expect(gaps.at(':20').max().item()).toBeLessThan(1e-5);
    expect(gaps.at('20:').max().item()).toBeGreaterThan(0.1);
  });
});

describe('texts, series and tables', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('32: text classification', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    vi.stubEnv('REVIEWS', '1600');
    const e = await import('./32-text-classification.ts');
    expect(e.counts).toEqual([40, 10, 13]);
    expect(e.vectorizeLayer.getVocabulary().slice(0, 2)).toEqual(['', '[UNK]']);
    // 15 words between opinions, 16 of opinions, `not`, padding and unknown ones; the line breaks are gone.
    expect(e.vectorizeLayer.vocabularySize()).toBe(34);
    expect(e.evaluated.accuracy).toBeGreaterThan(0.9);
    expect(e.endToEnd.loss).toBeCloseTo(e.evaluated.loss as number, 5);
    expect(e.endToEnd.accuracy).toBe(e.evaluated.accuracy);
    expect(e.probabilities.shape).toEqual([2, 1]);
    // Batches of strings make no trace each.
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  it('33: translation', async () => {
    vi.stubEnv('PAIRS', '2500');
    vi.stubEnv('EPOCHS', '4');
    const e = await import('./33-translation.ts');
    const losses = e.history.loss as number[];
    expect(losses.at(-1)).toBeLessThan((losses[0] as number) * 0.1);
    const right = e.translations.filter((text, i) => text === e.testPairs[i]?.[1]);
    expect(e.translations).toHaveLength(30);
    expect(right.length).toBeGreaterThan(27);
  });

  it('34: time series', async () => {
    vi.stubEnv('HOURS', '2500');
    vi.stubEnv('EPOCHS', '5');
    const e = await import('./34-time-series.ts');
    const [inputs, labels] = e.convWindow.train.iterator().getNext();
    expect([inputs.shape, labels.shape]).toEqual([
      [32, 3, 4],
      [32, 1, 1],
    ]);
    expect(e.wideConv).toEqual([32, 22, 1]);
    const { baseline, dense, conv, lstm } = e.performance;
    for (const error of [dense, conv, lstm]) expect(error).toBeLessThan((baseline as number) * 0.8);
    expect(e.performance['residual lstm']).toBeLessThan((e.performance['baseline of all'] as number) * 0.8);
  });

  it('35: structured data', async () => {
    vi.stubEnv('PETS', '2000');
    vi.stubEnv('EPOCHS', '5');
    const e = await import('./35-structured-data.ts');
    const losses = e.history.loss as number[];
    expect(losses.at(-1)).toBeLessThan((losses[0] as number) * 0.8);
    expect(e.result.accuracy).toBeGreaterThan(0.75);
    expect(e.kitten).toBeGreaterThan(0.9);
    expect(e.oldDog).toBeLessThan(0.1);
  });
});

it('36: actor and critic', async () => {
  const { rewards } = await import('./36-actor-critic.ts');
  const mean = (list: readonly number[]): number => list.reduce((a, b) => a + b, 0) / list.length;
  expect(mean(rewards.slice(0, 20))).toBeLessThan(60);
  expect(mean(rewards.slice(-20))).toBeGreaterThan(120);
});

it('38: a space of features', async () => {
  const e = await import('./38-feature-space.ts');
  // The kinds of each category, one more for unknown ones, bins, and the bins of crosses.
  expect(e.preprocessed.shape).toEqual([32, 3 + 6 + 5 + 4 + 10 + 1 + 16 + 24]);
  expect(e.accuracy).toBeGreaterThan(0.8);
  expect(e.probability).toBeGreaterThan(0.9);
});

it('37: word vectors', async () => {
  const e = await import('./37-word2vec.ts');
  const losses = e.history.loss as number[];
  expect(losses.at(-1)).toBeLessThan((losses[0] as number) * 0.7);
  // Of its own kind, not of the other topic.
  expect(e.nearest('whale').sort()).toEqual(['seal', 'shark']);
  expect(e.nearest('tram').sort()).toEqual(['taxi', 'truck']);
  expect(e.nearest('reef').sort()).toEqual(['bay', 'ocean']);
});
it('60: audio classification', async () => {
  vi.stubEnv('EXAMPLES', '160');
  vi.stubEnv('EPOCHS', '6');
  const e = await import('./60-audio-classification.ts');
  const losses = e.history.history.loss as number[];
  expect(losses.at(-1)).toBeLessThan((losses[0] as number) * 0.3);
  expect(e.accuracy).toBeGreaterThan(0.9);
  expect(e.difference).toBeLessThan(1e-4);
  expect(e.heard).toBe('chord');
});
