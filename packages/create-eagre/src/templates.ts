/** What a project can start from. */
export interface Template {
  readonly name: string;
  /** One line for whoever chooses. */
  readonly description: string;
  /** The folders in `templates` that its files are in. */
  readonly parts: readonly string[];
  /** The scripts to run after installing, in their order, each with what it does. */
  readonly scripts: readonly (readonly [script: string, does: string])[];
}

/** All templates. */
export const templates: readonly Template[] = [
  {
    name: 'node',
    description: 'a program in Node that trains a classifier, saves it, and predicts',
    parts: ['shared', 'vitest', 'programs', 'node'],
    scripts: [
      ['start', 'trains the model'],
      ['test', 'runs the tests'],
    ],
  },
  {
    name: 'page',
    description: 'a page, by Vite, that trains and draws what it learns',
    parts: ['shared', 'pages', 'page'],
    scripts: [
      ['start', 'opens the page'],
      ['test', 'runs the tests'],
    ],
  },
  {
    name: 'worker',
    description: 'a page that trains in a worker and shows the progress',
    parts: ['shared', 'pages', 'worker'],
    scripts: [
      ['start', 'opens the page'],
      ['test', 'runs the tests'],
    ],
  },
  {
    name: 'server',
    description: 'trains a model and answers predictions over HTTP',
    parts: ['shared', 'vitest', 'programs', 'server'],
    scripts: [
      ['start', 'trains the model, and serves it'],
      ['test', 'runs the tests'],
    ],
  },
  {
    name: 'next',
    description: 'a Next.js app: a page that trains, a route that predicts with native kernels',
    parts: ['shared', 'vitest', 'next'],
    scripts: [
      ['dev', 'opens the app'],
      ['test', 'runs the tests'],
    ],
  },
];
