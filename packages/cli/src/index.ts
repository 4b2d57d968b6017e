import { program } from './program.ts';
import { plainLines } from './table.ts';

/**
 * Runs the command `eagre` with its arguments. Errors are one line on standard error, with the whole of them under `EAGRE_DEBUG`.
 *
 * @returns the exit code.
 */
export async function run(args: readonly string[], version: string): Promise<number> {
  // Whoever reads our output, such as `head`, may have enough of it.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`eagre: ${plainLines(error.message)}\n`);
    process.exit(1);
  });
  let code = 0;
  try {
    const command = program(version, process.stdout, (given) => {
      code = given;
    });
    await command.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
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
