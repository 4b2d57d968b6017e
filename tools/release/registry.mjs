// A registry to rehearse with: verdaccio, on this machine alone, with nothing in it.
import { fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment } from './run.mjs';

/**
 * Starts it.
 * @param {string} folder where it keeps what is published
 * @param {string} [outside] the registry that it asks for the packages of others; without it, it knows Eagre's only
 * @returns its `address`, the settings for npm (`userconfig`, a file) with which one may publish, and `stop`
 */
export async function startRegistry(folder, outside) {
  mkdirSync(folder, { recursive: true });
  const program = fileURLToPath(new URL('verdaccio.mjs', import.meta.url));
  const child = fork(program, outside ? [folder, outside] : [folder], {
    env: environment(),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr.on('data', (text) => (said += text));
  const address = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the registry ended with ${code}: ${said}`)));
  });
  const stop = () =>
    new Promise((resolve) => {
      if (child.exitCode !== null) return resolve();
      child.once('exit', resolve);
      child.kill();
    });
  try {
    const user = { name: 'rehearsal', password: 'rehearsal', type: 'user', roles: [], date: new Date() };
    const response = await fetch(`${address}-/user/org.couchdb.user:${user.name}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ _id: `org.couchdb.user:${user.name}`, ...user }),
    });
    const { token } = await response.json();
    const userconfig = join(folder, 'npmrc');
    writeFileSync(userconfig, `registry=${address}\n${address.replace(/^http:/, '')}:_authToken=${token}\n`);
    return { address, userconfig, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
