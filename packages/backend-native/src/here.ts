/** Whether native kernels can be here: Node reads the index, and all others `elsewhere.ts`. */
export { nativeUnavailable } from './index.ts';
