import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import { shown } from '../arguments/checks.ts';
import { isPlain } from '../arguments/plain.ts';
import { isComposite, type Printed } from '../composite/composite.ts';
import { atRunTime } from '../dispatch/host.ts';
import { show } from '../shapes/shape.ts';
import { toTensor } from './convert.ts';
import { summarizeTensor } from './summarize.ts';
import { Tensor } from './tensor.ts';
import { Variable } from './variable.ts';

/** What text can be written to: `process.stderr`, a stream of a file. */
export interface TextStream {
  write(text: string): unknown;
}

/** How `tf.print` prints. */
export interface PrintOptions {
  /** Where to: the console's `'stdout'` (unless given) or `'stderr'`, a file to append to, or a stream. */
  readonly outputStream?: 'stdout' | 'stderr' | `file://${string}` | TextStream;
  /** How many elements at both ends of each axis are shown; 3 unless given, -1 for all. */
  readonly summarize?: number;
  /** What stands between the values; a space unless given. */
  readonly sep?: string;
  /** What stands behind the last one; a line's end unless given. */
  readonly end?: string;
}

const optionNames: ReadonlySet<string> = new Set(['outputStream', 'summarize', 'sep', 'end']);

/**
 * Prints values, also those of tensors inside of `tf.function`, at each run. Tensors, ragged and sparse ones are printed as by TensorFlow, strings as they are,
 * and within arrays, objects and maps in quotes; other values as JavaScript writes them.
 *
 *     tf.print('loss:', tf.constant(1), { rate: 0.5, shape: [2, 3] }); // loss: 1 {'rate': 0.5, 'shape': [2, 3]}
 *     tf.print(tf.range(10)); // [0 1 2 ... 7 8 9]
 *     tf.print(tf.range(8), 'end', { summarize: -1, sep: ', ' }); // [0 1 2 3 4 5 6 7], end
 *
 * @param values what is printed. The last of several is taken for options (`PrintOptions`) if it is a plain object of nothing else.
 * @throws InvalidArgumentError for unfit options.
 */
export function print(...values: readonly unknown[]): void {
  const last = values.at(-1);
  const given = values.length > 1 && isOptions(last);
  const { summarize = 3, sep = ' ', end = '\n', outputStream = 'stdout' } = given ? check(last) : {};
  const template = new Template();
  const printed = given ? values.slice(0, -1) : values;
  printed.forEach((value, i) => {
    if (i > 0) template.text(sep);
    template.add(value, false);
  });
  const write = writer(outputStream);
  atRunTime('PrintV2', (...now) => write(template.fill(now, summarize) + end), template.tensors, []);
}

function isOptions(value: unknown): value is PrintOptions {
  if (!isPlain(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => optionNames.has(key));
}

function check(options: PrintOptions): PrintOptions {
  const { summarize = 3, sep = '', end = '' } = options;
  if (!Number.isInteger(summarize) || summarize < -1)
    throw new InvalidArgumentError(
      `summarize must be a count, or -1 for all, got ${shown(summarize)}`,
      'print',
    );
  for (const [name, text] of Object.entries({ sep, end }))
    if (typeof text !== 'string')
      throw new InvalidArgumentError(`${name} is a string, got ${typeof text}`, 'print');
  return options;
}

function writer(stream: NonNullable<PrintOptions['outputStream']>): (text: string) => void {
  if (typeof stream === 'object' && stream !== null && typeof stream.write === 'function')
    return (text) => void stream.write(text);
  if (typeof stream === 'string' && stream.startsWith('file://')) {
    const path = stream.slice('file://'.length);
    const fs = globalThis.process?.getBuiltinModule?.('node:fs');
    if (fs === undefined) throw new FailedPreconditionError('this runtime has no files to print to', 'print');
    return (text) => fs.appendFileSync(path, text);
  }
  if (stream !== 'stdout' && stream !== 'stderr') {
    throw new InvalidArgumentError(
      `outputStream must be 'stdout', 'stderr', 'file://<path>' or an object with write(text), got ${shown(stream)}`,
      'print',
    );
  }
  const log = stream === 'stdout' ? 'log' : 'error';
  return (text) => {
    // The console ends lines by itself; where there is nothing beside it, each piece is a line.
    if (text.endsWith('\n')) console[log](text.slice(0, -1));
    else if (globalThis.process?.[stream] !== undefined) globalThis.process[stream].write(text);
    else console[log](text);
  };
}

/** A text with places for tensors, whose values are known when it is filled. */
class Template {
  /** Those whose values come with each run. */
  readonly tensors: Tensor[] = [];
  readonly #parts: (string | ((now: readonly Tensor[], atEnds: number) => string))[] = [];
  readonly #open = new Set<object>();

  text(text: string): void {
    this.#parts.push(text);
  }

  /** What reads a tensor when the text is made. */
  #reader(tensor: Tensor): (now: readonly Tensor[]) => Tensor {
    // Strings are no part of graphs, but what is known can be printed.
    if (tensor.dtype === 'string' && tensor.backend.name !== 'symbolic') return () => tensor;
    const index = this.tensors.push(tensor) - 1;
    return (now) => now[index];
  }

  #printed({ tensors, text }: Printed): void {
    const readers = tensors.map((tensor) => this.#reader(tensor));
    this.#parts.push((now, atEnds) =>
      text(
        readers.map((read) => read(now)),
        atEnds,
      ),
    );
  }

  #tensor(of: Tensor): void {
    this.#printed({
      tensors: [of],
      text: ([tensor], atEnds) => {
        // A text alone is not quoted.
        const bare = this.#parts.length === 1 && tensor.dtype === 'string' && tensor.rank === 0;
        return bare ? tensor.item<string>() : summarizeTensor(tensor, atEnds);
      },
    });
  }

  fill(now: readonly Tensor[], summarize: number): string {
    return this.#parts.map((part) => (typeof part === 'string' ? part : part(now, summarize))).join('');
  }

  /** @param within whether it is part of an array or object, where strings are quoted. */
  add(value: unknown, within: boolean): void {
    if (value instanceof Tensor || value instanceof Variable) this.#tensor(toTensor(value));
    else if (isComposite(value) && value.printed !== null) this.#printed(value.printed);
    else if (typeof value === 'string') this.text(within ? quoted(value) : value);
    else if (Array.isArray(value)) {
      this.#list(value, '[', value, ']');
    } else if (ArrayBuffer.isView(value) && !(value instanceof DataView))
      this.#list(value, '[', value as unknown as Iterable<unknown>, ']');
    else if (value instanceof Set) this.#list(value, '{', value, '}');
    else if (value instanceof Map) this.#table(value, value);
    else if (isPlain(value))
      this.#table(
        value,
        Object.keys(value)
          .sort()
          .map((key) => [key, value[key]] as const),
      );
    else if (typeof value === 'object' && value !== null && value.toString === Object.prototype.toString)
      this.text(`<${value.constructor?.name ?? 'object'}>`);
    else this.text(show(value));
  }

  #list(owner: object, before: string, values: Iterable<unknown>, after: string): void {
    this.#within(owner, before, after, () => {
      let first = true;
      for (const value of values) {
        if (!first) this.text(', ');
        first = false;
        this.add(value, true);
      }
    });
  }

  #table(owner: object, entries: Iterable<readonly [unknown, unknown]>): void {
    this.#within(owner, '{', '}', () => {
      let first = true;
      for (const [key, value] of entries) {
        if (!first) this.text(', ');
        first = false;
        this.add(key, true);
        this.text(': ');
        this.add(value, true);
      }
    });
  }

  #within(owner: object, before: string, after: string, fill: () => void): void {
    this.text(before);
    if (this.#open.has(owner)) this.text('...');
    else {
      this.#open.add(owner);
      fill();
      this.#open.delete(owner);
    }
    this.text(after);
  }
}

/** In single quotes, or in double ones if only that saves escapes; as Python writes strings. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is to be shown otherwise
    .replace(/[\x00-\x1f\x7f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return quote + inner + quote;
}
