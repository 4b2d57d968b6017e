#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import module from 'node:module';

// Node 22 keeps compiled code, so that the next command starts in half of the time.
module.enableCompileCache?.();
const { run } = await import('@eagre/cli');

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
process.exitCode = await run(process.argv.slice(2), version);
