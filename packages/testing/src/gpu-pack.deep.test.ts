// What `pnpm pack:gpu` packs, run as on a bare machine: in an empty folder, with an empty environment, on the fake driver. Node itself is not packed here.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeCudaEnvironment, hasFakeCuda } from '../../backend-cuda/src/testing/fake-cuda.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-gpu-pack-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(join(folder, 'run.sh'), args, {
    cwd: mkdtempSync(join(folder, 'empty-')),
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', EAGRE_NODE: process.execPath, ...env },
  });
  return { status, said: stdout + stderr };
}

describe.skipIf(!hasFakeCuda)('the pack for GPUs', () => {
  beforeAll(() => {
    const packer = fileURLToPath(new URL('../../../tools/gpu/pack.mjs', import.meta.url));
    execFileSync(process.execPath, [packer, '--no-node', folder]);
  });

  it('runs tests on the GPU', () => {
    const { status, said } = run(['all', 'is a device|AddV2$'], fakeCudaEnvironment);
    expect(said).toMatch(/Tested on: .*a fake GPU/);
    // Eagerly, in 16 bits, gradients in each float, and traced.
    expect(said).toMatch(/^8 passed, 0 failed$/m);
    expect(said).toContain('compute-sanitizer is not found');
    expect(status).toBe(0);
  });

  it('goes on in a new process where a test takes the GPU away', () => {
    const { status, said } = run(['test', 'is a device|the bytes of int8|AddV2$'], {
      ...fakeCudaEnvironment,
      EAGRE_JOBS: '2',
      // The error after which the driver wants a new process.
      FAKE_CUDA_FAIL: 'cuLaunchKernel:700',
    });
    // Without a kernel, bytes come back.
    expect(said).toMatch(/^1 passed, 8 failed$/m);
    expect(said.match(/^FAIL /gm)).toHaveLength(8);
    expect(said).not.toContain('its tensors are gone');
    expect(status).toBe(1);
  });

  it('tells of what fails', () => {
    const { status, said } = run(['test', 'is a device'], {
      ...fakeCudaEnvironment,
      FAKE_CUDA_FAIL: 'cuLaunchKernel:701',
    });
    expect(said).toMatch(/^FAIL the GPU > is a device\n {2}.*cuLaunchKernel: /m);
    expect(said).toMatch(/^0 passed, 1 failed$/m);
    expect(status).toBe(1);
  });

  it('times the GPU, and tells of PyTorch that is not there', () => {
    const env = { ...fakeCudaEnvironment, EAGRE_PYTHON: '/no/such/python' };
    const args = ['matmul_1000_fp32', 'host_op', '--tiny', '--seconds', '0.01', '--out', folder];
    const { status, said } = run(['bench', ...args], env);
    expect(said).toMatch(/PyTorch was not timed: .*\/no\/such\/python/);
    const told = JSON.parse(readFileSync(join(folder, 'gpu-bench.json'), 'utf8'));
    expect(told.device).toMatch(/a fake GPU/);
    expect(told.timings.map(({ workload }: { workload: string }) => workload)).toEqual([
      'matmul_1000_fp32',
      'host_op',
    ]);
    for (const { library, low, median, high } of told.timings) {
      expect(library).toBe('eagre');
      expect(0 < low && low <= median && median <= high).toBe(true);
    }
    expect(status).toBe(0);
    expect(run(['bench', 'no_such'], env).status).toBe(2);
    const profile = run(['bench', 'matmul_1000_fp32', '--profile', '--tiny', '--out', folder], env);
    expect(profile.said).toMatch(/^matmul_1000_fp32: .* µs a call in 1 kernels/m);
    expect(profile.said).toMatch(/^ .* 1 .* MatMul \[/m);
    expect(readFileSync(join(folder, 'gpu-profile.txt'), 'utf8')).toContain('a fake GPU');
  });

  it('says that there is no GPU, with an exit code of its own', () => {
    const { status, said } = run(['all'], { EAGRE_CUDA_DRIVER: '/no/such/libcuda.so.1' });
    expect(said).toMatch(/There is no GPU, and nothing was tested on one: .*no\/such/);
    expect(status).toBe(77);
    expect(run(['bench'], { EAGRE_CUDA_DRIVER: '/no/such/libcuda.so.1' }).status).toBe(77);
  });

  it('tells how it is called', () => {
    for (const args of [[], ['tests']]) {
      const { status, said } = run(args, fakeCudaEnvironment);
      expect(said).toMatch(/^run\.sh test \[name\]/);
      expect(status).toBe(2);
    }
  });
});
