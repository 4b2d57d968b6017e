import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'vitest';
import * as tf from '../src/index.ts';
const { names } = JSON.parse(readFileSync(new URL('../golden/tensorflow-names.json', import.meta.url), 'utf8'));
const camel = (n: string) => n.replace(/_([a-z0-9])/gi, (_, c) => c.toUpperCase());
test('m', () => {
  const lines: string[] = [];
  for (const [path, list] of Object.entries<string[]>(names)) {
    let at: any = tf;
    for (const p of path.split('.').filter(Boolean)) at = at?.[camel(p)];
    const keys = new Set(at ? Object.keys(at).map((k) => k.toLowerCase()) : []);
    const lack = list.filter((n) => !keys.has(n.replaceAll('_', '').toLowerCase()));
    lines.push(`${path || 'tf'} ${list.length} lacks ${lack.length}: ${lack.join(' ')}`);
  }
  writeFileSync('/tmp/mw/missing.txt', lines.join('\n'));
});
