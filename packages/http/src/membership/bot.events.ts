import type { BotEventTypes } from '@parley/domain/membership';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import * as wire from '../kernel/wire-schema.js';
import { personForm } from '../users/person-form.js';
import { bot, botChange } from './bot.answers.js';
import { presentBot, presentBotChange } from './bot.presenters.js';

export const BOT_EVENTS = {
  'bot.added': toAll(form('realm_bot', { op: wire.oneOf('add'), bot }), (event) => ({
    op: 'add',
    bot: presentBot(event.bot),
  })),
  'bot.changed': toAll(form('realm_bot', { op: wire.oneOf('update'), bot: botChange }), ({ botId, change }) => ({
    op: 'update',
    bot: { user_id: botId, ...presentBotChange(change) },
  })),
  'bot.taken_away': toAll(
    form('realm_bot', { op: wire.oneOf('delete'), bot: wire.fields({ user_id: wire.integer() }) }),
    ({ botId }) => ({ op: 'delete', bot: { user_id: botId } }),
  ),
  'bot.owner_changed': toAll(personForm({ bot_owner_id: wire.nullable(wire.integer()) }), ({ botId, ownerId }) => ({
    op: 'update',
    person: { user_id: botId, bot_owner_id: ownerId },
  })),
} satisfies Presenters<keyof BotEventTypes>;
