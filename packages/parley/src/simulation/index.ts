import { randomInt } from 'node:crypto';
import {
  ACTIONS,
  FAULTS,
  type PlannedStep,
  pageOf,
  plan,
  run,
  type SimulatedApp,
  SMALL_FAULTS,
  shrink,
  testOf,
} from '@parley/simulator/playing';

export type { SimulatedApp, SimulatedMessage, SimulatedState, SimulatedWorld } from '@parley/simulator/playing';

export interface SimulateOptions {
  /** Creates your application with an empty database, for each run. Reducing a failing run takes many. */
  readonly app?: () => SimulatedApp | Promise<SimulatedApp>;
  /** Decides who does what and when, and what fails; default: a random number. */
  readonly seed?: number;
  /** Default: 7, at most 1000. */
  readonly days?: number;
  /** From 2 to 100; default: 6. */
  readonly people?: number;
  /** Default: `small`. */
  readonly faults?: FaultLevel;
  /** Steps to play instead of those that `seed`, `days` and `faults` plan: those of a reduced run. */
  readonly steps?: readonly SimulatedStep[];
  /** Number of steps to play; default: all. */
  readonly until?: number;
  /** False to leave a failing run as it is; default: true. */
  readonly shrinks?: boolean;
  /** Receives a line per request and fault. */
  readonly onTrace?: (line: string) => void;
  /** Called after each step. */
  readonly onProgress?: (progress: SimulationProgress) => void;
  /** Receives the days, people, faults and last steps as an HTML page. */
  readonly onPage?: (html: string) => void;
}

/**
 * Faults per person and day: none, one that every server meets (crashes, lost answers, slow readers), or one of all, which
 * include failing disks, jumps of the clock and restored backups of the chat.
 */
export type FaultLevel = 'none' | 'small' | 'all';

/** Action of a person, or a fault. */
export interface SimulatedStep {
  readonly kind: string;
  /** Seconds since the start. */
  readonly at: number;
  /** Number of the person. */
  readonly by: number;
  /** Choices from 0 up to 1. */
  readonly a: number;
  readonly b: number;
}

export interface SimulationCounts {
  readonly steps: number;
  readonly requests: number;
  readonly messages: number;
  readonly crashes: number;
}

export interface SimulationProgress extends SimulationCounts {
  /** From 1. */
  readonly day: number;
}

export interface SimulationResult extends SimulationCounts {
  readonly seed: number;
  /** Number of planned steps. */
  readonly planned: number;
  /** Number of played steps by kind. */
  readonly tried: Readonly<Record<string, number>>;
  /** SHA-256 of the trace: equal for equal options. */
  readonly digest: string;
  /** Null if every invariant held. */
  readonly violation: SimulationViolation | null;
}

export interface SimulationViolation {
  /** Name of the broken invariant. */
  readonly invariant: string;
  readonly message: string;
  /** Steps that break it, without those that are not needed unless `shrinks` is false. */
  readonly steps: readonly SimulatedStep[];
  /** Test that repeats these steps, for pasting. */
  readonly test: string;
}

const DAY_SECONDS = 86_400;
const MAX_DAYS = 1000;
const PEOPLE = { least: 2, most: 100 } as const;
const FAULT_LEVELS = {
  none: { faults: 0, faultKinds: [] },
  small: { faults: 1, faultKinds: SMALL_FAULTS },
  all: { faults: 1 },
} as const;

let isRunning = false;

/**
 * Plays a company's chat in this process, with simulated time, disk and network, and checks the invariants of Parley and of
 * your application after each step. One at a time, since it stops `performance.now` until it ends.
 * @throws RangeError for options out of range, Error while another simulation runs
 */
export async function simulate(options: SimulateOptions = {}): Promise<SimulationResult> {
  const checked = checkedOptions(options);
  if (isRunning) throw new Error('Another simulation is running in this process.');
  isRunning = true;
  try {
    return await play(checked, options);
  } finally {
    isRunning = false;
  }
}

type Checked = ReturnType<typeof checkedOptions>;

/** @throws RangeError */
function checkedOptions({
  seed = randomInt(1e9),
  days = 7,
  people = 6,
  faults = 'small',
  until,
  steps,
}: SimulateOptions) {
  requireInteger('seed', seed, 0, Number.MAX_SAFE_INTEGER);
  requireInteger('days', days, 1, MAX_DAYS);
  requireInteger('people', people, PEOPLE.least, PEOPLE.most);
  if (until !== undefined) requireInteger('until', until, 1, Number.MAX_SAFE_INTEGER);
  if (!Object.hasOwn(FAULT_LEVELS, faults)) {
    throw new RangeError(`faults must be one of ${Object.keys(FAULT_LEVELS).join(', ')}.`);
  }
  const wrong = steps?.find(({ kind, by }) => !(kind in ACTIONS || kind in FAULTS) || !(by >= 0 && by < people));
  if (wrong) throw new RangeError(`There is no step ${JSON.stringify(wrong)} with ${people} people.`);
  const planned = steps ?? plan({ seed, days, people, ...FAULT_LEVELS[faults] });
  return { seed, people, steps: planned as readonly PlannedStep[], ...(until !== undefined && { until }) };
}

function requireInteger(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new RangeError(`${name} must be an integer from ${least} to ${most}.`);
}

async function play(
  checked: Checked,
  { app, shrinks = true, onTrace, onProgress, onPage }: SimulateOptions,
): Promise<SimulationResult> {
  const { seed, people, steps } = checked;
  const newApp = async () => (app ? { app: await app() } : {});
  const lines: string[] = [];
  const outcome = await run({
    ...checked,
    ...(await newApp()),
    onTrace: (line) => {
      onTrace?.(line);
      if (onPage) lines.push(line);
    },
    onStep: ({ calls, ...counts }) => {
      const day = Math.floor(steps[counts.steps - 1]!.at / DAY_SECONDS) + 1;
      onProgress?.({ ...counts, requests: calls, day });
    },
  });
  onPage?.(pageOf({ ...outcome, seed, people, plan: steps, lines }));
  const { violation, calls, ...counts } = outcome;
  const played = steps.slice(0, counts.steps);
  const failing = violation && { seed, people, steps: played, invariant: violation.invariant };
  const kept =
    failing && shrinks ? await shrink(failing, async (each) => run({ ...each, ...(await newApp()) })) : played;
  return {
    ...counts,
    seed,
    requests: calls,
    planned: steps.length,
    tried: countsOf(played),
    violation: violation && {
      invariant: violation.invariant,
      message: violation.message,
      steps: kept,
      test: testOf({ ...failing!, steps: kept }, app ? 'simulate({\n    app,' : 'simulate({'),
    },
  };
}

/** Numbers of steps by kind, the most frequent kinds first. */
function countsOf(steps: readonly SimulatedStep[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { kind } of steps) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}
