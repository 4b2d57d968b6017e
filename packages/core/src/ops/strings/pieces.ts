// Pieces of many texts: equal ones are one string, as words are few and strings many.
import { MAX_LIST } from '../../tensor/list-size.ts';

/** What takes pieces of texts. */
export interface Pieces {
  /** Takes the characters from `start` on, without the one at `end`. */
  add(text: string, start: number, end: number): void;
}

// Longer pieces are hardly ever equal.
const SHORT = 32;
const BITS = 12;

/**
 * A list of pieces. V8 takes longer to make and to move a million small strings than to read all of their characters, so a short piece that
 * was met lately is not made again.
 */
export class SharedPieces implements Pieces {
  count = 0;
  readonly #texts: string[] = [];
  /** Of each piece, its place among the texts. */
  #places = new Int32Array(1 << BITS);
  /** By hash: the place of the short text met last, and its characters. */
  readonly #last = new Int32Array(1 << BITS).fill(-1);
  readonly #characters = new Uint16Array(SHORT << BITS);
  readonly #piece = new Uint16Array(SHORT);

  add(text: string, start: number, end: number): void {
    this.push(end - start > SHORT ? this.make(text, start, end) : this.#short(text, start, end));
  }

  /** A new text, which is no piece yet. @returns its place among the texts. */
  make(text: string, start: number, end: number): number {
    return this.#texts.push(text.slice(start, end)) - 1;
  }

  /** Takes the text at a place. */
  push(place: number): void {
    if (this.count === this.#places.length) {
      const places = new Int32Array(2 * this.count);
      places.set(this.#places);
      this.#places = places;
    }
    this.#places[this.count++] = place;
  }

  #short(text: string, start: number, end: number): number {
    const piece = this.#piece;
    const size = end - start;
    let hash = size;
    for (let i = 0; i < size; i++) {
      const unit = text.charCodeAt(start + i);
      piece[i] = unit;
      hash = (Math.imul(hash, 31) + unit) | 0;
    }
    const slot = (hash ^ (hash >>> BITS)) & ((1 << BITS) - 1);
    const last = this.#last[slot];
    const characters = this.#characters;
    const at = slot * SHORT;
    if (last >= 0 && this.#texts[last].length === size) {
      let i = 0;
      while (i < size && characters[at + i] === piece[i]) i++;
      if (i === size) return last;
    }
    for (let i = 0; i < size; i++) characters[at + i] = piece[i];
    const place = this.make(text, start, end);
    this.#last[slot] = place;
    return place;
  }

  /** All pieces, in order. */
  list(): string[] {
    const { count } = this;
    const texts = this.#texts;
    const places = this.#places;
    // An array that need not grow is filled twice as fast.
    const all: string[] = count <= MAX_LIST ? new Array<string>(count) : [];
    for (let i = 0; i < count; i++) all[i] = texts[places[i]];
    return all;
  }
}
