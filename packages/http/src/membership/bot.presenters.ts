import type {
  BotChange,
  BotView,
  KeyedBot,
  OutgoingWebhook,
  UpdatedBot,
  WebhookInterface,
} from '@parley/domain/membership';
import { publicAddress } from '@parley/domain/users';
import type { WireFields } from '../kernel/reply.js';
import type { PublicRealm } from '../realms/public-realm.js';
import { avatarUrl } from '../users/avatar-urls.js';

export const WEBHOOK_INTERFACE_NUMBERS: Readonly<Record<WebhookInterface, number>> = { generic: 1, slack: 2 };

const presentServices = (webhook: OutgoingWebhook | null): readonly WireFields[] =>
  webhook === null
    ? []
    : [{ base_url: webhook.url, interface: WEBHOOK_INTERFACE_NUMBERS[webhook.interface], token: webhook.token }];

/** Users §15, events §3.2. */
export const presentBot = ({ botId, ...view }: BotView): WireFields => ({ user_id: botId, ...presentBotChange(view) });

/** Of the same fields those that changed. */
export const presentBotChange = (change: BotChange): WireFields => ({
  ...(change.sendingChannel !== undefined && { default_sending_stream: change.sendingChannel }),
  ...(change.eventsChannel !== undefined && { default_events_register_stream: change.eventsChannel }),
  ...(change.allPublicChannels !== undefined && { default_all_public_streams: change.allPublicChannels }),
  ...(change.webhook !== undefined && { services: presentServices(change.webhook) }),
});

const presentDefaults = ({ sendingChannel, eventsChannel, allPublicChannels }: BotView): WireFields =>
  presentBotChange({ sendingChannel, eventsChannel, allPublicChannels });

const avatarOf = ({ user }: Pick<KeyedBot, 'user'>, publicRealm: PublicRealm): string | null =>
  avatarUrl(user, publicRealm, { seesEmail: true, clientGravatar: false });

export const presentCreatedBot = (bot: KeyedBot, publicRealm: PublicRealm): WireFields => ({
  user_id: bot.user.id,
  api_key: bot.apiKey,
  avatar_url: avatarOf(bot, publicRealm),
  ...presentDefaults(bot.view),
});

export const presentOwnBot = (bot: KeyedBot, publicRealm: PublicRealm): WireFields => ({
  username: bot.user.email,
  full_name: bot.user.fullName,
  api_key: bot.apiKey,
  avatar_url: avatarOf(bot, publicRealm),
  ...presentDefaults(bot.view),
});

export const presentUpdatedBot = ({ user, view, owner }: UpdatedBot, publicRealm: PublicRealm): WireFields => ({
  full_name: user.fullName,
  avatar_url: avatarOf({ user }, publicRealm),
  service_interface: WEBHOOK_INTERFACE_NUMBERS[view.webhook?.interface ?? 'generic'],
  service_payload_url: view.webhook?.url ?? null,
  config_data: null,
  ...presentDefaults(view),
  ...(owner && { bot_owner: publicAddress(owner, publicRealm.emailDomain) }),
});
