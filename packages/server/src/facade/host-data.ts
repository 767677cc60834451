import {
  type DataOwnerIds,
  type DataOwnerKind,
  DomainError,
  type HostData,
  type JsonObject,
  NO_HOST_DATA,
  parseHostData,
  type RealmId,
} from '@parley/domain/kernel';
import { type ChangedDataOwner, GetHostData, SetHostData } from '@parley/domain/membership';
import type { Resolve } from '../kernel/resolve.js';
import { integer, object, optional } from '../kernel/values.js';
import { properties } from './argument-types.js';

/** Data of your application. Everybody who can see the object may see it. */
export interface ChatData {
  /** `{}` if there is none. */
  readonly data: JsonObject;
  /** Number of changes so far, for `expectedVersion`. */
  readonly dataVersion: number;
}

export interface SetDataOptions {
  /** `dataVersion` that you have read; another version rejects with `DATA_VERSION_CONFLICT`. Default: any. */
  readonly expectedVersion?: number;
}

const OPTIONS = object({ expectedVersion: optional(integer()) });

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
