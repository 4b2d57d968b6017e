// The addon for collectives between processes: beside this file where it is published, or a checkout's own build; that of another build
// lies beside its addon with the kernels.
const { existsSync } = require('node:fs');
const { dirname } = require('node:path');

const { EAGRE_ADDON } = process.env;
const files = [
  ...(EAGRE_ADDON ? [`${dirname(EAGRE_ADDON)}/eagre_distribute.node`] : []),
  `${__dirname}/eagre_distribute.node`,
  `${__dirname}/../../build/Release/eagre_distribute.node`,
];
const file = files.find(existsSync);
if (file === undefined)
  throw new Error('the addon for collectives was not built, because libgloo was not found');
module.exports = require(file);
