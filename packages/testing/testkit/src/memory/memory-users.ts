import {
  compareCodePoints,
  DomainError,
  type EventSeq,
  foldCase,
  type RealmId,
  type RecipientId,
  type Seed,
  type UserId,
} from '@parley/domain/kernel';
import {
  type ConversationPartnerQuestion,
  foldedName,
  type SystemBotKind,
  type User,
  type UserListEntry,
  type UserRepository,
} from '@parley/domain/users';
import { type MemoryUnit, newSeed } from './tables.js';

interface UserRow {
  readonly user: User;
  readonly passwordHash: string | null;
  readonly seed: string;
  /** Null for members of the realm. */
  readonly systemKind: SystemBotKind | null;
}

declare module './tables.js' {
  interface Tables {
    readonly users: Map<UserId, UserRow>;
  }
}

export class MemoryUsers implements UserRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: UserId): Promise<User | null> {
    const row = this.unit.read('users').get(id);
    return row?.user.realmId === realmId && !row.systemKind ? row.user : null;
  }

  async get(realmId: RealmId, id: UserId): Promise<User> {
    const user = await this.find(realmId, id);
    if (!user) throw new DomainError('UNKNOWN_USER', 'No such user');
    return user;
  }

  async findByEmail(realmId: RealmId, email: string): Promise<User | null> {
    return this.members(realmId).find((user) => foldCase(user.email) === foldCase(email)) ?? null;
  }

  async list(realmId: RealmId, ids: readonly UserId[]): Promise<readonly User[]> {
    return this.everybody(realmId).filter((user) => ids.includes(user.id));
  }

  async listActiveIds(realmId: RealmId, ids: readonly UserId[]): Promise<readonly UserId[]> {
    return this.members(realmId).flatMap(({ id, isActive }) => (isActive && ids.includes(id) ? [id] : []));
  }

  async listByEmail(realmId: RealmId, emails: readonly string[]): Promise<readonly User[]> {
    const wanted = new Set(emails.map((email) => foldCase(email.trim())));
    return this.everybody(realmId).filter((user) => wanted.has(foldCase(user.email)));
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly User[]> {
    const wanted = new Set(names.map(foldCase));
    return this.everybody(realmId).filter((user) => wanted.has(foldCase(user.fullName)));
  }

  async listByExternalId(realmId: RealmId, externalIds: readonly string[]): Promise<readonly User[]> {
    return this.members(realmId).filter(
      ({ externalId }) => externalId !== undefined && externalIds.includes(externalId),
    );
  }

  async listEntries(realmId: RealmId): Promise<readonly UserListEntry[]> {
    return this.members(realmId).map(({ id, version, isActive }) => ({ id, version, isActive }));
  }

  async listSomeEntries(realmId: RealmId, ids: readonly UserId[]): Promise<readonly UserListEntry[]> {
    return (await this.listEntries(realmId)).filter(({ id }) => ids.includes(id));
  }

  async listMemberEntries(realmId: RealmId): Promise<readonly UserListEntry[]> {
    const guests = new Set(this.members(realmId).flatMap(({ id, role }) => (role === 'guest' ? [id] : [])));
    return (await this.listEntries(realmId)).filter(({ id }) => !guests.has(id));
  }

  async listIdsNamedLike(realmId: RealmId, text: string, limit: number): Promise<readonly UserId[]> {
    return this.members(realmId)
      .map(({ id, fullName, isActive }) => ({ id, isActive, key: foldCase(fullName) }))
      .filter(({ key }) => key.includes(foldCase(text)))
      .sort((a, b) => Number(b.isActive) - Number(a.isActive) || compareCodePoints(a.key, b.key))
      .map(({ id }) => id)
      .slice(0, limit);
  }

  async listSystemBots(realmId: RealmId): Promise<readonly User[]> {
    return this.rows(realmId).flatMap((row) => (row.systemKind ? [row.user] : []));
  }

  async findSystemBot(realmId: RealmId, kind: SystemBotKind): Promise<User> {
    const row = this.rows(realmId).find(({ systemKind }) => systemKind === kind);
    if (!row) throw new Error(`Realm ${realmId} has no ${kind} bot`);
    return row.user;
  }

  async isNameTaken(realmId: RealmId, fullName: string, except: UserId | null): Promise<boolean> {
    const folded = foldedName(fullName);
    return this.members(realmId).some((user) => user.id !== except && foldedName(user.fullName) === folded);
  }

  async listConversationPartners(realmId: RealmId, id: UserId): Promise<ReadonlySet<UserId>> {
    const partners = new Set<UserId>();
    const subscribed = [...this.unit.read('subscriptions').values()]
      .flatMap((rows) => [...rows.values()])
      .filter((row) => row.realmId === realmId && row.isActive);
    const own = new Set(subscribed.filter((row) => row.userId === id).map((row) => row.channelId));
    for (const row of subscribed) {
      if (own.has(row.channelId) && this.unit.read('users').get(row.userId)?.user.isActive) partners.add(row.userId);
    }
    for (const recipient of this.unit.read('recipients').values()) {
      if (recipient.kind !== 'direct' || recipient.realmId !== realmId || !recipient.userIds.includes(id)) continue;
      for (const userId of recipient.userIds) partners.add(userId);
    }
    partners.delete(id);
    return partners;
  }

  async areConversationPartners(
    realmId: RealmId,
    questions: readonly ConversationPartnerQuestion[],
  ): Promise<readonly boolean[]> {
    return questions.map(({ guestId, userId, at }) => {
      const recipients = this.receivedAt(realmId, guestId, at);
      return [...this.receivedAt(realmId, userId, at)].some((recipientId) => recipients.has(recipientId));
    });
  }

  async listIdsReadingAllNotices(realmId: RealmId): Promise<readonly UserId[]> {
    return this.members(realmId).flatMap(({ id, bot, settings }) =>
      !bot && settings.resolvedTopicNoticeAutoReadPolicy === 'never' ? [id] : [],
    );
  }

  async listBotIds(realmId: RealmId): Promise<readonly UserId[]> {
    return this.members(realmId).flatMap(({ id, bot }) => (bot ? [id] : []));
  }

  async listGuestIds(realmId: RealmId): Promise<readonly UserId[]> {
    return this.members(realmId).flatMap(({ id, role }) => (role === 'guest' ? [id] : []));
  }

  async findPasswordHash(realmId: RealmId, id: UserId): Promise<string | null> {
    return this.rows(realmId).find(({ user }) => user.id === id)?.passwordHash ?? null;
  }

  async findSeed(realmId: RealmId, id: UserId): Promise<Seed> {
    return this.rows(realmId).find(({ user }) => user.id === id)?.seed ?? null;
  }

  async add(
    newUser: Omit<User, 'id' | 'version'>,
    passwordHash: string | null,
    systemKind?: SystemBotKind,
  ): Promise<User> {
    this.refuseTakenEmail(newUser, null);
    const user: User = { ...newUser, id: this.unit.nextNumber<UserId>('user'), version: 1 };
    this.unit.change('users').set(user.id, { user, passwordHash, systemKind: systemKind ?? null, seed: newSeed() });
    return user;
  }

  async update(changed: User): Promise<User> {
    const row = this.getRow(changed.realmId, changed.id);
    this.refuseTakenEmail(changed, changed.id);
    const user: User = { ...changed, version: row.user.version + 1 };
    this.unit.change('users').set(user.id, { ...row, user });
    return user;
  }

  async setPasswordHash(realmId: RealmId, id: UserId, passwordHash: string | null): Promise<void> {
    const row = this.getRow(realmId, id);
    this.unit.change('users').set(id, { ...row, passwordHash });
  }

  private rows(realmId: RealmId): UserRow[] {
    return [...this.unit.read('users').values()].filter(({ user }) => user.realmId === realmId);
  }

  private everybody(realmId: RealmId): User[] {
    return this.rows(realmId).map(({ user }) => user);
  }

  /** Returns users without system bots. */
  private members(realmId: RealmId): User[] {
    return this.rows(realmId).flatMap(({ user, systemKind }) => (systemKind ? [] : [user]));
  }

  /** Returns the recipients from which a user received messages at that time. */
  private receivedAt(realmId: RealmId, userId: UserId, at: EventSeq | null): Set<RecipientId> {
    const spans = [...this.unit.read('spans').values()].filter(
      (span) =>
        span.realmId === realmId &&
        span.userId === userId &&
        (at === null ? span.toSeq === null : span.fromSeq <= at && (span.toSeq ?? at + 1) > at),
    );
    return new Set(spans.map(({ recipientId }) => recipientId));
  }

  private getRow(realmId: RealmId, id: UserId): UserRow {
    const row = this.rows(realmId).find(({ user }) => user.id === id);
    if (!row) throw new Error(`Realm ${realmId} has no user ${id}`);
    return row;
  }

  private refuseTakenEmail({ realmId, email }: Pick<User, 'realmId' | 'email'>, except: UserId | null): void {
    const isTaken = this.everybody(realmId).some(
      (user) => user.id !== except && foldCase(user.email) === foldCase(email),
    );
    if (isTaken) throw new DomainError('EMAIL_TAKEN', 'Email is already in use.');
  }
}
