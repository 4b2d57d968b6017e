import { expect, test } from 'vitest';
import { RecentMap } from './recent-map.ts';

test('forgets what was asked for least recently', () => {
  const forgotten: string[] = [];
  const map = new RecentMap<number, string>(3, (v) => forgotten.push(v));
  map.set(1, 'a').set(2, 'b').set(3, 'c');
  expect(map.get(1)).toBe('a');
  map.set(4, 'd');
  expect(forgotten).toEqual(['b']);
  expect([map.get(1), map.get(2), map.get(3), map.get(4)]).toEqual(['a', undefined, 'c', 'd']);
  map.set(3, 'e').set(5, 'f');
  expect([...forgotten, map.size]).toEqual(['b', 'a', 3]);
});
