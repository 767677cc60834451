import type { ChannelId, EventOf, Place } from '@parley/domain/kernel';
import {
  type MessageEventTypes,
  type MessageLocation,
  type MessageView,
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
  locatedBy,
  opened,
  type Presented,
  type Presenters,
  type Within,
} from '../delivery/event-presenter.js';
import { variantByKey } from '../wire/request.js';
import * as wire from '../wire/schema.js';
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

/** Event of a message update, with fields for a move and for a text change (messages §18.2). */
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

/** Sent to clients without this capability as one event per message. */
export const BULK_DELETION = 'bulk_message_deletion';

/** Messages §18.3. */
export const DELETED = [IN_CHANNEL, DIRECT].flatMap((where) => [
  form('delete_message', { message_ids: wire.listOf(wire.integer()), ...where }),
  formWithout(BULK_DELETION, 'delete_message', { message_id: wire.integer(), ...where }),
]);

/** Always true; openapi-python-client writes invalid code for an optional constant `true`. */
const MENTIONED = { mentioned: wire.optional(wire.boolean()) };

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
          wire.named(
            'UnreadMessageDetails',
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
      ),
    }),
  }),
);

export const MESSAGE_EVENTS: Presenters<keyof MessageEventTypes> = {
  'message.sent': {
    forms: [SENT],
    // Participants of a direct conversation always have access to each other.
    forTokens: (event, within) => (within.has(placeOf(event.view)) ? event : null),
    needs: ({ view }) =>
      view.conversation.kind === 'direct' || view.sender.isSystemBot ? null : { userIds: [view.sender.id] },
    present: presentMessageSent,
  },
  'message.submessage_added': {
    forms: [SUBMESSAGE_ADDED],
    ...locatedBy(({ submessage }) => submessage.messageId),
    present: presentSubmessageAdded,
  },
  'message.updated': {
    forms: [UPDATED],
    located: ({ messageId }) => [messageId],
    forTokens: updateWithin,
    // Callers with tokens see a move as a deletion.
    needs: ({ messageId, messageIds, onlyToHolders, move }) =>
      onlyToHolders ? { messageIds, ...(move && { heldMessageIds: messageIds }) } : { messageIds: [messageId] },
    present: presentUpdate,
  },
  'message.rerendered': {
    forms: [RERENDERED],
    ...locatedBy(({ messageId }) => messageId),
    needs: ({ messageId }) => ({ messageIds: [messageId] }),
    present: presentRerendering,
  },
  'message.deleted': {
    forms: DELETED,
    // Deleted direct messages have no place any more.
    forTokens: (event, within) =>
      event.channelId !== null && within.has(inChannel(event.channelId, event.topic)) ? event : null,
    needs: ({ onlyToHolders, messageIds }) => (onlyToHolders ? { heldMessageIds: messageIds } : null),
    present: presentDeletion,
  },
  'message.flag_changed': {
    forms: FLAG_CHANGED,
    located: ({ messageIds }) => messageIds.slice(0, MAX_LOCATED),
    forTokens: flagChangeWithin,
    present: presentFlagChange,
  },
};

/** Maximum number of messages located for a change of flags. */
const MAX_LOCATED = 1000;

const inChannel = (channelId: ChannelId, topic: string): Place => ({ kind: 'channel', channelId, topic });

const placeOf = ({ conversation, message }: MessageView): Place =>
  conversation.kind === 'channel'
    ? inChannel(conversation.channelId, message.topic)
    : { kind: 'direct', userIds: conversation.participants.map(({ id }) => id) };

/** Shows a move to another conversation as a deletion, and hides one from there until the client registers again. */
function updateWithin(event: EventOf<'message.updated'>, within: Within) {
  const { channel, move, messageIds, onlyToHolders } = event;
  if (!channel || !move) return within.hasMessage(event.messageId) ? event : null;
  const { previousTopic } = move;
  if (!within.has(inChannel(channel.id, previousTopic))) return null;
  if (within.has(inChannel(move.channelId ?? channel.id, move.topic?.name ?? previousTopic))) return event;
  return { type: 'message.deleted', messageIds, channelId: channel.id, topic: previousTopic, onlyToHolders } as const;
}

function flagChangeWithin(event: EventOf<'message.flag_changed'>, within: Within) {
  if (event.all) return event;
  const messageIds = event.messageIds.slice(0, MAX_LOCATED).filter(within.hasMessage);
  const details = event.details.filter(([id]) => within.hasMessage(id));
  return messageIds.length === 0 ? null : { ...event, messageIds, details };
}

/**
 * Shares the text among clients of the same kind and receivers with the same flags. Adds the sender's local echo id
 * separately.
 */
function presentMessageSent(event: EventOf<'message.sent'>, context: EventContext): Presented {
  const { presentation, showsEmptyTopics, receiver } = context;
  const { applyMarkdown, clientGravatar } = presentation;
  const { sender } = event.view;
  const hidesSender = receiver.inaccessible.has(sender.id);
  // Most senders look the same to all viewers.
  const seesSenderEmail = !differsByViewer(sender) || seesEmailOf({ id: receiver.userId, role: receiver.role }, sender);
  const flags = context.isNotSubscriber ? '[]' : flagsText(receivedFlags(event, receiver.userId));
  const withExternalIds = sender.externalId !== undefined && can(presentation, 'external_ids');
  const form5 = keyOf(applyMarkdown, clientGravatar, showsEmptyTopics, hidesSender, seesSenderEmail);
  const withData = event.view.hostData !== undefined && can(presentation, 'application_data');
  const key = `${form5}${withExternalIds ? '+' : ''}${withData ? '*' : ''}`;
  const message = context.shared(flags === '[]' ? key : `${key}${flags}`, () => {
    const form = {
      asHtml: applyMarkdown,
      clientGravatar,
      allowEmptyTopicName: showsEmptyTopics,
      hidesSender,
      withExternalIds,
      withData,
      seesSenderEmail,
      client: variantByKey(presentation.client),
      // A newly sent message has no edits.
      editHistory: 'none' as const,
      parts: context.messageParts,
    };
    return `{"type":"message","message":${messageText(event.view, context.publicRealm, form)},"flags":${flags}`;
  });
  if (event.echo?.queueId !== context.queue.id) return message;
  return [[message, `,"local_message_id":${JSON.stringify(event.echo.localId)}`]];
}

/** Flags of a message for users who did not receive it. */
const UNOWNED_FLAGS = ['read'];

/** Presents an update (messages §18.2), shared among clients of the same kind and receivers with the same data. */
function presentUpdate(event: EventOf<'message.updated'>, context: EventContext): Presented {
  const { userId, editedAt, channel, move, onlyToHolders } = event;
  const { receiver, showsEmptyTopics } = context;
  const ids = onlyToHolders ? event.messageIds.filter((id) => receiver.flags.has(id)) : event.messageIds;
  // Receivers with access only to other moved messages get the move without the text.
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
      ...(channel && { stream_id: channel.id }),
      ...(channel?.name != null && { stream_name: channel.name }),
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

/** Presents a rendering-only update (messages §18.2). */
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

/** Presents a deletion as one event, or one per message for older clients (messages §18.3). */
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

/** Presents a flag change (events §7.1). Clients need the details to count messages that became unread. */
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
