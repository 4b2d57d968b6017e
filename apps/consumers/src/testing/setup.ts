// Before the tests of consumers: packs all packages, once.
import type { TestProject } from 'vitest/node';
import { pack } from './packed.ts';

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  try {
    const { folder, address, stop } = await pack();
    project.provide('packed', { folder, address });
    return stop;
  } catch (error) {
    // Tests of other packages go on.
    const { stdout, stderr } = error as { stdout?: unknown; stderr?: unknown };
    const said = [error, stdout, stderr].filter((text) => text != null).join('\n');
    project.provide('packed', `The packages could not be packed: ${said}`);
    return undefined;
  }
}
