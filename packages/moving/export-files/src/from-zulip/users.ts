import type { UserId } from '@parley/domain/kernel';
import { USER_SETTINGS } from '@parley/domain/realms';
import { type Avatar, SYSTEM_BOTS } from '@parley/domain/users';
import type { UserCopy } from '@parley/transfer/exports';
import { AVATAR_SOURCES, BOT_TYPES, keyOfValue, ROLE_NUMBERS } from '../layout.js';
import { flag, integer, object, orElse, orNull, printable, text, time, webhookUrl, wrong } from '../parley-shapes.js';
import { systemBotCopy } from '../system-bots.js';
import { channel, NAME, type TableReader, user } from './table-reader.js';

const userShape = object({
  id: user,
  email: printable,
  delivery_email: orNull(printable),
  full_name: NAME,
  date_joined: time,
  is_active: flag,
  is_deleted: orElse(flag, false),
  is_bot: flag,
  bot_type: orNull(integer),
  bot_owner: orNull(user),
  role: integer,
  avatar_source: orElse(NAME, 'J'),
  avatar_version: orElse(integer, 1),
  default_sending_stream: orNull(integer),
  default_events_register_stream: orNull(channel),
  default_all_public_streams: orElse(flag, false),
  can_create_users: orElse(flag, false),
  can_change_user_emails: orElse(flag, false),
});

export function readUsers(tables: TableReader): readonly UserCopy[] {
  const rows = [...tables.rows('zerver_userprofile'), ...tables.rows('zerver_userprofile_mirrordummy')];
  const services = new Map(
    tables
      .table('zerver_service', {
        user_profile: user,
        // Embedded bots have a service without an address.
        base_url: (value, location) => (value === '' ? '' : webhookUrl(value, location)),
        token: NAME,
        interface: orElse(integer, 1),
      })
      .map((it) => [it.user_profile, it]),
  );
  const copies: UserCopy[] = rows.map((row, index) => {
    const it = userShape(row, `zerver_userprofile[${index}]`);
    const role = keyOfValue(ROLE_NUMBERS, it.role);
    if (!role) throw wrong(`zerver_userprofile[${index}].role`, 'is not a role');
    const kind = keyOfValue(BOT_TYPES, it.bot_type) ?? 'generic';
    const service = services.get(it.id);
    const avatar = keyOfValue(AVATAR_SOURCES, it.avatar_source) ?? 'generated';
    const hasOptions = it.default_all_public_streams || it.default_events_register_stream !== null || service;
    return {
      user: {
        id: it.id,
        realmId: tables.realmId,
        email: it.delivery_email ?? it.email,
        fullName: it.full_name,
        role,
        isActive: it.is_active,
        isDeleted: it.is_deleted && !it.is_active,
        joinedAt: it.date_joined,
        bot: it.is_bot
          ? { kind, ownerId: it.bot_owner, isSystem: false, defaultSendingChannelId: it.default_sending_stream }
          : null,
        avatar: avatarOf(avatar, Math.max(1, it.avatar_version)),
        specialPermissions: [
          ...(it.can_create_users ? (['canCreateUsers'] as const) : []),
          ...(it.can_change_user_emails ? (['canChangeUserEmails'] as const) : []),
        ],
        settings: tables.settingsOf(USER_SETTINGS, tables.names.user, 'zerver_userprofile', row),
        editedSettings: [],
        version: 1,
      },
      systemKind: null,
      botOptions:
        it.is_bot && hasOptions
          ? {
              eventsChannelId: it.default_events_register_stream,
              allPublicChannels: it.default_all_public_streams,
              webhook: service?.base_url
                ? {
                    url: service.base_url,
                    token: service.token,
                    interface: service.interface === 2 ? 'slack' : 'generic',
                  }
                : null,
            }
          : null,
    };
  });
  return [...copies, ...systemBots(tables, copies)];
}

/** Maps system bots of another server to Parley's; unmatched ones are created. */
function systemBots(tables: TableReader, copies: readonly UserCopy[]): readonly UserCopy[] {
  const rows = tables.table('zerver_userprofile_crossrealm', { id: user, email: text(1000) });
  let free = Math.max(0, ...copies.map(({ user: { id: own } }) => own), ...rows.map(({ id: own }) => own));
  const defaults = tables.settingsOf(USER_SETTINGS, tables.names.user, 'zerver_userprofile', {});
  return SYSTEM_BOTS.map((bot) => {
    const found = rows.find(({ email }) => email.split('@')[0] === bot.localPart);
    const id = found?.id ?? (++free as UserId);
    return systemBotCopy(bot, { id, realmId: tables.realmId, settings: defaults });
  });
}

/** An uploaded avatar gets its key when the picture is stored. */
const avatarOf = (source: Avatar['source'], version: number): Avatar =>
  source === 'uploaded' ? { source, version, key: '' } : { source, version };
