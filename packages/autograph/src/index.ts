/** Ordinary control flow on tensors becomes control flow of graphs. */
export type { Converted, ConvertOptions } from './convert.ts';
export { convert } from './declared.ts';
export { AutographError } from './errors.ts';
export type { SourceMap } from './pieces.ts';
export {
  type DoNotConvert,
  doNotConvert,
  type ToGraph,
  type ToGraphOptions,
  toCode,
  toGraph,
} from './to-graph.ts';
