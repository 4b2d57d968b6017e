// What a worker does: it runs functions on the values of the parameter servers' variables, and sends what changes them.
import { FailedPreconditionError, NotFoundError, UnavailableError } from '@eagre/backend';
import { type Tensor, Variable, zeros } from '@eagre/core';
import type { Portable } from '@eagre/saved-model/internal';
import type { ClusterSpec } from '../cluster/cluster-spec.ts';
import type { Credentials } from '../cluster/connect-options.ts';
import type { Answer, Connection } from './connection.ts';
import { type Received, receiveFunction } from './functions.ts';
import { callServer } from './introduction.ts';
import type { Message } from './messages.ts';
import type { Change } from './parameter-store.ts';

/** A variable that a function uses. */
export interface UsedVariable {
  readonly id: number;
  readonly server: number;
  readonly dtype: string;
  readonly shape: readonly number[];
}

/** Changes that one parameter server makes when a function has run; their tensors follow the function's results. */
export interface ServerChanges {
  readonly server: number;
  readonly changes: readonly Change[];
}

interface Runnable extends Received {
  readonly variables: readonly UsedVariable[];
  /** How many of its results are those of the caller. */
  readonly results: number;
  readonly changes: readonly ServerChanges[];
}

/** Runs functions for one coordinator. */
export class FunctionRunner {
  readonly #portable: Portable;
  readonly #session: string;
  readonly #cluster: ClusterSpec;
  readonly #credentials: Credentials;
  readonly #salt: number;
  readonly #servers = new Map<number, Promise<Connection>>();
  readonly #functions = new Map<number, Runnable>();
  /** What functions see of the variables: as they were when the last one began. */
  readonly #copies = new Map<number, Variable>();
  /** What was made to stay here. */
  readonly #kept = new Map<number, readonly Tensor[]>();
  #isClosed = false;

  constructor(
    session: string,
    cluster: ClusterSpec,
    credentials: Credentials,
    index: number,
    portable: Portable,
  ) {
    this.#session = session;
    this.#cluster = cluster;
    this.#credentials = credentials;
    this.#salt = index + 1;
    this.#portable = portable;
  }

  /** Answers a question of the coordinator. */
  async answer(message: Message): Promise<Answer> {
    switch (message.kind) {
      case 'define':
        this.#define(message);
        return {};
      case 'call':
        return { tensors: await this.#call(message) };
      default:
        throw new FailedPreconditionError(`workers do not know what '${message.kind}' is`);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const server of this.#servers.values())
      void server.then(
        (connection) => connection.close(),
        () => {},
      );
    for (const copy of this.#copies.values()) copy.dispose();
    this.#functions.clear();
  }

  #define(message: Message): void {
    const { id, variables, results, changes } = message.fields as unknown as Omit<Runnable, 'run'> & {
      readonly id: number;
    };
    for (const { id: variable, dtype, shape } of variables)
      if (!this.#copies.has(variable))
        this.#copies.set(variable, new Variable(zeros([...shape], dtype as 'float32'), { trainable: false }));
    const received = receiveFunction(
      message,
      this.#portable,
      (variable) => this.#copies.get(variable) as Variable,
      this.#salt,
    );
    this.#functions.set(id, { ...received, variables, results, changes });
  }

  async #call({ fields, tensors }: Message): Promise<readonly Tensor[]> {
    const { id, keep, kept } = fields as {
      readonly id: number;
      /** Under which number the results stay here. */
      readonly keep?: number;
      /** What of the arguments is here: `[place, number, which]`. */
      readonly kept?: readonly (readonly [number, number, number])[];
    };
    const fn = this.#functions.get(id);
    if (fn === undefined) throw new NotFoundError(`the worker does not know the function ${id}`);
    await this.#pull(fn.variables);
    const inputs = [...tensors];
    for (const [place, number, which] of kept ?? []) {
      const value = this.#kept.get(number)?.[which];
      if (value === undefined) throw new NotFoundError(`the worker does not have the resource ${number}`);
      inputs.splice(place, 0, value);
    }
    const outputs = fn.run(inputs);
    const results = outputs.slice(0, fn.results);
    await this.#push(fn.changes, outputs.slice(fn.results));
    if (keep === undefined) return results;
    this.#kept.set(keep, results);
    return [];
  }

  /** Has the copies hold the values of now. */
  async #pull(variables: readonly UsedVariable[]): Promise<void> {
    const servers = [...new Set(variables.map(({ server }) => server))];
    await Promise.all(
      servers.map(async (server) => {
        const own = variables.filter((variable) => variable.server === server);
        const { tensors } = await (await this.#server(server)).ask({
          kind: 'read',
          fields: { ids: own.map(({ id }) => id) },
        });
        own.forEach(({ id }, i) => {
          const value = tensors[i] as Tensor;
          this.#copies.get(id)?.assign(value);
          value.dispose();
        });
      }),
    );
  }

  async #push(changes: readonly ServerChanges[], tensors: readonly Tensor[]): Promise<void> {
    // Nobody waits for them any more: the call is made again elsewhere.
    if (this.#isClosed) throw new UnavailableError('the coordinator is lost');
    let next = 0;
    await Promise.all(
      changes.map(async ({ server, changes: own }) => {
        const count = own.reduce((sum, change) => sum + change.count, 0);
        const given = tensors.slice(next, (next += count));
        await (await this.#server(server)).ask({ kind: 'apply', fields: { changes: own }, tensors: given });
      }),
    );
  }

  #server(index: number): Promise<Connection> {
    let known = this.#servers.get(index);
    if (known === undefined) {
      const address = this.#cluster.taskAddress('ps', index);
      const caller = { role: 'worker', session: this.#session } as const;
      known = callServer({ type: 'ps', index, address }, caller, this.#credentials, Date.now() + 10_000).then(
        ({ connection }) => connection,
      );
      this.#servers.set(index, known);
      const forget = (): void => {
        if (this.#servers.get(index) === known) this.#servers.delete(index);
      };
      known.then((connection) => {
        connection.onClose = forget;
      }, forget);
    }
    return known;
  }
}
