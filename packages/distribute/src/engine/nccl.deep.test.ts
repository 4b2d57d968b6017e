import { describe, expect, it } from 'vitest';
import { bundledProgram } from '../../../testing/src/bundled.ts';
import { fakeGpus, withoutNccl } from '../testing/nccl.ts';
import { heads, runWorkers, start, tfConfigs, withoutGloo } from '../testing/processes.ts';
import { alone, expectSameLosses, together, trainingProgram } from '../testing/training.ts';

const head = await heads.rendezvous();
const umbrella = await heads.tf();
// Two processes that compute on GPUs. What is read of these, the driver counts as a copy to the host.
const onGpus = await bundledProgram(
  `import * as tf from '../../eagre/src/index.ts';
  import { cudaUnavailable } from '@eagre/backend-cuda';
  if (cudaUnavailable !== undefined) throw new Error(cudaUnavailable);
  const { CommunicationOptions } = tf.distribute.experimental;
  const strategy = new tf.distribute.MultiWorkerMirroredStrategy({
    communicationOptions: new CommunicationOptions({ implementation: 'NCCL' }),
  });
  await strategy.connect();
  const rank = strategy.isChief ? 0 : 1;
  const show = (t) => [t.device, t.dtype, t.array()];
  const allReduce = (...args) => strategy.run(() => tf.distribute.getReplicaContext().allReduce(...args));
  const made = () => tf.constant([1 + rank, 10]).mul(2);
  // Kernels take long to compile for the processor.
  if (process.env.ALL === '1') {
    const v = strategy.scope(() => new tf.Variable([1, 2]));
    console.log(JSON.stringify(show(v.read())));
    console.log(JSON.stringify(show(allReduce('SUM', strategy.run(made)))));
    console.log(JSON.stringify(show(allReduce('MEAN', strategy.run(made)))));
    // What nobody placed is on the first GPU in both.
    console.log(JSON.stringify([tf.constant(1).device, show(strategy.reduce('SUM', tf.constant([1 + rank, 10]), null))]));
    const many = strategy.run(() => [tf.constant(3 + rank), tf.constant([[1.5, rank]]), tf.constant(7 * rank, 'int32'), tf.constant([1, 2], 'uint8'), tf.constant([[0.5]], 'float16'), tf.zeros([0, 2])]);
    console.log(JSON.stringify(allReduce('SUM', many).map(show)));
    const optimizer = strategy.scope(() => new tf.optimizers.SGD(0.1));
    strategy.run(() => {
      const tape = new tf.GradientTape();
      const loss = tape.record(() => v.mul(rank + 1).sum());
      optimizer.applyGradients(tape.gradient(loss, [v]), [v]);
    });
    console.log(JSON.stringify(show(v.read())));
    const x = tf.constant([[1, 2], [3, 1], [0, 1], [2, 2]]);
    const y = tf.constant([[5], [5], [2], [6]]);
    const model = strategy.scope(() => {
      const made = new tf.Sequential([new tf.layers.Dense(1, { kernelInitializer: 'zeros', inputShape: [2] })]);
      made.compile({ optimizer: new tf.optimizers.SGD(0.1), loss: 'mse' });
      return made;
    });
    await model.fit(x, y, { batchSize: 4, epochs: 1, verbose: 0 });
    console.log(JSON.stringify([model.trainableVariables[0].device, model.getWeights()[0].array().flat().map((w) => w.toFixed(5)), (await model.evaluate(x, y, { verbose: 0 })).loss.toFixed(5)]));
  }
  // What nobody reads stays on the GPU: a copy to the host would fail.
  const given = strategy.run(made);
  process.env.FAKE_CUDA_FAIL = 'cuMemcpyDtoHAsync_v2:2:' + process.env.COPIES;
  let sum;
  try { sum = allReduce('SUM', given); } catch (error) { console.log(error.message); }
  process.env.FAKE_CUDA_FAIL = '';
  if (sum !== undefined) console.log(JSON.stringify(show(sum)));
  await strategy.close().catch(() => {});
  process.exit(0);`,
  'distribute/src',
);

/** What processes print that meet, each with an environment of its own. */
async function meetings(...envs: readonly Readonly<Record<string, string>>[]): Promise<string[]> {
  const configs = await tfConfigs(envs.length);
  const program = `${head}
    try {
      const { engine } = await meet({ implementation: 'NCCL', timeoutSeconds: 8, heartbeatSeconds: 1 });
      console.log('GPU', engine.gpu);
      engine.barrier();
      await engine.close();
    } catch (error) {
      console.log(error.name, error.message);
    }
    process.exit(0);`;
  const running = configs.map((TF_CONFIG, i) => start(program, { ...envs[i], TF_CONFIG }));
  const outcomes = await Promise.all(running.map(({ ended }) => ended));
  expect(outcomes.map(({ code }) => code)).toEqual(envs.map(() => 0));
  return outcomes.map(({ out }) => out);
}

describe.skipIf(withoutGloo !== undefined || withoutNccl !== undefined)('NCCL', { concurrent: true }, () => {
  it('reduces, gathers and broadcasts among three, blocking and not, also large and in the order of ranks', async () => {
    const out = await runWorkers(
      3,
      `${head}
      for (const deterministic of [false, true]) {
        const { engine } = await meet({ implementation: 'NCCL', deterministic });
        const r = engine.rank;
        const x = Float32Array.of(1 + r, 10, -r, r === 1 ? NaN : 0);
        engine.allReduce(x, { dtype: 'float32', name: 'x' });
        const mean = Float64Array.of(r, 4);
        await engine.allReduceAsync(mean, { dtype: 'float64', reduction: 'mean' });
        const most = BigInt64Array.of(2n ** 60n + BigInt(r));
        engine.allReduce(most, { dtype: 'int64', reduction: 'max' });
        const least = Float32Array.of(r, r === 2 ? NaN : 7);
        engine.allReduce(least, { dtype: 'float32', reduction: 'min' });
        const half = Uint16Array.of(r === 0 ? 0x3f80 : 0x3b80);
        engine.allReduce(half, { dtype: 'bfloat16' });
        const all = new Int32Array(3);
        engine.allGather(r === 0 ? Int32Array.of(7) : r === 1 ? Int32Array.of(8, 9) : new Int32Array(0), all, [4, 8, 0]);
        const b = Uint8Array.of(r, r);
        await engine.broadcastAsync(b, 1);
        const sum = Float32Array.of(r + 0.5);
        engine.reduce(sum, 2, { dtype: 'float32', reduction: 'mean' });
        engine.barrier({ timeoutSeconds: 5 });
        const big = new Float32Array(4_000_001).fill(r + 1);
        engine.allReduce(big, { dtype: 'float32' });
        const wide = new Uint8Array(5_000_001).fill(r);
        const wides = new Uint8Array(15_000_003);
        engine.allGather(wide, wides, [5_000_001, 5_000_001, 5_000_001]);
        const many = Array.from({ length: 20 }, (_, k) => Float32Array.of(k));
        await Promise.all(many.map((m) => engine.allReduceAsync(m, { dtype: 'float32' })));
        console.log(JSON.stringify([r, engine.gpu, deterministic, [...x], [...mean], String(most[0]), [...least], half[0].toString(16),
          [...all], [...b], sum[0], big[0], big[4_000_000], wides[5_000_000], wides[5_000_001], wides[15_000_002], many[19][0]]));
        await engine.close();
      }`,
      fakeGpus(3),
    );
    const line = (r: number, deterministic: boolean): unknown => [
      r,
      r,
      deterministic,
      [6, 30, -3, null],
      [1, 4],
      String(2n ** 60n + 2n),
      [0, null],
      // 1 + 2⁻⁸ + 2⁻⁸, added in float32.
      '3f81',
      [7, 8, 9],
      [1, 1],
      r === 2 ? 1.5 : r + 0.5,
      6,
      6,
      0,
      1,
      2,
      57,
    ];
    expect(out.map((text) => text.split('\n').map((each) => JSON.parse(each)))).toEqual(
      [0, 1, 2].map((r) => [line(r, false), line(r, true)]),
    );
  });

  it('has each process use a GPU of its own', async () => {
    const alone = { ...fakeGpus(1) };
    expect(await meetings(fakeGpus(2), fakeGpus(2))).toEqual(['GPU 0', 'GPU 1']);
    expect(await meetings(alone, { ...alone, FAKE_CUDA_FIRST: '1' })).toEqual(['GPU 0', 'GPU 0']);
  });

  it('refuses to share one', async () => {
    for (const text of await meetings(fakeGpus(1), fakeGpus(1)))
      expect(text).toMatch(
        /^FailedPreconditionError worker 1 .* is the process 2 of its machine, which has 1 GPUs /,
      );
    for (const text of await meetings(fakeGpus(2), fakeGpus(1)))
      expect(text).toMatch(
        /^FailedPreconditionError worker 0 .* and worker 1 .* would both use the GPU 0000:00:00\.0: /,
      );
  });

  it('says on all processes what to install where one has none', async () => {
    const [own, other] = await meetings(
      { ...fakeGpus(2), EAGRE_NCCL_LIBRARY: '/nowhere/libnccl.so.2' },
      fakeGpus(2),
    );
    expect(own).toMatch(
      /^UnimplementedError there is no NCCL \(\/nowhere\/libnccl\.so\.2: .*EAGRE_NCCL_LIBRARY/,
    );
    expect(other).toMatch(
      /^UnimplementedError worker 0 .* cannot use NCCL: there is no NCCL \(\/nowhere.*EAGRE_NCCL_LIBRARY/,
    );
    const [first, second] = await meetings(fakeGpus(2), {
      ...fakeGpus(2),
      EAGRE_CUDA_DRIVER: '/nowhere/libcuda.so.1',
    });
    expect(first).toMatch(
      /^UnimplementedError worker 1 .* cannot use NCCL: NCCL needs the driver .*EAGRE_CUDA_DRIVER/,
    );
    expect(second).toMatch(/^UnimplementedError NCCL needs the driver of NVIDIA.*nowhere.*EAGRE_CUDA_DRIVER/);
  });

  it('refuses libraries of other versions, and drivers without a GPU', async () => {
    for (const version of ['2708', '21304', '30100'])
      expect((await meetings({ ...fakeGpus(2), FAKE_NCCL_VERSION: version }, fakeGpus(2)))[0]).toMatch(
        new RegExp(`^UnimplementedError .*libfake_nccl.so has version ${version} of NCCL: it must be 2\\.14`),
      );
    expect((await meetings(fakeGpus(0), fakeGpus(2)))[0]).toMatch(
      /^UnimplementedError NCCL needs a GPU, but the driver finds none \(CUDA_VISIBLE_DEVICES/,
    );
    const noNccl = { ...fakeGpus(1), EAGRE_NCCL_LIBRARY: fakeGpus(1)['EAGRE_CUDA_DRIVER'] as string };
    expect((await meetings(noNccl, fakeGpus(1)))[0]).toMatch(
      /^UnimplementedError .* has no ncclGetVersion, which NCCL 2\.14 has/,
    );
  });

  it('says why it cannot begin', async () => {
    const broken = { ...fakeGpus(2), FAKE_NCCL_FAIL: 'ncclCommInitRankConfig:1' };
    for (const text of await meetings(broken, broken))
      expect(text).toMatch(
        /^UnavailableError NCCL cannot begin: ncclCommInitRankConfig: unhandled cuda error/,
      );
    const small = { ...fakeGpus(2), FAKE_CUDA_MEMORY: '1000000' };
    for (const text of await meetings(small, small))
      expect(text).toMatch(/^UnavailableError NCCL cannot begin: cuMemAlloc: out of memory/);
  });

  it('tells of an error of the library, and lets processes meet again', async () => {
    const out = await runWorkers(
      2,
      `${head}
      const options = { implementation: 'NCCL', heartbeatSeconds: 1 };
      const { engine } = await meet(options);
      process.env.FAKE_NCCL_LATE = 'ncclAllReduce:6';
      try { engine.allReduce(Float32Array.of(1), { dtype: 'float32' }); } catch (error) { console.log(error.name, error.message); }
      process.env.FAKE_NCCL_LATE = '';
      await engine.close(0);
      const again = await meet({ ...options, generation: 1 });
      const x = Float32Array.of(1 + again.engine.rank);
      again.engine.allReduce(x, { dtype: 'float32' });
      console.log(again.generation, x[0]);
      await again.engine.close();`,
      fakeGpus(2),
    );
    for (const text of out)
      expect(text).toMatch(
        /^UnavailableError allReduce of 1 float32 by sum failed: ncclAllReduce: remote process exited.*\n2 3$/,
      );
  });

  // The two copies that there are tell what the processes do, before they do it.
  it('adds up what is on GPUs without a copy to the host', async () => {
    const program = `await import(${JSON.stringify(onGpus)})`;
    const out = await runWorkers(2, program, { ...fakeGpus(2), ALL: '1', COPIES: '1' });
    const lines = (rank: number): unknown => {
      const gpu = `/device:GPU:${rank}`;
      return [
        [gpu, 'float32', [1, 2]],
        [gpu, 'float32', [6, 40]],
        [gpu, 'float32', [3, 20]],
        ['/device:GPU:0', [gpu, 'float32', [3, 20]]],
        [
          [gpu, 'float32', 7],
          [gpu, 'float32', [[3, 1]]],
          [gpu, 'int32', 7],
          [gpu, 'uint8', [2, 4]],
          [gpu, 'float16', [[1]]],
          [gpu, 'float32', []],
        ],
        [gpu, 'float32', [0.699999988079071, 1.7000000476837158]],
        // A step of 0.1 from zeros; then errors of 0.4, 2.15, 0.35 and 1.
        [gpu, ['1.60000', '1.45000'], '1.47625'],
        [gpu, 'float32', [6, 40]],
      ];
    };
    expect(out.map((text) => text.split('\n').map((each) => JSON.parse(each)))).toEqual([lines(0), lines(1)]);
    // One copy less, and it is that of the agreement which fails.
    const failed = await runWorkers(2, program, { ...fakeGpus(2), COPIES: '0' });
    for (const text of failed) expect(text).toMatch(/out of memory|cuMemcpyDtoH/);
  });

  it('trains as one process does', async () => {
    const all = await runWorkers(2, trainingProgram(umbrella, together('NCCL')), fakeGpus(2));
    const [one] = await runWorkers(1, trainingProgram(umbrella, alone));
    expectSameLosses(
      all.map((text) => JSON.parse(text) as number[]),
      JSON.parse(one as string) as number[],
    );
  });
});
