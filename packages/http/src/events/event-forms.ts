import * as wire from '../kernel/wire-schema.js';

/** A form that events have on the wire (events §7). */
export interface EventForm {
  /** What clients call it. */
  readonly type: string;
  /** All of its fields. */
  readonly schema: wire.WireSchema<object>;
}

/** `shape`: its fields beside `id` and `type`. */
export const form = (type: string, shape: wire.Shape = {}): EventForm => ({
  type,
  schema: wire.fields({ id: wire.integer(), type: wire.oneOf(type), ...shape }),
});

/** What clients get instead that do not have the capability (events §2): `parley/client` does not know it. */
export const formWithout = (capability: string, type: string, shape: wire.Shape): EventForm => ({
  type,
  schema: wire.deprecated(form(type, shape).schema, `For clients without \`${capability}\`.`),
});

/** `property` and `value` of an event about one property of many, once for each kind of value. */
export function propertyForms(
  values: wire.Schemas,
  formOf: (shape: wire.Shape) => EventForm,
): readonly [EventForm, ...EventForm[]] {
  const namesByKind = new Map<string, [name: string, ...others: string[]]>();
  for (const [name, { json }] of Object.entries(values)) {
    const names = namesByKind.get(JSON.stringify(json));
    if (names) names.push(name);
    else namesByKind.set(JSON.stringify(json), [name]);
  }
  const forms = [...namesByKind.values()].map((names) =>
    formOf({ property: wire.oneOf(...names), value: values[names[0]]! }),
  );
  return forms as [EventForm, ...EventForm[]];
}

/** Any event: of each type by a name of its own. */
export function eventSchema(forms: readonly EventForm[]): wire.WireSchema<object> {
  const byType = new Map<string, Map<string, wire.WireSchema<object>>>();
  for (const { type, schema } of forms) {
    const others = byType.get(type) ?? new Map();
    byType.set(type, others.set(JSON.stringify(schema.json), schema));
  }
  const types = [...byType.keys()].sort();
  return wire.named('Event', wire.anyOf(...types.map((type) => schemaOfType(type, [...byType.get(type)!.values()]))));
}

const schemaOfType = (type: string, forms: readonly wire.WireSchema<object>[]): wire.WireSchema<object> =>
  wire.named(eventTypeName(type), forms.length === 1 ? forms[0]! : wire.anyOf(...forms));

/** `RealmUserEvent` of `realm_user`. */
export const eventTypeName = (type: string): string =>
  `${type.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;
