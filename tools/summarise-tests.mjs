// Prints what failed, and then `N passed, N failed`, from vitest's JSON reports; fails when a test failed or when a report has none.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Much of an error's text: the lines where it was thrown come first. */
const LONGEST = 3000;

let passed = 0;
const failures = [];
for (const file of process.argv.slice(2)) {
  const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  passed += report?.numPassedTests ?? 0;
  if (!(report?.numPassedTests > 0))
    failures.push(
      report === undefined ? `${file}: the run ended before its report` : `${file}: no test passed`,
    );
  // Other reports only count.
  if (report?.testResults === undefined && report?.numFailedTests > 0)
    failures.push(...Array(report.numFailedTests).fill(`${file}: a failed test`));
  for (const { name, status, message, assertionResults } of report?.testResults ?? []) {
    const where = relative(process.cwd(), name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    for (const { fullName, failureMessages } of failed)
      failures.push(`${where} > ${fullName}\n${failureMessages.join('\n')}`);
    // A file that does not load has no tests to count, and is a failure all the same; so is one whose hook failed.
    if (status === 'failed' && failed.length === 0)
      failures.push(`${where}: the file failed, outside of its tests\n${message}`);
  }
}
for (const failure of failures) console.log(`FAILED ${failure.slice(0, LONGEST)}\n`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;
