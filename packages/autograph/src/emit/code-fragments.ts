// Code that is put together from parts of a source and new text, and its source map.

/** A part of the source; or code, whose new text stands for what begins at `start`, unless it stands for something in that. */
export interface Part {
  readonly start: number;
  readonly end: number;
  /** Null for the source's own text. */
  readonly code: Code | null;
}
/** New text, a part, or pieces of these. */
export type Piece = string | Part | Code;
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

/** The source's text from one place to another. */
export function span(start: number, end: number): Part {
  return { start, end, code: null };
}

/** The same code, whose new text stands for what begins at `at`. */
export function madeFrom(at: number, code: Code): Code {
  return code.length === 1 && typeof code[0] === 'object' ? code : [{ start: at, end: at, code }];
}

/** Where the lines of a text begin. */
export class Lines {
  readonly #starts: number[];

  /** @param ahead how much stands ahead of the text itself, in its first line. */
  constructor(text: string, ahead = 0) {
    this.#starts = [ahead];
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  /** Line and column of a place in the text, from 0. */
  at(offset: number): { readonly line: number; readonly column: number } {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return { line: low, column: offset - this.#starts[low] };
  }
}

const DIGITS: Uint8Array = new TextEncoder().encode(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
);
const [COMMA, SEMICOLON] = [44, 59];

/** The mappings of a source map, written as the code is. */
class Mappings {
  /** Where the code is in its line. */
  column = 0;
  #bytes = new Uint8Array(1 << 16);
  #length = 0;
  #written = 0;
  #line = 0;
  #from = 0;
  /** What the last place of the line comes from. */
  #last: 'start' | 'nowhere' | 'somewhere' = 'start';

  get text(): string {
    return new TextDecoder().decode(this.#bytes.subarray(0, this.#length));
  }

  nextLine(): void {
    this.#room();
    this.#bytes[this.#length++] = SEMICOLON;
    this.column = 0;
    this.#written = 0;
    this.#last = 'start';
  }

  comesFrom(line: number, column: number): void {
    if (this.#last === 'somewhere' && line === this.#line && column === this.#from) return;
    this.#begin('somewhere');
    this.#number(0);
    this.#number(line - this.#line);
    this.#number(column - this.#from);
    this.#line = line;
    this.#from = column;
  }

  comesFromNowhere(): void {
    if (this.#last !== 'nowhere') this.#begin('nowhere');
  }

  #begin(last: 'nowhere' | 'somewhere'): void {
    this.#room();
    if (this.#last !== 'start') this.#bytes[this.#length++] = COMMA;
    this.#number(this.column - this.#written);
    this.#written = this.column;
    this.#last = last;
  }

  /** For a comma and four numbers of seven digits. */
  #room(): void {
    if (this.#length + 32 < this.#bytes.length) return;
    const more = new Uint8Array(this.#bytes.length * 2);
    more.set(this.#bytes);
    this.#bytes = more;
  }

  /** Five bits in each digit, the lowest ones first, the sign as the lowest bit. */
  #number(value: number): void {
    let rest = value < 0 ? -value * 2 + 1 : value * 2;
    for (; rest >= 32; rest >>>= 5) this.#bytes[this.#length++] = DIGITS[(rest & 31) | 32];
    this.#bytes[this.#length++] = DIGITS[rest];
  }
}

/** The text of code, and where each word comes from: there debuggers stop and stack traces point. */
export function render(
  pieces: Code,
  source: string,
  lines: Lines,
  file: string,
): { readonly code: string; readonly map: SourceMap } {
  const out: string[] = [];
  const map = new Mappings();
  const make = (text: string, at: number | null): void => {
    out.push(text);
    for (let from = 0; from < text.length; ) {
      if (at !== null) {
        const place = lines.at(at);
        map.comesFrom(place.line, place.column);
      } else map.comesFromNowhere();
      const end = text.indexOf('\n', from);
      map.column += (end < 0 ? text.length : end) - from;
      if (end < 0) return;
      map.nextLine();
      from = end + 1;
    }
  };
  const words = new Words(source);
  const copy = (start: number, end: number): void => {
    out.push(source.slice(start, end));
    let { line, column: from } = lines.at(start);
    map.comesFrom(line, from);
    let at = start;
    for (let i = words.after(start); words.starts[i] < end; i++) {
      const next = words.starts[i];
      if (source.charCodeAt(next) === 10) {
        map.nextLine();
        line++;
        from = 0;
        at = next + 1;
        // A line begins with what is not space, so that it begins alike in every copy: debuggers ask for its first place.
        while (at < end && isSpace(source.charCodeAt(at))) at++;
        from = at - next - 1;
        map.column = from;
        if (at < end && at < words.starts[i + 1]) map.comesFrom(line, from);
        continue;
      }
      map.column += next - at;
      from += next - at;
      at = next;
      map.comesFrom(line, from);
    }
    map.column += end - at;
  };
  const add = (list: Code, at: number | null): void => {
    for (let i = 0; i < list.length; i++) {
      const piece = list[i];
      if (typeof piece === 'string') make(piece, at);
      else if (isList(piece)) add(piece, at);
      else if (piece.code === null) copy(piece.start, piece.end);
      else add(piece.code, piece.start);
    }
  };
  add(pieces, null);
  return {
    code: out.join(''),
    map: {
      version: 3,
      file,
      sources: [file],
      sourcesContent: [source],
      names: [],
      mappings: map.text,
    },
  };
}

const isList: (piece: Part | Code) => piece is Code = Array.isArray as never;

/** Where words begin and lines end in a text. */
class Words {
  readonly starts: number[] = [];

  constructor(text: string) {
    const word = /[\w$\u0080-\uffff]+|\n/g;
    for (let found = word.exec(text); found !== null; found = word.exec(text)) this.starts.push(found.index);
    this.starts.push(text.length);
  }

  /** The first one behind a place, or there. */
  after(place: number): number {
    let low = -1;
    let high = this.starts.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] < place) low = middle;
      else high = middle;
    }
    return high;
  }
}

/** A space, a tab, or what ends a line beside a newline. */
const isSpace = (c: number): boolean => c === 32 || c === 9 || c === 13;
