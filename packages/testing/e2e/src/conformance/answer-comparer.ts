import type { Answer, ServerDescription } from './cases.js';
import { compareShapes } from './compare-shapes.js';
import { compareValues } from './compare-values.js';
import type { Difference } from './differences.js';
import { DROPPED_EVENTS, type Expectation, expectationOf } from './expected-differences.js';
import { kindOfSaved } from './fields.js';
import { Identities } from './identities.js';
import { isInteger, isObject, type JsonObject, sameJson } from './json.js';

export type Comparison =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly differences: readonly Difference[] }
  | { readonly kind: 'skipped'; readonly reason: string };

const COMPARED_HEADERS = ['content-type', 'allow', 'www-authenticate'];

/** Compares a server's responses with recorded ones. Cases must be in order, since ids are mapped along the way. */
export class AnswerComparer {
  private readonly ids = new Identities();

  constructor(recorded: ServerDescription, here: ServerDescription) {
    for (const [user, id] of Object.entries(recorded.saved)) this.ids.learn('user', id, here.saved[user]!);
  }

  compare(recorded: Answer, here: Answer): Comparison {
    const expected = expectationOf(recorded);
    if (typeof expected === 'string') return { kind: 'skipped', reason: expected };
    if (recorded.skipped !== undefined) return { kind: 'skipped', reason: 'no recorded answer' };
    if (here.skipped !== undefined) return { kind: 'skipped', reason: here.skipped };
    this.learnSaved(recorded, here);
    const differences = this.differences(recorded, here, expected).filter(
      ({ where }) => !expected.ignore.some((pattern) => pattern.test(where)),
    );
    return differences.length > 0 ? { kind: 'failed', differences } : { kind: 'passed' };
  }

  private learnSaved(recorded: Answer, here: Answer): void {
    for (const [name, id] of Object.entries(recorded.saved ?? {})) {
      const other = here.saved?.[name];
      if (isInteger(other)) this.ids.learn(kindOfSaved(name), id, other);
    }
  }

  private differences(recorded: Answer, here: Answer, expected: Expectation): readonly Difference[] {
    const differences: Difference[] = [];
    if (!expected.statuses.includes(here.status)) {
      differences.push({ where: 'status', recorded: expected.statuses, here: here.status });
    }
    if (!expected.anyBody) {
      differences.push(...this.compareBodies(recorded, here, expected), ...compareHeaders(recorded, here));
    }
    // A different status implies different effects.
    const isOtherwise = differences.length > 0 && recorded.status !== here.status;
    if (!expected.anyEvents && !expected.loose && !isOtherwise) differences.push(...this.compareEvents(recorded, here));
    return differences;
  }

  private compareBodies(recorded: Answer, { body: here }: Answer, { body, loose }: Expectation): readonly Difference[] {
    const membersThatDiffer = (names: readonly string[]): readonly Difference[] =>
      isObject(body) && isObject(here)
        ? names
            .map((name) => ({ where: name, recorded: body[name] ?? null, here: here[name] ?? null }))
            .filter((it) => !sameJson(it.recorded, it.here))
        : [];
    if (loose) return membersThatDiffer(['result', 'code']);
    if (recorded.shape) return [...compareShapes(body, here), ...membersThatDiffer(['result', 'code', 'msg'])];
    return compareValues(this.ids, body, here);
  }

  /** Compares events per queue in order without ids. */
  private compareEvents(recorded: Answer, here: Answer): readonly Difference[] {
    const queues = [...new Set([...Object.keys(recorded.events ?? {}), ...Object.keys(here.events ?? {})])].sort();
    return queues.flatMap((queue): readonly Difference[] => {
      const [left, right] = [recorded, here].map(({ events }) => comparedEvents(events?.[queue] ?? []));
      const [titles, others] = [left!.map(titleOf), right!.map(titleOf)];
      if (!sameJson(titles, others)) return [{ where: `events.${queue}`, recorded: titles, here: others }];
      return left!.flatMap((event, index) => {
        const type = String(event.type);
        // The property determines the meaning of its value.
        const path = event.property === 'first_message_id' ? event.property : type;
        return compareValues(this.ids, event, right![index]!, [path], type).map((difference) => ({
          ...difference,
          where: `events.${queue}.${index}(${titles[index]}).${difference.where}`,
        }));
      });
    });
  }
}

function comparedEvents(events: readonly JsonObject[]): readonly JsonObject[] {
  return events.filter(({ type }) => !DROPPED_EVENTS.has(String(type))).map(({ id: _, ...event }) => event);
}

const titleOf = (event: JsonObject): string =>
  ['type', 'op', 'property']
    .filter((name) => name in event)
    .map((name) => event[name])
    .join('/');

/** Compares recorded headers only. JSON content types always match. */
function compareHeaders(recorded: Answer, here: Answer): readonly Difference[] {
  return COMPARED_HEADERS.flatMap((name): readonly Difference[] => {
    const [left, right] = [recorded, here].map(({ headers }) => comparableHeader(name, headers[name] ?? ''));
    if (!left || left === right || (name === 'content-type' && right === 'application/json')) return [];
    return [{ where: `header ${name}`, recorded: left, here: right || null }];
  });
}

function comparableHeader(name: string, value: string): string {
  if (name === 'content-type') return value.split(';')[0]!;
  if (name !== 'allow') return value;
  return value
    .split(',')
    .map((method) => method.trim())
    .sort()
    .join(', ');
}
