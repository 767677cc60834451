import { ABSENT, type Difference, isMap } from './differences.js';
import { ADDED_FIELDS, NULLABLE_FIELDS, REMOVED_FIELDS } from './expected-differences.js';
import { isList, isObject, type Json, type JsonObject, type JsonType, jsonTypeOf } from './json.js';

/** Compares key sets and types; each element of a list or map with all elements of the other side. */
export const compareShapes = (recorded: Json, here: Json): readonly Difference[] =>
  compareSamples([recorded], [here], 'body', '');

/** Compares all values at one path on both sides. */
function compareSamples(
  recorded: readonly Json[],
  here: readonly Json[],
  where: string,
  field: string,
): readonly Difference[] {
  const [types, others] = typesOf(recorded, here);
  const isStrange = [...others].some((type) => type !== 'null' && !types.has(type));
  const isTyped = [...types].some((type) => type !== 'null');
  if (isStrange && isTyped && !NULLABLE_FIELDS.has(field)) {
    return [{ where, recorded: [...types].sort(), here: [...others].sort() }];
  }
  const differences: Difference[] = [];
  const [objects, otherObjects] = [recorded.filter(isObject), here.filter(isObject)];
  if (objects.length > 0 && otherObjects.length > 0) {
    if ([...objects, ...otherObjects].some(isMap)) {
      const [values, otherValues] = [objects, otherObjects].map((side) => side.filter(isMap).flatMap(Object.values));
      if (values!.length === 0 || otherValues!.length === 0) return [];
      return compareSamples(values!, otherValues!, `${where}.*`, field);
    }
    differences.push(...compareMembers(objects, otherObjects, where));
  }
  const [items, otherItems] = [recorded, here].map((side) => side.filter(isList).flat());
  if (items!.length > 0 && otherItems!.length > 0) {
    differences.push(...compareSamples(items!, otherItems!, `${where}[]`, field));
  }
  return differences;
}

function compareMembers(
  recorded: readonly JsonObject[],
  here: readonly JsonObject[],
  where: string,
): readonly Difference[] {
  const valuesOf = (objects: readonly JsonObject[], name: string): readonly Json[] =>
    objects.filter((object) => Object.hasOwn(object, name)).map((object) => object[name]!);
  const names = [...new Set([...recorded, ...here].flatMap(Object.keys))].sort();
  return names.flatMap((name): readonly Difference[] => {
    const at = `${where}.${name}`;
    const [values, others] = [valuesOf(recorded, name), valuesOf(here, name)];
    if (values.length === 0) return ADDED_FIELDS.has(name) ? [] : [{ where: at, recorded: ABSENT, here: others[0]! }];
    if (others.length > 0) return compareSamples(values, others, at, name);
    const isAlwaysThere = values.length === recorded.length;
    return isAlwaysThere && !REMOVED_FIELDS.has(name) ? [{ where: at, recorded: values[0]!, here: ABSENT }] : [];
  });
}

/** Whole numbers count as fractions if one side has fractions. */
function typesOf(recorded: readonly Json[], here: readonly Json[]): readonly [Set<JsonType>, Set<JsonType>] {
  const [types, others] = [recorded, here].map((side) => new Set(side.map(jsonTypeOf))) as [
    Set<JsonType>,
    Set<JsonType>,
  ];
  if (!types.has('number') && !others.has('number')) return [types, others];
  const widened = (set: Set<JsonType>) => new Set([...set].map((type) => (type === 'integer' ? 'number' : type)));
  return [widened(types), widened(others)];
}
