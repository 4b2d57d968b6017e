// The packed tests: `node test.mjs [name]`. It exits with 77 where there is no GPU.
import { cudaUnavailable } from '@eagre/backend-cuda';
import { runTests } from './vitest.mjs';

if (cudaUnavailable !== undefined) {
  console.error(`There is no GPU, and nothing was tested on one: ${cudaUnavailable}`);
  process.exit(77);
}
const isRight = await runTests(() => import('../../packages/testing/src/gpu.test.ts'), process.argv[2]);
process.exit(isRight ? 0 : 1);
