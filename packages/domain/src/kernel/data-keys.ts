import { DomainError, declareErrors } from './errors.js';
import type { RealmPart } from './export-parts.js';
import type { DataOwnerIds, JsonObject } from './host-data.js';
import type { Id, RealmId } from './ids.js';
import * as shape from './shape.js';

export type DataKeyId = Id<'dataKey'>;

/** Kinds of objects that can be filtered by their data. */
export const FILTERED_KINDS = ['message', 'channel', 'user'] as const;
export type FilteredKind = (typeof FILTERED_KINDS)[number];

export const DATA_KEY_TYPES = ['string', 'number', 'boolean'] as const;
export type DataKeyType = (typeof DATA_KEY_TYPES)[number];

/** Member of the data of objects of one kind by which they can be filtered. */
export interface DataKeyDeclaration {
  readonly kind: FilteredKind;
  readonly name: string;
  readonly type: DataKeyType;
}

export interface DataKey extends DataKeyDeclaration {
  readonly id: DataKeyId;
  /** False while values of earlier objects are missing in the index. */
  readonly isIndexed: boolean;
}

/** Objects with this value. */
export interface DataFilter {
  readonly key: Pick<DataKey, 'id' | 'name' | 'type'>;
  readonly value: string;
}

/** Per organization, for all kinds. */
export const MAX_DATA_KEYS = 20;
export const MAX_DATA_KEY_LENGTH = 50;
/** Longer values are not indexed. */
export const MAX_INDEXED_VALUE_LENGTH = 200;

export const DATA_KEY_ERRORS = declareErrors({
  /** The declared keys have wrong names or types, or are too many. */
  INVALID_DATA_KEY: 'invalid',
  /** The filter names an unknown key or one that is being indexed, or has a value of another type. */
  INVALID_DATA_FILTER: 'invalid',
});

type DataKeyErrors = typeof DATA_KEY_ERRORS;

const NAME = new RegExp(`^[A-Za-z][A-Za-z0-9_]{0,${MAX_DATA_KEY_LENGTH - 1}}$`);

/** @throws DomainError INVALID_DATA_KEY */
export function checkDataKeys(keys: readonly DataKeyDeclaration[]): void {
  if (keys.length > MAX_DATA_KEYS) {
    throw new DomainError('INVALID_DATA_KEY', `An organization can declare at most ${MAX_DATA_KEYS} keys.`);
  }
  for (const { name, type } of keys) {
    if (!NAME.test(name)) {
      const rule = `a letter, then letters, digits and underscores, at most ${MAX_DATA_KEY_LENGTH} in total`;
      throw new DomainError('INVALID_DATA_KEY', `The key ${JSON.stringify(name)} must be ${rule}.`);
    }
    if (!DATA_KEY_TYPES.includes(type)) {
      throw new DomainError('INVALID_DATA_KEY', `The type of the key ${name} must be ${DATA_KEY_TYPES.join(' or ')}.`);
    }
  }
}

const isSame = (a: DataKeyDeclaration, b: DataKeyDeclaration): boolean =>
  a.kind === b.kind && a.name === b.name && a.type === b.type;

/** Returns the keys to add and to remove, so that the declared ones remain. */
export function compareDataKeys(former: readonly DataKey[], declared: readonly DataKeyDeclaration[]) {
  return {
    added: declared.filter((key) => !former.some((each) => isSame(each, key))),
    removed: former.filter((key) => !declared.some((each) => isSame(each, key))),
  };
}

/** Returns the indexed text of the object's value; null if it has none of this type, or none that can be indexed. */
export function indexedValue(data: JsonObject, { name, type }: Pick<DataKeyDeclaration, 'name' | 'type'>) {
  const value = Object.hasOwn(data, name) ? data[name] : undefined;
  return typeof value === type ? indexable(String(value)) : null;
}

/** PostgreSQL stores no texts with null characters. */
const indexable = (text: string): string | null =>
  text.length > MAX_INDEXED_VALUE_LENGTH || text.includes('\0') ? null : text;

/**
 * Parses a filter such as `orderId=7`.
 * @throws DomainError INVALID_DATA_FILTER
 */
export function parseDataFilter(keys: readonly DataKey[], kind: FilteredKind, filter: string): DataFilter {
  const [, name = filter, text] = /^([^=]*)=(.*)$/s.exec(filter) ?? [];
  if (text === undefined) throw invalid(`missing value of data key ${name}`);
  const key = keys.find((each) => each.kind === kind && each.name === name);
  if (!key) throw invalid(`unknown data key ${name}`);
  if (!key.isIndexed) throw invalid(`data key ${name} is being indexed`);
  const value = canonicalValue(key.type, text);
  if (value === null) throw invalid(`invalid ${key.type} ${text}`);
  return { key: { id: key.id, name, type: key.type }, value };
}

function canonicalValue(type: DataKeyType, text: string): string | null {
  if (type === 'number') return text.trim() !== '' && Number.isFinite(Number(text)) ? String(Number(text)) : null;
  if (type === 'boolean') return text === 'true' || text === 'false' ? text : null;
  return indexable(text);
}

const invalid = (description: string) => new DomainError('INVALID_DATA_FILTER', description, { description });

export interface DataKeyReads {
  /** Declared keys of the organization, by id. */
  list(realmId: RealmId): Promise<readonly DataKey[]>;
  /** Returns at most `limit` ascending ids above `after` of the objects with this value. */
  listObjects(realmId: RealmId, filter: DataFilter, after: number, limit: number): Promise<readonly number[]>;
}

/**
 * Declared keys and the index of their values, which changes of data keep current. Every implementation passes
 * data-key-repository.contract.ts.
 */
export interface DataKeyRepository extends DataKeyReads {
  /** Adds a key that is not indexed. */
  add(realmId: RealmId, key: DataKeyDeclaration): Promise<void>;
  /** Removes the key at once; `removeSome` deletes its values. */
  remove(realmId: RealmId, id: DataKeyId): Promise<void>;
  /** Deletes at most `limit` values of removed keys. Returns false if none are left. */
  removeSome(realmId: RealmId, limit: number): Promise<boolean>;
  /** Examines at most `limit` objects with data for the keys that are not indexed. Returns false if all are indexed. */
  indexSome(realmId: RealmId, limit: number): Promise<boolean>;
  /** Indexes the data of objects that were restored. */
  index<K extends FilteredKind>(realmId: RealmId, kind: K, ids: readonly DataOwnerIds[K][]): Promise<void>;
}

const REALM_PART: RealmPart<'dataKeys'> = {
  none: { dataKeys: [] },
  shapes: {
    // Missing in exports of earlier versions.
    dataKeys: shape.orElse(
      shape.list(
        shape.object({
          kind: shape.oneOf(...FILTERED_KINDS),
          name: shape.text(MAX_DATA_KEY_LENGTH),
          type: shape.oneOf(...DATA_KEY_TYPES),
        }),
      ),
      [],
    ),
  },
  read: async ({ dataKeys }, { realmId }) => ({
    dataKeys: (await dataKeys.list(realmId)).map(({ kind, name, type }) => ({ kind, name, type })),
  }),
  async add(tx, { realmId }, { dataKeys }) {
    checkDataKeys(dataKeys);
    for (const key of dataKeys) await tx.dataKeys.add(realmId, key);
    // A new organization has no objects with data.
    while (await tx.dataKeys.indexSome(realmId, 1));
  },
};

export const DATA_KEY_FEATURE = { realmPart: REALM_PART };

declare module './feature-types.js' {
  interface ErrorCodes extends DataKeyErrors {}
  interface ErrorDetails {
    INVALID_DATA_FILTER: { readonly description: string };
  }
  interface RepositoryMap {
    dataKeys: [reads: DataKeyReads, repository: DataKeyRepository];
  }
  interface RealmCopyParts {
    readonly dataKeys: readonly DataKeyDeclaration[];
  }
}
