import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bundled } from '../../../testing/src/bundled.ts';
import { fakeGpus, withoutNccl } from '../testing/nccl.ts';
import { heads, runWorkers, start, tfConfigs, withoutGloo } from '../testing/processes.ts';
import { loadEngine } from './load-engine.ts';

const rendezvous = await heads.rendezvous();
const addon = await bundled('distribute/src/engine/load-engine.ts');

it.skipIf(withoutGloo !== undefined)(
  'a silent caller does not keep a program alive that has closed its engine',
  async () => {
    const configs = await tfConfigs(2);
    const { cluster } = JSON.parse(configs[0]) as { cluster: { worker: string[] } };
    const program = `${rendezvous}
    const { engine } = await meet();
    console.log('met');
    await new Promise((resolve) => process.stdin.once('data', () => resolve(process.stdin.destroy())));
    await engine.close();`;
    const running = configs.map((TF_CONFIG) => start(program, { TF_CONFIG }));
    await Promise.all(running.map(({ printed }) => printed('met')));
    const [host, port] = cluster.worker[0].split(':');
    const caller = connect(Number(port), host).on('error', () => {});
    // It has been greeted.
    await new Promise((resolve) => caller.once('data', resolve));
    for (const { child } of running) child.stdin?.write('\n');
    const outcomes = await Promise.all(running.map(({ ended }) => ended));
    caller.destroy();
    expect(outcomes.map(({ code, err }) => [code, err])).toEqual([
      [0, ''],
      [0, ''],
    ]);
  },
);

it.skipIf(withoutGloo !== undefined)(
  'an engine that nobody holds lives until its promises are settled',
  async () => {
    const [out] = await runWorkers(
      1,
      `import { setFlagsFromString } from 'node:v8';
    import { runInNewContext } from 'node:vm';
    import { loadEngine } from ${JSON.stringify(addon)};
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc');
    const Engine = loadEngine();
    const times = { heartbeat: 60_000, timeout: 240_000 };
    const make = (rank) => new Engine({ library: 0, rank, size: 2, host: '127.0.0.1', names: ['a', 'b'], ...times });
    const both = [make(0), make(1)];
    const tables = both.map((engine) => engine.addresses());
    const [hosts, ports] = [both.map(() => '127.0.0.1'), both.map((engine) => engine.port())];
    await Promise.all(both.map((engine, rank) => engine.connect(tables.map((table) => table[rank]), hosts, ports, 5n)));
    for (const engine of both) engine.begin();
    const sum = (engine, data) => engine.start(1, 0, 0, false, 0, 0, 0, 0, data, undefined, undefined);
    const data = [Float32Array.of(1), Float32Array.of(2)];
    let freed = false;
    const registry = new FinalizationRegistry(() => (freed = true));
    const collect = async (turns) => {
      for (let turn = 0; turn < turns && !freed; turn++) {
        gc();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      return freed;
    };
    const drop = () => {
      const engine = both.shift();
      registry.register(engine, undefined);
      return sum(engine, data[0]);
    };
    const waiting = drop();
    const during = await collect(20);
    await Promise.all([waiting, sum(both[0], data[1])]);
    console.log(during, ...data.map(([value]) => value), await collect(100_000));
    both[0].closeNow(0);`,
    );
    expect(out).toBe('false 3 3 true');
  },
);

describe('the addon', () => {
  it('is for Linux', () => {
    expect(() => loadEngine('darwin-arm64')).toThrow(/run on Linux/);
  });
  it('says what to install where it is missing', () => {
    const missing = (): never => {
      throw new Error('not built');
    };
    expect(() => loadEngine('linux-x64', missing)).toThrow(/apt-get install libgloo-dev.*not built/);
  });
  it('says which systems have what its libraries ask for', () => {
    const old = (): never => {
      throw new Error("/lib/libc.so.6: version `GLIBC_2.34' not found (required by libgloo.so.0)\nmore");
    };
    expect(() => loadEngine('linux-arm64', old)).toThrow(
      /needs glibc 2\.34 .*\(Debian 12, Ubuntu 22\.04\): .*GLIBC_2\.34/,
    );
  });
});

// They wait more than they compute. On one machine `AUTO` is memory that they share, `RING` Gloo. The GPUs of `NCCL` are played by the processor.
const implementations = ['AUTO', 'RING', ...(withoutNccl === undefined ? ['NCCL'] : [])];
describe.skipIf(withoutGloo !== undefined).each(implementations)(
  'two processes, %s',
  { concurrent: true },
  (implementation) => {
    const env = implementation === 'NCCL' ? fakeGpus(3) : {};
    const head = `${rendezvous.replace('meet', 'meet as meetThem')}const meet = (more) => meetThem({ implementation: '${implementation}', ...more });`;
    it('reduce, gather and broadcast, blocking and not', async () => {
      const out = await runWorkers(
        2,
        `${head}
      const { engine, generation } = await meet();
      const r = engine.rank;
      const x = Float32Array.of(1 + r, 10, -r);
      engine.allReduce(x, { dtype: 'float32', name: 'x' });
      const mean = Float64Array.of(r, 4);
      await engine.allReduceAsync(mean, { dtype: 'float64', reduction: 'mean' });
      const big = BigInt64Array.of(2n ** 60n + BigInt(r));
      engine.allReduce(big, { dtype: 'int64', reduction: 'max' });
      const all = new Int32Array(3);
      engine.allGather(r === 0 ? Int32Array.of(7) : Int32Array.of(8, 9), all, [4, 8]);
      const b = Uint8Array.of(r, r);
      await engine.broadcastAsync(b, 1);
      const one = Int32Array.of(5);
      engine.reduce(one, 1, { dtype: 'int32' });
      engine.barrier({ timeoutSeconds: 5 });
      const many = Array.from({ length: 20 }, (_, k) => Float32Array.of(k));
      await Promise.all(many.map((m) => engine.allReduceAsync(m, { dtype: 'float32' })));
      console.log(JSON.stringify([generation, [...x], [...mean], String(big[0]), [...all], [...b], one[0], many[19][0]]));
      await engine.close();`,
        env,
      );
      const shared = [1, [3, 20, -1], [0.5, 4], String(2n ** 60n + 1n), [7, 8, 9], [1, 1]];
      expect(out.map((text) => JSON.parse(text))).toEqual([
        [...shared, 5, 38],
        [...shared, 10, 38],
      ]);
    });

    it('leave no shared memory behind', async () => {
      const out = await runWorkers(
        2,
        `${head}
      import { readdirSync } from 'node:fs';
      const { engine } = await meet();
      engine.barrier();
      console.log(readdirSync('/dev/shm').filter((name) => name.startsWith('eagre-') && !name.includes('test')).length);
      engine.barrier();
      await engine.close();`,
        env,
      );
      // Others that meet just now may have some.
      expect(out.map(Number).every((n) => n < 3)).toBe(true);
    });

    it('notice different sizes, instead of ending', async () => {
      const out = await runWorkers(
        2,
        `${head}
      const { engine } = await meet({ heartbeatSeconds: 1 });
      try {
        engine.allReduce(new Float32Array(engine.rank === 0 ? 1000 : 2000), { dtype: 'float32' });
      } catch (error) {
        console.log(error.name, error.message);
      }
      try { engine.barrier(); } catch (error) { console.log(error.name); }`,
        env,
      );
      for (const text of out)
        expect(text).toMatch(
          /^InvalidArgumentError operation 1 is allReduce of \d000 float32 .*worker \d.*, but .*\nInvalidArgumentError$/,
        );
    });

    it('all say what differs, though each ends at once', async () => {
      const program = `${head}
      const { engine } = await meet();
      const { rank } = engine;
      const size = rank === 2 ? 3 : 2;
      try {
        engine.allReduce(new Float32Array(size + 1), { dtype: 'float32', name: \`sum: float32[1]; float32[\${size}]\`, labels: \`bias; kernel_\${rank}\` });
      } catch (error) {
        console.log(error.name, error.message);
        if (rank === 0) process.exit(3);
        throw error;
      }`;
      const running = (await tfConfigs(3)).map((TF_CONFIG) => start(program, { ...env, TF_CONFIG }));
      for (const { code, out } of await Promise.all(running.map(({ ended }) => ended))) {
        expect(out).toMatch(
          /^InvalidArgumentError operation 1 is allReduce of \d float32 by sum \(sum: kernel_\d float32\[\d\]\) on worker \d .*, but .* \(sum: kernel_\d float32\[\d\]\) on worker \d/,
        );
        expect(code).not.toBe(0);
      }
    });

    it('say farewell, however a program ends', async () => {
      const out = await runWorkers(
        2,
        `${head}
      const { engine } = await meet();
      if (engine.rank === 1) process.exit();
      try { engine.barrier(); } catch (error) { console.log(error.name, error.message); }`,
        env,
      );
      expect(out[0]).toMatch(/^UnavailableError worker 1 .* has ended its program$/);
    });

    it('learn at once that one was killed, also while they wait in an operation', async () => {
      const configs = await tfConfigs(3);
      const program = `${head}
      const { engine } = await meet();
      console.log('met');
      if (engine.rank === 1) setInterval(() => {}, 1000);
      else {
        try { engine.allReduce(new Float32Array(10), { dtype: 'float32' }); } catch (error) { console.log(error.name, error.message, Date.now()); }
      }`;
      const running = configs.map((TF_CONFIG) => start(program, { ...env, TF_CONFIG }));
      await Promise.all(running.map(({ printed }) => printed('met')));
      await new Promise((resolve) => setTimeout(resolve, 200));
      const killed = Date.now();
      running[1].child.kill('SIGKILL');
      const outcomes = await Promise.all(running.map(({ ended }) => ended));
      for (const i of [0, 2]) {
        const [, message, at] = /UnavailableError (.*) (\d+)$/.exec(outcomes[i].out) ?? [];
        expect(message).toMatch(/^worker 1 \(127\.0\.0\.1:\d+\) (is gone|cannot be reached)/);
        // Long before an operation may take too long.
        expect(Number(at) - killed).toBeLessThan(200_000);
      }
    });

    it('learn that one is silent, by its heartbeat', async () => {
      const configs = await tfConfigs(2);
      const program = `${head}
      const { engine } = await meet({ heartbeatSeconds: 1.5 });
      console.log('met');
      if (engine.rank === 1) setInterval(() => {}, 1000);
      else {
        try { engine.allReduce(new Float32Array(10), { dtype: 'float32' }); } catch (error) { console.log(error.name, error.message, Date.now()); }
      }`;
      const running = configs.map((TF_CONFIG) => start(program, { ...env, TF_CONFIG }));
      await Promise.all(running.map(({ printed }) => printed('met')));
      const stopped = Date.now();
      running[1].child.kill('SIGSTOP');
      const { out } = await running[0].ended;
      running[1].child.kill('SIGKILL');
      const [, at] = /UnavailableError worker 1 \(.*\) has been silent for 1\.\d+ s (\d+)$/.exec(out) ?? [
        out,
      ];
      expect(Number(at) - stopped).toBeGreaterThan(1000);
      expect(Number(at) - stopped).toBeLessThan(200_000);
      await running[1].ended;
    });

    it('are not late where JavaScript of one works for longer than the heartbeat', async () => {
      const out = await runWorkers(
        2,
        `${head}
      const { engine } = await meet({ heartbeatSeconds: 0.5 });
      if (engine.rank === 1) { const end = Date.now() + 1500; while (Date.now() < end) Math.sqrt(2); }
      const x = Float32Array.of(1);
      engine.allReduce(x, { dtype: 'float32' });
      console.log(x[0]);
      await engine.close();`,
        env,
      );
      expect(out).toEqual(['2', '2']);
    });

    it('end an operation that takes longer than its timeout, and say who is late', async () => {
      const out = await runWorkers(
        2,
        `${head}
      const { engine } = await meet();
      const { existsSync, writeFileSync } = await import('node:fs');
      // One is late until the other has given up.
      while (engine.rank === 1 && !existsSync(process.env.GIVEN_UP)) await new Promise((resolve) => setTimeout(resolve, 20));
      try { engine.allReduce(Float32Array.of(1), { dtype: 'float32', timeoutSeconds: 0.5 }); } catch (error) {
        console.log(error.name, error.message);
      }
      writeFileSync(process.env.GIVEN_UP, '');`,
        { ...env, GIVEN_UP: join(mkdtempSync(join(tmpdir(), 'eagre-')), 'given-up') },
      );
      expect(out[0]).toMatch(
        /^DeadlineExceededError allReduce of 1 float32 by sum did not end within 0\.5 s: worker 1 .* is at operation 0 of 1$/,
      );
      expect(out[1]).toMatch(/^DeadlineExceededError /);
    });

    it('abort together', async () => {
      const out = await runWorkers(
        2,
        `${head}
      const { engine } = await meet();
      const waiting = engine.rank === 0 ? engine.allReduceAsync(Float32Array.of(1), { dtype: 'float32' }) : undefined;
      if (engine.rank === 1) setTimeout(() => engine.abort('the user had enough'), 300);
      await waiting?.catch((error) => console.log(error.name, error.message));
      if (engine.rank === 1) await new Promise((resolve) => setTimeout(resolve, 600));
      else console.log(engine.failure.name);`,
        env,
      );
      expect(out[0]).toBe('AbortedError the user had enough\nAbortedError');
    });

    it('may end without a farewell when all is done', async () => {
      const out = await runWorkers(
        2,
        `${head}
      const { engine } = await meet();
      const x = new Float32Array(1 << 20).fill(engine.rank + 1);
      engine.allReduce(x, { dtype: 'float32' });
      console.log(x[x.length - 1]);`,
        env,
      );
      expect(out).toEqual(['3', '3']);
    });

    it('refuse what makes no sense before it is sent', async () => {
      const [out] = await runWorkers(
        2,
        `${head}
      const { engine } = await meet();
      for (const wrong of [
        () => engine.allReduce(new Uint8Array(3), { dtype: 'uint8' }),
        () => engine.allReduce(new Int32Array(3), { dtype: 'int32', reduction: 'mean' }),
        () => engine.allReduce(new Int32Array(3), { dtype: 'int32', reduction: 'product' }),
        () => engine.broadcast(new Int32Array(3), 2),
        () => engine.allGather(new Int32Array(3), new Int32Array(3), [12]),
        () => engine.barrier({ timeoutSeconds: 0 }),
      ]) {
        try { wrong(); console.log('no error'); } catch (error) { console.log(error.name); }
      }
      await engine.close();`,
        env,
      );
      expect(out.split('\n')).toEqual(Array(6).fill('InvalidArgumentError'));
    });
  },
);
