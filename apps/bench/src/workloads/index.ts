import type { Workload } from '../workload.ts';
import { add10m, elementwiseChain1m, elementwiseChain10k, softmax, sum10m } from './arrays.ts';
import { convFwdBwd } from './conv.ts';
import { gemm512, gemm1024, gemmMlp } from './gemm.ts';
import { importTime, rssTensors, rssTraining } from './probes.ts';
import { lstmCell, lstmStep } from './recurrent.ts';
import { add10, add10Tape } from './small.ts';
import { mlpStep, mnistCnnStep } from './steps.ts';
import { layerNorm, transformerStep } from './transformer.ts';

/** In the order of the table. */
export const workloads: readonly Workload[] = [
  gemm512,
  gemm1024,
  gemmMlp,
  convFwdBwd,
  add10,
  add10Tape,
  mnistCnnStep,
  mlpStep,
  lstmStep,
  lstmCell,
  transformerStep,
  elementwiseChain10k,
  elementwiseChain1m,
  softmax,
  layerNorm,
  sum10m,
  add10m,
  importTime,
  rssTensors,
  rssTraining,
];
