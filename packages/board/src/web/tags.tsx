import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
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
    <Group key={group} group={group} tags={tags}>
      {(tag) =>
        children(
          tag,
          runs.filter((run) => run[kind].includes(tag)),
        )
      }
    </Group>
  ));
}

/** So many cards are made at first, and more when they are asked for: there may be a hundred thousand tags. */
const MANY_CARDS = 100;

interface GroupProps {
  readonly group: string;
  readonly tags: readonly string[];
  readonly children: (tag: string) => ComponentChildren;
}

function Group({ group, tags, children }: GroupProps) {
  const [most, setMost] = useState(MANY_CARDS);
  const rest = tags.length - most;
  return (
    <details open class="group">
      <summary>
        {group === '' ? 'Top level' : group} <small>{tags.length}</small>
      </summary>
      <div class="cards">{tags.slice(0, most).map(children)}</div>
      {rest > 0 && (
        <p class="more">
          <button type="button" onClick={() => setMost(most + MANY_CARDS)}>
            Show {Math.min(rest, MANY_CARDS)} more of {rest}
          </button>
        </p>
      )}
    </details>
  );
}
