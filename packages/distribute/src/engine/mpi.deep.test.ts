import { describe, expect, it } from 'vitest';
import { mpi, mpirun, withoutMpi } from '../testing/mpi.ts';
import { heads, runWorkers, withoutGloo } from '../testing/processes.ts';
import { alone, expectSameLosses, together, trainingProgram } from '../testing/training.ts';

const head = await heads.rendezvous();
const umbrella = await heads.tf();

const parsed = (out: string): unknown[] =>
  out
    .split('\n')
    .sort()
    .map((line) => JSON.parse(line));

describe.skipIf(withoutGloo !== undefined)('a process that is given MPI', () => {
  it('says what to install where there is none', async () => {
    const [out] = await runWorkers(
      2,
      `${head}
      await meet({ implementation: 'MPI', timeoutSeconds: 2 }).catch((error) => console.log(error.name, error.message));
      process.exit(0);`,
      { EAGRE_MPI_LIBRARY: '/nowhere/libmpi_abi.so.1' },
    );
    expect(out).toMatch(/^UnimplementedError there is no MPI with the standard ABI .*install MPICH 5/);
  });
  it('is on the main thread', async () => {
    const out = await runWorkers(
      1,
      `import { Worker } from 'node:worker_threads';
      new Worker(${JSON.stringify(`${head}
        await meet({ implementation: 'MPI' }).catch((error) => console.log(error.name, error.message));`)}, { eval: true });`,
    );
    expect(out).toEqual(['UnimplementedError MPI can be used on the main thread of a program only']);
  });
});

describe.skipIf(withoutGloo !== undefined || withoutMpi !== undefined)('MPI', { concurrent: true }, () => {
  it('reduces, gathers and broadcasts, blocking and not, also large and in the order of ranks', async () => {
    const { code, out, err } = await mpirun(
      3,
      `${head}
      for (const deterministic of [false, true]) {
        const { engine } = await meet({ implementation: 'MPI', deterministic });
        const r = engine.rank;
        const x = Float32Array.of(1 + r, 10, -r, r === 1 ? NaN : 0);
        engine.allReduce(x, { dtype: 'float32', name: 'x' });
        const mean = Float64Array.of(r, 4);
        await engine.allReduceAsync(mean, { dtype: 'float64', reduction: 'mean' });
        const most = BigInt64Array.of(2n ** 60n + BigInt(r));
        engine.allReduce(most, { dtype: 'int64', reduction: 'max' });
        const least = Float32Array.of(r, r === 2 ? NaN : 5);
        engine.allReduce(least, { dtype: 'float32', reduction: 'min' });
        const half = Uint16Array.of(r === 0 ? 0x3f80 : 0x3b80);
        engine.allReduce(half, { dtype: 'bfloat16' });
        const all = new Int32Array(3 + r * 0);
        engine.allGather(r === 0 ? Int32Array.of(7) : r === 1 ? Int32Array.of(8, 9) : new Int32Array(0), all, [4, 8, 0]);
        const b = Uint8Array.of(r, r);
        await engine.broadcastAsync(b, 1);
        const one = Int32Array.of(5);
        engine.reduce(one, 1, { dtype: 'int32' });
        const sum = Float32Array.of(r + 0.5);
        engine.reduce(sum, 2, { dtype: 'float32', reduction: 'mean' });
        engine.barrier({ timeoutSeconds: 5 });
        const big = new Float32Array(1_000_001).fill(r + 1);
        engine.allReduce(big, { dtype: 'float32' });
        const many = Array.from({ length: 20 }, (_, k) => Float32Array.of(k));
        await Promise.all(many.map((m) => engine.allReduceAsync(m, { dtype: 'float32' })));
        console.log(JSON.stringify([r, deterministic, [...x], [...mean], String(most[0]), [...least], half[0].toString(16),
          [...all], [...b], one[0], sum[0], big[0], big[1_000_000], many[19][0]]));
        await engine.close();
      }`,
    );
    expect(err).toBe('');
    expect(code).toBe(0);
    const line = (r: number, deterministic: boolean): unknown => [
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
      r === 1 ? 15 : 5,
      r === 2 ? 1.5 : r + 0.5,
      6,
      6,
      57,
    ];
    expect(parsed(out)).toEqual([0, 1, 2].flatMap((r) => [line(r, false), line(r, true)]));
  });

  it('trains as one process does', async () => {
    const all = await mpirun(2, trainingProgram(umbrella, together('MPI')));
    expect(all).toMatchObject({ code: 0, err: '' });
    const [one] = await runWorkers(1, trainingProgram(umbrella, alone));
    expectSameLosses(parsed(all.out) as number[][], JSON.parse(one as string) as number[]);
  });

  it('notices different operations, and ends all processes', async () => {
    const { code, out } = await mpirun(
      2,
      `${head}
      const { engine } = await meet({ implementation: 'MPI', heartbeatSeconds: 1 });
      try {
        engine.allReduce(new Float32Array(engine.rank === 0 ? 1000 : 2000), { dtype: 'float32' });
      } catch (error) {
        console.log(error.name, error.message);
      }
      await new Promise((resolve) => setTimeout(resolve, 300));`,
    );
    const lines = out.split('\n').filter((text) => text.startsWith('Invalid'));
    expect(lines).toHaveLength(2);
    for (const text of lines)
      expect(text).toMatch(
        /^InvalidArgumentError operation 1 is allReduce of \d000 float32 .*worker \d.*, but /,
      );
    expect(code).not.toBe(null);
  });

  it('ends an operation that takes longer than its timeout', async () => {
    const { out } = await mpirun(
      2,
      `${head}
      const { engine } = await meet({ implementation: 'MPI' });
      if (engine.rank === 1) await new Promise((resolve) => setTimeout(resolve, 3000));
      try { engine.allReduce(Float32Array.of(1), { dtype: 'float32', timeoutSeconds: 0.5 }); } catch (error) {
        console.log(error.name, error.message);
      }
      await engine.close(0).catch(() => {});
      await meet({ implementation: 'MPI', timeoutSeconds: 20 }).catch((error) => console.log(error.name, error.message));`,
    );
    expect(out).toMatch(
      /DeadlineExceededError allReduce of 1 float32 by sum did not end within 0\.5 s: worker 1.* is at operation 0 of 1/,
    );
    expect(out).toMatch(/FailedPreconditionError an operation of MPI failed before, and MPI cannot go on/);
  });

  it('refuses clusters of other processes than its own, and other libraries', async () => {
    const alone = await mpirun(
      1,
      `${head}
      process.env.TF_CONFIG = JSON.stringify({ cluster: { worker: ['127.0.0.1:1', '127.0.0.1:2'] }, task: { type: 'worker', index: 0 } });
      await meet({ implementation: 'MPI', timeoutSeconds: 0.3 }).catch((error) => console.log(error.name));`,
    );
    expect(alone.out).toMatch(/^(DeadlineExceeded|Unavailable)Error$/);
    const mixed = await runWorkers(
      2,
      `${head}
      const { index } = JSON.parse(process.env.TF_CONFIG).task;
      await meet({ implementation: index === 0 ? 'RING' : 'MPI' }).catch((error) => console.log(error.name, error.message));
      process.exit(0);`,
      { EAGRE_MPI_LIBRARY: mpi?.library ?? '' },
    );
    for (const text of mixed)
      expect(text).toMatch(
        /^FailedPreconditionError worker 0 .* 'RING', but worker 1 .* 'MPI': all processes/,
      );
    // Also where one has found out, and ended its program, long before the other tells that it has.
    const separate = await runWorkers(
      2,
      `${head}
      import { Socket } from 'node:net';
      const { write } = Socket.prototype;
      Socket.prototype.write = function (data, ...rest) {
        if (String(data).includes('"error":')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000);
        return write.call(this, data, ...rest);
      };
      if (JSON.parse(process.env.TF_CONFIG).task.index === 0) Socket.prototype.write = write;
      await meet({ implementation: 'MPI' }).catch((error) => console.log(error.name, error.message));
      process.exit(0);`,
      { EAGRE_MPI_LIBRARY: mpi?.library ?? '' },
    );
    for (const text of separate)
      expect(text).toBe(
        'FailedPreconditionError the cluster has 2 processes, but MPI has 1: start the program by mpiexec -n 2',
      );
  });
});
