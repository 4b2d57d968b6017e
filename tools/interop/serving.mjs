// Serves the SavedModels in a folder, each under its name, until the input ends; serving.py asks.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

// On sources: EAGRE_ENTRY=$PWD/packages/eagre/src/index.ts, under tsx.
const tf = await import(process.env.EAGRE_ENTRY ?? '../../packages/eagre/dist/index.js');

const [folder] = process.argv.slice(2);
const models = Object.fromEntries(readdirSync(folder).map((name) => [name, join(folder, name)]));
const server = await tf.serving.createServer(models, { port: 0, batching: { batchTimeoutMicros: 2000 } });
console.log(server.url);
process.stdin.resume().once('end', () => server.close());
