// Traced functions as graphs of CUDA, on the fake driver: nothing here runs on a GPU.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GradientTape } from '@eagre/autodiff';
import * as core from '@eagre/core';
import { constant, device, type Tensor, Variable } from '@eagre/core';
import { cond, tfFunction, whileLoop } from '@eagre/graph';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { hasFakeCuda, withFake } from '../../backend-cuda/src/testing/fake-cuda.ts';

const { cudaBackend } = await import('@eagre/backend-cuda');
// What nobody places is computed by the processor here, to compare with.
device('/cpu:0');
const isTested = hasFakeCuda && cudaBackend !== undefined;

const onGpu = <T>(fn: () => T): T => device('/gpu:0', fn);
const file = join(tmpdir(), `eagre-cuda-calls-${process.pid}`);
afterAll(() => rmSync(file, { force: true }));

/** How often the driver is called by name while `body` runs. */
function callsOf(body: () => void): Readonly<Record<string, number>> {
  rmSync(file, { force: true });
  withFake({ FAKE_CUDA_CALLS: file }, body);
  const counts: Record<string, number> = {};
  for (const name of readFileSync(file, 'utf8').split('\n'))
    if (name !== '') counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Six kernels that are not fused: products of [4, 4]. */
const products = (x: Tensor, w: Tensor): Tensor => {
  let y = x;
  for (let i = 0; i < 6; i++) y = core.matmul(y, w);
  return y;
};
const matrix = (seed: number): Tensor =>
  constant(
    Float32Array.from({ length: 16 }, (_, i) => (((i + seed) * 7) % 5) / 4 - 0.5),
    { shape: [4, 4] },
  );

describe.skipIf(!isTested)('traced functions as graphs of CUDA', () => {
  it('launch once what they launched one by one, from the second run on, and compute the same', () => {
    onGpu(() => {
      const w = matrix(3);
      const expected = (seed: number): unknown => device('/cpu:0', () => products(matrix(seed), w).array());
      const run = tfFunction((x: Tensor) => products(x, w));
      const first = callsOf(() => run(matrix(0)).dispose());
      expect(first.cuLaunchKernel).toBe(6);
      expect(first.cuGraphLaunch).toBeUndefined();
      const second = callsOf(() => run(matrix(0)).dispose());
      expect(second).toMatchObject({
        cuGraphAddKernelNode: 6,
        cuGraphInstantiateWithFlags: 1,
        cuGraphLaunch: 1,
      });
      expect(second.cuLaunchKernel).toBeUndefined();
      // Inputs and outputs are elsewhere each time, and several are under way.
      const results = [1, 2, 3, 4].map((seed) => [seed, run(matrix(seed))] as const);
      for (const [seed, y] of results) expect(y.array()).toEqual(expected(seed));
      const x = matrix(9);
      run(x).dispose();
      const later = callsOf(() => run(x).dispose());
      expect(later).toMatchObject({ cuGraphLaunch: 1 });
      expect(later.cuLaunchKernel).toBeUndefined();
      expect(later.cuGraphAddKernelNode).toBeUndefined();
    });
  });

  it('change variables, with numbers that the host computes between', () => {
    const train = (): number[] => {
      const w = new Variable(matrix(1));
      const count = new Variable(constant(0, 'int32'));
      const step = tfFunction((x: Tensor) => {
        const tape = new GradientTape();
        const loss = tape.record(() => products(x, w.read()).square().mean());
        count.assignAdd(1);
        w.assignSub((tape.gradient(loss, w) as Tensor).mul(0.01).mul(count.read().cast('float32')));
        return loss;
      });
      const losses = Array.from({ length: 5 }, (_, i) => Number(step(matrix(i)).item()));
      return [...losses, ...w.data(), Number(count.read().item())].map(Number);
    };
    const expected = train();
    const calls = callsOf(() => {
      onGpu(train).forEach((value, i) => {
        expect(value).toBeCloseTo(expected[i], 4);
      });
    });
    expect(calls.cuGraphLaunch).toBeGreaterThanOrEqual(4);
  });

  it('are no graphs with branches and loops of the host, nor where a program wants none', () => {
    onGpu(() => {
      const loop = tfFunction((x: Tensor, n: Tensor) =>
        whileLoop(
          (i) => i.less(n),
          (i, y) => [i.add(1), products(y, y)],
          [constant(0, 'int32'), x],
        ),
      );
      const branch = tfFunction((x: Tensor, p: Tensor) =>
        cond(
          p,
          () => products(x, x),
          () => x.add(1),
        ),
      );
      vi.stubEnv('EAGRE_CUDA_GRAPHS', '0');
      const plain = tfFunction((x: Tensor) => products(x, x));
      plain(matrix(0)).dispose();
      vi.unstubAllEnvs();
      const calls = callsOf(() => {
        for (let i = 0; i < 3; i++) {
          loop(matrix(i), constant(2, 'int32'));
          branch(matrix(i), constant(true));
          plain(matrix(i));
        }
      });
      expect(calls.cuGraphLaunch).toBeUndefined();
      expect(calls.cuLaunchKernel).toBeGreaterThanOrEqual(3 * (12 + 6 + 6));
    });
  });

  it('read memory that was given to others only after that, in the order of the calls', () => {
    onGpu(() => {
      const w = matrix(3);
      const run = tfFunction((x: Tensor) => products(x, w));
      for (let i = 0; i < 3; i++) run(matrix(i)).dispose();
      const expected = device('/cpu:0', () => products(matrix(5), w).array());
      const x = onGpu(() => core.identity(matrix(5)));
      const y = run(x);
      // The graph waits in the stream; its input and its weights are dropped, and their memory is written.
      x.dispose();
      const others = Array.from({ length: 20 }, (_, i) => core.identity(matrix(i)).add(1));
      expect(y.array()).toEqual(expected);
      for (const other of others) other.dispose();
    });
  });

  it('note an index out of range, which the next read tells', () => {
    onGpu(() => {
      const table = matrix(0);
      const run = tfFunction((at: Tensor) => products(core.gather(table, at), table));
      const take = (...at: number[]): Tensor => run(constant(at, 'int32'));
      for (let i = 0; i < 3; i++) take(0, 1).dispose();
      const bad = take(0, 9);
      expect(() => bad.data()).toThrow(core.OutOfRangeError);
      expect(take(1, 0).shape).toEqual([2, 4]);
      expect(() => take(1, 0).data()).not.toThrow();
    });
  });

  it('tell errors of the driver, and go on; without memory for a graph they launch one by one', () => {
    onGpu(() => {
      const w = matrix(3);
      const expected = device('/cpu:0', () => products(matrix(1), w).array());
      const run = tfFunction((x: Tensor) => products(x, w));
      run(matrix(1)).dispose();
      const calls = callsOf(() => {
        withFake({ FAKE_CUDA_FAIL: 'cuGraphInstantiateWithFlags:2' }, () => run(matrix(1)).dispose());
      });
      expect(calls.cuLaunchKernel).toBe(6);
      run(matrix(1)).dispose();
      const failing = (fail: string) => () => withFake({ FAKE_CUDA_FAIL: fail }, () => run(matrix(2)).data());
      expect(failing('cuGraphLaunch:701')).toThrow(core.ResourceExhaustedError);
      expect(failing('cuGraphExecKernelNodeSetParams:1')).toThrow(
        /cuGraphExecKernelNodeSetParams: invalid argument/,
      );
      expect(run(matrix(1)).array()).toEqual(expected);
    });
  });

  // Last, since the driver is lost with it.
  it('tell at the next read what failed in a graph', () => {
    onGpu(() => {
      const run = tfFunction((x: Tensor) => products(x, x));
      for (let i = 0; i < 3; i++) run(matrix(i)).dispose();
      const y = withFake({ FAKE_CUDA_LATE: '719' }, () => run(matrix(1)));
      expect(() => y.data()).toThrow(/CUDA_ERROR_LAUNCH_FAILED/);
      expect(() => run(matrix(1))).toThrow(core.UnavailableError);
    });
  });
});
