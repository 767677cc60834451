// Prints how many tests passed and failed by a report of Jest. Skipped tests and the first failures go to stderr. A file that
// does not load counts as one failure.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const MAX_SHOWN = 20;
const MAX_LENGTH = 1500;

const { testResults, numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
);
console.log(numPassedTests, numFailedTests + numRuntimeErrorTestSuites);
const failures = [];
for (const { name, message, assertionResults } of testResults) {
  const file = relative('.', name);
  if (assertionResults.length === 0 && message !== '') failures.push(`${file} does not load\n${message}`);
  for (const { status, fullName, failureMessages } of assertionResults) {
    if (status === 'failed') failures.push(`${file}: ${fullName}\n${failureMessages.join('\n')}`);
    if (status === 'pending') console.error(`Skipped: ${fullName}`);
  }
}
for (const failure of failures.slice(0, MAX_SHOWN)) console.error(`Failed: ${failure.slice(0, MAX_LENGTH)}\n`);
