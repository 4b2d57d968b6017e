// Requests that a new version runs before it is served, so that the first ones of clients are not slow.
import { DataLossError } from '@eagre/backend';
import { nodeBuiltin } from '@eagre/formats/internal';
import { isArray, isObject } from '../json/json.ts';
import { type JsonLimits, parseJson } from '../json/json-reader.ts';
import { type InferenceMethod, inferenceOf } from '../rest/inference.ts';
import { asDocument } from '../rest/predict-request.ts';
import type { Servable } from '../servable/servable.ts';

/** Where a SavedModel has its requests, from its folder on. */
export const WARMUP_FILE = 'assets.extra/eagre_warmup.json';

const MOST = 1000;

/**
 * Runs the requests of a version's warm-up file, where it has one: `{ "requests": [{ "instances": … }, { "method": "classify", "examples": … }] }`.
 *
 * @throws DataLossError for a file of another form, or of more than 1000 requests; what the requests throw
 */
export async function warmUp(folder: string, servable: Servable, limits: JsonLimits): Promise<void> {
  let bytes: Uint8Array;
  try {
    bytes = await nodeBuiltin('node:fs').promises.readFile(`${folder}/${WARMUP_FILE}`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const document = parseJson(bytes, limits);
  const requests = isObject(document) ? document.get('requests') : undefined;
  if (!isArray(requests) || requests.length > MOST)
    throw new DataLossError(`${WARMUP_FILE} must be an object with a list "requests" of at most ${MOST}`);
  const signal = new AbortController().signal;
  for (const request of requests) {
    const body = asDocument(request);
    const method = body.get('method') ?? 'predict';
    if (method !== 'predict' && method !== 'classify' && method !== 'regress')
      throw new DataLossError(`${WARMUP_FILE}: a method must be predict, classify or regress`);
    await inferenceOf(method as InferenceMethod, body)(servable, (signature, inputs) =>
      signature.run(inputs, signal),
    );
  }
}
