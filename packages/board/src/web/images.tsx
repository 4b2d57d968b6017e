import type { ImageSample } from '../api.ts';
import type { ViewProps } from './app.tsx';
import { SampleCard } from './samples.tsx';
import { address } from './server.ts';
import { Groups } from './tags.tsx';

export function ImageView({ runs, names, settings }: ViewProps) {
  return (
    <Groups runs={runs} kind="images" filter={settings.filter}>
      {(tag, having) =>
        having.map((run) => (
          <SampleCard<ImageSample>
            key={`${run.name} ${tag}`}
            question="images"
            run={run}
            tag={tag}
            names={names}
          >
            {({ step, width, height, count }) => (
              <div class="pictures">
                {Array.from({ length: count }, (_, index) => (
                  <a
                    key={index}
                    href={address('image', { run: run.name, tag, step, index })}
                    target="_blank"
                    rel="noreferrer"
                  >
                    <img
                      src={address('image', { run: run.name, tag, step, index })}
                      alt={`${tag}, ${index + 1} of ${count}, step ${step}`}
                      width={Math.max(width, 96)}
                      height={Math.round((height * Math.max(width, 96)) / (width || 1))}
                      class={width < 96 ? 'small' : ''}
                      loading="lazy"
                    />
                  </a>
                ))}
              </div>
            )}
          </SampleCard>
        ))
      }
    </Groups>
  );
}
