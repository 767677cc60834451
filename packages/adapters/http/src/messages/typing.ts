import { directPlace, type EventOf, type MessageId } from '@parley/domain/kernel';
import type { UserSummary } from '@parley/domain/messages';
import { NotifyTyping, NotifyTypingInMessage, type TypingEventTypes } from '@parley/domain/writing';
import { presentTopic } from '../channels/channel.presenters.js';
import { type Route, route } from '../declarations/route.js';
import { type ConversationScope, onMessage, requirePlace } from '../declarations/scope.js';
import {
  can,
  type EventContext,
  form,
  keyOf,
  opened,
  type Presented,
  type Presenters,
} from '../delivery/event-presenter.js';
import * as wire from '../wire/schema.js';
import { TypingDto, TypingInMessageDto, toTypingInput } from './message.dtos.js';
import { shownAddress } from './message.presenters.js';

const op = wire.oneOf('start', 'stop');
const person = wire.fields({ user_id: wire.integer(), email: wire.text() });

/** Events §7.4. */
const TYPING = [
  form('typing', { op, message_type: wire.oneOf('direct'), sender: person, recipients: wire.listOf(person) }),
  form('typing', {
    op,
    message_type: wire.oneOf('stream'),
    sender: person,
    stream_id: wire.integer(),
    topic: wire.text(),
  }),
];

const EDITING = form('typing_edit_message', {
  op,
  sender_id: wire.integer(),
  message_id: wire.integer(),
  recipient: wire.named(
    'EditedConversation',
    wire.anyOf(
      wire.fields({ type: wire.oneOf('channel'), channel_id: wire.integer(), topic: wire.text() }),
      wire.fields({ type: wire.oneOf('direct'), user_ids: wire.listOf(wire.integer()) }),
    ),
  ),
});

export const TYPING_EVENTS = {
  'typing.changed': {
    forms: TYPING,
    forTokens: (event, within) => {
      const { to } = event;
      const place = to.kind === 'channel' ? to : { ...to, userIds: to.people.map(({ id }) => id) };
      return within.has(place) ? event : null;
    },
    needs: ({ sender, to }) => ({ userIds: to.kind === 'channel' ? [sender.id] : to.people.map(({ id }) => id) }),
    present: presentTyping,
  },
  'typing.editing': {
    forms: [EDITING],
    forTokens: (event, within) => (within.has(event.to) ? event : null),
    present: presentEditing,
  },
} satisfies Presenters<keyof TypingEventTypes>;

/** Presents typing (events §7.4); channel typing only for clients that support it. */
function presentTyping(event: EventOf<'typing.changed'>, context: EventContext): Presented {
  const { op, sender, to } = event;
  const { presentation, publicRealm, receiver } = context;
  const present = (person: UserSummary) => ({
    user_id: person.id,
    email: shownAddress(person, publicRealm, receiver.inaccessible.has(person.id)),
  });
  if (to.kind === 'direct') {
    const hiddenIds = to.people.map(({ id }) => id).filter((id) => receiver.inaccessible.has(id));
    const recipients = () => to.people.map(present);
    const fields = () => ({ message_type: 'direct', sender: present(sender), recipients: recipients() });
    return [[context.shared(hiddenIds.join(), () => opened({ type: 'typing', op, ...fields() }))]];
  }
  if (!can(presentation, 'stream_typing_notifications')) return [];
  const isHidden = receiver.inaccessible.has(sender.id);
  const { showsEmptyTopics: allowsEmpty } = context;
  const fields = () => ({
    message_type: 'stream',
    sender: present(sender),
    stream_id: to.channelId,
    topic: presentTopic(to.topic, allowsEmpty),
  });
  return [[context.shared(keyOf(allowsEmpty, isHidden), () => opened({ type: 'typing', op, ...fields() }))]];
}

/** Events §7.4. */
function presentEditing(event: EventOf<'typing.editing'>, context: EventContext): Presented {
  const { op, senderId, messageId, to } = event;
  const { presentation, showsEmptyTopics: allowsEmpty } = context;
  if (to.kind === 'channel' && !can(presentation, 'stream_typing_notifications')) return [];
  const recipient =
    to.kind === 'channel'
      ? { type: 'channel', channel_id: to.channelId, topic: presentTopic(to.topic, allowsEmpty) }
      : { type: 'direct', user_ids: to.userIds };
  return [
    [
      context.shared(keyOf(allowsEmpty), () =>
        opened({ type: 'typing_edit_message', op, sender_id: senderId, message_id: messageId, recipient }),
      ),
    ],
  ];
}

const TYPING_SCOPE: ConversationScope<TypingDto> = {
  action: 'write',
  limit: (dto, caller) => {
    const { to } = toTypingInput(dto);
    requirePlace(caller, to.kind === 'channel' ? to : directPlace(caller.userId, to.userIds));
    return {};
  },
};

export const typingRoutes = (): readonly Route[] => [
  route('POST', '/messages/:message_id/typing', {
    summary: 'Notify others that you are editing a message',
    section: 'users §9.2',
    withoutPage: 'others',
    auth: 'user',
    scope: onMessage('write'),
    dto: TypingInMessageDto,
    useCase: NotifyTypingInMessage,
    toInput: ({ op, message_id }) => ({ op, messageId: message_id as MessageId }),
  }),
  route('POST', '/typing', {
    summary: 'Notify others that you are typing',
    section: 'users §9.1',
    auth: 'user',
    scope: TYPING_SCOPE,
    dto: TypingDto,
    useCase: NotifyTyping,
    toInput: toTypingInput,
  }),
];
