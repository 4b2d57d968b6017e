// What lookups know: tokens in order, and how rare each is.
import { InvalidArgumentError } from '@eagre/core';
import { compareTexts } from '@eagre/core/internal';
import { show } from '../../layer/show.ts';

/** A string, or an integer. */
export type Token = string | bigint;

/** By their bytes. */
function compared(a: Token, b: Token): number {
  if (typeof a === 'bigint' || typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  return compareTexts(a, b);
}

/** How often tokens were seen, and in how many documents. */
export class TokenCounts {
  readonly #counts = new Map<Token, number>();
  readonly #documents = new Map<Token, number>();
  #total = 0;

  /** One document. */
  add(tokens: readonly Token[]): void {
    this.#total++;
    for (const token of tokens) this.#counts.set(token, (this.#counts.get(token) ?? 0) + 1);
    for (const token of new Set(tokens)) this.#documents.set(token, (this.#documents.get(token) ?? 0) + 1);
  }

  /** All but some, the most frequent first; of equally frequent ones the last in order. */
  ranked(without: readonly (Token | null)[]): Token[] {
    return [...this.#counts]
      .filter(([token]) => !without.includes(token))
      .sort(([a, n], [b, m]) => m - n || compared(b, a))
      .map(([token]) => token);
  }

  /** log(1 + documents / (1 + documents with the token)) */
  idf(token: Token): number {
    return Math.log(1 + this.#total / (1 + (this.#documents.get(token) ?? 0)));
  }
}

/** Tokens in the order of their indices, without masks and what stands for unknown ones. */
export class Vocabulary {
  readonly tokens: readonly Token[];
  readonly #index: ReadonlyMap<Token, number>;

  /** @throws InvalidArgumentError for tokens that repeat */
  constructor(tokens: readonly Token[], layer: string) {
    this.tokens = tokens;
    const index = new Map(tokens.map((token, i) => [token, i]));
    if (index.size !== tokens.length) {
      const repeated = tokens.filter((token, i) => index.get(token) !== i);
      throw new InvalidArgumentError(
        `the vocabulary has tokens twice: ${repeated.slice(0, 5).map(show).join(', ')}`,
        layer,
      );
    }
    this.#index = index;
  }

  /** Undefined for an unknown token. */
  indexOf(token: Token): number | undefined {
    return this.#index.get(token);
  }
}
