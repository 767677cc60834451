import { shape } from '@parley/domain/kernel';
import type { ImportRecord } from '@parley/transfer/records';
import { Ajv, type ErrorObject } from 'ajv';
import { RECORD_KINDS, RECORD_SCHEMA } from './record-schema.js';

// A test checks the schema. V8 optimizes the code faster than Ajv.
const OPTIONS = {
  discriminator: true,
  allErrors: false,
  meta: false,
  validateSchema: false,
  code: { optimize: false },
};
const validate = new Ajv(OPTIONS).compile<ImportRecord>(RECORD_SCHEMA);

/** Maximum length of a kind in an error. */
const MAX_SHOWN = 40;

/** Returns a record of an untrusted source if it has the documented form. @throws DomainError INVALID_IMPORT */
export function checkRecord(value: unknown, where: string): ImportRecord {
  if (validate(value)) return value;
  throw shape.wrong(where, reasonOf(validate.errors ?? []));
}

function reasonOf(errors: readonly ErrorObject[]): string {
  // The last error is the one of the outermost rule, such as "must match exactly one schema in oneOf".
  const error = errors.find(({ keyword }) => keyword !== 'oneOf' && keyword !== 'anyOf') ?? errors[0];
  if (!error) return 'is not an import record';
  const at = error.instancePath === '' ? '' : ` at ${error.instancePath}`;
  if (error.keyword === 'discriminator') {
    const kind: unknown = error.params.tagValue;
    if (kind === undefined) return 'lacks kind';
    return `has the unknown kind ${JSON.stringify(kind).slice(0, MAX_SHOWN)}; kinds are ${RECORD_KINDS.join(', ')}`;
  }
  const { additionalProperty, missingProperty } = error.params as Readonly<Record<string, string | undefined>>;
  if (additionalProperty !== undefined) return `has the unknown member ${JSON.stringify(additionalProperty)}${at}`;
  if (missingProperty !== undefined && error.keyword === 'required') return `lacks ${missingProperty}${at}`;
  return `is not an import record${at}: ${error.message ?? error.keyword}`;
}
