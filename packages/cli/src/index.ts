import { CommanderError } from 'commander';
import { program } from './program.ts';
import { plainLines } from './table.ts';

/**
 * Runs the command `eagre` with its arguments. Errors are one line on standard error, with the whole of them under `EAGRE_DEBUG`.
 *
 * @returns the exit code.
 */
export async function run(args: readonly string[], version: string): Promise<number> {
  if (!process.stdout.listeners('error').includes(endWithoutOutput))
    process.stdout.on('error', endWithoutOutput);
  let code = 0;
  try {
    const command = program(version, process.stdout, (given) => {
      code = given;
    });
    await command.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    // It has told what is wrong.
    if (error instanceof CommanderError) return error.exitCode;
    // The system's own errors say neither which file nor what to do.
    const { fileError } = await import('@eagre/core/internal');
    const known = fileError(error);
    const text = known instanceof Error ? known.message : String(known);
    process.stderr.write(
      `eagre: ${plainLines((process.env['EAGRE_DEBUG'] && error instanceof Error && error.stack) || text)}\n`,
    );
    return 1;
  }
}

/** Whoever reads our output, such as `head`, may have enough of it. */
function endWithoutOutput(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`eagre: ${plainLines(error.message)}\n`);
  process.exit(1);
}
