import { spawn } from 'node:child_process';
import { relative, resolve } from 'node:path';
import { cancel, intro, isCancel, log, outro, select, text } from '@clack/prompts';
import { Command, CommanderError, Option } from 'commander';
import { CreateError, createProject, packageName, refusal } from './create-project.ts';
import { type Template, templates } from './templates.ts';

export { CreateError, type CreateProjectOptions, createProject, packageName } from './create-project.ts';
export { type Template, templates } from './templates.ts';

/** The folder, where nobody is asked and none is given. */
const FOLDER = 'eagre-project';
/** The managers of packages that have `create`, by the name that they tell programs. */
const MANAGERS = ['npm', 'pnpm', 'yarn', 'bun'];

/**
 * Runs the command `create-eagre` with its arguments: asks for what they leave out if somebody is there to answer, makes the project, installs its packages,
 * and prints what to run next.
 *
 * @returns the exit code.
 */
export async function run(args: readonly string[], version: string): Promise<number> {
  let code = 0;
  const command = new Command('create-eagre')
    .description('starts a project with Eagre')
    .version(version)
    .exitOverride()
    .argument('[folder]', 'where the project goes; it is named after it')
    .addOption(
      new Option('-t, --template <name>', 'what it starts from').choices(templates.map(({ name }) => name)),
    )
    .option('--no-install', 'does not install packages')
    .addHelpText(
      'after',
      `\nTemplates:\n${templates.map(({ name, description }) => `  ${name.padEnd(8)}${description}`).join('\n')}`,
    )
    .action(async (folder: string | undefined, options: { template?: string; install: boolean }) => {
      code = await create(folder, { ...options, version });
    });
  try {
    await command.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    const { message, code: system } = error as NodeJS.ErrnoException;
    // Errors of the system, such as a folder that nobody may write to, have a code.
    if (!(error instanceof CreateError) && system === undefined) throw error;
    process.stderr.write(`create-eagre: ${message}\n`);
    return 1;
  }
}

async function create(
  given: string | undefined,
  options: { readonly template?: string; readonly install: boolean; readonly version: string },
): Promise<number> {
  const asks = Boolean(process.stdin.isTTY && process.stdout.isTTY) && process.env['CI'] === undefined;
  const { version } = options;
  if (asks) intro(`Eagre ${version}`);
  const folder = given ?? (asks ? await askFolder() : FOLDER);
  if (folder === undefined) return 1;
  // Nobody chooses a template for a folder that is refused.
  const refused = refusal(folder);
  if (refused !== undefined) throw new CreateError(refused);
  const template = options.template ?? (asks ? await askTemplate() : (templates[0] as Template).name);
  if (template === undefined) return 1;
  createProject({ folder, template, version });
  const place = relative('.', resolve(folder));
  say(asks, `${packageName(folder)} is in ${place || '.'} (template ${template})`);
  const manager = managerOf(process.env['npm_config_user_agent']);
  const installed = options.install && (await install(manager, folder, asks));
  const { scripts } = templates.find(({ name }) => name === template) as Template;
  const lines = [
    ...(place === '' ? [] : [`cd ${/\s/.test(place) ? `"${place}"` : place}`]),
    ...(installed ? [] : [`${manager} install`]),
    ...scripts.map(([script, does]) => `${scriptCommand(manager, script)}   # ${does}`),
  ];
  if (asks) outro(`Next:\n\n${lines.map((line) => `   ${line}`).join('\n')}`);
  else process.stdout.write(`\nNext:\n${lines.map((line) => `  ${line}`).join('\n')}\n`);
  return options.install && !installed ? 1 : 0;
}

async function askFolder(): Promise<string | undefined> {
  const answer = await text({
    message: 'Where does the project go?',
    placeholder: FOLDER,
    defaultValue: FOLDER,
    validate: (value) => refusal(value || FOLDER),
  });
  return unlessCancelled(answer);
}

async function askTemplate(): Promise<string | undefined> {
  const answer = await select({
    message: 'What does it start from?',
    options: templates.map(({ name, description }) => ({ value: name, label: name, hint: description })),
  });
  return unlessCancelled(answer);
}

function unlessCancelled(answer: string | symbol): string | undefined {
  if (!isCancel(answer)) return answer as string;
  cancel('Nothing was made.');
  return undefined;
}

function say(asks: boolean, line: string): void {
  if (asks) log.success(line);
  else process.stdout.write(`${line}\n`);
}

/** The program that runs us, by what it says of itself (`npm/11.0.0 node/v24 …`). */
export function managerOf(agent: string | undefined): string {
  const name = agent?.split('/')[0] ?? '';
  return MANAGERS.includes(name) ? name : 'npm';
}

const scriptCommand = (manager: string, script: string): string =>
  ['start', 'test'].includes(script) || manager !== 'npm'
    ? `${manager} ${manager === 'bun' ? 'run ' : ''}${script}`
    : `npm run ${script}`;

/** @returns whether it went well */
async function install(manager: string, folder: string, asks: boolean): Promise<boolean> {
  say(asks, `installing packages by ${manager}`);
  const quiet = manager === 'npm' ? ['--no-audit', '--no-fund', '--loglevel=error'] : [];
  const status = await new Promise<number | null>((done) => {
    // On Windows they are scripts of the shell.
    const child = spawn(manager, ['install', ...quiet], {
      cwd: folder,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
    child.once('error', () => done(null));
    child.once('close', done);
  });
  if (status !== 0)
    process.stderr.write(
      `create-eagre: ${manager} install failed; the project is there, so try it again in its folder\n`,
    );
  return status === 0;
}
