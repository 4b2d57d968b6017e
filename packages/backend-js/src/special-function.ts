import {
  betaIncomplete,
  gammaIncomplete,
  gammaIncompleteSlope,
  hurwitzZeta,
  InternalError,
  type Kernel,
  type KernelName,
  polygammaOf,
  specialFunctions,
} from '@eagre/backend';
import { numbers } from './view.ts';

type Name = (typeof specialFunctions)[number];

const functions: Readonly<Record<Name, (a: number, b: number, c: number) => number>> = {
  igamma: (a, x) => gammaIncomplete(a, x, false),
  igammac: (a, x) => gammaIncomplete(a, x, true),
  igammaGradA: gammaIncompleteSlope,
  betainc: betaIncomplete,
  zeta: hurwitzZeta,
  polygamma: polygammaOf,
};

/** The kernels of special functions of several arguments. */
export const kernels: Partial<Record<KernelName, Kernel>> = {
  SpecialFunction: (inputs, [y], attrs) => {
    const name = specialFunctions[attrs['function'] as number];
    if (name === undefined || inputs.length !== (name === 'betainc' ? 3 : 2))
      throw new InternalError(`the function ${attrs['function']} of ${inputs.length}`, 'SpecialFunction');
    const of = functions[name];
    const out = numbers(y);
    const [a, b, c = b] = inputs.map(numbers);
    for (let i = 0; i < y.size; i++) out[i] = of(a[i], b[i], c[i]);
  },
};
