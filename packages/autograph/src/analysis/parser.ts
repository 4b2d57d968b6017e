import { UnimplementedError } from '@eagre/backend';

type Parser = typeof import('oxc-parser');

let loaded: Parser | undefined;

/**
 * The parser, loaded when it is first needed: that takes as long as a quarter of `import 'eagre'`.
 * @throws UnimplementedError outside of Node.
 */
export function parser(): Parser {
  // No import of `node:module`: this file is in bundles for browsers too.
  const node = globalThis.process?.getBuiltinModule?.('node:module');
  if (node === undefined)
    throw new UnimplementedError(
      'functions can be converted at run time in Node only: convert them at build time, with the plugin from eagre/plugin',
      'autograph',
    );
  loaded ??= node.createRequire(import.meta.url)('oxc-parser') as Parser;
  return loaded;
}
