import { expect, test } from 'vitest';
import { efficiencyFigure } from './figure.ts';
import { allReduceTime, evenProfile, type Layout, type Link, simulateStep } from './simulate.ts';

const overlapped: Layout = { bytesPerPack: 2 * 2 ** 20, overlap: true, compression: 1 };
const atTheEnd: Layout = { ...overlapped, overlap: false };
/** A link shaped to 1 Gbit, as it was measured between two network namespaces. */
const shaped: Link = { latency: 100e-6, bandwidth: 0.119e9 };
const near = (value: number, measured: number): void => {
  expect(Math.abs(value - measured) / measured).toBeLessThan(0.15);
};

test('two processes on 1 Gbit take what was measured, within 15 %', () => {
  // 8 layers of 2 MB, of 15 ms each; 157 ms of computing alone.
  const profile = evenProfile(8, 8 * 2 * 2 ** 20, { forward: 0, backward: 0.157 });
  near(simulateStep(profile, 2, shaped, overlapped).step, 0.16);
  near(simulateStep(profile, 2, shaped, atTheEnd).step, 0.332);
});

test('the ring of a sum', () => {
  const link = { latency: 0.001, bandwidth: 1e6 };
  expect(allReduceTime(1e6, 1, link)).toBe(0);
  expect(allReduceTime(1e6, 2, link)).toBeCloseTo(2 * (0.001 + 0.5));
  expect(allReduceTime(1e6, 4, link)).toBeCloseTo(6 * (0.001 + 0.25));
});

test('buckets wait for their gradients, and for the bucket before', () => {
  const profile = evenProfile(4, 4 * 2 ** 20, { forward: 0.01, backward: 0.04 });
  const link = { latency: 0, bandwidth: 2 ** 20 / 0.015 };
  const { buckets, step, alone } = simulateStep(profile, 2, link, { ...overlapped, bytesPerPack: 2 ** 20 });
  expect(buckets.map(({ ready }) => ready)).toEqual([0.02, 0.03, 0.04, 0.05].map((t) => expect.closeTo(t)));
  expect(buckets.map(({ start }) => start)).toEqual([0.02, 0.035, 0.05, 0.065].map((t) => expect.closeTo(t)));
  expect(step).toBeCloseTo(0.08);
  expect(alone).toBeCloseTo(0.05);
});

test('up to 4,096 processes: overlap never costs, compression halves the traffic', () => {
  const profile = evenProfile(50, 102e6, { forward: 0.2, backward: 0.4 });
  const link = { latency: 30e-6, bandwidth: 1.19e9 };
  for (let n = 1; n <= 4096; n *= 2) {
    const layout = { bytesPerPack: 0, overlap: true, compression: 1 };
    const overlap = simulateStep(profile, n, link, layout);
    const end = simulateStep(profile, n, link, { ...layout, overlap: false });
    const half = simulateStep(profile, n, link, { ...layout, compression: 0.5 });
    expect(overlap.step).toBeLessThanOrEqual(end.step + 1e-12);
    expect(half.step).toBeLessThanOrEqual(overlap.step + 1e-12);
    expect(overlap.efficiency).toBeLessThanOrEqual(1);
  }
});

test('the figure has a line for each link and layout', () => {
  const svg = efficiencyFigure();
  expect(svg.match(/<polyline/g)).toHaveLength(6);
  expect(svg).toMatch(/^<svg [\s\S]*4,096[\s\S]*<\/svg>\n$/);
  expect(svg).not.toContain('NaN');
});
