// `tf.savedModel.SaveOptions` and `tf.savedModel.LoadOptions`.
import { InvalidArgumentError, UnimplementedError } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkFlag,
  checkList,
  checkText,
  isPlain,
  shown,
  takesArguments,
} from '@eagre/core/internal';

const SAVE = 'SaveOptions';
const LOAD = 'LoadOptions';

/** An option of TensorFlow that has no meaning here: only the value that asks for nothing is taken. */
function refuse(op: string, name: string, value: unknown, why: string, ...nothing: readonly unknown[]): void {
  if (value === undefined || value === null || nothing.includes(value)) return;
  if (Array.isArray(value) && value.length === 0) return;
  throw new UnimplementedError(`${name} is ${shown(value)}, but ${why}: leave it out`, op);
}

interface SaveArguments {
  /** Names for functions of `tf.function` that are part of what is saved; none by default. */
  readonly functionAliases?: Readonly<Record<string, object>> | null;
  /** Tags of the graph beside `serve`; none by default. */
  readonly extraTags?: readonly string[] | null;
  /** TensorFlow's list of names of custom ops. There are none here: leave it out. */
  readonly namespaceWhitelist?: readonly string[] | null;
  /** TensorFlow's stack traces of ops. They are not written here: leave it out. */
  readonly saveDebugInfo?: boolean;
  /** TensorFlow's removal of debug nodes. None are written here: leave it out. */
  readonly experimentalDebugStripper?: boolean;
  /** TensorFlow's machine that writes. It is always this process: leave it out. */
  readonly experimentalIoDevice?: string | null;
  /** TensorFlow's devices and copies of variables in files. There are none here: leave it out, or give `'none'`. */
  readonly experimentalVariablePolicy?: string | null;
  /** Whether the gradients of `tf.customGradient` are written; true by default. */
  readonly experimentalCustomGradients?: boolean;
  /** TensorFlow's form of large models in several files. It is not written here: leave it out. */
  readonly experimentalImageFormat?: boolean;
  /** TensorFlow's models without what restores them. It is always written here: leave it out. */
  readonly experimentalSkipSaver?: boolean;
  /** TensorFlow's distribution of values over files. There is one here: leave it out. */
  readonly experimentalShardingCallback?: unknown;
}

/** How a SavedModel is written: `tf.savedModel.save(model, dir, { options: new tf.savedModel.SaveOptions({ extraTags: ['v2'] }) })`. */
export class SaveOptions {
  /** Names for functions of `tf.function` that are part of what is saved: their traces are found under them in the file. */
  readonly functionAliases: Readonly<Record<string, object>>;
  /** Tags of the graph beside `serve`. */
  readonly extraTags: readonly string[];
  /**
   * Whether the gradients of `tf.customGradient` are written, as they are unless false is given: without them, who asks a loaded function
   * for the gradient gets an error.
   */
  readonly experimentalCustomGradients: boolean;

  /**
   * The other options of TensorFlow ask for what is not written here, such as debug information. They are taken with the value that asks for
   * nothing.
   * @throws InvalidArgumentError for an unknown option or a wrong value, UnimplementedError for an option that asks for something else.
   */
  constructor(...args: Arguments<[], [], SaveArguments>) {
    const options = argumentsOf<SaveArguments>(SaveOptions, new.target, args);
    const aliases = options.functionAliases ?? {};
    if (!isPlain(aliases) || Array.isArray(aliases))
      throw new InvalidArgumentError(
        `functionAliases is ${shown(aliases)}, expected functions by name`,
        SAVE,
      );
    this.functionAliases = aliases;
    this.extraTags = checkList(options.extraTags ?? [], 'extraTags', SAVE);
    for (const tag of this.extraTags) {
      checkText(tag, 'extraTags', SAVE);
      if (tag === '') throw new InvalidArgumentError('extraTags has an empty text', SAVE);
    }
    this.experimentalCustomGradients = checkFlag(
      options.experimentalCustomGradients ?? true,
      'experimentalCustomGradients',
      SAVE,
    );
    const no = (name: keyof SaveArguments, why: string, ...nothing: readonly unknown[]): void =>
      refuse(SAVE, name, options[name], why, ...nothing);
    no('namespaceWhitelist', 'Eagre writes no ops of a program’s own');
    no('saveDebugInfo', 'no debug information is written', false);
    no('experimentalDebugStripper', 'no debug nodes are written', false);
    no('experimentalIoDevice', 'files are written by this process', '/job:localhost');
    no('experimentalVariablePolicy', 'variables have no copies or devices in the file', 'none');
    no('experimentalImageFormat', 'models are not split into several files', false);
    no('experimentalSkipSaver', 'what restores variables is always written', false);
    no('experimentalShardingCallback', 'values are in one file');
  }
}

interface LoadArguments {
  /** Whether variables that the file has no value for get zeros; false by default, which makes them an error. */
  readonly allowPartialCheckpoint?: boolean;
  /** Whether no values are read: all variables get zeros then. False by default. */
  readonly experimentalSkipCheckpoint?: boolean;
  /** TensorFlow's machine that reads. It is always this process: leave it out. */
  readonly experimentalIoDevice?: string | null;
  /** TensorFlow's devices and copies of variables in files. There are none here: leave it out, or give `'none'`. */
  readonly experimentalVariablePolicy?: string | null;
  /** Whether the loaded object gets `functionAliases`: the functions that the file has other names for, by these. False by default. */
  readonly experimentalLoadFunctionAliases?: boolean;
}

/** How a SavedModel is read: `tf.savedModel.load(dir, { options: new tf.savedModel.LoadOptions({ allowPartialCheckpoint: true }) })`. */
export class LoadOptions {
  /** Variables that the file has no value for get zeros; false by default. */
  readonly allowPartialCheckpoint: boolean;
  /** No values are read: all variables get zeros. False by default. */
  readonly experimentalSkipCheckpoint: boolean;
  /** The loaded object gets `functionAliases`: the functions that the file has other names for, by these. False by default. */
  readonly experimentalLoadFunctionAliases: boolean;

  /** @throws InvalidArgumentError for an unknown option or a wrong value, UnimplementedError for an option without a meaning here. */
  constructor(...args: Arguments<[], [], LoadArguments>) {
    const options = argumentsOf<LoadArguments>(LoadOptions, new.target, args);
    const flag = (name: keyof LoadArguments): boolean =>
      checkFlag((options[name] ?? false) as boolean, name, LOAD);
    this.allowPartialCheckpoint = flag('allowPartialCheckpoint');
    this.experimentalSkipCheckpoint = flag('experimentalSkipCheckpoint');
    this.experimentalLoadFunctionAliases = flag('experimentalLoadFunctionAliases');
    const no = (name: keyof LoadArguments, why: string, ...nothing: readonly unknown[]): void =>
      refuse(LOAD, name, options[name], why, ...nothing);
    no('experimentalIoDevice', 'files are read by this process', '/job:localhost');
    no('experimentalVariablePolicy', 'variables have no copies or devices in the file', 'none');
  }
}

takesArguments<SaveArguments>(
  {
    names: {
      namespaceWhitelist: true,
      saveDebugInfo: true,
      functionAliases: true,
      experimentalDebugStripper: true,
      experimentalIoDevice: true,
      experimentalVariablePolicy: true,
      experimentalCustomGradients: true,
      experimentalImageFormat: true,
      experimentalSkipSaver: true,
      experimentalShardingCallback: true,
      extraTags: true,
    },
  },
  SaveOptions,
);
takesArguments<LoadArguments>(
  {
    names: {
      allowPartialCheckpoint: true,
      experimentalIoDevice: true,
      experimentalSkipCheckpoint: true,
      experimentalVariablePolicy: true,
      experimentalLoadFunctionAliases: true,
    },
  },
  LoadOptions,
);

/** Options as they were given; the defaults for none. @throws InvalidArgumentError for what was not made by the class. */
export function optionsOf<T extends object>(given: unknown, kind: new () => T, op: string): T {
  if (given === undefined || given === null) return new kind();
  if (given instanceof kind) return given;
  throw new InvalidArgumentError(
    `options is ${shown(given)}, expected new tf.savedModel.${kind.name}({ … })`,
    op,
  );
}
