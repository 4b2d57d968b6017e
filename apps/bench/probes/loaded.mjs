// The modules that `import 'eagre'` loads, by the size of their source, in a process that has done nothing else: what an import costs.
// `node apps/bench/probes/loaded.mjs --list` prints each.
import { Session } from 'node:inspector';

const session = new Session();
session.connect();
session.post('Debugger.enable');
const modules = [];
session.on('Debugger.scriptParsed', ({ params: { url, length } }) => {
  if (url.startsWith('file:') && !url.endsWith('.cjs')) modules.push({ url, length });
});
await import('eagre');
session.disconnect();
modules.sort((a, b) => b.length - a.length);
if (process.argv.includes('--list')) for (const { url, length } of modules) console.log(length, url);
const characters = modules.reduce((sum, { length }) => sum + length, 0);
console.log(JSON.stringify({ modules: modules.length, characters }));
