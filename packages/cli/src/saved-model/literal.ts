// Values that are written in a command: those of JSON and of Python's literals. Nothing is evaluated.

/** A value that was read. */
export type Literal =
  | number
  | bigint
  | string
  | boolean
  | null
  | readonly Literal[]
  | ReadonlyMap<string, Literal>;

// Deeper than any tensor.
const DEEPEST = 64;

/**
 * Reads a number, a text, a truth value, nothing, a list, a tuple or a dictionary: `[[1, 2.5], [3, -4e2]]`, `(True, False)`, `{'a': [1]}`.
 * @param bigints whether all integers are bigints, which tells 1 from 1.0; otherwise only large ones are.
 * @throws Error for any other text, with the place.
 */
export function readLiteral(text: string, { bigints = false }: { readonly bigints?: boolean } = {}): Literal {
  return new Reader(text, bigints).whole();
}

class Reader {
  readonly #text: string;
  readonly #bigints: boolean;
  #at = 0;

  constructor(text: string, bigints: boolean) {
    this.#text = text;
    this.#bigints = bigints;
  }

  whole(): Literal {
    const value = this.#value(0);
    this.#skip();
    if (this.#at < this.#text.length) this.#fail('the end');
    return value;
  }

  #value(depth: number): Literal {
    if (depth > DEEPEST) this.#fail('fewer brackets');
    this.#skip();
    const sign = this.#text[this.#at];
    if (sign === '[') return this.#items(']', depth).items;
    if (sign === '(') {
      const { items, commas } = this.#items(')', depth);
      // Brackets around one value are no tuple.
      return items.length === 1 && commas === 0 ? (items[0] as Literal) : items;
    }
    if (sign === '{') return this.#dictionary(depth);
    if (sign === '"' || sign === "'") return this.#string(sign);
    const word = /^[A-Za-z]+/.exec(this.#text.slice(this.#at))?.[0];
    if (word !== undefined && Object.hasOwn(WORDS, word)) {
      this.#at += word.length;
      return WORDS[word] as Literal;
    }
    return this.#number();
  }

  #items(end: string, depth: number): { readonly items: Literal[]; readonly commas: number } {
    this.#at++;
    const items: Literal[] = [];
    let commas = 0;
    for (;;) {
      this.#skip();
      if (this.#take(end)) return { items, commas };
      items.push(this.#value(depth + 1));
      this.#skip();
      if (this.#take(',')) commas++;
      else if (this.#text[this.#at] !== end) this.#fail(`, or ${end}`);
    }
  }

  #dictionary(depth: number): ReadonlyMap<string, Literal> {
    this.#at++;
    const entries = new Map<string, Literal>();
    for (;;) {
      this.#skip();
      if (this.#take('}')) return entries;
      const sign = this.#text[this.#at];
      if (sign !== '"' && sign !== "'") this.#fail('a text as the key');
      const key = this.#string(sign as string);
      this.#skip();
      if (!this.#take(':')) this.#fail(':');
      entries.set(key, this.#value(depth + 1));
      this.#skip();
      if (!this.#take(',') && this.#text[this.#at] !== '}') this.#fail(', or }');
    }
  }

  #string(quote: string): string {
    let text = '';
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text[this.#at] as string;
      if (sign === quote) {
        this.#at++;
        return text;
      }
      if (sign !== '\\') {
        text += sign;
        continue;
      }
      const unicode = /^\\(?:u([\da-fA-F]{4})|x([\da-fA-F]{2}))/.exec(this.#text.slice(this.#at));
      if (unicode !== null) {
        text += String.fromCharCode(Number.parseInt(unicode[1] ?? unicode[2] ?? '', 16));
        this.#at += unicode[0].length - 1;
        continue;
      }
      const escaped = this.#text[++this.#at] ?? '';
      text += ESCAPES[escaped] ?? escaped;
    }
    return this.#fail(quote);
  }

  #number(): number | bigint {
    const found = /^[+-]?(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)([eE][+-]?\d+)?/.exec(this.#text.slice(this.#at))?.[0];
    const infinite = /^[+-]?(Infinity|inf|NaN|nan)\b/.exec(this.#text.slice(this.#at))?.[0];
    if (infinite !== undefined) {
      this.#at += infinite.length;
      if (/nan/i.test(infinite)) return Number.NaN;
      return infinite.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    }
    if (found === undefined) return this.#fail('a number, a text, a list or a dictionary');
    this.#at += found.length;
    const digits = found.replaceAll('_', '');
    const value = Number(digits);
    const isInteger = /^[+-]?\d+$/.test(digits);
    return isInteger && (this.#bigints || !Number.isSafeInteger(value)) ? BigInt(digits) : value;
  }

  #take(sign: string): boolean {
    const found = this.#text[this.#at] === sign;
    if (found) this.#at++;
    return found;
  }

  #skip(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #fail(expected: string): never {
    const found = this.#text[this.#at];
    throw new Error(
      `'${this.#text}' is no value: expected ${expected} at place ${this.#at + 1}, found ${found === undefined ? 'the end' : `'${found}'`}`,
    );
  }
}

const WORDS: Readonly<Record<string, Literal>> = {
  True: true,
  true: true,
  False: false,
  false: false,
  None: null,
  null: null,
};
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', '0': '\0' };
