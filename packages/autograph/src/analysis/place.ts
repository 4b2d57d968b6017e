// Where an error stands, in the forms that tools show.
import type { AutographError } from '../errors.ts';

/** Where something stands in a file: lines count from 1, columns from 0. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export function placeOf(error: AutographError): Place | undefined {
  const parts = /^(.*):(\d+):(\d+)$/s.exec(error.site);
  if (parts === null) return undefined;
  return { file: parts[1], line: Number(parts[2]), column: Number(parts[3]) - 1 };
}

/** The line of a place, two before and one behind it, with an arrow below what is meant. */
export function codeFrame(source: string, { line, column }: Place): string {
  const lines = source.split(/\r?\n/);
  const first = Math.max(line - 3, 0);
  const width = String(line + 1).length;
  return lines
    .slice(first, line + 1)
    .flatMap((text, i) => {
      const number = first + i + 1;
      const shown = `${String(number).padStart(width)} | ${text}`;
      // Tabs stay tabs, so that the arrow stands where the text does.
      const indent = text.slice(0, column).replace(/[^\t]/g, ' ');
      return number === line ? [shown, `${' '.repeat(width)} | ${indent}^`] : [shown];
    })
    .join('\n');
}
