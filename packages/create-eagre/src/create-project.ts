import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { templates } from './templates.ts';

/** Thrown for a folder or a template that a project cannot be made of. Its message says what to do. */
export class CreateError extends Error {
  override readonly name = 'CreateError';
}

/** What {@link createProject} makes. */
export interface CreateProjectOptions {
  /** Where the project goes: a folder that is not there yet, or is empty. */
  readonly folder: string;
  /** The name of a template. */
  readonly template: string;
  /** The version of Eagre that the project asks for. */
  readonly version: string;
}

const root = fileURLToPath(new URL('../templates', import.meta.url));
/** What a folder may have in it already. */
const HARMLESS = ['.git', '.DS_Store'];

/**
 * The name of a package in a folder: the folder's, in lower case, with `-` for what npm does not permit. @throws CreateError where nothing is left of it
 */
export function packageName(folder: string): string {
  const name = basename(resolve(folder))
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9~._-]+/g, '-')
    .replace(/^[._-]+|-+$/g, '')
    .slice(0, 214);
  if (name === '' || name === 'node_modules')
    throw new CreateError(
      `no package can be named after the folder ${folder}: give one with letters or digits`,
    );
  return name;
}

/** Says why a project cannot go into a folder. @returns undefined where it can */
export function refusal(folder: string): string | undefined {
  if (typeof folder !== 'string' || folder === '' || folder.includes('\0'))
    return `the folder must be a path, got ${JSON.stringify(folder)}`;
  const path = resolve(folder);
  try {
    packageName(folder);
    if (!existsSync(path)) {
      const parent = dirname(path);
      if (existsSync(parent) && !statSync(parent).isDirectory())
        return `${parent} is a file: give another folder`;
      return undefined;
    }
    if (!statSync(path).isDirectory()) return `${folder} is a file: give another name`;
    const [first, ...others] = readdirSync(path).filter((name) => !HARMLESS.includes(name));
    if (first === undefined) return undefined;
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    return `${folder} is not empty (it has ${first}${more}): give another name`;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Makes a project of a template. The files are put together beside the folder, and moved into it when all are there.
 *
 * @returns the names of its files and folders at the top.
 * @throws CreateError for a template that is not known, or a folder that has something in it.
 */
export function createProject({ folder, template, version }: CreateProjectOptions): string[] {
  const parts = templates.find(({ name }) => name === template)?.parts;
  if (parts === undefined)
    throw new CreateError(
      `there is no template '${template}': choose ${templates.map(({ name }) => name).join(', ')}`,
    );
  const refused = refusal(folder);
  if (refused !== undefined) throw new CreateError(refused);
  const target = resolve(folder);
  /** The outermost folder that was not there. */
  const made = mkdirSync(target, { recursive: true });
  const draft = join(target, `.eagre-${process.pid}`);
  try {
    for (const part of parts) cpSync(join(root, part), draft, { recursive: true });
    // npm leaves files of this name out of packages.
    renameSync(join(draft, '_gitignore'), join(draft, '.gitignore'));
    const file = join(draft, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as {
      name: string;
      dependencies: Record<string, string>;
    };
    manifest.name = packageName(folder);
    for (const name of Object.keys(manifest.dependencies))
      if (name === 'eagre' || name.startsWith('@eagre/')) manifest.dependencies[name] = `^${version}`;
    writeFileSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
    const names = readdirSync(draft);
    for (const name of names) renameSync(join(draft, name), join(target, name));
    rmSync(draft, { recursive: true });
    return names.sort();
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (made !== undefined) rmSync(made, { recursive: true, force: true });
    throw error;
  }
}
