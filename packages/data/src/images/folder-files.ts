// Files in folders that name their classes, as Keras indexes them.
import { InvalidArgumentError, NotFoundError, withFileErrors } from '@eagre/backend';
import { checkPath, type OptionNames, shown } from '@eagre/core/internal';
import { nodeBuiltin } from '@eagre/formats/internal';
import { Rng, seedWords } from '../pipeline/random.ts';

/** What all datasets of files in folders have as options; names and defaults are Keras's. */
export interface FolderOptions {
  /** `'inferred'`: the folders name the classes; null: there are none; or a number for each file, by path. Default: `'inferred'`. */
  readonly labels?: 'inferred' | readonly number[] | null | undefined;
  /** Labels as int32 scalars, float32 [1] of two classes, one-hot float32 [classes], or none. Default: `'int'`. */
  readonly labelMode?: 'int' | 'binary' | 'categorical' | null | undefined;
  /** The folders, in the order of their numbers. Default: all, by name. */
  readonly classNames?: readonly string[] | undefined;
  /** Elements per batch; null for single elements. Default: 32. */
  readonly batchSize?: number | null | undefined;
  /** In another order at each pass. Default: true. */
  readonly shuffle?: boolean | undefined;
  /** Seed of the order and of the split. */
  readonly seed?: number | undefined;
  /** The part of the files that is for validation. */
  readonly validationSplit?: number | undefined;
  /** Which part of a split to take. */
  readonly subset?: 'training' | 'validation' | undefined;
}

/** Their names. */
export const folderNames: OptionNames<FolderOptions> = {
  labels: true,
  labelMode: true,
  classNames: true,
  batchSize: true,
  shuffle: true,
  seed: true,
  validationSplit: true,
  subset: true,
};

/** The arguments of a dataset of a folder, of which some options must be given. */
export type FolderArguments<O> =
  | [directory: string, options: O]
  | [
      options: O & {
        /** The folder. */
        readonly directory: string;
      },
    ];

/** Options that ask for both parts of a split. */
export type BothSubsets<O extends FolderOptions> = Omit<O, 'subset'> & {
  /** The two parts, [training, validation]; the second comes in the same order at each pass. */
  readonly subset: 'both';
};

/** The files of a dataset. */
export interface FolderFiles {
  readonly paths: readonly string[];
  /** The class of each; null where there are no labels. */
  readonly labels: readonly number[] | null;
  readonly classNames: readonly string[];
}

/**
 * Finds the files, by class and path; {@link subsetOf} takes the subset.
 *
 * @throws NotFoundError when there is no such folder, or no file in it.
 * @throws InvalidArgumentError for options that contradict each other.
 */
export function folderFiles(
  directory: string,
  extensions: readonly string[],
  options: FolderOptions,
  what: string,
): FolderFiles {
  checkPath(directory, 'directory', what);
  checkFolderOptions(options, what);
  const all = withFileErrors(directory, what, () => indexed(directory, extensions, options, what));
  if (all.paths.length === 0) throw new NotFoundError(`no ${extensions.join(', ')} in ${directory}`, what);
  if (options.labelMode === 'binary' && all.classNames.length !== 2)
    throw new InvalidArgumentError(
      `labelMode 'binary' needs 2 classes, there are ${all.classNames.length}`,
      what,
    );
  return all;
}

function checkFolderOptions(options: FolderOptions, what: string): void {
  const { labels = 'inferred', labelMode = 'int', validationSplit, subset, shuffle = true, seed } = options;
  const fail = (message: string): never => {
    throw new InvalidArgumentError(message, what);
  };
  if (labelMode !== null && !['int', 'binary', 'categorical'].includes(labelMode))
    fail(`labelMode must be 'int', 'binary', 'categorical' or null, got ${shown(labelMode)}`);
  if (labels !== 'inferred' && options.classNames !== undefined)
    fail("classNames says which folders there are; it goes with labels: 'inferred' only");
  if ((validationSplit === undefined) !== (subset === undefined))
    fail('validationSplit and subset go together');
  if (validationSplit !== undefined && !(validationSplit > 0 && validationSplit < 1))
    fail(`validationSplit must lie between 0 and 1, got ${validationSplit}`);
  if (subset !== undefined && subset !== 'training' && subset !== 'validation')
    fail(`subset must be 'training', 'validation' or 'both', got ${String(subset)}`);
  if (subset !== undefined && shuffle && seed === undefined)
    fail('give a seed, so that training and validation do not overlap, or shuffle: false');
}

function indexed(
  directory: string,
  extensions: readonly string[],
  options: FolderOptions,
  what: string,
): FolderFiles {
  const { labels = 'inferred', labelMode = 'int' } = options;
  const { readdirSync, statSync } = nodeBuiltin('node:fs');
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new NotFoundError(`there is no folder ${directory}`, what);
  if (labels !== 'inferred') {
    const paths = filesBelow(directory, extensions);
    if (labels === null || labelMode === null) return { paths, labels: null, classNames: [] };
    if (labels.length !== paths.length)
      throw new InvalidArgumentError(`there are ${labels.length} labels for ${paths.length} files`, what);
    const classes = Math.max(-1, ...labels) + 1;
    if (!labels.every((label) => Number.isSafeInteger(label) && label >= 0))
      throw new InvalidArgumentError('labels must be integers of at least 0', what);
    return { paths, labels, classNames: Array.from({ length: classes }, (_, i) => String(i)) };
  }
  const folders = readdirSync(directory)
    .filter((name) => !name.startsWith('.') && statSync(`${directory}/${name}`).isDirectory())
    .sort(byName);
  const classNames = options.classNames ?? folders;
  if ([...classNames].sort(byName).join('\0') !== folders.join('\0'))
    throw new InvalidArgumentError(
      `classNames must be the folders in some order: ${folders.join(', ')}; got ${classNames.join(', ')}`,
      what,
    );
  const found = classNames.map((name) => filesBelow(`${directory}/${name}`, extensions));
  return {
    paths: found.flat(),
    labels: labelMode === null ? null : found.flatMap((paths, label) => paths.map(() => label)),
    classNames,
  };
}

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function filesBelow(folder: string, extensions: readonly string[]): string[] {
  const entries = nodeBuiltin('node:fs').readdirSync(folder, { withFileTypes: true });
  entries.sort((a, b) => byName(a.name, b.name));
  const isWanted = (name: string): boolean => extensions.some((end) => name.toLowerCase().endsWith(end));
  const files = entries.filter((e) => !e.isDirectory() && isWanted(e.name)).map((e) => `${folder}/${e.name}`);
  return [
    ...files,
    ...entries.filter((e) => e.isDirectory()).flatMap((e) => filesBelow(`${folder}/${e.name}`, extensions)),
  ];
}

/** The files of the subset that the options ask for. @throws InvalidArgumentError when there is none. */
export function subsetOf(all: FolderFiles, options: FolderOptions, what: string): FolderFiles {
  const { validationSplit, subset, shuffle = true, seed } = options;
  if (subset === undefined || validationSplit === undefined) return all;
  const order = all.paths.map((_, i) => i);
  if (shuffle) new Rng(seedWords(seed, what)).shuffle(order);
  const held = Math.trunc(validationSplit * order.length);
  const cut = order.length - held;
  const kept = subset === 'training' ? order.slice(0, cut) : order.slice(cut);
  if (kept.length === 0) throw new InvalidArgumentError(`the ${subset} subset is empty`, what);
  return {
    paths: kept.map((i) => all.paths[i]),
    labels: all.labels && kept.map((i) => (all.labels as readonly number[])[i]),
    classNames: all.classNames,
  };
}
