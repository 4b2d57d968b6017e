// Files that ops read while they run.
import { InvalidArgumentError, withFileErrors } from '@eagre/backend';
import { checkPath } from '../arguments/checks.ts';
import { textOf } from '../ops/strings/bytes.ts';

/** The text of a file. @throws NotFoundError, and InvalidArgumentError where there are no files */
export function textFile(path: string, op: string): string {
  checkPath(path, 'the name of the file', op);
  const fs = globalThis.process?.getBuiltinModule?.('node:fs');
  if (fs === undefined)
    throw new InvalidArgumentError('text files can be read on Node, Bun and Deno only', op);
  return withFileErrors(path, op, () => textOf(new Uint8Array(fs.readFileSync(path))));
}
