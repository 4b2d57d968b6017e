// Nested arrays, typed arrays and { data, shape } go into every op, and come back out.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from 'eagre';

const nested = [
  [1, 2],
  [3, 4],
];
const typed = { data: Float32Array.of(10, 20, 30, 40), shape: [2, 2] };
export const sum = tf.add(nested, typed);
console.log(sum.array());

export const flat = sum.data();
console.log(flat);

// Files of NumPy.
const folder = await mkdtemp(join(tmpdir(), 'eagre-'));
try {
  await tf.io.writeNpyFile(join(folder, 'sum.npy'), sum.ndarray());
  await tf.io.writeNpzFile(join(folder, 'both.npz'), { sum: sum.ndarray(), half: sum.div(2).ndarray() });
} catch (error) {
  await rm(folder, { recursive: true });
  throw error;
}
export const fromNpy = tf.multiply(await tf.io.readNpyFile(join(folder, 'sum.npy')), 2);
const archive = await tf.io.readNpzFile(join(folder, 'both.npz'));
export const fromNpz = tf.constant(archive.get('half') ?? 0);
await rm(folder, { recursive: true });
console.log(fromNpy, fromNpz);
