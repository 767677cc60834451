import type { SYSTEM_BOTS } from '@parley/domain/users';
import type { UserCopy } from '@parley/transfer/exports';

type Place = Pick<UserCopy['user'], 'id' | 'realmId' | 'settings'>;

/** Copy of a system bot for an organization that comes from another product. */
export const systemBotCopy = (
  { kind, localPart, fullName }: (typeof SYSTEM_BOTS)[number],
  { id, realmId, settings }: Place,
): UserCopy => ({
  user: {
    id,
    realmId,
    email: `${localPart}@parley.invalid`,
    fullName,
    role: 'member',
    isActive: true,
    isDeleted: false,
    joinedAt: 0,
    bot: { kind: 'generic', ownerId: null, isSystem: true, defaultSendingChannelId: null },
    avatar: { source: 'generated', version: 1 },
    specialPermissions: [],
    settings,
    editedSettings: [],
    version: 1,
  },
  systemKind: kind,
  botOptions: null,
});
