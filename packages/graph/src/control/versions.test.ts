import { expect, test } from 'vitest';
import { Versions } from './versions.ts';

test('every version keeps its items, in whatever order they are read and changed', () => {
  let seed = 1;
  const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
  const versions = [{ list: new Versions<number>([0, 0, 0]), model: [0, 0, 0] }];
  for (let step = 1; step <= 400; step++) {
    const { list, model } = versions[random(versions.length)] as (typeof versions)[number];
    const place = random(model.length + (step % 50 === 0 ? 3 : 0));
    const next = [...model];
    while (next.length <= place) next.push(0);
    next[place] = step;
    versions.push({ list: list.with(place, step, 0), model: next });
    const seen = versions[random(versions.length)] as (typeof versions)[number];
    expect(seen.list.toArray()).toEqual(seen.model);
    expect(seen.list.length).toBe(seen.model.length);
    const at = random(seen.model.length);
    expect(seen.list.get(at)).toBe(seen.model[at]);
  }
  for (const { list, model } of versions) expect(list.toArray()).toEqual(model);
});

test('a hundred thousand changes are as cheap as an array, and the first version is still there', () => {
  const first = new Versions<number>(new Array<number>(100_000).fill(0));
  let list = first;
  for (let i = 0; i < 100_000; i++) list = list.with(i, i + 1, 0);
  expect(list.get(99_999)).toBe(100_000);
  expect(first.get(99_999)).toBe(0);
  expect(list.get(50_000)).toBe(50_001);
});
