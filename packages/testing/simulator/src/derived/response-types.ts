import { eventTypeName, type Route } from '@parley/http';
import { compactResponseSchemaOf } from '@parley/http/openapi';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { nameOf } from './coverage.js';

type Schemas = Readonly<Record<string, object>>;

const validators = new Map<string, ValidateFunction | null>();

function validatorOf(name: string, schema: () => object | null): ValidateFunction | null {
  let validator = validators.get(name);
  if (validator === undefined) {
    const made = schema();
    validator = made && new Ajv2020({ strict: false, validateFormats: false }).compile(made);
    validators.set(name, validator);
  }
  return validator;
}

/** Returns how a response differs from the declared type; null if it conforms, or none is declared. */
export function mismatchOf(route: Route, json: unknown): string | null {
  let events: Schemas | undefined;
  const schema = () => {
    const declared = compactResponseSchemaOf(route) as { readonly components: { readonly schemas: Schemas } } | null;
    const schemas = declared?.components.schemas ?? {};
    // All types of events at once take long to compile.
    return declared && 'Event' in schemas
      ? { ...declared, components: { schemas: { ...schemas, Event: {} } } }
      : declared;
  };
  const validator = validatorOf(nameOf(route), schema);
  const problem = validator && problemOf(validator, json);
  if (problem) return problem;
  for (const event of (json as { readonly events?: readonly { readonly type: string }[] }).events ?? []) {
    const ofType = validatorOf(`event ${event.type}`, () => {
      events ??= (compactResponseSchemaOf(route) as { readonly components: { readonly schemas: Schemas } }).components
        .schemas;
      return { $ref: `#/components/schemas/${eventTypeName(event.type)}`, components: { schemas: events } };
    });
    const wrong = problemOf(ofType!, event);
    if (wrong) return `${event.type}: ${wrong}`;
  }
  return null;
}

interface EventSchema {
  readonly anyOf?: readonly EventSchema[];
  readonly deprecated?: boolean;
  readonly properties?: {
    readonly type: { readonly enum: readonly string[] };
    readonly op?: { readonly enum: readonly string[] };
  };
}

/** Kinds of events that a route declares, such as `realm_user/add`, without those for old clients only. */
export function eventKindsOf(route: Route): readonly string[] {
  const { schemas } = (compactResponseSchemaOf(route) as { readonly components: { readonly schemas: Schemas } })
    .components;
  const events = Object.entries(schemas).filter(([name]) => name !== 'Event' && name.endsWith('Event'));
  const forms = events.flatMap(([, schema]) => (schema as EventSchema).anyOf ?? [schema as EventSchema]);
  const kinds = forms.flatMap(({ deprecated, properties }) => {
    if (deprecated || !properties) return [];
    const [type] = properties.type.enum;
    return properties.op ? properties.op.enum.map((op) => `${type}/${op}`) : [type!];
  });
  return [...new Set(kinds)].filter((kind) => kind !== 'heartbeat');
}

const problemOf = (validate: ValidateFunction, value: unknown): string | null =>
  validate(value)
    ? null
    : (validate.errors ?? [])
        .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
        .join('; ');
