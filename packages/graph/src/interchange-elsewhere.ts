// What pages have in place of `interchange.ts`: graphs there can be written once it is imported.

import { encodeGraphDef, graphDef } from './interchange/graph-def.ts';
import { useWriters } from './late-elsewhere.ts';

useWriters({ encodeGraphDef, graphDef });

export * from './interchange.ts';
