// Queues of tensors, as `tf.queue` has them. TensorFlow's wait where they are full or empty: here such a node fails, as JavaScript cannot wait.
import type { Tensor } from '@eagre/core';
import { queue } from '@eagre/core';
import { context } from '@eagre/core/internal';
import type { OpCall } from '../op-call.ts';
import type { OpTable, Translate } from '../op-row.ts';
import { QueueHandle } from '../values.ts';

/** Graphs with queues run node by node: a trace would use the queue once. */
const checkEager = (c: OpCall): void => {
  if (context.tracer !== null) throw c.lacks('queues are for eager code, not for a traced function');
};

const newQueue = (c: OpCall, name: string): queue.QueueBase => {
  const shapes = c.shapesAttr('shapes').map((shape) => {
    if (shape === null) throw c.lacks('components of any rank cannot be taken');
    return shape;
  });
  const given = {
    capacity: c.intAttr('capacity', -1),
    dtypes: c.dtypesAttr('component_types'),
    shapes: shapes.length > 0 ? shapes : null,
    name,
  };
  if (c.op.startsWith('FIFO')) return new queue.FIFOQueue(given);
  if (c.op.startsWith('Padding')) return new queue.PaddingFIFOQueue(given);
  // The priority is a component of its own, so that there may be no other one.
  if (c.op.startsWith('Priority')) return new queue.PriorityQueue({ ...given, shapes });
  const [seed, seed2] = [c.intAttr('seed', 0), c.intAttr('seed2', 0)];
  return new queue.RandomShuffleQueue({
    ...given,
    minAfterDequeue: c.intAttr('min_after_dequeue', 0),
    seed: seed === 0 && seed2 === 0 ? null : seed ^ seed2,
  });
};

/** The one queue of a name. */
const named: Translate = (c) => {
  checkEager(c);
  const { resources } = c.runtime.surroundings;
  const name = c.textAttr('shared_name', '') || (c.node.name ?? '');
  const found = resources.get(name);
  if (found === undefined) {
    const made = new QueueHandle(newQueue(c, name));
    resources.set(name, made);
    return made;
  }
  if (!(found instanceof QueueHandle)) throw c.wrong(`'${name}' is no queue`);
  const own = newQueue(c, name);
  const sameKind = own.constructor === found.queue.constructor && own.capacity === found.queue.capacity;
  const textOf = ({ dtypes, shapes }: queue.QueueBase): string => JSON.stringify([dtypes, shapes]);
  if (!sameKind || textOf(own) !== textOf(found.queue))
    throw c.wrong(`there is a queue '${name}' of another kind, capacity, or other components`);
  return found;
};

/** Components as a queue takes them. */
const valueOf = (c: OpCall): Tensor | Tensor[] => {
  const parts = c.xs(1);
  const { dtypes } = c.queue();
  const wrong = parts.findIndex(({ dtype }, i) => dtype !== dtypes[i]);
  if (wrong >= 0) throw c.wrong(`component ${wrong} is ${parts[wrong]?.dtype}, expected ${dtypes[wrong]}`);
  return parts.length === 1 ? (parts[0] as Tensor) : parts;
};
const enqueue: Translate = (c) => {
  checkEager(c);
  c.queue().enqueue(valueOf(c));
};
const enqueueMany: Translate = (c) => {
  checkEager(c);
  c.queue().enqueueMany(valueOf(c));
};

const taken =
  (take: (queue: queue.QueueBase, c: OpCall) => ReturnType<queue.QueueBase['dequeue']>): Translate =>
  (c) => {
    checkEager(c);
    const { dtypes } = c.queue();
    const wanted = c.dtypesAttr('component_types');
    if (wanted.join() !== dtypes.join())
      throw c.wrong(`the queue has components of ${dtypes.join(', ')}, but ${wanted.join(', ')} are wanted`);
    return take(c.queue(), c) as Tensor | readonly Tensor[];
  };
const dequeue = taken((queue) => queue.dequeue());
const dequeueMany = taken((queue, c) => queue.dequeueMany(c.int(1)));
const dequeueUpTo = taken((queue, c) => queue.dequeueUpTo(c.int(1)));

const close: Translate = (c) => {
  checkEager(c);
  c.queue().close(c.boolAttr('cancel_pending_enqueues', false));
};
const size: Translate = (c) => {
  checkEager(c);
  return c.queue().size();
};
const isClosed: Translate = (c) => {
  checkEager(c);
  return c.queue().isClosed();
};

export const queues: OpTable = {
  FIFOQueue: named,
  FIFOQueueV2: named,
  PaddingFIFOQueue: named,
  PaddingFIFOQueueV2: named,
  PriorityQueue: named,
  PriorityQueueV2: named,
  RandomShuffleQueue: named,
  RandomShuffleQueueV2: named,
  QueueEnqueue: enqueue,
  QueueEnqueueV2: enqueue,
  QueueEnqueueMany: enqueueMany,
  QueueEnqueueManyV2: enqueueMany,
  QueueDequeue: dequeue,
  QueueDequeueV2: dequeue,
  QueueDequeueMany: dequeueMany,
  QueueDequeueManyV2: dequeueMany,
  QueueDequeueUpTo: dequeueUpTo,
  QueueDequeueUpToV2: dequeueUpTo,
  QueueSize: size,
  QueueSizeV2: size,
  QueueClose: close,
  QueueCloseV2: close,
  QueueIsClosed: isClosed,
  QueueIsClosedV2: isClosed,
};
