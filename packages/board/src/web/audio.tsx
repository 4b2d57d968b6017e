import type { AudioSample } from '../api.ts';
import type { ViewProps } from './app.tsx';
import { SampleCard } from './samples.tsx';
import { address } from './server.ts';
import { Groups } from './tags.tsx';

export function AudioView({ runs, names, settings }: ViewProps) {
  return (
    <Groups runs={runs} kind="audio" filter={settings.filter}>
      {(tag, having) =>
        having.map((run) => (
          <SampleCard<AudioSample>
            key={`${run.name} ${tag}`}
            question="audio"
            run={run}
            tag={tag}
            names={names}
          >
            {({ step, labels }) =>
              labels.map((label, index) => (
                <figure key={index}>
                  {/* biome-ignore lint/a11y/useMediaCaption: there are no captions in event files */}
                  <audio controls src={address('clip', { run: run.name, tag, step, index })} />
                  <figcaption>{label}</figcaption>
                </figure>
              ))
            }
          </SampleCard>
        ))
      }
    </Groups>
  );
}
