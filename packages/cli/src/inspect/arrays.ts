import { decodeNpy, decodeNpz, decodeSafetensorsHeader, type NDArray, readFileBytes } from '@eagre/formats';
import type { Contents, Item } from './contents.ts';

export async function inspectSafetensors(path: string): Promise<Contents> {
  const { metadata, entries } = decodeSafetensorsHeader(await readFileBytes(path), { file: path });
  const items = [...entries].map(([name, { dtype, shape, begin, end }]) => ({
    name,
    dtype,
    shape,
    bytes: end - begin,
  }));
  return { path, format: 'safetensors', items, about: metadata };
}

export async function inspectNpz(path: string): Promise<Contents> {
  const arrays = decodeNpz(await readFileBytes(path), { file: path });
  return { path, format: 'npz', items: [...arrays].map(([name, array]) => itemOf(name, array)) };
}

export async function inspectNpy(path: string): Promise<Contents> {
  return { path, format: 'npy', items: [itemOf('', decodeNpy(await readFileBytes(path), { file: path }))] };
}

const itemOf = (name: string, { dtype, shape, data }: NDArray): Item => ({
  name,
  dtype,
  shape,
  bytes: data.byteLength,
});
