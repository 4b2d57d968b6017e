// Starts programs as a user does, whose shell knows nothing of this workspace.
import { spawn } from 'node:child_process';

/** Without what pnpm and npm tell the programs that they start, and without what tests set for Eagre. */
export function environment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_OPTIONS$|NODE_ENV$|VITEST|EAGRE_(ADDON|BACKEND)$)/i.test(name),
  );
  return { ...Object.fromEntries(kept), TURBO_TELEMETRY_DISABLED: '1' };
}

/**
 * Runs a program in a folder, with more in its environment.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {Readonly<Record<string, string>>} more
 * @returns {Promise<string>} what it prints
 * @throws Error with all that it says if it fails
 */
export function run(program, args, cwd, more = {}) {
  const shell = process.platform === 'win32' && program !== process.execPath;
  const child = spawn(program, args, { cwd, env: { ...environment(), ...more }, shell });
  return new Promise((resolve, reject) => {
    let out = '';
    let all = '';
    child.stdout.on('data', (text) => {
      out += text;
      all += text;
    });
    child.stderr.on('data', (text) => (all += text));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) resolve(out.trim());
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code ?? signal}:\n${all}`));
    });
  });
}
