/** Tools for Eagre's own tests: sample values, numeric gradient checks, comparison in units in the last place. */
export {
  type AnyFunction,
  Arguments,
  broken,
  bytesOf,
  LARGE,
  parameters,
  show,
} from './bad-arguments.ts';
export { browserPath, softwareGpuFlags } from './browser.ts';
export { maxUlp } from './compare.ts';
export { type Findings, fuzz, fuzzAsync, LONGEST_WORK_MS, SEED, workOf } from './fuzz.ts';
export { checkGradients, type GradCheckOptions } from './grad-check.ts';
export { kernelsOfOps } from './kernels-of-ops.ts';
export { fuzzCalls, type Subject } from './mutations.ts';
export { hasWasmModule, openPage, type Route, type TestPage } from './pages.ts';
export { RemoteBackend, type RemoteOptions, remotes } from './remote.ts';
export { packages, sources } from './sources.ts';
export { generator, hasFloats, materialize } from './values.ts';
