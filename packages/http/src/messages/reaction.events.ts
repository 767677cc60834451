import type { EventOf } from '@parley/domain/kernel';
import type { ReactionEventTypes } from '@parley/domain/messages';
import { form } from '../events/event-forms.js';
import { type EventContext, keyOf, opened, type Presented, type Presenters } from '../events/event-presenter.js';
import { EMOJI, presentEmoji } from '../files/emoji-types.js';
import { variantByKey } from '../kernel/client-variant.js';
import * as wire from '../kernel/wire-schema.js';
import { UNKNOWN_USER_NAME } from '../users/user.presenters.js';
import { shownAddress } from './message.presenters.js';

export const REACTION_EVENTS = {
  'reaction.changed': {
    forms: [
      form('reaction', {
        op: wire.oneOf('add', 'remove'),
        message_id: wire.integer(),
        user_id: wire.integer(),
        ...EMOJI,
        user: wire.fields({ user_id: wire.integer(), email: wire.text(), full_name: wire.text() }),
      }),
    ],
    needs: ({ isDirect, user }) => (isDirect ? null : { userIds: [user.id] }),
    present: presentReactionChange,
  },
} satisfies Presenters<keyof ReactionEventTypes>;

/** Messages §18.4. Clients of every age get `user` (README decision 28), of whom a guest may not know more than the id. */
function presentReactionChange(event: EventOf<'reaction.changed'>, context: EventContext): Presented {
  const { op, messageId, user, emoji } = event;
  const { publicRealm, receiver, presentation } = context;
  const isHidden = receiver.inaccessible.has(user.id);
  const client = variantByKey(presentation.client);
  return context.shared(`${keyOf(isHidden)} ${emoji.type === 'extra' ? client.extraEmojiType : ''}`, () =>
    opened({
      type: 'reaction',
      op,
      message_id: messageId,
      user_id: user.id,
      ...presentEmoji(emoji, client),
      user: {
        user_id: user.id,
        email: shownAddress(user, publicRealm, isHidden),
        full_name: isHidden ? UNKNOWN_USER_NAME : user.fullName,
      },
    }),
  );
}
