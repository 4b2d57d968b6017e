import { InvalidArgumentError } from '@eagre/backend';
import { type Arguments, argumentsOf, takesArguments } from '@eagre/core/internal';
import type { Element } from '../elements/structure.ts';
import { Dataset } from '../pipeline/dataset.ts';
import { type Awaitable, after } from '../pipeline/iterator.ts';
import { checkFileOptions, FileBytes, type FileOptions } from './file-bytes.ts';
import { type ElementReader, type FileNames, FilesNode, namesNode } from './files-node.ts';
import { decodeText, LineSplitter } from './readers.ts';
import { type CheckedElement, type RecordOptions, recordElement } from './schema.ts';

/** Options of {@link JsonLinesDataset}. */
export interface JsonLinesOptions<Output> extends FileOptions, RecordOptions<Output> {}

/**
 * The lines of files, each a JSON value that becomes an element: `{"text": "a", "label": 1}` is `{ text, label }`. Empty lines
 * are left out.
 *
 * Iterating throws InvalidArgumentError, with file and line, for what is no JSON, what the schema refuses, and what is
 * no element (null); NotFoundError for a file that is not there. With an asynchronous schema, `for await` is needed.
 */
export class JsonLinesDataset<Output = Element> extends Dataset<CheckedElement<Output>> {
  constructor(...args: Arguments<[filenames: FileNames], ['filenames'], JsonLinesOptions<Output>>) {
    const { filenames, ...options } = argumentsOf<JsonArguments<Output>>(JsonLinesDataset, new.target, args);
    const what = 'JsonLinesDataset';
    const files = checkFileOptions(options, what);
    const make = recordElement(options, what);
    const open = (path: string, at: number): JsonReader =>
      new JsonReader(new FileBytes(path, files, at, what), at, make);
    const spec = options.elementSpec ?? null;
    // What a schema returns may be held elsewhere.
    const isFresh = options.schema === undefined;
    const names = namesNode(filenames, what);
    super(new FilesNode('JsonLines', names, spec, open, files.numParallelReads, undefined, isFresh));
  }
}

interface JsonArguments<Output> extends JsonLinesOptions<Output> {
  readonly filenames: FileNames;
}
takesArguments<JsonArguments<unknown>>(
  {
    positional: ['filenames'],
    names: {
      filenames: true,
      compressionType: true,
      bufferSize: true,
      numParallelReads: true,
      schema: true,
      elementSpec: true,
    },
  },
  JsonLinesDataset,
);

class JsonReader implements ElementReader {
  readonly #lines: LineSplitter;
  readonly #element: (record: unknown, where: () => string) => Awaitable<Element>;
  readonly #fromStart: boolean;
  #line = 0;
  position: number;

  constructor(
    bytes: FileBytes,
    start: number,
    element: (record: unknown, where: () => string) => Awaitable<Element>,
  ) {
    this.#lines = new LineSplitter(bytes, start);
    this.#element = element;
    this.#fromStart = start === 0;
    this.position = start;
  }

  next(): Awaitable<Element | null> {
    for (;;) {
      const begin = this.#lines.position;
      const bytes = this.#lines.next();
      const end = this.#lines.position;
      if (bytes === null) return null;
      const line = ++this.#line;
      // After a restoration only the byte is known.
      const where = (): string =>
        `${this.#lines.path}, ${this.#fromStart ? `line ${line}` : `byte ${begin}`}`;
      const text = decodeText(bytes, where(), 'JsonLinesDataset').trim();
      if (text === '') continue;
      let record: unknown;
      try {
        record = JSON.parse(text);
      } catch (cause) {
        throw new InvalidArgumentError(`${where()}: ${(cause as Error).message}`, 'JsonLinesDataset', {
          cause,
        });
      }
      return after(this.#element(record, where), (element) => {
        // Not before the element is there: a restored reader checks the record again.
        this.position = end;
        return element;
      });
    }
  }

  close(): void {
    this.#lines.close();
  }
}
