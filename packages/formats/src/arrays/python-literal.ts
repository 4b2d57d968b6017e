/** A Python value as the headers of `.npy` files spell it; tuples and lists are both arrays, a dict is a Map. */
export type PythonLiteral = string | number | boolean | null | PythonLiteral[] | Map<string, PythonLiteral>;

const MAX_DEPTH = 32;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
};

/**
 * Parses a Python literal: strings, integers, booleans, None, tuples, lists and dicts with string keys.
 *
 * @throws SyntaxError that says what was expected where.
 */
export function parsePythonLiteral(text: string): PythonLiteral {
  const parser = new Parser(text);
  const value = parser.value(0);
  parser.end();
  return value;
}

class Parser {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): PythonLiteral {
    if (depth > MAX_DEPTH) throw this.#expected(`at most ${MAX_DEPTH} nested brackets`);
    this.#skipSpace();
    if (this.#take('{')) return this.#dict(depth);
    if (this.#take('(')) return this.#tuple(depth);
    if (this.#take('[')) return this.#items(']', depth).items;
    return this.#keyword() ?? this.#integer() ?? this.#string();
  }

  end(): void {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#expected('the end');
  }

  #dict(depth: number): Map<string, PythonLiteral> {
    const dict = new Map<string, PythonLiteral>();
    while (!this.#takeAfterSpace('}')) {
      const key = this.#string();
      if (dict.has(key))
        throw this.#expected(`another key than ${JSON.stringify(key)}, which is there already`);
      if (!this.#takeAfterSpace(':')) throw this.#expected('":"');
      dict.set(key, this.value(depth + 1));
      if (this.#takeAfterSpace(',')) continue;
      if (this.#takeAfterSpace('}')) break;
      throw this.#expected('"," or "}"');
    }
    return dict;
  }

  /** `(3)` is the number 3 in parentheses; `(3,)` is a tuple. */
  #tuple(depth: number): PythonLiteral {
    const { items, commas } = this.#items(')', depth);
    return items.length === 1 && commas === 0 ? items[0]! : items;
  }

  #items(close: string, depth: number): { items: PythonLiteral[]; commas: number } {
    const items: PythonLiteral[] = [];
    let commas = 0;
    while (!this.#takeAfterSpace(close)) {
      items.push(this.value(depth + 1));
      if (this.#takeAfterSpace(',')) commas++;
      else if (this.#takeAfterSpace(close)) break;
      else throw this.#expected(`"," or "${close}"`);
    }
    return { items, commas };
  }

  #keyword(): boolean | null | undefined {
    if (this.#take('True')) return true;
    if (this.#take('False')) return false;
    return this.#take('None') ? null : undefined;
  }

  #integer(): number | undefined {
    // Python 2 wrote long integers with an L.
    const digits = this.#match(/-?\d{1,20}/y);
    if (digits !== undefined) this.#take('L');
    return digits === undefined ? undefined : Number(digits);
  }

  #string(): string {
    this.#skipSpace();
    this.#match(/[uUbB](?=['"])/y);
    const quote = this.#match(/['"]/y);
    if (quote === undefined) throw this.#expected('a value');
    let value = '';
    while (!this.#take(quote)) {
      const char = this.#text[this.#at];
      if (char === undefined || char === '\n') throw this.#expected(`a closing ${quote}`);
      this.#at++;
      if (char !== '\\') {
        value += char;
        continue;
      }
      const escaped = ESCAPES[this.#text[this.#at] ?? ''];
      if (escaped === undefined) throw this.#expected('a simple escape');
      value += escaped;
      this.#at++;
    }
    return value;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  #takeAfterSpace(token: string): boolean {
    this.#skipSpace();
    return this.#take(token);
  }

  #skipSpace(): void {
    this.#match(/[ \t\r\n\f]*/y);
  }

  #expected(what: string): SyntaxError {
    return new SyntaxError(`expected ${what} at character ${this.#at}`);
  }
}
