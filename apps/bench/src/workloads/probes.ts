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
