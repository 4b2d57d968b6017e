// Runs every check against the real tools: the Python programs of this folder, with the Python that EAGRE_PYTHON names.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);
const all = readdirSync(folder).filter((name) => name.endsWith('.py'));
const unknown = wanted.filter((name) => !all.includes(`${name}.py`));
if (unknown.length > 0) {
  console.error(
    `there is no ${unknown.join(', ')}; there are ${all.map((name) => name.replace('.py', '')).join(', ')}`,
  );
  process.exit(2);
}
const programs = all.filter((name) => wanted.length === 0 || wanted.includes(name.replace('.py', '')));
const failed = programs.filter((name) => {
  console.log(`\n${name}`);
  const python = process.env.EAGRE_PYTHON ?? 'python3';
  return spawnSync(python, [`${folder}${name}`], { stdio: 'inherit' }).status !== 0;
});
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.join(', ')}`);
  process.exit(1);
}
