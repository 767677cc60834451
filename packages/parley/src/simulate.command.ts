import { writeFileSync } from 'node:fs';
import {
  always,
  type CliCommand,
  type CommandContext,
  type CommandResult,
  EXIT_CODES,
  UsageError,
} from '@parley/server/cli';
import type { FaultLevel, SimulationProgress, SimulationResult } from './simulation/index.js';

/** Plays a company's chat in memory. Only this command loads its file in the package. */
export const SIMULATE_COMMAND: CliCommand = {
  name: 'simulate',
  help: 'plays a week of a company on the engine, with crashes, and checks what everybody sees (docs/simulation.md)',
  details:
    'Opens no database and no port, and needs no configuration. The same options always play the same steps. Exit code 3: an invariant failed.',
  flags: {
    seed: { value: 'NUMBER', help: 'decides who does what and when, and what fails; default: a random number' },
    days: { value: 'NUMBER', help: 'default: 7' },
    people: { value: 'NUMBER', help: 'default: 6' },
    faults: {
      value: 'LEVEL',
      help: 'none; small (default): crashes, lost answers, slow readers; all: failing disks, clock jumps and restored backups too',
    },
    until: { value: 'STEP', help: 'ends after this step' },
    trace: { help: 'prints every request and fault' },
    page: { value: 'FILE', help: 'writes days, people, faults and the last steps as a page' },
    shrink: { help: 'reduces a failing run to a short test' },
  },
  examples: [
    'parley simulate',
    'parley simulate --seed 7 --days 365 --people 20 --faults all',
    'parley simulate --seed 7 --until 314 --trace',
    'parley simulate --page simulation.html',
  ],
  isReadOnly: always,
  run,
};

async function run({ flag, isOn, isJson, terminal }: CommandContext): Promise<CommandResult> {
  const { simulate } = await import('./simulation/index.js');
  const faults = (flag('faults') ?? 'small') as FaultLevel;
  const page = flag('page');
  const options = {
    seed: numberOf('seed', flag('seed')) ?? Math.floor(Math.random() * 1e9),
    days: numberOf('days', flag('days')) ?? 7,
    people: numberOf('people', flag('people')) ?? 6,
    faults,
  };
  const until = numberOf('until', flag('until'));
  const say = (line: string) => {
    if (!isJson) terminal.out(line);
  };
  say(`Seed ${options.seed}: ${options.people} people, ${options.days} days, ${faults} faults.`);
  const days = new Days(say);
  const result = await simulate({
    ...options,
    ...(until !== undefined && { until }),
    shrinks: isOn('shrink'),
    onProgress: (progress) => days.add(progress),
    ...(isOn('trace') && { onTrace: say }),
    ...(page !== undefined && { onPage: (html: string) => writeFileSync(page, html) }),
  }).catch((error: unknown) => {
    throw error instanceof RangeError ? new UsageError(`--${error.message}`) : error;
  });
  days.end();
  const { violation } = result;
  const command = `parley simulate --seed ${options.seed} --days ${options.days} --people ${options.people} --faults ${faults}`;
  return {
    lines: [
      `Tried: ${triedOf(result)}.`,
      ...(violation === null
        ? [`Every invariant held after each of ${result.steps} steps.`]
        : [
            `Step ${result.steps} of ${result.planned} failed: ${violation.message}`,
            ...(isOn('shrink') ? violation.test.split('\n') : []),
          ]),
      ...(page === undefined ? [] : [`Page: ${page}`]),
      `Trace: ${result.digest}`,
      `Again: ${command}${violation === null ? '' : ` --until ${result.steps} --trace`}`,
    ],
    data: result,
    exitCode: violation === null ? EXIT_CODES.done : EXIT_CODES.found,
  };
}

/** Prints a line for each day that has ended. */
class Days {
  private last: SimulationProgress | null = null;

  constructor(private readonly say: (line: string) => void) {}

  add(progress: SimulationProgress): void {
    if (this.last && progress.day > this.last.day) this.end();
    this.last = progress;
  }

  end(): void {
    if (!this.last) return;
    const { day, steps, requests, messages, crashes } = this.last;
    const counts = `${steps} steps, ${requests} requests, ${messages} messages, ${crashes} crashes`;
    this.say(`Day ${String(day).padStart(3)}: ${counts}`);
  }
}

const triedOf = ({ tried }: SimulationResult): string =>
  Object.entries(tried)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ');

/** @throws UsageError */
function numberOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw new UsageError(`--${name} must be a number.`);
  return Number(value);
}
