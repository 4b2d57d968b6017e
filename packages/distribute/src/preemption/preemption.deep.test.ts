import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { heads, type Running, start, tfConfigs, withoutGloo } from '../testing/processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-preemption-'));
const all: Running[] = [];
afterEach(async () => {
  for (const { child, ended } of all.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

const program = `${await heads.tf()}
const resolver = new tf.distribute.clusterResolver.TFConfigClusterResolver();
const strategy = new tf.distribute.MultiWorkerMirroredStrategy({ clusterResolver: resolver });
await strategy.connect({ timeoutSeconds: 240 });
const { PreemptionCheckpointHandler, TerminationConfig } = tf.distribute.experimental;
const { v, handler } = strategy.scope(() => {
  const v = new tf.Variable(0, { aggregation: 'SUM' });
  const checkpoint = new tf.train.Checkpoint({ v });
  return { v, handler: new PreemptionCheckpointHandler(resolver, checkpoint, process.env.FOLDER, new TerminationConfig({ gracePeriod: Number(process.env.GRACE ?? 0) })) };
});
const step = () => strategy.run(() => v.assignAdd(1));
console.log('from ' + handler.totalRunCalls + ' ' + v.item());
const end = Number(process.env.END);
while (handler.totalRunCalls < end) {
  await handler.run(step);
  if (handler.totalRunCalls === 3) console.log('three');
  await new Promise((resolve) => setTimeout(resolve, 20));
}
console.log('done ' + v.item());
await strategy.close();
`;

describe.skipIf(withoutGloo !== undefined)('two processes', () => {
  it('save at the same step when one of them is told to end, and go on from there', async () => {
    const run = async (env: Record<string, string>): Promise<Running[]> =>
      (await tfConfigs(2)).map((TF_CONFIG) => {
        const running = start(program, { TF_CONFIG, FOLDER: folder, ...env });
        all.push(running);
        return running;
      });
    for (const GRACE of ['0', '1']) {
      const first = await run({ END: '1000000', GRACE });
      await Promise.all(first.map((running) => running.printed(GRACE === '0' ? 'three' : 'from ')));
      await new Promise((resolve) => setTimeout(resolve, 300));
      first[1]?.child.kill('SIGTERM');
      const outcomes = await Promise.all(first.map(({ ended }) => ended));
      expect(outcomes.map(({ code }) => code)).toEqual([42, 42]);
      expect(outcomes[0]?.out.split('\n')[0]).toBe(outcomes[1]?.out.split('\n')[0]);
    }
    const second = await run({ END: '1' });
    const outcomes = await Promise.all(second.map(({ ended }) => ended));
    for (const { code, out } of outcomes) {
      expect(code).toBe(0);
      const [, runs, value, done] = /^from (\d+) (\d+)\ndone (\d+)$/.exec(out) ?? [];
      expect(Number(runs)).toBeGreaterThan(3);
      // Each step has added 1 in both processes.
      expect(Number(value)).toBe(2 * Number(runs));
      expect(done).toBe(value);
    }
  });
});
