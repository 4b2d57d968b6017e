// Models that TensorFlow.js has kept in a page, in headless Chromium: the records are those that it made of the golden models.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { browserPath, openPage, type TestPage } from '@eagre/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Golden {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly x: { readonly data: readonly number[]; readonly shape: readonly number[] };
  readonly outputs: { readonly data: readonly number[] };
}
const golden = (path: string, name: string): Golden => {
  const bytes = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)));
  const { models } = JSON.parse(gunzipSync(bytes).toString()) as { readonly models: readonly Golden[] };
  return models.find((model) => model.name === name) as Golden;
};
const dense = golden('layers/golden/tfjs-layers.json.gz', 'tfjs-dense');
const graph = golden('saved-model/golden/tfjs-graphs.json.gz', 'dense-None');
/** What `save` of TensorFlow.js is given for a model. */
const artifactsOf = ({ files }: Golden): object => {
  const { weightsManifest, ...json } = JSON.parse(
    Buffer.from(files['model.json'] as string, 'base64').toString(),
  );
  const groups = weightsManifest as { paths: string[]; weights: object[] }[];
  const data = groups.flatMap(({ paths }) =>
    paths.map((path) => Buffer.from(files[path] as string, 'base64')),
  );
  return {
    ...json,
    weightSpecs: groups.flatMap(({ weights }) => weights),
    weightData: Buffer.concat(data).toString('base64'),
  };
};

const program = `
import * as tf from 'eagre';
globalThis.tf = tf;
globalThis.told = async (call) => {
  try {
    return ['nothing', await call()];
  } catch ({ name, message }) {
    return [name, message];
  }
};
const bytesOf = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer;
const info = { dateSaved: new Date(1e12), modelTopologyType: 'JSON', modelTopologyBytes: 100, weightSpecsBytes: 20, weightDataBytes: 3 };
/** Keeps records as TensorFlow.js does. */
globalThis.inDatabase = (name, artifacts, weightData = bytesOf(artifacts.weightData)) => new Promise((resolve, reject) => {
  const opening = indexedDB.open('tensorflowjs', 1);
  opening.onupgradeneeded = () => {
    for (const store of ['models_store', 'model_info_store']) opening.result.createObjectStore(store, { keyPath: 'modelPath' });
  };
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const transaction = opening.result.transaction(['models_store', 'model_info_store'], 'readwrite');
    const modelArtifacts = { ...artifacts, weightData };
    transaction.objectStore('models_store').put({ modelPath: name, modelArtifacts, modelArtifactsInfo: info });
    transaction.objectStore('model_info_store').put({ modelPath: name, modelArtifactsInfo: info });
    transaction.oncomplete = () => {
      opening.result.close();
      resolve();
    };
    transaction.onabort = () => reject(transaction.error);
  };
});
globalThis.inTexts = (name, { modelTopology, weightSpecs, weightData, ...metadata }) => {
  const parts = { info, model_topology: modelTopology, weight_specs: weightSpecs, model_metadata: metadata };
  for (const [part, value] of Object.entries(parts)) localStorage.setItem(\`tensorflowjs_models/\${name}/\${part}\`, JSON.stringify(value));
  localStorage.setItem(\`tensorflowjs_models/\${name}/weight_data\`, weightData);
};
`;

describe.skipIf(browserPath === undefined)('models that TensorFlow.js has kept in a page', () => {
  let open: TestPage;
  const tfjs = process.env['EAGRE_TFJS'];
  beforeAll(async () => {
    open = await openPage(program, {
      routes: {
        '/tfjs.js': (_, response) => {
          response.writeHead(200, { 'content-type': 'text/javascript' });
          response.end(readFileSync(join(tfjs as string, 'node_modules/@tensorflow/tfjs/dist/tf.min.js')));
        },
      },
    });
    await open.run(`globalThis.dense = ${JSON.stringify(artifactsOf(dense))};
      globalThis.graph = ${JSON.stringify(artifactsOf(graph))};
      globalThis.x = tf.constant(${JSON.stringify(dense.x.data)}, 'float32', { shape: ${JSON.stringify(dense.x.shape)} });
      globalThis.valuesOf = (model) => Array.from(model.invoke(x).data());`);
  });
  afterAll(async () => {
    await open?.close();
    expect(open?.problems).toEqual([]);
  });
  const near = (found: readonly number[]): void => {
    expect(found).toHaveLength(dense.outputs.data.length);
    found.forEach((value, i) => expect(value).toBeCloseTo(dense.outputs.data[i] as number, 4));
  };

  test('where it has none, no database is made', async () => {
    const read = await open.run(`
      const missing = await told(() => tf.keras.models.loadModel('indexeddb://none'));
      const gone = await told(() => tf.io.removeModel('indexeddb://none'));
      return [missing, gone, await tf.io.listModels(), (await indexedDB.databases()).map(({ name }) => name)];`);
    const nothing = ['NotFoundError', expect.stringContaining('indexeddb://none')];
    expect(read).toEqual([nothing, nothing, {}, ['eagre-models']]);
  });

  test.each([
    ['indexeddb', 'inDatabase'],
    ['localstorage', 'inTexts'],
  ])('models of Keras are loaded, trained, listed, copied and deleted: %s', async (scheme, keep) => {
    const read = await open.run<{ values: readonly number[][]; [key: string]: unknown }>(`
      await ${keep}('my/model', dense);
      const url = '${scheme}://my/model';
      const model = await tf.keras.models.loadModel(url);
      const inFolder = await tf.keras.models.loadModel(url + '/model.json');
      const listed = await tf.io.listModels();
      const notBeside = await told(() => tf.io.copyModel(url, 'indexeddb://copy'));
      await tf.io.copyModel(url, 'opfs://copy/model.json');
      const copied = await tf.keras.models.loadModel('opfs://copy/model.json');
      const values = [model, inFolder, copied].map(valuesOf);
      const steps = Number(model.optimizer.iterations.item());
      const { loss } = model.trainOnBatch(x, tf.zeros([x.shape[0], 1]));
      // What is saved under the name is ours, and found before the other.
      await model.save(url);
      const ours = valuesOf(await tf.keras.models.loadModel(url)).join() === valuesOf(model).join();
      await tf.io.removeModel(url);
      const theirs = valuesOf(await tf.keras.models.loadModel(url));
      await tf.io.removeModel(url);
      await tf.io.removeModel('opfs://copy/model.json');
      return {
        values: [...values, theirs], steps, loss: loss > 0, ours, notBeside,
        listed: [listed[url].bytes, Number(listed[url].dateSaved)],
        gone: await told(() => tf.io.removeModel(url)),
        left: await tf.io.listModels(),
      };`);
    read.values.forEach(near);
    expect(read).toMatchObject({
      steps: 2,
      loss: true,
      ours: true,
      notBeside: ['InvalidArgumentError', expect.stringContaining('ends in .json')],
      listed: [123, 1e12],
      gone: ['NotFoundError', expect.stringContaining(`${scheme}://my/model`)],
      left: {},
    });
  });

  test('graphs too, and weights in several parts', async () => {
    const read = await open.run(`
      const all = new Uint8Array(Uint8Array.from(atob(graph.weightData), (sign) => sign.charCodeAt(0)));
      await inDatabase('net', graph, [all.slice(0, 10).buffer, all.slice(10).buffer]);
      const refused = await told(() => tf.keras.models.loadModel('indexeddb://net'));
      const model = await tf.savedModel.load('indexeddb://net/model.json');
      const y = model.signatures.serving_default({ x: tf.ones([2, 3]) });
      await tf.io.removeModel('indexeddb://net');
      return [refused, Object.keys(y).length];`);
    expect(read).toEqual([['InvalidArgumentError', expect.stringContaining('tf.savedModel.load')], 2]);
  });

  test('what is damaged is named', async () => {
    const read = await open.run(`
      const found = [];
      const load = async (url) => found.push(await told(() => tf.keras.models.loadModel(url)));
      for (const [name, artifacts] of [['a', null], ['b', { ...dense, weightSpecs: 3 }], ['c', { ...dense, modelTopology: null }]]) {
        await inDatabase(name, artifacts ?? {}, artifacts === null ? 'text' : new ArrayBuffer(8));
        await load('indexeddb://' + name);
        await tf.io.removeModel('indexeddb://' + name);
      }
      for (const [part, text] of [['weight_data', '?'], ['model_topology', '{'], ['weight_specs', 'null']]) {
        inTexts('d', dense);
        localStorage.setItem('tensorflowjs_models/d/' + part, text);
        await load('localstorage://d');
      }
      await tf.io.removeModel('localstorage://d');
      return [found.map(([name]) => name), found.map(([, message]) => message).join(' '), await tf.io.listModels()];`);
    expect(read).toEqual([new Array(6).fill('DataLossError'), expect.stringContaining('has no weights'), {}]);
  });

  test.skipIf(tfjs === undefined)('as TensorFlow.js itself keeps them (EAGRE_TFJS)', async () => {
    const same = await open.run(`
      const ours = globalThis.tf;
      const script = document.createElement('script');
      script.src = '/tfjs.js';
      globalThis.tf = undefined;
      await new Promise((resolve) => ((script.onload = resolve), document.head.append(script)));
      const tfjs = globalThis.tf;
      globalThis.tf = ours;
      await tfjs.setBackend('cpu');
      const model = tfjs.sequential({ layers: [tfjs.layers.dense({ units: 2, inputShape: [3], activation: 'tanh' }), tfjs.layers.dense({ units: 1 })] });
      model.compile({ optimizer: 'adam', loss: 'meanSquaredError' });
      const rows = [[1, 2, 3], [3, 1, -2]];
      const [a, b] = [tfjs.tensor(rows), tfjs.tensor([[1], [2]])];
      await model.fit(a, b, { epochs: 3, verbose: 0 });
      const found = [];
      for (const url of ['indexeddb://theirs', 'localstorage://theirs']) {
        await model.save(url, { includeOptimizer: true });
        const again = await ours.keras.models.loadModel(url);
        found.push(again.optimizer.iterations.item(), again.invoke(ours.constant(rows)).sub(model.predict(a).arraySync()).abs().max().item() < 1e-5);
        await ours.io.removeModel(url);
      }
      return [found, Object.keys(await tfjs.io.listModels())];`);
    expect(same).toEqual([[3, true, 3, true], []]);
  });
});
