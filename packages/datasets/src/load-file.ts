import { hasFiles, nodeBuiltin } from '@eagre/formats/internal';
import { type Checksum, checksumLike } from './checksum.ts';
import { DatasetError } from './errors.ts';
import { cacheFolder, type FoundFile, findFile, kerasFolders, sharedFolder } from './locate.ts';
import type { LoadOptions } from './options.ts';

/** A file of a data set, as its servers give it. */
export interface RemoteFile {
  /** Its name, which is appended to each mirror. */
  name: string;
  checksum: Checksum;
  /**
   * About its size, to tell people and to bound downloads (`mostBytes`); the checksum is what tells whether it is right. Only those of MNIST's
   * test files and of Tiny Shakespeare were compared with the files; the others are not certain.
   */
  bytes: number;
}

/** The files of a data set and where they are. */
export interface RemoteFiles {
  /** The data set's name, which its folders have. */
  name: string;
  /** URLs of folders that hold the files. */
  mirrors: readonly string[];
  files: readonly RemoteFile[];
}

/** How many bytes of a file are accepted from a server: sizes may be a little wrong, and a proxy may pack them anew. */
function mostBytes({ bytes }: RemoteFile): number {
  return 2 * bytes + 4 * 2 ** 20;
}

/** Where the mirrors have a file. */
export function urlsOf(mirrors: readonly string[], name: string): string[] {
  return mirrors.map((mirror) => `${mirror.replace(/\/$/, '')}/${name}`);
}

/**
 * Finds a file where {@link LoadOptions} say, downloads it otherwise, and compares it with its checksum. `otherNames` are
 * names under which an unpacked copy of it may stand, which has no checksum.
 *
 * @throws DatasetError that names the file when it is missing, corrupt, or not to be had.
 */
export async function loadFile(
  dataset: Pick<RemoteFiles, 'name' | 'mirrors'>,
  file: RemoteFile,
  options: LoadOptions,
  otherNames: readonly string[] = [],
): Promise<FoundFile> {
  if (!hasFiles())
    throw new DatasetError({
      code: 'missing',
      dataset: dataset.name,
      file: file.name,
      what: 'a page has no files',
      hint: 'Fetch the data from a server of yours, and make a dataset of it: tf.data.Dataset.fromTensorSlices',
    });
  const names = [file.name, ...otherNames];
  const { folder } = options;
  if (folder !== undefined) {
    const found = await findFile(folder, names);
    if (found) return verified(dataset.name, file, found, options);
    const unpacked = otherNames.length > 0 ? ' (gzipped or not)' : '';
    const hint = `Put it there${unpacked}, or leave out \`folder\` to have it downloaded`;
    throw missing(
      dataset.name,
      nodeBuiltin('node:path').join(folder, file.name),
      'there is no such file',
      hint,
    );
  }

  const shared = sharedFolder(dataset.name);
  const found = shared === undefined ? undefined : await findFile(shared, names);
  if (found) return verified(dataset.name, file, found, options);

  const cache = cacheFolder(dataset.name, options);
  const cached = await findFile(cache, names);
  // A cached file that is no longer what was downloaded is downloaded again.
  if (cached && (options.offline || !mismatch(file, cached, options)))
    return verified(dataset.name, file, cached, options);

  // What Keras has downloaded. Its folder is shared by all data sets, so that only the very file is taken.
  for (const keras of kerasFolders(dataset.name)) {
    const theirs = await findFile(keras, [file.name]);
    if (theirs && checksumLike(file.checksum, theirs.bytes) === file.checksum) return theirs;
  }

  const path = nodeBuiltin('node:path').join(cache, file.name);
  if (options.offline) {
    const what = `there is no such file${shared === undefined ? '' : `, nor in ${shared}`}`;
    throw missing(dataset.name, path, what, 'Put it there, or allow the download by leaving out `offline`');
  }
  // Only now, as most programs find what they look for.
  const { download } = await import('./download.ts');
  const bytes = await download(
    {
      dataset: dataset.name,
      name: file.name,
      checksum: file.checksum,
      maxBytes: mostBytes(file),
      urls: urlsOf(options.mirrors ?? dataset.mirrors, file.name),
      path,
      hint: `Put ${file.name} into a folder and pass it as \`folder\`, or into $EAGRE_DATASETS/${dataset.name}`,
    },
    options,
  );
  return { path, bytes };
}

function verified(dataset: string, file: RemoteFile, found: FoundFile, options: LoadOptions): FoundFile {
  const got = mismatch(file, found, options);
  if (got === undefined) return found;
  throw new DatasetError({
    code: 'corrupt',
    dataset,
    file: found.path,
    what: 'wrong content',
    expected: file.checksum,
    got,
    hint: 'Delete it and load again; if the file is meant to differ, pass `verify: false`',
  });
}

/** The checksum of a found file if it is not the published one, which an unpacked copy cannot have. */
function mismatch(file: RemoteFile, { path, bytes }: FoundFile, options: LoadOptions): string | undefined {
  const isPacked = nodeBuiltin('node:path').basename(path) === file.name || path.endsWith('.gz');
  if (options.verify === false || !isPacked) return undefined;
  const got = checksumLike(file.checksum, bytes);
  return got === file.checksum ? undefined : got;
}

function missing(dataset: string, file: string, what: string, hint: string): DatasetError {
  return new DatasetError({ code: 'missing', dataset, file, what, hint });
}
