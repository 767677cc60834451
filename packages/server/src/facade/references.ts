import {
  type Caller,
  DomainError,
  type EventListener,
  getOrThrow,
  type RealmId,
  type StoredEvent,
  type UserId,
} from '@parley/domain/kernel';
import { FindHostUsers, type HostUserReference } from '@parley/domain/membership';
import { RealmResolver } from '../kernel/realm-resolver.js';
import { object } from '../kernel/values.js';
import { argument, EXTERNAL_ID, ID, PERSON, properties, TEXT } from './argument-types.js';

/** User of an organization by the id from your application or by Parley's own id. */
export type UserRef = { readonly realm: string } & ({ readonly externalId: string } | { readonly userId: number });

/** User within an organization: a string is an external id, a number is Parley's own id. */
export type PersonRef = string | number;

/** The application's own objects may have more properties. */
const REFERENCE = {
  byId: object({ userId: ID }, { open: true }),
  byExternalId: object({ externalId: EXTERNAL_ID }, { open: true }),
};

/** @throws DomainError INVALID_ARGUMENT naming the property */
export function referenceOf(ref: UserRef): HostUserReference {
  // Reads each property once, so that the checked value is the one that counts.
  const given: UserRef = typeof ref === 'object' && ref !== null ? { ...ref } : ref;
  const isById = typeof given === 'object' && given !== null && 'userId' in given && given.userId !== undefined;
  if (!isById) return properties('The user', REFERENCE.byExternalId, given);
  return { userId: properties('The user', REFERENCE.byId, given).userId as UserId };
}

/** Maximum number of cached external ids. */
const MAX_CACHED = 10_000;

/** Resolves names and ids used by the host application. */
export class Addresses implements EventListener {
  static readonly inject = [RealmResolver, FindHostUsers] as const;

  /** Cache of external ids, which change only when a person is erased. Misses are not cached. */
  private readonly idsByName = new Map<string, UserId>();
  private externalIds = new Map<UserId, string>();

  constructor(
    private readonly realms: RealmResolver,
    private readonly users: FindHostUsers,
  ) {}

  /** @throws DomainError INVALID_ARGUMENT, UNKNOWN_REALM */
  async realmId(name: string): Promise<RealmId> {
    const id = await this.realms.findByStringId(argument('realm', TEXT, name));
    if (id === null) throw new DomainError('UNKNOWN_REALM', `realm: there is no organization '${name}'.`);
    return id;
  }

  /** @throws DomainError UNKNOWN_REALM, UNKNOWN_USER */
  async caller(ref: UserRef, clientName: string): Promise<Caller> {
    const realmId = await this.realmId(ref.realm);
    // The use case rejects unknown user ids.
    const by = referenceOf(ref);
    const userId =
      'userId' in by
        ? by.userId
        : (this.idsByName.get(keyOf(realmId, by.externalId)) ?? (await this.findUserId(realmId, by.externalId)));
    return { realmId, userId, clientName };
  }

  /**
   * Returns ids in input order. `property` is the name used in errors. @throws DomainError INVALID_ARGUMENT,
   * UNKNOWN_USER
   */
  async userIds(realmId: RealmId, property: string, people: readonly PersonRef[]): Promise<readonly UserId[]> {
    for (const person of people) argument(property, PERSON, person);
    const externalIds = people.filter((person) => typeof person === 'string');
    const found = externalIds.length === 0 ? [] : await this.users.getIds(realmId, externalIds);
    const byExternalId = new Map(externalIds.map((externalId, index) => [externalId, found[index]!]));
    return people.map((person) => (typeof person === 'string' ? getOrThrow(byExternalId, person) : (person as UserId)));
  }

  /** Returns external ids by user. Users without one are absent; the map may contain other users. */
  async externalIdsOf(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    const ids = this.externalIds;
    const unknown = userIds.filter((id) => !ids.has(id));
    if (unknown.length === 0) return ids;
    const all = new Map(await this.users.externalIdsOf(realmId, [...new Set(unknown)]));
    // Replaced instead of cleared, since concurrent callers still read the old map.
    if (this.externalIds.size >= MAX_CACHED) this.externalIds = new Map();
    for (const [id, externalId] of all) this.externalIds.set(id, externalId);
    for (const id of userIds) {
      const externalId = ids.get(id);
      if (externalId !== undefined) all.set(id, externalId);
    }
    return all;
  }

  onEvents(events: readonly StoredEvent[]): void {
    if (events.some(({ event }) => event.type === 'user.credentials_changed')) this.forgetAll();
  }

  /** The unreadable event may concern any user. */
  onUnreadable(): void {
    this.forgetAll();
  }

  onClosed(): void {
    this.forgetAll();
  }

  private forgetAll(): void {
    this.idsByName.clear();
    this.externalIds = new Map();
  }

  private async findUserId(realmId: RealmId, externalId: string): Promise<UserId> {
    const [id] = await this.users.getIds(realmId, [externalId]);
    if (this.idsByName.size >= MAX_CACHED) this.idsByName.clear();
    this.idsByName.set(keyOf(realmId, externalId), id!);
    return id!;
  }
}

const keyOf = (realmId: RealmId, externalId: string): string => `${realmId} ${externalId}`;
