import type { Clock } from '@parley/domain/kernel';
import fc from 'fast-check';
import type { StorageUnderTest } from './contracts/storage-under-test.js';
import { FixedClock } from './fixed-clock.js';
import { answersOf } from './random-histories/answers.js';
import { type History, histories } from './random-histories/history.js';
import { play } from './random-histories/play.js';
import { openWorld } from './random-histories/world.js';

type Units = Pick<StorageUnderTest, 'uow' | 'close'>;
type OpenUnits = (clock: Clock) => Units | Promise<Units>;

export interface RandomHistoriesOptions {
  readonly runs: number;
  /** Seed that repeats an earlier run; failures report it. */
  readonly seed?: number;
  readonly stepsOfChapter?: number;
}

/**
 * Runs identical random histories (sending, reading, subscribing, moving, deleting …) on two storages and compares
 * all access and state queries. The first storage is the reference: `MemoryStorage`.
 * @throws Error with the shortest failing history in words
 */
export async function agreeOnRandomHistories(
  openOracle: OpenUnits,
  openOther: OpenUnits,
  { runs, seed, stepsOfChapter = 20 }: RandomHistoriesOptions,
): Promise<void> {
  const agree = fc.asyncProperty(histories(stepsOfChapter), (history) =>
    expectAgreement(openOracle, openOther, history),
  );
  const result = await fc.check(agree, { numRuns: runs, ...(seed !== undefined && { seed }) });
  if (!result.failed) return;
  const cause = result.errorInstance;
  const description =
    cause instanceof Disagreement ? cause.message : `A step failed: ${(cause as Error)?.stack ?? cause}`;
  throw new Error(
    `${description}\n(seed ${result.seed}, after ${result.numRuns} runs and ${result.numShrinks} shrinks)`,
  );
}

class Disagreement extends Error {}

async function expectAgreement(openOracle: OpenUnits, openOther: OpenUnits, history: History): Promise<void> {
  const clock = new FixedClock();
  const storages = [await openOracle(clock), await openOther(clock)] as const;
  try {
    const [oracle, other] = [await openWorld(storages[0], clock), await openWorld(storages[1], clock)];
    let number = 0;
    for (const chapter of history.chapters) {
      const first = number;
      number += chapter.length;
      const expected = await Promise.all(chapter.map((step, index) => play(oracle, step, first + index)));
      const actual = await Promise.all(chapter.map((step, index) => play(other, step, first + index)));
      const answers = await answersOf(other, history.narrows);
      const differences = [
        ...expected.map((answer, index) => [`answer of step ${first + index + 1}`, answer, actual[index]] as const),
        ...[...(await answersOf(oracle, history.narrows))].map(
          ([question, answer]) => [question, answer, answers.get(question)] as const,
        ),
      ].filter(([, expected, actual]) => !isSame(expected, actual));
      if (differences.length > 0) throw new Disagreement(describeDisagreement(oracle.story, differences));
    }
  } finally {
    for (const storage of storages) await storage.close();
  }
}

const MAX_DIFFERENCES = 6;

function describeDisagreement(
  story: readonly string[],
  differences: readonly (readonly [string, unknown, unknown])[],
): string {
  const shown = differences
    .slice(0, MAX_DIFFERENCES)
    .map(
      ([question, expected, actual]) =>
        `  ${question}\n    expected ${JSON.stringify(expected, namingFlags)}\n    returned ${JSON.stringify(actual, namingFlags)}`,
    );
  return [
    'The storages disagree after this history',
    '  (ann and bob subscribe to open, ann and cyd other, bob and cyd vault, whose history is protected):',
    ...story.map((line, index) => `  ${index + 1}. ${line}`),
    `on ${differences.length} answers, of which:`,
    ...shown,
  ].join('\n');
}

/** Replaces flags by the names of set flags. */
function namingFlags(_: string, value: unknown): unknown {
  const isFlags = typeof value === 'object' && value !== null && 'historical' in value;
  return isFlags ? Object.keys(value).filter((name) => value[name as keyof typeof value]) : value;
}

/** Compares plain values regardless of key order. Arrays of native modules are not instances of Jest's `Array`. */
function isSame(expected: unknown, actual: unknown): boolean {
  return JSON.stringify(expected) === JSON.stringify(actual) || canonical(expected) === canonical(actual);
}

function canonical(value: unknown): string {
  return JSON.stringify(value ?? null, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
