import '@eagre/backend-js';
import '@eagre/backend-native';
import './remote.ts';
import { listBackends } from '@eagre/backend';
import { withBackend } from '@eagre/core';
import { execute, listOps } from '@eagre/core/internal';
import { describe, it } from 'vitest';
import { checkGradients } from './grad-check.ts';
import { hasFloats, materialize } from './values.ts';

const differentiable = [...listOps().values()].filter((op) => op.notDifferentiable === undefined);

describe.each(listBackends().map((b) => [b.name] as const))('gradients on %s, to second order', (backend) => {
  for (const op of differentiable) {
    it(op.name, () => {
      for (const [index, sample] of op.samples().entries()) {
        if (!hasFloats(sample)) continue;
        withBackend(backend, () =>
          checkGradients(
            (inputs) => execute(op, inputs, sample.attrs ?? {}),
            materialize(sample, 'float64', index + 1),
            { order: 2 },
          ),
        );
      }
    });
  }
});
