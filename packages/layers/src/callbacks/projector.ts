import { InvalidArgumentError } from '@eagre/core';
import { makeFolders, writeFileAtomicSync } from '@eagre/formats';
import { nodeBuiltin } from '@eagre/formats/internal';
import type { Layer } from '../layer/layer.ts';
import { Embedding } from '../layers/core/embedding.ts';
import type { Model } from '../models/model.ts';

/** Files for TensorBoard's projector: the rows of embeddings as tables, and `projector_config.pbtxt`, which names them. */
export class Projector {
  readonly #folder: string;
  readonly #metadata: string | Readonly<Record<string, string>> | undefined;

  constructor(folder: string, metadata: string | Readonly<Record<string, string>> | undefined) {
    this.#folder = folder;
    this.#metadata = metadata;
  }

  /** @throws InvalidArgumentError where metadata is given for a layer that is no embedding of the model. */
  check(model: Model): void {
    if (typeof this.#metadata !== 'object') return;
    const names = embeddingsOf(model).map((layer) => layer.name);
    for (const name of Object.keys(this.#metadata)) {
      if (!names.includes(name)) {
        throw new InvalidArgumentError(
          `embeddingsMetadata names the layer '${name}'; embeddings are ${names.join(', ') || 'none'}`,
          'TensorBoard',
        );
      }
    }
  }

  /** Writes the rows that embeddings have now, and a configuration that shows these. */
  write(model: Model, epoch: number): void {
    const { join } = nodeBuiltin('node:path');
    makeFolders(join(this.#folder, 'train'));
    const entries = embeddingsOf(model).map((layer) => {
      const file = `train/${layer.name.replace(/[^\w.-]/g, '_')}-${epoch}.tsv`;
      const { data, shape } = layer.embeddings.ndarray();
      const width = shape[1];
      const rows = Array.from({ length: shape[0] }, (_, i) =>
        data.subarray(i * width, (i + 1) * width).join('\t'),
      );
      writeFileAtomicSync(join(this.#folder, file), new TextEncoder().encode(`${rows.join('\n')}\n`));
      return this.#entry(layer, file, shape);
    });
    writeFileAtomicSync(
      join(this.#folder, 'projector_config.pbtxt'),
      new TextEncoder().encode(entries.join('')),
    );
  }

  #entry(layer: Embedding, file: string, shape: readonly number[]): string {
    const metadata = typeof this.#metadata === 'object' ? this.#metadata[layer.name] : this.#metadata;
    const lines = [
      `tensor_name: ${JSON.stringify(`${layer.name}/embeddings`)}`,
      ...(metadata === undefined ? [] : [`metadata_path: ${JSON.stringify(metadata)}`]),
      ...shape.map((size) => `tensor_shape: ${size}`),
      `tensor_path: ${JSON.stringify(file)}`,
    ];
    return `embeddings {\n${lines.map((line) => `  ${line}\n`).join('')}}\n`;
  }
}

/** Those that have rows. */
function embeddingsOf(model: Model): Embedding[] {
  const found: Embedding[] = [];
  const look = (layer: Layer): void => {
    if (layer instanceof Embedding) found.push(layer);
    for (const inner of layer.sublayers) look(inner);
  };
  look(model);
  return [...new Set(found)];
}
