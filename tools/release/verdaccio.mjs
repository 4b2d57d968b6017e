// A registry on this machine, in a process of its own: node tools/release/verdaccio.mjs FOLDER [OUTSIDE]  It keeps what is published in the folder,
// asks the registry OUTSIDE for the packages of others, and tells its parent the address.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { argv } from 'node:process';
import { runServer } from 'verdaccio';

const [folder, outside] = argv.slice(2);
// Programs that install keep what an address answered. This one was never there before.
const prefix = `/${Date.now().toString(36)}${process.pid.toString(36)}`;
const ours = { access: '$all', publish: '$authenticated' };
const registry = await runServer({
  self_path: join(folder, 'config.yaml'),
  storage: join(folder, 'storage'),
  url_prefix: `${prefix}/`,
  auth: { htpasswd: { file: join(folder, 'users'), max_users: 1 } },
  uplinks: outside ? { outside: { url: outside, timeout: '2m', maxage: '1h' } } : {},
  packages: {
    eagre: ours,
    'create-eagre': ours,
    '@eagre/*': ours,
    '**': outside ? { access: '$all', proxy: 'outside' } : { access: '$all' },
  },
  web: { enable: false },
  max_body_size: '300mb',
  log: { type: 'file', path: join(folder, 'log.txt'), level: 'warn' },
});
const server = createServer((request, response) => {
  request.url = request.url.startsWith(prefix) ? request.url.slice(prefix.length) || '/' : request.url;
  registry.emit('request', request, response);
});
server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}${prefix}/`));
// It ends with who has started it.
process.on('disconnect', () => process.exit());
