import { describe, expect, it } from 'vitest';
import { parseGpuArguments } from './arguments.ts';
import { gpuTable } from './table.ts';

describe('the benchmarks of GPUs', () => {
  it('reads its options', () => {
    const known = ['host_op', 'mlp_step', 'mlp_step_function'];
    const read = (...args: string[]) => parseGpuArguments(args, known);
    expect(read()).toEqual({
      names: [],
      seconds: 1,
      isTiny: false,
      peers: 'gpu',
      compiles: true,
      profiles: false,
      out: 'runs',
      help: false,
    });
    expect(read('mlp_step', '--peers', 'none', '--no-compile').names).toEqual(['mlp_step']);
    expect(read('mlp', 'host_op', 'mlp_step').names).toEqual(['mlp_step', 'mlp_step_function', 'host_op']);
    expect(() => read('conv')).toThrow("no workload on GPUs is called 'conv'; there are host_op, mlp_step,");
    expect(() => read('--seconds', '0')).toThrow("--seconds takes a number above 0, got '0'");
    expect(() => read('--peers', 'jax')).toThrow("--peers takes gpu, cpu or none, got 'jax'");
  });

  it('tells medians, their spread, and how many times as fast as PyTorch Eagre is', () => {
    const workload = { repeats: 1, parts: 1, isHostTime: false, isTraced: true };
    const timing = (median: number) => ({ median, low: 0.9 * median, high: 2 * median, runs: 9 });
    const text = gpuTable({
      started: 'today',
      device: 'a GPU',
      isTiny: false,
      absent: undefined,
      workloads: [
        { ...workload, name: 'a', title: 'A', flops: 4e9 },
        { ...workload, name: 'b', title: 'B' },
      ],
      timings: [
        { workload: 'a', library: 'eagre', ...timing(2e-3) },
        { workload: 'a', library: 'torch', ...timing(3e-3) },
        { workload: 'a', library: 'torch-compile', ...timing(1e-3) },
        { workload: 'b', library: 'eagre', failed: 'no memory' },
        { workload: 'b', library: 'torch', ...timing(3e-3) },
      ],
    });
    const lines = text.split('\n');
    expect(lines[0]).toBe('today, a GPU');
    expect(lines).toContain(
      '| a | A | 2.00 ms (1.80–4.00) | 2.00 | 3.00 ms (2.70–6.00) | 1.00 ms (0.900–2.00) | 1.50 × | 0.500 × |',
    );
    expect(lines).toContain('| b | B | failed |  | 3.00 ms (2.70–6.00) |  |  |  |');
    expect(text).toMatch(/\n- eagre b: no memory\n$/);
  });
});
