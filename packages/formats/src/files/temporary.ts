import { nodeBuiltin } from './node.ts';

/** Calls a function with the path of a new folder, which is deleted when it has ended. */
export async function inTemporaryFolder(write: (folder: string) => void | Promise<void>): Promise<void> {
  const { mkdtempSync, rmSync } = nodeBuiltin('node:fs');
  const folder = mkdtempSync(nodeBuiltin('node:path').join(nodeBuiltin('node:os').tmpdir(), 'eagre-'));
  try {
    await write(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
