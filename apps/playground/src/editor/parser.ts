// A parser for pages: acorn, which reads JavaScript, in the place of the one that AutoGraph has in Node.
import { parse } from 'acorn';

type Parser = import('@eagre/autograph/internal').Parser;

export const parser: Parser = {
  visitorKeys: __VISITOR_KEYS__,
  parseSync(_file: string, source: string) {
    try {
      const program = parse(source, { ecmaVersion: 'latest', sourceType: 'module', preserveParens: true });
      return { program, errors: [] };
    } catch (error) {
      const { message, pos } = error as SyntaxError & { readonly pos?: number };
      if (pos === undefined) throw error;
      return {
        program: undefined,
        errors: [{ message: message.replace(/ \(\d+:\d+\)$/, ''), labels: [{ start: pos }] }],
      };
    }
  },
} as unknown as Parser;
