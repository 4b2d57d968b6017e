// How texts fall into parts, and how parts become n-grams.
import { InvalidArgumentError } from '@eagre/backend';
import { checkCount, checkText } from '../../arguments/checks.ts';
import { checkFlag } from '../../shapes/shape.ts';
import { checkListSize } from '../../tensor/list-size.ts';
import type { Pieces } from './pieces.ts';

/** Whether a character stands between words. */
export const isSpace = (unit: number): boolean => unit <= 32 && (unit === 32 || (unit >= 9 && unit <= 13));

function afterSpaces(text: string, at: number): number {
  let i = at;
  while (i < text.length && isSpace(text.charCodeAt(i))) i++;
  return i;
}

/** Cuts a text into words between spaces; behind `most` splits the rest is one. */
export function cutWords(text: string, most: number, to: Pieces): void {
  const end = text.length;
  let at = 0;
  for (let count = 0; count !== most; count++) {
    at = afterSpaces(text, at);
    if (at === end) return;
    const start = at;
    while (at < end && !isSpace(text.charCodeAt(at))) at++;
    to.add(text, start, at);
  }
  to.add(text, most === 0 ? 0 : afterSpaces(text, at), end);
}

/** The words of a text between spaces; behind `most` splits the rest is one. */
export function words(text: string, most: number): string[] {
  const list: string[] = [];
  cutWords(text, most, { add: (_, start, end) => list.push(text.slice(start, end)) });
  return list;
}

/** Cuts a text into what stands between separators; behind `most` splits the rest is one. */
export function cutBetween(text: string, separator: string, most: number, to: Pieces): void {
  let start = 0;
  for (let count = 0; count !== most; count++) {
    const end = text.indexOf(separator, start);
    if (end < 0) break;
    to.add(text, start, end);
    start = end + separator.length;
  }
  to.add(text, start, text.length);
}

/** Options of `ngrams`. */
export interface NgramsOptions {
  /** What stands between the strings of an n-gram; a space by default. */
  readonly separator?: string;
  /** What stands before and behind each row: one string, or two. Without it rows are not padded. */
  readonly padValues?: string | readonly [left: string, right: string] | null;
  /** How often; one less than the n-gram's width by default, which is also the most. */
  readonly paddingWidth?: number | null;
  /** Whether rows that are too short for an n-gram are one themselves; false by default. */
  readonly preserveShortSequences?: boolean;
}

/** Appends what becomes of a row of strings, which are those from one on, up to another one. */
export type StringRows = (texts: readonly string[], from: number, to: number, out: string[]) => void;

/** Makes the n-grams of a row, see `ngrams`. */
export function ngramsOf(widths: readonly number[], options: NgramsOptions): StringRows {
  const op = 'StringNGrams';
  const { separator = ' ', padValues = null, paddingWidth = null, preserveShortSequences = false } = options;
  checkText(separator, 'separator', op);
  checkFlag(preserveShortSequences, 'preserveShortSequences', op);
  if (!Array.isArray(widths) || widths.length === 0)
    throw new InvalidArgumentError('ngramWidth must have a width', op);
  for (const width of widths) checkCount(width, 'a width', op, 1);
  if (paddingWidth !== null) {
    checkCount(paddingWidth, 'paddingWidth', op, 1);
    if (padValues === null) throw new InvalidArgumentError('paddingWidth needs padValues', op);
  }
  const pads: readonly string[] =
    padValues === null || typeof padValues === 'string' ? [padValues ?? '', padValues ?? ''] : padValues;
  if (pads.length !== 2) throw new InvalidArgumentError('padValues must be one string or two', op);
  for (const pad of pads) checkText(pad, 'padValues', op);
  const paddingOf = (width: number): number =>
    padValues === null ? 0 : Math.min(paddingWidth ?? width - 1, width - 1);
  /** The strings of a padded row, from a place on, as one. */
  const gram = (
    texts: readonly string[],
    from: number,
    to: number,
    padding: number,
    at: number,
    width: number,
  ) => {
    let text = '';
    for (let i = at; i < at + width; i++) {
      const k = from + i - padding;
      const part = k < from ? pads[0] : k < to ? texts[k] : pads[1];
      text = i === at ? part : text + separator + part;
    }
    return text;
  };
  return (texts, from, to, out) => {
    const before = out.length;
    for (const width of widths) {
      const padding = paddingOf(width);
      const grams = Math.max(0, to - from + 2 * padding - width + 1);
      checkListSize(grams * width, 'strings in the n-grams of a row', 'take narrower ones', op);
      for (let at = 0; at < grams; at++) out.push(gram(texts, from, to, padding, at, width));
    }
    if (!preserveShortSequences || out.length > before || to === from) return;
    const padding = paddingOf(Math.min(...widths));
    out.push(gram(texts, from, to, padding, 0, to - from + 2 * padding));
  };
}
