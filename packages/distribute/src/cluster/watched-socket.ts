// A connection between processes that have agreed, each of which notices when the other one is lost.
import type { Socket } from 'node:net';
import { nextLine, sendLine } from './lines.ts';

type Message = Readonly<Record<string, unknown>>;

/** What is told of the other end. */
export interface WatchedEvents {
  /** A message that is none of the watch itself. */
  readonly onMessage: (message: Message) => void;
  /** Once: the other end is lost. Not after `close`. */
  readonly onLost: (reason: string) => void;
}

/**
 * Messages, with signs of life between them. Silence is counted in signs of one's own that went out with nothing coming back, not by the clock: a process
 * that was busy for long gets to read what has come before it counts on. It does not keep the process alive, unless the socket does.
 */
export class WatchedSocket {
  readonly #socket: Socket;
  readonly #events: WatchedEvents;
  readonly #timer: NodeJS.Timeout;
  readonly #probes = new Map<number, (isAlive: boolean) => void>();
  #quiet = 0;
  #probe = 0;
  #isOpen = true;

  /** @param silence so many milliseconds without a sign of life mean that the other end is lost. */
  constructor(socket: Socket, silence: number, events: WatchedEvents) {
    this.#socket = socket;
    this.#events = events;
    const every = Math.min(500, Math.max(10, silence / 4));
    const most = Math.ceil(silence / every);
    this.#timer = setInterval(() => {
      if (this.#quiet++ >= most) this.#lose(`it has been silent for ${silence / 1000} s`);
      else sendLine(socket, { beat: 1 });
    }, every);
    this.#timer.unref();
    void this.#read();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }
  /** The address of the other end. */
  get remoteAddress(): string {
    return (this.#socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  }

  send(message: Message): void {
    if (this.#isOpen) sendLine(this.#socket, message);
  }
  /** Whether the other end answers now; waits until it does, or is lost. */
  probe(): Promise<boolean> {
    if (!this.#isOpen) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#probes.set(++this.#probe, resolve);
      sendLine(this.#socket, { probe: this.#probe });
    });
  }
  /** Ends the connection, behind what was sent. */
  close(): void {
    if (!this.#end()) return;
    this.#socket.end();
    // What the other end sends still must be read, or the system would take back what was sent.
    this.#socket.on('data', () => {}).resume();
    this.#socket.unref();
    setTimeout(() => this.#socket.destroy(), 5000).unref();
  }

  #end(): boolean {
    if (!this.#isOpen) return false;
    this.#isOpen = false;
    clearInterval(this.#timer);
    for (const resolve of this.#probes.values()) resolve(false);
    this.#probes.clear();
    return true;
  }
  #lose(reason: string): void {
    if (!this.#end()) return;
    this.#socket.destroy();
    this.#events.onLost(reason);
  }
  async #read(): Promise<void> {
    try {
      while (this.#isOpen) this.#receive(await nextLine(this.#socket, null));
    } catch (error) {
      this.#lose((error as Error).message);
    }
  }
  #receive(message: Message): void {
    if (!this.#isOpen) return;
    this.#quiet = 0;
    const { beat, probe, alive } = message;
    if (typeof probe === 'number') sendLine(this.#socket, { alive: probe });
    else if (typeof alive === 'number') {
      this.#probes.get(alive)?.(true);
      this.#probes.delete(alive);
    } else if (beat === undefined) this.#events.onMessage(message);
  }
}
