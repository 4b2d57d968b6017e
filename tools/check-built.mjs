// Before a package is packed: has it been built?
import { existsSync } from 'node:fs';

for (const file of ['dist/index.js', 'dist/index.d.ts']) {
  if (existsSync(file)) continue;
  console.error(`${process.cwd()}/${file} is missing: run \`pnpm build\` first.`);
  process.exit(1);
}
