import type { Kernel, KernelName, TensorRef } from '@eagre/backend';
import { type NumberArray, numbers } from './view.ts';

/**
 * Calls `update` for every variable with its views, the variable first and its gradient last. What is written to the
 * inputs is written to the outputs, which are the same memory. Behind the variables come that many scalars.
 */
function forEachVariable(
  inputs: readonly TensorRef[],
  count: number,
  scalars: number,
  update: (views: readonly NumberArray[]) => void,
): void {
  const each = (inputs.length - scalars) / count;
  for (let i = 0; i < count; i++) update(inputs.slice(i * each, (i + 1) * each).map(numbers));
}

/** The value of a scalar, counted from the end of the inputs. */
function scalar(inputs: readonly TensorRef[], fromEnd: number): number {
  return numbers(inputs[inputs.length - fromEnd])[0];
}

/** The attributes as numbers, a boolean as 0 or 1. */
function options(attrs: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(Object.entries(attrs).map(([name, value]) => [name, Number(value)]));
}

// Every new value is computed in float64, rounded when it is stored, and read again where it is used further: so the
// variable follows from the slots as they will be found at the next step.

const gradientDescent: Kernel = (inputs, _outputs, attrs) => {
  const { count } = options(attrs);
  const lr = scalar(inputs, 1);
  forEachVariable(inputs, count, 1, ([variable, grad]) => {
    for (let i = 0; i < variable.length; i++) variable[i] -= lr * grad[i];
  });
};

const momentum: Kernel = (inputs, _outputs, attrs) => {
  const { count, momentum, nesterov } = options(attrs);
  const lr = scalar(inputs, 1);
  forEachVariable(inputs, count, 1, ([variable, m, grad]) => {
    for (let i = 0; i < variable.length; i++) {
      m[i] = momentum * m[i] - lr * grad[i];
      variable[i] += nesterov ? momentum * m[i] - lr * grad[i] : m[i];
    }
  });
};

const rmsProp: Kernel = (inputs, _outputs, attrs) => {
  const { count, rho, momentum, epsilon, centered } = options(attrs);
  const lr = scalar(inputs, 1);
  forEachVariable(inputs, count, 1, (views) => {
    const [variable, rms] = views;
    const mg = centered ? views[2] : undefined;
    const mom = momentum > 0 ? views[centered ? 3 : 2] : undefined;
    const grad = views[views.length - 1];
    for (let i = 0; i < variable.length; i++) {
      rms[i] = rho * rms[i] + (1 - rho) * grad[i] * grad[i];
      let square = rms[i];
      if (mg !== undefined) {
        mg[i] = rho * mg[i] + (1 - rho) * grad[i];
        square -= mg[i] * mg[i];
      }
      const step = (lr * grad[i]) / Math.sqrt(square + epsilon);
      if (mom !== undefined) {
        mom[i] = momentum * mom[i] + step;
        variable[i] -= mom[i];
      } else {
        variable[i] -= step;
      }
    }
  });
};

const adam: Kernel = (inputs, _outputs, attrs) => {
  const { count, beta1, beta2, epsilon, weightDecay, amsgrad } = options(attrs);
  const [alpha, lr] = [scalar(inputs, 2), scalar(inputs, 1)];
  forEachVariable(inputs, count, 2, (views) => {
    const [variable, m, v] = views;
    const vhat = amsgrad ? views[3] : undefined;
    const grad = views[views.length - 1];
    for (let i = 0; i < variable.length; i++) {
      m[i] += (grad[i] - m[i]) * (1 - beta1);
      v[i] += (grad[i] * grad[i] - v[i]) * (1 - beta2);
      if (vhat !== undefined) vhat[i] = Math.max(vhat[i], v[i]);
      const scale = Math.sqrt(vhat === undefined ? v[i] : vhat[i]) + epsilon;
      const decayed = variable[i] - variable[i] * weightDecay * lr;
      variable[i] = decayed - (alpha * m[i]) / scale;
    }
  });
};

/** The kernels of the steps of optimizers. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  ApplyGradientDescent: gradientDescent,
  ApplyMomentum: momentum,
  ApplyRMSProp: rmsProp,
  ApplyAdam: adam,
};
