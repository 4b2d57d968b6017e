// The addon for GPUs of NVIDIA: beside this file where it is published, or a checkout's own build.
const { existsSync } = require('node:fs');

const files = [`${__dirname}/eagre_cuda.node`, `${__dirname}/../../build/Release/eagre_cuda.node`];
const file = files.find(existsSync);
if (file === undefined) throw new Error('the addon for GPUs is not built: run `pnpm build:native`');
module.exports = require(file);
