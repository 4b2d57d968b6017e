/** Whether native kernels can be here. Where this is built, Node reads the index in its place, and all others `elsewhere.ts`. */
export { type Codecs, loadCodecs, nativeUnavailable } from './index.ts';
