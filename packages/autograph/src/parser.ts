import { createRequire } from 'node:module';

type Parser = typeof import('oxc-parser');

let loaded: Parser | undefined;

/** The parser, loaded when it is first needed: that takes as long as a quarter of `import 'eagre'`. */
export function parser(): Parser {
  loaded ??= createRequire(import.meta.url)('oxc-parser') as Parser;
  return loaded;
}
