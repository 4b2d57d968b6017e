/** Columns of text, numbers to the right. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => plain(String(cell))))];
  const widths = head.map((_, i) => Math.max(...cells.map((row) => widthOf(row[i] ?? ''))));
  const right = head.map((_, i) => rows.length > 0 && rows.every((row) => typeof row[i] === 'number'));
  return cells
    .map((row) =>
      widths
        .map((width, i) => {
          const cell = row[i] ?? '';
          const room = ' '.repeat(width - widthOf(cell));
          return right[i] ? room + cell : cell + room;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Text that a terminal shows and does not obey: names in files may hold anything. */
export function plain(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The same for a text of several lines. In JSON the escapes mean the same signs. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n');
}

const signs = new Intl.Segmenter();
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60]|\p{Emoji_Presentation}/u;

/** The columns that a terminal takes for a text. */
function widthOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\u0000-\u007f]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of signs.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
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
