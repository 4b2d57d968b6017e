import DOMPurify from 'dompurify';
import { marked } from 'marked';

// A link leads away from the board, which stays.
DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (!(node instanceof HTMLAnchorElement)) return;
  node.target = '_blank';
  node.rel = 'noopener noreferrer';
});

/** Who wrote the logs is not who looks at them: HTML in a text loses everything that could act. */
export function Markdown({ text }: { readonly text: string }) {
  const html = DOMPurify.sanitize(marked.parse(text, { async: false }), {
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'img', 'video', 'audio', 'svg', 'math'],
    FORBID_ATTR: ['style', 'id', 'name', 'class'],
  });
  return <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />;
}
