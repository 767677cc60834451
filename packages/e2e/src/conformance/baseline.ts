/** A case that was compared. */
export interface Outcome {
  readonly name: string;
  readonly passed: boolean;
}

/** One name a line. */
export const parseBaseline = (text: string): ReadonlySet<string> =>
  new Set(text.split('\n').filter((line) => line !== ''));

/** What passed, and whatever of the old list was not compared this time, in the order of the story. */
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
  /** Listed, compared, and not passed. */
  readonly regressions: readonly string[];
  /** Passed, but not listed. */
  readonly gains: readonly string[];
}

export function compareWithBaseline(baseline: ReadonlySet<string>, compared: readonly Outcome[]): BaselineComparison {
  return {
    regressions: compared.filter(({ name, passed }) => !passed && baseline.has(name)).map(({ name }) => name),
    gains: compared.filter(({ name, passed }) => passed && !baseline.has(name)).map(({ name }) => name),
  };
}
