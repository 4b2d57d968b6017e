import type { Tensor } from '@eagre/core';
import { aliasTensor, Op } from '@eagre/core/internal';

/**
 * What a variable is after an assignment: the value, through which no gradient flows. Its attribute `variable` tells tapes that whoever
 * uses it reads the variable.
 */
export const assignedOp: Op = new Op(
  {
    name: 'AssignedVariable',
    samples: () => [],
    notDifferentiable: 'assigning to a variable cuts it off from what the value was computed from',
  },
  ([value]) => [aliasTensor(value as Tensor, (value as Tensor).shape)],
);
