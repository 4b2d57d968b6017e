// A SavedModel on the disk: whole, or not at all.

import { fileError, withFileErrors } from '@eagre/backend';
import { type Entry, writeBundleAsync } from '@eagre/checkpoint/internal';
import { FailedPreconditionError, NotFoundError, ResourceExhaustedError } from '@eagre/core';
import { tensorflow } from '@eagre/formats';
import { deleteLeftoverFolders, folderBeside, nodeBuiltin, replaceFolder } from '@eagre/formats/internal';
import type { SavedModelContents } from './saved-model.ts';

const OP = 'savedModel.save';
// Protocol buffers hold less than 2 GiB.
const MOST_BYTES = 2 ** 31 - 1;

// What is in a folder with a SavedModel, by whatever program.
const OWN: ReadonlySet<string> = new Set([
  'saved_model.pb',
  'saved_model.pbtxt',
  'variables',
  'assets',
  'assets.extra',
  'fingerprint.pb',
  'keras_metadata.pb',
]);

/** The values of a checkpoint as they are now: tensors that later assignments do not change. */
export interface Snapshot {
  readonly tensors: readonly (readonly [key: string, value: ReturnType<Entry['attribute']['save']>])[];
}

export function snapshotOf(entries: readonly Entry[]): Snapshot {
  return { tensors: entries.map(({ key, attribute }) => [key, attribute.save()]) };
}

/** @throws FailedPreconditionError for a file, or a folder that holds something else than a SavedModel. */
export function checkTarget(dir: string): void {
  const fs = nodeBuiltin('node:fs');
  const found = withFileErrors(dir, OP, () => fs.statSync(dir, { throwIfNoEntry: false }));
  if (found === undefined) return;
  if (!found.isDirectory())
    throw new FailedPreconditionError(`${dir} is a file, expected a folder or none`, OP);
  const names = withFileErrors(dir, OP, () => fs.readdirSync(dir));
  const others = names.filter((name) => !OWN.has(name) && !isTemporary(name));
  if (others.length > 0)
    throw new FailedPreconditionError(
      `${dir} holds other files (${others.slice(0, 3).join(', ')}), which a save would lose: give a folder of its own`,
      OP,
    );
}

/** @throws NotFoundError for an asset that is not there or no file. */
export function checkAssets(assets: SavedModelContents['assets']): void {
  const fs = nodeBuiltin('node:fs');
  for (const path of assets.values())
    if (withFileErrors(path, OP, () => fs.statSync(path, { throwIfNoEntry: false }))?.isFile() !== true)
      throw new NotFoundError(`the asset ${path} is not a file`, OP);
}

/** Writes a SavedModel beside its folder, and puts it there when it is complete. */
export async function writeSavedModel(
  dir: string,
  { proto, objectGraph, assets }: SavedModelContents,
  { tensors }: Snapshot,
): Promise<void> {
  const fs = nodeBuiltin('node:fs');
  const { join, resolve } = nodeBuiltin('node:path');
  const bytes = tensorflow.SavedModel.encode(proto);
  if (bytes.length > MOST_BYTES)
    throw new ResourceExhaustedError(
      `the functions take ${bytes.length} bytes, but a SavedModel must keep them in less than 2 GiB: keep large constants in variables`,
      OP,
    );
  const target = resolve(dir);
  const temporary = folderBeside(target);
  try {
    await fs.promises.mkdir(join(temporary, 'assets'), { recursive: true });
    deleteLeftoverFolders(target);
    await writeBundleAsync(join(temporary, 'variables', 'variables'), { graph: objectGraph, tensors });
    for (const [name, path] of assets) await fs.promises.copyFile(path, join(temporary, 'assets', name));
    await writeSynced(join(temporary, 'saved_model.pb'), bytes);
    checkTarget(target);
    replaceFolder(target, temporary);
  } catch (cause) {
    fs.rmSync(temporary, { recursive: true, force: true });
    throw fileError(cause, dir, OP);
  }
}

async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const file = await nodeBuiltin('node:fs').promises.open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

const isTemporary = (name: string): boolean => /^\..+\.[0-9a-z]+-[0-9a-z]+-[0-9a-z]+\.(tmp|old)$/.test(name);
