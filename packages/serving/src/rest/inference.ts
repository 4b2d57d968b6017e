// From the body of a request to that of its response.
import { InvalidArgumentError } from '@eagre/backend';
import type { JsonObject } from '../json/json.ts';
import {
  DEFAULT_SIGNATURE,
  type HostTensors,
  type Servable,
  type ServableSignature,
} from '../servable/servable.ts';
import {
  checkExampleSignature,
  classificationsOf,
  exampleInputs,
  examplesOf,
  regressionsOf,
} from './examples.ts';
import { predictInputs, signatureName } from './predict-request.ts';
import { classifyResponse, predictResponse, regressResponse } from './predict-response.ts';

/** What requests ask of a model. */
export type InferenceMethod = 'predict' | 'classify' | 'regress';
/** Computes the outputs of a signature. */
export type Run = (signature: ServableSignature, inputs: HostTensors) => Promise<HostTensors>;

/** A request whose body makes sense, whatever the model is. */
export type Inference = (servable: Servable, run: Run) => Promise<string>;

/**
 * Reads the body of a request as far as no model is needed for it.
 *
 * @throws InvalidArgumentError for a body that no model takes; the promise of the inference, for one that this model does not take
 */
export function inferenceOf(method: InferenceMethod, document: JsonObject): Inference {
  const name = signatureName(document);
  if (method === 'predict') return (servable, run) => predict(servable, run, document, name);
  const examples = examplesOf(document);
  return async (servable, run) => {
    const signature = signatureOf(servable, name);
    if (signature === undefined)
      throw new InvalidArgumentError(`No signature was found with the name: ${name ?? DEFAULT_SIGNATURE}`);
    checkExampleSignature(signature, method);
    const outputs = await run(signature, exampleInputs(examples, signature.inputs));
    return method === 'classify'
      ? classifyResponse(classificationsOf(outputs, examples.length))
      : regressResponse(regressionsOf(outputs, examples.length));
  };
}

async function predict(
  servable: Servable,
  run: Run,
  document: JsonObject,
  name: string | undefined,
): Promise<string> {
  const signature = signatureOf(servable, name);
  if (signature === undefined)
    throw new InvalidArgumentError(
      `Serving signature name: "${name ?? DEFAULT_SIGNATURE}" not found in signature def`,
    );
  if (Object.keys(signature.inputs).length === 0)
    throw new InvalidArgumentError(`Failed to get input map for signature: ${name ?? 'DEFAULT'}`);
  const { format, inputs } = predictInputs(document, signature.inputs);
  return predictResponse(await run(signature, inputs), format);
}

function signatureOf(
  { signatures }: Servable,
  name: string = DEFAULT_SIGNATURE,
): ServableSignature | undefined {
  return Object.hasOwn(signatures, name) ? signatures[name] : undefined;
}
