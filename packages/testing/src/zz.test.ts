import '../../backend-cuda/src/testing/fake-cuda.ts';
import { it } from 'vitest';
import { Session } from 'node:inspector';
import { writeFileSync } from 'node:fs';
it('x', async () => {
  const { cudaBackend } = await import('@eagre/backend-cuda');
  const tf = await import('eagre');
  const { gpuWorkloads } = await import('../../../apps/bench/src/gpu/workloads.ts');
  for (const name of ['host_function', 'mlp_step_function', 'mlp_step']) {
    const w = gpuWorkloads.find((x) => x.name === name)!;
    await tf.device('/gpu:0', async () => {
      const run = w.make(tf, true);
      const session = new Session();
      session.connect();
      for (let i = 0; i < 3; i++) run();
      cudaBackend!.allocator.synchronize();
      const t: number[] = [];
      const post = (m: string, p = {}) => new Promise<any>((r) => session.post(m, p, (e, x) => r(x)));
      await post('Profiler.enable'); await post('Profiler.setSamplingInterval', { interval: 100 }); await post('Profiler.start');
      for (let i = 0; i < 150; i++) {
        const t0 = performance.now();
        run();
        t.push(performance.now() - t0);
        cudaBackend!.allocator.synchronize();
      }
      const { profile } = await post('Profiler.stop');
      writeFileSync(`/tmp/${name}.cpuprofile`, JSON.stringify(profile));
      console.log(name, t.map((x) => (x * 1000).toFixed(0)).filter((_, i) => i % 10 === 0).join(' '));
    });
  }
}, 600000);
