// Runs programs, in a worker: a page that waits for one stays alive, and can end it.
import { printed } from './inspect.ts';
import type { Ask, BackendName, Lines, Picture, Tell } from './messages.ts';
import { parser } from './parser.ts';
import { type Compiled, compile, refusal } from './program.ts';

/** An endless program prints no more than this, so that the page has room for it. */
const MOST_LINES = 2000;
const MOST_LETTERS = 20_000;
/** How long a figure stands before the next of its title, in milliseconds: the page is to come after. */
const STANDS = 60;

// The types are those of a page: a worker has no window, which would ask for an origin here.
const tell = (message: Tell, moved: Transferable[] = []): void =>
  (postMessage as (message: Tell, moved: Transferable[]) => void)(message, moved);

let lines = 0;

function print(args: readonly unknown[], isError: boolean): void {
  if (lines > MOST_LINES) return;
  const text = printed(args);
  lines += text.split('\n', MOST_LINES + 1).length;
  if (lines > MOST_LINES) {
    const note = `More than ${MOST_LINES.toLocaleString('en')} lines: the rest is left out.`;
    tell({ kind: 'print', text: note, isError: true });
    return;
  }
  const shown = text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text;
  tell({ kind: 'print', text: shown, isError });
}

for (const name of ['log', 'info', 'debug', 'dir', 'table'] as const)
  console[name] = (...args: readonly unknown[]) => print(name === 'dir' ? args.slice(0, 1) : args, false);
for (const name of ['warn', 'error', 'trace'] as const)
  console[name] = (...args: readonly unknown[]) => print(args, true);

type Eagre = typeof import('eagre');

interface World {
  readonly tf: Eagre;
  readonly helpers: typeof import('@eagre/autograph/internal');
  readonly what: string;
}

let world: Promise<World> | undefined;

async function load(backend: BackendName): Promise<World> {
  // Core reads it once, where it begins.
  const host = globalThis as { process?: unknown };
  if (backend === 'js') host.process = { env: { EAGRE_BACKEND: 'js' } };
  if (backend === 'webgpu') {
    const { webgpuUnavailable } = await import('@eagre/backend-webgpu');
    if (webgpuUnavailable !== undefined) throw new Error(webgpuUnavailable);
  }
  const [tf, helpers] = await Promise.all([import('eagre'), import('@eagre/autograph/internal')]);
  if (backend === 'js') delete host.process;
  helpers.useParser(parser);
  await tf.ready();
  return { tf, helpers, what: tf.zeros([1]).backend.description };
}

/** Figures that wait for their turn, by title, and when the last one of each was shown. */
const waiting = new Map<string, () => void>();
const shownAt = new Map<string, number>();

function figure(title: string, send: () => void): void {
  waiting.delete(title);
  if (performance.now() - (shownAt.get(title) ?? Number.NEGATIVE_INFINITY) < STANDS) waiting.set(title, send);
  else {
    send();
    shownAt.set(title, performance.now());
  }
}

function showWaiting(): void {
  for (const send of waiting.values()) send();
  waiting.clear();
}

/** What programs import as `playground`. */
const playground = ({ tf }: World) => ({
  async image(pixels: import('eagre').Tensor, { title = 'image' } = {}): Promise<void> {
    const [height = 1, width = 1] = pixels.shape as readonly number[];
    const bytes = await tf.browser.toPixels(pixels);
    const picture: Picture = { title, width, height, pixels: new Uint8ClampedArray(bytes) };
    figure(title, () => tell({ kind: 'image', ...picture }));
  },
  plot(given: Lines['lines'], { title = 'plot' } = {}): void {
    const lines = Object.fromEntries(
      Object.entries(given).map(([name, list]) => [name, [...list].map(Number)]),
    );
    figure(title, () => tell({ kind: 'plot', title, lines }));
  },
  pause: (): Promise<void> => new Promise((resolve) => setTimeout(resolve)),
});

function moduleOf(name: string, here: World): object {
  if (name === 'eagre') return here.tf;
  if (name === 'eagre/internal') return here.helpers;
  if (name === 'playground') return playground(here);
  throw new Error(`A program in a page can import 'eagre' and 'playground', and not '${name}'`);
}

async function run(program: string, here: World): Promise<void> {
  lines = 0;
  const start = performance.now();
  let compiled: Compiled | undefined;
  let mistake: ReturnType<typeof refusal> | undefined;
  try {
    compiled = compile(program, here.tf.autograph.convert as never);
    const modules = Object.fromEntries(compiled.imports.map((name) => [name, moduleOf(name, here)]));
    // In the scope of the worker, not in this one.
    // biome-ignore lint/security/noGlobalEval: to run a program that somebody wrote is what this worker is for
    const evaluate = globalThis.eval;
    const begin = evaluate(compiled.script) as (modules: object, load: object) => Promise<void>;
    await begin(modules, async (name: string) => moduleOf(name, here));
  } catch (error) {
    mistake = compiled === undefined ? refusal(error) : compiled.mistake(error);
  }
  showWaiting();
  const milliseconds = performance.now() - start;
  tell({ kind: 'done', milliseconds, ...(mistake === undefined ? {} : { mistake }) });
}

let last: Promise<void> = Promise.resolve();

self.addEventListener('message', ({ data }: MessageEvent<Ask>) => {
  last = last.then(async () => {
    try {
      if (world === undefined) {
        world = load(data.backend);
        tell({ kind: 'ready', what: (await world).what });
      }
      if (data.program !== undefined) await run(data.program, await world);
    } catch (error) {
      // What cannot compute here says why.
      tell({ kind: 'done', milliseconds: 0, mistake: { text: (error as Error).message } });
    }
  });
});
self.addEventListener('unhandledrejection', (event) => print([event.reason], true));
