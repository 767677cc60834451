import type { ChannelId, Clock, GroupId, RealmId, Repositories, UnitOfWork, UserId } from '@parley/domain/kernel';
import type { User } from '@parley/domain/users';
import type { AuditedLogIn, AuditedOperation, AuditedState, AuditReader, AuditRecorder } from '@parley/http';
import { type AuditTrail, NO_OBJECT, type ReadObject } from './audit-trail.js';
import { FailedLogIns, MAX_OF_ADDRESS } from './failed-log-ins.js';

type Target = Readonly<Record<string, string>>;
type Reader = (repositories: Repositories, realmId: RealmId, target: Target) => Promise<AuditedState | null>;

/** Id in a path; 0, which no object has, for another text or a number that databases reject. */
const numberIn = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : 0);

/** Properties of the audited objects by first path segment; excludes free text such as descriptions. */
const READERS: Readonly<Record<string, Reader>> = {
  realm: async ({ realms }, realmId) => {
    const { name, settings, permissions, userDefaults } = await realms.get(realmId);
    const { description: _, welcomeMessageCustomText: __, ...rest } = settings;
    return { name, ...rest, ...permissions, ...userDefaults };
  },
  users: ({ users }, realmId, target) => userState(users, realmId, target),
  bots: ({ users }, realmId, target) => userState(users, realmId, target),
  streams: async ({ channels }, realmId, { stream_id }) => {
    const channel = stream_id === undefined ? null : await channels.find(realmId, numberIn(stream_id) as ChannelId);
    if (!channel) return null;
    const { name, privacy, isArchived, isDefault, messageRetentionDays, topicsPolicy, folderId, permissions } = channel;
    return { name, privacy, isArchived, isDefault, messageRetentionDays, topicsPolicy, folderId, ...permissions };
  },
  user_groups: async ({ groups }, realmId, { user_group_id }) => {
    const group = user_group_id === undefined ? null : await groups.find(realmId, numberIn(user_group_id) as GroupId);
    return group && { name: group.name, isDeactivated: group.isDeactivated, ...group.permissions };
  },
};

async function userState(users: Repositories['users'], realmId: RealmId, target: Target): Promise<AuditedState | null> {
  const user = await userOf(users, realmId, target);
  return user && stateOf(user);
}

const stateOf = (user: User): AuditedState => {
  return { role: user.role, fullName: user.fullName, isActive: user.isActive, botOwnerId: user.bot?.ownerId ?? null };
};

async function userOf(
  users: Repositories['users'],
  realmId: RealmId,
  { user_id, bot_id, email }: Target,
): Promise<User | null> {
  const id = user_id ?? bot_id;
  if (id !== undefined) return users.find(realmId, numberIn(id) as UserId);
  return email === undefined ? null : users.findByEmail(realmId, email);
}

/** Finds the account of a log-in, by id or address. */
const accountIn = (users: Repositories['users'], realmId: RealmId, account: string): Promise<User | null> =>
  userOf(users, realmId, numberIn(account) > 0 ? { user_id: account } : { email: account.trim() });

/** Describes a user for the audit log. */
export const describeUser = (user: User | null): Awaited<ReturnType<ReadObject>> => ({
  subject: user,
  state: user && { ...stateOf(user), email: user.email },
});

/** Returns a function that describes a user. */
export const userObject =
  (id: UserId): ReadObject =>
  async ({ users }, realmId) =>
    describeUser(await users.find(realmId, id));

/** Describes the organization. */
export const realmObject: ReadObject = async (repositories, realmId) => ({
  subject: null,
  state: await READERS.realm!(repositories, realmId, {}),
});

/** Returns a function that describes the object of an HTTP operation. */
function objectOf({ path, target, actorId }: AuditedOperation): ReadObject {
  const [, area = '', second] = path.split('/');
  if (path.includes('/scim/v2/Users') && target.id !== undefined) return userObject(numberIn(target.id) as UserId);
  if (area === 'users' && second === 'me' && actorId !== null) return userObject(actorId);
  if (area === 'users' || area === 'bots') {
    let id: UserId | undefined;
    return async ({ users }, realmId) => {
      // The address in the path may be changed by the operation.
      const user = await (id === undefined ? userOf(users, realmId, target) : users.find(realmId, id));
      id ??= user?.id;
      return describeUser(user);
    };
  }
  const read = READERS[area];
  return read
    ? async (repositories, realmId) => ({ subject: null, state: await read(repositories, realmId, target) })
    : NO_OBJECT;
}

/** Records operations over HTTP. */
export class HttpAuditRecorder implements AuditRecorder {
  private readonly failures: FailedLogIns;

  constructor(
    private readonly trail: AuditTrail,
    clock: Clock,
  ) {
    this.failures = new FailedLogIns(clock);
  }

  async recordLogIn({ realmId, action, account, about, ip, userAgent }: AuditedLogIn): Promise<void> {
    const isFailure = action === 'failed log-in';
    const failures = isFailure ? this.failures.add(realmId, ip) : 1;
    if (failures === null) return;
    // Unknown accounts have entries too, so that the response time reveals nothing.
    const user = await this.trail.read(realmId, ({ users }) => accountIn(users, realmId, account ?? ''));
    const actorId = isFailure ? null : (user?.id ?? null);
    const read = async () => ({ subject: user, state: null });
    const facts = { ...about, ...(failures > MAX_OF_ADDRESS && { failures }) };
    const known = Object.fromEntries(Object.entries(facts).filter(([, value]) => value != null));
    const operation = { action, actorId, program: null, target: {}, about: known, ip, userAgent, read, reads: realmId };
    await this.trail.run(operation, async () => {});
  }

  run<T>(operation: AuditedOperation, work: () => Promise<T>): Promise<T> {
    const { path: _, reads, ...recorded } = operation;
    return this.trail.run({ ...recorded, read: objectOf(operation), ...(reads !== null && { reads }) }, work);
  }
}

/** Reads the objects described by audit lines. */
export class StoredAuditStates implements AuditReader {
  constructor(private readonly uow: UnitOfWork) {}

  async stateOf(realmId: RealmId, { path }: { readonly path: string }, target: Target): Promise<AuditedState | null> {
    const read = READERS[path.split('/')[1]!];
    return read ? this.uow.read(realmId, (repositories) => read(repositories, realmId, target)) : null;
  }
}
