// What writes GraphDefs: Node loads it when one is first written (`late.ts`).
export { encodeGraphDef, graphDef } from './interchange/graph-def.ts';
