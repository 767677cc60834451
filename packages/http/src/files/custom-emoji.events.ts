import type { CustomEmojiEventTypes } from '@parley/domain/files';
import { form, formWithout } from '../events/event-forms.js';
import { type EventContext, opened, type Presented, type Presenters } from '../events/event-presenter.js';
import { can } from '../events/queue-presentation.js';
import * as wire from '../kernel/wire-schema.js';
import { customEmoji, oneCustomEmoji } from './custom-emoji.answers.js';
import { presentAllCustomEmoji, presentCustomEmoji } from './custom-emoji.presenters.js';

/** Clients without it get all emoji with each change (events §2). */
const CAPABILITY = 'individual_emoji_changes';

const ALL = formWithout(CAPABILITY, 'realm_emoji', { op: wire.oneOf('update'), realm_emoji: customEmoji });

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
    forms: [form('realm_emoji', { op: wire.oneOf('add'), emoji: oneCustomEmoji }), ALL],
    needs: () => ({ customEmoji: true }),
    present: ({ emoji }, context) => presentChange(context, () => ({ op: 'add', emoji: presentCustomEmoji(emoji) })),
  },
  'custom_emoji.deactivated': {
    forms: [
      form('realm_emoji', {
        op: wire.oneOf('update_one'),
        emoji_id: wire.text(),
        data: wire.fields({ deactivated: wire.boolean() }),
      }),
      ALL,
    ],
    needs: () => ({ customEmoji: true }),
    present: ({ id }, context) =>
      presentChange(context, () => ({ op: 'update_one', emoji_id: String(id), data: { deactivated: true } })),
  },
} satisfies Presenters<keyof CustomEmojiEventTypes>;
