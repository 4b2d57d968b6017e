// Eagre's server for serve.mjs: serves a SavedModel until it is told to stop.
import * as tf from 'eagre';

const [folder, rows] = process.argv.slice(2);
const server = await tf.serving.createServer(folder, {
  name: 'cnn',
  port: 0,
  pollSeconds: 0,
  batching: rows === '0' ? false : { maxBatchSize: Number(rows), batchTimeoutMicros: 0 },
});
console.log(`at ${server.url}/v1/models/cnn:predict`);
process.once('SIGTERM', () => server.close());
