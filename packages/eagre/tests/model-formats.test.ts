// docs/model-formats.md: which format is covered in which direction, from the models that the tests and tools/interop go through.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { unzip } from '@eagre/formats';
import { expect, test } from 'vitest';
import { exported } from './testing/onnx-models.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const bytes = (path: string): Uint8Array => new Uint8Array(readFileSync(root + path));
const text = (path: string): string => readFileSync(root + path, 'utf8');

/** SavedModels of TensorFlow, by the names that they have in a golden file. */
const golden = (name: string): readonly string[] => {
  const contents = gunzipSync(bytes(`packages/saved-model/golden/${name}.json.gz`)).toString();
  const { models } = JSON.parse(contents) as { readonly models: readonly { readonly name: string }[] };
  return models.map((model) => model.name);
};
const savedModels = [
  ...['models', 'concrete-functions', 'more-models', 'version1'].flatMap(golden),
  ...golden('composites').map((name) => `composites-${name}`),
];

const tfjsLayers = JSON.parse(gunzipSync(bytes('packages/layers/golden/tfjs-layers.json.gz')).toString()) as {
  readonly models: readonly { readonly name: string }[];
};

const kerasFiles = readdirSync(`${root}packages/layers/golden/keras-files`);
const ending = (end: string): string[] =>
  kerasFiles.filter((name) => name.endsWith(end)).map((name) => name.slice(0, -end.length));

const onnxInfo = unzip(bytes('packages/onnx/golden/models.zip')).find(({ name }) => name === 'info.json');
const onnxModels = JSON.parse(new TextDecoder().decode(onnxInfo?.bytes)) as { readonly models: object };

/** The models that tools/interop/tfjs.mjs writes, by the names that it gives them. */
const forTfjs = (kind: 'graph' | 'trained'): string[] =>
  [...text('tools/interop/tfjs.mjs').matchAll(/^await (\w+)\(\s*'(\w+)'/gm)].flatMap(([, fn, name]) =>
    fn === kind || (fn === 'keras' && name !== undefined) ? [name as string] : [],
  );

/** The models that a program of tools/interop saves, by the names that it gives them. */
function interop(path: string): string[] {
  const found = text(path).matchAll(/(?:saved|exported)\(\s*'(\w+)'|^ {2}(\w+): new layers|^ {4}'(\w+)',$/gm);
  return [...new Set([...found].map(([, a, b, c]) => a ?? b ?? c ?? ''))];
}

interface Row {
  readonly format: string;
  readonly direction: string;
  readonly models: readonly string[];
  readonly how: string;
}
const rows: readonly Row[] = [
  {
    format: 'SavedModel',
    direction: 'read',
    models: savedModels,
    how: 'made by TensorFlow and Keras; same results, eagerly and traced (`packages/saved-model/src/load`)',
  },
  {
    format: 'SavedModel',
    direction: 'written',
    models: interop('tools/interop/saved_models.mjs'),
    how: 'loaded, run and trained by TensorFlow, `saved_model_cli` and Keras (`pnpm interop saved_models`)',
  },
  {
    format: 'SavedModel',
    direction: 'read and saved again',
    models: savedModels,
    how: 'the same models, once and twice; same results in TensorFlow (`pnpm interop loaded_models`)',
  },
  {
    format: "TensorFlow.js's graph",
    direction: 'read',
    models: golden('tfjs-graphs'),
    how: 'made by TensorFlow in the form of the converter; same results as in TensorFlow.js 4.22, also saved again as SavedModels (`packages/saved-model/src/load/graph-model.test.ts`)',
  },
  {
    format: "TensorFlow.js's graph",
    direction: 'written',
    models: forTfjs('graph'),
    how: 'functions and models of Keras, run by TensorFlow.js 4.22 (`pnpm interop tfjs`)',
  },
  {
    format: '`.keras`',
    direction: 'read',
    models: ending('.keras'),
    how: 'made by Keras 3; same predictions, and same losses of further training (`packages/layers/src/saving`)',
  },
  {
    format: '`.keras`, `.weights.h5`',
    direction: 'written',
    models: ending('.keras'),
    how: 'the same models, loaded and trained by Keras 3 (`pnpm interop keras_files`)',
  },
  {
    format: '`.weights.h5`',
    direction: 'read',
    models: ending('.weights.h5').filter((name) => !name.startsWith('sharded_')),
    how: 'made by Keras 3',
  },
  {
    format: 'older `.h5`',
    direction: 'read',
    models: ending('.h5').filter((name) => !name.endsWith('.weights')),
    how: 'made by Keras 3 and Keras 2, whole models and weights',
  },
  {
    format: "TensorFlow.js's model of Keras",
    direction: 'read',
    models: tfjsLayers.models.map(({ name }) => name),
    how: 'made by TensorFlow.js 4.22, and by Keras 2 in the form of the converter; same predictions, and same losses of further training (`packages/layers/src/saving/tfjs-model.test.ts`)',
  },
  {
    format: "TensorFlow.js's model of Keras",
    direction: 'written',
    models: forTfjs('trained'),
    how: 'same predictions and, where the model was compiled, same losses of further training in TensorFlow.js 4.22 (`pnpm interop tfjs`)',
  },
  {
    format: 'ONNX',
    direction: 'read',
    models: Object.keys(onnxModels.models),
    how: 'made by PyTorch and scikit-learn; same results as in onnxruntime (`packages/onnx/src/load`)',
  },
  {
    format: 'ONNX',
    direction: 'written',
    models: Object.keys(exported),
    how: 'opset 17 to 21, checked by `onnx.checker` and run by onnxruntime (`pnpm interop onnx_exports`)',
  },
  {
    format: 'safetensors',
    direction: 'both',
    models: readdirSync(`${root}apps/examples/golden`).filter((name) => !name.includes('.')),
    how: 'models of `transformers`, also in several files; same logits and generated tokens (`apps/examples`)',
  },
];

test('the page of formats', async () => {
  for (const { models, format, direction } of rows)
    expect(models.length, `${format} ${direction}`).toBeGreaterThanOrEqual(format === 'safetensors' ? 3 : 6);
  const lines = rows.map(
    ({ format, direction, models, how }) => `| ${format} | ${direction} | ${models.length} | ${how} |`,
  );
  const lists = rows.map(
    ({ format, direction, models }) => `- ${format}, ${direction}: ${[...models].sort().join(', ')}.`,
  );
  const page = `# Formats of models

What is covered, format by format. \`packages/eagre/tests/model-formats.test.ts\` writes this page from the models that tests and \`pnpm interop\` go
through. The guides: [SavedModels](saved-models.md) and their [ops](saved-model-ops.md), [Keras's files](saving-models.md), [ONNX](onnx.md) and its [ops](onnx-ops.md),
[models of Hugging Face](hugging-face.md). \`eagre convert\` goes from one to the other, see [the command line](cli.md).

| format | direction | models | how it is checked |
| --- | --- | --- | --- |
${lines.join('\n')}

## The models

${lists.join('\n')}
`;
  await expect(page).toMatchFileSnapshot('../../../docs/model-formats.md');
});
