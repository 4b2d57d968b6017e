import { FailedPreconditionError } from '@eagre/backend';
import { describe, expect, it } from 'vitest';
import { gpusOf } from './gpus.ts';

const members = Array.from({ length: 4 }, (_, index) => ({
  type: 'worker' as const,
  index,
  address: `h:${index}`,
}));
const of = (...seen: readonly (readonly [system: string, ...gpus: string[]])[]): readonly number[] =>
  gpusOf(
    members,
    seen.map(([system, ...gpus]) => ({ system, gpus })),
  );

describe('GPUs of processes', () => {
  it('are taken in turn by the processes of a machine that see the same', () => {
    expect(of(['m', 'a', 'b'], ['m', 'a', 'b'])).toEqual([0, 1]);
    expect(of(['m', 'a', 'b'], ['n', 'a', 'b'], ['m', 'a', 'b'], ['n', 'a', 'b'])).toEqual([0, 0, 1, 1]);
  });
  it('are those that each process sees alone', () => {
    expect(of(['m', 'a'], ['m', 'b'], ['n', 'a'])).toEqual([0, 0, 0]);
    expect(of(['m', 'a', 'b'], ['m', 'c', 'd'], ['m', 'a', 'b'], ['m', 'c', 'd'])).toEqual([0, 0, 1, 1]);
    expect(of(['m', 'a', 'b'], ['m', 'b', 'a'])).toEqual([0, 0]);
  });
  it('are not shared', () => {
    expect(() => of(['m', 'a', 'b'], ['m', 'a'])).toThrow(FailedPreconditionError);
    expect(() => of(['m', 'a', 'b'], ['m', 'a'])).toThrow(
      /worker 0 \(h:0\) and worker 1 \(h:1\) would both use the GPU a: .*CUDA_VISIBLE_DEVICES/,
    );
  });
  it('must be enough', () => {
    expect(() => of(['m', 'a', 'b'], ['m', 'a', 'b'], ['m', 'a', 'b'])).toThrow(
      /worker 2 \(h:2\) is the process 3 of its machine, which has 2 GPUs for them \(a, b\): NCCL takes one process/,
    );
    expect(() => of(['m'])).toThrow(FailedPreconditionError);
  });
});
