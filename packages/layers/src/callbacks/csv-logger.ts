import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { Callback, type Logs } from './callback.ts';

export interface CSVLoggerOptions {
  readonly separator?: string;
  /** Continue an existing file instead of starting it anew. */
  readonly append?: boolean;
}

/** Writes the logs of each epoch as a row of a CSV file. */
export class CSVLogger extends Callback {
  readonly #path: string;
  readonly #separator: string;
  readonly #append: boolean;
  #columns: string[] | undefined;

  constructor(path: string, options: CSVLoggerOptions = {}) {
    super();
    this.#path = path;
    this.#separator = options.separator ?? ',';
    this.#append = options.append ?? false;
  }

  override async onTrainBegin(): Promise<void> {
    this.#columns = this.#append ? await this.#header() : undefined;
  }

  override async onEpochEnd(epoch: number, logs: Logs): Promise<void> {
    if (this.#columns === undefined) {
      this.#columns = ['epoch', ...Object.keys(logs)];
      await writeFile(this.#path, this.#row(this.#columns));
    }
    const values: Record<string, number> = { ...logs, epoch };
    await appendFile(this.#path, this.#row(this.#columns.map((name) => values[name] ?? 'NA')));
  }

  #row(cells: readonly (string | number)[]): string {
    return `${cells.map((c) => (/[",\n]/.test(String(c)) ? `"${String(c).replace(/"/g, '""')}"` : c)).join(this.#separator)}\n`;
  }

  async #header(): Promise<string[] | undefined> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    const first = text.split('\n', 1)[0] as string;
    return first === '' ? undefined : first.split(this.#separator);
  }
}
