// Code that is put together from parts of a source and new text, and its source map.
import { encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';

/** A part of the source. */
export interface Span {
  readonly start: number;
  readonly end: number;
}
/** New text, or a part of the source. */
export type Piece = string | Span;
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

/** The text of code, and where each part of the source went. */
export function render(
  pieces: Code,
  source: string,
  lines: Lines,
  file: string,
): { readonly code: string; readonly map: SourceMap } {
  const out: string[] = [];
  const mappings: SourceMapSegment[][] = [[]];
  let column = 0;
  for (const piece of pieces) {
    const text = typeof piece === 'string' ? piece : source.slice(piece.start, piece.end);
    out.push(text);
    let from = 0;
    for (;;) {
      if (typeof piece !== 'string') {
        const place = lines.at(piece.start + from);
        (mappings.at(-1) as SourceMapSegment[]).push([column, 0, place.line, place.column]);
      }
      const end = text.indexOf('\n', from);
      if (end < 0) {
        column += text.length - from;
        break;
      }
      mappings.push([]);
      column = 0;
      from = end + 1;
      if (from === text.length) break;
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
