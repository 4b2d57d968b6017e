/** Every kernel in plain TypeScript: the reference, and what runs where no native binary does. */
import {
  type Backend,
  dtypesTaken,
  HostAllocator,
  interpretLater,
  registerBackend,
  takes,
} from '@eagre/backend';
import { compute } from './late.ts';

/** The backend of plain TypeScript. Importing this package registers it, with the lowest priority. */
export const jsBackend: Backend = {
  name: 'js',
  deviceType: 'CPU',
  deviceIndex: 0,
  description: 'plain JavaScript, 1 thread',
  allocator: new HostAllocator(),
  kernel(name, inputs) {
    return takes(dtypesTaken(name), inputs) ? compute.kernelOf(name) : undefined;
  },
  elementwise: (program) => compute.compileScalar(program),
  prepare: (plan, allocator) => interpretLater(jsBackend, plan, allocator),
  threads: () => 1,
};

registerBackend(jsBackend, 0);
