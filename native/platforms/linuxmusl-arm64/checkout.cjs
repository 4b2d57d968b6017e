// What a checkout has in the place of the binary: its own build.
const { existsSync } = require('node:fs');

const build = `${__dirname}/../../build/Release/eagre.node`;
if (!existsSync(build)) throw new Error('the addon is not built: run `pnpm build:native`');
module.exports = require(build);
