import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { CreateError, createProject, managerOf, packageName, run, templates } from './index.ts';

const root = mkdtempSync(join(tmpdir(), 'create-eagre-'));
afterAll(() => rmSync(root, { recursive: true }));
let folder: string;
let count = 0;
beforeEach(() => {
  folder = join(root, `project-${count++}`);
});
const template = 'node';
const version = '1.2.3';

describe.each(templates.map(({ name }) => name))('the template %s', (name) => {
  test('asks for the version, and for what tools of this workspace are of', () => {
    createProject({ folder, template: name, version });
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    for (const [one, range] of Object.entries(dependencies))
      if (/^(@eagre\/|eagre$)/.test(one)) expect(range).toBe('^1.2.3');
    const workspace = readFileSync(new URL('../../../pnpm-workspace.yaml', import.meta.url), 'utf8');
    for (const [one, range] of Object.entries(devDependencies)) {
      const known = new RegExp(`^ {2}'?${one}'?: (.*)$`, 'm').exec(workspace)?.[1];
      if (known !== undefined) expect([one, range]).toEqual([one, known]);
    }
  });
  test('has a README that names its files and scripts', () => {
    createProject({ folder, template: name, version });
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    for (const [, file] of readme.matchAll(/^\| `(.*?)`/gm))
      expect([file, existsSync(join(folder, file as string))]).toEqual([file, true]);
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    for (const [, , script] of readme.matchAll(/^npm (run )?(\w+)/gm))
      expect(Object.keys(scripts)).toContain(script);
    for (const { scripts: told } of templates.filter((one) => one.name === name))
      for (const [script] of told) expect(Object.keys(scripts)).toContain(script);
  });
});

describe('a folder', () => {
  test('that has something in it is refused, and stays as it is', () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    expect(() => createProject({ folder, template, version })).toThrow(/is not empty \(it has mine\.txt\)/);
    expect(readdirSync(folder)).toEqual(['mine.txt']);
  });
  test('may be a new repository', () => {
    mkdirSync(join(folder, '.git'), { recursive: true });
    createProject({ folder, template, version });
    expect(readdirSync(folder)).toContain('package.json');
  });
  test('that is a file, or in one, is refused', () => {
    writeFileSync(folder, '');
    expect(() => createProject({ folder, template, version })).toThrow(/is a file/);
    expect(() => createProject({ folder: join(folder, 'in'), template, version })).toThrow(/is a file/);
  });
  test.each([undefined, null, 3, '', 'a\0b'])('%j is no path', (odd) => {
    expect(() => createProject({ folder: odd as string, template, version })).toThrow(CreateError);
  });
  test('may lie deep', () => {
    createProject({ folder: join(folder, 'a', 'b'), template, version });
    expect(readdirSync(join(folder, 'a', 'b'))).toContain('src');
  });
  test.each([
    ['My App', 'my-app'],
    ['Über.Größe', 'u-ber.gro-e'],
    ['_x', 'x'],
    ['a'.repeat(300), 'a'.repeat(214)],
  ])('%s is a package', (name, expected) => {
    expect(packageName(name)).toBe(expected);
  });
  test.each(['学', '...', 'node_modules', '/'])('%s gives no name', (name) => {
    expect(() => packageName(name)).toThrow(CreateError);
  });
});

test('a template that is not there is refused', () => {
  expect(() => createProject({ folder, template: 'no', version })).toThrow(
    /choose node, page, worker, server, next/,
  );
  expect(existsSync(folder)).toBe(false);
});

test.each([
  [undefined, 'npm'],
  ['npm/11.0.0 node/v24.0.0 linux x64', 'npm'],
  ['pnpm/10.34.8 npm/? node/v24.0.0', 'pnpm'],
  ['bun/1.4.0 npm/? node/v24', 'bun'],
  ['other/1', 'npm'],
])('%s is %s', (agent, manager) => {
  expect(managerOf(agent)).toBe(manager);
});

describe('the command', () => {
  const said: string[] = [];
  beforeEach(() => {
    said.length = 0;
    vi.stubEnv('npm_config_user_agent', undefined);
    for (const stream of [process.stdout, process.stderr])
      vi.spyOn(stream, 'write').mockImplementation((text) => {
        said.push(String(text));
        return true;
      });
    return () => {
      vi.unstubAllEnvs();
      vi.restoreAllMocks();
    };
  });
  test('takes what is not asked from its arguments', async () => {
    expect(await run([folder, '--no-install'], version)).toBe(0);
    expect(said.join('')).toMatch(
      /template node[\s\S]*Next:\n {2}cd .*\n {2}npm install\n {2}npm start {3}# trains/,
    );
    expect(readdirSync(folder)).toContain('package.json');
  });
  test.each([
    [['--template', 'no'], /Allowed choices are node, page, worker, server, next/],
    [['a', 'b'], /too many arguments/],
    [['--other'], /unknown option/],
  ])('%j is refused', async (args, message) => {
    expect(await run(args, version)).toBe(1);
    expect(said.join('')).toMatch(message);
  });
  test('says why a folder is refused', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    expect(await run([folder], version)).toBe(1);
    expect(said.join('')).toMatch(/^create-eagre: .* is not empty/);
  });
  test('shows its help and its version', async () => {
    expect(await run(['--help'], version)).toBe(0);
    expect(said.join('')).toMatch(/Templates:\n {2}node/);
    expect(await run(['--version'], version)).toBe(0);
    expect(said.at(-1)).toBe('1.2.3\n');
  });
});
