import type { Route } from '@parley/http';

export const nameOf = ({ method, path, atRoot }: Pick<Route, 'method' | 'path' | 'atRoot'>): string =>
  `${method} ${atRoot ? '/' : ''}${path}`;

/** Outcomes of one route. */
interface Outcomes {
  successes: number;
  refusals: number;
}

/** Coverage of another process. */
export type Covered = ReturnType<Coverage['toJSON']>;

/** Routes, refusals and events of the calls of one or more runs. */
export class Coverage {
  private readonly routes = new Map<string, Outcomes>();
  private readonly codes = new Set<string>();
  readonly events = new Set<string>();

  add(route: Route, status: number, code: string | undefined): void {
    const outcomes = this.of(nameOf(route));
    if (status < 400) outcomes.successes++;
    else outcomes.refusals++;
    if (code !== undefined) this.codes.add(code);
  }

  of(name: string): Outcomes {
    const outcomes = this.routes.get(name) ?? { successes: 0, refusals: 0 };
    this.routes.set(name, outcomes);
    return outcomes;
  }

  /** Adds the coverage of another process. */
  addAll({ routes, codes, events }: Covered): void {
    for (const [name, { successes, refusals }] of routes) {
      const outcomes = this.of(name);
      outcomes.successes += successes;
      outcomes.refusals += refusals;
    }
    for (const code of codes) this.codes.add(code);
    for (const kind of events) this.events.add(kind);
  }

  toJSON() {
    return { routes: [...this.routes], codes: [...this.codes], events: [...this.events] };
  }

  /** Lines for people. `names`: all routes; `kinds`: all kinds of events. */
  describe(names: readonly string[], kinds: readonly string[], isLong: boolean): readonly string[] {
    const missing = (isMissing: (outcomes: Outcomes) => boolean) => names.filter((name) => isMissing(this.of(name)));
    const [succeeded, refused] = [
      missing(({ successes }) => successes === 0),
      missing(({ refusals }) => refusals === 0),
    ];
    const both = names.length - new Set([...succeeded, ...refused]).size;
    const unheard = kinds.filter((kind) => !this.events.has(kind));
    const summary =
      `${names.length - succeeded.length} of ${names.length} routes with a success, ${names.length - refused.length} ` +
      `with a refusal, ${both} with both; ${this.codes.size} error codes; ` +
      `${kinds.length - unheard.length} of ${kinds.length} kinds of events`;
    if (!isLong) return [summary];
    return [
      summary,
      `Never successful: ${succeeded.join(', ')}`,
      `Never refused: ${refused.join(', ')}`,
      `Events that did not occur: ${unheard.join(', ')}`,
    ];
  }
}
