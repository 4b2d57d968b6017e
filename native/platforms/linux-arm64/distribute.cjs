// The addon for collectives between processes: beside this file where it is published, or a checkout's own build.
const { existsSync } = require('node:fs');

const files = [
  `${__dirname}/eagre_distribute.node`,
  `${__dirname}/../../build/Release/eagre_distribute.node`,
];
const file = files.find(existsSync);
if (file === undefined)
  throw new Error('the addon for collectives was not built, because libgloo was not found');
module.exports = require(file);
