import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { type Host, type Network, network, withoutNamespaces } from '../testing/hosts.ts';
import { heads, type Running, withoutGloo } from '../testing/processes.ts';

const rendezvous = await heads.rendezvous();
const tf = await heads.tf();

// Waiting has no end where nobody notices a loss; then the test has none in time.
const patient = 'timeoutSeconds: 240, heartbeatSeconds: 5';
const head = `${rendezvous}
const print = (...values) => console.log(JSON.stringify(values));
const failed = async (fn) => { try { await fn(); return ['no error']; } catch (error) { return [error.name, error.message]; } };
const line = () => new Promise((resolve) => process.stdin.once('data', () => { process.stdin.pause(); process.stdin.unref(); resolve(); }));
const meetAll = (more) => meet({ implementation: 'RING', ${patient}, ...more });
`;
const meets = `${head}
console.log('waits');
const { engine, generation } = await meetAll();
const x = Int32Array.of(1);
engine.allReduce(x, { dtype: 'int32' });
print('met', generation, x[0]);
await engine.close();`;

// All compute until one is lost, and meet again.
const computes = `${head}
const first = await meetAll();
print('met', first.generation);
print(...await failed(() => { for (;;) first.engine.allReduce(new Float32Array(1 << 16), { dtype: 'float32' }); }));
await first.engine.close();
console.log('again');
const { engine, generation } = await meetAll({ generation: first.generation });
const x = Int32Array.of(1);
engine.allReduce(x, { dtype: 'int32' });
print('met', generation, x[0]);
await engine.close();`;

/** The variable `TF_CONFIG` of each host. */
function configs(
  hosts: readonly Host[],
  at: (i: number) => string = (i) => `${hosts[i]?.ip}:5000`,
): string[] {
  const worker = hosts.map((_, i) => at(i));
  return hosts.map((_, index) => JSON.stringify({ cluster: { worker }, task: { type: 'worker', index } }));
}

/** What a program printed. */
const lines = (out: string): unknown[][] =>
  out
    .split('\n')
    .filter((text) => text.startsWith('['))
    .map((text) => JSON.parse(text) as unknown[]);

/** What programs printed that end well. */
async function outcomes(running: readonly Running[]): Promise<unknown[][][]> {
  const all = await Promise.all(running.map(({ ended }) => ended));
  expect(all.map(({ code, signal, err }) => [code, signal, err])).toEqual(all.map(() => [0, null, '']));
  return all.map(({ out }) => lines(out));
}

// They wait more than they compute.
describe
  .skipIf(withoutGloo !== undefined || withoutNamespaces !== undefined)
  .concurrent('hosts of a network', () => {
    const made = (size: number, onTestFinished: (fn: () => void) => void): Network => {
      const net = network(size);
      onTestFinished(() => net.close());
      return net;
    };

    it('meet, though one loses its power twice while it waits, and comes again', async ({
      onTestFinished,
    }) => {
      const { hosts } = made(3, onTestFinished);
      const config = configs(hosts);
      const run = (i: number): Running => hosts[i].run(meets, { TF_CONFIG: config[i] });
      const first = run(0);
      for (let times = 0; times < 2; times++) {
        run(1);
        await waits(hosts[1]);
        await hosts[1].powerCut();
        hosts[1].mend();
      }
      const met = await outcomes([first, run(1), run(2)]);
      expect(met).toEqual(Array(3).fill([['met', 1, 3]]));
    });

    it('meet the next rank 0 where the first loses its power while they wait', async ({ onTestFinished }) => {
      const { hosts } = made(3, onTestFinished);
      const config = configs(hosts);
      const run = (i: number): Running => hosts[i].run(meets, { TF_CONFIG: config[i] });
      const second = run(1);
      for (let times = 0; times < 2; times++) {
        run(0);
        await waits(hosts[1]);
        await hosts[0].powerCut();
        await hosts[1].hears(5000, 0);
        hosts[0].mend();
      }
      const met = await outcomes([run(0), second, run(2)]);
      expect(met).toEqual(Array(3).fill([['met', 1, 3]]));
    });

    it('meet again where one loses its power while they connect', async ({ onTestFinished }) => {
      const { hosts } = made(3, onTestFinished);
      const config = configs(hosts);
      const addon = createRequire(import.meta.url).resolve(
        `@eagre/native-linux-${process.arch}/distribute.cjs`,
      );
      // It has the table, and calls nobody.
      const stuck = `${head}
      import { createRequire } from 'node:module';
      const native = createRequire(${JSON.stringify(addon)})(${JSON.stringify(addon)});
      native.Engine = class extends native.Engine { connect() { console.log('connects'); return new Promise(() => {}); } };
      await meetAll();`;
      const others = [0, 2].map((i) => hosts[i].run(meets, { TF_CONFIG: config[i] }));
      for (let times = 0; times < 2; times++) {
        await hosts[1].run(stuck, { TF_CONFIG: config[1] }).printed('connects');
        await hosts[1].powerCut();
        hosts[1].mend();
      }
      const met = await outcomes([...others, hosts[1].run(meets, { TF_CONFIG: config[1] })]);
      expect(met).toEqual(Array(3).fill([['met', 1, 3]]));
    });

    it('meet whoever comes late, and whoever was out of reach at first', async ({ onTestFinished }) => {
      const { hosts } = made(3, onTestFinished);
      const config = configs(hosts);
      hosts[1].cut();
      const cut = hosts[1].run(meets, { TF_CONFIG: config[1] });
      const last = hosts[2].run(meets, { TF_CONFIG: config[2] });
      await Promise.all([cut, last].map(({ printed }) => printed('waits')));
      const first = hosts[0].run(meets, { TF_CONFIG: config[0] });
      await waits(hosts[2]);
      hosts[1].mend();
      expect(await outcomes([first, cut, last])).toEqual(Array(3).fill([['met', 1, 3]]));
    });

    it('say which two do not hear each other, though rank 0 hears both', async ({ onTestFinished }) => {
      const { hosts } = made(3, onTestFinished);
      const config = configs(hosts);
      hosts[1].dropTo(hosts[2]);
      const all = await outcomes(await together(hosts, config));
      const text = expect.stringMatching(/the processes could not connect.*worker [12] \(/);
      expect(all).toEqual(
        Array(3).fill([[expect.stringMatching(/^(DeadlineExceeded|Unavailable)Error$/), text]]),
      );
      for (const [[, message]] of all) plain(message);
    });

    it('are told who lost its power while they compute, and meet again', async ({ onTestFinished }) => {
      const { hosts } = made(3, onTestFinished);
      const config = configs(hosts);
      const all = hosts.map((host, i) => host.run(computes, { TF_CONFIG: config[i] }));
      await Promise.all(all.map(({ printed }) => printed('met')));
      await hosts[2].powerCut();
      await Promise.all(all.slice(0, 2).map(({ printed }) => printed('again')));
      hosts[2].mend();
      const anew = hosts[2].run(meets, { TF_CONFIG: config[2] });
      const met = await outcomes([all[0], all[1], anew]);
      const lost = [
        'UnavailableError',
        expect.stringMatching(
          /^worker 2 \(10\.77\.0\.3:5000\) (has been silent for|cannot be reached any more: )/,
        ),
      ];
      const survived = [['met', 1], lost, ['met', 2, 3]];
      expect(met).toEqual([survived, survived, [['met', 2, 3]]]);
    });

    it('all find a cable that is pulled, on both of its ends, and meet again', async ({ onTestFinished }) => {
      const { hosts } = made(3, onTestFinished);
      const config = configs(hosts);
      const all = hosts.map((host, i) => host.run(computes, { TF_CONFIG: config[i] }));
      await Promise.all(all.map(({ printed }) => printed('met')));
      hosts[1].cut();
      await Promise.all(all.map(({ printed }) => printed('again')));
      hosts[1].mend();
      const met = await outcomes(all);
      for (const one of met) {
        expect(one).toEqual([
          ['met', 1],
          ['UnavailableError', expect.any(String)],
          ['met', 2, 3],
        ]);
        plain(one[1][1]);
      }
    });

    it('all hear of a mismatch, though each ends at once', async ({ onTestFinished }) => {
      const { hosts } = made(3, onTestFinished);
      const config = configs(hosts);
      const program = `${head}
      const { engine } = await meetAll();
      const error = await failed(() => engine.allReduce(new Float32Array(engine.rank === 1 ? 3 : 2), { dtype: 'float32' }));
      print(...error);
      process.exit(0);`;
      const all = await outcomes(hosts.map((host, i) => host.run(program, { TF_CONFIG: config[i] })));
      for (const one of all)
        expect(one).toEqual([
          [
            'InvalidArgumentError',
            expect.stringMatching(/operation 1 is .* of [23] float32 .*, but .* of [23] float32/),
          ],
        ]);
    });

    it('end, though a caller is silent, and then without power', async ({ onTestFinished }) => {
      const { hosts } = made(3, onTestFinished);
      const [caller, ...others] = [hosts[2], hosts[0], hosts[1]];
      const config = configs(others);
      const program = `${head}
      const { engine } = await meetAll();
      print('met');
      await line();
      await engine.close();`;
      const all = others.map((host, i) => host.run(program, { TF_CONFIG: config[i] }));
      await Promise.all(all.map(({ printed }) => printed('met')));
      const call = `import { connect } from 'node:net';
      connect(5000, ${JSON.stringify(others[0].ip)}).once('data', () => console.log('greeted'));`;
      await caller.run(call).printed('greeted');
      await caller.powerCut();
      for (const { child } of all) child.stdin?.write('\n');
      expect(await outcomes(all)).toEqual([[['met']], [['met']]]);
    });

    it('listen everywhere, and name what has no address', async ({ onTestFinished }) => {
      const { hosts } = made(2, onTestFinished);
      const everywhere = configs(hosts, (i) => (i === 0 ? `${hosts[0].ip}:5000` : '0.0.0.0:5000'));
      expect(await outcomes(hosts.map((host, i) => host.run(meets, { TF_CONFIG: everywhere[i] })))).toEqual(
        Array(2).fill([['met', 1, 2]]),
      );
      const nowhere = configs(hosts, (i) => (i === 0 ? `${hosts[0].ip}:5000` : 'nowhere.invalid:5000'));
      const all = await outcomes(await together(hosts, nowhere));
      for (const [[, message]] of all) {
        expect(message).toContain('worker 1 (nowhere.invalid:5000)');
        plain(message);
      }
    });

    it('end their meeting where two of them are the same worker', async ({ onTestFinished }) => {
      const { hosts } = made(4, onTestFinished);
      const config = configs(hosts.slice(0, 3), (i) => (i === 0 ? '10.77.0.1:5000' : '0.0.0.0:5000'));
      const program = `${head}print(...await failed(meetAll));`;
      const run = (i: number, as: number): Running => hosts[i].run(program, { TF_CONFIG: config[as] });
      const first = run(0, 0);
      const second = run(1, 1);
      await waits(hosts[1]);
      const twice = ['FailedPreconditionError', expect.stringMatching(/^worker 1 \(.*\) was started twice$/)];
      expect(await outcomes([first, second, run(3, 1)])).toEqual(Array(3).fill([twice]));
    });

    it('serve a coordinator, which goes on without a worker, and end without it', async ({
      onTestFinished,
    }) => {
      const { hosts } = made(4, onTestFinished);
      const [chief, store, worker, other] = hosts;
      const at = (host: Host): string => `${host.ip}:5000`;
      const cluster = { chief: [at(chief)], ps: [at(store)], worker: [at(worker), at(other)] };
      const env = (type: string, index = 0): Record<string, string> => ({
        TF_CONFIG: JSON.stringify({ cluster, task: { type, index } }),
        EAGRE_CLUSTER_TOKEN: 'secret',
      });
      const serve = `${tf}
      const server = new tf.distribute.Server(new tf.distribute.clusterResolver.TFConfigClusterResolver());
      try { await server.join({ timeoutSeconds: 0.5 }); console.log('[]'); } catch (error) { console.log(JSON.stringify([error.name, error.message])); }`;
      const servers = [
        store.run(serve, env('ps')),
        worker.run(serve, env('worker')),
        other.run(serve, env('worker', 1)),
      ];
      const program = `${head.replace(rendezvous, tf)}
      const strategy = new tf.distribute.ParameterServerStrategy();
      await strategy.connect({ ${patient} });
      const coordinator = new tf.distribute.coordinator.ClusterCoordinator(strategy);
      const v = strategy.scope(() => new tf.Variable(0));
      const add = tf.function(() => { v.assignAdd(1); return v.read(); });
      for (let i = 0; i < 4; i++) coordinator.schedule(add, []);
      await coordinator.join();
      print('ready');
      await line();
      for (let i = 0; i < 50; i++) coordinator.schedule(add, []);
      await coordinator.join();
      print('goes on', v.item() >= 54);
      await new Promise(() => setInterval(() => {}, 1000));`;
      const running = chief.run(program, env('chief'));
      await running.printed('ready');
      await other.powerCut();
      running.child.stdin?.write('\n');
      await running.printed('["goes on",true]');
      await chief.powerCut();
      const lost = (name: string): unknown => [
        'UnavailableError',
        expect.stringMatching(
          new RegExp(`^server\\.join: ${name} .* has lost its coordinator, and none came within 0\\.5 s$`),
        ),
      ];
      expect(await outcomes(servers.slice(0, 2))).toEqual([[lost('ps 0')], [lost('worker 0')]]);
    });

    it('say what they were told differently, and that one lost its power in fit', async ({
      onTestFinished,
    }) => {
      const { hosts } = made(2, onTestFinished);
      const config = configs(hosts);
      const program = `${tf}
      const print = (...values) => console.log(JSON.stringify(values));
      const failed = async (fn) => { try { await fn(); return ['no error']; } catch (error) { return [error.name, error.message]; } };
      const strategy = new tf.distribute.MultiWorkerMirroredStrategy({ communicationOptions: new tf.distribute.experimental.CommunicationOptions({ implementation: 'RING' }) });
      await strategy.connect({ ${patient} });
      const second = strategy.clusterResolver.taskId === 1;
      const make = (loss = 'mse') => strategy.scope(() => {
        const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [2] })]);
        model.compile({ optimizer: new tf.optimizers.SGD(0), loss });
        return model;
      });
      const [x, y] = [tf.ones([8, 2]), tf.ones([8, 1])];
      print(...await failed(() => make().fit(x, y, { verbose: 0, batchSize: second ? 4 : 2 })));
      print(...await failed(() => make(second ? 'mae' : 'mse').fit(x, y, { verbose: 0 })));
      const trains = make();
      print('trains');
      print(...await failed(() => trains.fit(x, y, { verbose: 0, epochs: 1e9 })));
      await strategy.close();`;
      const all = hosts.map((host, i) => host.run(program, { TF_CONFIG: config[i] }));
      await Promise.all(all.map(({ printed }) => printed('trains')));
      await hosts[1].powerCut();
      const [found] = await outcomes([all[0]]);
      const alike = (what: string): unknown => ['InvalidArgumentError', expect.stringContaining(what)];
      expect(found).toEqual([
        alike('batchSize is 2 on worker 0 (10.77.0.1:5000), but 4 on worker 1 (10.77.0.2:5000)'),
        alike('compile.loss is "mse" on worker 0 (10.77.0.1:5000), but "mae" on worker 1 (10.77.0.2:5000)'),
        ['trains'],
        ['UnavailableError', expect.stringMatching(/^worker 1 \(10\.77\.0\.2:5000\) has been silent for/)],
      ]);
    });
  });

/** Until rank 0 has let it in. */
const waits = (host: Host): Promise<void> => host.hears(5000, 200);

/** All try to meet, for not so long, once all programs run. */
async function together(hosts: readonly Host[], config: readonly string[]): Promise<readonly Running[]> {
  const program = `${head}
  console.log('ready');
  await line();
  print(...await failed(() => meetAll({ timeoutSeconds: 15 })));`;
  const all = hosts.map((host, i) => host.run(program, { TF_CONFIG: config[i] as string }));
  await Promise.all(all.map(({ printed }) => printed('ready')));
  for (const { child } of all) child.stdin?.write('\n');
  return all;
}

/** Nothing of what is inside. */
function plain(message: unknown): void {
  expect(message).not.toMatch(/gloo|\.cc|\.h:|0\.0\.0\.0:|127\.0\.0\.1/);
}
