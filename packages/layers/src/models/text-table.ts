// Tables of text in boxes, as the library `rich` draws them for Keras.

export interface Column {
  readonly title: string;
  readonly align: 'left' | 'right' | 'center';
  /** Of the text in it. */
  readonly width: number;
}

/** The lines of a table. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const rule = (left: string, fill: string, between: string, right: string): string =>
    left + columns.map(({ width }) => fill.repeat(width + 2)).join(between) + right;
  const drawn = (cells: readonly string[], edge: string): string[] => {
    const wrapped = cells.map((cell, i) => wrap(cell, columns[i].width));
    const height = Math.max(...wrapped.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) => {
      const texts = columns.map(
        ({ align, width }, i) => ` ${aligned(wrapped[i][line] ?? '', align, width)} `,
      );
      return edge + texts.join(edge) + edge;
    });
  };
  const body = rows.flatMap((row, i) => [...(i === 0 ? [] : [rule('├', '─', '┼', '┤')]), ...drawn(row, '│')]);
  return [
    rule('┏', '━', '┳', '┓'),
    ...drawn(
      columns.map(({ title }) => title),
      '┃',
    ),
    rule('┡', '━', '╇', '┩'),
    ...body,
    rule('└', '─', '┴', '┘'),
  ];
}

/** Widths that make a table of columns as wide as that: what is too much goes from all of them. */
export function fittedWidths(widths: readonly number[], total: number): number[] {
  // Two spaces for each, and the lines between and around.
  let excess = widths.reduce((sum, width) => sum + width + 2, 0) - (total - widths.length - 1);
  return widths.map((width, i) => {
    const share = Math.min(width + 2, halfToEven(excess / (widths.length - i)));
    excess -= share;
    return Math.max(1, width - share);
  });
}

function halfToEven(x: number): number {
  const near = Math.round(x);
  return near - x === 0.5 && near % 2 !== 0 ? near - 1 : near;
}

function aligned(text: string, align: Column['align'], width: number): string {
  if (align === 'left') return text.padEnd(width);
  if (align === 'right') return text.padStart(width);
  const left = Math.floor((width - text.length) / 2);
  return `${' '.repeat(Math.max(0, left))}${text}`.padEnd(width);
}

/** The words of a text in lines; one that is too long is cut. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.match(/\s*\S+\s*/g) ?? ['']) {
    if (line !== '' && (line + word).trimEnd().length > width) {
      lines.push(line);
      line = '';
    }
    line += word;
  }
  return [...lines, line]
    .map((one) => one.trimEnd())
    .map((one) => (one.length > width ? `${one.slice(0, width - 1)}…` : one));
}
