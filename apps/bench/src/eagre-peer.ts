// Eagre's side: the built packages, as a user has them, in a process of its own.
import { createRequire } from 'node:module';
import { nativeUnavailable } from '@eagre/backend-native';
import { answer, threadsSet, warmUp } from './eagre-answers.ts';
import { serve } from './serve.ts';

await threadsSet(Number(process.argv[process.argv.indexOf('--threads') + 1]));
const notes = warmUp();
if (nativeUnavailable !== undefined)
  notes.push('native kernels could not be loaded: the JavaScript backend ran');

const { version } = createRequire(import.meta.url)('eagre/package.json') as { version: string };
await serve({ ready: true, version, notes }, answer);
