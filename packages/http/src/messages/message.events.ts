import type { EventOf } from '@parley/domain/kernel';
import {
  type MessageEventTypes,
  type MessageLocation,
  type PersonalFlags,
  receivedFlags,
} from '@parley/domain/messages';
import { seesEmailOf } from '@parley/domain/users';
import { presentTopic } from '../channels/channel.presenters.js';
import {
  can,
  type EventContext,
  form,
  formWithout,
  keyOf,
  opened,
  type Presented,
  type Presenters,
} from '../kernel/event-presenter.js';
import { variantByKey } from '../kernel/request.js';
import * as wire from '../kernel/wire-schema.js';
import {
  differsByViewer,
  flagNames,
  flags,
  flagsText,
  messageText,
  PROPAGATE_MODES,
  presentSubmessageAdded,
  receivedMessage,
  SUBMESSAGE,
  topicLinks,
} from './message.presenters.js';

/** Messages §18.1. */
export const SENT = form('message', {
  message: receivedMessage,
  flags,
  local_message_id: wire.optional(wire.text()),
});

/** Messages §18.6. */
export const SUBMESSAGE_ADDED = form('submessage', { submessage_id: wire.integer(), ...SUBMESSAGE });

const CHANGED = {
  user_id: wire.nullable(wire.integer()),
  message_id: wire.integer(),
  message_ids: wire.listOf(wire.integer()),
  flags,
  edit_timestamp: wire.integer(),
};

/** Messages §18.2: what is of a move, and what of a text. */
export const UPDATED = form('update_message', {
  rendering_only: wire.oneOf(false),
  ...CHANGED,
  ...wire.optionalFields({
    stream_id: wire.integer(),
    stream_name: wire.text(),
    new_stream_id: wire.integer(),
    propagate_mode: wire.oneOf(...Object.values(PROPAGATE_MODES)),
    orig_subject: wire.text(),
    subject: wire.text(),
    topic_links: topicLinks,
    orig_content: wire.text(),
    orig_rendered_content: wire.text(),
    content: wire.text(),
    rendered_content: wire.text(),
    is_me_message: wire.boolean(),
  }),
});

export const RERENDERED = form('update_message', {
  rendering_only: wire.oneOf(true),
  ...CHANGED,
  content: wire.text(),
  rendered_content: wire.text(),
});

const IN_CHANNEL = { message_type: wire.oneOf('stream'), stream_id: wire.integer(), topic: wire.text() };
const DIRECT = { message_type: wire.oneOf('private') };

/** Clients without it get an event for each message. */
export const BULK_DELETION = 'bulk_message_deletion';

/** Messages §18.3. */
export const DELETED = [IN_CHANNEL, DIRECT].flatMap((where) => [
  form('delete_message', { message_ids: wire.listOf(wire.integer()), ...where }),
  formWithout(BULK_DELETION, 'delete_message', { message_id: wire.integer(), ...where }),
]);

const MENTIONED = { mentioned: wire.optional(wire.oneOf(true)) };

/** Events §7.1. */
export const FLAG_CHANGED = ['add', 'remove'].map((op) =>
  form('update_message_flags', {
    op: wire.oneOf(op),
    operation: wire.oneOf(op),
    flag: wire.text(),
    messages: wire.listOf(wire.integer()),
    all: wire.boolean(),
    ...(op === 'remove' && {
      message_details: wire.optional(
        wire.dictionaryOf(
          wire.anyOf(
            wire.fields({
              type: wire.oneOf('stream'),
              stream_id: wire.integer(),
              topic: wire.text(),
              unmuted_stream_msg: wire.boolean(),
              ...MENTIONED,
            }),
            wire.fields({ type: wire.oneOf('private'), user_ids: wire.listOf(wire.integer()), ...MENTIONED }),
          ),
        ),
      ),
    }),
  }),
);

export const MESSAGE_EVENTS: Presenters<keyof MessageEventTypes> = {
  'message.sent': {
    forms: [SENT],
    // In a direct conversation everybody knows everybody.
    needs: ({ view }) =>
      view.conversation.kind === 'direct' || view.sender.isSystemBot ? null : { userIds: [view.sender.id] },
    present: presentMessageSent,
  },
  'message.submessage_added': { forms: [SUBMESSAGE_ADDED], present: presentSubmessageAdded },
  'message.updated': {
    forms: [UPDATED],
    needs: ({ messageId, messageIds, onlyToHolders }) => ({ messageIds: onlyToHolders ? messageIds : [messageId] }),
    present: presentUpdate,
  },
  'message.rerendered': {
    forms: [RERENDERED],
    needs: ({ messageId }) => ({ messageIds: [messageId] }),
    present: presentRerendering,
  },
  'message.deleted': {
    forms: DELETED,
    needs: ({ onlyToHolders, messageIds }) => (onlyToHolders ? { heldMessageIds: messageIds } : null),
    present: presentDeletion,
  },
  'message.flag_changed': { forms: FLAG_CHANGED, present: presentFlagChange },
};

/** The message once for all clients of one kind and all receivers with the same flags; the sender's own mark apart. */
function presentMessageSent(event: EventOf<'message.sent'>, context: EventContext): Presented {
  const { presentation, showsEmptyTopics, receiver } = context;
  const { applyMarkdown, clientGravatar } = presentation;
  const { sender } = event.view;
  const hidesSender = receiver.inaccessible.has(sender.id);
  // Most senders look the same to everybody.
  const seesSenderEmail = !differsByViewer(sender) || seesEmailOf({ id: receiver.userId, role: receiver.role }, sender);
  const flags = context.isNotSubscriber ? '[]' : flagsText(receivedFlags(event, receiver.userId));
  const key = keyOf(applyMarkdown, clientGravatar, showsEmptyTopics, hidesSender, seesSenderEmail);
  const message = context.shared(flags === '[]' ? key : `${key}${flags}`, () => {
    const form = {
      asHtml: applyMarkdown,
      clientGravatar,
      allowEmptyTopicName: showsEmptyTopics,
      hidesSender,
      seesSenderEmail,
      client: variantByKey(presentation.client),
      // Of what was just sent there is none.
      editHistory: 'none' as const,
      parts: context.messageParts,
    };
    return `{"type":"message","message":${messageText(event.view, context.publicRealm, form)},"flags":${flags}`;
  });
  if (event.echo?.queueId !== context.queue.id) return message;
  return [[message, `,"local_message_id":${JSON.stringify(event.echo.localId)}`]];
}

/** What is there of a message that one does not have. */
const UNOWNED_FLAGS = ['read'];

/** Messages §18.2: once for all clients of one kind to whose owners the message is the same. */
function presentUpdate(event: EventOf<'message.updated'>, context: EventContext): Presented {
  const { userId, editedAt, channel, move, onlyToHolders } = event;
  const { receiver, showsEmptyTopics } = context;
  const ids = onlyToHolders ? event.messageIds.filter((id) => receiver.flags.has(id)) : event.messageIds;
  // Whoever has only others of the messages gets the move, and no text.
  const messageId = ids.includes(event.messageId) ? event.messageId : ids[0];
  const text = messageId === event.messageId ? event.text : null;
  if (messageId === undefined || (!move && !text)) return [];
  const flags = flagsAfter(receiver.flags.get(messageId));
  const shownTopic = (topic: string) => presentTopic(topic, showsEmptyTopics);
  const key = `${keyOf(showsEmptyTopics)} ${flags.join()} ${onlyToHolders ? ids.join() : ''}`;
  return context.shared(key, () =>
    opened({
      type: 'update_message',
      user_id: userId,
      rendering_only: false,
      message_id: messageId,
      message_ids: ids,
      flags,
      edit_timestamp: editedAt,
      ...(channel && { stream_id: channel.id, stream_name: channel.name }),
      ...(move && { propagate_mode: PROPAGATE_MODES[move.propagation], orig_subject: shownTopic(move.previousTopic) }),
      ...(move?.topic && { subject: shownTopic(move.topic.name), topic_links: move.topic.links }),
      ...(move && move.channelId !== null && { new_stream_id: move.channelId }),
      ...(text && {
        orig_content: text.previous.content,
        orig_rendered_content: text.previous.rendered,
        content: text.present.content,
        rendered_content: text.present.rendered,
        is_me_message: text.isMeMessage,
      }),
    }),
  );
}

/** Messages §18.2, rendering-only. */
function presentRerendering(event: EventOf<'message.rerendered'>, context: EventContext): Presented {
  const { messageId, at, content, rendered } = event;
  const own = context.receiver.flags.get(messageId);
  if (!own) return [];
  const flags = flagsAfter(own);
  return context.shared(flags.join(), () =>
    opened({
      type: 'update_message',
      user_id: null,
      rendering_only: true,
      message_id: messageId,
      message_ids: [messageId],
      flags,
      edit_timestamp: at,
      content,
      rendered_content: rendered,
    }),
  );
}

const flagsAfter = (own: PersonalFlags | undefined): readonly string[] =>
  own ? flagNames(own).filter((name) => name !== 'wildcard_mentioned') : UNOWNED_FLAGS;

/** Messages §18.3: one event for all, or, for clients that cannot do with that, one for each. */
function presentDeletion(event: EventOf<'message.deleted'>, context: EventContext): Presented {
  const { messageIds, channelId, topic, onlyToHolders } = event;
  const { presentation, receiver, showsEmptyTopics } = context;
  const ids = onlyToHolders ? messageIds.filter((id) => receiver.held.has(id)) : messageIds;
  if (ids.length === 0) return [];
  const present = (which: object) =>
    opened({
      type: 'delete_message',
      ...which,
      ...(channelId === null
        ? { message_type: 'private' }
        : { message_type: 'stream', stream_id: channelId, topic: presentTopic(topic, showsEmptyTopics) }),
    });
  if (!can(presentation, BULK_DELETION)) return ids.map((message_id) => [present({ message_id })]);
  const own = onlyToHolders ? ids.join() : '';
  return context.shared(`${keyOf(showsEmptyTopics)} ${own}`, () => present({ message_ids: ids }));
}

/** Events §7.1; the details are what clients need to count what became unread again. */
function presentFlagChange(event: EventOf<'message.flag_changed'>, context: EventContext): Presented {
  const { op, flag, messageIds, all, details } = event;
  const { showsEmptyTopics: allowsEmpty } = context;
  const text = () =>
    opened({
      type: 'update_message_flags',
      op,
      operation: op,
      flag,
      messages: messageIds,
      all,
      ...(flag === 'read' &&
        op === 'remove' && {
          message_details: Object.fromEntries(
            details.map(([id, location]) => [id, presentLocation(location, allowsEmpty)]),
          ),
        }),
    });
  return context.shared(keyOf(allowsEmpty), text);
}

function presentLocation(location: MessageLocation, allowEmptyTopicName: boolean) {
  const mentioned = location.isMentioned ? { mentioned: true } : {};
  return location.kind === 'channel'
    ? {
        type: 'stream',
        stream_id: location.channelId,
        topic: presentTopic(location.topic, allowEmptyTopicName),
        unmuted_stream_msg: location.isUnmuted,
        ...mentioned,
      }
    : { type: 'private', user_ids: location.userIds, ...mentioned };
}
