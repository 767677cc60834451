import { comparableText } from './comparable-text.js';
import { ABSENT, type Difference, isMap, type Path, pathText } from './differences.js';
import {
  ADDED_FIELDS,
  FREE_TEXT_FIELDS,
  NULLABLE_FIELDS,
  REMOVED_FIELDS,
  withoutFieldsOfSystemBots,
} from './expected-differences.js';
import { FIELDS_BY_USER, FREE_FIELDS, fieldOfAddressee, kindOfField, TIME_FIELDS, UNORDERED_LISTS } from './fields.js';
import type { Identities } from './identities.js';
import { isInteger, isList, isObject, type Json, type JsonObject, jsonTypeOf, sameJson } from './json.js';

/**
 * Returns all differences from the recorded value. Ids must refer to the same objects and times must have the same
 * unit. `field`: name that determines the meaning.
 */
export function compareValues(
  ids: Identities,
  recorded: Json,
  here: Json,
  path: Path = [],
  field = '',
): readonly Difference[] {
  const isSame = (same: boolean): readonly Difference[] => (same ? [] : [{ where: pathText(path), recorded, here }]);
  if (jsonTypeOf(recorded) !== jsonTypeOf(here)) {
    return isSame(NULLABLE_FIELDS.has(field) && (recorded === null || here === null));
  }
  if (isObject(recorded)) return compareObjects(ids, recorded, here as JsonObject, path, field);
  if (isList(recorded)) return compareLists(ids, recorded, here as readonly Json[], path, field);
  if (typeof recorded === 'number') return isSame(areSameNumbers(ids, recorded, here as number, path, field));
  if (typeof recorded === 'string') return isSame(areSameTexts(ids, recorded, here as string, field));
  return isSame(recorded === here);
}

function areSameNumbers(ids: Identities, recorded: number, here: number, path: Path, field: string): boolean {
  if (recorded === here || FREE_FIELDS.has(field)) return true;
  if (TIME_FIELDS.has(field) || Math.min(recorded, here) > 10 ** 9) return digitsOf(recorded) === digitsOf(here);
  const kind = kindOfField(path, field);
  return kind !== null && isInteger(recorded) && ids.areSame(kind, recorded, here);
}

/** Distinguishes seconds from milliseconds. */
const digitsOf = (time: number): number => String(Math.trunc(time)).length;

function areSameTexts(ids: Identities, recorded: string, here: string, field: string): boolean {
  // The client name for a missing User-Agent has changed.
  const [left, right] = field === 'client' ? [recorded || 'Unspecified', here || 'Unspecified'] : [recorded, here];
  if (left === right || FREE_FIELDS.has(field) || FREE_TEXT_FIELDS.has(field)) return true;
  const [a, b] = [comparableText(left), comparableText(right)];
  return a === b || ids.areSameTexts(a, b);
}

function compareObjects(
  ids: Identities,
  recorded: JsonObject,
  here: JsonObject,
  path: Path,
  field: string,
): readonly Difference[] {
  if (FIELDS_BY_USER.has(field)) {
    const [a, b] = [recorded, here].map((side) =>
      Object.values(side)
        .map((it) => JSON.stringify(it))
        .sort(),
    );
    return sameJson(a, b) ? [] : [{ where: path.join('.'), recorded, here }];
  }
  if (isMap(recorded) || (Object.keys(recorded).length === 0 && isMap(here))) {
    return compareMaps(ids, recorded, here, path);
  }
  const [left, right] = withoutFieldsOfSystemBots(recorded, here);
  const differences: Difference[] = [];
  for (const [name, value] of Object.entries(left)) {
    if (Object.hasOwn(right, name)) {
      const meaning = name === 'to' ? fieldOfAddressee(left.type) : name;
      differences.push(...compareValues(ids, value, right[name]!, [...path, name], meaning));
    } else if (!REMOVED_FIELDS.has(name)) {
      differences.push({ where: pathText([...path, name]), recorded: value, here: ABSENT });
    }
  }
  for (const [name, value] of Object.entries(right)) {
    if (Object.hasOwn(left, name) || ADDED_FIELDS.has(name)) continue;
    differences.push({ where: pathText([...path, name]), recorded: ABSENT, here: value });
  }
  return differences;
}

function compareMaps(ids: Identities, recorded: JsonObject, here: JsonObject, path: Path): readonly Difference[] {
  const rest = new Map(Object.entries(here));
  const differences: Difference[] = [];
  for (const [name, value] of Object.entries(recorded)) {
    const match = matchingKey(ids, name, [...rest.keys()]);
    if (match === undefined) {
      differences.push({ where: pathText([...path, name]), recorded: value, here: ABSENT });
      continue;
    }
    differences.push(...compareValues(ids, value, rest.get(match)!, [...path, name], name));
    rest.delete(match);
  }
  for (const [name, value] of rest) {
    differences.push({ where: pathText([...path, name]), recorded: ABSENT, here: value });
  }
  return differences;
}

/** Returns the same key, one with the same meaning, or for ids the first that is new on both sides. */
function matchingKey(ids: Identities, name: string, keys: readonly string[]): string | undefined {
  if (keys.includes(name)) return name;
  const text = comparableText(name);
  const same = keys.find((key) => comparableText(key) === text || ids.areSameTexts(text, comparableText(key)));
  if (same !== undefined || ![name, ...keys].every((key) => /^\d+$/.test(key))) return same;
  return keys.find((key) => !ids.isKnown(Number(name), Number(key)));
}

function compareLists(
  ids: Identities,
  recorded: readonly Json[],
  here: readonly Json[],
  path: Path,
  field: string,
): readonly Difference[] {
  const whole: readonly Difference[] = [{ where: pathText(path), recorded, here }];
  if (recorded.length !== here.length) return whole;
  const [left, right] = inComparableOrder(recorded, here, field);
  if (left.length > 0 && left.every(isInteger) && right.every(isInteger)) {
    const kind = kindOfField(path, field);
    const isSame = kind === null ? sameJson(left, right) : ids.areSameSets(kind, left, right);
    return isSame ? [] : whole;
  }
  return left.flatMap((item, index) => compareValues(ids, item, right[index]!, [...path, index], field));
}

function inComparableOrder(
  recorded: readonly Json[],
  here: readonly Json[],
  field: string,
): readonly [readonly Json[], readonly Json[]] {
  const by = UNORDERED_LISTS.get(field);
  const all = [...recorded, ...here];
  if (by === null) return [sortedBy(recorded, String), sortedBy(here, String)];
  if (by !== undefined && all.every((item) => isObject(item) && Object.hasOwn(item, by))) {
    const textOf = (item: Json) => comparableText(String((item as JsonObject)[by]));
    return [sortedBy(recorded, textOf), sortedBy(here, textOf)];
  }
  if (field === 'muted_topics' && all.every(isList)) {
    const channelAndTopic = (row: Json) => JSON.stringify((row as readonly Json[]).slice(0, 2));
    return [sortedBy(recorded, channelAndTopic), sortedBy(here, channelAndTopic)];
  }
  return [recorded, here];
}

function sortedBy(items: readonly Json[], keyOf: (item: Json) => string): readonly Json[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ item }) => item);
}
