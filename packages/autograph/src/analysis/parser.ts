import { UnimplementedError } from '@eagre/backend';

/** What is asked of a parser: trees as ESTree has them, with parentheses, and the keys of each type of node in the order of the text. */
export type Parser = Pick<typeof import('oxc-parser'), 'parseSync' | 'visitorKeys'>;

let loaded: Parser | undefined;
let other: Parser | undefined;

/** Takes another parser from now on, until it is given none: a page that converts programs brings one that runs there. */
export function useParser(parser: Parser | undefined): void {
  other = parser;
}

/**
 * The parser, loaded when it is first needed: that takes as long as a quarter of `import 'eagre'`.
 * @throws UnimplementedError outside of Node, where nobody has brought another.
 */
export function parser(): Parser {
  if (other !== undefined) return other;
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
