/** What writes graphs for other libraries: as GraphDefs, and in ops that those have. Few programs need it, so the index is without it. */
export { compositionOf } from './interchange/composed-ops.ts';
export { expandGraph, type Keeps } from './interchange/expand.ts';
export {
  type Capture,
  type FunctionNames,
  type InnerValue,
  Library,
  Names,
  type WrittenGradient,
} from './interchange/graph-def.ts';
export { type OpSignature, signatureOf as signatureOfOp } from './interchange/op-signatures.ts';
export { streamState } from './interchange/random-def.ts';
