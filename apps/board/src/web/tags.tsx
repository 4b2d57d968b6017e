import type { ComponentChildren } from 'preact';
import type { RunSummary } from '../api.ts';
import { matcher } from './settings.ts';

type Kind = 'scalars' | 'images' | 'histograms' | 'texts' | 'audio';

/** The tags of these runs that match, by the part before the first slash; those without one come first. */
export function groupsOf(
  runs: readonly RunSummary[],
  kind: Kind,
  filter: string,
): (readonly [group: string, tags: readonly string[]])[] {
  const matches = matcher(filter);
  const tags = [...new Set(runs.flatMap((run) => run[kind]))].filter(matches).sort(byName);
  const groups = new Map<string, string[]>([['', []]]);
  for (const tag of tags) {
    const group = tag.slice(0, Math.max(0, tag.indexOf('/')));
    const list = groups.get(group);
    if (list === undefined) groups.set(group, [tag]);
    else list.push(tag);
  }
  return [...groups].filter(([, list]) => list.length > 0);
}

/** `layer_2` before `layer_10`. */
const byName = new Intl.Collator('en', { numeric: true }).compare;

interface Props {
  readonly runs: readonly RunSummary[];
  readonly kind: Kind;
  readonly filter: string;
  /** The cards of a tag, for the runs that have it. */
  readonly children: (tag: string, having: readonly RunSummary[]) => ComponentChildren;
}

/** The tags of a kind in groups that fold, or what to do where none is left. */
export function Groups({ runs, kind, filter, children }: Props) {
  const groups = groupsOf(runs, kind, filter);
  if (groups.length === 0) {
    const hidden = runs.every((run) => run[kind].length === 0);
    return (
      <p class="empty">
        {hidden ? 'The chosen runs have none; choose others at the side.' : `No tag matches “${filter}”.`}
      </p>
    );
  }
  return groups.map(([group, tags]) => (
    <details open class="group" key={group}>
      <summary>
        {group === '' ? 'Top level' : group} <small>{tags.length}</small>
      </summary>
      <div class="cards">
        {tags.map((tag) =>
          children(
            tag,
            runs.filter((run) => run[kind].includes(tag)),
          ),
        )}
      </div>
    </details>
  ));
}
