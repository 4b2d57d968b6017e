// Prints `N passed, N failed` from vitest's JSON report; fails when a test failed or when none ran.
import { existsSync, readFileSync } from 'node:fs';

const report = existsSync(process.argv[2]) ? JSON.parse(readFileSync(process.argv[2], 'utf8')) : undefined;
const passed = report?.numPassedTests ?? 0;
// A file that does not load has no tests to count, and is a failure all the same.
const broken = (report?.testResults ?? []).filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
);
const failed = (report?.numFailedTests ?? 0) + broken.length;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
