import type { ComponentChildren } from 'preact';
import type { RunSummary } from '../api.ts';
import { matcher } from './settings.ts';

type Kind = 'scalars' | 'images' | 'histograms' | 'texts' | 'audio';

/** The tags of these runs that match, by the part before the first slash. */
export function groupsOf(
  runs: readonly RunSummary[],
  kind: Kind,
  filter: string,
): (readonly [group: string, tags: readonly string[]])[] {
  const matches = matcher(filter);
  const tags = [...new Set(runs.flatMap((run) => run[kind]))].filter(matches).sort(byName);
  const groups = new Map<string, string[]>();
  for (const tag of tags) {
    const group = tag.includes('/') ? tag.slice(0, tag.indexOf('/')) : tag;
    const list = groups.get(group);
    if (list === undefined) groups.set(group, [tag]);
    else list.push(tag);
  }
  return [...groups];
}

/** `layer_2` before `layer_10`. */
const byName = new Intl.Collator('en', { numeric: true }).compare;

export function Group({
  title,
  count,
  children,
}: {
  readonly title: string;
  readonly count: number;
  readonly children: ComponentChildren;
}) {
  return (
    <details open class="group">
      <summary>
        {title} <small>{count}</small>
      </summary>
      <div class="cards">{children}</div>
    </details>
  );
}
