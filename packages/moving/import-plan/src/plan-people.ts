import type { Role } from '@parley/domain/access';
import { foldCase, getOrThrow, invalidImport, type UserId } from '@parley/domain/kernel';
import { PLACEHOLDER_DOMAIN } from '@parley/domain/membership';
import { SYSTEM_BOTS, toFullName, type User } from '@parley/domain/users';
import { matchPeople, type PersonMapping, type PersonMatch, type PersonRecord } from '@parley/transfer/records';
import { type ExistingOrganization, NEW_ORGANIZATION, nextIdAfter } from './existing-organization.js';
import { MAX_PEOPLE, type Staging } from './staging.js';

/** User of the organization. */
export interface PlannedUser {
  readonly id: UserId;
  /** True if the organization has the user already. */
  readonly isExisting: boolean;
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly isBot: boolean;
  readonly joinedAt: number;
  readonly match: PersonMatch | 'earlier import';
  /** First person of the source with this account; null for people who only appear as a sender or member. */
  readonly person: PersonRecord | null;
  /** File with the picture. */
  readonly avatar: string | null;
}

/** Mapping row for an unmerged placeholder from an earlier import. */
export interface LateMapping {
  readonly placeholder: UserId;
  readonly email: string;
}

/** Limit on members of channels, conversations and groups in total, for the same reason. */
const MAX_MEMBERSHIPS = 20_000_000;

const ACCOUNT_REASONS: Readonly<Record<PersonMatch, string>> = {
  'mapping file': 'account by the mapping file',
  'verified email': 'account by verified email',
  bot: 'deactivated bot',
  placeholder: 'placeholder, because no verified email is known',
};

/** Reason for records with an object from an earlier import. */
export const BEFORE = 'imported before';

/** People of the source and their users. People without a record get a placeholder when something refers to them. */
export class PlannedPeople {
  /** Ascending ids, after the system bots. */
  readonly users: PlannedUser[] = [];
  /** People without a record, who only appear as a sender or member; by id in the source. */
  readonly unlisted = new Map<string, PlannedUser>();
  /** Accounts of earlier imports whose people are deactivated in the source now. */
  readonly former: ReadonlySet<UserId>;
  /** Rows of the mapping file that match nobody, or several people. */
  readonly unusedMappings: readonly PersonMapping[];
  /** Placeholders of earlier imports to which the mapping file now gives an account. */
  readonly lateMappings: LateMapping[] = [];
  private readonly storedById: ReadonlyMap<UserId, User>;
  private memberships = 0;
  private readonly byPerson = new Map<string, PlannedUser>();
  private readonly byEmail = new Map<string, PlannedUser>();
  private readonly byId = new Map<UserId, PlannedUser>();
  private nextId: number;

  constructor(
    staging: Staging,
    mappings: readonly PersonMapping[],
    private readonly now: number,
    private readonly existing: ExistingOrganization,
  ) {
    const stored = existing.realm.users
      .map(({ user }) => user)
      .filter(({ bot, isDeleted }) => !bot?.isSystem && !isDeleted);
    this.storedById = new Map(stored.map((user) => [user.id, user]));
    const storedByEmail = new Map(stored.filter(({ bot }) => bot === null).map((user) => [foldCase(user.email), user]));
    this.nextId = nextIdAfter(
      existing.realm.users.map(({ user }) => user),
      SYSTEM_BOTS.length,
    );
    const records = [...staging.list('person')];
    const { people, unusedMappings } = matchPeople(
      records.map(({ record }) => record),
      mappings,
    );
    this.unusedMappings = unusedMappings;
    for (const { number, record } of records) {
      const { match, email, name } = getOrThrow(people, record.id);
      const imported = this.storedById.get(existing.target('person', record.id) as UserId);
      const user = imported ?? (email === null ? undefined : storedByEmail.get(foldCase(email)));
      if (imported && match === 'mapping file' && imported.email.endsWith(`@${PLACEHOLDER_DOMAIN}`)) {
        this.lateMappings.push({ placeholder: imported.id, email: email! });
      }
      if (user) {
        const { person } = this.addExisting(record.id, record, user, imported ? 'earlier import' : match);
        const reason = person !== record ? 'same user as another person' : imported ? BEFORE : ACCOUNT_REASONS[match];
        staging.ledger.account(number, record, 'merged', reason);
        continue;
      }
      const same = email === null ? undefined : this.byEmail.get(foldCase(email));
      if (same) {
        this.byPerson.set(record.id, same);
        staging.ledger.account(number, record, 'merged', 'same email as another person');
        continue;
      }
      this.add(record.id, record, match, email, name);
      staging.ledger.account(number, record, 'imported', ACCOUNT_REASONS[match]);
    }
    this.requireNoBots(records.map(({ record }) => record));
    this.former = this.formerOf(records.map(({ record }) => record));
  }

  /** Returns null for a person without a record that nothing but mentions refers to. */
  find(id: string): PlannedUser | null {
    return this.byPerson.get(id) ?? null;
  }

  /** @throws DomainError INVALID_IMPORT */
  get(id: string): PlannedUser {
    return this.byPerson.get(id) ?? this.addUnlisted(id);
  }

  /** Returns the members of a channel, without people who are deactivated in the source. @throws DomainError INVALID_IMPORT */
  channelMembers(ids: readonly string[]): ReadonlySet<UserId> {
    return new Set([...this.membersOf(ids)].filter((id) => !this.former.has(id)));
  }

  /** Returns the users of the members of a channel, conversation or group. @throws DomainError INVALID_IMPORT */
  membersOf(ids: readonly string[]): ReadonlySet<UserId> {
    this.memberships += ids.length;
    if (this.memberships > MAX_MEMBERSHIPS) throw invalidImport(`It has more than ${MAX_MEMBERSHIPS} memberships.`);
    return new Set(ids.map((id) => this.get(id).id));
  }

  /** Requires a person for every new account, since bots could not read public channels. @throws DomainError INVALID_IMPORT */
  private requireNoBots(records: readonly PersonRecord[]): void {
    const humans = new Set(records.flatMap((record) => (record.isBot ? [] : getOrThrow(this.byPerson, record.id).id)));
    for (const { id, isBot } of records) {
      const user = getOrThrow(this.byPerson, id);
      if (!isBot || user.isExisting || !user.isActive || humans.has(user.id)) continue;
      throw invalidImport(
        `The mapping file gives the bot ${id} the account ${user.email}. ` +
          'Map the bot to the account of a person, or remove the row.',
      );
    }
  }

  private formerOf(records: readonly PersonRecord[]): ReadonlySet<UserId> {
    const usersOf = (some: readonly PersonRecord[]) => some.map(({ id }) => getOrThrow(this.byPerson, id));
    const present = new Set(usersOf(records.filter(({ isDeactivated }) => !isDeactivated)));
    const left = usersOf(records.filter(({ isDeactivated }) => isDeactivated));
    const former = left.filter((user) => user.isExisting && user.isActive && !user.isBot && !present.has(user));
    return new Set(former.map(({ id }) => id));
  }

  private addUnlisted(id: string): PlannedUser {
    const stored = this.storedById.get(this.existing.target('person', id) as UserId);
    const user = stored
      ? this.addExisting(id, null, stored, 'earlier import')
      : this.add(id, null, 'placeholder', null, null);
    this.unlisted.set(id, user);
    return user;
  }

  private addExisting(
    recordId: string,
    person: PersonRecord | null,
    user: User,
    match: PlannedUser['match'],
  ): PlannedUser {
    const known = this.byId.get(user.id);
    const { id, email, fullName, role, isActive, bot, joinedAt } = user;
    const planned = known ?? {
      ...{ id, isExisting: true, email, fullName, role, isActive, isBot: bot !== null, joinedAt, match, person },
      avatar: null,
    };
    this.byPerson.set(recordId, planned);
    if (known) return known;
    this.users.push(planned);
    this.byId.set(id, planned);
    return planned;
  }

  private add(
    id: string,
    person: PersonRecord | null,
    match: PersonMatch,
    email: string | null,
    name: string | null,
  ): PlannedUser {
    if (this.users.length >= MAX_PEOPLE) throw invalidImport(`It has more than ${MAX_PEOPLE} people.`);
    const userId = this.nextId++ as UserId;
    const user: PlannedUser = {
      id: userId,
      isExisting: false,
      email: email ?? `imported-${userId}@${PLACEHOLDER_DOMAIN}`,
      fullName: toFullName(name ?? person?.name ?? '') || toFullName(`Unknown ${id}`),
      role: person?.isExternal ? 'guest' : this.roleOf(person),
      isActive: email !== null && !person?.isDeactivated,
      isBot: person?.isBot === true && email === null,
      joinedAt: Math.floor(person?.joinedAt ?? this.now),
      match,
      person,
      avatar: person?.avatar ?? null,
    };
    this.users.push(user);
    this.byPerson.set(id, user);
    if (email !== null) this.byEmail.set(foldCase(email), user);
    return user;
  }

  /** An organization that exists already keeps its own owners, administrators and moderators. */
  private roleOf(person: PersonRecord | null): Role {
    const role = person?.role ?? 'member';
    return this.existing !== NEW_ORGANIZATION && role !== 'guest' ? 'member' : role;
  }
}
