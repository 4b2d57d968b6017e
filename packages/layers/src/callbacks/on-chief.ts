// Files that callbacks write where several processes train together.
import { inTemporaryFolder, nodeBuiltin } from '@eagre/formats/internal';
import type { Model } from '../models/model.ts';
import { strategyOf } from '../trainers/compile.ts';

/**
 * Calls what writes files with the path for them: the given one in the first process. The others write too, for to read what replicas count is
 * the work of all, but into a folder that is deleted afterwards. All go on when the files are there.
 */
export async function onChief(
  model: Model,
  path: string,
  write: (path: string) => void | Promise<void>,
): Promise<void> {
  const strategy = strategyOf(model);
  if (strategy === null || strategy.isChief) await write(path);
  else {
    const { basename, join } = nodeBuiltin('node:path');
    await inTemporaryFolder((folder) => write(join(folder, basename(path))));
  }
  strategy?.allAgree(true);
}
