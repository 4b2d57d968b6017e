// All ops that are read, by domain and name.
import type { OnnxOp, OpTable } from './node.ts';
import { arrays } from './ops/arrays.ts';
import { attentions } from './ops/attention.ts';
import { control } from './ops/control.ts';
import { elementwise } from './ops/elementwise.ts';
import { files } from './ops/files.ts';
import { ml } from './ops/ml.ts';
import { mlMaps } from './ops/ml-maps.ts';
import { normalization } from './ops/normalization.ts';
import { pooling } from './ops/pooling.ts';
import { products } from './ops/products.ts';
import { quantized } from './ops/quantized.ts';
import { randoms } from './ops/random.ts';
import { recurrent } from './ops/recurrent.ts';
import { reductions } from './ops/reductions.ts';
import { resizing } from './ops/resizing.ts';
import { runtimeFused } from './ops/runtime-fused.ts';
import { runtimeQuantized } from './ops/runtime-quantized.ts';
import { sampling } from './ops/sampling.ts';
import { spectral } from './ops/spectral.ts';
import { mlTexts, runtimeTexts, texts } from './ops/texts.ts';
import { vision } from './ops/vision.ts';

const tables: Readonly<Record<string, readonly OpTable[]>> = {
  '': [
    arrays,
    attentions,
    control,
    elementwise,
    files,
    normalization,
    pooling,
    products,
    quantized,
    randoms,
    recurrent,
    reductions,
    resizing,
    sampling,
    spectral,
    texts,
    vision,
  ],
  'ai.onnx.ml': [ml, mlMaps, mlTexts],
  'com.microsoft': [runtimeFused, runtimeQuantized, runtimeTexts],
};

/** The op of a name, undefined where there is none. */
export function findOp(domain: string, name: string): OnnxOp | undefined {
  for (const table of tables[domain] ?? [])
    if (Object.hasOwn(table, name)) {
      const op = table[name] as OpTable[string];
      return typeof op === 'function' ? { run: op } : op;
    }
  return undefined;
}

/** The names of the ops of a domain. */
export function opNames(domain: string): string[] {
  return (tables[domain] ?? []).flatMap((table) => Object.keys(table)).sort();
}
