import { type Marks, marksOf } from './analysis/directives.ts';
import { parser } from './analysis/parser.ts';
import { Unit } from './analysis/source-unit.ts';
import type { Func, Node } from './analysis/syntax.ts';
import { type Code, code, Lines, render, type SourceMap, span } from './emit/code-fragments.ts';
import { Functions } from './emit/functions.ts';
import { AutographError } from './errors.ts';

/** Options of `convert`. */
export interface ConvertOptions {
  /** For messages and the source map; its ending says whether the source is TypeScript. */
  readonly filename?: string;
  /** Where converted code imports its helpers from. */
  readonly runtime?: string;
}

/** What `convert` makes of a source. */
export interface Converted {
  readonly code: string;
  /** Null where nothing was converted: the code is the source then. */
  readonly map: SourceMap | null;
}

export const RUNTIME = 'eagre/internal';

/** Whether a statement is what conversion adds, here or in another tool. */
function isHelpersImport(statement: Node, runtime: string): boolean {
  return (
    statement.type === 'ImportDeclaration' &&
    (statement.source.value === runtime || /\/internal(?:\.js)?$/.test(statement.source.value)) &&
    statement.specifiers.some((s) => s.type === 'ImportNamespaceSpecifier' && /^ag\$+$/.test(s.local.name))
  );
}

/** A name for the helpers that nothing in the source has. */
export function helpersName(source: string): string {
  let name = 'ag$';
  while (source.includes(name)) name += '$';
  return name;
}

/** `tf.autograph.convert`, which says what it does. */
export function convert(source: string, options: ConvertOptions = {}): Converted {
  const { filename = 'module.ts', runtime = RUNTIME } = options;
  return notTooDeep(filename, () => convertModule(source, filename, runtime));
}

function convertModule(source: string, filename: string, runtime: string): Converted {
  const lines = new Lines(source);
  const program = parse(source, filename, lines);
  if (program.body.some((s) => isHelpersImport(s, runtime))) return { code: source, map: null };
  const marks = marksOf(program);
  if (marks.asked.size === 0 && !marks.others) return { code: source, map: null };
  const ag = helpersName(source);
  const functions = new Functions(new Unit(source, filename, lines, marks, ag));
  const body = functions.outside(program);
  if (functions.count === 0) return { code: source, map: null };
  // What is imported is there before any code runs, wherever it stands; behind the rest it leaves directives in front.
  const tail = `\nimport * as ${ag} from ${JSON.stringify(runtime)};\n`;
  const head: Code = [span(0, program.start)];
  const end: Code = [span(program.end, source.length)];
  return render(code`${head}${body}${end}${tail}`, source, lines, filename);
}

/** @throws AutographError for code that is nested so deep that the stack does not suffice. */
function notTooDeep<T>(filename: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new AutographError(
      `${filename}:1:1`,
      'code here is nested too deep to be converted, such as a sum of thousands of terms: put its parts into variables, or data into a module without functions',
      { cause: error },
    );
  }
}

/** @throws AutographError for a syntax error. */
export function parse(source: string, filename: string, lines: Lines): Node & { type: 'Program' } {
  const { program, errors } = parser().parseSync(filename, source, { sourceType: 'module' });
  const [error] = errors;
  if (error !== undefined) {
    const { line, column } = lines.at(error.labels[0]?.start ?? 0);
    throw new AutographError(
      `${filename}:${line + 1}:${column + 1}`,
      `the source cannot be read: ${error.message}`,
    );
  }
  return program;
}

/** Converts one function, whatever marks it has. */
export function convertFunction(
  fn: Func,
  program: Node,
  source: string,
  filename: string,
  lines: Lines,
  ag: string,
): string {
  const found = marksOf(program);
  const marks: Marks = {
    ...found,
    asked: new Set([...found.asked, fn]),
    plain: new Set([...found.plain].filter((p) => p !== fn)),
  };
  const unit = new Unit(source, filename, lines, marks, ag);
  return notTooDeep(filename, () => render(new Functions(unit).outside(fn), source, lines, filename).code);
}
