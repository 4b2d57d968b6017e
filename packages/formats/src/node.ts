interface Builtins {
  'node:fs': typeof import('node:fs');
  'node:path': typeof import('node:path');
  'node:util': typeof import('node:util');
  'node:zlib': typeof import('node:zlib');
}

/**
 * A built-in module of Node. Codecs also run in browsers, where a static `import 'node:fs'` would break the bundle,
 * so the file helpers ask for what they need when they are called.
 */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  const load = globalThis.process?.getBuiltinModule;
  if (!load) throw new Error(`this needs ${name}: read and write files through bytes outside Node`);
  return load(name) as Builtins[Name];
}
