import { describeArguments } from './structure.ts';

// So many traces in as many calls are a mistake nearly always.
const SUSPICIOUS = 5;

/** Warns once of a function that is traced again and again, with the reason. */
export class RetracingWatch {
  readonly #name: string;
  #calls = 0;
  #warned = false;
  #described: Map<string, string> | undefined;

  /** @param name of the function. */
  constructor(name: string) {
    this.#name = name;
  }

  /** A call that the last trace did not serve at once. */
  called(): void {
    this.#calls++;
  }

  /** @param count how many traces there are by now. @param args what the last one is for. */
  traced(count: number, args: readonly unknown[]): void {
    const before = this.#described;
    this.#described = this.#warned ? undefined : describeArguments(args);
    if (this.#warned || count < SUSPICIOUS || this.#calls > SUSPICIOUS + 1) return;
    this.#warned = true;
    const now = this.#described as Map<string, string>;
    const changes = [...now].flatMap(([where, what]) => {
      const then = before?.get(where);
      return then === what || before === undefined ? [] : [`${where} is ${what}, was ${then ?? 'not there'}`];
    });
    console.warn(
      `tf.function: ${count} traces in ${this.#calls} calls of '${this.#name}', which is slow. ${
        changes.length === 0 ? '' : `The last one because ${changes.slice(0, 3).join('; ')}. `
      }Numbers, strings and objects make a trace for each value, tensors for each dtype and shape: pass tensors instead of numbers, ` +
        'an inputSignature with null or reduceRetracing: true for sizes that change, or make the function outside of the loop.',
    );
  }
}
