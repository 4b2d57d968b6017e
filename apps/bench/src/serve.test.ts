import { expect, test, vi } from 'vitest';
import { Child, ChildError } from './child.ts';
import { classLabels, meanSquare, noise, randomIntegers, textLines, values } from './inputs.ts';
import { sample } from './requests.ts';

test('samples are seconds of one iteration', () => {
  // A clock that each call moves on by a tenth of a millisecond, however busy the machine is.
  let calls = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => calls / 10);
  try {
    const samples = sample({ run: () => calls++, iterations: 10 }, 0.005);
    expect(samples.length).toBeGreaterThanOrEqual(5);
    expect(calls).toBeGreaterThan(samples.length);
    for (const s of samples) expect(s).toBeCloseTo(1e-5, 12);
  } finally {
    clock.mockRestore();
  }
});

test('inputs are the same on every call', () => {
  expect(values(3)).toEqual(values(3));
  expect(values(3, 1)[0]).toBe(values(2)[1]);
  expect(Math.max(...values(1000).map(Math.abs))).toBeLessThanOrEqual(0.5);
  expect([...classLabels(4)]).toEqual([0, 7, 4, 1]);
  expect(meanSquare([1, 3])).toBe(5);
});

test('random inputs are those of the peers in Python', () => {
  // As peers/serve.py gives them.
  expect([...noise(3, 1)]).toEqual([0.23112009465694427, -0.445942759513855, -0.22697100043296814]);
  expect([...randomIntegers(4, 100_000, 3)]).toEqual([96017, 90620, 84413, 55209]);
  expect(randomIntegers(1_000_000, 2_000_000_000, 3).at(-1)).toBe(1741003127);
  expect(textLines(3)[2]).toBe('the0 quick2 brown4 fox6 jumps8 over10');
});

const cwd = process.cwd();

test('a child answers line by line', async () => {
  const echo = `console.log('{"ready":true}'); process.stdin.on('data', (line) => process.stdout.write(line));`;
  const child = new Child(process.execPath, ['-e', echo], { cwd });
  expect(await child.next(30)).toEqual({ ready: true });
  expect(await child.ask('{"a":1}', 30)).toEqual({ a: 1 });
  expect(await child.ask('{"a":2}', 30)).toEqual({ a: 2 });
  child.kill();
  expect(child.alive).toBe(false);
});

test('a child that dies tells its last words', async () => {
  const child = new Child(process.execPath, ['-e', `console.error('out of luck'); process.exit(1)`], { cwd });
  await expect(child.next(30)).rejects.toThrow(new ChildError('out of luck'));
  const missing = new Child('no-such-program-at-all', [], { cwd });
  await expect(missing.next(30)).rejects.toThrow('ENOENT');
});

test('a child that takes too long is killed', async () => {
  const child = new Child(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { cwd });
  await expect(child.next(0.2)).rejects.toThrow('no answer within 0.2 s');
  expect(child.alive).toBe(false);
});
