import { resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import type { RunClusterOptions } from './run-cluster.ts';
import type { RunOptions } from './saved-model/run.ts';
import type { ShowOptions } from './saved-model/show.ts';
import type { ServeOptions } from './serve.ts';
import { bytesText, plain, plainLines, table } from './table.ts';

/** Where a command writes. */
export interface Output {
  write(text: string): void;
}

/** The command `eagre`. What its parts need is loaded by them. @throws CommanderError where the command line is wrong, or asks for help @param exit is told an exit code that is no error of the command itself */
export function program(version: string, out: Output, exit: (code: number) => void = () => {}): Command {
  const command = new Command('eagre')
    .description("Eagre's tools")
    .version(version)
    // Errors, help and versions end in a CommanderError with an exit code; the process is the caller's.
    .exitOverride()
    // What stands behind the program of `run` is the program's.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => out.write(text),
      // Like every other error.
      outputError: (text, write) => write(text.replace(/^error: /, 'eagre: ')),
    });
  command
    .command('board')
    .description('a dashboard of event files in the browser; follows them as they grow')
    .requiredOption('--logdir <folder>', 'where the runs are', folder)
    .option('--port <number>', 'of the server; 0 takes any that is free', port, 6006)
    .option(
      '--host <address>',
      'to listen on; another than this machine shows the logs to everybody',
      '127.0.0.1',
    )
    .action(async (options: { logdir: string; port: number; host: string }) => {
      const { serveBoard } = await import('@eagre/board');
      const board = await serveBoard({ ...options, logdir: resolve(options.logdir) });
      // A signal may come as soon as somebody reads the line.
      const stop = interrupted();
      out.write(`Eagre board of ${options.logdir} at ${board.url} (press Ctrl+C to stop)\n`);
      await stop;
      await board.close();
    });
  command
    .command('doctor')
    .description('says what a project computes with, and what is wrong or would be better')
    .argument('[folder]', 'of the project', folder, '.')
    .option('--json', 'print JSON')
    .action(async (dir: string, options: { json?: true }) => {
      const { diagnose, diagnosisText } = await import('./doctor.ts');
      const diagnosis = await diagnose(resolve(dir), version);
      out.write(
        `${options.json ? plainLines(JSON.stringify(diagnosis, undefined, 2)) : diagnosisText(diagnosis)}\n`,
      );
      if (diagnosis.problems.length > 0) exit(1);
    });
  command
    .command('inspect')
    .description(
      'names, shapes, dtypes and sizes in a SavedModel, checkpoint, event file, .keras, .h5, .onnx, .safetensors (or its index), .npz or .npy file',
    )
    .argument(
      '<path>',
      'a file, the prefix of a checkpoint, or a folder with a SavedModel, checkpoints, event files or safetensors',
    )
    .option('--json', 'print JSON')
    .action(async (path: string, options: { json?: true }) => {
      const { contentsText, inspect } = await import('./inspect.ts');
      const contents = await inspect(path);
      out.write(
        `${options.json ? plainLines(JSON.stringify(contents, undefined, 2)) : contentsText(contents)}\n`,
      );
    });
  command
    .command('convert')
    .description('writes a model, or the arrays of a file, in another format; names stay as they are')
    .argument(
      '<source>',
      'a model (.keras, .h5, .onnx, a SavedModel) or arrays (.safetensors, its index or folder, .npz, .npy, .weights.h5, a checkpoint)',
    )
    .argument(
      '<target>',
      'the format is that of its ending; without one a SavedModel or, for arrays, a checkpoint',
    )
    .option('--from <format>', 'of the source, where its path does not tell')
    .option('--to <format>', 'of the target')
    .option('--dtype <dtype>', 'casts all floats: float16, bfloat16, float32, float64')
    .option('--max-shard-size <size>', 'writes files of at most so many bytes, such as 5GB, into a folder')
    .option('--skip-strings', 'leaves out the texts of a checkpoint')
    .option('--overwrite', 'replaces what is there')
    .option('--no-progress', 'shows no progress')
    .action(async (source: string, target: string, given: ConvertCommand) => {
      const { convert } = await import('./convert.ts');
      const { progress, ...options } = given;
      const display = progress && process.stderr.isTTY ? onLine(process.stderr) : undefined;
      try {
        const { from, to, arrays } = await convert(source, target, {
          ...options,
          onProgress: display?.update,
        });
        display?.stop();
        const what = arrays === null ? 'a model' : `${arrays} array${arrays === 1 ? '' : 's'}`;
        out.write(`${plain(target)}: ${to} of ${what}, from ${from}\n`);
      } finally {
        display?.stop();
      }
    });
  const savedModel = command
    .command('saved-model')
    .description('SavedModels: what they hold, and calls of them');
  savedModel
    .command('show')
    .description("what TensorFlow's saved_model_cli shows: tags, signatures, ops and functions")
    .argument('<folder>', 'with a SavedModel', folder)
    .option('--all', 'everything')
    .option('--tag-set <tags>', 'the graph with these tags, such as serve')
    .option('--signature-def <key>', 'inputs and outputs of this signature')
    .option('--list-ops', 'the ops of the graph')
    .action(async (dir: string, options: ShowOptions) => {
      const { showSavedModel } = await import('./saved-model/show.ts');
      out.write(`${plainLines(showSavedModel(dir, options))}\n`);
    });
  savedModel
    .command('run')
    .description('calls a signature, and prints its outputs')
    .argument('<folder>', 'with a SavedModel', folder)
    .requiredOption('--tag-set <tags>', 'the graph with these tags, such as serve')
    .requiredOption('--signature-def <key>', 'the signature, such as serving_default')
    .option('--inputs <files>', "arrays of files: 'x=a.npy;y=b.npz[name]'")
    .option('--input-exprs <values>', "values: 'x=[[1, 2.5]];flag=True'")
    .option('--input-examples <values>', `serialized examples: 'x=[{"age": [22], "name": ["a"]}]'`)
    .option('--outdir <folder>', 'where outputs are written, as .npy files', folder)
    .option('--overwrite', 'replace files that are there')
    .action(async (dir: string, options: RunOptions) => {
      const { runSavedModel } = await import('./saved-model/run.ts');
      await runSavedModel(dir, options, (text) => out.write(`${plainLines(text)}\n`));
    });
  addServe(command, out);
  addRun(command, exit);
  const datasets = command.command('datasets').description('data sets that can be downloaded');
  datasets
    .command('list')
    .description('their names, sizes and licences')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }) => {
      const { list } = await import('@eagre/datasets');
      const all = list();
      if (options.json) return out.write(`${JSON.stringify(all, undefined, 2)}\n`);
      const rows = all.map((d) => [d.name, bytesText(d.bytes), d.licence, d.description]);
      out.write(`${table(['name', 'download', 'licence', 'what it holds'], rows)}\n`);
    });
  datasets
    .command('download')
    .description('downloads and verifies them; what is there already stays')
    .argument('<names...>', 'as `eagre datasets list` tells them')
    .option('--cache <folder>', 'where they are kept')
    .option('--no-progress', 'no progress bar')
    .action(async (names: readonly string[], options: { cache?: string; progress: boolean }) => {
      const { download } = await import('@eagre/datasets');
      const { cache: cacheDir, progress } = options;
      for (const name of names)
        for (const path of await download(name, { cacheDir, progress })) out.write(`${path}\n`);
    });
  return command;
}

/** The options of `convert`, as they are read. */
interface ConvertCommand {
  readonly from?: string;
  readonly to?: string;
  readonly dtype?: string;
  readonly maxShardSize?: string;
  readonly skipStrings?: true;
  readonly overwrite?: true;
  readonly progress: boolean;
}

/** Says what is being done in one line of a terminal, again and again. */
function onLine(to: Output): { update(done: number, total: number, name: string): void; stop(): void } {
  let shown = 0;
  const show = (text: string): void => {
    to.write(`\r${text.padEnd(shown)}`);
    shown = text.length;
  };
  return {
    update: (done, total, name) => show(plain(`${done + 1} of ${total}: ${name}`.slice(0, 78))),
    stop: () => {
      if (shown > 0) to.write(`\r${' '.repeat(shown)}\r`);
      shown = 0;
    },
  };
}

function folder(path: string): string {
  if (path === '') throw new InvalidArgumentError('expected a folder');
  return path;
}

function addServe(command: Command, out: Output): void {
  command
    .command('serve')
    .description("a server for SavedModels, with TensorFlow Serving's REST API")
    .argument('[folder]', 'a SavedModel, the versions of a model (1, 2, …), or several models by their names')
    .option('--port <number>', 'of the server; 0 takes any that is free', port, 8501)
    .option('--host <address>', 'to listen on; 0.0.0.0 lets other machines in', '127.0.0.1')
    .option('--allow-host <name...>', 'further names under which clients reach the server; * for any')
    .option('--name <name>', 'of the model, where it is one; that of the folder by default')
    .option('--config <file>', 'several models in JSON: { "models": { "<name>": { "path": … } } }')
    .option('--batch-size <rows>', 'puts so many rows of requests together', positive)
    .option('--batch-timeout <µs>', 'how long the first of them waits for others', number)
    .option('--poll <seconds>', 'how often new versions are looked for; 0 for never', number)
    .option('--versions <which>', 'latest, all, the newest N (latest:N), or a list (1,2)')
    .option('--label <name=version...>', 'a name for a version, for /labels/<name>', label)
    .option('--timeout <ms>', 'how long a prediction may take', positive)
    .option('--drain-timeout <ms>', 'how long answers may take once it is told to stop', positive)
    .option('--max-body <bytes>', 'the largest body', positive)
    .option('--max-enqueued <requests>', 'how many may wait', positive)
    .option('--max-in-flight <runs>', 'how many run at a time', positive)
    .option('--cors', 'lets pages of other origins in')
    .option('--request-log', 'prints a line of JSON for each request')
    .action(async (folder: string | undefined, options: ServeOptions) => {
      const { serve } = await import('./serve.ts');
      const server = await serve(folder, options, out);
      // A signal may come as soon as somebody reads the line.
      const stop = interrupted();
      out.write(
        `Eagre serves ${Object.keys(server.models).join(', ')} at ${server.url} (press Ctrl+C to stop)\n`,
      );
      await stop;
      await server.close();
    });
}

function addRun(command: Command, exit: (code: number) => void): void {
  command
    .command('run')
    .description(
      'runs a program in several processes that train together (MultiWorkerMirroredStrategy, ParameterServerStrategy)',
    )
    .argument('<program>', 'a file that Node can run')
    .argument('[args...]', 'what the program is given')
    .requiredOption('-n, --processes <number>', 'how many processes on this machine', positive)
    .option('--ps <number>', 'how many parameter servers; a further process is the coordinator then', number)
    .option('--hosts <names>', 'all machines, separated by commas; run the same command on each', hostNames)
    .option('--host-index <number>', 'which of them this one is, where its name does not tell', number)
    .option('--port <number>', 'of the first process on each machine; the others follow', port)
    .option('--max-restarts <number>', 'how often each process is started again when it fails', number, 0)
    .passThroughOptions()
    .action(async (file: string, args: readonly string[], options: RunClusterOptions) => {
      const { runCluster } = await import('./run-cluster.ts');
      exit(await runCluster(file, args, options));
    });
}

function hostNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('expected names separated by commas');
  return names;
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('expected a number that is not negative');
  return value;
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('expected a positive integer');
  return value;
}

/** One more `name=version`. */
function label(text: string, before: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, name, version] = /^(\w+)=(\d+)$/.exec(text) ?? [];
  if (name === undefined || version === undefined)
    throw new InvalidArgumentError('expected <name>=<version>');
  return { ...before, [name]: Number(version) };
}

function port(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65535)
    throw new InvalidArgumentError('expected a number from 0 to 65535');
  return value;
}

function interrupted(): Promise<void> {
  return new Promise((done) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => done());
  });
}
