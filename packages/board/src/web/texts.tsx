import type { TextSample } from '../api.ts';
import type { ViewProps } from './app.tsx';
import { Markdown } from './markdown.tsx';
import { SampleCard } from './samples.tsx';
import { Groups } from './tags.tsx';

export function TextView({ runs, names, settings }: ViewProps) {
  return (
    <Groups runs={runs} kind="texts" filter={settings.filter}>
      {(tag, having) =>
        having.map((run) => (
          <SampleCard<TextSample>
            key={`${run.name} ${tag}`}
            question="texts"
            run={run}
            tag={tag}
            names={names}
          >
            {(sample) => <Texts {...sample} />}
          </SampleCard>
        ))
      }
    </Groups>
  );
}

/** One text, or a table of them for a vector or matrix. */
function Texts({ texts, shape }: TextSample) {
  if (shape.length === 0) return <Markdown text={texts[0] ?? ''} />;
  const columns = shape.length > 1 ? (shape.at(-1) ?? 1) : 1;
  const rows = Array.from({ length: Math.ceil(texts.length / (columns || 1)) }, (_, i) =>
    texts.slice(i * columns, (i + 1) * columns),
  );
  return (
    <table class="texts">
      <tbody>
        {rows.map((row, i) => (
          <tr key={i}>
            {row.map((text, j) => (
              <td key={j}>
                <Markdown text={text} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
