import DOMPurify from 'dompurify';
import { marked } from 'marked';
import type { TextSample } from '../api.ts';
import type { ViewProps } from './app.tsx';
import { SampleCard } from './samples.tsx';
import { Group, groupsOf } from './tags.tsx';

export function TextView({ runs, names, settings }: ViewProps) {
  return groupsOf(runs, 'texts', settings.filter).map(([group, tags]) => (
    <Group key={group} title={group} count={tags.length}>
      {tags.flatMap((tag) =>
        runs
          .filter((run) => run.texts.includes(tag))
          .map((run) => (
            <SampleCard<TextSample>
              key={`${run.name} ${tag}`}
              question="texts"
              run={run}
              tag={tag}
              names={names}
            >
              {(sample) => <Texts {...sample} />}
            </SampleCard>
          )),
      )}
    </Group>
  ));
}

/** One text, or a table of them for a vector or matrix. */
function Texts({ texts, shape }: TextSample) {
  if (shape.length === 0) return <Markdown text={texts[0] ?? ''} />;
  const columns = shape.length > 1 ? (shape.at(-1) ?? 1) : 1;
  const rows = Array.from({ length: Math.ceil(texts.length / (columns || 1)) }, (_, i) =>
    texts.slice(i * columns, (i + 1) * columns),
  );
  return (
    <table>
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

/** Who wrote the logs is not who looks at them: HTML in a text loses everything that could act. */
function Markdown({ text }: { readonly text: string }) {
  const html = DOMPurify.sanitize(marked.parse(text, { async: false }), {
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'img', 'video', 'audio', 'svg', 'math'],
    FORBID_ATTR: ['style'],
  });
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}
