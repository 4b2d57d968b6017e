/** For tests: the archives that tools/golden makes. */
import { readFileSync } from 'node:fs';
import type { Tensor } from '@eagre/core';
import { type onnx, unzip } from '@eagre/formats';
import { tensorOf } from '../tensors.ts';

/** The files of an archive of the golden folder, by name. */
export function goldenArchive(name: string): ReadonlyMap<string, Uint8Array> {
  const bytes = new Uint8Array(readFileSync(new URL(`../../golden/${name}`, import.meta.url)));
  return new Map(unzip(bytes).map((file) => [file.name, file.bytes]));
}

/** The JSON of an archive. */
export function infoOf<T>(files: ReadonlyMap<string, Uint8Array>): T {
  return JSON.parse(new TextDecoder().decode(files.get('info.json'))) as T;
}

/** The values of a prefix, `i` or `o`, in their order; sequences (`i0.0`, `i0.1`) are lists. */
export function valuesOf(graph: onnx.GraphProto, prefix: 'i' | 'o'): (Tensor | Tensor[])[] {
  const found: (Tensor | Tensor[])[] = [];
  for (const proto of graph.initializer ?? []) {
    const match = /^([io])(\d+)(\.\d+)?$/.exec(proto.name ?? '');
    if (match?.[1] !== prefix) continue;
    const [tensor, at] = [tensorOf(proto), Number(match[2])];
    if (match[3] === undefined) found[at] = tensor;
    else found[at] = [...((found[at] as Tensor[] | undefined) ?? []), tensor];
  }
  return found;
}
