// The program that `pack-kernels.mjs` bundles: it finds the programs that GPUs of NVIDIA usually run, compiles them, and writes the archive.
//   node kernels.mjs FILE FIRST CAPABILITY…      compiles the first programs only, unless FIRST is 0
import '@eagre/backend-js';
import { statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import {
  activatedBatchNorm,
  activatedBatchNormGrad,
  elementwiseKernel,
  gpuKernel,
  joinedSums,
  rowNorm,
  rowNormGrad,
  runsOn,
  serveCuda,
  summedColumns,
  summedLayerNorm,
  windowedMaxPoolGrad,
} from '@eagre/gpu-kernels';
import { called, loadCudaAddon } from '../../packages/backend-cuda/src/addon.ts';
import { keyOfText, packKernels } from '../../packages/backend-cuda/src/kernel-archive.ts';
import { textOf } from '../../packages/backend-cuda/src/kernels.ts';
import { findCompiler } from '../../packages/backend-cuda/src/libraries.ts';
import {
  recordAttention,
  recordBroughtProducts,
  recordCalls,
  recordConvolutions,
  recordProducts,
} from '../../packages/testing/src/testing/recorded-calls.ts';
import { recordModels } from './typical-models.mjs';

serveCuda();

/** How many axes elementwise functions are compiled for. */
const MOST_RANK = 4;

/** The programs of a scalar function: inputs of one element or of all, and those that are repeated along some axes. */
function variants(program) {
  const kernel = elementwiseKernel(program);
  if (kernel === undefined || program.inputs.length === 0 || program.inputs.length > 3) return [];
  const lower = (shapes) => {
    const sizeOf = (shape) => shape.reduce((a, b) => a * b, 1);
    const infos = shapes.map((shape, i) => ({ dtype: program.inputs[i], shape, size: sizeOf(shape) }));
    const rank = Math.max(...shapes.map((shape) => shape.length));
    const out = Array.from({ length: rank }, (_, axis) =>
      Math.max(...shapes.map((shape) => shape[axis - rank + shape.length] ?? 1)),
    );
    // Only sizes and numbers of outputs matter here.
    const outputs = program.outputs.map(() => ({ dtype: 'float32', shape: out, size: sizeOf(out) }));
    return kernel.lower(infos, outputs).program;
  };
  const count = program.inputs.length;
  const all = Array.from({ length: 2 ** count }, (_, bits) =>
    Array.from({ length: count }, (_, i) => ((bits >> i) & 1 ? [4] : [])),
  );
  if (count > 1)
    for (let rank = 2; rank <= MOST_RANK; rank++)
      all.push(
        Array.from({ length: count }, (_, i) =>
          Array.from({ length: rank }, (_, axis) => (i === 0 || axis % 2 === 0 ? 2 : 1)),
        ),
      );
  return all.map(lower);
}

/** Products that take the host too long to be recorded: Hopper makes them by wide and by narrow tiles, and in parts of the depth. */
function largeProducts() {
  const programs = new Set();
  for (const dtype of ['bfloat16', 'float16', 'float32'])
    for (const [transposeA, transposeB] of [
      [false, false],
      [true, false],
      [false, true],
    ])
      for (const [rows, columns, depth] of [
        [4096, 4096, 1024],
        [512, 512, 512],
        [256, 256, 8192],
      ])
        for (const [hasBias, activation] of [
          [false, 0],
          [true, 0],
          [true, 1],
        ]) {
          const info = (...shape) => ({ dtype, shape, size: shape.reduce((a, b) => a * b, 1) });
          const inputs = [
            transposeA ? info(depth, rows) : info(rows, depth),
            transposeB ? info(columns, depth) : info(depth, columns),
            ...(hasBias ? [info(columns)] : []),
          ];
          const { dispatches } = gpuKernel('MatMul', [dtype, dtype]).lower({
            inputs,
            outputs: [info(rows, columns)],
            attrs: { transposeA, transposeB, activation },
            same: () => false,
          });
          for (let made = dispatches[0].cuda(90); made !== undefined; made = made.withoutMaps)
            for (const { program } of made.dispatches) programs.add(program);
        }
  return { programs, functions: [] };
}

/** What plans of traced functions call instead of several kernels, in few sizes: programs do not depend on these. */
function tailoredCalls() {
  const programs = new Set();
  const info = (dtype, ...shape) => ({ dtype, shape, size: shape.reduce((a, b) => a * b, 1) });
  const add = (made) => {
    for (const { program } of made?.dispatches ?? []) programs.add(program);
  };
  const epsilon = 1e-3;
  // Of few rows there is nothing to merge.
  for (const dtype of ['bfloat16', 'float32'])
    for (const inner of dtype === 'float32' ? [64] : [64, 63])
      for (const n of [16, 4096]) {
        const x = info(dtype, n, inner);
        const vector = info('float32', inner);
        for (const [hasRelu, more] of [
          [false, []],
          [true, []],
          [false, [x]],
          [true, [x]],
        ])
          add(activatedBatchNorm([x, vector, vector, ...more], epsilon, hasRelu));
        for (const through of ['all', 'offset', 'y', 'sum'])
          add(activatedBatchNormGrad([x, x, vector, vector, vector, x, x], epsilon, through));
        add(summedColumns(x, inner));
        const pooled = info(dtype, 1, 8, 8, inner);
        for (const [size, padding] of [
          [2, 0],
          [3, 1],
        ])
          for (const sum of [[], [pooled]]) {
            const attrs = { window: [size, size], strides: [2, 2], padding: Array(4).fill(padding) };
            add(
              windowedMaxPoolGrad(
                [pooled, info('int32', ...pooled.shape), ...sum],
                info(dtype, 1, 16, 16, inner),
                attrs,
              ),
            );
          }
      }
  for (const width of [512, 1024, 2048, 4096]) {
    const x = info('bfloat16', 4096, width);
    const [vector, row] = [info('float32', width), info('float32', 4096)];
    const attrs = { epsilon, scaled: true, shifted: true };
    add(rowNorm(true)({ inputs: [x, vector, vector], outputs: [x, row, row], attrs }));
    add(summedLayerNorm({ inputs: [x, x, vector, vector], outputs: [x, x, row, row], attrs }));
    for (const more of [[], [x]])
      add(
        rowNormGrad(
          true,
          more.length > 0 ? 'more' : '',
          joinedSums,
        )({ inputs: [x, x, row, row, vector, ...more], outputs: [x, vector, vector] }),
      );
  }
  return { programs, functions: [] };
}

/** All programs, by their texts. */
function texts() {
  const found = new Map();
  const add = (program) => found.set(textOf(program), program);
  for (const record of [
    tailoredCalls,
    largeProducts,
    recordAttention,
    recordProducts,
    recordBroughtProducts,
    recordConvolutions,
    recordCalls,
    recordModels,
  ]) {
    const { programs, functions } = record();
    programs.forEach(add);
    for (const each of functions) variants(each).forEach(add);
  }
  return [...found];
}

const NAME = 'eagre_kernel';

async function main([file, first, ...capabilities]) {
  const { path, version } = findCompiler(loadCudaAddon());
  const all = texts();
  const some = first === '0' ? all : all.slice(0, Number(first));
  const jobs = capabilities
    .map(Number)
    .flatMap((capability) =>
      some.flatMap(([text, program]) => (runsOn(program, capability) ? [{ text, capability }] : [])),
    );
  console.log(
    `${some.length} of ${all.length} programs, ${jobs.length} images, by NVRTC ${version} (${path})`,
  );
  const images = new Array(jobs.length);
  let next = 0;
  let done = 0;
  const work = () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { path } });
      const give = () => {
        if (next === jobs.length) {
          resolve(worker.terminate());
          return;
        }
        worker.postMessage({ number: next, ...jobs[next++] });
      };
      worker.on('message', ({ number, image }) => {
        images[number] = image;
        if (++done % 500 === 0) console.log(`${done} of ${jobs.length}`);
        give();
      });
      worker.on('error', reject);
      give();
    });
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  const archive = packKernels(
    jobs.map(({ text, capability }, i) => ({
      key: keyOfText(text),
      target: `sm_${capability}`,
      image: images[i],
    })),
    version,
  );
  writeFileSync(file, archive);
  const raw = images.reduce((sum, image) => sum + image.length, 0);
  const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  console.log(`${file}: ${mib(statSync(file).size)}, ${mib(raw)} before compression`);
}

if (isMainThread) await main(process.argv.slice(2));
else {
  const addon = loadCudaAddon();
  parentPort.on('message', ({ number, text, capability }) => {
    const image = called(() => addon.compile([workerData.path], text, NAME, capability));
    parentPort.postMessage({ number, image });
  });
}
