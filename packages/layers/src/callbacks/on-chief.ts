// Files that callbacks write where several processes train together.
import { nodeBuiltin } from '@eagre/formats/internal';
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
    const { mkdtempSync, rmSync } = nodeBuiltin('node:fs');
    const { basename, join } = nodeBuiltin('node:path');
    const folder = mkdtempSync(join(nodeBuiltin('node:os').tmpdir(), 'eagre-worker-'));
    try {
      await write(join(folder, basename(path)));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  strategy?.allAgree(true);
}
