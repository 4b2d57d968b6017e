import { expect, test } from 'vitest';
import { parseArguments } from './arguments.ts';

const known = { workloads: ['gemm512', 'gemm1024', 'add10', 'add10_tape'], peers: ['torch', 'tensorflow'] };
const parse = (...args: string[]) => parseArguments(args, known);

test('defaults', () => {
  const expected = {
    names: [],
    threads: [1, 2],
    rounds: 3,
    seconds: 1,
    peers: null,
    before: null,
    avx2: false,
    profile: null,
  };
  expect(parse()).toMatchObject(expected);
  expect(parse('--')).toMatchObject(expected);
});

test('names are whole, or beginnings', () => {
  expect(parse('gemm').names).toEqual(['gemm512', 'gemm1024']);
  expect(parse('add10').names).toEqual(['add10']);
  expect(parse('gemm', 'gemm512').names).toEqual(['gemm512', 'gemm1024']);
});

test('options', () => {
  expect(parse('--threads', '4,1,1', '--rounds', '5')).toMatchObject({ threads: [1, 4], rounds: 5 });
  expect(parse('--quick')).toMatchObject({ rounds: 1, seconds: 0.2 });
  expect(parse('--quick', '--seconds', '0.5')).toMatchObject({ rounds: 1, seconds: 0.5 });
  expect(parse('--peers', 'torch,tensorflow').peers).toEqual(['torch', 'tensorflow']);
  expect(parse('--peers', 'none').peers).toEqual([]);
  expect(parse('--profile', 'add10').profile).toBe('add10');
});

test('mistakes are named', () => {
  expect(() => parse('conv')).toThrow("no workload is called 'conv'; there are gemm512");
  expect(() => parse('--peers', 'jax')).toThrow("no peer is called 'jax'");
  expect(() => parse('--threads', '0')).toThrow('--threads takes whole numbers');
  expect(() => parse('--rounds', 'x')).toThrow('--rounds takes whole numbers');
  expect(() => parse('--seconds', '-1')).toThrow();
  expect(() => parse('--profile', 'conv')).toThrow('no workload');
});
