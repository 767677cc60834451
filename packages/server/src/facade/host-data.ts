import {
  DATA_KEY_TYPES,
  type DataKeyDeclaration,
  type DataKeyType,
  type DataOwnerIds,
  type DataOwnerKind,
  DomainError,
  FILTERED_KINDS,
  type FilteredKind,
  type HostData,
  type JsonObject,
  MAX_DATA_KEY_LENGTH,
  MAX_DATA_KEYS,
  NO_HOST_DATA,
  parseHostData,
  type RealmId,
} from '@parley/domain/kernel';
import { type ChangedDataOwner, GetHostData, SetHostData } from '@parley/domain/membership';
import type { OptionalKey } from '@parley/http';
import type { Resolve } from '../kernel/resolve.js';
import { integer, object, oneOf, optional, recordOf, valueType } from '../kernel/values.js';
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

/** Objects whose data can be filtered, with the types of the keys by name, such as `{ message: { orderId: 'number' } }`. */
export type DataKeys = { readonly [K in FilteredKind]?: Readonly<Record<string, DataKeyType>> };

export interface SetDataOptions {
  /** `dataVersion` that you have read; another version rejects with `DATA_VERSION_CONFLICT`. Default: any. */
  readonly expectedVersion?: number;
}

const OPTIONS = object({ expectedVersion: optional(integer()) });

export const WHERE = recordOf(
  valueType<string | number | boolean>('text, a number, true or false', (value) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  ),
  { max: MAX_DATA_KEYS, maxKeyLength: 'data.'.length + MAX_DATA_KEY_LENGTH },
);

/** Returns filters such as `orderId=7`. @throws DomainError INVALID_ARGUMENT */
export const filtersOf = (where: DataSelection): readonly string[] =>
  Object.entries(where).map(([name, value]) => {
    if (!name.startsWith('data.')) throw invalidArgument(`where must have names such as data.orderId, not ${name}.`);
    return `${name.slice('data.'.length)}=${value}`;
  });

const KEY_TYPES = recordOf(oneOf(DATA_KEY_TYPES), { max: MAX_DATA_KEYS, maxKeyLength: MAX_DATA_KEY_LENGTH });
const DECLARATION = object(
  Object.fromEntries(FILTERED_KINDS.map((kind) => [kind, optional(KEY_TYPES)])) as Record<
    FilteredKind,
    OptionalKey<Record<string, DataKeyType>>
  >,
);

/** @throws DomainError INVALID_ARGUMENT */
export function declaredKeys(given: DataKeys): readonly DataKeyDeclaration[] {
  const declaration = properties('The keys', DECLARATION, given);
  return FILTERED_KINDS.flatMap((kind) =>
    Object.entries(declaration[kind] ?? {}).map(([name, type]) => ({ kind, name, type })),
  );
}

/** Checks given data before the work begins. @throws DomainError INVALID_DATA */
export const parsedData = (data: JsonObject | undefined): JsonObject | undefined =>
  data === undefined ? undefined : parseHostData(data);

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
