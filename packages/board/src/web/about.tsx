import type { RunSummary } from '../api.ts';
import { Markdown } from './markdown.tsx';
import { ownOf } from './settings.ts';

/** What the program says about a tag, where it says something. */
export function About({ runs, tag }: { readonly runs: readonly RunSummary[]; readonly tag: string }) {
  const text = runs
    .map(({ descriptions }) => ownOf(descriptions, tag))
    .find((each) => each !== undefined && each !== '');
  if (text === undefined) return null;
  return (
    <details class="about">
      <summary>About</summary>
      <Markdown text={text} />
    </details>
  );
}
