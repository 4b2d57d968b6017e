/** Ordinary control flow on tensors becomes control flow of graphs. */
export { type Converted, type ConvertOptions, convert } from './convert.ts';
export { AutographError } from './errors.ts';
export type { SourceMap } from './pieces.ts';
export { doNotConvert, type ToGraphOptions, toCode, toGraph } from './to-graph.ts';
