import { dataSchemaProblem } from './data-schema-subset.js';
import { DomainError, declareErrors } from './errors.js';
import type { RealmPart } from './export-parts.js';
import type { DataOwnerKind, JsonObject } from './host-data.js';
import type { RealmId } from './ids.js';
import type { RealmRow, RealmRowReads, RealmRows, RowRules } from './rows.js';
import * as shape from './shape.js';
import { utf8Length } from './text.js';
import type { Repositories } from './unit-of-work.js';

const KINDS = ['message', 'channel', 'user', 'realm'] as const satisfies readonly DataOwnerKind[];

/** JSON Schema that new data of objects of one kind must fit. */
export interface DataSchema extends RealmRow {
  readonly kind: DataOwnerKind;
  /** JSON. */
  readonly schema: string;
}

export type DataSchemaDeclaration = Pick<DataSchema, 'kind' | 'schema'>;

/** UTF-8 bytes of the JSON. */
export const MAX_DATA_SCHEMA_BYTES = 16_384;

export const DATA_SCHEMA_ERRORS = declareErrors({
  /** The schema is outside of the supported subset of JSON Schema, or too long. */
  INVALID_DATA_SCHEMA: 'invalid',
  /** The data does not fit the schema that the application declared. */
  DATA_SCHEMA_MISMATCH: 'invalid',
});

type DataSchemaErrors = typeof DATA_SCHEMA_ERRORS;

export const DATA_SCHEMA_ROWS: RowRules<DataSchema> = {
  kind: 'dataSchema',
  owner: 'realm',
  order: ['id'],
  unique: {
    property: 'kind',
    taken: (kind) => new DomainError('INVALID_DATA_SCHEMA', `There is a schema for data of each ${kind} already.`),
  },
};

/** Checks data by JSON Schemas of the supported subset, in bounded time. */
export interface DataValidator {
  /** Returns the reason why a text of the subset is not a JSON Schema; null if it is one. */
  schemaProblem(schema: string): string | null;
  /**
   * Returns the first mismatch, such as `/orderId must be number`; null if there is none. Stored schemas outside of the
   * subset, which earlier versions accepted, match anything.
   */
  mismatch(schema: string, data: JsonObject): string | null;
}

/** Returns the reason why an application cannot declare the schema; null if it can. */
export function declarationProblem({ kind, schema }: DataSchemaDeclaration, validator: DataValidator): string | null {
  if (utf8Length(schema) > MAX_DATA_SCHEMA_BYTES) {
    return `The schema for data of each ${kind} must be at most ${MAX_DATA_SCHEMA_BYTES} bytes of JSON.`;
  }
  const problem = dataSchemaProblem(schema) ?? validator.schemaProblem(schema);
  return problem && `The schema for data of each ${kind} is invalid: ${problem}.`;
}

/** Accepts `{}`, which means no data. @throws DomainError DATA_SCHEMA_MISMATCH */
export async function requireFittingData(
  { dataSchemas }: Pick<Repositories, 'dataSchemas'>,
  validator: DataValidator,
  realmId: RealmId,
  kind: DataOwnerKind,
  data: JsonObject,
): Promise<void> {
  if (Object.keys(data).length === 0) return;
  const declared = await dataSchemas.findByKey(realmId, kind);
  const problem = declared && validator.mismatch(declared.schema, data);
  if (problem !== null) throw new DomainError('DATA_SCHEMA_MISMATCH', `data${problem}.`);
}

const REALM_PART: RealmPart<'dataSchemas'> = {
  none: { dataSchemas: [] },
  shapes: {
    // Missing in exports of earlier versions.
    dataSchemas: shape.orElse(
      shape.list(shape.object({ kind: shape.oneOf(...KINDS), schema: shape.text(MAX_DATA_SCHEMA_BYTES) })),
      [],
    ),
  },
  read: async ({ dataSchemas }, { realmId }) => ({
    dataSchemas: (await dataSchemas.list(realmId)).map(({ kind, schema }) => ({ kind, schema })),
  }),
  async add(tx, { realmId }, { dataSchemas }) {
    for (const declared of dataSchemas) await tx.dataSchemas.add({ realmId, ...declared });
  },
};

export const DATA_SCHEMA_FEATURE = { rows: { dataSchemas: DATA_SCHEMA_ROWS }, realmPart: REALM_PART };

declare module './feature-types.js' {
  interface ErrorCodes extends DataSchemaErrors {}
  interface RepositoryMap {
    dataSchemas: [reads: RealmRowReads<DataSchema>, repository: RealmRows<DataSchema>];
  }
  interface RealmCopyParts {
    readonly dataSchemas: readonly DataSchemaDeclaration[];
  }
}
