// What pages need for `graph.asGraphDef()`; elsewhere it comes by itself.
import '@eagre/graph/interchange';
