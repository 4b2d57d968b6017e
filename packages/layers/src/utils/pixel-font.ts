// Labels of pictures: letters of 3 × 5 places, whose neighbours are joined by strokes.

/** Rows from top to bottom, three bits each, the left place first. Small letters are drawn as capitals. */
const GLYPHS: Readonly<Record<string, readonly [number, number, number, number, number]>> = {
  A: [2, 5, 7, 5, 5],
  B: [6, 5, 6, 5, 6],
  C: [3, 4, 4, 4, 3],
  D: [6, 5, 5, 5, 6],
  E: [7, 4, 6, 4, 7],
  F: [7, 4, 6, 4, 4],
  G: [3, 4, 5, 5, 3],
  H: [5, 5, 7, 5, 5],
  I: [7, 2, 2, 2, 7],
  J: [1, 1, 1, 5, 2],
  K: [5, 5, 6, 5, 5],
  L: [4, 4, 4, 4, 7],
  M: [5, 7, 7, 5, 5],
  N: [6, 5, 5, 5, 5],
  O: [2, 5, 5, 5, 2],
  P: [6, 5, 6, 4, 4],
  Q: [2, 5, 5, 6, 3],
  R: [6, 5, 6, 5, 5],
  S: [3, 4, 2, 1, 6],
  T: [7, 2, 2, 2, 2],
  U: [5, 5, 5, 5, 7],
  V: [5, 5, 5, 5, 2],
  W: [5, 5, 7, 7, 5],
  X: [5, 5, 2, 5, 5],
  Y: [5, 5, 2, 2, 2],
  Z: [7, 1, 2, 4, 7],
  '0': [7, 5, 5, 5, 7],
  '1': [2, 6, 2, 2, 7],
  '2': [6, 1, 2, 4, 7],
  '3': [6, 1, 2, 1, 6],
  '4': [5, 5, 7, 1, 1],
  '5': [7, 4, 6, 1, 6],
  '6': [3, 4, 7, 5, 7],
  '7': [7, 1, 2, 2, 2],
  '8': [7, 5, 7, 5, 7],
  '9': [7, 5, 7, 1, 6],
  ' ': [0, 0, 0, 0, 0],
  '.': [0, 0, 0, 0, 2],
  ',': [0, 0, 0, 2, 4],
  ':': [0, 2, 0, 2, 0],
  '-': [0, 0, 7, 0, 0],
  _: [0, 0, 0, 0, 7],
  '+': [0, 2, 7, 2, 0],
  '=': [0, 7, 0, 7, 0],
  '/': [1, 1, 2, 4, 4],
  '|': [2, 2, 2, 2, 2],
  '%': [5, 1, 2, 4, 5],
  '(': [1, 2, 2, 2, 1],
  ')': [4, 2, 2, 2, 4],
  "'": [2, 2, 0, 0, 0],
  '#': [5, 7, 5, 7, 5],
  '!': [2, 2, 2, 0, 2],
  '?': [6, 1, 2, 0, 2],
};
// What is not in the table is a frame.
const OTHER: readonly number[] = [7, 5, 5, 5, 7];
const ROWS = 5;
const COLUMNS = 3;

/** A stroke from one place to another, in pixels from the left end of the base line, y down. */
export type Stroke = readonly [x1: number, y1: number, x2: number, y2: number];

/** The strokes of a text. @param step pixels between two places */
export function strokesOf(text: string, step: number): Stroke[] {
  const strokes: Stroke[] = [];
  [...text.toUpperCase()].forEach((letter, at) => {
    const rows = GLYPHS[letter] ?? OTHER;
    const lit = (row: number, column: number): boolean =>
      column >= 0 &&
      column < COLUMNS &&
      row < ROWS &&
      (((rows[row] ?? 0) >> (COLUMNS - 1 - column)) & 1) === 1;
    const join = (row: number, column: number, toRow: number, toColumn: number): void => {
      const place = (r: number, c: number): [number, number] => [
        (at * (COLUMNS + 1) + c) * step,
        (r - ROWS + 1) * step,
      ];
      strokes.push([...place(row, column), ...place(toRow, toColumn)]);
    };
    for (let row = 0; row < ROWS; row++) {
      for (let column = 0; column < COLUMNS; column++) {
        if (!lit(row, column)) continue;
        join(row, column, row, column);
        if (lit(row, column + 1)) join(row, column, row, column + 1);
        if (lit(row + 1, column)) join(row, column, row + 1, column);
        for (const side of [-1, 1])
          if (lit(row + 1, column + side) && !lit(row, column + side) && !lit(row + 1, column))
            join(row, column, row + 1, column + side);
      }
    }
  });
  return strokes;
}
