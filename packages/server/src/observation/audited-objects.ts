import type { ChannelId, GroupId, RealmId, Repositories, UnitOfWork, UserId } from '@parley/domain/kernel';
import type { AuditedState, AuditReader } from '@parley/http';

type Target = Readonly<Record<string, string>>;
type Reader = (repositories: Repositories, realmId: RealmId, target: Target) => Promise<AuditedState | null>;

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
    const channel = stream_id === undefined ? null : await channels.find(realmId, Number(stream_id) as ChannelId);
    if (!channel) return null;
    const { name, privacy, isArchived, isDefault, messageRetentionDays, topicsPolicy, folderId, permissions } = channel;
    return { name, privacy, isArchived, isDefault, messageRetentionDays, topicsPolicy, folderId, ...permissions };
  },
  user_groups: async ({ groups }, realmId, { user_group_id }) => {
    const id = Number(user_group_id) as GroupId;
    const group = user_group_id === undefined ? null : await groups.find(realmId, id);
    return group && { name: group.name, isDeactivated: group.isDeactivated, ...group.permissions };
  },
};

async function userState(
  users: Repositories['users'],
  realmId: RealmId,
  { user_id, bot_id, email }: Target,
): Promise<AuditedState | null> {
  const id = user_id ?? bot_id;
  const user =
    id !== undefined
      ? await users.find(realmId, Number(id) as UserId)
      : email === undefined
        ? null
        : await users.findByEmail(realmId, email);
  if (!user) return null;
  return { role: user.role, fullName: user.fullName, isActive: user.isActive, botOwnerId: user.bot?.ownerId ?? null };
}

/** Reads the objects described by audit lines. */
export class StoredAuditStates implements AuditReader {
  constructor(private readonly uow: UnitOfWork) {}

  async stateOf(realmId: RealmId, { path }: { readonly path: string }, target: Target): Promise<AuditedState | null> {
    const read = READERS[path.split('/')[1]!];
    return read ? this.uow.read(realmId, (repositories) => read(repositories, realmId, target)) : null;
  }
}
