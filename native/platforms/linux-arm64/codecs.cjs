// Where the addon for pictures in files is: beside this file where it is published, or a checkout's own build.
const { existsSync } = require('node:fs');

const files = [`${__dirname}/eagre_codecs.node`, `${__dirname}/../../build/Release/eagre_codecs.node`];
const file = files.find(existsSync);
if (file === undefined) throw new Error('the addon for pictures is not built: run `pnpm build:native`');
module.exports = file;
