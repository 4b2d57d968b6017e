// What lookups know: tokens in order, and how rare each is.
import { InvalidArgumentError, type Tensor } from '@eagre/core';
import { compareTexts, type KeyIndex, keyIndexOf, tensorOfItems } from '@eagre/core/internal';
import { show } from '../../layer/show.ts';
import { type TokenIndex, tokenIndexOf } from './token-bytes.ts';

/** A string, or an integer. */
export type Token = string | bigint;

/** By their bytes. */
function compared(a: Token, b: Token): number {
  if (typeof a === 'bigint' || typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  return compareTexts(a, b);
}

interface Count {
  count: number;
  documents: number;
  /** The document that it was seen in last. */
  last: number;
}

/** How often tokens were seen, and in how many documents. */
export class TokenCounts {
  readonly #counts = new Map<Token, Count>();
  #total = 0;

  /** One document: the tokens from one on, up to another one. */
  add(tokens: readonly Token[], from = 0, to: number = tokens.length): void {
    this.#total++;
    for (let i = from; i < to; i++) this.#see(tokens[i] as Token);
  }
  #see(token: Token): void {
    const own = this.#counts.get(token);
    if (own === undefined) this.#counts.set(token, { count: 1, documents: 1, last: this.#total });
    else {
      own.count++;
      if (own.last !== this.#total) own.documents++;
      own.last = this.#total;
    }
  }
  /** Tokens of other documents. */
  merge(token: Token, count: number, documents: number): void {
    const own = this.#counts.get(token);
    if (own === undefined) this.#counts.set(token, { count, documents, last: 0 });
    else {
      own.count += count;
      own.documents += documents;
    }
  }
  /** Documents whose tokens are merged. */
  addDocuments(count: number): void {
    this.#total += count;
  }

  /** All but some, the most frequent first; of equally frequent ones the last in order. */
  ranked(without: readonly (Token | null)[]): Token[] {
    return [...this.#counts]
      .filter(([token]) => !without.includes(token))
      .sort(([a, n], [b, m]) => m.count - n.count || compared(b, a))
      .map(([token]) => token);
  }

  /** log(1 + documents / (1 + documents with the token)) */
  idf(token: Token): number {
    return Math.log(1 + this.#total / (1 + (this.#counts.get(token)?.documents ?? 0)));
  }
}

/** Tokens as a tensor. */
const tensorOf = (tokens: readonly Token[], integers: boolean): Tensor =>
  tensorOfItems(tokens, integers ? 'int64' : 'string', [tokens.length]);

/** Tokens in order. */
export class Vocabulary {
  readonly tokens: readonly Token[];
  readonly #numbers: KeyIndex;
  #byBytes: TokenIndex | null | undefined;

  /** @throws InvalidArgumentError for tokens that repeat */
  constructor(tokens: readonly Token[], layer: string) {
    this.tokens = tokens;
    const integers = typeof tokens[0] === 'bigint';
    this.#numbers = keyIndexOf(integers ? 'int64' : 'string');
    const numbers = this.#numbers.add(tensorOf(tokens, integers));
    if (this.#numbers.count === tokens.length) return;
    const repeated = tokens.filter((_, i) => numbers.indexOf(numbers[i] as number) < i);
    throw new InvalidArgumentError(
      `the vocabulary has tokens twice: ${repeated.slice(0, 5).map(show).join(', ')}`,
      layer,
    );
  }

  /** The same by the bytes of strings; null where those are not UTF-8. */
  get byBytes(): TokenIndex | null {
    if (this.#byBytes === undefined) this.#byBytes = tokenIndexOf(tensorOf(this.tokens, false));
    return this.#byBytes;
  }

  /** The place of each token of a tensor; -1 of unknown ones. */
  find(tokens: Tensor): Int32Array<ArrayBuffer> {
    if (this.tokens.length === 0) return new Int32Array(tokens.size).fill(-1);
    return this.#numbers.find(tokens);
  }
}
