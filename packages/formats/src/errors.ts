/** What a {@link FormatError} says about the offending bytes. */
export interface FormatErrorDetails {
  /** The file format, e.g. `safetensors`. */
  format: string;
  /** The file's path or name, when the caller gave one. */
  file?: string | undefined;
  /** What is wrong and where, e.g. `tensor "w": offsets overlap`. */
  what: string;
  /** What a correct file holds there. */
  expected?: string | undefined;
  /** What this file holds there. */
  got?: string | undefined;
  /** The lower-level error, if any. */
  cause?: unknown;
}

/** Bytes that are not a correct file of their format, or a value that the format cannot hold. */
export class FormatError extends Error {
  override readonly name: string = 'FormatError';
  /** The file format, e.g. `safetensors`. */
  readonly format: string;
  /** The file's path or name, when the caller gave one. */
  readonly file: string | undefined;
  /** What is wrong and where, e.g. `tensor "w": offsets overlap`. */
  readonly what: string;
  /** What a correct file holds there. */
  readonly expected: string | undefined;
  /** What this file holds there. */
  readonly got: string | undefined;

  constructor(details: FormatErrorDetails) {
    const { format, file, what, expected, got, cause } = details;
    const contrast = [expected && `expected ${expected}`, got && `got ${got}`].filter(Boolean).join(', ');
    const message = `${file ?? `${format} data`}: ${what}${contrast ? `: ${contrast}` : ''}`;
    super(message, cause === undefined ? undefined : { cause });
    this.format = format;
    this.file = file;
    this.what = what;
    this.expected = expected;
    this.got = got;
  }
}

/** A correct file that holds something Eagre has no value for, such as complex numbers or pickled objects. */
export class UnsupportedFormatError extends FormatError {
  override readonly name: string = 'UnsupportedFormatError';
}

/** Makes the errors of one decoding run, which share the format and the file. */
export interface ErrorMaker {
  (what: string, expected?: string, got?: string | number, cause?: unknown): FormatError;
  unsupported(what: string, expected?: string, got?: string | number): UnsupportedFormatError;
}

/** An {@link ErrorMaker} for `format` and the file named `file`. */
export function errorsFor(format: string, file: string | undefined): ErrorMaker {
  const details = (
    what: string,
    expected?: string,
    got?: string | number,
    cause?: unknown,
  ): FormatErrorDetails => ({
    format,
    file,
    what,
    expected,
    got: got === undefined ? undefined : clip(String(got)),
    cause,
  });
  return Object.assign(
    (what: string, expected?: string, got?: string | number, cause?: unknown) =>
      new FormatError(details(what, expected, got, cause)),
    {
      unsupported: (what: string, expected?: string, got?: string | number) =>
        new UnsupportedFormatError(details(what, expected, got)),
    },
  );
}

/** Quotes a name out of a file for a message, without letting a hostile file flood the log. */
export function quote(text: string): string {
  return JSON.stringify(clip(text));
}

/** A value out of a file for a message. Plain `JSON.stringify` overflows the stack on deeply nested input. */
export function show(value: unknown): string {
  if (Array.isArray(value))
    return value.length <= 16 && value.every(isFlat) ? JSON.stringify(value) : 'another array';
  return typeof value === 'object' && value !== null ? 'an object' : String(JSON.stringify(value));
}

function isFlat(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function clip(text: string): string {
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
