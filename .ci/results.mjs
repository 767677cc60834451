// Prints how many tests passed and failed by a JSON report of Jest or Playwright. Skipped tests, stories that
// passed at the second attempt, and the first failures go to stderr. A file that fails outside its tests counts as one failure.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const MAX_SHOWN = 20;
const MAX_LENGTH = 1000;

/** @typedef {{ status: 'passed' | 'repeated' | 'failed' | 'skipped', title: string, message: string }} Result */

/** @returns {Result[]} */
function resultsOfJest({ testResults }) {
  const statuses = { passed: 'passed', failed: 'failed', pending: 'skipped' };
  return testResults.flatMap(({ name, status: fileStatus, message, assertionResults }) => {
    const file = relative('.', name);
    const results = assertionResults.map(({ status, fullName, failureMessages }) => ({
      status: statuses[status],
      title: `${file}: ${fullName}`,
      message: failureMessages.join('\n'),
    }));
    const hasFailedAlone = fileStatus === 'failed' && !results.some(({ status }) => status === 'failed');
    return hasFailedAlone ? [...results, { status: 'failed', title: file, message }] : results;
  });
}

/** @returns {Result[]} */
function resultsOfPlaywright({ suites, errors }) {
  const statuses = { expected: 'passed', flaky: 'repeated', unexpected: 'failed', skipped: 'skipped' };
  const resultsOf = ({ specs, suites: inner = [] }) => [
    ...specs.flatMap(({ file, line, title, tests }) =>
      tests.map(({ status, results }) => ({
        status: statuses[status],
        title: `${file}:${line}: ${title}`,
        message: results.flatMap((attempt) => attempt.errors.map(({ message }) => message)).join('\n'),
      })),
    ),
    ...inner.flatMap(resultsOf),
  ];
  return [
    ...suites.flatMap(resultsOf),
    ...errors.map(({ message }) => ({ status: 'failed', title: 'outside a story', message })),
  ];
}

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const results = 'testResults' in report ? resultsOfJest(report) : resultsOfPlaywright(report);
const withStatus = (wanted) => results.filter(({ status }) => status === wanted);
const showFirst = (label, wanted) => {
  for (const { title, message } of withStatus(wanted).slice(0, MAX_SHOWN)) {
    console.error(`${label}: ${`${title}\n${stripVTControlCharacters(message)}`.slice(0, MAX_LENGTH)}\n`);
  }
};
console.log(withStatus('passed').length + withStatus('repeated').length, withStatus('failed').length);
for (const { title } of withStatus('skipped')) console.error(`Skipped: ${title}`);
showFirst('Passed at the second attempt', 'repeated');
showFirst('Failed', 'failed');
