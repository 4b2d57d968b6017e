import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { testPorts } from '../testing/ports.ts';
import { heads, type Running, start, startServed } from '../testing/processes.ts';

const tf = await heads.tf();
const head = `
const print = (value) => console.log(JSON.stringify(value));
const failed = async (fn) => { try { await fn(); return 'nothing'; } catch (error) { return [error.name, error.message]; } };
const strategy = new tf.distribute.ParameterServerStrategy();
`;
const connected = `${head}
await strategy.connect({ timeoutSeconds: 240, heartbeatSeconds: 2 });
const coordinator = new tf.distribute.coordinator.ClusterCoordinator(strategy);
const v = strategy.scope(() => new tf.Variable(0));
const slow = tf.function((x) => {
  const [, y] = tf.whileLoop((i) => i.less(20), (i, y) => [i.add(1), y.matmul(x).mul(1e-3)], [tf.constant(0, 'int32'), x]);
  v.assignAdd(1);
  return y.sum();
});
const x = tf.ones([100, 100]);
const line = () => new Promise((resolve) => process.stdin.once('data', () => { process.stdin.destroy(); resolve(); }));
`;

async function kill({ child, ended }: Running): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

const printed = (out: string): unknown[] => out.split('\n').map((line) => JSON.parse(line) as unknown);

// They wait more than they compute.
describe.concurrent('a cluster', () => {
  it('goes on where a worker is killed, and takes one back that was started again', async ({
    onTestFinished,
  }) => {
    const cluster = await startServed(
      tf,
      `${connected}
      coordinator.schedule(slow, [x]);
      await coordinator.join();
      print('ready');
      for (let i = 0; i < 30; i++) coordinator.schedule(slow, [x]);
      await coordinator.join();
      print(v.item() >= 31);
      await line();
      const none = coordinator.schedule(slow, [x]);
      print('no worker');
      await none.fetch();
      print(v.item() >= 32);
      await strategy.close();`,
    );
    onTestFinished(() => cluster.end());
    const { coordinator, servers } = cluster;
    await coordinator.printed('"ready"');
    servers['worker 0']?.child.kill('SIGKILL');
    await coordinator.printed('true');
    servers['worker 1']?.child.kill('SIGKILL');
    await servers['worker 1']?.ended;
    coordinator.child.stdin?.write('\n');
    await coordinator.printed('"no worker"');
    cluster.restart('worker 1');
    const { code, out, err } = await coordinator.ended;
    expect([code, err]).toEqual([0, '']);
    expect(printed(out)).toEqual(['ready', true, 'no worker', true]);
    expect((await cluster.servers['worker 1']?.ended)?.code).toBe(0);
  });

  it('ends where a parameter server is killed, or is silent', async ({ onTestFinished }) => {
    const lose = async (signal: NodeJS.Signals): Promise<void> => {
      const cluster = await startServed(
        tf,
        `${connected}
        coordinator.schedule(slow, [x]);
        await coordinator.join();
        print('ready');
        await line();
        const late = coordinator.schedule(slow, [x]);
        print(await failed(async () => { for (;;) { coordinator.schedule(slow, [x]); await coordinator.join(); } }));
        print(await failed(() => late.fetch()));
        print(await failed(() => coordinator.schedule(slow, [x])));
        print(await failed(() => v.read()));
        await strategy.close();`,
        { ps: 1, workers: 1 },
      );
      onTestFinished(() => cluster.end());
      const { coordinator, servers } = cluster;
      await coordinator.printed('"ready"');
      servers['ps 0']?.child.kill(signal);
      coordinator.child.stdin?.write('\n');
      const { code, out, err } = await coordinator.ended;
      expect([code, err]).toEqual([0, '']);
      const lost = ['UnavailableError', expect.stringMatching(/ps 0 \(127\.0\.0\.1:\d+\)/)];
      expect(printed(out)).toEqual(['ready', lost, expect.anything(), lost, lost]);
    };
    await Promise.all([lose('SIGKILL'), lose('SIGSTOP')]);
  });

  it('outlives a coordinator that is killed as long as it is told to', async ({ onTestFinished }) => {
    const server = `
    const server = new tf.distribute.Server(new tf.distribute.clusterResolver.TFConfigClusterResolver());
    const { TASK_TIMEOUT } = process.env;
    try { await server.join({ timeoutSeconds: Number(TASK_TIMEOUT) }); } catch (error) { console.log(error.name, error.message); }`;
    const program = `${connected}
    coordinator.schedule(slow, [x]);
    await coordinator.join();
    print('ready');
    await line();
    await strategy.close();`;
    const lose = async (seconds: number): Promise<void> => {
      const cluster = await startServed(tf, program, {
        workers: 1,
        server,
        env: { TASK_TIMEOUT: String(seconds) },
      });
      onTestFinished(() => cluster.end());
      const { coordinator, servers } = cluster;
      await coordinator.printed('"ready"');
      await kill(coordinator);
      const others = Object.entries(servers);
      if (seconds > 100) {
        const next = cluster.coordinate();
        await next.printed('"ready"');
        next.child.stdin?.write('\n');
        expect((await next.ended).code).toBe(0);
      }
      for (const [name, { ended }] of others) {
        const { code, out } = await ended;
        expect(code).toBe(0);
        if (seconds > 100) expect(out).toBe('');
        else
          expect(out).toMatch(
            new RegExp(
              `^UnavailableError server\\.join: ${name} \\(127\\.0\\.0\\.1:\\d+\\) has lost its coordinator, and none came within 0\\.2 s$`,
            ),
          );
      }
    };
    await Promise.all([lose(0.2), lose(1000)]);
  });

  it('lets no stranger in', async ({ onTestFinished }) => {
    const [port, other] = (await testPorts(2)).map((p) => `127.0.0.1:${p}`) as [string, string];
    const spec = { worker: [port], ps: [other], chief: ['127.0.0.1:1'] };
    const config = (type: string, given: object = spec): Record<string, string> => ({
      TF_CONFIG: JSON.stringify({ cluster: given, task: { type, index: 0 } }),
      EAGRE_CLUSTER_TOKEN: 'secret',
    });
    const serve = `${tf}
      const server = new tf.distribute.Server(new tf.distribute.clusterResolver.TFConfigClusterResolver());
      console.log('started');
      await server.join();`;
    const servers = [start(serve, config('worker')), start(serve, config('ps'))];
    for (const server of servers) onTestFinished(() => kill(server));
    await Promise.all(servers.map((server) => server.printed('started')));
    const strangers = ['GET / HTTP/1.1\r\n\r\n', '{}\n', `${'x'.repeat(1 << 20)}`, '\0\0\0\0\n', '[1]\n'];
    const closed = Promise.all(strangers.map((bytes) => closedAfter(Number(other.split(':')[1]), bytes)));
    const attempt = `${tf}${head}
      print(await failed(() => strategy.connect({ timeoutSeconds: 8 })));`;
    const outcome = async (env: Record<string, string>): Promise<unknown> => {
      const running = start(attempt, env);
      onTestFinished(() => kill(running));
      const { code, out, err } = await running.ended;
      expect([code, err]).toEqual([0, '']);
      return printed(out)[0];
    };
    const [guessed, elsewhere] = await Promise.all([
      outcome({ ...config('chief'), EAGRE_CLUSTER_TOKEN: 'wrong' }),
      outcome(config('chief', { ...spec, worker: [port, '127.0.0.1:2'] })),
    ]);
    expect(await closed).toEqual(strangers.map(() => true));
    expect(guessed).toEqual(['PermissionDeniedError', expect.stringContaining('EAGRE_CLUSTER_TOKEN')]);
    expect(elsewhere).toEqual(['FailedPreconditionError', expect.stringContaining('TF_CONFIG')]);
    // Who is let in is served as if nothing had been.
    const good = start(
      `${tf}${head}
      await strategy.connect({ timeoutSeconds: 240 });
      print(strategy.scope(() => new tf.Variable(3)).item());
      await strategy.close();`,
      config('chief'),
    );
    onTestFinished(() => kill(good));
    expect((await good.ended).out).toBe('3');
    for (const server of servers) expect((await server.ended).code).toBe(0);
  });

  it('warns where it listens on the network without a token', async ({ onTestFinished }) => {
    const ports = await testPorts(2);
    const serve = (host: string, i: number): Running => {
      const running = start(
        `${tf}
        const server = new tf.distribute.Server({ ps: ['${host}:${ports[i]}'] }, { jobName: 'ps', token: '' });
        setTimeout(() => server.close(), 0);
        await server.join();`,
      );
      onTestFinished(() => kill(running));
      return running;
    };
    const outcomes = await Promise.all(['0.0.0.0', '127.0.0.1'].map((host, i) => serve(host, i).ended));
    expect(outcomes[0]?.err).toContain('EAGRE_CLUSTER_TOKEN is not set');
    expect(outcomes[1]?.err).toBe('');
  });

  it('names who does not come', async ({ onTestFinished }) => {
    const [port] = await testPorts(1);
    const running = start(`${tf}${head}print(await failed(() => strategy.connect({ timeoutSeconds: 1 })));`, {
      TF_CONFIG: JSON.stringify({
        cluster: { worker: [`127.0.0.1:${port}`], ps: [`127.0.0.1:${port}`], chief: ['127.0.0.1:1'] },
        task: { type: 'chief', index: 0 },
      }),
    });
    onTestFinished(() => kill(running));
    expect(printed((await running.ended).out)).toEqual([
      ['DeadlineExceededError', expect.stringContaining(`ps 0 (127.0.0.1:${port}) did not come in time`)],
    ]);
  });
});

/** Whether a server closes the connection of somebody who sends this. */
function closedAfter(port: number, bytes: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(bytes));
    socket.on('error', () => {});
    socket.resume();
    const timer = setTimeout(() => {
      socket.destroy();
      resolve(false);
    }, 240_000);
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
