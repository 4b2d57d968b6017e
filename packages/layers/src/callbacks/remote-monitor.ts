import { InvalidArgumentError } from '@eagre/core';
import {
  argumentsOf,
  flagOption,
  isPlain,
  type Option,
  orNull,
  setOptions,
  shown,
  takesOptions,
} from '@eagre/core/internal';
import { Callback, type Logs } from './callback.ts';
import { text } from './options.ts';

/** Options of `RemoteMonitor`. */
export interface RemoteMonitorOptions {
  /** The address of the server; `http://localhost:9000` unless given. */
  readonly root?: string;
  /** Where on the server; `/publish/epoch/end/` unless given. */
  readonly path?: string;
  /** The field of the form that holds the numbers as JSON; `data` unless given. */
  readonly field?: string;
  /** Further headers of each request. */
  readonly headers?: Readonly<Record<string, string>> | null;
  /** Send JSON, `application/json`, and not a form. */
  readonly sendAsJson?: boolean;
}

/**
 * Sends the numbers of each epoch, and `epoch`, its number from 0, to a server with a POST request. A server that cannot be reached gives
 * one warning.
 */
export class RemoteMonitor extends Callback {
  /** The address of the server. */
  declare readonly root: string;
  /** Where on the server. */
  declare readonly path: string;
  /** The field of the form that holds the numbers as JSON. */
  declare readonly field: string;
  /** Further headers of each request. */
  declare readonly headers: Readonly<Record<string, string>> | null;
  /** Send JSON, `application/json`, and not a form. */
  declare readonly sendAsJson: boolean;
  #warned = false;

  constructor(...args: [root?: string | RemoteMonitorOptions, options?: RemoteMonitorOptions]) {
    super();
    setOptions(this, argumentsOf<RemoteMonitorOptions>(RemoteMonitor, new.target, args));
  }

  override async onEpochEnd(epoch: number, logs: Logs): Promise<void> {
    const { root, path, field, sendAsJson } = this;
    const numbers = JSON.stringify({ epoch, ...logs });
    const type: Record<string, string> = sendAsJson ? { 'Content-Type': 'application/json' } : {};
    try {
      const response = await fetch(root + path, {
        method: 'POST',
        headers: { ...type, ...this.headers },
        body: sendAsJson ? numbers : new URLSearchParams({ [field]: numbers }),
      });
      await response.body?.cancel();
    } catch {
      if (this.#warned) return;
      this.#warned = true;
      console.warn(`RemoteMonitor: could not reach the server at ${root}`);
    }
  }
}
const headers: Option<Readonly<Record<string, string>>> = {
  read: (given) => {
    if (isPlain(given) && Object.values(given).every((value) => typeof value === 'string'))
      return given as Readonly<Record<string, string>>;
    throw new InvalidArgumentError(`headers must be text by name, got ${shown(given)}`, 'RemoteMonitor');
  },
};
takesOptions<RemoteMonitorOptions, RemoteMonitor>(
  {
    positional: ['root'],
    required: 0,
    options: {
      root: text('http://localhost:9000'),
      path: text('/publish/epoch/end/'),
      field: text('data'),
      headers: orNull(headers),
      sendAsJson: flagOption(false),
    },
  },
  RemoteMonitor,
);
