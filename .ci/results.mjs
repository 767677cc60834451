// Usage: results.mjs REPORT [REPORT OF A SECOND ATTEMPT]
// Prints how many tests passed and failed by Jest's reports, and the failed files, one on each line. Names of skipped tests and
// failures go to stderr. A file that does not load counts as one failure.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const MAX_MESSAGE_LENGTH = 1500;

const readReport = (path) => JSON.parse(readFileSync(path, 'utf8')).testResults;
const failuresOf = ({ name, message, assertionResults }) => {
  const failed = assertionResults.filter(({ status }) => status === 'failed');
  if (failed.length > 0)
    return failed.map(({ fullName, failureMessages }) => ({ name, fullName, text: failureMessages.join('\n') }));
  return message === '' ? [] : [{ name, fullName: 'does not run', text: message }];
};

const [first, second = []] = process.argv.slice(2).map(readReport);
const repeated = new Set(second.map(({ name }) => name));
const last = [...first.filter(({ name }) => !repeated.has(name)), ...second];
const namesWith = (wanted) =>
  last.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === wanted).map(({ fullName }) => fullName),
  );

const failures = last.flatMap(failuresOf);
console.log(namesWith('passed').length, failures.length);
for (const name of new Set(failures.map(({ name }) => name))) console.log(name);
for (const name of namesWith('pending')) console.error(`Skipped: ${name}`);
const show = (verdict, { name, fullName, text }) =>
  console.error(`${verdict}: ${relative('.', name)}: ${fullName}\n${text.slice(0, MAX_MESSAGE_LENGTH)}\n`);
for (const failure of failures) show('Failed', failure);
const isKnown = ({ fullName }) => failures.some((failure) => failure.fullName === fullName);
for (const failure of first.flatMap(failuresOf))
  if (!isKnown(failure)) show('Passed only at the second attempt', failure);
