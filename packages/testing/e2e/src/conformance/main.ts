import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ParleyProcess } from '../testing/parley-process.js';
import { AnswerComparer } from './answer-comparer.js';
import { compareWithBaseline, parseBaseline, renderBaseline } from './baseline.js';
import { CaseRunner } from './case-runner.js';
import { loadCases, readRecording } from './cases.js';
import { type Options, readOptions, USAGE } from './command-line.js';
import { DATA } from './files.js';
import { areaTable, type ComparedCase, details, headline, totals } from './report.js';

const BASELINE = join(DATA, 'passing.txt');
const DIFFERENCES = join(DATA, 'differences.txt');
const SERVER_LOG = join(DATA, 'server.log');

/** Returns the exit code: 1 if an expected case fails. */
async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readOptions(args);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const cases = options.against === null ? await runOnOwnServer(options) : await runOn(options.against, options);
  return conclude(cases, options);
}

/** Runs the demo organization on a new database, set up like the recorded server. */
async function runOnOwnServer(options: Options): Promise<readonly ComparedCase[]> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-conformance-'));
  const database = `--database=sqlite:${join(directory, 'parley.db')}`;
  const server = await ParleyProcess.start([
    '--port=0',
    database,
    '--demo',
    '--dev',
    '--rate-limits=off',
    '--shed-load=off',
    '--web-public-channels=on',
  ]);
  try {
    return await runOn(server.url, options);
  } finally {
    await server.kill();
    writeFileSync(SERVER_LOG, logLinesOf(server.output));
    rmSync(directory, { recursive: true });
  }
}

/** Filters out console messages, which contain keys of the demo users. */
const logLinesOf = (output: string): string =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => `${line}\n`)
    .join('');

async function runOn(url: string, { only, save, show, skipped }: Options): Promise<readonly ComparedCase[]> {
  const recording = readRecording(join(DATA, 'answers.jsonl'));
  const saved = save === null ? null : createWriteStream(save);
  const runner = new CaseRunner(url);
  const server = await runner.logIn();
  saved?.write(`${JSON.stringify(server)}\n`);
  const comparer = new AnswerComparer(recording.server, server);
  const cases: ComparedCase[] = [];
  let shownYet = 0;
  for await (const answer of runner.run(loadCases(join(DATA, 'cases.json')))) {
    saved?.write(`${JSON.stringify(answer)}\n`);
    const recorded = recording.answers.get(answer.name);
    if (!recorded) continue;
    const compared = { recorded, result: comparer.compare(recorded, answer) };
    if (only.length > 0 && !only.some((prefix) => answer.name.startsWith(prefix))) continue;
    cases.push(compared);
    if (compared.result.kind === 'skipped' && skipped) console.log(headline(compared));
    if (compared.result.kind === 'failed' && shownYet++ < show)
      console.log(`${headline(compared)}\n${details(compared)}`);
  }
  saved?.end();
  return cases;
}

function conclude(cases: readonly ComparedCase[], { accept }: Options): number {
  const failed = cases.filter(({ result }) => result.kind === 'failed');
  writeFileSync(DIFFERENCES, failed.map((it) => `${headline(it)}\n${details(it)}\n`).join(''));
  const baseline = parseBaseline(readFileSync(BASELINE, 'utf8'));
  const compared = cases.map(({ recorded: { name }, result }) => ({ name, passed: result.kind === 'passed' }));
  const { regressions, gains } = compareWithBaseline(baseline, compared);

  console.log(areaTable(cases));
  console.log(
    `Differences: ${relative(process.cwd(), DIFFERENCES)}; the server's log: ${relative(process.cwd(), SERVER_LOG)}`,
  );
  if (accept) {
    const story = [...readRecording(join(DATA, 'answers.jsonl')).answers.keys()];
    writeFileSync(BASELINE, renderBaseline(story, baseline, compared));
    console.log(`${gains.length} cases added to passing.txt, ${regressions.length} removed.`);
  } else {
    if (gains.length > 0) console.log(`${gains.length} cases pass that are not in passing.txt; --accept adds them.`);
    for (const it of cases)
      if (regressions.includes(it.recorded.name)) console.log(`EXPECTED TO PASS: ${headline(it)}`);
  }
  console.log(totals(cases));
  return regressions.length > 0 && !accept ? 1 : 0;
}

process.exitCode = await main(process.argv.slice(2));
