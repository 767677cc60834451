import type { FindHostUsers, HostUserReference } from '@parley/domain/host-users';
import { type Caller, DomainError, type RealmId, type UserId } from '@parley/domain/shared';
import type { RealmResolver } from '../realm-resolver.js';

/** A user of an organization: by the id that your application gave them, or by Parley's own. */
export type UserRef = { readonly realm: string } & ({ readonly externalId: string } | { readonly userId: number });

/** Within an organization: a text is an external id, a number Parley's own. */
export type PersonRef = string | number;

/** So many external ids are kept at hand. */
const MAX_KNOWN = 10_000;

/** What names of the host application stand for. */
export class Addresses {
  /** An external id is given once and for all, so that what was found stays true. */
  private readonly known = new Map<string, UserId>();

  constructor(
    private readonly realms: RealmResolver,
    private readonly users: FindHostUsers,
  ) {}

  /** @throws DomainError UNKNOWN_REALM */
  async realmId(name: string): Promise<RealmId> {
    const id = await this.realms.findByStringId(name);
    if (id === null) throw new DomainError('UNKNOWN_REALM', `There is no organization '${name}'.`);
    return id;
  }

  /** @throws DomainError UNKNOWN_REALM, UNKNOWN_USER */
  async caller(ref: UserRef, clientName: string): Promise<Caller> {
    const realmId = await this.realmId(ref.realm);
    // Whether there is a user of our own id, the use case finds out.
    const userId = 'userId' in ref ? (ref.userId as UserId) : await this.userId(realmId, ref.externalId);
    return { realmId, userId, clientName };
  }

  /** In their order. @throws DomainError UNKNOWN_USER */
  async userIds(realmId: RealmId, people: readonly PersonRef[]): Promise<readonly UserId[]> {
    const externalIds = people.filter((person) => typeof person === 'string');
    const found = externalIds.length === 0 ? [] : await this.users.getIds(realmId, externalIds);
    const byExternalId = new Map(externalIds.map((externalId, index) => [externalId, found[index]!]));
    return people.map((person) => (typeof person === 'string' ? byExternalId.get(person)! : (person as UserId)));
  }

  private async userId(realmId: RealmId, externalId: string): Promise<UserId> {
    const key = `${realmId} ${externalId}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const [id] = await this.users.getIds(realmId, [externalId]);
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(key, id!);
    return id!;
  }
}

export const referenceOf = (ref: UserRef): HostUserReference =>
  'userId' in ref ? { userId: ref.userId as UserId } : { externalId: ref.externalId };
