import type { BotEventTypes } from '@parley/domain/bots';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { presentBot, presentBotChange } from './bot.presenters.js';

export const BOT_EVENTS = {
  'bot.added': toAll('realm_bot', ({ bot }) => ({ op: 'add', bot: presentBot(bot) })),
  'bot.changed': toAll('realm_bot', ({ botId, change }) => ({
    op: 'update',
    bot: { user_id: botId, ...presentBotChange(change) },
  })),
  'bot.taken_away': toAll('realm_bot', ({ botId }) => ({ op: 'delete', bot: { user_id: botId } })),
  'bot.owner_changed': toAll('realm_user', ({ botId, ownerId }) => ({
    op: 'update',
    person: { user_id: botId, bot_owner_id: ownerId },
  })),
} satisfies Presenters<keyof BotEventTypes>;
