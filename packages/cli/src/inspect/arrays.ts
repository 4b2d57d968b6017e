// Arrays in files of NumPy and Hugging Face: headers are enough, however large what follows them is.
import { closeSync, fstatSync, readSync } from 'node:fs';
import { decodeNpyHeader, readFileBytes, SafetensorsModel, unzip } from '@eagre/formats';
import { openRegular } from '@eagre/formats/internal';
import type { Contents, Item } from './contents.ts';
import { numpyDType } from './dtypes.ts';

// No correct header is longer.
const LONGEST_NPY = (1 << 20) + 12;

/** A file, or several by their index or their folder. */
export async function inspectSafetensors(path: string): Promise<Contents> {
  const model = await SafetensorsModel.open(path);
  const entries = [...model.entries];
  const items = entries.map(([name, { dtype, shape, begin, end }]) => ({
    name,
    dtype,
    shape,
    bytes: end - begin,
  }));
  const files = new Set(entries.map(([, { file }]) => file)).size;
  const about = model.path.endsWith('.json') ? { ...model.metadata, files } : model.metadata;
  return { path: model.path, format: 'safetensors', items, about };
}

export async function inspectNpz(path: string): Promise<Contents> {
  const members = unzip(await readFileBytes(path), { file: path });
  const items = members.map(({ name, bytes }) =>
    itemOf(name.replace(/\.npy$/, ''), bytes, bytes.length, `${path}/${name}`),
  );
  return { path, format: 'npz', items };
}

export async function inspectNpy(path: string): Promise<Contents> {
  const { bytes, size } = beginning(path, LONGEST_NPY);
  return { path, format: 'npy', items: [itemOf('', bytes, size, path)] };
}

function itemOf(name: string, start: Uint8Array, fileBytes: number, file: string): Item {
  const { descr, shape, dataStart } = decodeNpyHeader(start, { file });
  const dtype = descr === null ? 'fields' : numpyDType(descr).dtype;
  return { name, dtype, shape, bytes: fileBytes - dataStart };
}

/** At most so many bytes of a file, and the size of it all. */
function beginning(path: string, most: number): { bytes: Uint8Array<ArrayBuffer>; size: number } {
  const file = openRegular(path, 'npy');
  try {
    const { size } = fstatSync(file);
    const bytes = new Uint8Array(Math.min(most, size));
    let at = 0;
    while (at < bytes.length) {
      const count = readSync(file, bytes, at, bytes.length - at, at);
      if (count === 0) break;
      at += count;
    }
    return { bytes: bytes.subarray(0, at), size };
  } finally {
    closeSync(file);
  }
}
