import type { CustomEmojiEventTypes } from '@parley/domain/custom-emoji';
import { type EventContext, opened, type Presented, type Presenters } from '../events/event-presenter.js';
import { can } from '../events/queue-presentation.js';
import { presentAllCustomEmoji, presentCustomEmoji } from './custom-emoji.presenters.js';

/** Clients without it are told all emoji with each change (events §2). */
const CAPABILITY = 'individual_emoji_changes';

function presentChange(context: EventContext, change: () => Readonly<Record<string, unknown>>): Presented {
  if (can(context.presentation, CAPABILITY)) {
    return context.shared('one', () => opened({ type: 'realm_emoji', ...change() }));
  }
  return context.shared('all', () =>
    opened({ type: 'realm_emoji', op: 'update', realm_emoji: presentAllCustomEmoji(context.receiver.customEmoji) }),
  );
}

/** Organization §7. */
export const CUSTOM_EMOJI_EVENTS = {
  'custom_emoji.added': {
    wireTypes: ['realm_emoji'],
    needs: () => ({ customEmoji: true }),
    present: ({ emoji }, context) => presentChange(context, () => ({ op: 'add', emoji: presentCustomEmoji(emoji) })),
  },
  'custom_emoji.deactivated': {
    wireTypes: ['realm_emoji'],
    needs: () => ({ customEmoji: true }),
    present: ({ id }, context) =>
      presentChange(context, () => ({ op: 'update_one', emoji_id: String(id), data: { deactivated: true } })),
  },
} satisfies Presenters<keyof CustomEmojiEventTypes>;
