// Stacks of errors: the caller's own line stands among the frames that are shown, wherever in the library the error arose.

/** How many frames are collected, before the library's are folded. */
const COLLECTED = 200;
const OWN = /[\\/]node_modules[\\/](?:@eagre|eagre)[\\/]/;
/** Where this module is: the packages of a checkout, which are the library but for their tests, or a folder of bundled packages. */
const HERE =
  /([^\s(]*[\\/]packages[\\/])backend[\\/](?:src|dist)[\\/]|([^\s(]*[\\/]node_modules[\\/][^\s(]*[\\/])/;
/** Functions of the engine and of Node, which are as near to the library as what they were called by. */
const HOST = /\(?(?:<anonymous>|node:[^)]*|native)\)?$/;

let isOwn: ((frame: string) => boolean) | undefined;

function ownFrames(): (frame: string) => boolean {
  const [, packages, folder] = HERE.exec(String(new Error().stack).split('\n')[1] ?? '') ?? [];
  return (frame) => {
    if (OWN.test(frame) || (folder !== undefined && frame.includes(folder))) return true;
    if (packages === undefined) return false;
    const [, inside] = frame.split(packages);
    return inside !== undefined && /^[\w-]+[\\/](?:src|dist)[\\/](?!.*\.test\.)/.test(inside);
  };
}

/**
 * Has the stack of an error show the library's frames as one line, but for the first, and as many frames as the program asks for;
 * `EAGRE_STACK=full` shows all. As for any error, it is made when it is first read. Engines without V8's stacks, and pages, keep theirs.
 * @param made the error's constructor, at which the stack begins.
 */
export function foldStack(error: Error, made: new (...args: never[]) => Error): void {
  const process: Partial<NodeJS.Process> | undefined = globalThis.process;
  const { stackTraceLimit: limit } = Error;
  if (!(limit > 0 && limit < COLLECTED) || process?.versions?.v8 === undefined) return;
  if (!Reflect.set(Error, 'stackTraceLimit', COLLECTED)) return;
  // With the error's name and message, as they are when the stack is read.
  const collected = Object.create(error) as { readonly stack: unknown };
  Error.captureStackTrace(collected, made);
  Error.stackTraceLimit = limit;
  const settle = (value: unknown): void =>
    void Reflect.defineProperty(error, 'stack', { value, configurable: true, writable: true });
  Object.defineProperty(error, 'stack', {
    configurable: true,
    get() {
      let { stack } = collected;
      // A program may make something else of it.
      if (typeof stack === 'string' && process.env?.['EAGRE_STACK'] !== 'full') {
        const start = String(error).length;
        stack = folded(stack.slice(0, start), stack.slice(start), limit);
      }
      settle(stack);
      return stack;
    },
    set: settle,
  });
}

const AT = '\n    at ';

/** A stack with the library's frames folded, and at most as many frames as `limit`. @param message what stands before the frames. */
export function folded(message: string, rest: string, limit: number): string {
  isOwn ??= ownFrames();
  const [end = '', ...frames] = rest.split(AT);
  const head = message + end;
  let text = head;
  let shown = 0;
  let hidden = 0;
  let inside = false;
  let found = false;
  for (const frame of frames) {
    const host = HOST.test(frame);
    inside = isOwn(frame) || (inside && host);
    if (inside && shown > 0) hidden++;
    else {
      found ||= !inside && !host;
      text += more(hidden);
      hidden = 0;
      if (++shown > limit) break;
      text += AT + frame;
    }
  }
  // Where all is the library's, its frames are all that there is to see.
  return found ? text + more(hidden) : [head, ...frames.slice(0, limit)].join(AT);
}

const more = (hidden: number): string =>
  hidden > 0 ? `\n    … ${hidden} more in Eagre (EAGRE_STACK=full shows them)` : '';
