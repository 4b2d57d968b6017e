// Editors in pages: programs that are changed and run where they stand.
import { type Code, openCode } from './code.ts';
import css from './editor.css';
import { showPicture, showPlot } from './figures.ts';
import { programOf } from './guide.ts';
import { hashOf, programOfHash } from './link.ts';
import type { BackendName, Mistake, Tell } from './messages.ts';
import { Runner } from './runner.ts';

export { hashOf, programOf, programOfHash };

const BACKENDS: Readonly<Record<BackendName, string>> = {
  wasm: 'WebAssembly',
  webgpu: 'WebGPU',
  js: 'JavaScript',
};

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  set: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), set);
  made.append(...children);
  return made;
}

function styled(): void {
  if (document.getElementById('play-style') === null)
    document.head.append(make('style', { id: 'play-style', textContent: css }));
}

export interface Editor {
  readonly element: HTMLElement;
  program: string;
  run(): void;
  close(): void;
}

/** Opens an editor in a place of the page. @param extra what else its bar has */
function openEditor(
  place: HTMLElement,
  program: string,
  extra: readonly HTMLElement[],
  changed: () => void = () => undefined,
): Editor {
  styled();
  const run = make('button', {
    type: 'button',
    className: 'play-run',
    textContent: 'Run',
    title: 'Ctrl+Enter',
  });
  const stop = make('button', { type: 'button', textContent: 'Stop', disabled: true });
  const backends = make('select', {});
  for (const [value, name] of Object.entries(BACKENDS))
    backends.append(
      make('option', { value, textContent: name, disabled: value === 'webgpu' && !('gpu' in navigator) }),
    );
  const state = make('span', { className: 'play-state' });
  state.setAttribute('role', 'status');
  const text = make('div', { className: 'play-code' });
  const printed = make('div', { className: 'play-printed', tabIndex: 0 });
  printed.setAttribute('role', 'log');
  printed.setAttribute('aria-label', 'Output');
  const figures = make('div', { className: 'play-figures' });
  const results = make('div', { className: 'play-results', hidden: true }, printed, figures);
  const bar = make(
    'div',
    { className: 'play-bar' },
    run,
    stop,
    make('label', {}, 'on ', backends),
    state,
    ...extra,
  );
  const element = make('section', { className: 'play' }, bar, text, results);
  element.setAttribute('aria-label', 'Program that runs in this page');
  place.append(element);

  let isRunning = false;
  const chosen = (): BackendName => backends.value as BackendName;
  // Lines that come within one picture of the page are laid out together.
  let lines: HTMLElement[] = [];
  // Who has gone back to read stays where he is.
  let follows = true;
  printed.addEventListener('scroll', () => {
    follows = printed.scrollHeight - printed.scrollTop - printed.clientHeight < 40;
  });
  const show = (): void => {
    if (lines.length === 0) return;
    printed.append(...lines);
    lines = [];
    if (follows) printed.scrollTop = printed.scrollHeight;
  };
  const say = (line: string, className: string): void => {
    if (lines.length === 0) requestAnimationFrame(show);
    lines.push(make('div', { className, textContent: line }));
  };
  const ended = (text: string, mistake?: Mistake): void => {
    isRunning = false;
    stop.disabled = true;
    state.textContent = text;
    if (mistake !== undefined) {
      results.hidden = false;
      say(
        mistake.line === undefined ? mistake.text : `Line ${mistake.line}: ${mistake.text}`,
        'play-mistake',
      );
      code.mark(mistake.line);
    }
    show();
    if (follows) printed.scrollTop = printed.scrollHeight;
    element.dataset['state'] = mistake === undefined ? 'done' : 'failed';
  };
  const runner = new Runner((message: Tell) => {
    if (message.kind === 'ready') state.textContent = isRunning ? 'Running…' : message.what;
    else if (message.kind === 'print')
      say(message.text, message.isError ? 'play-line play-error' : 'play-line');
    else if (message.kind === 'image') showPicture(figures, message);
    else if (message.kind === 'plot') showPlot(figures, message);
    else
      ended(
        message.mistake === undefined ? `Done in ${(message.milliseconds / 1000).toFixed(2)} s` : 'Failed',
        message.mistake,
      );
  });
  const start = (): void => {
    lines = [];
    follows = true;
    printed.replaceChildren();
    figures.replaceChildren();
    code.mark(undefined);
    results.hidden = false;
    isRunning = true;
    stop.disabled = false;
    state.textContent = 'Running…';
    element.dataset['state'] = 'running';
    runner.run(code.text, chosen());
  };
  const code: Code = openCode(text, program, { run: start, changed });
  run.addEventListener('click', start);
  stop.addEventListener('click', () => {
    runner.stop();
    ended('Stopped');
  });
  backends.addEventListener('change', () => {
    if (isRunning) ended('Stopped');
    state.textContent = '';
    runner.prepare(chosen());
  });
  runner.prepare(chosen());
  const editor: Editor = {
    element,
    get program() {
      return code.text;
    },
    set program(text) {
      code.text = text;
    },
    run: start,
    close() {
      open.delete(editor);
      runner.stop();
      code.close();
      element.remove();
    },
  };
  open.add(editor);
  return editor;
}

const open = new Set<Editor>();

/** Ends all programs: the reader goes to another page. */
export function closeAll(): void {
  for (const editor of open) editor.close();
}

/** Shows an example of a guide in an editor, in its place, and runs it. @param playground the address of the page for programs */
export function runInPlace(block: HTMLElement, example: string, playground: string): Editor {
  const close = make('button', { type: 'button', className: 'play-right', textContent: 'Close' });
  const link = make('a', { href: playground, textContent: 'Playground' });
  const place = make('div', {});
  block.after(place);
  block.hidden = true;
  const editor = openEditor(place, programOf(example), [close, link]);
  // A link must have its address before it is followed.
  const address = async (): Promise<void> => {
    link.href = playground + (await hashOf(editor.program));
  };
  for (const event of ['pointerenter', 'focus', 'touchstart'] as const)
    link.addEventListener(event, () => void address());
  void address();
  close.addEventListener('click', () => {
    editor.close();
    place.remove();
    block.hidden = false;
    block.querySelector<HTMLElement>('button.run')?.focus();
  });
  editor.run();
  return editor;
}

const slug = (title: string): string => title.toLowerCase().replaceAll(' ', '-');

/** The page for programs: the one of the address, or an example. */
export async function openPlayground(place: HTMLElement): Promise<Editor> {
  const titles = Object.keys(__PROGRAMS__);
  const examples = make('select', {});
  examples.append(make('option', { value: '', textContent: 'Your program' }));
  for (const title of titles) examples.append(make('option', { value: title, textContent: title }));
  const copy = make('button', { type: 'button', className: 'play-right', textContent: 'Copy link' });
  const picker = make('label', { className: 'play-picker' }, 'Program ', examples);
  const asked = async (): Promise<readonly [string, string]> => {
    const { hash } = location;
    const own = await programOfHash(hash);
    if (own !== undefined) return ['', own];
    const title = titles.find((one) => hash === `#${slug(one)}`) ?? (titles[0] as string);
    return [title, __PROGRAMS__[title] as string];
  };
  const show = (hash: string): void => window.history.replaceState(window.history.state, '', hash);
  let wait: ReturnType<typeof setTimeout> | undefined;
  const changed = (): void => {
    clearTimeout(wait);
    if (editor.program === __PROGRAMS__[examples.value]) return;
    examples.value = '';
    wait = setTimeout(async () => {
      const hash = await hashOf(editor.program);
      if (editor.element.isConnected) show(hash);
    }, 300);
  };
  const [title, program] = await asked();
  const editor: Editor = openEditor(place, program, [picker, copy], changed);
  editor.element.classList.add('play-large');
  examples.value = title;
  examples.addEventListener('change', () => {
    const chosen = __PROGRAMS__[examples.value];
    if (chosen === undefined) return;
    editor.program = chosen;
    show(`#${slug(examples.value)}`);
  });
  const followed = async (): Promise<void> => {
    const [title, program] = await asked();
    examples.value = title;
    if (program !== editor.program) editor.program = program;
  };
  window.addEventListener('hashchange', followed);
  copy.addEventListener('click', async () => {
    show(examples.value === '' ? await hashOf(editor.program) : `#${slug(examples.value)}`);
    await navigator.clipboard.writeText(location.href);
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy link'), 1500);
  });
  const close = editor.close.bind(editor);
  editor.close = () => {
    clearTimeout(wait);
    window.removeEventListener('hashchange', followed);
    close();
  };
  return editor;
}
