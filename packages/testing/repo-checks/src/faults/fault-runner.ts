import { createRequire } from 'node:module';
import { equivalentsOf, nearestSuites, type RuleFault, ruleFaults } from './rule-faults.js';

/** The types describe the CommonJS module. */
const { default: TestRunner } = createRequire(import.meta.url)('jest-runner') as typeof import('jest-runner');

type RunTests = InstanceType<typeof TestRunner>['runTests'];
type Test = Parameters<RunTests>[0][number];

/** Percentage of faults that the suites must find. */
const REQUIRED_PERCENT = 98;

/**
 * Runs the nearest suites of each planted fault, in the processes of one Jest. `PARLEY_FAULTS` restricts the run to
 * sources with this text in their paths.
 */
export default class FaultRunner extends TestRunner {
  override async runTests(tests: Test[], ...rest: TailOf<Parameters<RunTests>>): Promise<void> {
    const faults = ruleFaults().filter(
      (fault) => fault.source.includes(process.env.PARLEY_FAULTS ?? '') && equivalentsOf(fault).length === 0,
    );
    const testOf = new Map(tests.map((test) => [test.path, test]));
    const suitesOf = new Map(
      [...new Set(faults.map(({ source }) => source))].map((source) => [source, nearestSuites(source)]),
    );
    const found = new Set<string>();
    const broken: string[] = [];
    const fail = (test: Test, message: string) => {
      const id = plantedIn(test);
      if (id === null) broken.push(`${test.path}\n${message}`);
      else found.add(id);
    };
    this.on('test-file-success', ([test, { numFailingTests, testExecError, failureMessage }]) => {
      if (numFailingTests > 0 || testExecError) fail(test, failureMessage ?? '');
    });
    this.on('test-file-failure', ([test, { message }]) => fail(test, message));

    const suites = [...new Set([...suitesOf.values()].flat())].map((path) => testOf.get(path)!);
    await super.runTests(suites, ...rest);
    if (broken.length > 0) {
      console.log(`Suites that fail without a fault:\n${broken.join('\n')}`);
      process.exitCode = 1;
      return;
    }
    // Most faults are found by their first suite.
    for (let round = 0; ; round++) {
      const runs = faults
        .filter(({ id }) => !found.has(id))
        .flatMap(({ id, source }) => {
          const path = suitesOf.get(source)![round];
          return path === undefined ? [] : [planting(testOf.get(path)!, id)];
        });
      if (runs.length === 0) break;
      await super.runTests(runs, ...rest);
    }
    report(faults, found);
  }
}

type TailOf<T extends readonly unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never;

/** The suite with a global variable that selects the fault, until its first failure. */
function planting(test: Test, id: string): Test {
  const { context } = test;
  const globals = { ...context.config.globals, plantedFault: id, skipsAfterFailure: true };
  return { ...test, context: { ...context, config: { ...context.config, globals } } };
}

const plantedIn = ({ context }: Test): string | null => (context.config.globals.plantedFault as string) ?? null;

function report(faults: readonly RuleFault[], found: ReadonlySet<string>): void {
  for (const { source, line, text, replacement } of faults.filter(({ id }) => !found.has(id))) {
    console.log(`NOT FOUND  ${source}:${line}  ${text.replace(/\s+/g, ' ')}  →  ${replacement ?? '(left out)'}`);
  }
  const percent = (100 * found.size) / faults.length;
  console.log(`${found.size} of ${faults.length} faults found (${percent.toFixed(1)} %)`);
  if (!(percent >= REQUIRED_PERCENT)) process.exitCode = 1;
}
