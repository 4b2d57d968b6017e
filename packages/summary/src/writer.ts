import { FailedPreconditionError, InvalidArgumentError } from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import {
  atRunTime,
  context,
  defineFunction,
  defineMethods,
  type OptionNames,
  scoped,
  shown,
} from '@eagre/core/internal';
import { tensorflow } from '@eagre/formats';
import { EventFile, type EventFileOptions } from './event-file.ts';
import { becomeDefault, enterWriter, type Step, state } from './state.ts';

/** Where summaries go. */
export abstract class SummaryWriter {
  /**
   * Makes this the default writer: `writer.asDefault(fn)` while `fn` runs, `using _ = writer.asDefault()` until the block ends. Its end
   * writes what waits in memory. `step` is then the default step.
   *
   *     writer.asDefault(() => tf.summary.scalar('loss', 0.5, { step: 1 }));
   *
   * @throws FailedPreconditionError when the writer is closed, or `fn` returns a promise.
   */
  asDefault<T>(fn: () => T): T;
  asDefault<T>(step: Step, fn: () => T): T;
  asDefault<T>(
    step: Step,
    options: {
      /** What writes summaries. */
      readonly fn: () => T;
    },
  ): T;
  asDefault<T>(options: {
    /** The step of summaries that say no other. */
    readonly step?: Step | undefined;
    /** What writes summaries. */
    readonly fn: () => T;
  }): T;
  asDefault(
    step?:
      | Step
      | {
          /** The step of summaries that say no other. */
          readonly step: Step;
        },
  ): Disposable;
  asDefault<T>(first?: unknown, second?: unknown): T | Disposable {
    const [step, fn] = (typeof first === 'function' ? [undefined, first] : [first, second]) as [
      Step | undefined,
      (() => T) | undefined,
    ];
    return scoped(() => this.enter(step), 'SummaryWriter.asDefault', fn);
  }

  /** Makes this the default writer for good. @throws FailedPreconditionError when it is closed. */
  setAsDefault(
    step?:
      | Step
      | {
          /** The step of summaries that say no other. */
          readonly step: Step;
        },
  ): void {
    this.become(step as Step | undefined);
  }

  /** @internal Makes this the default writer. @returns what ends that, and tells of overlaps. */
  protected abstract enter(step: Step | undefined): () => boolean;
  /** @internal Makes this the default writer for good. */
  protected abstract become(step: Step | undefined): void;
  /** Does nothing: a writer can be used as soon as it is made. @throws FailedPreconditionError when it is closed. */
  abstract init(): void;
  /** Writes what waits in memory; in a traced function, at each run. */
  abstract flush(): void;
  /** Writes what waits in memory, and closes the file. */
  abstract close(): void;
  /** @internal Takes an event at once. */
  abstract add(event: tensorflow.Event): void;

  [Symbol.dispose](): void {
    this.close();
  }
}

class FileWriter extends SummaryWriter {
  readonly #file: EventFile;

  constructor(logdir: string, options: EventFileOptions) {
    super();
    this.#file = new EventFile(logdir, options, 'tf.summary.createFileWriter');
  }

  protected override enter(step: Step | undefined): () => boolean {
    this.init();
    const leave = enterWriter(this, step);
    return () => {
      const overlaps = leave();
      this.flush();
      return overlaps;
    };
  }
  protected override become(step: Step | undefined): void {
    this.init();
    becomeDefault(this, step);
  }
  override init(): void {
    if (this.#file.closed) throw new FailedPreconditionError('the writer is closed already', 'SummaryWriter');
  }
  override flush(): void {
    if (context.tracer === null) this.#file.flush();
    else atRunTime('FlushSummaryWriter', () => this.#file.flush(), [], []);
  }
  override close(): void {
    this.#file.close();
  }
  override add(event: tensorflow.Event): void {
    this.#file.append(tensorflow.Event.encode(event));
  }
}

class NoopWriter extends SummaryWriter {
  protected override enter(): () => boolean {
    return () => false;
  }
  protected override become(): void {}
  override init(): void {}
  override flush(): void {}
  override close(): void {}
  override add(): void {}
}

defineMethods(SummaryWriter.prototype, 'SummaryWriter', {
  asDefault: { positional: ['step', 'fn'], required: 0 },
  setAsDefault: { positional: ['step'], required: 0 },
});
for (const { prototype } of [FileWriter, NoopWriter])
  defineMethods(prototype, 'SummaryWriter', { init: {}, flush: {}, close: {} });

/** Options of `createFileWriter`. */
export interface FileWriterOptions extends EventFileOptions {
  /** The name of TensorFlow's op; nothing here has it. */
  readonly name?: string;
}
const fileNames: OptionNames<FileWriterOptions> = {
  maxQueue: true,
  flushMillis: true,
  filenameSuffix: true,
  name: true,
};

/**
 * A writer of an event file in a folder, which is made if it is not there: `events.out.tfevents.<seconds>.<host>.<pid>.<n>.v2`. Each
 * folder is a run in TensorBoard.
 *
 *     const writer = tf.summary.createFileWriter('logs/run1');
 *     writer.asDefault(() => tf.summary.scalar('loss', 0.5, { step: 1 }));
 *
 * Events wait in memory until `maxQueue` or `flushMillis` is exceeded, the default scope or the process ends, or `flush` is called.
 * @throws InvalidArgumentError for options out of range; what the file system throws.
 */
export const createFileWriter: NamedFunction<[logdir: string], ['logdir'], FileWriterOptions, SummaryWriter> =
  defineFunction('tf.summary.createFileWriter', { logdir: true }, fileNames, (logdir, options) => {
    return new FileWriter(logdir, options);
  });

/** A writer that writes nothing, for code that expects one. As a default it leaves the one before in place, as in TensorFlow. */
export const createNoopWriter: NamedFunction<[], [], unknown, SummaryWriter> = defineFunction(
  'tf.summary.createNoopWriter',
  {},
  {},
  () => {
    return new NoopWriter();
  },
);

/** Writes what waits in the memory of a writer: the default one unless given. */
export const flush: NamedFunction<[writer?: SummaryWriter | null], ['writer'], unknown, void> =
  defineFunction('tf.summary.flush', { writer: true }, {}, (writer = state.writer) => {
    if (writer !== null && !(writer instanceof SummaryWriter))
      throw new InvalidArgumentError(`expected a writer, got ${shown(writer)}`, 'tf.summary.flush');
    writer?.flush();
  });
