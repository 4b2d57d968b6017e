import { FailedPreconditionError, InvalidArgumentError, nextTurn } from '@eagre/backend';
import { Checkpoint, CheckpointManager } from '@eagre/checkpoint';
import { type Tensor, Variable, zeros } from '@eagre/core';
import { argumentsOf, checkFunction, defineMethods, shown, takesArguments } from '@eagre/core/internal';
import { inTemporaryFolder, nodeBuiltin } from '@eagre/formats/internal';
import { ClusterResolver } from '../cluster/cluster-resolver.ts';
import { getStrategy } from '../strategy/current.ts';
import type { Strategy } from '../strategy/strategy.ts';
import { RESTART_CODE, TerminationConfig } from './termination-config.ts';

interface HandlerOptions {
  /** Where the checkpoints of a `Checkpoint` are. */
  readonly checkpointDir?: string | null;
  /** What tells of the end, and what is done then: SIGTERM, and the exit code 42, by default. */
  readonly terminationConfig?: TerminationConfig | null;
}
interface HandlerArguments extends HandlerOptions {
  /** Says which process this is, and which others there are. */
  readonly clusterResolver: ClusterResolver;
  /** What is saved and restored. A `Checkpoint` needs `checkpointDir` too. */
  readonly checkpointOrCheckpointManager: Checkpoint | CheckpointManager;
}

/** What waits for the next step to see the signal. */
interface Signals {
  came: boolean;
  stop(): void;
}

/**
 * Saves a checkpoint when a process is told to end (SIGTERM), and then ends all processes with the exit code 42: each at the same step. A program
 * that is started again goes on from there. To be made in `strategy.scope(…)`; what is there is restored at once.
 *
 *     const handler = strategy.scope(() => new tf.distribute.experimental.PreemptionCheckpointHandler(resolver, checkpoint, 'runs'));
 *     while (handler.totalRunCalls < 1000) await handler.run(trainStep, [batch]);
 */
export class PreemptionCheckpointHandler {
  readonly #strategy: Strategy;
  readonly #manager: CheckpointManager;
  readonly #config: TerminationConfig;
  readonly #runs: Variable;
  readonly #signals: Signals;
  /** When the first checkpoint of a grace period was saved. */
  #savedAt: number | null = null;
  #ended = false;

  /** @throws InvalidArgumentError for arguments that are something else; what restoring throws */
  constructor(
    ...args: [
      clusterResolver: ClusterResolver | HandlerArguments,
      checkpointOrCheckpointManager?: Checkpoint | CheckpointManager,
      checkpointDir?: string | null | HandlerOptions,
      terminationConfig?: TerminationConfig | null | HandlerOptions,
    ]
  ) {
    const op = 'PreemptionCheckpointHandler';
    const given = argumentsOf<HandlerArguments>(PreemptionCheckpointHandler, new.target, args);
    const { clusterResolver, checkpointOrCheckpointManager: what, checkpointDir, terminationConfig } = given;
    if (!(clusterResolver instanceof ClusterResolver))
      throw new InvalidArgumentError(
        `clusterResolver must be a ClusterResolver, got ${shown(clusterResolver)}`,
        op,
      );
    if (!(what instanceof Checkpoint) && !(what instanceof CheckpointManager))
      throw new InvalidArgumentError(
        `checkpointOrCheckpointManager must be a tf.train.Checkpoint or CheckpointManager, got ${shown(what)}`,
        op,
      );
    const config = terminationConfig ?? new TerminationConfig();
    if (!(config instanceof TerminationConfig))
      throw new InvalidArgumentError(
        `terminationConfig must be a TerminationConfig, got ${shown(config)}`,
        op,
      );
    const hasDirectory = checkpointDir !== undefined && checkpointDir !== null;
    if (what instanceof Checkpoint && !hasDirectory)
      throw new InvalidArgumentError(
        'a Checkpoint needs a checkpointDir; a CheckpointManager has its own',
        op,
      );
    if (what instanceof CheckpointManager && hasDirectory)
      throw new InvalidArgumentError('a CheckpointManager has a folder, so leave checkpointDir out', op);
    this.#strategy = getStrategy();
    const members = clusterResolver.clusterSpec().members.length;
    if (members > 1 && this.#strategy.collectives.size !== members)
      throw new FailedPreconditionError(
        `the cluster has ${members} processes, which agree by their strategy: make the handler in strategy.scope(…)`,
        op,
      );
    this.#config = config;
    this.#manager =
      what instanceof CheckpointManager ? what : new CheckpointManager(what, checkpointDir as string, 1);
    this.#runs = new Variable(zeros([], 'int64'), {
      trainable: false,
      name: 'checkpointed_runs',
      aggregation: 'ONLY_FIRST_REPLICA',
    });
    const { checkpoint } = this.#manager;
    Object.assign(checkpoint, { checkpointed_runs: this.#runs });
    const { latestCheckpoint } = this.#manager;
    if (latestCheckpoint !== null) checkpoint.restore(latestCheckpoint);
    this.#signals = watchSignals();
  }

  /** How many steps `run` has taken, also before the program was started again. */
  get totalRunCalls(): number {
    return Number(this.#runs.item());
  }

  /**
   * Takes a step: calls the function. Before that, where a process was told to end, all processes save and end instead.
   * @returns what the function returns
   */
  async run<A extends readonly unknown[], R>(fn: (...args: A) => R, args?: A | null): Promise<Awaited<R>>;
  async run(fn: unknown, args?: unknown): Promise<unknown> {
    const op = 'PreemptionCheckpointHandler.run';
    checkFunction(fn as () => unknown, 'fn', op);
    if (args !== undefined && args !== null && !Array.isArray(args))
      throw new InvalidArgumentError(`args must be a list of arguments, got ${shown(args)}`, op);
    if (this.#ended)
      throw new FailedPreconditionError('the checkpoint was saved, and the program is to end', op);
    await this.saveCheckpointIfPreempted();
    const result = await (fn as (...given: unknown[]) => unknown)(...((args ?? []) as unknown[]));
    this.#runs.assignAdd(1 as unknown as Tensor);
    return result;
  }

  /** Where a process was told to end, saves and ends all of them. All processes call it at the same step; `run` does it. */
  async saveCheckpointIfPreempted(): Promise<void> {
    // Signals come between two turns of the event loop.
    await nextTurn();
    if (this.#config.terminationWatcherFn?.() === true) this.#signals.came = true;
    if (this.#savedAt === null && this.#strategy.allAgree(!this.#signals.came)) return;
    const begin = Date.now();
    if (this.#savedAt === null) {
      await this.#save();
      this.#savedAt = begin;
      if (this.#config.gracePeriod > 0) {
        this.#saveSeconds = (Date.now() - begin) / 1000;
        return;
      }
    } else {
      // Time for another checkpoint, twice as long as the first one took.
      const left = this.#config.gracePeriod - (Date.now() - this.#savedAt) / 1000 - 2 * this.#saveSeconds;
      if (this.#strategy.allAgree(left > 0)) return;
      await this.#save();
    }
    this.#ended = true;
    this.close();
    if (this.#config.exitFn !== null) await this.#config.exitFn();
    else globalThis.process.exit(RESTART_CODE);
  }
  #saveSeconds = 0;

  /** All processes save, as some variables are read by all of them; the first one's file stays. */
  async #save(): Promise<void> {
    const { isChief } = this.#strategy;
    if (this.#config.saveFn !== null) {
      if (isChief) this.#config.saveFn();
    } else if (isChief) this.#manager.save();
    else
      await inTemporaryFolder((folder) => {
        this.#manager.checkpoint.write(nodeBuiltin('node:path').join(folder, 'ckpt'));
      });
    // No process ends before the file is there.
    this.#strategy.allAgree(true);
  }

  /** Lets SIGTERM end the process at once again. */
  close(): void {
    this.#signals.stop();
  }
}
takesArguments<HandlerArguments>(
  {
    positional: ['clusterResolver', 'checkpointOrCheckpointManager', 'checkpointDir', 'terminationConfig'],
    required: 2,
    names: {
      clusterResolver: true,
      checkpointOrCheckpointManager: true,
      checkpointDir: true,
      terminationConfig: true,
    },
  },
  PreemptionCheckpointHandler,
);
defineMethods(PreemptionCheckpointHandler.prototype, 'PreemptionCheckpointHandler', {
  run: { positional: ['fn', 'args'], required: 1 },
});

function watchSignals(): Signals {
  const signals: Signals = {
    came: false,
    stop: () => globalThis.process?.off('SIGTERM', noted),
  };
  const noted = (): void => {
    signals.came = true;
  };
  globalThis.process?.on('SIGTERM', noted);
  return signals;
}
