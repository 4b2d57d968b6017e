// How texts fall into parts, and how parts become n-grams.
import { InvalidArgumentError } from '@eagre/backend';
import { checkCount, checkText } from '../../arguments/checks.ts';
import { checkFlag } from '../../shapes/shape.ts';

const SPACES = /[ \t\n\v\f\r]+/;

/** The words of a text between spaces; behind `most` splits the rest is one. */
export function words(text: string, most: number): string[] {
  if (most === 0) return [text];
  let rest = text.replace(/^[ \t\n\v\f\r]+/, '');
  const out: string[] = [];
  while (rest !== '') {
    const space = SPACES.exec(rest);
    out.push(space === null ? rest : rest.slice(0, space.index));
    rest = space === null ? '' : rest.slice(space.index + space[0].length);
    if (most > 0 && out.length === most) return [...out, rest];
  }
  return out;
}

/** What stands between separators; behind `most` splits the rest is one. */
export function between(text: string, separator: string, most: number): string[] {
  const parts = text.split(separator);
  if (most < 0 || parts.length <= most) return parts;
  return [...parts.slice(0, most), parts.slice(most).join(separator)];
}

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

/** What becomes of a row of strings. */
export type StringRows = (row: readonly string[]) => readonly string[];

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
  const padded = (row: readonly string[], width: number): readonly string[] => {
    const n = padValues === null ? 0 : Math.min(paddingWidth ?? width - 1, width - 1);
    return [...new Array<string>(n).fill(pads[0]), ...row, ...new Array<string>(n).fill(pads[1])];
  };
  return (row) => {
    const out = widths.flatMap((width) => {
      const all = padded(row, width);
      return Array.from({ length: Math.max(0, all.length - width + 1) }, (_, i) =>
        all.slice(i, i + width).join(separator),
      );
    });
    if (!preserveShortSequences || out.length > 0 || row.length === 0) return out;
    return [padded(row, Math.min(...widths)).join(separator)];
  };
}
