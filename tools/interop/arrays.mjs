// Writes the arrays of packages/formats/golden again with Eagre's own encoders; run by arrays.py.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import {
  decodeNpy,
  decodeNpz,
  decodeSafetensors,
  UnsupportedFormatError,
  writeNpyFile,
  writeNpzFile,
  writeSafetensorsFile,
} from '../../packages/formats/dist/index.js';

const golden = new URL('../../packages/formats/golden/', import.meta.url);
const out = process.argv[2];
mkdirSync(out, { recursive: true });
for (const name of readdirSync(golden).filter((file) => /\.(npy|npz|safetensors)$/.test(file))) {
  const bytes = readFileSync(new URL(name, golden));
  try {
    if (name.endsWith('.npy')) await writeNpyFile(`${out}/${name}`, decodeNpy(bytes));
    if (name.endsWith('.npz')) {
      const compress = name !== 'stored.npz';
      await writeNpzFile(`${out}/${name}`, decodeNpz(bytes), { compress });
    }
    if (name.endsWith('.safetensors')) {
      const supported = (key) => key !== 'f1';
      const { tensors, metadata } = decodeSafetensors(bytes, { filter: supported });
      await writeSafetensorsFile(`${out}/${name}`, tensors, metadata);
    }
  } catch (error) {
    if (!(error instanceof UnsupportedFormatError)) throw error;
  }
}
