// Patterns of RE2 as regular expressions of JavaScript. What means the same is kept, what differs is written out, and the rest refused.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';

const PERL: Readonly<Record<string, string>> = { d: '0-9', s: '\\t\\n\\f\\r ', w: '0-9A-Za-z_' };
const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t ',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\\x07',
  f: '\\f',
  n: '\\n',
  r: '\\r',
  t: '\\t',
  v: '\\v',
};
const SYNTAX = /[\^$\\.*+?()[\]{}|/-]/;
const MOST_REPEATS = 1000;

interface Flags {
  readonly i: boolean;
  readonly m: boolean;
  readonly s: boolean;
  readonly u: boolean;
}

/** Reads a pattern of RE2 and writes one of JavaScript. */
class Translator {
  readonly #pattern: string;
  readonly #op: string;
  #at = 0;
  #out = '';
  #flags: Flags = { i: false, m: false, s: false, u: false };
  /** Of the whole pattern, where `(?i)` stands before everything. */
  ignoresCase = false;
  /** Where what a repetition would repeat begins in the output; -1 where there is nothing to repeat. */
  #repeatable = -1;

  constructor(pattern: string, op: string) {
    this.#pattern = pattern;
    this.#op = op;
  }

  translate(): string {
    const outer: { readonly flags: Flags; readonly start: number }[] = [];
    while (this.#at < this.#pattern.length) {
      const c = this.#next();
      if (c === '(') {
        const start = this.#out.length;
        const before = this.#flags;
        if (this.#opens()) outer.push({ flags: before, start });
      } else if (c === ')') {
        const group = outer.pop();
        if (group === undefined) throw this.#wrong('a ) without its (');
        this.#flags = group.flags;
        this.#out += ')';
        this.#repeatable = group.start;
      } else if (c === '|') {
        this.#out += '|';
        this.#repeatable = -1;
      } else this.#atom(c);
    }
    if (outer.length > 0) throw this.#wrong('a ( without its )');
    return this.#out;
  }

  #next(): string {
    const point = this.#pattern.codePointAt(this.#at) as number;
    const c = String.fromCodePoint(point);
    this.#at += c.length;
    return c;
  }
  #wrong(why: string): InvalidArgumentError {
    return new InvalidArgumentError(`the pattern '${this.#pattern}' is none of RE2: ${why}`, this.#op);
  }
  #lacks(what: string): UnimplementedError {
    return new UnimplementedError(`${what} in the pattern '${this.#pattern}' cannot be done here`, this.#op);
  }
  /** Takes what matches here. */
  #take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#pattern);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  /** What follows a (: a group, true, or flags for the rest, false. */
  #opens(): boolean {
    this.#repeatable = -1;
    if (this.#take(/\?P?<([A-Za-z_]\w*)>/y) !== null || this.#pattern[this.#at] !== '?') {
      this.#out += '(';
      return true;
    }
    const found = this.#take(/\?([imsU]*)(?:-([imsU]+))?([:)])/y);
    if (found === null || (found[3] === ')' && found[0].length === 2))
      throw this.#wrong('it has no look-around, and no such flags');
    const first = this.#at === found[0].length + 1;
    const has = (flag: string, old: boolean): boolean =>
      found[2]?.includes(flag) ? false : found[1].includes(flag) || old;
    const { i, m, s, u } = this.#flags;
    this.#flags = { i: has('i', i), m: has('m', m), s: has('s', s), u: has('U', u) };
    if (this.#flags.i && first && found[3] === ')') this.ignoresCase = true;
    else if (this.#flags.i !== this.ignoresCase && found[2]?.includes('i') && this.ignoresCase)
      throw this.#lacks('a part that looks at the case of letters, where the rest does not,');
    if (found[3] === ')') return false;
    this.#out += '(?:';
    return true;
  }

  #atom(c: string): void {
    if (c === '*' || c === '+' || c === '?') {
      this.#repeats(c);
      return;
    }
    if (c === '{') {
      const found = this.#take(/(\d+)(?:(,)(\d*))?\}/y);
      if (found !== null) {
        const [whole, least, , most] = found as unknown as readonly (string | undefined)[];
        const counts = [Number(least), most ? Number(most) : Number(least)];
        if (counts.some((n) => n > MOST_REPEATS) || counts[0] > counts[1])
          throw this.#wrong(`the repetition {${whole} is not possible`);
        this.#repeats(`{${whole}`);
        return;
      }
    }
    const start = this.#out.length;
    this.#out += this.#single(c);
    this.#repeatable = start;
  }

  #repeats(text: string): void {
    if (this.#repeatable < 0) throw this.#wrong(`${text} has nothing to repeat`);
    const lazy = this.#pattern[this.#at] === '?';
    if (lazy) this.#at++;
    // An assertion may be repeated in RE2 alone.
    this.#out = `${this.#out.slice(0, this.#repeatable)}(?:${this.#out.slice(this.#repeatable)})${text}${lazy !== this.#flags.u ? '?' : ''}`;
    this.#repeatable = -1;
  }

  #single(c: string): string {
    if (c === '.') return this.#flags.s ? '[^]' : '[^\\n]';
    if (c === '^') return this.#flags.m ? '(?:^|(?<=\\n))' : '^';
    if (c === '$') return this.#flags.m ? '(?:$|(?=\\n))' : '$';
    if (c === '[') return this.#class();
    if (c === '\\') return this.#escape();
    return this.#literal(c);
  }

  #literal(c: string): string {
    const plain = SYNTAX.test(c) ? `\\${c}` : c;
    if (!this.#flags.i || this.ignoresCase) return plain;
    const [small, large] = [c.toLowerCase(), c.toUpperCase()];
    if (small === large) return plain;
    if (small.length !== c.length || large.length !== c.length)
      throw this.#lacks(`the letter ${c} in a part without case`);
    return `[${small}${large}]`;
  }

  /** What follows a \ outside of classes. */
  #escape(): string {
    if (this.#take(/Q/y) !== null) {
      const end = this.#pattern.indexOf('\\E', this.#at);
      const text = this.#pattern.slice(this.#at, end < 0 ? undefined : end);
      this.#at = end < 0 ? this.#pattern.length : end + 2;
      return [...text].map((c) => this.#literal(c)).join('');
    }
    const found = this.#take(/[AzbBCE]/y);
    if (found === null) return this.#set() ?? this.#character();
    switch (found[0]) {
      case 'A':
        return '^';
      case 'z':
        return '$';
      case 'C':
        throw this.#lacks('\\C, a byte,');
      case 'E':
        return '';
      default:
        // Words are of ASCII, also where case does not matter.
        return found[0] === 'b'
          ? '(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))'
          : '(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))';
    }
  }

  /** A class such as \d or \pL, as one of JavaScript; null where none is. */
  #set(): string | null {
    const perl = this.#take(/[dswDSW]/y);
    if (perl !== null) {
      const [name] = perl;
      const set = PERL[name.toLowerCase()] as string;
      return name === name.toLowerCase() ? `[${set}]` : `[^${set}]`;
    }
    const unicode = this.#take(/([pP])(?:\{(\^?)(\w+)\}|([A-Z]))/y);
    if (unicode === null) return null;
    const [, letter, hat, long, short] = unicode as unknown as readonly [
      string,
      string,
      string,
      string?,
      string?,
    ];
    return this.#unicodeClass(long ?? (short as string), (letter === 'P') !== (hat === '^'));
  }
  #unicodeClass(name: string, negated: boolean): string {
    if (name === 'Any') return negated ? '[]' : '[^]';
    const property = /^[A-Z][a-z]?$/.test(name) ? name : `Script=${name}`;
    try {
      new RegExp(`\\p{${property}}`, 'u');
    } catch {
      throw this.#wrong(`there are no letters of the kind '${name}'`);
    }
    return `\\${negated ? 'P' : 'p'}{${property}}`;
  }

  /** What follows a \ and stands for one character. */
  #character(): string {
    const named = this.#take(/[afnrtv]/y);
    if (named !== null) return ESCAPES[named[0]] as string;
    const hex = this.#take(/x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/y);
    if (hex !== null) return this.#point(Number.parseInt(hex[1] ?? (hex[2] as string), 16));
    const octal = this.#take(/0[0-7]{0,2}|[1-7][0-7]{1,2}/y);
    if (octal !== null) return this.#point(Number.parseInt(octal[0], 8));
    const other = this.#take(/[^0-9A-Za-z]/uy);
    if (other === null) throw this.#wrong(`the escape \\${this.#pattern[this.#at] ?? ''} means nothing`);
    return this.#literal(other[0]);
  }
  #point(point: number): string {
    if (point > 0x10ffff) throw this.#wrong('a code point is at most 10FFFF');
    return `\\u{${point.toString(16)}}`;
  }

  /** What follows a [. */
  #class(): string {
    const negated = this.#take(/\^/y) !== null;
    const parts: string[] = [];
    for (let first = true; first || this.#pattern[this.#at] !== ']'; first = false) {
      if (this.#at >= this.#pattern.length) throw this.#wrong('a [ without its ]');
      parts.push(this.#classPart(first));
    }
    this.#at++;
    if (this.#flags.i && !this.ignoresCase) throw this.#lacks('a class in a part without case');
    return `[${negated ? '^' : ''}${parts.join('')}]`;
  }
  #classPart(first: boolean): string {
    const posix = this.#take(/\[:(\^?)(\w+):\]/y);
    if (posix !== null) {
      const set = POSIX[posix[2]];
      if (set === undefined) throw this.#wrong(`there is no class ${posix[0]}`);
      return posix[1] === '^' ? complement(set) : set;
    }
    const inside = this.#at;
    if (this.#take(/\\/y) !== null) {
      const set = this.#set();
      if (set !== null) return inClass(set);
      this.#at = inside;
    }
    const low = this.#bound();
    if (
      this.#pattern[this.#at] === '-' &&
      this.#pattern[this.#at + 1] !== ']' &&
      this.#at + 1 < this.#pattern.length
    ) {
      this.#at++;
      const high = this.#bound();
      if (valueOf(low) > valueOf(high)) throw this.#wrong(`the range ${low}-${high} is empty`);
      return `${low}-${high}`;
    }
    if (
      low === '\\-' &&
      !first &&
      this.#pattern[this.#at - 1] === '-' &&
      this.#pattern[this.#at - 2] !== '\\'
    ) {
      // A bare - stands at an end.
      if (this.#pattern[this.#at] !== ']') throw this.#wrong('a - in a class stands first or last');
    }
    return low;
  }
  /** One character of a class. */
  #bound(): string {
    const c = this.#next();
    if (c === '\\') {
      const { i } = this.#flags;
      this.#flags = { ...this.#flags, i: false };
      const character = this.#character();
      this.#flags = { ...this.#flags, i };
      return character;
    }
    return SYNTAX.test(c) ? `\\${c}` : c;
  }
}

/** The code point of a character as it is written in a class. */
function valueOf(written: string): number {
  const hex = /^\\(?:u\{(\w+)\}|x(\w+))$/.exec(written);
  if (hex !== null) return Number.parseInt(hex[1] ?? (hex[2] as string), 16);
  const named = { '\\f': 12, '\\n': 10, '\\r': 13, '\\t': 9, '\\v': 11 } as Record<string, number>;
  return named[written] ?? (written.replace(/^\\/, '').codePointAt(0) as number);
}

/** A class as a part of another one. */
function inClass(set: string): string {
  if (set === '[]') return '';
  if (set === '[^]') return '\\u{0}-\\u{10ffff}';
  if (set.startsWith('[^')) return complement(set.slice(2, -1));
  return set.startsWith('[') ? set.slice(1, -1) : set;
}

/** All but these characters of ASCII. */
function complement(set: string): string {
  const inside = new RegExp(`[${set}]`);
  let out = '';
  for (let c = 0; c < 128; c++) {
    if (!inside.test(String.fromCharCode(c))) out += `\\x${c.toString(16).padStart(2, '0')}`;
  }
  return `${out}\\u{80}-\\u{10ffff}`;
}

/** The expression of a pattern of RE2. `whole` ones match texts from end to end, the others find all matches. */
export function expressionOf(pattern: string, whole: boolean, op: string): RegExp {
  const translator = new Translator(pattern, op);
  const body = translator.translate();
  const flags = `${whole ? '' : 'g'}u${translator.ignoresCase ? 'i' : ''}`;
  try {
    return new RegExp(whole ? `^(?:${body})$` : body, flags);
  } catch (cause) {
    throw new InvalidArgumentError(
      `the pattern '${pattern}' cannot be used: ${(cause as Error).message}`,
      op,
      { cause },
    );
  }
}

/** Whether whole texts match a pattern of RE2. */
export function matcher(pattern: string, op: string): (text: string) => boolean {
  const expression = expressionOf(pattern, true, op);
  return (text) => expression.test(text);
}

/**
 * Replaces what matches a pattern of RE2, once or everywhere. In `rewrite`, \1 to \9 are the groups and \0 all that matched.
 * @throws InvalidArgumentError for a rewrite that RE2 does not take
 */
export function replacer(
  pattern: string,
  rewrite: string,
  everywhere: boolean,
  op: string,
): (text: string) => string {
  const expression = expressionOf(pattern, false, op);
  const groups = (new RegExp(`${expression.source}|`, 'u').exec('') as RegExpExecArray).length - 1;
  const parts = rewriteParts(rewrite, groups);
  if (parts === null)
    throw new InvalidArgumentError(
      `the rewrite '${rewrite}' is none for the pattern '${pattern}': it has ${groups} groups, and \\ is written \\\\`,
      op,
    );
  if (!everywhere || neverEmpty(pattern)) {
    const platform = everywhere
      ? expression
      : new RegExp(expression.source, expression.flags.replace('g', ''));
    const by = parts.map((part) =>
      typeof part === 'string' ? part.replace('$', '$$$$') : part === 0 ? '$&' : `$0${part}`,
    );
    const replacement = by.join('');
    return (text) => text.replace(platform, replacement);
  }
  return (text) => {
    let out = '';
    let from = 0;
    let lastEnd = -1;
    expression.lastIndex = 0;
    for (let found = expression.exec(text); found !== null; found = expression.exec(text)) {
      const [match] = found;
      const end = found.index + match.length;
      // Nothing is found again where the match before ended.
      if (match !== '' || found.index !== lastEnd) {
        out += text.slice(from, found.index);
        out += parts.map((part) => (typeof part === 'string' ? part : (found?.[part] ?? ''))).join('');
        from = end;
        lastEnd = end;
        if (!everywhere) break;
      }
      if (match === '') expression.lastIndex = end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1);
    }
    return out + text.slice(from);
  };
}

/**
 * Whether it is plain that a pattern matches no empty text, or only once: JavaScript finds those also where a match ends. A pattern without
 * alternatives matches none if its first character must be there, and one that begins at the start of the text matches once.
 */
function neverEmpty(pattern: string): boolean {
  if (/\(\?/.test(pattern)) return false;
  const plain = pattern
    .replace(/\\(?:[^\d\w]|[dswDSW])/g, 'a')
    .replace(/\[\^?\]?(?:\[:\^?\w+:\]|[^\]\\]|\\.)*\]/g, 'a');
  return /^[\^\w\s.,;:!"#%&'<>=@`~/-](?![*?{])[^|]*$/.test(plain);
}

/** A rewrite as texts and numbers of groups; null for what is none. */
function rewriteParts(rewrite: string, groups: number): (string | number)[] | null {
  const parts: (string | number)[] = [];
  for (let i = 0; i < rewrite.length; i++) {
    const c = rewrite[i];
    if (c !== '\\') {
      parts.push(c);
      continue;
    }
    const next = rewrite[++i];
    if (next === '\\') parts.push('\\');
    else if (next !== undefined && /\d/.test(next) && Number(next) <= groups) parts.push(Number(next));
    else return null;
  }
  return parts;
}
