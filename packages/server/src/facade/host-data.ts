import {
  DATA_KEY_TYPES,
  type DataKeyType,
  type DataOwnerIds,
  type DataOwnerKind,
  DomainError,
  FILTERED_KINDS,
  type FilteredKind,
  type HostData,
  type JsonObject,
  NO_HOST_DATA,
  parseHostData,
  type RealmId,
} from '@parley/domain/kernel';
import {
  type ChangedDataOwner,
  CheckHostData,
  type DataDeclaration,
  GetHostData,
  SetHostData,
} from '@parley/domain/membership';
import type { Resolve } from '../kernel/resolve.js';
import { integer, MAX_IDS, MAX_JSON_LENGTH, object, oneOf, optional, recordOf, valueType } from '../kernel/values.js';
import { invalidArgument, properties } from './argument-types.js';

/** Data of your application. Everybody who can see the object may see it. */
export interface ChatData {
  /** `{}` if there is none. */
  readonly data: JsonObject;
  /** Number of changes so far, for `expectedVersion`. */
  readonly dataVersion: number;
}

/** Values that the data must have, by declared key: `{ 'data.orderId': 7 }` (`realms.declareData`). */
export type DataSelection = Readonly<Record<`data.${string}`, string | number | boolean>>;

/** Declaration of the data of all objects of one kind. */
export interface DataOfKind {
  /** Members of the data by which objects can be filtered, with the types of their values. */
  readonly keys?: Readonly<Record<string, DataKeyType>>;
  /**
   * JSON Schema (2020-12) of at most 16,384 bytes that new data must fit, except `{}`. Its patterns run without a time
   * limit on data of others: use none that backtrack.
   */
  readonly schema?: object;
}

export type DataDeclarations = { readonly [K in FilteredKind]?: DataOfKind } & {
  readonly realm?: Pick<DataOfKind, 'schema'>;
};

export interface SetDataOptions {
  /** `dataVersion` that you have read; another version rejects with `DATA_VERSION_CONFLICT`. Default: any. */
  readonly expectedVersion?: number;
}

const OPTIONS = object({ expectedVersion: optional(integer()) });

/** Returns filters such as `orderId=7`. @throws DomainError INVALID_ARGUMENT */
export const filtersOf = (where: DataSelection): readonly string[] =>
  Object.entries(where).map(([name, value]) => {
    if (!name.startsWith('data.')) throw invalidArgument(`where must have names such as data.orderId, not ${name}.`);
    return `${name.slice('data.'.length)}=${value}`;
  });

const SCHEMA = {
  schema: optional(valueType<object>('an object', (value) => typeof value === 'object' && value !== null)),
};
/** The domain checks names and number of the keys, for all kinds together. */
const KEY_TYPES = recordOf(oneOf(DATA_KEY_TYPES), { max: MAX_IDS, maxKeyLength: MAX_JSON_LENGTH });
const OF_KIND = optional(object({ ...SCHEMA, keys: optional(KEY_TYPES) }));
const DECLARATIONS = object({
  message: OF_KIND,
  channel: OF_KIND,
  user: OF_KIND,
  realm: optional(object(SCHEMA)),
});

/** @throws DomainError INVALID_ARGUMENT */
export function declarationOf(given: DataDeclarations): DataDeclaration {
  const { realm, ...filtered } = properties('The declaration', DECLARATIONS, given);
  const declared = [
    ...FILTERED_KINDS.map((kind) => ({ kind, ...filtered[kind] })),
    { kind: 'realm', ...realm } as const,
  ];
  return {
    keys: FILTERED_KINDS.flatMap((kind) =>
      Object.entries(filtered[kind]?.keys ?? {}).map(([name, type]) => ({ kind, name, type })),
    ),
    schemas: declared.flatMap(({ kind, schema }) => (schema ? [{ kind, schema: JSON.stringify(schema) }] : [])),
  };
}

/** Checks given data before the work begins. @throws DomainError INVALID_DATA */
export const parsedData = (data: JsonObject | undefined): JsonObject | undefined =>
  data === undefined ? undefined : parseHostData(data);

/** Checks the data of an object that may have to be created first. @throws DomainError DATA_SCHEMA_MISMATCH */
export async function requireFit(
  resolve: Resolve,
  realmId: RealmId,
  kind: DataOwnerKind,
  data: JsonObject | undefined,
): Promise<void> {
  if (data) await resolve(CheckHostData).execute(realmId, kind, data);
}

export const presentData = ({ data, version }: HostData = NO_HOST_DATA): ChatData => ({ data, dataVersion: version });

/** Returns a function that returns the data of one of the objects. */
export async function dataOf<K extends DataOwnerKind>(
  resolve: Resolve,
  realmId: RealmId,
  kind: K,
  ids: readonly DataOwnerIds[K][],
): Promise<(id: DataOwnerIds[K]) => ChatData> {
  const found = await resolve(GetHostData).execute(realmId, kind, ids);
  return (id) => presentData(found.get(id));
}

export async function setData(
  resolve: Resolve,
  owner: ChangedDataOwner,
  data: JsonObject,
  options: SetDataOptions = {},
): Promise<ChatData> {
  const { expectedVersion } = properties('The options', OPTIONS, options);
  return presentData(
    await resolve(SetHostData).execute({ owner, data, ...(expectedVersion !== undefined && { expectedVersion }) }),
  );
}

/** Stores the data of an object that never had any, and returns the object with its data. */
export async function ensureData<T extends ChatData>(
  resolve: Resolve,
  owner: ChangedDataOwner,
  object: T,
  data: JsonObject | undefined,
): Promise<T> {
  if (data === undefined || object.dataVersion > 0) return object;
  try {
    return { ...object, ...(await setData(resolve, owner, data, { expectedVersion: 0 })) };
  } catch (error) {
    // The data was set concurrently.
    if (!(error instanceof DomainError && error.is('DATA_VERSION_CONFLICT'))) throw error;
    const realmId = 'caller' in owner ? owner.caller.realmId : owner.realmId;
    return { ...object, ...(await dataOf(resolve, realmId, owner.kind, [owner.id]))(owner.id) };
  }
}
