// Whole files: `tf.io.readFile`, `tf.io.writeFile`, `tf.io.matchingFiles`.
import { InvalidArgumentError, withFileErrors } from '@eagre/backend';
import { type NamedFunction, type Tensor, type TensorLike, Variable } from '@eagre/core';
import {
  byteTensor,
  checkPath,
  context,
  defineFunction,
  kind,
  stringTensor,
  toStrings,
  toText,
} from '@eagre/core/internal';
import { makeFolders, writeFileAtomicSync } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import { PlainCodeNeeded } from '../pipeline/plain-code.ts';
import { matching } from '../readers/list-files.ts';
import { type BytesLike, bytesFrom } from './byte-strings.ts';

/** @throws PlainCodeNeeded while a function is traced, which would read the file once instead of at each run. */
function notTraced(op: string): void {
  if (context.tracer !== null)
    throw new PlainCodeNeeded(
      'files are read and written outside of traced functions, such as in dataset.map',
      op,
    );
}

function pathOf(value: TensorLike, what: string, op: string): string {
  const path = toText(value, what, op);
  checkPath(path, what, op);
  return path;
}

/** The bytes of a file. */
export function readBytes(path: string, op: string): Uint8Array {
  return withFileErrors(path, op, () => new Uint8Array(nodeBuiltin('node:fs').readFileSync(path)));
}

/**
 * The contents of a file, a scalar. Bytes that are no UTF-8 are kept, see `docs/strings.md`.
 * @throws NotFoundError where there is none, FailedPreconditionError for a folder and in traced functions
 */
export const readFile: NamedFunction<[filename: TensorLike], ['filename']> = /* @__PURE__ */ defineFunction(
  'io.readFile',
  { filename: kind.tensor },
  {},
  (filename): Tensor => {
    notTraced('ReadFile');
    return byteTensor([readBytes(pathOf(filename, 'filename', 'ReadFile'), 'ReadFile')], []);
  },
);

/** Writes a file, whole or not at all, and the folders that it needs. */
export const writeFile: NamedFunction<
  [filename: TensorLike, contents: BytesLike],
  ['filename', 'contents'],
  unknown,
  void
> = /* @__PURE__ */ defineFunction(
  'io.writeFile',
  { filename: kind.tensor, contents: kind.tensor },
  {},
  (filename, contents): void => {
    notTraced('WriteFile');
    const path = pathOf(filename, 'filename', 'WriteFile');
    const bytes = bytesFrom(contents, 'contents', 'WriteFile');
    withFileErrors(path, 'WriteFile', () => {
      makeFolders(nodeBuiltin('node:path').dirname(path));
      writeFileAtomicSync(path, bytes);
    });
  },
);

/** The files that match a pattern, or several, in order: with *, ?, [a-z], {a,b} and ** for any folders. */
export const matchingFiles: NamedFunction<[pattern: TensorLike], ['pattern']> =
  /* @__PURE__ */ defineFunction('io.matchingFiles', { pattern: kind.tensor }, {}, (pattern): Tensor => {
    notTraced('MatchingFiles');
    const patterns = toStrings(pattern, 'pattern', 'MatchingFiles');
    if (patterns.rank > 1)
      throw new InvalidArgumentError('pattern must be a scalar or a vector', 'MatchingFiles');
    const found = [...new Set(patterns.strings().flatMap((p) => matching(p, 'MatchingFiles', true)))].sort();
    return stringTensor(found, [found.length]);
  });

/**
 * The files that match a pattern now, as a variable that keeps them, in order. TensorFlow's functions read such a variable at each run.
 * @param pattern a string, or several
 */
export const matchFilenamesOnce: NamedFunction<
  [pattern: TensorLike],
  ['pattern'],
  {
    /** Of the variable that holds the names; `matching_filenames` by default. */
    readonly name?: string | null;
  },
  Variable
> = /* @__PURE__ */ defineFunction(
  'io.matchFilenamesOnce',
  { pattern: kind.tensor },
  { name: kind.asIs },
  (pattern, { name }) =>
    new Variable(matchingFiles(pattern), {
      trainable: false,
      ...(name === null || name === undefined ? {} : { name }),
    }),
);
