import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { RunSummary } from '../api.ts';
import { About } from './about.tsx';
import { colorOf, shortNames } from './colors.ts';
import { address, useAnswer } from './server.ts';

interface Sampled {
  readonly step: number;
  readonly wallTime: number;
}

interface Props<T> {
  readonly question: string;
  readonly run: RunSummary;
  readonly tag: string;
  readonly names: readonly string[];
  readonly children: (sample: T, all: readonly T[]) => ComponentChildren;
}

/** A tag of a run whose values are looked at one step at a time. */
export function SampleCard<T extends Sampled>({ question, run, tag, names, children }: Props<T>) {
  const { value = [] } = useAnswer<readonly T[]>(address(question, { run: run.name, tag }));
  const [chosen, setChosen] = useState<number | undefined>();
  const at = Math.min(chosen ?? value.length - 1, value.length - 1);
  const sample = value[at];
  return (
    <article class="card">
      <h2 title={tag}>{tag}</h2>
      <About runs={[run]} tag={tag} />
      <p class="of">
        <span class="swatch" style={{ background: colorOf(run.name, names) }} />{' '}
        <span title={run.name}>{shortNames(names)(run.name)}</span>
        {sample !== undefined && (
          <span>
            step <b>{sample.step}</b>, {new Date(sample.wallTime * 1000).toLocaleString()}
          </span>
        )}
      </p>
      {value.length > 1 && (
        <input
          type="range"
          aria-label={`step of ${tag} in ${run.name}`}
          aria-valuetext={`step ${sample?.step}`}
          min="0"
          max={value.length - 1}
          value={at}
          onInput={(event) => {
            const next = Number(event.currentTarget.value);
            // At the end the newest stays in view.
            setChosen(next === value.length - 1 ? undefined : next);
          }}
        />
      )}
      {sample !== undefined && children(sample, value)}
    </article>
  );
}
