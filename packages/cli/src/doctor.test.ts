import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { copiesIn, diagnose, diagnosisText } from './doctor.ts';
import { program } from './program.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'eagre-doctor-')));
afterAll(() => rmSync(root, { recursive: true }));
let project: string;
let count = 0;
beforeEach(() => {
  project = join(root, `project-${count++}`);
  put('.', { name: 'project', dependencies: { eagre: '^1.0.0', other: '1' } });
});
const put = (place: string, manifest: object): string => {
  const folder = join(project, place);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  return folder;
};
const eagre = (version: string): object => ({
  name: 'eagre',
  version,
  dependencies: { '@eagre/core': version },
});
const core = (version: string): object => ({ name: '@eagre/core', version });

describe('packages', () => {
  test('that are there once are well', async () => {
    put('node_modules/eagre', eagre('1.0.0'));
    put('node_modules/@eagre/core', core('1.0.0'));
    expect([...copiesIn(project).keys()]).toEqual(['@eagre/core', 'eagre']);
    const { problems, facts } = await diagnose(project, '1.0.0', {});
    expect(problems).toEqual([]);
    expect(facts).toContainEqual(['packages', '2 of Eagre, 1.0.0']);
  });

  test('that another package brings again are two libraries', async () => {
    put('node_modules/eagre', eagre('1.0.0'));
    put('node_modules/@eagre/core', core('1.0.0'));
    put('node_modules/other', { name: 'other', version: '1.0.0', dependencies: { '@eagre/core': '0.9.0' } });
    const second = put('node_modules/other/node_modules/@eagre/core', core('0.9.0'));
    const { problems } = await diagnose(project, '1.0.0', {});
    expect(problems[0]).toMatch(/^There are 2 copies of @eagre\/core \(1\.0\.0 in .*, 0\.9\.0 in /);
    expect(problems[0]).toContain(second);
    expect(problems[1]).toContain('0.9.0, 1.0.0');
  });

  test('that are linked, and need each other, are one', () => {
    const store = put('store/core', { ...core('1.0.0'), dependencies: { eagre: '1' } });
    put('node_modules/eagre', eagre('1.0.0'));
    mkdirSync(join(project, 'node_modules/@eagre'), { recursive: true });
    symlinkSync(store, join(project, 'node_modules/@eagre/core'), 'junction');
    expect(copiesIn(project).get('@eagre/core')).toEqual(new Map([[store, '1.0.0']]));
  });

  test('that say nonsense of themselves are left out', () => {
    put('node_modules/eagre', eagre('1.0.0'));
    const broken = put('node_modules/other', {});
    for (const text of ['{', 'null', '[]', '"x"', '']) {
      writeFileSync(join(broken, 'package.json'), text);
      expect([...copiesIn(project).keys()]).toEqual(['eagre']);
    }
    expect(copiesIn(join(project, 'nowhere'))).toEqual(new Map());
  });
});

describe('settings', () => {
  test('are told, but for secrets; what is none is said', async () => {
    const { facts, advice } = await diagnose(project, '1.0.0', {
      EAGRE_NUM_THREAD: '3',
      EAGRE_CLUSTER_TOKEN: 'secret',
      EAGRE_STACK: 'full',
    });
    expect(facts).toContainEqual([
      'settings',
      'EAGRE_CLUSTER_TOKEN (set) EAGRE_NUM_THREAD=3 EAGRE_STACK=full',
    ]);
    expect(advice).toContain('EAGRE_NUM_THREAD is no setting of Eagre.');
    expect(JSON.stringify({ facts, advice })).not.toContain('secret');
  });
});

test('the text shows facts, then what is wrong, and obeys no signs', () => {
  const facts = [['Eagre', '1.0.0']] as const;
  expect(diagnosisText({ facts, problems: [], advice: [] })).toBe('Eagre  1.0.0\n\nNothing is wrong.');
  expect(diagnosisText({ facts, problems: ['a\u001b[2J'], advice: ['b'] })).toBe(
    'Eagre  1.0.0\n\nwrong: a\\u001b[2J\nbetter: b',
  );
});

describe('the command', () => {
  const run = async (...args: string[]): Promise<{ text: string; code: number }> => {
    let text = '';
    let code = 0;
    const out = { write: (more: string) => void (text += more) };
    await program('1.0.0', out, (given) => void (code = given)).parseAsync(['doctor', ...args], {
      from: 'user',
    });
    return { text, code };
  };
  test('says what computes', async () => {
    const { text, code } = await run(project);
    expect(text).toMatch(/^Eagre +1\.0\.0\nNode +v/);
    expect(text).toMatch(/^kernels +(native|wasm|js): /m);
    expect(code).toBe(0);
  });
  test('ends with 1 where something is wrong', async () => {
    put('node_modules/eagre', eagre('1.0.0'));
    put('node_modules/@eagre/core', core('0.9.0'));
    const { text, code } = await run(project, '--json');
    expect(JSON.parse(text).problems).toHaveLength(1);
    expect(code).toBe(1);
  });
});
