import { expect, test } from 'vitest';
import { layOut, type Node, type Point, type Way } from './layers.ts';

/** Numbers that look like drawn ones, the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

test.each(Array.from({ length: 30 }, (_, i) => i + 1))('no box lies on another one, graph %i', (seed) => {
  const next = numbers(seed);
  const nodes: Node[] = Array.from({ length: 2 + next(20) }, () => ({
    width: 20 + next(200),
    height: 20 + next(60),
  }));
  const edges = Array.from({ length: 2 * nodes.length }, (): Way => [next(nodes.length), next(nodes.length)]);
  const { centers, paths, width, height } = layOut(nodes, edges);
  centers.forEach((a, i) => {
    expect(a.x - nodes[i].width / 2).toBeGreaterThanOrEqual(-0.01);
    expect(a.x + nodes[i].width / 2).toBeLessThanOrEqual(width + 0.01);
    expect(a.y + nodes[i].height / 2).toBeLessThanOrEqual(height + 0.01);
    centers.slice(0, i).forEach((b, j) => {
      const besides = Math.abs(a.x - b.x) >= (nodes[i].width + nodes[j].width) / 2;
      const below = Math.abs(a.y - b.y) >= (nodes[i].height + nodes[j].height) / 2;
      expect(besides || below).toBe(true);
    });
  });
  // Where edges run beside boxes they are straight; between rows there are no boxes.
  const inside = ({ x, y }: Point): boolean =>
    centers.some(
      (c, i) =>
        Math.abs(x - c.x) < nodes[i].width / 2 - 0.01 && Math.abs(y - c.y) < nodes[i].height / 2 - 0.01,
    );
  paths.forEach((points, i) => {
    if (edges[i][0] !== edges[i][1]) expect(points.some(inside)).toBe(false);
  });
});

test('rows follow the edges, and what begins late stands late', () => {
  const box = { width: 50, height: 20 };
  const { centers } = layOut(
    [box, box, box, box],
    [
      [0, 1],
      [1, 2],
      [3, 2],
    ],
  );
  const ys = centers.map(({ y }) => y);
  expect(ys).toEqual([ys[0], ys[3], ys[2], ys[1]]);
  expect(ys[0] < ys[1] && ys[1] < ys[2]).toBe(true);
  const chain = layOut(
    [box, box, box],
    [
      [0, 1],
      [1, 2],
    ],
  ).centers;
  expect(chain.map(({ x }) => x)).toEqual([25, 25, 25]);
});
