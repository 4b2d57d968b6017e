// Models on a GPU through CUDA, on a fake driver whose kernels run on the processor.
import { fakeCuda, hasFakeCuda } from '../../backend-cuda/src/testing/fake-cuda.ts';
import * as tf from '../src/index.ts';
import { mixedSteps } from './testing/mixed-steps.ts';

const { cudaBackend, cudaUnavailable } = await import('@eagre/backend-cuda');
// What nobody places is computed by the processor here, to compare with.
tf.device('/cpu:0');
const isTested = hasFakeCuda && cudaBackend !== undefined;
if (!isTested) console.log(`CUDA is not tested on ${fakeCuda}: ${cudaUnavailable}`);

// Each kernel costs a compilation.
mixedSteps('cuda', isTested);
