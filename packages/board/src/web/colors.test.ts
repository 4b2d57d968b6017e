import { expect, test } from 'vitest';
import { colorOf, distance, shortNames } from './colors.ts';

test('many runs have different colours, none like the paper', () => {
  const names = Array.from({ length: 100 }, (_, i) => `run${i}`);
  const colors = names.map((name) => colorOf(name, names));
  expect(new Set(colors).size).toBe(100);
  for (const color of colors) {
    expect(color).toMatch(/^#[0-9a-f]{6}$/);
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((i) => Number.parseInt(color.slice(i, i + 2), 16));
    const light = 0.3 * r + 0.59 * g + 0.11 * b;
    expect(light).toBeGreaterThan(45);
    expect(light).toBeLessThan(210);
  }
});

test('the colours of some runs do not look alike', () => {
  const names = Array.from({ length: 400 }, (_, i) => `run${i}`);
  const colors = names.map((name) => colorOf(name, names));
  const nearest = (count: number): number =>
    Math.min(...colors.slice(0, count).flatMap((a, i) => colors.slice(0, i).map((b) => distance(a, b))));
  // Two of the first eight are 0.11 apart.
  expect(nearest(12)).toBeGreaterThan(0.09);
  expect(nearest(24)).toBeGreaterThan(0.06);
  expect(colors.every((color) => /^#[0-9a-f]{6}$/.test(color))).toBe(true);
});

test('names go without the folders in common', () => {
  const shown = (...names: string[]): string[] => names.map(shortNames(names));
  expect(shown('a/b/x', 'a/b/y')).toEqual(['x', 'y']);
  expect(shown('a/b/x', 'a/c')).toEqual(['b/x', 'c']);
  expect(shown('a/b', 'a/b/c')).toEqual(['b', 'b/c']);
  expect(shown('ab/x', 'ac/x')).toEqual(['ab/x', 'ac/x']);
  expect(shown('a/b')).toEqual(['a/b']);
  expect(shown()).toEqual([]);
});
