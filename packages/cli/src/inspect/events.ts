import { readEvents } from '@eagre/summary';
import type { Contents, TagItem } from './contents.ts';

/** An event file, or all in a folder and below. */
export async function inspectEvents(path: string): Promise<Contents> {
  const tags = new Map<string, { -readonly [K in keyof TagItem]: TagItem[K] }>();
  for (const event of readEvents(path)) {
    if (event.kind === 'other') continue;
    const tag = 'tag' in event ? event.tag : '';
    const key = `${event.run}\0${event.kind}\0${tag}`;
    const step = Number(event.step);
    const item = tags.get(key);
    if (item === undefined) {
      const { run, kind } = event;
      tags.set(key, { run, tag, kind, count: 1, firstStep: step, lastStep: step });
    } else {
      item.count++;
      item.firstStep = Math.min(item.firstStep, step);
      item.lastStep = Math.max(item.lastStep, step);
    }
  }
  return { path, format: 'events', tags: [...tags.values()] };
}
