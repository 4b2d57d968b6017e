import type { Workload } from '../workload.ts';
import {
  add10m,
  elementwiseChain1m,
  elementwiseChain10k,
  elementwiseChain10m,
  elementwiseChainFunction,
  softmax,
  sum10m,
  transpose,
} from './arrays.ts';
import {
  autographEager,
  autographFunction,
  hostConditionsConverted,
  hostConditionsPlain,
} from './autograph.ts';
import { whileSumEven, whileSumEvenFunction } from './control.ts';
import { convFwdBwd, convLarge, convOneChannel } from './conv.ts';
import { dataCnnStep, dataPipeline } from './data.ts';
import { gemm256, gemm512, gemm1000, gemm1024, gemm2048, gemmMlp } from './gemm.ts';
import {
  checkpointMemory,
  checkpointRestore,
  checkpointSave,
  importTime,
  rssCnn,
  rssTensors,
  rssTraining,
} from './probes.ts';
import { lstmCell, lstmCellFunction, lstmFunction, lstmStep } from './recurrent.ts';
import { add10, add10Function, add10Tape, adds1000 } from './small.ts';
import {
  adamByHand,
  adamByHandFunction,
  mlpFunction,
  mlpStep,
  mlpStep256,
  mnistCnnFunction,
  mnistCnnStep,
  traceCnn,
} from './steps.ts';
import { summaryScalars } from './summary.ts';
import { layerNorm, transformerFunction, transformerStep } from './transformer.ts';

/** In the order of the table. */
export const workloads: readonly Workload[] = [
  add10,
  add10Tape,
  adds1000,
  gemm256,
  gemm512,
  gemm1000,
  gemm1024,
  gemm2048,
  gemmMlp,
  convFwdBwd,
  convLarge,
  convOneChannel,
  mnistCnnStep,
  mlpStep,
  mlpStep256,
  lstmStep,
  lstmCell,
  transformerStep,
  adamByHand,
  whileSumEven,
  autographEager,
  hostConditionsPlain,
  hostConditionsConverted,
  elementwiseChain10k,
  elementwiseChain1m,
  elementwiseChain10m,
  softmax,
  layerNorm,
  transpose,
  sum10m,
  add10m,
  add10Function,
  lstmCellFunction,
  mnistCnnFunction,
  mlpFunction,
  lstmFunction,
  transformerFunction,
  elementwiseChainFunction,
  adamByHandFunction,
  whileSumEvenFunction,
  autographFunction,
  traceCnn,
  dataPipeline,
  dataCnnStep,
  summaryScalars,
  checkpointSave,
  checkpointRestore,
  checkpointMemory,
  importTime,
  rssTensors,
  rssTraining,
  rssCnn,
];
