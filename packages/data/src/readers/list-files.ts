import { InvalidArgumentError, NotFoundError, withFileErrors } from '@eagre/backend';
import { constant, Tensor } from '@eagre/core';
import { nodeBuiltin } from '@eagre/formats/internal';
import { TensorSpec } from '@eagre/graph';
import type { DatasetNode } from '../pipeline/iterator.ts';
import { seedWords } from '../pipeline/random.ts';
import { ShuffledListNode } from '../sources/shuffled-list.ts';

/** Options of `Dataset.listFiles`. */
export interface ListFilesOptions {
  /** In another order at each pass, unless a seed is given. Default: true. */
  readonly shuffle?: boolean | undefined;
  /** Seed of the order; the passes differ all the same. */
  readonly seed?: number | undefined;
}

/**
 * The node of `Dataset.listFiles`.
 *
 * @throws NotFoundError when no file matches.
 * @throws InvalidArgumentError for patterns that make no sense.
 */
export function pathsNode(
  patterns: string | readonly string[] | Tensor,
  options: ListFilesOptions = {},
): DatasetNode {
  const what = 'Dataset.listFiles';
  const all =
    patterns instanceof Tensor ? patterns.strings() : typeof patterns === 'string' ? [patterns] : patterns;
  if (
    !Array.isArray(all) ||
    all.length === 0 ||
    !all.every((pattern) => typeof pattern === 'string' && pattern !== '')
  )
    throw new InvalidArgumentError('give a pattern, or several', what);
  const found = new Set(all.flatMap((pattern) => matching(pattern, what, false)));
  if (found.size === 0) throw new NotFoundError(`no file matches ${all.join(', ')}`, what);
  const paths = [...found].sort((a, b) => (a < b ? -1 : 1));
  const seed = options.shuffle === false ? null : seedWords(options.seed, what);
  const path = (i: number): Tensor => constant(paths[i]);
  return new ShuffledListNode('ListFiles', paths.length, seed, new TensorSpec([], 'string'), path);
}

const NO_MATCH: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'ELOOP',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
]);
// A \\ makes the next character a plain one, where it does not part folders.
const MAGIC = /[*?[{\\]/;

/** The files, and if wanted the folders, that a pattern matches. Walks only the folders that it can match in. */
export function matching(pattern: string, what: string, folders: boolean): string[] {
  const { resolve, sep } = nodeBuiltin('node:path');
  const { existsSync, statSync } = nodeBuiltin('node:fs');
  const parts = pattern.split(sep === '\\' ? /[/\\]/ : '/');
  const from = parts.findIndex((part) => MAGIC.test(part));
  if (from < 0) return existsSync(pattern) && (folders || statSync(pattern).isFile()) ? [pattern] : [];
  // What comes before the first `*` stays as it was written.
  const root = parts.slice(0, from).join('/');
  const start = from === 0 ? '' : `${root}/`;
  const matchers = parts.slice(from).map((part) => (part === '**' ? null : expression(part, what)));
  const found: string[] = [];
  const folder = resolve(start === '' ? '.' : start);
  withFileErrors(folder, what, () => walk(start, folder, matchers, 0, found, folders));
  return found;
}

function walk(
  shown: string,
  folder: string,
  matchers: readonly (RegExp | null)[],
  depth: number,
  found: string[],
  folders: boolean,
): void {
  const matcher = matchers[depth];
  if (matcher === undefined) return;
  // `**` matches no folder at all, or the one at hand and goes on.
  if (matcher === null) walk(shown, folder, matchers, depth + 1, found, folders);
  const isLast = depth === matchers.length - 1;
  let entries: { name: string; isDirectory(): boolean; isFile(): boolean; isSymbolicLink(): boolean }[];
  try {
    entries = nodeBuiltin('node:fs').readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    // What is not there, or closed, holds no match. Everything else is no answer.
    if (NO_MATCH.has((cause as NodeJS.ErrnoException).code ?? '')) return;
    throw cause;
  }
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    const isHidden = entry.name.startsWith('.');
    if (entry.isDirectory()) {
      if (matcher === null && !isHidden)
        walk(`${shown}${entry.name}/`, path, matchers, depth, found, folders);
      else if (matcher?.test(entry.name) && !isLast)
        walk(`${shown}${entry.name}/`, path, matchers, depth + 1, found, folders);
      else if (folders && isLast && (matcher === null ? !isHidden : matcher.test(entry.name)))
        found.push(`${shown}${entry.name}`);
    } else if (isLast && (matcher === null ? !isHidden : matcher.test(entry.name))) {
      const isFile = entry.isSymbolicLink() ? isFileAt(path) : entry.isFile();
      if (isFile) found.push(`${shown}${entry.name}`);
    } else if (!isLast && matcher?.test(entry.name) && entry.isSymbolicLink())
      walk(`${shown}${entry.name}/`, path, matchers, depth + 1, found, folders);
  }
}

function isFileAt(path: string): boolean {
  return nodeBuiltin('node:fs').statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

// What sets may hold by name, as those of fnmatch.
const CLASSES: Readonly<Record<string, string>> = {
  alpha: '\\p{L}',
  alnum: '\\p{L}\\p{N}',
  digit: '0-9',
  upper: '\\p{Lu}',
  lower: '\\p{Ll}',
  space: '\\s',
  blank: ' \\t',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
};

/** The set that begins at `[`, and where it ends: a `]` at its beginning is one of its characters, as is what stands behind a \\. */
function setAt(part: string, begin: number, what: string): { readonly source: string; readonly end: number } {
  let at = begin + 1;
  let source = '[';
  if (part[at] === '!' || part[at] === '^') {
    source += '^';
    at++;
  }
  for (const first = at; at === first || part[at] !== ']'; at++) {
    const name = /^\[:(\w+):\]/.exec(part.slice(at))?.[1] ?? '';
    if (Object.hasOwn(CLASSES, name)) {
      source += CLASSES[name];
      at += name.length + 3;
      continue;
    }
    const isPlain = part[at] === '\\' && at + 1 < part.length;
    if (isPlain) at++;
    if (at >= part.length) throw new InvalidArgumentError(`the pattern ${part} has a [ without its ]`, what);
    const c = part[at] as string;
    source += /[\\\][^]/.test(c) || (isPlain && c === '-') ? `\\${c}` : c;
  }
  return { source: `${source}]`, end: at };
}

/** One part of a pattern as a regular expression. As in TensorFlow a leading dot is a character like others. */
function expression(part: string, what: string): RegExp {
  let source = '^';
  let depth = 0;
  for (let i = 0; i < part.length; i++) {
    const c = part[i];
    if (c === '\\' && i + 1 < part.length)
      source += (part[++i] as string).replace(/[.+^$()|\\\]{}[*?]/g, '\\$&');
    else if (c === '*') source += '[^/]*';
    else if (c === '?') source += '[^/]';
    else if (c === '{') {
      depth++;
      source += '(?:';
    } else if (c === '}' && depth > 0) {
      depth--;
      source += ')';
    } else if (c === ',' && depth > 0) source += '|';
    else if (c === '[') {
      const set = setAt(part, i, what);
      source += set.source;
      i = set.end;
    } else source += c.replace(/[.+^$()|\\\]}]/g, '\\$&');
  }
  if (depth > 0) throw new InvalidArgumentError(`the pattern ${part} has a { without its }`, what);
  try {
    return new RegExp(`${source}$`, 'u');
  } catch (cause) {
    throw new InvalidArgumentError(`the pattern ${part} is not valid`, what, { cause });
  }
}
