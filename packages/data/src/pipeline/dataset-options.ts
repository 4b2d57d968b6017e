// `tf.data.Options`: TensorFlow's classes for what holds for a pipeline. What they say becomes plain options, or is refused.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { type Arguments, argumentsOf, shown, takesArguments } from '@eagre/core/internal';
import type { AutoShardPolicy } from './auto-shard-policy.ts';

const OP = 'tf.data.Options';

/** Options in groups, each of which is null unless it was set. */
type Group = Readonly<Record<string, unknown>>;

/** How many threads a pipeline has: those of all ops. `withOptions` refuses other numbers than null and 0, and says what to do instead. */
export class ThreadingOptions {
  /** How many threads one op of the pipeline may use. */
  maxIntraOpParallelism: number | null = null;
  /** Threads for the pipeline alone. */
  privateThreadpoolSize: number | null = null;

  constructor(...args: Arguments<[], []>) {
    argumentsOf(ThreadingOptions, new.target, args);
  }
}

/** How a pipeline looks for its best sizes of buffers and numbers of calls. It does not: they are fixed. */
export class AutotuneOptions {
  /** False says how it is. True is refused by `withOptions`, and so are the others. */
  enabled: boolean | null = null;
  cpuBudget: number | null = null;
  ramBudget: number | null = null;
  initialParallelism: number | null = null;
  minParallelism: number | null = null;

  constructor(...args: Arguments<[], []>) {
    argumentsOf(AutotuneOptions, new.target, args);
  }
}

/** Which rewrites are made of a pipeline. */
export class OptimizationOptions {
  /** Whether rewrites are made at all that nobody asked for; true unless set. */
  applyDefaultOptimizations: boolean | null = null;
  /** Whether `map` runs on whole batches where a `batch` follows and results are the same; true unless set. */
  mapAndBatchFusion: boolean | null = null;

  constructor(...args: Arguments<[], []>) {
    argumentsOf(OptimizationOptions, new.target, args);
  }
}

/** How distribution strategies divide a dataset. */
export class DistributeOptions {
  /** `AutoShardPolicy.AUTO` unless set. */
  autoShardPolicy: AutoShardPolicy | null = null;

  constructor(...args: Arguments<[], []>) {
    argumentsOf(DistributeOptions, new.target, args);
  }
}

/**
 * What holds for a pipeline, in TensorFlow's groups: `const options = new tf.data.Options(); options.deterministic = false; dataset.withOptions(options)`.
 * `withOptions` also takes a plain object of what is here: `dataset.withOptions({ deterministic: false })`.
 */
export class Options {
  /** Whether elements come in the same order in every run where parallel calls could change it; true unless set. */
  deterministic: boolean | null = null;
  threading: ThreadingOptions = new ThreadingOptions();
  autotune: AutotuneOptions = new AutotuneOptions();
  experimentalDistribute: DistributeOptions = new DistributeOptions();
  experimentalOptimization: OptimizationOptions = new OptimizationOptions();

  constructor(...args: Arguments<[], []>) {
    argumentsOf(Options, new.target, args);
  }
}

takesArguments(
  { names: {} },
  ThreadingOptions,
  AutotuneOptions,
  OptimizationOptions,
  DistributeOptions,
  Options,
);

/** What is set of a group. @throws InvalidArgumentError for a name that it has not, or another group */
function setIn(group: unknown, cls: new () => object, name: string): Group {
  if (!(group instanceof cls))
    throw new InvalidArgumentError(`${name} must be a ${cls.name}, got ${shown(group)}`, OP);
  const names = Object.keys(new cls());
  const entries = Object.entries(group).filter(([, value]) => value !== null && value !== undefined);
  for (const [key] of entries)
    if (!names.includes(key))
      throw new InvalidArgumentError(
        `'${key}' is not an option of ${cls.name}; the options are ${names.join(', ')}`,
        OP,
      );
  return Object.fromEntries(entries);
}

const refused = (what: string, why: string): UnimplementedError =>
  new UnimplementedError(`${what}: ${why}`, OP);

/** The plain options that an object of `Options` stands for. @throws UnimplementedError for what nothing here can do. */
export function plainOptions(options: Options): Record<string, unknown> {
  const { deterministic } = setIn(options, Options, 'options');
  const threading = setIn(options.threading, ThreadingOptions, 'threading');
  const autotune = setIn(options.autotune, AutotuneOptions, 'autotune');
  const experimentalDistribute = setIn(
    options.experimentalDistribute,
    DistributeOptions,
    'experimentalDistribute',
  );
  const optimization = setIn(
    options.experimentalOptimization,
    OptimizationOptions,
    'experimentalOptimization',
  );
  if ((threading['maxIntraOpParallelism'] ?? 0) !== 0)
    throw refused(
      'threading.maxIntraOpParallelism',
      'ops of pipelines share the threads of all ops: tf.config.threading.setIntraOpParallelismThreads',
    );
  if ((threading['privateThreadpoolSize'] ?? 0) !== 0)
    throw refused(
      'threading.privateThreadpoolSize',
      'a pipeline has no threads of its own: use numParallelCalls, or mapOnWorkers',
    );
  for (const [name, value] of Object.entries(autotune))
    if (name !== 'enabled' || value !== false)
      throw refused(
        `autotune.${name}`,
        'nothing is tuned while a pipeline runs: give numbers instead of AUTOTUNE',
      );
  const fusion =
    optimization['applyDefaultOptimizations'] === false ? false : optimization['mapAndBatchFusion'];
  const isDivided = Object.keys(experimentalDistribute).length > 0;
  return {
    deterministic,
    vectorization: fusion,
    experimentalDistribute: isDivided ? experimentalDistribute : undefined,
  };
}
