// The paths of TensorFlow Serving's API.
import { InvalidArgumentError } from '@eagre/backend';
import type { VersionChoice } from '../models/served-model.ts';
import type { InferenceMethod } from './inference.ts';

/** What a request is for. */
export type Target =
  | {
      readonly kind: 'inference';
      readonly model: string;
      readonly choice: VersionChoice;
      readonly method: InferenceMethod;
    }
  | { readonly kind: 'status' | 'metadata'; readonly model: string; readonly choice: VersionChoice };

const MODEL = '/v1/models(?:/(?<model>[^/:]+))';
const VERSION = '(?:/versions/(?<version>\\d+)|/labels/(?<label>[^/:]+))?';
const inference = new RegExp(`^${MODEL}${VERSION}:(?<method>classify|regress|predict)$`, 'i');
const information = new RegExp(`^${MODEL}?${VERSION}(?:/(?<part>metadata))?$`, 'i');

/** @throws InvalidArgumentError for what is none of the API's requests */
export function targetOf(method: string, path: string): Target {
  const match = method === 'POST' ? inference.exec(path) : method === 'GET' ? information.exec(path) : null;
  if (match?.groups === undefined) throw malformed(method, path);
  const {
    model,
    version,
    label,
    method: asked,
    part,
  } = match.groups as Readonly<Record<string, string | undefined>>;
  if (model === undefined) throw new InvalidArgumentError('Missing model name in request.');
  if (version !== undefined && BigInt(version) >= 2n ** 63n)
    throw new InvalidArgumentError(`Failed to convert version: ${version} to numeric.`);
  const target = {
    model: decoded(model, 'model name'),
    choice: { version, label: label === undefined ? undefined : decoded(label, 'model version label') },
  };
  if (method === 'GET') return { kind: part === undefined ? 'status' : 'metadata', ...target };
  // The path may be in any case, but not the method.
  if (asked !== 'predict' && asked !== 'classify' && asked !== 'regress') throw malformed(method, path);
  return { kind: 'inference', ...target, method: asked };
}

const malformed = (method: string, path: string): InvalidArgumentError =>
  new InvalidArgumentError(`Malformed request: ${method} ${path.slice(0, 1000)}`);

function decoded(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidArgumentError(`Failed to decode ${what}:${text.slice(0, 1000)}`);
  }
}
