import { DomainError, declareErrors } from './errors.js';
import type { PersonPart, RealmPart } from './export-parts.js';
import type { ChannelId, MessageId, RealmId, UserId } from './ids.js';
import * as shape from './shape.js';
import { utf8Length } from './text.js';

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** Data that the host application keeps with an object of Parley. */
export interface HostData {
  /** `{}` if there is none. */
  readonly data: JsonObject;
  /** 0 before the first change, then one more with each change. */
  readonly version: number;
}

export const NO_HOST_DATA: HostData = { data: {}, version: 0 };

/** Ids of objects that may have data, by kind. */
export interface DataOwnerIds {
  readonly message: MessageId;
  readonly channel: ChannelId;
  readonly user: UserId;
  readonly realm: RealmId;
}

export type DataOwnerKind = keyof DataOwnerIds;

/** Object that may have data. */
export type DataOwnerRef = {
  [K in DataOwnerKind]: { readonly kind: K; readonly id: DataOwnerIds[K] };
}[DataOwnerKind];

/** UTF-8 bytes of the JSON. */
export const MAX_HOST_DATA_BYTES = 4096;
/** Objects and lists inside each other, the outermost included. */
export const MAX_HOST_DATA_DEPTH = 10;

export const HOST_DATA_ERRORS = declareErrors({
  /** The data is not a JSON object, too long, or nested too deeply. */
  INVALID_DATA: 'invalid',
  /** The data has another version than the expected one; `version`. */
  DATA_VERSION_CONFLICT: 'conflict',
  /** The caller may not change the data of this object. */
  CANNOT_CHANGE_DATA: 'forbidden',
});

type HostDataErrors = typeof HOST_DATA_ERRORS;

/**
 * Returns a copy of the data. Examines at most as many values as fit into the maximum length.
 * @throws DomainError INVALID_DATA
 */
export function parseHostData(value: unknown): JsonObject {
  if (!isDictionary(value)) throw invalid('must be an object');
  checkValue(value, 1, { left: MAX_HOST_DATA_BYTES });
  const json = JSON.stringify(value);
  if (utf8Length(json) > MAX_HOST_DATA_BYTES) throw tooLong();
  return JSON.parse(json) as JsonObject;
}

/** `room`: lower bound of the bytes that remain, so that long values end the walk early. */
function checkValue(value: unknown, depth: number, room: { left: number }): void {
  if (typeof value === 'string') checkText(value, room);
  else if (typeof value === 'object' && value !== null) checkMembers(value, depth, room);
  else if (value === null || typeof value === 'boolean' || Number.isFinite(value)) spend(room, 1);
  else throw invalid('must consist of objects, lists, strings, finite numbers, true, false and null');
}

function checkMembers(value: object, depth: number, room: { left: number }): void {
  if (depth > MAX_HOST_DATA_DEPTH) throw invalid(`must be nested at most ${MAX_HOST_DATA_DEPTH} levels deep`);
  spend(room, 2);
  if (Array.isArray(value)) {
    spend(room, Math.max(0, value.length - 1));
    for (const element of value) checkValue(element, depth + 1, room);
    return;
  }
  if (!isDictionary(value)) throw invalid('must consist of plain objects and lists');
  for (const name in value) {
    checkText(name, room);
    checkValue(value[name], depth + 1, room);
  }
}

function checkText(text: string, room: { left: number }): void {
  spend(room, text.length + 2);
  if (LONE_SURROGATE.test(text)) throw invalid('must not contain lone surrogates');
}

const LONE_SURROGATE = /\p{Cs}/u;

function spend(room: { left: number }, bytes: number): void {
  room.left -= bytes;
  if (room.left < 0) throw tooLong();
}

function isDictionary(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of other contexts have another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

const invalid = (what: string): DomainError => new DomainError('INVALID_DATA', `data ${what}.`);
const tooLong = (): DomainError => invalid(`must be at most ${MAX_HOST_DATA_BYTES} bytes of JSON`);

/**
 * Returns the data after a change, or the former data if nothing changes. `expectedVersion`: version that the caller
 * has read; absent to replace any.
 * @throws DomainError DATA_VERSION_CONFLICT
 */
export function changeHostData(former: HostData, data: JsonObject, expectedVersion?: number): HostData {
  const { version } = former;
  if (expectedVersion !== undefined && expectedVersion !== version) {
    throw new DomainError('DATA_VERSION_CONFLICT', `The data has version ${version}, not ${expectedVersion}.`, {
      version,
    });
  }
  const isSame = JSON.stringify(data) === JSON.stringify(former.data);
  return isSame ? former : { data, version: version + 1 };
}

export interface HostDataReads {
  /** Returns the data of objects of one kind; objects without data are absent. */
  list<K extends DataOwnerKind>(
    realmId: RealmId,
    kind: K,
    ids: readonly DataOwnerIds[K][],
  ): Promise<ReadonlyMap<DataOwnerIds[K], HostData>>;
}

/** Every implementation passes host-data-repository.contract.ts. */
export interface HostDataRepository extends HostDataReads {
  /** Adds or replaces the data of an existing object. A message gets a new version and has data from then on. */
  put(realmId: RealmId, owner: DataOwnerRef, data: HostData): Promise<void>;
}

export interface HostDataEventTypes {
  /** Contains no data, which readers load: the log keeps none that was deleted since. */
  'data.changed': {
    readonly owner: DataOwnerRef;
    readonly version: number;
  };
}

/** Reads exported data. */
export const hostDataShape: shape.Shape<HostData> = shape.object({
  data: (value, path) => {
    try {
      return parseHostData(value);
    } catch {
      throw shape.wrong(path, 'is not data of an application');
    }
  },
  version: (value, path) => {
    const version = shape.integer(value, path);
    if (version < 1) throw shape.wrong(path, 'is not positive');
    return version;
  },
});

const PERSON_PART: PersonPart<'hostData'> = {
  none: { hostData: null },
  shapes: { hostData: shape.orNull(hostDataShape) },
  read: async ({ hostData }, { realmId, userId }) => ({
    hostData: (await hostData.list(realmId, 'user', [userId])).get(userId) ?? null,
  }),
  async add(tx, { realmId, userId }, { hostData }) {
    if (hostData) await tx.hostData.put(realmId, { kind: 'user', id: userId }, hostData);
  },
};

const REALM_PART: RealmPart<'hostData'> = {
  none: { hostData: { realm: null, channels: [] } },
  namesChannels: true,
  shapes: {
    // Missing in exports of earlier versions.
    hostData: shape.orElse(
      shape.object({
        realm: shape.orNull(hostDataShape),
        channels: shape.list(shape.object({ channelId: shape.anyId, hostData: hostDataShape })),
      }),
      { realm: null, channels: [] },
    ),
  },
  async read({ hostData }, { realmId }, { channelIds }) {
    const channels = await hostData.list(realmId, 'channel', [...channelIds]);
    return {
      hostData: {
        realm: (await hostData.list(realmId, 'realm', [realmId])).get(realmId) ?? null,
        channels: [...channels].map(([channelId, data]) => ({ channelId, hostData: data })),
      },
    };
  },
  async add(tx, { realmId }, { hostData: { realm, channels } }, ids) {
    if (realm) await tx.hostData.put(realmId, { kind: 'realm', id: realmId }, realm);
    for (const { channelId, hostData } of channels) {
      await tx.hostData.put(realmId, { kind: 'channel', id: ids.channels.get(channelId) }, hostData);
    }
  },
};

export const HOST_DATA_FEATURE = {
  eventFormats: { 'data.changed': 1 },
  personPart: PERSON_PART,
  realmPart: REALM_PART,
};

declare module './feature-types.js' {
  interface ErrorCodes extends HostDataErrors {}
  interface ErrorDetails {
    DATA_VERSION_CONFLICT: { readonly version: number };
  }
  interface RepositoryMap {
    hostData: [reads: HostDataReads, repository: HostDataRepository];
  }
  interface DomainEventTypes extends HostDataEventTypes {}
  interface PersonCopyParts {
    /** Null if there is none. */
    readonly hostData: HostData | null;
  }
  interface RealmCopyParts {
    readonly hostData: {
      /** Null if there is none. */
      readonly realm: HostData | null;
      readonly channels: readonly { readonly channelId: ChannelId; readonly hostData: HostData }[];
    };
  }
}
