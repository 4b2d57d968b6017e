/** The built-in modules of Node that file helpers use. */
export interface NodeBuiltins {
  'node:crypto': typeof import('node:crypto');
  'node:dns': typeof import('node:dns');
  'node:fs': typeof import('node:fs');
  'node:http': typeof import('node:http');
  'node:module': typeof import('node:module');
  'node:net': typeof import('node:net');
  'node:os': typeof import('node:os');
  'node:path': typeof import('node:path');
  'node:util': typeof import('node:util');
  'node:worker_threads': typeof import('node:worker_threads');
  'node:zlib': typeof import('node:zlib');
}

/** What a page cannot do, as it has no files; the message says what it can. */
export class NoFilesError extends Error {
  override readonly name: string = 'NoFilesError';
}

/** Whether there are files: in Node, Bun and Deno, not in pages. */
export const hasFiles = (): boolean => globalThis.process?.getBuiltinModule !== undefined;

/**
 * A built-in module of Node. Codecs also run in browsers, where a static `import 'node:fs'` would break the bundle,
 * so what needs Node asks for it when it is called.
 *
 * @throws NoFilesError outside Node.
 */
export function nodeBuiltin<Name extends keyof NodeBuiltins>(name: Name): NodeBuiltins[Name] {
  const load = globalThis.process?.getBuiltinModule;
  if (!load)
    throw new NoFilesError(
      `this needs ${name}, which only Node has. In a page, loadModel and other readers take bytes or a URL, and saveModelToBytes(model) gives the bytes of a model`,
    );
  return load(name) as NodeBuiltins[Name];
}
