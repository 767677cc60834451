/** Compared case. */
export interface Outcome {
  readonly name: string;
  readonly passed: boolean;
}

/** One name per line. */
export const parseBaseline = (text: string): ReadonlySet<string> =>
  new Set(text.split('\n').filter((line) => line !== ''));

/** Formats passing cases, and previously listed ones not compared this time, in story order. */
export function renderBaseline(
  story: readonly string[],
  baseline: ReadonlySet<string>,
  compared: readonly Outcome[],
): string {
  const results = new Map(compared.map(({ name, passed }) => [name, passed]));
  const passing = story.filter((name) => results.get(name) ?? baseline.has(name));
  return passing.map((name) => `${name}\n`).join('');
}

export interface BaselineComparison {
  /** Listed cases that were compared and did not pass. */
  readonly regressions: readonly string[];
  /** Passing cases that are not listed. */
  readonly gains: readonly string[];
}

export function compareWithBaseline(baseline: ReadonlySet<string>, compared: readonly Outcome[]): BaselineComparison {
  return {
    regressions: compared.filter(({ name, passed }) => !passed && baseline.has(name)).map(({ name }) => name),
    gains: compared.filter(({ name, passed }) => passed && !baseline.has(name)).map(({ name }) => name),
  };
}
