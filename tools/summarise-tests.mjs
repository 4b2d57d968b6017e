// Prints `N passed, N failed` from vitest's JSON reports; fails when a test failed or when a report has none.
import { existsSync, readFileSync } from 'node:fs';

let passed = 0;
let failed = 0;
for (const file of process.argv.slice(2)) {
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  // A file that does not load has no tests to count, and is a failure all the same; so is a run that ended before its report.
  const broken = (report?.testResults ?? []).filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  passed += report?.numPassedTests ?? 0;
  failed += (report?.numFailedTests ?? 0) + broken.length + (report?.numPassedTests > 0 ? 0 : 1);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
