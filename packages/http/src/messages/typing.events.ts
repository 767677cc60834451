import type { EventOf, TypingEventTypes, UserSummary } from '@parley/domain';
import { presentTopic } from '../channels/channel.presenters.js';
import { type EventContext, keyOf, opened, type Presented, type Presenters } from '../events/event-presenter.js';
import { can } from '../events/queue-presentation.js';
import { shownAddress } from './message.presenters.js';

export const TYPING_EVENTS = {
  'typing.changed': {
    wireTypes: ['typing'],
    needs: ({ sender, to }) => (to.kind === 'channel' ? { userIds: [sender.id] } : null),
    present: presentTyping,
  },
} satisfies Presenters<keyof TypingEventTypes>;

/** Events §7.4; in channels only for clients that can show it. */
function presentTyping(event: EventOf<'typing.changed'>, context: EventContext): Presented {
  const { op, sender, to } = event;
  const { presentation, publicRealm, receiver } = context;
  const present = (person: UserSummary, isHidden = false) => ({
    user_id: person.id,
    email: shownAddress(person, publicRealm, isHidden),
  });
  if (to.kind === 'direct') {
    const recipients = () => to.people.map((person) => present(person));
    const fields = () => ({ message_type: 'direct', sender: present(sender), recipients: recipients() });
    return [[context.shared('', () => opened({ type: 'typing', op, ...fields() }))]];
  }
  if (!can(presentation, 'stream_typing_notifications')) return [];
  const isHidden = receiver.inaccessible.has(sender.id);
  const { showsEmptyTopics: allowsEmpty } = context;
  const fields = () => ({
    message_type: 'stream',
    sender: present(sender, isHidden),
    stream_id: to.channelId,
    topic: presentTopic(to.topic, allowsEmpty),
  });
  return [[context.shared(keyOf(allowsEmpty, isHidden), () => opened({ type: 'typing', op, ...fields() }))]];
}
