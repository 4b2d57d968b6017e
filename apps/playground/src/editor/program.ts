// Makes a program of TypeScript one that a worker can run.
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { parse } from 'acorn';
import { transform } from 'sucrase';
import type { Mistake } from './messages.ts';

const FILE = 'program.ts';

/** `tf.autograph.convert`. */
type Convert = (
  source: string,
  options: { readonly filename: string },
) => {
  readonly code: string;
  readonly map: { readonly mappings: string } | null;
};

export interface Compiled {
  /** What it imports. */
  readonly imports: readonly string[];
  /** A script whose value is a function: of the modules by name, and of what imports others later. */
  readonly script: string;
  /** What an error says, and where. */
  mistake(error: unknown): Mistake;
}

/** A mistake that was found before the program ran. */
class Refused extends Error {
  readonly line: number | undefined;
  constructor(message: string, line: number | undefined) {
    super(message);
    this.line = line;
  }
}

/** @throws an error for `refusal` */
export function compile(source: string, convert: Convert): Compiled {
  const plain = withoutTypes(source);
  const { code, map } = convert(plain, { filename: FILE });
  const { imports, script } = asScript(code);
  const trace = map === null ? undefined : new TraceMap(map as never);
  const lineOf = (line: number, column: number): number =>
    (trace && originalPositionFor(trace, { line, column: column - 1 }).line) ?? line;
  return { imports, script, mistake: (error) => mistakeOf(error, lineOf) };
}

/** What is wrong with a program that cannot be compiled. */
export function refusal(error: unknown): Mistake {
  if (error instanceof Refused) return { text: error.message, line: error.line };
  return refusedByAutograph(error) ?? { text: String(error) };
}

/** AutoGraph says itself where a mistake is. */
function refusedByAutograph(error: unknown): Mistake | undefined {
  const { name, message, site } = error as Partial<Error> & { readonly site?: unknown };
  if (typeof site !== 'string') return undefined;
  const text = `${name}: ${message?.replace('autograph: ', '').replace(`${site}: `, '')}`;
  return { text, line: Number(/:(\d+):\d+$/.exec(site)?.[1]) };
}

/** Lines keep their numbers. */
function withoutTypes(source: string): string {
  try {
    return transform(source, { transforms: ['typescript'], disableESTransforms: true }).code;
  } catch (error) {
    // Such as: Error transforming program.ts: Unexpected token (3:7)
    const [, text, line] = /^(?:Error transforming [^:]*: )?(.*?) \((\d+):\d+\)$/.exec(
      (error as Error).message,
    ) ?? [undefined, (error as Error).message, undefined];
    throw new Refused(`SyntaxError: ${text}`, line === undefined ? undefined : Number(line));
  }
}

type Node = ReturnType<typeof parse>['body'][number];

/** Imports become constants in the first line, and exports plain statements; all other text stays where it is. */
function asScript(code: string): { readonly imports: readonly string[]; readonly script: string } {
  const options = { ecmaVersion: 'latest', sourceType: 'module' } as const;
  const { body } = parse(code, options);
  const imports: string[] = [];
  const cuts: { readonly start: number; readonly end: number; readonly by: string }[] = [];
  const names: string[] = [];
  for (const one of body) {
    if (one.type === 'ImportDeclaration') {
      const from = JSON.stringify(one.source.value);
      imports.push(String(one.source.value));
      cuts.push({ ...one, by: '' });
      for (const found of one.specifiers)
        names.push(
          found.type === 'ImportNamespaceSpecifier'
            ? `${found.local.name} = modules$[${from}]`
            : `${found.local.name} = modules$[${from}][${JSON.stringify(importedName(found))}]`,
        );
    } else if (one.type === 'ExportNamedDeclaration' && one.declaration)
      cuts.push({ start: one.start, end: one.declaration.start, by: '' });
    else if (one.type === 'ExportDefaultDeclaration')
      cuts.push({ start: one.start, end: one.declaration.start, by: 'void ' });
    else if (/^Export/.test(one.type)) cuts.push({ ...one, by: '' });
  }
  // Imports inside of functions.
  visit(body, (node) => {
    if (node.type === 'ImportExpression')
      cuts.push({ start: node.start, end: node.start + 'import'.length, by: 'import$' });
  });
  let text = code;
  for (const { start, end, by } of cuts.sort((a, b) => b.start - a.start))
    text = text.slice(0, start) + by + text.slice(start, end).replace(/[^\n]/g, '') + text.slice(end);
  const head = names.length === 0 ? '' : `const ${names.join(', ')};`;
  return {
    imports,
    script: `(async (modules$, import$) => { 'use strict'; ${head} ${text}\n})\n//# sourceURL=${FILE}`,
  };
}

type Named = Extract<Node, { type: 'ImportDeclaration' }>['specifiers'][number];

function importedName(one: Named): string {
  if (one.type !== 'ImportSpecifier') return 'default';
  return one.imported.type === 'Identifier' ? one.imported.name : String(one.imported.value);
}

interface AnyNode {
  readonly type: string;
  readonly start: number;
}

function visit(value: unknown, enter: (node: AnyNode) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, enter);
  else if (typeof (value as Partial<AnyNode> | null)?.type === 'string') {
    enter(value as AnyNode);
    for (const one of Object.values(value as object)) if (typeof one === 'object') visit(one, enter);
  }
}

function mistakeOf(error: unknown, lineOf: (line: number, column: number) => number): Mistake {
  if (!(error instanceof Error)) return { text: `Uncaught ${String(error)}` };
  const refused = refusedByAutograph(error);
  if (refused !== undefined) return refused;
  const [, line, column] = /program\.ts:(\d+):(\d+)/.exec(error.stack ?? '') ?? [];
  return {
    text: `${error.name}: ${error.message}`,
    line: line === undefined ? undefined : lineOf(Number(line), Number(column)),
  };
}
