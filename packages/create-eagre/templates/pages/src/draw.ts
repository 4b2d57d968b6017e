/** The colours of the arms: red, green and blue. */
const COLOURS: readonly (readonly [number, number, number])[] = [
  [0, 114, 178],
  [213, 94, 0],
  [0, 158, 115],
];
/** How many places in a row and a column the plane is asked at. */
export const GRID = 60;

/** The places of a grid over the plane from -1.2 to 1.2, row by row from the top. */
export function places(): number[][] {
  const at = (i: number): number => -1.2 + (2.4 * (i + 0.5)) / GRID;
  return Array.from({ length: GRID * GRID }, (_, i) => [at(i % GRID), -at(Math.floor(i / GRID))]);
}

/**
 * Draws what the model takes each place for, and the points over it.
 *
 * @param likely for each place, how likely each arm is
 */
export function draw(
  canvas: HTMLCanvasElement,
  likely: readonly (readonly number[])[],
  points: readonly (readonly number[])[],
  labels: readonly number[],
): void {
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const size = canvas.width / GRID;
  likely.forEach((row, i) => {
    const mixed = [0, 1, 2].map((part) =>
      row.reduce((sum, p, arm) => sum + p * (160 + 0.37 * (COLOURS[arm]?.[part] ?? 0)), 0),
    );
    context.fillStyle = `rgb(${mixed.map(Math.round).join(' ')})`;
    context.fillRect((i % GRID) * size, Math.floor(i / GRID) * size, size + 1, size + 1);
  });
  points.forEach(([x = 0, y = 0], i) => {
    context.fillStyle = `rgb(${(COLOURS[labels[i] as number] ?? [0, 0, 0]).join(' ')})`;
    context.beginPath();
    context.arc(((x + 1.2) / 2.4) * canvas.width, ((1.2 - y) / 2.4) * canvas.height, 2, 0, 2 * Math.PI);
    context.fill();
  });
}
