import { type Role, SYSTEM_GROUPS, type SystemGroupName } from '@parley/domain/access';
import { matchPeople, type PersonMapping, type PersonMatch, type PersonRecord } from '@parley/domain/imports';
import { foldCase, type GroupId, invalidImport, type UserId } from '@parley/domain/kernel';
import { PLACEHOLDER_DOMAIN } from '@parley/domain/membership';
import { SYSTEM_BOTS, toFullName } from '@parley/domain/users';
import type { Staging } from './staging.js';

/** User of the new organization. */
export interface PlannedUser {
  readonly id: UserId;
  readonly email: string;
  readonly fullName: string;
  readonly role: Role;
  readonly isActive: boolean;
  readonly isBot: boolean;
  readonly joinedAt: number;
  readonly match: PersonMatch;
  /** First person of the source with this account; null for people who only appear as a sender or member. */
  readonly person: PersonRecord | null;
  /** File with the picture. */
  readonly avatar: string | null;
}

/** Maximum number of people, since all are kept in memory. */
const MAX_PEOPLE = 1_000_000;
/** Limit on members of channels, conversations and groups in total, for the same reason. */
const MAX_MEMBERSHIPS = 20_000_000;

const ACCOUNT_REASONS: Readonly<Record<PersonMatch, string>> = {
  'mapping file': 'account by the mapping file',
  'verified email': 'account by verified email',
  bot: 'deactivated bot',
  placeholder: 'placeholder, because no verified email is known',
};

/** People of the source and their users. People without a record get a placeholder when something refers to them. */
export class PlannedPeople {
  /** Ascending ids, after the system bots. */
  readonly users: PlannedUser[] = [];
  /** Rows of the mapping file that match nobody, or several people. */
  readonly unusedMappings: readonly PersonMapping[];
  private memberships = 0;
  private readonly byPerson = new Map<string, PlannedUser>();
  private readonly byEmail = new Map<string, PlannedUser>();

  constructor(
    staging: Staging,
    mappings: readonly PersonMapping[],
    private readonly now: number,
  ) {
    const records = [...staging.list('person')];
    const { people, unusedMappings } = matchPeople(
      records.map(({ record }) => record),
      mappings,
    );
    this.unusedMappings = unusedMappings;
    for (const { number, record } of records) {
      const { match, email, name } = people.get(record.id)!;
      const existing = email === null ? undefined : this.byEmail.get(foldCase(email));
      if (existing) {
        this.byPerson.set(record.id, existing);
        staging.ledger.account(number, record, 'merged', 'same email as another person');
        continue;
      }
      this.add(record.id, record, match, email, name);
      staging.ledger.account(number, record, 'imported', ACCOUNT_REASONS[match]);
    }
  }

  /** Returns null for a person without a record that nothing but mentions refers to. */
  find(id: string): PlannedUser | null {
    return this.byPerson.get(id) ?? null;
  }

  /** @throws DomainError INVALID_IMPORT */
  get(id: string): PlannedUser {
    return this.byPerson.get(id) ?? this.add(id, null, 'placeholder', null, null);
  }

  /** Returns the users of the members of a channel, conversation or group. @throws DomainError INVALID_IMPORT */
  membersOf(ids: readonly string[]): ReadonlySet<UserId> {
    this.memberships += ids.length;
    if (this.memberships > MAX_MEMBERSHIPS) throw invalidImport(`It has more than ${MAX_MEMBERSHIPS} memberships.`);
    return new Set(ids.map((id) => this.get(id).id));
  }

  /** Number of placeholders without a record. */
  get strangers(): number {
    return this.users.filter(({ person }) => person === null).length;
  }

  private add(
    id: string,
    person: PersonRecord | null,
    match: PersonMatch,
    email: string | null,
    name: string | null,
  ): PlannedUser {
    if (this.users.length >= MAX_PEOPLE) throw invalidImport(`It has more than ${MAX_PEOPLE} people.`);
    const userId = (SYSTEM_BOTS.length + this.users.length + 1) as UserId;
    const user: PlannedUser = {
      id: userId,
      email: email ?? `imported-${userId}@${PLACEHOLDER_DOMAIN}`,
      fullName: toFullName(name ?? person?.name ?? '') || toFullName(`Unknown ${id}`),
      role: person?.isExternal ? 'guest' : (person?.role ?? 'member'),
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
}

/** Ids of the system groups in a new organization. */
export const SYSTEM_GROUP_IDS = Object.fromEntries(
  SYSTEM_GROUPS.map(({ name }, index) => [name, index + 1]),
) as Readonly<Record<SystemGroupName, GroupId>>;
