import { fileError } from '@eagre/backend';
import { InvalidArgumentError } from '@eagre/core';
import { argumentsOf, flagOption, type Option, setOptions, shown, takesOptions } from '@eagre/core/internal';
import { makeFolders } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { Callback, type Logs } from './callback.ts';
import { path } from './options.ts';
import { pythonNumber } from './python-number.ts';

/** Options of `CSVLogger`. */
export interface CSVLoggerOptions {
  /** Between the values of a row; a comma by default. */
  readonly separator?: string;
  /** Continue an existing file instead of starting it anew. */
  readonly append?: boolean;
}

/** All arguments of `CSVLogger`, by name. */
export interface CSVLoggerArguments extends CSVLoggerOptions {
  /** Where the file is written. */
  readonly filename: string;
}

/** Writes the logs of each epoch as a row of a CSV file. */
export class CSVLogger extends Callback {
  /** Where the file is written. */
  declare readonly filename: string;
  /** Between the values of a row. */
  declare readonly separator: string;
  /** Continue an existing file instead of starting it anew. */
  declare readonly append: boolean;
  #columns: string[] | undefined;

  /** @throws InvalidArgumentError for unknown options. */
  constructor(...args: [filename: string | CSVLoggerArguments, options?: CSVLoggerOptions]) {
    super();
    setOptions(this, argumentsOf<CSVLoggerArguments>(CSVLogger, new.target, args));
  }

  override async onTrainBegin(): Promise<void> {
    const { writeFile } = nodeBuiltin('node:fs').promises;
    makeFolders(nodeBuiltin('node:path').dirname(this.filename));
    this.#columns = this.append ? await this.#header() : undefined;
    if (this.#columns === undefined) await this.#named(writeFile(this.filename, ''));
  }

  override async onEpochEnd(epoch: number, logs: Logs): Promise<void> {
    const values: Record<string, number> = { ...logs, epoch };
    let text = '';
    if (this.#columns === undefined) {
      this.#columns = ['epoch', ...columnsOf(logs)];
      text = this.#row(this.#columns);
    }
    const row = this.#row(this.#columns.map((name) => cellOf(name, values[name])));
    await this.#named(nodeBuiltin('node:fs').promises.appendFile(this.filename, text + row));
  }

  /** What an operation on the file gives, with errors that say what to do. */
  async #named<T>(operation: Promise<T>): Promise<T> {
    return operation.catch((cause: unknown) => {
      throw fileError(cause, this.filename, 'CSVLogger');
    });
  }

  #row(cells: readonly (string | number)[]): string {
    const quoted = cells.map((cell) => {
      const text = String(cell);
      const special = /["\r\n]/.test(text) || text.includes(this.separator);
      return special ? `"${text.replace(/"/g, '""')}"` : text;
    });
    return `${quoted.join(this.separator)}\n`;
  }

  /** The columns of the file there is. */
  async #header(): Promise<string[] | undefined> {
    const { readFile } = nodeBuiltin('node:fs').promises;
    const text = await this.#named(
      readFile(this.filename, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return '';
        throw error;
      }),
    );
    const first = text.split('\n', 1)[0].replace(/\r$/, '');
    return first === '' ? undefined : first.split(this.separator);
  }
}

/** Names in alphabetical order, as Keras has them; those of a validation that has not happened yet are added. */
function columnsOf(logs: Logs): string[] {
  const names = Object.keys(logs).sort();
  return names.some((n) => n.startsWith('val_')) ? names : [...names, ...names.map((n) => `val_${n}`)];
}
const separator: Option<string> = {
  read: (given = ',', name) => {
    if (typeof given === 'string' && given !== '') return given;
    throw new InvalidArgumentError(`${name} must be text, got ${shown(given)}`, 'CSVLogger');
  },
};
takesOptions<CSVLoggerArguments, CSVLogger>(
  { positional: ['filename'], options: { filename: path('the path'), separator, append: flagOption(false) } },
  CSVLogger,
);

function cellOf(column: string, value: number | undefined): string {
  if (value === undefined) return 'NA';
  return column === 'epoch' ? String(value) : pythonNumber(value);
}
