// The editor of the text: CodeMirror, with what a program in a page needs.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { type Extension, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';

const mark = StateEffect.define<number | undefined>();

/** The line of a mistake, until the text changes. */
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(now, { docChanged, effects, state }) {
    for (const effect of effects)
      if (effect.is(mark)) {
        const line = effect.value;
        if (line === undefined || line < 1 || line > state.doc.lines) return Decoration.none;
        return Decoration.set([Decoration.line({ class: 'play-mistaken' }).range(state.doc.line(line).from)]);
      }
    return docChanged ? Decoration.none : now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

export interface Code {
  text: string;
  /** Shows where a mistake is; nowhere for undefined. */
  mark(line: number | undefined): void;
  close(): void;
}

export function openCode(
  parent: HTMLElement,
  text: string,
  { run, changed }: { readonly run: () => void; readonly changed: () => void },
): Code {
  const started = (): boolean => {
    run();
    return true;
  };
  const extensions: Extension = [
    // Tab leaves the editor, as it does everywhere in a page.
    keymap.of([{ key: 'Mod-Enter', run: started }, ...defaultKeymap, ...historyKeymap]),
    history(),
    lineNumbers(),
    indentOnInput(),
    bracketMatching(),
    javascript({ typescript: true }),
    syntaxHighlighting(classHighlighter),
    marked,
    EditorView.contentAttributes.of({ 'aria-label': 'Program', tabindex: '0' }),
    EditorView.updateListener.of(({ docChanged }) => docChanged && changed()),
  ];
  const view = new EditorView({ parent, doc: text, extensions });
  return {
    get text() {
      return view.state.doc.toString();
    },
    set text(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    mark(line) {
      view.dispatch({ effects: mark.of(line) });
    },
    close: () => view.destroy(),
  };
}
