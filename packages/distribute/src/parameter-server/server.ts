import type { Server as NetServer, Socket } from 'node:net';
import { FailedPreconditionError, InvalidArgumentError, UnavailableError } from '@eagre/backend';
import { argumentsOf, defineMethods, shown, takesArguments } from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import { loadPortable, type Portable } from '@eagre/saved-model/internal';
import { ClusterDef as ClusterMessage, ServerDef } from '../cluster/cluster-protos.ts';
import { ClusterResolver } from '../cluster/cluster-resolver.ts';
import {
  type ClusterDef,
  ClusterSpec,
  memberName,
  parseAddress,
  type TaskType,
} from '../cluster/cluster-spec.ts';
import { type Credentials, checkSeconds } from '../cluster/connect-options.ts';
import { checkTask } from '../cluster/tf-config.ts';
import type { Connection } from './connection.ts';
import type { FunctionRunner } from './function-runner.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { ParameterStore } from './parameter-store.ts';

/** Options of `tf.distribute.Server`. */
export interface ServerOptions {
  /** What the process is: `'worker'` or `'ps'`. */
  readonly jobName?: TaskType | null;
  /** Its place among the tasks of its type. */
  readonly taskIndex?: number | null;
  /** What only the processes of the cluster know; the variable `EAGRE_CLUSTER_TOKEN` by default. */
  readonly token?: string | null;
  /** Whether it listens at once; true by default. */
  readonly start?: boolean | null;
}

/** Options of `server.join`. */
export interface JoinOptions {
  /** How long a server that has lost its coordinator waits for it, or for another one, in seconds; 300 by default, null for as long as it takes. */
  readonly timeoutSeconds?: number | null;
}

interface ServerArguments extends ServerOptions {
  /** The addresses of all tasks: `{ worker: ['host:port', …] }`. */
  readonly cluster: ClusterLike;
}

/** A cluster, in any form; a resolver and a ServerDef also say which task the process is. */
export type ClusterLike = ClusterSpec | ClusterDef | ClusterMessage | ServerDef | ClusterResolver;

function specOf(cluster: ClusterLike): ClusterSpec {
  if (cluster instanceof ClusterResolver) return cluster.clusterSpec();
  if (cluster instanceof ServerDef) return cluster.cluster.toClusterSpec();
  if (cluster instanceof ClusterMessage) return cluster.toClusterSpec();
  return cluster instanceof ClusterSpec ? cluster : new ClusterSpec(cluster);
}

/** Who is served now. */
interface Session {
  readonly key: string;
  /** The coordinator's connections; it is lost when all have ended. */
  readonly coordinator: Set<Connection>;
  readonly workers: Set<Connection>;
  /** The variables of a ps, what runs the functions of a worker. */
  readonly served: ParameterStore | FunctionRunner;
}

/** What a server that listens has loaded and started. */
interface Means {
  readonly serving: typeof import('./serving.ts');
  readonly portable: Portable;
  readonly heartbeat: Heartbeat;
}

/**
 * A process that a coordinator uses: of the job `worker` it runs functions, of the job `ps` it holds variables. It listens at its address
 * of the cluster.
 *
 *     const server = new tf.distribute.Server(new tf.distribute.clusterResolver.TFConfigClusterResolver());
 *     await server.join();
 */
export class Server {
  readonly #cluster: ClusterSpec;
  readonly #type: TaskType;
  readonly #index: number;
  readonly #credentials: Credentials;
  readonly #name: string;
  #listening: Promise<void> | undefined;
  #server: NetServer | undefined;
  #session: Session | undefined;
  #isClosed = false;
  /** How long `join` waits for a coordinator that is lost, in seconds; null before it is called, and for as long as it takes. */
  #patience: number | null = null;
  #waiting: NodeJS.Timeout | undefined;
  #failure: UnavailableError | undefined;
  #end: () => void = () => {};
  readonly #ended: Promise<void> = new Promise((resolve) => {
    this.#end = resolve;
  });

  /**
   * @param cluster the cluster and, of a resolver, which task this process is
   * @throws InvalidArgumentError for a task that is not in the cluster, or is neither a worker nor a ps
   */
  constructor(...args: [cluster: ClusterLike | ServerArguments, options?: ServerOptions]) {
    const { cluster, jobName, taskIndex, token, start } = argumentsOf<ServerArguments>(
      Server,
      new.target,
      args,
    );
    const isResolver = cluster instanceof ClusterResolver;
    const def = cluster instanceof ServerDef ? cluster : null;
    const spec = specOf(cluster);
    const type = jobName ?? def?.jobName ?? (isResolver ? cluster.taskType : null);
    const { type: checked, index } = checkTask(
      spec,
      type,
      taskIndex ?? def?.taskIndex ?? (isResolver ? cluster.taskId : null) ?? 0,
    );
    if (checked !== 'worker' && checked !== 'ps')
      throw new InvalidArgumentError(
        `only a worker or a ps serves others; the task is a ${checked}, which runs the program itself`,
        'Server',
      );
    if ((token ?? null) !== null && typeof token !== 'string')
      throw new InvalidArgumentError(`token must be a text, got ${shown(token)}`, 'Server');
    this.#cluster = spec;
    this.#type = checked;
    this.#index = index as number;
    this.#name = memberName({ type: checked, index: this.#index, address: this.#address });
    this.#credentials = {
      token: token ?? globalThis.process?.env['EAGRE_CLUSTER_TOKEN'] ?? '',
      clusterKey: spec.key,
    };
    if (start ?? true) this.start();
  }

  get #address(): string {
    return this.#cluster.taskAddress(this.#type, this.#index);
  }

  /** Where it is reached: `grpc://host:port` in TensorFlow, `eagre://host:port` here. */
  get target(): string {
    return `eagre://${this.#address}`;
  }

  /** Begins to listen, where it does not yet. What goes wrong `join` throws. */
  start(): void {
    this.#listening ??= this.#listen();
    this.#listening.catch(() => {});
  }

  /**
   * Serves until the coordinator says that it has ended, or `close` is called.
   * @throws UnavailableError where the address is taken, or none of this machine, and where the coordinator was lost, and none came in time
   */
  async join(options?: JoinOptions | null): Promise<void>;
  async join(options?: unknown): Promise<void> {
    const { timeoutSeconds = 300 } = (options ?? {}) as JoinOptions;
    if (timeoutSeconds !== null) checkSeconds(timeoutSeconds, 'timeoutSeconds', 'server.join');
    this.start();
    await this.#listening;
    this.#patience = timeoutSeconds;
    this.#watch();
    await this.#ended;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Gives a coordinator that is lost some time to come again. */
  #watch(): void {
    clearTimeout(this.#waiting);
    const seconds = this.#patience;
    if (this.#isClosed || seconds === null || this.#session?.coordinator.size !== 0) return;
    this.#waiting = setTimeout(() => {
      this.#failure = new UnavailableError(
        `${this.#name} has lost its coordinator, and none came within ${seconds} s`,
        'server.join',
      );
      void this.close();
    }, seconds * 1000);
  }

  /** Serves no more: who is connected finds it lost. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#waiting);
    await this.#listening?.catch(() => {});
    this.#endSession();
    const server = this.#server;
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
    this.#end();
  }

  async #listen(): Promise<void> {
    const [serving, { listenAt }, portable] = await Promise.all([
      import('./serving.ts'),
      import('../cluster/sockets.ts'),
      loadPortable(),
    ]);
    const heartbeat = await serving.startHeartbeat(parseAddress(this.#address).host);
    const server = nodeBuiltin('node:net').createServer((socket) => {
      void this.#receive(socket, { serving, portable, heartbeat });
    });
    this.#server = server;
    const { host } = parseAddress(this.#address);
    if (this.#credentials.token === '' && !/^(?:localhost|127\.|::1$)/.test(host))
      console.warn(
        `${this.#name} listens on the network, and EAGRE_CLUSTER_TOKEN is not set: whoever reaches it can take it over`,
      );
    void this.#ended.then(() => heartbeat.stop());
    try {
      await listenAt(server, this.#address, this.#name, 'Server');
    } catch (error) {
      heartbeat.stop();
      throw error;
    }
  }

  async #receive(socket: Socket, means: Means): Promise<void> {
    socket.on('error', () => {});
    try {
      const { Connection, receiveCaller } = means.serving;
      const { port, key } = means.heartbeat;
      const { role, session } = await receiveCaller(socket, this.#credentials, { beat: { port, key } });
      if (role === 'coordinator') this.#begin(new Connection(socket, 'the coordinator'), session, means);
      else this.#admit(new Connection(socket, 'a worker'), session);
    } catch {
      // A stranger is told nothing; who knows how to introduce himself has been told why.
      socket.end();
      setTimeout(() => socket.destroy(), 1000).unref();
    }
  }

  /** Serves another coordinator, or a further connection of the one that is served. */
  #begin(connection: Connection, key: string, { serving, portable }: Means): void {
    if (this.#isClosed) {
      connection.close();
      return;
    }
    // Of workers it begins anew: functions and what they see of variables come again.
    if (this.#session?.key === key && this.#type === 'ps') {
      this.#serve(connection, this.#session, true);
      return;
    }
    this.#endSession();
    const session: Session = {
      key,
      coordinator: new Set(),
      workers: new Set(),
      served:
        this.#type === 'ps'
          ? new serving.ParameterStore(this.#name, portable)
          : new serving.FunctionRunner(key, this.#cluster, this.#credentials, this.#index, portable),
    };
    this.#session = session;
    this.#serve(connection, session, true);
  }

  #serve(connection: Connection, session: Session, isCoordinator: boolean): void {
    const { coordinator, workers } = session;
    const own = isCoordinator ? coordinator : workers;
    own.add(connection);
    this.#watch();
    connection.onClose = () => {
      own.delete(connection);
      // The variables stay until another coordinator comes.
      if (coordinator.size === 0 && isCoordinator && this.#type === 'worker') session.served.close();
      if (session === this.#session) this.#watch();
    };
    connection.onRequest = (message) => {
      if (message.kind === 'end') {
        // It is answered first.
        setImmediate(() => void this.close());
        return {};
      }
      if (this.#session !== session) throw stale(this.#name);
      return session.served.answer(message);
    };
  }

  #admit(connection: Connection, key: string): void {
    const session = this.#session;
    if (session?.key === key && this.#type === 'ps') {
      this.#serve(connection, session, false);
      return;
    }
    connection.onRequest = () => {
      throw this.#type === 'ps'
        ? stale(this.#name)
        : new FailedPreconditionError(`${this.#name} serves no workers`);
    };
  }

  #endSession(): void {
    const session = this.#session;
    this.#session = undefined;
    if (session === undefined) return;
    session.served.close();
    for (const connection of [...session.coordinator, ...session.workers]) connection.close();
  }
}
takesArguments<ServerArguments>(
  {
    positional: ['cluster'],
    objects: ['cluster'],
    names: { cluster: true, jobName: true, taskIndex: true, token: true, start: true },
  },
  Server,
);

defineMethods(Server.prototype, 'Server', { join: { positional: [], options: { timeoutSeconds: true } } });

const stale = (name: string): UnavailableError =>
  new UnavailableError(`${name} was started again, or serves another coordinator: its variables are gone`);
