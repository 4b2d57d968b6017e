// What is told of models: their versions, and the signatures of a version.
import type { VersionStatus } from '../models/served-model.ts';
import type { Servable, TensorInfo } from '../servable/servable.ts';
import { enumOfDType } from './dtype-names.ts';

/** The body of the response to a status request. */
export function statusBody(versions: readonly VersionStatus[]): string {
  return json({
    model_version_status: versions.map(({ version, state, code, message }) => ({
      version: String(version),
      state,
      status: { error_code: code, error_message: message },
    })),
  });
}

/** The body of the response to a metadata request. */
export function metadataBody(model: string, version: number, { signatures }: Servable): string {
  const signatureDef = Object.fromEntries(
    Object.entries(signatures).map(([name, { inputs, outputs, methodName }]) => [
      name,
      {
        inputs: infosOf(inputs),
        outputs: infosOf(outputs),
        method_name: methodName ?? 'tensorflow/serving/predict',
        defaults: {},
      },
    ]),
  );
  return json({
    model_spec: { name: model, signature_name: '', version: String(version) },
    metadata: { signature_def: { signature_def: signatureDef } },
  });
}

function infosOf(infos: Readonly<Record<string, TensorInfo>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(infos).map(([name, info]) => [
      name,
      {
        dtype: enumOfDType(info.dtype),
        tensor_shape: {
          dim: (info.shape ?? []).map((d) => ({ size: String(d ?? -1), name: '' })),
          unknown_rank: info.shape === null,
        },
        name: info.name ?? name,
      },
    ]),
  );
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 1)}\n`;
