/** `tf.io.gfile`: files and folders of this machine. */
import {
  AlreadyExistsError,
  FailedPreconditionError,
  InvalidArgumentError,
  NotFoundError,
  PermissionDeniedError,
  UnimplementedError,
  withFileErrors,
} from '@eagre/backend';
import type { NamedFunction } from '@eagre/core';
import {
  type Arguments,
  argumentsOf,
  checkCount,
  checkFlag,
  checkList,
  checkOneOf,
  checkPath,
  checkText,
  defineFunction,
  defineMethods,
  defineVariadic,
  takesArguments,
} from '@eagre/core/internal';
import { makeFolders } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { matching } from '../readers/list-files.ts';

/** A path is one of this machine. @throws UnimplementedError for those of other places */
function checkLocal(path: unknown, what: string, op: string): string {
  checkPath(path, what, op);
  const scheme = /^(\w+):\/\//.exec(path as string)?.[1];
  if (scheme === undefined) return path as string;
  if (scheme === 'file') return (path as string).slice('file://'.length);
  throw new UnimplementedError(`files of ${scheme}:// cannot be used: only those of this machine`, op);
}

type PathFunction<R> = NamedFunction<[path: string], ['path'], unknown, R>;

const ofPath = <R>(name: string, run: (path: string, op: string) => R): PathFunction<R> =>
  defineFunction<PathFunction<R>>(`io.gfile.${name}`, { path: true }, {}, (path) => {
    const op = `gfile.${name}`;
    const local = checkLocal(path, 'path', op);
    return withFileErrors(local, op, () => run(local, op));
  });
const fs = (): typeof import('node:fs') => nodeBuiltin('node:fs');

/** Whether there is a file or folder. */
export const exists: PathFunction<boolean> = /* @__PURE__ */ ofPath('exists', (path) =>
  fs().existsSync(path),
);
/** Whether there is a folder. */
export const isdir: PathFunction<boolean> = /* @__PURE__ */ ofPath(
  'isdir',
  (path) => fs().existsSync(path) && fs().statSync(path).isDirectory(),
);
/** The names in a folder, in order. @throws NotFoundError where there is no folder */
export const listdir: PathFunction<string[]> = /* @__PURE__ */ ofPath('listdir', (path, op) => {
  if (!fs().statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new NotFoundError(`there is no folder ${path}`, op);
  return fs().readdirSync(path).sort();
});
/** Makes a folder in one that is there. A folder that is there already is left alone. */
export const mkdir: PathFunction<void> = /* @__PURE__ */ ofPath('mkdir', (path) => {
  if (!fs().statSync(path, { throwIfNoEntry: false })?.isDirectory()) fs().mkdirSync(path);
});
/** Makes a folder, and those that it is in. */
export const makedirs: PathFunction<void> = /* @__PURE__ */ ofPath('makedirs', (path) => makeFolders(path));
/** Deletes a file. @throws FailedPreconditionError for a folder */
export const remove: PathFunction<void> = /* @__PURE__ */ ofPath('remove', (path, op) => {
  if (fs().lstatSync(path).isDirectory())
    throw new FailedPreconditionError(`${path} is a folder: use rmtree`, op);
  fs().unlinkSync(path);
});
/** Deletes a folder with all that is in it. @throws NotFoundError where there is none */
export const rmtree: PathFunction<void> = /* @__PURE__ */ ofPath('rmtree', (path) =>
  fs().rmSync(path, { recursive: true }),
);

/** What is known of a file. */
export interface FileStatistics {
  /** In bytes. */
  readonly length: number;
  /** When it was changed last, in nanoseconds since 1970. */
  readonly mtimeNsec: bigint;
  readonly isDirectory: boolean;
}
/** The length of a file, and when it was changed. */
export const stat: PathFunction<FileStatistics> = /* @__PURE__ */ ofPath('stat', (path) => {
  const found = fs().statSync(path, { bigint: true });
  return { length: Number(found.size), mtimeNsec: found.mtimeNs, isDirectory: found.isDirectory() };
});

type Transfer = NamedFunction<
  [src: string, dst: string, overwrite?: boolean],
  ['src', 'dst', 'overwrite'],
  unknown,
  void
>;
const transfer = (name: string, run: (from: string, to: string, op: string) => void): Transfer =>
  defineFunction<Transfer>(
    `io.gfile.${name}`,
    { src: true, dst: true, overwrite: true },
    {},
    (src, dst, overwrite = false) => {
      const op = `gfile.${name}`;
      checkFlag(overwrite, 'overwrite', op);
      const [from, to] = [checkLocal(src, 'src', op), checkLocal(dst, 'dst', op)];
      withFileErrors(from, op, () => {
        fs().statSync(from);
        if (!overwrite && fs().existsSync(to))
          throw new AlreadyExistsError(`${to} exists already: give overwrite: true to replace it`, op);
        run(from, to, op);
      });
    },
  );
/** Copies a file. @throws AlreadyExistsError where the other one exists, unless it may be overwritten */
export const copy: Transfer = /* @__PURE__ */ transfer('copy', (from, to, op) => {
  if (fs().statSync(from).isDirectory()) throw new InvalidArgumentError(`${from} is a folder`, op);
  fs().copyFileSync(from, to);
});
/** Renames a file or folder. @throws AlreadyExistsError where the other one exists, unless it may be overwritten */
export const rename: Transfer = /* @__PURE__ */ transfer('rename', (from, to) => fs().renameSync(from, to));

/** What matches a pattern, or several: files and folders, in order, with *, ?, [a-z], {a,b} and ** for any folders. */
export const glob: NamedFunction<[pattern: string | readonly string[]], ['pattern'], unknown, string[]> =
  /* @__PURE__ */ defineFunction('io.gfile.glob', { pattern: true }, {}, (pattern) => {
    const list = typeof pattern === 'string' ? [pattern] : checkList(pattern, 'pattern', 'gfile.glob');
    return list.flatMap((one) =>
      matching(checkLocal(one, 'pattern', 'gfile.glob'), 'gfile.glob', true).sort(),
    );
  });

/** A folder, and the names of the folders and files in it. */
export type WalkStep = readonly [directory: string, subdirectories: string[], files: string[]];

/** Options of `walk`. */
export interface WalkOptions {
  /** Whether a folder comes before those in it; true by default. */
  readonly topdown?: boolean;
  /** Gets the error of a folder that cannot be read, which is left out. */
  readonly onerror?: ((error: unknown) => void) | null;
}

/** Walks through a folder and those in it. A folder that is not there has no steps. */
export const walk: NamedFunction<
  [top: string],
  ['top'],
  WalkOptions,
  Generator<WalkStep, void, undefined>
> = /* @__PURE__ */ defineFunction(
  'io.gfile.walk',
  { top: true },
  { topdown: true, onerror: true },
  (top, options) => {
    const topdown = checkFlag(options.topdown ?? true, 'topdown', 'gfile.walk');
    const { onerror = null } = options;
    if (onerror !== null && typeof onerror !== 'function')
      throw new InvalidArgumentError('onerror must be a function', 'gfile.walk');
    return steps(checkLocal(top, 'top', 'gfile.walk'), topdown, onerror);
  },
);

function* steps(
  folder: string,
  topdown: boolean,
  onerror: ((error: unknown) => void) | null,
): Generator<WalkStep, void, undefined> {
  let names: string[];
  try {
    names = withFileErrors(folder, 'gfile.walk', () => fs().readdirSync(folder).sort());
  } catch (error) {
    onerror?.(error);
    return;
  }
  const isFolder = (name: string): boolean =>
    fs().statSync(`${folder}/${name}`, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const folders = names.filter(isFolder);
  const step: WalkStep = [folder, folders, names.filter((name) => !folders.includes(name))];
  if (topdown) yield step;
  // Links to folders are not followed: they may go round in circles.
  for (const name of folders) {
    const path = folder.endsWith('/') ? folder + name : `${folder}/${name}`;
    if (!fs().lstatSync(path).isSymbolicLink()) yield* steps(path, topdown, onerror);
  }
  if (!topdown) yield step;
}

/** Parts of a path, one behind the other; a part that begins with / begins anew. */
export const join: (path: string, ...paths: string[]) => string = /* @__PURE__ */ defineVariadic(
  'io.gfile.join',
  { path: true },
  'paths',
  {},
  (path: string, paths: readonly string[]): string => {
    for (const part of [path, ...paths])
      if (typeof part !== 'string') throw new InvalidArgumentError('paths must be strings', 'gfile.join');
    return paths.reduce(
      (all, part) =>
        part.startsWith('/') || all === '' ? part : all.endsWith('/') ? all + part : `${all}/${part}`,
      path,
    );
  },
);

/** What paths may begin with, before ://: those of this machine with `file`, or nothing. */
export const getRegisteredSchemes: NamedFunction<[], [], unknown, string[]> = /* @__PURE__ */ defineFunction(
  'io.gfile.getRegisteredSchemes',
  {},
  {},
  () => ['file', ''],
);

/** How a file is opened: to be read, written anew, or written at its end; with + for both; with b as bytes. */
export type FileMode = `${'r' | 'w' | 'a'}${'' | '+'}${'' | 'b'}` | 'rb+' | 'wb+' | 'ab+';

interface FileArguments {
  readonly name: string;
  readonly mode?: FileMode;
}

/**
 * An open file: `read`, `readline`, `readlines`, `write`, `seek`, `tell`, `size`, `flush`, `close`, and `for…of` over its lines. `using` closes it.
 * In a mode with b, what is read are bytes, else text.
 */
export class GFile {
  readonly name: string;
  readonly mode: FileMode;
  readonly #path: string;
  #file: number | null = null;
  #opened = false;
  #at = 0;

  constructor(...args: Arguments<[name: string, mode?: FileMode], ['name', 'mode']>) {
    const { name, mode = 'r' } = argumentsOf<FileArguments>(GFile, new.target, args);
    this.#path = checkLocal(name, 'name', 'GFile');
    checkText(mode, 'mode', 'GFile');
    checkOneOf(mode.replace('b', ''), ['r', 'w', 'a', 'r+', 'w+', 'a+'], 'mode', 'GFile');
    this.name = name;
    this.mode = mode;
  }

  /** The open file; it is opened by the first use, as in TensorFlow. */
  #open(): number {
    if (this.#file === null) {
      const flags = this.mode.replace('b', '');
      this.#file = withFileErrors(this.#path, 'GFile', () => fs().openSync(this.#path, flags));
      this.#opened = true;
      if (flags.startsWith('a')) this.#at = this.size();
    }
    return this.#file;
  }
  #needs(what: 'reading' | 'writing'): number {
    const reads = this.mode.startsWith('r');
    if (!this.mode.includes('+') && reads !== (what === 'reading'))
      throw new PermissionDeniedError(
        `${this.name} is not open for ${what}: its mode is '${this.mode}'`,
        'GFile',
      );
    return this.#open();
  }
  #bytes(count: number): Uint8Array {
    const file = this.#needs('reading');
    const out = new Uint8Array(Math.max(0, Math.min(count, this.size() - this.#at)));
    const got = withFileErrors(this.#path, 'GFile', () => fs().readSync(file, out, 0, out.length, this.#at));
    this.#at += got;
    return out.subarray(0, got);
  }
  #shown(bytes: Uint8Array): string | Uint8Array {
    if (this.mode.includes('b')) return bytes;
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (cause) {
      throw new InvalidArgumentError(
        `${this.name} holds bytes that are no text: open it with mode 'rb'`,
        'GFile',
        {
          cause,
        },
      );
    }
  }

  /** How many bytes the file has. */
  size(): number {
    return withFileErrors(this.#path, 'GFile', () => fs().statSync(this.#path).size);
  }
  /** The next `n` bytes, or all that are left for -1. */
  read(n?: number): string | Uint8Array;
  read(options: {
    /** How many bytes; -1, the default, for all that are left. */
    readonly n?: number;
  }): string | Uint8Array;
  read(n: unknown = -1): string | Uint8Array {
    checkCount(n, 'n', 'GFile.read', -1);
    return this.#shown(this.#bytes((n as number) < 0 ? Number.POSITIVE_INFINITY : (n as number)));
  }
  /** The next line with its end; empty behind the last. */
  readline(): string | Uint8Array {
    const start = this.#at;
    const parts: number[] = [];
    for (let piece = this.#bytes(PIECE); piece.length > 0; piece = this.#bytes(PIECE)) {
      const end = piece.indexOf(NEWLINE);
      for (const byte of end < 0 ? piece : piece.subarray(0, end + 1)) parts.push(byte);
      if (end >= 0) break;
    }
    this.#at = start + parts.length;
    return this.#shown(Uint8Array.from(parts));
  }
  /** The lines that are left, with their ends. */
  readlines(): (string | Uint8Array)[] {
    return [...this];
  }
  *[Symbol.iterator](): Generator<string | Uint8Array, void, undefined> {
    for (let line = this.readline(); line.length > 0; line = this.readline()) yield line;
  }
  /** Writes text or bytes. */
  write(fileContent: string | Uint8Array): void;
  write(options: {
    /** Text, which is written as UTF-8, or bytes. */
    readonly fileContent: string | Uint8Array;
  }): void;
  write(fileContent: unknown): void {
    if (typeof fileContent !== 'string' && !(fileContent instanceof Uint8Array))
      throw new InvalidArgumentError('fileContent must be text or bytes', 'GFile.write');
    const bytes = typeof fileContent === 'string' ? new TextEncoder().encode(fileContent) : fileContent;
    const file = this.#needs('writing');
    withFileErrors(this.#path, 'GFile', () => {
      for (let done = 0; done < bytes.length; ) {
        const place = this.mode.startsWith('a') ? null : this.#at;
        const count = fs().writeSync(file, bytes, done, bytes.length - done, place);
        done += count;
        this.#at += count;
      }
    });
  }
  /** Goes to a byte: from the start, from where the file is (`whence` 1), or from its end (2). */
  seek(offset: number, whence?: 0 | 1 | 2): void;
  seek(options: {
    /** How many bytes from there; may be negative from where the file is and from its end. */
    readonly offset: number;
    /** From where: 0 is the start, the default; 1 where the file is, 2 its end. */
    readonly whence?: 0 | 1 | 2;
  }): void;
  seek(offset: unknown, whence: unknown = 0): void {
    checkOneOf(whence, [0, 1, 2], 'whence', 'GFile.seek');
    checkCount(offset, 'offset', 'GFile.seek', Number.MIN_SAFE_INTEGER);
    this.#open();
    const from = whence === 0 ? 0 : whence === 1 ? this.#at : this.size();
    if (from + (offset as number) < 0)
      throw new InvalidArgumentError('there is nothing before a file', 'GFile.seek');
    this.#at = from + (offset as number);
  }
  /** Where the file is: which byte is read or written next. */
  tell(): number {
    return this.#at;
  }
  /** Files can go to any byte. */
  seekable(): boolean {
    return true;
  }
  /** Hands everything to the operating system; nothing is held back here. */
  flush(): void {
    if (this.#file !== null && !this.mode.startsWith('r'))
      withFileErrors(this.#path, 'GFile', () => fs().fsyncSync(this.#file as number));
  }
  /** Closes the file; the next use opens it again. Closing twice is no error. */
  close(): void {
    // A file that is written is there, also where nothing was written.
    if (!this.#opened && this.mode.startsWith('w')) this.#open();
    if (this.#file !== null) fs().closeSync(this.#file);
    this.#file = null;
    this.#at = 0;
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

const PIECE = 4096;
const NEWLINE = 0x0a;

takesArguments<FileArguments>(
  { positional: ['name', 'mode'], required: 1, names: { name: true, mode: true } },
  GFile,
);
defineMethods(GFile.prototype, 'GFile', {
  read: { positional: ['n'], required: 0 },
  readline: {},
  readlines: {},
  write: { positional: ['fileContent'] },
  seek: { positional: ['offset', 'whence'], required: 1 },
  size: {},
  tell: {},
  flush: {},
  close: {},
});
