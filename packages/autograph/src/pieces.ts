// Code that is put together from parts of a source and new text, and its source map.
import { encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';

/** A part of the source. */
export interface Span {
  readonly start: number;
  readonly end: number;
}
/** Code whose new text stands for what begins at a place of the source, unless it stands for something in that. */
export interface Made {
  readonly at: number;
  readonly code: Code;
}
/** New text, a part of the source, or pieces of these. */
export type Piece = string | Span | Made | Code;
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
  for (let i = 0; i < strings.length; i++) {
    const text = strings[i];
    if (text !== undefined && text !== '') pieces.push(text);
    const part = parts[i];
    if (part !== undefined) pieces.push(part);
  }
  return pieces;
}

/** The same code, whose new text stands for what begins at `at`. */
export function madeFrom(at: number, code: Code): Code {
  return [{ at, code }];
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

/** The text of code, and where each word, and each thing between words, comes from: there debuggers stop and stack traces point. */
export function render(
  pieces: Code,
  source: string,
  lines: Lines,
  file: string,
): { readonly code: string; readonly map: SourceMap } {
  let out = '';
  let segments: SourceMapSegment[] = [];
  const mappings: SourceMapSegment[][] = [segments];
  let column = 0;
  const nextLine = (): void => {
    mappings.push((segments = []));
    column = 0;
  };
  const comesFrom = (line: number, from: number): void => {
    const last = segments[segments.length - 1];
    if (last?.[2] !== line || last[3] !== from) segments.push([column, 0, line, from]);
  };
  const make = (text: string, at: number | null): void => {
    out += text;
    for (let from = 0; from < text.length; ) {
      if (at !== null) {
        const place = lines.at(at);
        comesFrom(place.line, place.column);
      } else if (segments[segments.length - 1]?.length !== 1) segments.push([column]);
      const end = text.indexOf('\n', from);
      column += (end < 0 ? text.length : end) - from;
      if (end < 0) return;
      nextLine();
      from = end + 1;
    }
  };
  const copy = (start: number, end: number): void => {
    out += source.slice(start, end);
    let { line, column: from } = lines.at(start);
    let before = NEWLINE;
    for (let i = start; i < end; i++) {
      const c = source.charCodeAt(i);
      const kind = c < KINDS.length ? (KINDS[c] as number) : WORD;
      if (kind !== before && kind !== NEWLINE) comesFrom(line, from);
      before = kind;
      column++;
      from++;
      if (kind === NEWLINE) {
        nextLine();
        line++;
        from = 0;
      }
    }
  };
  const add = (piece: Piece, at: number | null): void => {
    if (typeof piece === 'string') make(piece, at);
    else if (isSpan(piece)) copy(piece.start, piece.end);
    else if ('code' in piece) add(piece.code, piece.at);
    else for (const inner of piece) add(inner, at);
  };
  add(pieces, null);
  return {
    code: out,
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

export function isSpan(piece: Piece): piece is Span {
  return typeof piece === 'object' && 'start' in piece;
}

const [NEWLINE, OTHER, WORD] = [0, 1, 2];
const KINDS: Uint8Array = Uint8Array.from({ length: 128 }, (_, c) =>
  c === 10 ? NEWLINE : /[\w$]/.test(String.fromCharCode(c)) ? WORD : OTHER,
);
