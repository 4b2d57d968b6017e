// Code that is put together from parts of a source and new text, and its source map.
import { encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';

/** A part of the source. */
export interface Span {
  readonly start: number;
  readonly end: number;
}
/** New text that stands for what begins at a place of the source. */
export interface Made {
  readonly text: string;
  readonly at: number;
}
/** New text, or a part of the source. */
export type Piece = string | Made | Span;
export type Code = readonly Piece[];

/** A source map of version 3. */
export interface SourceMap {
  readonly version: 3;
  readonly file: string;
  readonly sources: string[];
  readonly sourcesContent: string[];
  readonly names: string[];
  readonly mappings: string;
}

/** Code with other code in its gaps. */
export function code(strings: TemplateStringsArray, ...parts: readonly (string | Code)[]): Code {
  const pieces: Piece[] = [];
  strings.forEach((text, i) => {
    if (text !== '') pieces.push(text);
    const part = parts[i];
    if (part === undefined) return;
    if (typeof part === 'string') pieces.push(part);
    else pieces.push(...part);
  });
  return pieces;
}

/** The same code, whose new text stands for what begins at `at`, unless it already stands for something in that. */
export function madeFrom(at: number, pieces: Code): Code {
  return pieces.map((piece) => (typeof piece === 'string' ? { text: piece, at } : piece));
}

/** Where the lines of a text begin. */
export class Lines {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  /** Line and column of a place in the text, from 0. */
  at(offset: number): { readonly line: number; readonly column: number } {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return { line: low, column: offset - (this.#starts[low] as number) };
  }
}

/** Lines, words, and what is between words: what a debugger stops at and a stack trace shows begins at one of these. */
const PARTS = /\n|[\p{ID_Continue}$]+|[^\p{ID_Continue}$\n]+/gu;

/** The text of code, and where each part of it comes from. */
export function render(
  pieces: Code,
  source: string,
  lines: Lines,
  file: string,
): { readonly code: string; readonly map: SourceMap } {
  const out: string[] = [];
  let segments: SourceMapSegment[] = [];
  const mappings: SourceMapSegment[][] = [segments];
  let column = 0;
  const comesFrom = (offset: number): void => {
    const { line, column: from } = lines.at(offset);
    const last = segments.at(-1);
    if (last?.[2] !== line || last[3] !== from) segments.push([column, 0, line, from]);
  };
  const comesFromNowhere = (): void => {
    if (segments.at(-1)?.length !== 1) segments.push([column]);
  };
  const put = (part: string): void => {
    out.push(part);
    column += part.length;
    if (part !== '\n') return;
    mappings.push((segments = []));
    column = 0;
  };
  for (const piece of pieces) {
    const span = typeof piece === 'object' && 'start' in piece;
    const text = typeof piece === 'string' ? piece : span ? source.slice(piece.start, piece.end) : piece.text;
    for (const { 0: part, index } of text.matchAll(span ? PARTS : /\n|[^\n]+/g)) {
      if (typeof piece === 'string') comesFromNowhere();
      else comesFrom(span ? piece.start + index : piece.at);
      put(part);
    }
  }
  return {
    code: out.join(''),
    map: {
      version: 3,
      file,
      sources: [file],
      sourcesContent: [source],
      names: [],
      mappings: encode(mappings),
    },
  };
}
