/** Columns of text, numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, i) => Math.max(...cells.map((row) => (row[i] ?? '').length)));
  const right = head.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'));
  return cells
    .map((row) =>
      widths
        .map((width, i) => {
          const cell = row[i] ?? '';
          return right[i] ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `1.5 MB`, in powers of 1024. */
export function bytesText(bytes: number): string {
  let size = bytes;
  for (const unit of ['B', 'KB', 'MB', 'GB']) {
    if (size < 1024) return `${unit === 'B' ? size : size.toFixed(1)} ${unit}`;
    size /= 1024;
  }
  return `${size.toFixed(1)} TB`;
}
