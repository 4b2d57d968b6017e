import { type ProbeWorkload, ratio } from '../workload.ts';

export const importTime: ProbeWorkload = {
  kind: 'probe',
  name: 'import',
  title: "import 'eagre' in a fresh process",
  unit: 's',
  probe: 'import',
  runs: 10,
  python: { torch: ['probes/import.py', 'torch'], tensorflow: ['probes/import.py', 'tensorflow'] },
  targets: [{ kind: 'atMost', value: 0.1 }],
};

// The sizes are in probes/disk.mjs.
const checkpointBytes = 480 * 2 ** 20 + 2000 * 10_000;

function checkpointProbe(
  name: string,
  what: string,
  title: string,
): Pick<ProbeWorkload, 'kind' | 'name' | 'title' | 'probe' | 'args' | 'runs' | 'python'> {
  return {
    kind: 'probe',
    name,
    title,
    probe: 'checkpoint',
    args: [what],
    runs: 3,
    python: { tensorflow: ['probes/checkpoint.py', what] },
  };
}

export const checkpointSave: ProbeWorkload = {
  ...checkpointProbe('checkpoint_save', 'save', '500 MB of variables to the disk by tf.train.Checkpoint'),
  unit: 's',
  bytes: checkpointBytes,
  targets: [{ kind: 'limit', fractions: { 1: 0.7 } }],
};

export const checkpointRestore: ProbeWorkload = {
  ...checkpointProbe('checkpoint_restore', 'restore', 'the same back from the disk, all checked first'),
  unit: 's',
  bytes: checkpointBytes,
  targets: [{ kind: 'limit', fractions: { 1: 0.7 } }],
};

export const checkpointMemory: ProbeWorkload = {
  ...checkpointProbe(
    'checkpoint_memory',
    'memory',
    'the most memory that either needs besides the variables',
  ),
  unit: 'MB',
  targets: [{ kind: 'atMost', value: 64 }],
};

export const rssTensors: ProbeWorkload = {
  kind: 'probe',
  name: 'rss_tensors',
  title: 'peak memory of a loop that makes 300,000 tensors of 4 KB and disposes none',
  unit: 'MB',
  probe: 'rss-tensors',
  runs: 1,
  targets: [{ kind: 'atMost', value: 200 }],
};

export const rssTraining: ProbeWorkload = {
  kind: 'probe',
  name: 'rss_training',
  title: 'memory after 500 training steps of the CNN ÷ after 50, nothing disposed',
  unit: '×',
  probe: 'rss-training',
  runs: 1,
  targets: [{ kind: 'atMost', value: 1.3 }],
};

export const rssCnn: ProbeWorkload = {
  kind: 'probe',
  name: 'rss_cnn',
  title: 'peak memory of a process that trains the CNN for 500 steps, nothing disposed',
  unit: 'MB',
  probe: 'rss-cnn',
  runs: 1,
  python: { torch: ['probes/rss_cnn_torch.py'] },
  targets: [ratio('torch', 1)],
};

const kerasBackends = ['torch', 'tensorflow', 'jax'];

function fitProbe(
  what: string,
  name: string,
  /** Model, `step` or `start`, and a policy. */
  args: readonly string[],
  atLeast: number,
): ProbeWorkload {
  return {
    kind: 'probe',
    name,
    title: what,
    unit: 's',
    probe: 'fit',
    args,
    runs: 3,
    python: Object.fromEntries(
      kerasBackends.map((backend) => [backend, ['probes/fit.py', backend, ...args]]),
    ),
    targets: kerasBackends.map((backend) => ratio(backend, atLeast)),
  };
}

/** Models that `fit` trains, in Keras on each of its backends too. */
const fitted = {
  mlp: '784-128-64-10, batch 32',
  cnn: 'Conv32-pool-Conv64-pool-Dense64-Dense10 of MNIST, batch 32',
  lstm: 'Embedding64-LSTM64 of 80 words, batch 32',
  gpt: 'two Transformer blocks of width 128, 64 tokens, batch 16',
  mobilenet: 'MobileNetV2 of 96 × 96 pixels, batch 16',
};

export const fits: readonly ProbeWorkload[] = Object.entries(fitted).flatMap(([model, title]) => [
  fitProbe(`a step of model.fit: ${title}`, `fit_${model}`, [model, 'step'], 1.5),
  fitProbe(
    `what the first epoch of fit takes beyond its steps: ${title}`,
    `fit_start_${model}`,
    [model, 'start'],
    1 / 0.3,
  ),
]);

/** Models that profit from products of bfloat16, where the processor has tile registers for them. */
const mixed = {
  wide: '784-1024-1024-10, batch 256',
  gpt: fitted.gpt,
};

export const mixedFits: readonly ProbeWorkload[] = Object.entries(mixed).map(([model, title]) =>
  fitProbe(
    `a step of model.fit with the policy mixed_bfloat16: ${title}`,
    `fit_${model}_bfloat16`,
    [model, 'step', 'mixed_bfloat16'],
    1.5,
  ),
);

export const savedModels: readonly ProbeWorkload[] = [
  {
    kind: 'probe',
    name: 'saved_model_load',
    title: 'loading a SavedModel of 100 MB and its first prediction',
    unit: 's',
    probe: 'saved-model',
    args: ['load'],
    runs: 3,
    python: { tensorflow: ['probes/saved-model.py'] },
    targets: [ratio('tensorflow', 2)],
  },
  {
    kind: 'probe',
    name: 'saved_model_predict',
    title: 'a prediction of a loaded CNN ÷ one of the function that was saved',
    unit: '×',
    probe: 'saved-model',
    args: ['predict'],
    runs: 3,
    targets: [{ kind: 'atMost', value: 1.05 }],
  },
  {
    kind: 'probe',
    name: 'saved_model_memory',
    title: 'the most memory that saving a SavedModel of 1 GB takes besides the weights',
    unit: 'MB',
    probe: 'saved-model',
    args: ['memory'],
    runs: 1,
    targets: [{ kind: 'atMost', value: 100 }],
  },
];
